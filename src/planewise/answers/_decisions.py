"""What all lines of an answers file together say: the decisions of each reviewer, without those that were undone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.answers._record import Record

OPEN, ACCEPTED, OVERRIDDEN = 0, 1, 2
_STATUS = {"accept": ACCEPTED, "override": OVERRIDDEN}


@dataclass
class Decisions:
    """The state of all rows for one reviewer."""

    n_rows: int
    status: NDArray[np.int8] = field(init=False)
    noted: NDArray[np.bool_] = field(init=False)
    standing: list[Record] = field(default_factory=list)  # not undone, the last at the end
    by_row: dict[int, list[Record]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.status = np.zeros(self.n_rows, dtype=np.int8)
        self.noted = np.zeros(self.n_rows, dtype=bool)

    def add(self, record: Record) -> None:
        """Take in a decision or a note."""
        self.standing.append(record)
        self.by_row.setdefault(record.row, []).append(record)
        self._settle(record.row)

    def remove(self, undone: list[Record]) -> None:
        """Take back one record, or those of a batch."""
        gone = {record.id for record in undone}
        if self.standing[-len(undone) :] == undone:
            del self.standing[-len(undone) :]
        else:
            self.standing = [each for each in self.standing if each.id not in gone]
        for row in {record.row for record in undone}:
            self.by_row[row] = [each for each in self.by_row[row] if each.id not in gone]
            self._settle(row)

    def _settle(self, row: int) -> None:
        decided = self.decided(row)
        self.status[row] = OPEN if decided is None else _STATUS[decided.decision]
        self.noted[row] = any(record.note for record in self.by_row.get(row, ()))

    def decided(self, row: int) -> Record | None:
        """The decision that counts for a row."""
        return next((each for each in reversed(self.by_row.get(row, ())) if each.decision in _STATUS), None)

    def all_decided(self) -> list[Record]:
        """The decisions that count, in the order of the rows."""
        return [self.decided(int(row)) for row in np.flatnonzero(self.status != OPEN)]  # type: ignore[misc]

    def notes(self, row: int) -> list[Record]:
        """The records of a row that have a note, the oldest first."""
        return [record for record in self.by_row.get(row, ()) if record.note]

    def last(self) -> Record | None:
        """What would be undone: with a batch, all of it."""
        return self.standing[-1] if self.standing else None


@dataclass(frozen=True)
class Settled:
    """One decision per row, by row number, and the rows that reviewers disagree about."""

    records: dict[int, Record]
    disputed: list[int]


class Ledger:
    """All records of a file: by id, by batch, and the decisions of each reviewer."""

    def __init__(self, n_rows: int, records: Iterable[Record] = ()) -> None:
        self.n_rows = n_rows
        self.by_id: dict[str, Record] = {}
        self.batches: dict[str, list[Record]] = {}
        self._of: dict[str, Decisions] = {}
        for record in records:
            self.play(record)

    @property
    def reviewers(self) -> list[str]:
        """Those who decided or noted something, the first one first."""
        return [who for who, decisions in self._of.items() if decisions.standing]

    def of(self, who: str) -> Decisions:
        """The decisions of a reviewer, who may be new."""
        if who not in self._of:
            self._of[who] = Decisions(self.n_rows)
        return self._of[who]

    def play(self, record: Record) -> None:
        """Take in one more record."""
        self.by_id[record.id] = record
        if record.undoes is not None:
            undone = self.undone_by(record)
            self._of[undone[0].who].remove(undone)
            return
        if record.batch is not None:
            self.batches.setdefault(record.batch.id, []).append(record)
        self.of(record.who).add(record)

    def undone_by(self, record: Record) -> list[Record]:
        """The record that another one undoes, or all of a batch."""
        assert record.undoes is not None
        return self.batches.get(record.undoes) or [self.by_id[record.undoes]]

    def newest(self) -> Record | None:
        """The record that was written last, whatever it says."""
        return next(reversed(self.by_id.values()), None)

    def spelled(self, who: str) -> str:
        """The name as a reviewer of this file spells it, if capitals are the only difference."""
        return next((name for name in self.reviewers if name.casefold() == who.casefold()), who)

    def settled(self, by: str | None = None) -> Settled:
        """The decisions of one reviewer, or of all, without the rows that they disagree about."""
        found: dict[int, Record] = {}
        disputed: set[int] = set()
        for name in [by] if by is not None else self.reviewers:
            for record in self.of(name).all_decided():
                if record.row in found and not same_label(found[record.row].label, record.label):
                    disputed.add(record.row)
                found[record.row] = record
        records = {row: found[row] for row in sorted(found) if row not in disputed}
        return Settled(records, sorted(disputed))


def same_label(one: Any, other: Any) -> bool:
    """Whether two labels are the same class or number: True is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
