"""What the searches over exact machines share: lists of values to try, folds, results, and the chosen machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping

from planewise._params import Limit, integer, real
from planewise.machines.kernels import Matrix
from planewise.machines.rows import Vector


def number_lists(none: str | None = None, *, zero: bool = False) -> Limit:
    """Lists of numbers above 0, or of 0 and more; None if it has a meaning."""

    def allows(value: Any) -> bool:
        if value is None:
            return none is not None
        if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
            return False
        return len(value) > 0 and all(real(0, open_low=not zero).allows(each) for each in value)

    words = "a list of numbers of 0 or more" if zero else "a list of numbers above 0"
    return Limit(allows, words + (f", or None for {none}" if none else ""))


def refitted(estimator: Any) -> bool:
    """True, or an error that says why the search has no machine."""
    if not estimator.refit:
        raise AttributeError(f"This {type(estimator).__name__} has refit=False: it only searches and has no machine.")
    return True


def params_of(search: Any, machine: Any, fixed: Sequence[str], point: int) -> dict[str, Any]:
    """All that makes an estimator like `machine` that of a point of ``cv_results_``; `fixed` is not searched."""
    usual = machine.get_params()
    own = {name: getattr(search, name) for name in fixed if not np.array_equal(getattr(search, name), usual[name])}
    return search.cv_results_["params"][point] | own


def give_columns(search: Any, machine: Any) -> None:
    """Let the chosen machine know what the search has read of the columns of X."""
    for name in ("n_features_in_", "feature_names_in_", "categories_"):
        if hasattr(search, name):
            setattr(machine, name, getattr(search, name))


def by_point_and_fold(
    run: Callable[[Any], dict[Any, Any]], tasks: Sequence[Any], points: Sequence[Any], n_folds: int, n_jobs: int
) -> dict[Any, list[Any]]:
    """What `run` answers to the tasks, each of one fold, by point: a list by fold, None where there is no answer."""
    n_jobs = min(n_jobs, len(tasks))
    if n_jobs == 1:
        answers = [run(task) for task in tasks]
    else:
        answers = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(run)(task) for task in tasks)
    found: dict[Any, list[Any]] = {point: [None] * n_folds for point in points}
    for task, answer in zip(tasks, answers, strict=True):
        for point, held in answer.items():
            found[point][task.fold] = held
    return found


def excess_and_error(by_row: Matrix, than: Vector, share: Vector) -> tuple[Vector, Vector]:
    """How much larger mean losses are than that of `than`, and the standard errors of these differences, by point.

    `by_row` are the losses of points by row, and `share` the weights of rows, divided by their sum.
    """
    difference = by_row - than
    excess = difference @ share
    return excess, np.sqrt((difference - excess[:, None]) ** 2 @ share**2)


class OfTheMachine:
    """An attribute of the chosen machine, which the search has as well."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, search: Any, owner: type) -> Any:
        if search is None:
            return self
        machine = search.__dict__.get("best_estimator_")
        if machine is None:
            why = "it is not fitted" if search.refit else "with refit=False it only searches and has no machine"
            raise AttributeError(f"This {type(search).__name__} has no attribute {self.name!r}: {why}.")
        return getattr(machine, self.name)


class SplitsRows:
    """A mixin for searches with the parameter ``cv``."""

    cv: Any
    # Groups are the splitter's, which requests them itself; see `get_metadata_routing`.
    __metadata_request__fit: ClassVar[Mapping[str, str]] = {"groups": UNUSED}

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go where: `sample_weight` to the search, if requested, and `groups` to a `cv` that needs them.

        Returns
        -------
        routing : sklearn.utils.metadata_routing.MetadataRouter
        """
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(self)
            .add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def _check_cv(self, groups: Any) -> None:
        if not isinstance(self.cv, (int, np.integer)):
            return
        if groups is not None:
            raise ValueError(
                f"groups is given, but cv={self.cv!r} ignores it; use a splitter for groups, such as "
                f"cv=GroupKFold({self.cv!r}), or leave groups out."
            )
        if not integer(2).allows(self.cv):
            raise ValueError(
                f"The parameter 'cv' of {type(self).__name__} must be an integer of 2 or more, a splitter, or a list "
                f"of (train, test) row numbers; got {self.cv!r}."
            )


def results_by_point(
    points: Sequence[Any], scores: Matrix, n_support: Matrix, log_loss: Vector | None = None
) -> dict[str, Any]:
    """``cv_results_``, from scores by point and fold, NaN where a point was not tried; means are over the other folds.

    Points are dataclasses of what is tried.
    """
    names = [field.name for field in fields(points[0])]
    searched = [name for name in names if any(getattr(point, name) is not None for point in points)]
    tried, complete = ~np.isnan(scores).all(axis=1), ~np.isnan(scores).any(axis=1)
    mean, spread, vectors = np.full((3, len(points)), np.nan)
    mean[tried], spread[tried] = np.nanmean(scores[tried], axis=1), np.nanstd(scores[tried], axis=1)
    vectors[tried] = np.nanmean(n_support[tried], axis=1)
    return {
        "params": [{name: getattr(point, name) for name in searched} for point in points],
        **{f"param_{name}": np.array([getattr(point, name) for point in points]) for name in searched},
        **{f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])},
        "mean_test_score": mean,
        "std_test_score": spread,
        "rank_test_score": rankdata(-np.where(complete, mean, -np.inf), method="min").astype(np.int32),
        **({} if log_loss is None else {"mean_test_log_loss": log_loss}),
        "mean_n_support": vectors,
    }
