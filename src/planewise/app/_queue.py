"""The cases in the order in which a person sees them, by how certain the model is; filters, search, what comes next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from planewise.app._answers import ACCEPTED, OPEN, OVERRIDDEN, Decisions
from planewise.recip import fitted as recip
from planewise.table import TableModel
from planewise.views import fitted as views

SHOWN = {
    "open": "open",
    "undecided": "undecided",
    "accepted": "accepted",
    "overridden": "overridden",
    "annotated": "with a note",
    "all": "all",
}
MAX_FOUND = 1000
MAX_KEPT = 32  # explanations in memory
CLOSE = 0.2  # a smaller difference of two probabilities leaves a case undecided
MARGIN = 1.0  # so does a score nearer to zero, of machines without probabilities: they are fitted to this margin

T = TypeVar("T")


@dataclass(frozen=True)
class Judgement:
    """For every row: the prediction, its probability if there is one, whether it is undecided, and how clear it is."""

    answer: NDArray[Any]  # places among the classes, or numbers
    probability: NDArray[np.float64] | None
    undecided: NDArray[np.bool_]
    clearness: NDArray[np.float64] | None  # None: not known
    order_in_words: str

    def order(self) -> NDArray[np.intp]:
        """Rows: undecided ones first, then by how close they are, then as in the table."""
        rows = np.arange(len(self.answer))
        clear = np.zeros(len(rows)) if self.clearness is None else self.clearness
        return np.lexsort((rows, clear, ~self.undecided))


def judge(model: TableModel, table: Any) -> Judgement:
    """Predict all rows at once."""
    estimator, rows = model.estimator_, model.read(table)
    if hasattr(estimator, "view_score"):
        return _by_views(views.triage(estimator, rows))
    if hasattr(estimator, "projections_"):
        found = recip.triage(estimator, rows)
        words = (
            "undecided cases first, then by how close the two most probable classes are"
            if model.task_ == "classification"
            else "undecided cases first, then by the typical error of predictions around them"
        )
        return Judgement(found.answer, found.probability, found.undecided, found.clearness, words)
    if model.task_ == "regression":
        answer = np.asarray(estimator.predict(rows), dtype=np.float64)
        return Judgement(
            answer,
            None,
            np.zeros(len(answer), dtype=bool),
            None,
            "as in the table, because this model does not say how certain a prediction is",
        )
    if hasattr(estimator, "predict_proba"):
        return _by_probability(np.asarray(estimator.predict_proba(rows), dtype=np.float64))
    return _by_score(estimator, rows)


def _by_views(found: views.Triage) -> Judgement:
    """A sum of views: undecided is what its explanations call so."""
    words = "undecided cases first (two classes are about as likely, or views disagree), starting with the closest"
    if found.clearness is None:
        words = "undecided cases first (a view speaks as strongly against the leading one), then as in the table"
    return Judgement(found.answer, found.probability, found.undecided, found.clearness, words)


def first_untaken(model: TableModel, table: Any) -> int | None:
    """The first row that the model cannot predict, found by bisection; None if it can predict each alone."""

    def taken(start: int, end: int) -> bool:
        try:
            judge(model, table[start:end])
        except ValueError:
            return False
        return True

    start, end = 0, table.height
    while end - start > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if taken(start, middle) else (start, middle)
    return None if taken(start, end) else start


def _by_probability(probability: NDArray[np.float64]) -> Judgement:
    answer = probability.argmax(axis=1)
    best = probability[np.arange(len(answer)), answer]
    second = np.partition(probability, -2, axis=1)[:, -2] if probability.shape[1] > 1 else np.zeros(len(answer))
    clear = best - second
    words = (
        f"undecided cases first (the two most probable classes are less than {100 * CLOSE:.0f} percentage points "
        "apart), starting with the closest"
    )
    return Judgement(answer, best, clear < CLOSE, clear, words)


def _by_score(estimator: Any, rows: Any) -> Judgement:
    """A machine without probabilities: by how far a row is from the boundary."""
    answer = np.searchsorted(estimator.classes_, estimator.predict(rows))
    score = np.asarray(estimator.decision_function(rows), dtype=np.float64)
    if score.ndim == 1 or score.shape[1] == 1:
        clear = np.abs(score).reshape(len(answer))
    elif score.shape[1] == len(estimator.classes_):
        two = np.partition(score, -2, axis=1)[:, -2:]
        clear = two[:, 1] - two[:, 0]
    else:  # one machine per pair of classes
        clear = np.abs(score).min(axis=1)
    words = "undecided cases first (inside the margin), starting with the closest to the boundary"
    return Judgement(answer, None, clear < MARGIN, clear, words)


@dataclass(frozen=True)
class Filter:
    """Which cases are shown."""

    show: str = "open"
    label: int | None = None  # the place of the predicted class

    def query(self, **more: Any) -> str:
        """The query part of an address."""
        parts = {"show": self.show, **({} if self.label is None else {"label": self.label}), **more}
        return "?" + urlencode(parts)


@dataclass(frozen=True)
class Beside:
    """The neighbours of a case in the queue."""

    before: int | None
    after: int | None
    place: int  # of the case among those of the filter, counted from 1; 0 if it is not one of them
    n_cases: int


class Queue:
    """All cases, in an order that decisions do not change."""

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
        """The case to show after a decision: the next, or else the first; None if none is left."""
        after = self.beside(row, chosen).after
        return after if after is not None else self.first(chosen, other_than=row)

    def first(self, chosen: Filter, other_than: int | None = None) -> int | None:
        """The first case of a filter."""
        for place in self.places(chosen)[:2]:
            if int(self.order[place]) != other_than:
                return int(self.order[place])
        return None

    def name(self, row: int) -> str:
        """The name of a case, such as "row 17" or "patient P-17"."""
        return f"{self.id_column} {row if self.ids is None else self.ids[row]}"

    def find(self, asked: str) -> list[int]:
        """Cases in the queue's order: those with this id, the row of this number, or those whose id contains the text.

        Where cases have ids, a bare number is an id, and rows are found as "row 10".
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
        return sorted(rows, key=lambda row: int(self.place[row]))[:MAX_FOUND]

    def counts(self) -> dict[str, int]:
        """The number of cases of each filter."""
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


class Ahead(Generic[T]):
    """Explains each row once, and ahead of time in a thread for the cases that will be needed soon."""

    def __init__(self, explain: Callable[[int], T]) -> None:
        self._explain = explain
        self._kept: OrderedDict[int, Future[T]] = OrderedDict()
        self._looking = threading.Lock()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="planewise-ahead")

    def __call__(self, row: int) -> T:
        """The explanation of a row; waits if it is being made."""
        try:
            return self._future(row).result()
        except BaseException:
            with self._looking:  # perhaps it works the next time
                self._kept.pop(row, None)
            raise

    def prepare(self, row: int | None) -> None:
        """Explain a row that is likely to be needed."""
        if row is not None:
            self._future(row)

    def ask(self, question: Callable[[], T]) -> T:
        """An explanation that is not kept; made in the same thread, so that one is made at a time."""
        return self._worker.submit(question).result()

    def _future(self, row: int) -> Future[T]:
        with self._looking:
            found = self._kept.get(row)
            if found is None:
                found = self._kept[row] = self._worker.submit(self._explain, row)
                while len(self._kept) > MAX_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(row)
            return found

    def close(self) -> None:
        """Stop the thread."""
        self._worker.shutdown(wait=True, cancel_futures=True)
