"""From a loss of rows in views to the views that are kept: candidates, losses, choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from planewise._optional import warn_user
from planewise._progress import Progress
from planewise.explain.projections import ViewColumns
from planewise.recip import selection
from planewise.recip.candidates import (
    candidate_views,
    refuse_too_many_views,
    refuse_too_much_memory,
    some_rows,
    with_all_features,
)
from planewise.recip.neighbours import VIEWS_PER_STEP
from planewise.recip.rows import FloatArray, Indices, Vector, weighted_sum

WITHOUT_LAM = ("answers", "greedy")
LASSO_SHARES = (0.03, 0.1, 0.3, 0.9)  # of the largest penalty, tried where lam is not given

LAMS = (0.3, 1.0, 3.0, 10.0)
FOLDS = 5

Choose = Callable[[Vector, float], list[int]]  # weights of the rows, lam -> kept views
Judge = Callable[[list[list[int]]], list[Vector]]  # sets of views -> the loss of every row, by its other neighbours
LossOfViews = Callable[[Sequence[ViewColumns], NDArray[np.intp], Callable[[], object] | None], FloatArray]
JudgeOf = Callable[[list[ViewColumns], Indices], Judge]  # candidates, rows that choose -> what compares sets of views


@dataclass(frozen=True)
class Found:
    """The kept views, the most used first, with what is known of them and of the way to them."""

    views: list[ViewColumns]
    support: Vector
    entropy: Vector
    overall_entropy: Vector
    gap: float
    n_candidates: int
    lam: float | None
    lam_losses: dict[float, float] | None
    objective: list[float]


def find_views(
    estimator: Any,
    given: list[ViewColumns] | None,
    columns: Sequence[int],
    loss: LossOfViews,
    judge: JudgeOf,
    weight: Vector,
    random: np.random.RandomState,
    n_threads: int,
) -> Found:
    """The views that serve these rows: those given, or the chosen ones of all candidates.

    `loss` is of views and rows; `judge` makes, from the candidates and the rows that choose, what compares sets.
    """
    if given is not None:
        views = given
    else:
        n_rows = min(int(np.count_nonzero(weight)), estimator.max_rows or len(weight))
        refuse_too_many_views(len(columns), estimator.max_dim, estimator.max_candidates, n_rows)
        views = candidate_views(
            columns,
            estimator.max_dim,
            estimator.max_candidates,
            lambda some, rows: loss(some, rows, None),
            weight,
            random,
        )
        if estimator.include_all_features:
            views = with_all_features(views, columns)
    rows = some_rows(weight, estimator.max_rows, random)
    refuse_too_much_memory(len(views), len(rows))
    with Progress(-(-len(views) // VIEWS_PER_STEP), "views", shown=bool(estimator.verbose)) as bar:
        Z = loss(views, rows, bar.step)
    weight = selection.without_missing(Z, weight[rows])
    if not weight.any():
        raise ValueError("No row of X can be judged in any view: too many values are missing, or k is too large.")
    lam, losses, objective = None, None, []
    if given is not None:
        kept = list(range(len(views)))
    else:
        choice = Choice(estimator, Z, weight, judge(views, rows), n_threads)
        lam = estimator.lam
        if choice.needs_lam and lam is None:
            lam, lost = find_lam(choice.lams(), choice.views, choice.judge, weight, random)
            losses = dict(zip(choice.lams(), lost.tolist(), strict=True))
        kept = choice.views(weight, lam)
        objective = choice.objective
        choice.warn_if_unsolved()
    kept, support, place = selection.support_and_order(Z, weight, kept)
    served = Z[kept]
    own = [_mean(served[j], weight * (place == j)) for j in range(len(kept))]
    overall = weighted_sum(weight, served) / weight.sum()
    return Found(
        [views[j] for j in kept],
        support,
        np.array(own),
        overall,
        selection.optimality_gap(Z, weight, kept),
        len(views),
        lam,
        losses,
        objective,
    )


class Choice:
    """One of the five ways to choose, with the estimator's parameters."""

    def __init__(self, estimator: Any, Z: FloatArray, weight: Vector, judge: Judge, n_threads: int) -> None:
        self.Z, self.weight, self.judge, self.n_threads = Z, weight, judge, n_threads
        self.most, self.min_support = estimator.max_projections, estimator.min_support
        self.way = _way(estimator)
        check_keep(estimator, self.way)
        self.keep: str = estimator.keep
        self.needs_lam = self.way not in WITHOUT_LAM
        self.least = selection.least_by_row(Z)
        self.objective: list[float] = []
        tol = selection.EXACT if self.way == "lasso" else selection.LOOSE
        self._lasso = selection.RootLasso(estimator.unit_columns, tol)

    def lams(self) -> tuple[float, ...]:
        """Those tried by cross-validation."""
        if self.way == "recip":
            return LAMS
        largest = selection.largest_penalty(self.Z, self.weight, self._lasso.unit)
        return tuple(share * largest for share in LASSO_SHARES)

    def views(self, weight: Vector, lam: float | None) -> list[int]:
        """The views chosen by rows of these weights."""
        if self.way == "answers":
            return selection.answering_views(self.Z, weight, self.most, self.min_support, self.n_threads)
        if self.way == "greedy" or lam is None:
            return selection.greedy_views(self.Z, weight, self.most, self.min_support, self.n_threads)
        if self.way == "lasso":
            return selection.lasso_views(self.Z, weight, lam, self.most, self._lasso)
        if self.way == "robust_lasso":
            return selection.robust_lasso_views(self.Z, weight, lam, self.most, self.min_support, self._lasso)
        loop = selection.recip_loop(self.Z, weight, lam, least=self.least, n_threads=self.n_threads)
        self.objective = loop.objective
        if self.keep == "used":
            kept = selection.used_views(loop)
        else:
            kept = selection.kept_views(loop, weight, self.min_support)
        if self.most is None or len(kept) <= self.most:
            return kept
        best = selection.greedy_views(self.Z[kept], weight, self.most, self.min_support, self.n_threads)
        return [kept[j] for j in best]

    def warn_if_unsolved(self) -> None:
        """One warning, however many lassos did not converge."""
        if self._lasso.n_unsolved:
            fewer = " or lower max_projections (t in planewise.published)" if self.way == "robust_lasso" else ""
            warn_user(
                f"{self._lasso.n_unsolved} of {self._lasso.n_problems} lasso problems of selection={self.way!r} did "
                f"not converge, so that the views may not be exactly those of the minimum. Increase lam{fewer}.",
                ConvergenceWarning,
            )


def _way(estimator: Any) -> str:
    """How views are chosen; an error where lam is given to a way that has no such penalty."""
    way: str = estimator.selection
    if way == "auto":
        return "answers" if estimator.lam is None else "recip"
    if way in WITHOUT_LAM and estimator.lam is not None:
        raise ValueError(
            f"selection={way!r} has no penalty on views, so that lam={estimator.lam!r} would have no effect; leave "
            "lam out, or use selection='recip'."
        )
    if way == "recip" and estimator.max_projections is not None and estimator.lam is None:
        return "greedy"  # how many views is known, what one costs is not
    return way


def check_keep(estimator: Any, way: str) -> None:
    """An error where keep is a rule of Algorithm 1, but another way chooses the views."""
    if estimator.keep != "best" and way != "recip":
        hint = "give lam" if estimator.selection in ("auto", "recip") else "use selection='recip'"
        raise ValueError(
            f"keep={estimator.keep!r} says which views Algorithm 1 keeps, but here the views are chosen by {way!r}; "
            f"{hint}, or leave keep out."
        )


def find_lam(
    lams: Sequence[float], choose: Choose, judge: Judge, weight: Vector, random: np.random.RandomState
) -> tuple[float, Vector]:
    """The lam of the least held-out loss, of equal ones the largest; and the loss of each.

    Views are chosen without the rows of a fold, which are then answered by all other rows in those views. (The local
    entropies of the rows that choose do see held-out rows as neighbours.)
    """
    fold = _folds(weight, random)
    trials = [(lam, k) for lam in lams for k in range(int(fold.max()) + 1)]
    sets = [choose(np.where(fold == k, 0.0, weight), lam) for lam, k in trials]
    total = np.zeros(len(lams))
    for (lam, k), lost in zip(trials, judge(sets), strict=True):
        held = fold == k
        total[lams.index(lam)] += weighted_sum(weight[held], lost[held])
    loss = total / weight.sum()
    best = max(range(len(lams)), key=lambda place: (-loss[place], lams[place]))
    return float(lams[best]), loss


def _folds(weight: Vector, random: np.random.RandomState) -> NDArray[np.intp]:
    """The fold of each row, -1 for rows that do not count; rows are dealt out in a random order."""
    fold = np.full(len(weight), -1)
    counting = random.permutation(np.flatnonzero(weight > 0))
    fold[counting] = np.arange(len(counting)) % FOLDS
    return fold


def _mean(values: FloatArray, weight: Vector) -> float:
    total = weight.sum()
    return float(weighted_sum(weight, values) / total) if total > 0 else float("nan")
