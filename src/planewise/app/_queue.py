"""The cases in the order a person sees them: filters, search, the next and the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from planewise.app._decisions import ACCEPTED, OPEN, OVERRIDDEN, Decisions
from planewise.app._judge import Judgement

SHOWN = {
    "open": "open",
    "undecided": "undecided",
    "accepted": "accepted",
    "overridden": "overridden",
    "annotated": "with a note",
    "all": "all",
}
MOST_FOUND = 1000


@dataclass(frozen=True)
class Filter:
    """Which cases are gone through."""

    show: str = "open"
    label: int | None = None  # the place of the class that the model answers

    def query(self, **more: Any) -> str:
        """As the end of an address."""
        parts = {"show": self.show, **({} if self.label is None else {"label": self.label}), **more}
        return "?" + urlencode(parts)


@dataclass(frozen=True)
class Beside:
    """What is around a case in the queue."""

    before: int | None
    after: int | None
    place: int  # of the case among those of the filter, from 1 on; 0 if it is not one of them
    n_cases: int


class Queue:
    """All cases, in an order that does not change while they are decided."""

    def __init__(
        self, judgement: Judgement, decisions: Decisions, ids: list[str] | None = None, id_column: str = "row"
    ) -> None:
        self.judgement, self.decisions, self.ids, self.id_column = judgement, decisions, ids, id_column
        self.order = judgement.order()
        self.place = np.empty(len(self.order), dtype=np.intp)
        self.place[self.order] = np.arange(len(self.order))
        self._by_id: dict[str, list[int]] = {}
        for row, name in enumerate(ids or ()):
            self._by_id.setdefault(name, []).append(row)

    def __len__(self) -> int:
        return len(self.order)

    def places(self, chosen: Filter) -> NDArray[np.intp]:
        """The places in the order that pass a filter."""
        status, judged = self.decisions.status, self.judgement
        if chosen.show == "annotated":
            mask = self.decisions.noted
        elif chosen.show == "all":
            mask = np.ones(len(status), dtype=bool)
        else:
            mask = status == {"accepted": ACCEPTED, "overridden": OVERRIDDEN}.get(chosen.show, OPEN)
        if chosen.show == "undecided":
            mask = mask & judged.undecided
        if chosen.label is not None:
            mask = mask & (judged.answer == chosen.label)
        return np.flatnonzero(mask[self.order])

    def beside(self, row: int, chosen: Filter) -> Beside:
        """The cases before and after one, which need not itself pass the filter."""
        places, own = self.places(chosen), int(self.place[row])
        at = int(np.searchsorted(places, own))
        here = at < len(places) and places[at] == own
        before = int(self.order[places[at - 1]]) if at > 0 else None
        following = at + 1 if here else at
        after = int(self.order[places[following]]) if following < len(places) else None
        return Beside(before, after, at + 1 if here else 0, len(places))

    def following(self, row: int, chosen: Filter) -> int | None:
        """Where to go after a decision: on, else from the beginning; None if nothing is left."""
        after = self.beside(row, chosen).after
        return after if after is not None else self.first(chosen, other_than=row)

    def first(self, chosen: Filter, other_than: int | None = None) -> int | None:
        """The first case of a filter."""
        for place in self.places(chosen)[:2]:
            if int(self.order[place]) != other_than:
                return int(self.order[place])
        return None

    def name(self, row: int) -> str:
        """What a case is called: such as "row 17", or "patient P-17"."""
        return f"{self.id_column} {row if self.ids is None else self.ids[row]}"

    def find(self, asked: str) -> list[int]:
        """Cases in the queue's order: those that are called so, the row, or those whose id holds the text.

        Where cases have ids, a bare number is one, and rows are asked for as "row 10".
        """
        asked = asked.strip()
        if asked in self._by_id:
            return self._ordered(self._by_id[asked])
        number = asked.removeprefix("row").strip()
        row_meant = self.ids is None or number != asked
        if row_meant and number.isascii() and number.isdigit() and len(number) < 12 and int(number) < len(self):
            return [int(number)]
        if not asked or self.ids is None:
            return []
        held = asked.casefold()
        return self._ordered([row for row, name in enumerate(self.ids) if held in name.casefold()])

    def _ordered(self, rows: list[int]) -> list[int]:
        return sorted(rows, key=lambda row: int(self.place[row]))[:MOST_FOUND]

    def counts(self) -> dict[str, int]:
        """How many cases each filter has."""
        status, undecided = self.decisions.status, self.judgement.undecided
        n_open = int(np.count_nonzero(status == OPEN))
        return {
            "open": n_open,
            "undecided": int(np.count_nonzero(undecided & (status == OPEN))),
            "accepted": int(np.count_nonzero(status == ACCEPTED)),
            "overridden": int(np.count_nonzero(status == OVERRIDDEN)),
            "annotated": int(np.count_nonzero(self.decisions.noted)),
            "all": len(status),
        }
