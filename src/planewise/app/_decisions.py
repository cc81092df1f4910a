"""What has been decided so far: records played one after another, each in the same short time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planewise.app._records import Record

OPEN, ACCEPTED, OVERRIDDEN = 0, 1, 2
_STATUS = {"accept": ACCEPTED, "override": OVERRIDDEN}


@dataclass
class Decisions:
    """The state of all rows; what was undone counts no more."""

    n_rows: int
    status: NDArray[np.int8] = field(init=False)
    noted: NDArray[np.bool_] = field(init=False)
    by_id: dict[str, Record] = field(default_factory=dict)
    standing: list[Record] = field(default_factory=list)  # not undone, the last at the end
    by_row: dict[int, list[Record]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.status = np.zeros(self.n_rows, dtype=np.int8)
        self.noted = np.zeros(self.n_rows, dtype=bool)

    def play(self, record: Record) -> None:
        """One more record."""
        self.by_id[record.id] = record
        if record.undoes is None:
            self.standing.append(record)
            self.by_row.setdefault(record.row, []).append(record)
        else:
            undone = self.by_id[record.undoes]
            if self.standing and self.standing[-1] is undone:
                self.standing.pop()
            else:
                self.standing = [each for each in self.standing if each is not undone]
            self.by_row[undone.row] = [each for each in self.by_row[undone.row] if each is not undone]
        self._settle(record.row)

    def _settle(self, row: int) -> None:
        decided = self.decided(row)
        self.status[row] = OPEN if decided is None else _STATUS[decided.decision]
        self.noted[row] = any(record.note for record in self.by_row.get(row, ()))

    def decided(self, row: int) -> Record | None:
        """The decision that counts for a row."""
        return next((each for each in reversed(self.by_row.get(row, ())) if each.decision in _STATUS), None)

    def notes(self, row: int) -> list[Record]:
        """The records of a row that have a note, the oldest first."""
        return [record for record in self.by_row.get(row, ()) if record.note]

    def last(self) -> Record | None:
        """What would be undone."""
        return self.standing[-1] if self.standing else None

    def newest(self) -> Record | None:
        """The record that was written last, whatever it says."""
        return next(reversed(self.by_id.values()), None)
