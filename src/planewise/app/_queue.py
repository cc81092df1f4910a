"""The cases in the order in which a person sees them, by how certain the model is; filters, search, what comes next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl, urlencode

import numpy as np
from numpy.typing import NDArray

from planewise.answers import ACCEPTED, OPEN, OVERRIDDEN, Decisions
from planewise.recip import fitted as recip
from planewise.table import TableModel
from planewise.views import fitted as views

SHOWN = {
    "open": "not yet reviewed",
    "reviewed": "reviewed",
    "accepted": "accepted",
    "overridden": "overridden",
    "annotated": "with a note",
    "all": "all",
}
SORTED = ("case", "answer", "probability", "model", "decision")  # columns of the list of cases
MAX_FOUND = 1000
LONGEST_SORTED = 100  # characters of an id
MAX_KEPT = 32  # explanations in memory
CLOSE = 0.2  # with a smaller difference of two probabilities, the model is unsure
MARGIN = 1.0  # so does a score nearer to zero, of machines without probabilities: they are fitted to this margin

T = TypeVar("T")


@dataclass(frozen=True)
class Judgement:
    """For every row: the prediction, its probability if there is one, whether the model is unsure, how clear it is."""

    answer: NDArray[Any]  # places among the classes, or numbers
    probability: NDArray[np.float64] | None
    unsure: NDArray[np.bool_]
    clearness: NDArray[np.float64] | None  # None: not known
    order_in_words: str

    def order(self) -> NDArray[np.intp]:
        """Rows: those that the model is unsure about first, then by how close they are, then as in the table."""
        rows = np.arange(len(self.answer))
        clear = np.zeros(len(rows)) if self.clearness is None else self.clearness
        return np.lexsort((rows, clear, ~self.unsure))


def judge(model: TableModel, table: Any) -> Judgement:
    """Predict all rows at once."""
    estimator, rows = model.estimator_, model.read(table)
    if hasattr(estimator, "view_score"):
        return _by_views(views.triage(estimator, rows))
    if hasattr(estimator, "projections_"):
        found = recip.triage(estimator, rows)
        words = (
            "cases that the model is unsure about first, then by how close the two most probable classes are"
            if model.task_ == "classification"
            else "cases that the model is unsure about first, then by the typical error of predictions around them"
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
    """A sum of views: the model is unsure where its explanations say that a case is undecided."""
    words = (
        "cases that the model is unsure about first (two classes are about as likely, or views disagree), starting "
        "with the closest"
    )
    if found.clearness is None:
        words = (
            "cases that the model is unsure about first (a view speaks as strongly against the leading one), then as "
            "in the table"
        )
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
        "cases that the model is unsure about first (the two most probable classes are less than "
        f"{100 * CLOSE:.0f} percentage points apart), starting with the closest"
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
    words = "cases that the model is unsure about first (inside the margin), starting with the closest to the boundary"
    return Judgement(answer, None, clear < MARGIN, clear, words)


@dataclass(frozen=True)
class Filter:
    """Which cases are shown, and in which order."""

    show: str = "open"
    label: int | None = None  # the place of the predicted class
    unsure: bool = False  # only cases that the model is unsure about
    sort: str = ""  # one of SORTED; empty: the order of the queue
    down: bool = False  # the largest first

    def query(self, **more: Any) -> str:
        """The query part of an address; arguments replace parts of the filter or add others."""
        parts: dict[str, Any] = {"show": self.show, "label": self.label, "unsure": self.unsure, "sort": self.sort}
        parts |= {"down": self.down, **more}
        said = {
            name: value for name, value in parts.items() if value is not None and value is not False and value != ""
        }
        return "?" + urlencode({name: 1 if value is True else value for name, value in said.items()})

    @property
    def fields(self) -> dict[str, Any]:
        """The same as hidden fields of a form."""
        return dict(parse_qsl(self.query()[1:]))

    @property
    def steady(self) -> Filter:
        """With an order that decisions do not change, in which one can go from case to case."""
        return replace(self, sort="", down=False) if self.sort == "decision" else self


@dataclass(frozen=True)
class Beside:
    """The neighbours of a case in the queue."""

    before: int | None
    after: int | None
    place: int  # of the case among those of the filter, counted from 1; 0 if it is not one of them
    n_cases: int


class Queue:
    """All cases, in orders that decisions do not change."""

    def __init__(
        self, judgement: Judgement, decisions: Decisions, ids: list[str] | None = None, id_column: str = "row"
    ) -> None:
        self.judgement, self.decisions, self.ids, self.id_column = judgement, decisions, ids, id_column
        self.order = judgement.order()
        self.place = _inverse(self.order)
        self._orders: dict[tuple[str, bool], NDArray[np.intp]] = {}
        self._by_id: dict[str, list[int]] = {}
        for row, name in enumerate(ids or ()):
            self._by_id.setdefault(name, []).append(row)

    def __len__(self) -> int:
        return len(self.order)

    def _keep(self, chosen: Filter) -> NDArray[np.bool_]:
        """Which rows pass a filter."""
        status, judged = self.decisions.status, self.judgement
        if chosen.show == "annotated":
            mask = self.decisions.noted.copy()
        elif chosen.show == "all":
            mask = np.ones(len(status), dtype=bool)
        elif chosen.show == "reviewed":
            mask = status != OPEN
        else:
            mask = status == {"accepted": ACCEPTED, "overridden": OVERRIDDEN}.get(chosen.show, OPEN)
        if chosen.unsure:
            mask &= judged.unsure
        if chosen.label is not None:
            mask &= judged.answer == chosen.label
        return mask

    def in_order(self, chosen: Filter) -> NDArray[np.intp]:
        """All rows in the order of a filter; equal ones as in the queue."""
        if chosen.sort not in SORTED:
            return self.order
        if chosen.sort == "decision":
            return self._by(self.decisions.status.astype(float), chosen.down)
        known = self._orders.get((chosen.sort, chosen.down))
        if known is None:
            known = self._orders[chosen.sort, chosen.down] = self._by(self._values(chosen.sort), chosen.down)
        return known

    def _by(self, values: NDArray[np.float64], down: bool) -> NDArray[np.intp]:
        return np.lexsort((self.place, -values if down else values))

    def _values(self, column: str) -> NDArray[np.float64]:
        judged = self.judgement
        if column == "case":
            return _ranks(self.ids, len(self))
        if column == "answer":
            return judged.answer.astype(float)
        if column == "model":
            return np.where(judged.unsure, 0.0, 1.0)
        return np.zeros(len(self)) if judged.probability is None else judged.probability

    def rows(self, chosen: Filter) -> NDArray[np.intp]:
        """The rows that pass a filter, in its order."""
        order = self.in_order(chosen)
        return order[self._keep(chosen)[order]]

    def beside(self, row: int, chosen: Filter) -> Beside:
        """The cases before and after one, which need not itself pass the filter."""
        steady = chosen.steady
        order = self.in_order(steady)
        place = self.place if order is self.order else _inverse(order)
        places, own = np.flatnonzero(self._keep(steady)[order]), int(place[row])
        at = int(np.searchsorted(places, own))
        here = at < len(places) and places[at] == own
        before = int(order[places[at - 1]]) if at > 0 else None
        following = at + 1 if here else at
        after = int(order[places[following]]) if following < len(places) else None
        return Beside(before, after, at + 1 if here else 0, len(places))

    def following(self, row: int, chosen: Filter) -> int | None:
        """The case to show after a decision: the next, or else the first; None if none is left."""
        after = self.beside(row, chosen).after
        return after if after is not None else self.first(chosen, other_than=row)

    def first(self, chosen: Filter, other_than: int | None = None) -> int | None:
        """The first case of a filter."""
        return next((int(row) for row in self.rows(chosen.steady)[:2] if row != other_than), None)

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
        """The number of cases of each filter, and of those not yet reviewed that the model is unsure about."""
        status = self.decisions.status
        n_open = int(np.count_nonzero(status == OPEN))
        return {
            "open": n_open,
            "reviewed": len(status) - n_open,
            "accepted": int(np.count_nonzero(status == ACCEPTED)),
            "overridden": int(np.count_nonzero(status == OVERRIDDEN)),
            "annotated": int(np.count_nonzero(self.decisions.noted)),
            "all": len(status),
            "unsure": int(np.count_nonzero(self.judgement.unsure & (status == OPEN))),
        }

    def count(self, chosen: Filter) -> int:
        """The number of cases that pass a filter."""
        return int(np.count_nonzero(self._keep(chosen)))

    def progress(self, n_classes: int) -> list[tuple[int, int]]:
        """By predicted class: the number of reviewed cases, and of all."""
        answer, reviewed = self.judgement.answer, self.decisions.status != OPEN
        done, every = (np.bincount(each, minlength=n_classes) for each in (answer[reviewed], answer))
        return [(int(one), int(all_)) for one, all_ in zip(done, every, strict=True)]

    def clear_cases(self, label: int, least: float) -> NDArray[np.intp]:
        """Rows not yet reviewed of a class with at least this probability, the least probable first.

        Cases that the model is unsure about are never among them.
        """
        judged = self.judgement
        if judged.probability is None:
            return np.zeros(0, dtype=np.intp)
        rows = np.flatnonzero(self._keep(Filter("open", label)) & (judged.probability >= least) & ~judged.unsure)
        return rows[np.lexsort((self.place[rows], judged.probability[rows]))]


def _inverse(order: NDArray[np.intp]) -> NDArray[np.intp]:
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return place


def _ranks(ids: list[str] | None, n_rows: int) -> NDArray[np.float64]:
    """By which cases are sorted: row numbers, or ids, as numbers if all of them are."""
    if ids is None:
        return np.arange(n_rows, dtype=float)
    if all(each.isascii() and each.isdigit() and len(each) < 16 for each in ids):
        return np.array(ids, dtype=float)
    return np.unique(np.array([each.casefold()[:LONGEST_SORTED] for each in ids]), return_inverse=True)[1].astype(float)


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
