"""Whether records are about the rows, the values and the classes of what is reviewed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from planewise.answers._content import Content
from planewise.answers._opening import AnswersFileError
from planewise.answers._record import Record
from planewise.answers._table import old_fingerprint, row_fingerprints


@dataclass(frozen=True)
class Reviewed:
    """What a file of answers is about."""

    table: Any  # of polars
    names: list[str]  # of the columns that the model reads
    classes: list[Any] | None  # as Python values; None where numbers are predicted

    def require_match(self, content: Content, path: Path) -> None:
        """An error that names the first line whose row, values or label are not those of the table and the model."""
        for number, words in zip(content.numbers, self.mismatches(content.records), strict=True):
            if words:
                raise AnswersFileError(f"Line {number} of {str(path)!r} {words}: was the file edited by hand?")

    def mismatches(self, records: Sequence[Record]) -> Iterator[str]:
        """For every record, what is wrong with it; "" if nothing is."""
        n_rows = self.table.height
        rows = [record.row if record.row < n_rows else 0 for record in records]
        for record, own in zip(records, row_fingerprints(self.table, self.names, rows), strict=True):
            if record.row >= n_rows:
                yield f"is about row {record.row}, but the table has only {n_rows} rows"
            elif record.decision in ("accept", "override") and not self.is_label(record.label):
                kind = "a number" if self.classes is None else "a class of the model"
                yield f"has the label {record.label!r}, which is not {kind}"
            elif record.fingerprint not in (own, self._old_fingerprint(record, own)):
                yield f"was written about other values than row {record.row} of the table has"
            else:
                yield ""

    def is_label(self, label: Any) -> bool:
        """Whether it is a class of the model, or a number where numbers are predicted."""
        if self.classes is None:
            return isinstance(label, (int, float)) and not isinstance(label, bool) and bool(np.isfinite(label))
        return any(label == each and type(label) is type(each) for each in self.classes)

    def _old_fingerprint(self, record: Record, own: str) -> str:
        """As version 1 has it, which takes long: only for records that differ from the newer one."""
        if record.fingerprint == own:
            return own
        return old_fingerprint([(name, self.table[name][record.row]) for name in self.names])
