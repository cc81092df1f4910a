"""Boosting on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, Self

from distributed import Client

from planewise import slm
from planewise._memory import available_memory
from planewise._params import check_parameters
from planewise.dask._estimator import AnswersOfTrees, AnswersProbabilities, AnswersScores
from planewise.dask._gather import gathered
from planewise.dask._look import Look, difference, look_at
from planewise.dask._partitions import Partitions, Rows
from planewise.dask._read import ReadTable, read_table
from planewise.parts import learn_columns
from planewise.slm.fitted import RawLoss
from planewise.slm.in_parts import BoostsParts, check_sets, class_loss_of, number_loss_of


class _BoostingOnDask(AnswersOfTrees, BoostsParts):
    """What the classifier and the regressor share."""

    _loss_in_parts: Callable[[ReadTable], RawLoss]  # after a look at the targets

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        eval_sets: Mapping[str, tuple[Any, ...]] | None = None,
        offset: Any = None,
        offset_val: Any = None,
    ) -> Any:
        """Fit the model on dask collections.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            As in ``fit`` of the ordinary estimator. It is computed at least twice, to look at it and to learn from it:
            call ``persist`` first if that takes long.
        y : dask array, series or data frame of shape (n_samples,)
            Targets, in partitions that correspond to those of X. Arrays are rechunked if need be.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weights; zero leaves a row out.
        X_val, y_val, sample_weight_val : like X, y and sample_weight, default=None
            Validation rows.
        eval_sets : dict or None, default=None
            Further sets of rows to monitor, by name: (X, y) or (X, y, sample_weight).
        offset, offset_val : None
            Offsets are not possible on a cluster.

        Returns
        -------
        self
            With an asynchronous client: an awaitable of it.
        """
        if offset is not None or offset_val is not None:
            name = "offset" if offset is not None else "offset_val"
            raise ValueError(
                f"{name} is not possible on a cluster; use planewise.{type(self).__name__}, which takes tables in "
                "memory."
            )
        check_parameters(self)
        sets = _sets(X_val, y_val, sample_weight_val, eval_sets)
        return self._run(partial(self._fit_with_sets, X=X, y=y, sample_weight=sample_weight, sets=sets))

    def _fit_with_sets(
        self, client: Client, X: Any, y: Any, sample_weight: Any, sets: Mapping[str, tuple[Any, ...]]
    ) -> Self:
        partitions = Partitions(client, X, y, sample_weight, self)
        looks = look_at(partitions, self, surveys=self.reads_float32)
        watched = {}
        for name, given in sets.items():
            suffix = "_val" if name == "validation" else f" of eval_sets[{name!r}]"
            theirs = Partitions(client, *Rows(*given), self, suffix)
            _require_same_columns(partitions, theirs)
            watched[name] = theirs, look_at(theirs, self)
        if not self._can_stay_in_parts(sum(look.n_counting for look in looks), "validation" in watched):
            _require_memory([*looks, *(look for _, theirs in watched.values() for look in theirs)])
            return self._fit_here(partitions, {name: theirs for name, (theirs, _) in watched.items()})
        return self._fit_parts(client, partitions, looks, watched)

    def _fit_here(self, partitions: Partitions, watched: Mapping[str, Partitions]) -> Self:
        """Gather all rows in this process, and fit the ordinary estimator on them."""
        made, rows = self.to_local(), gathered(partitions)
        sets = {name: gathered(each) for name, each in watched.items()}
        known: dict[str, Any] = {}
        if "validation" in sets:
            known = {f"{name}_val": value for name, value in sets.pop("validation")._asdict().items()}
        if sets:
            known["eval_sets"] = {name: tuple(each) for name, each in sets.items()}
        return self._adopt(made.fit(*rows, **known))

    def _fit_parts(
        self,
        client: Client,
        partitions: Partitions,
        looks: list[Look],
        watched: Mapping[str, tuple[Partitions, list[Look]]],
    ) -> Self:
        """Fit on more rows than one tree is grown on: they stay on their workers."""
        made = copy(self)
        table = read_table(client, partitions, looks, watched, self)
        try:
            learn_columns(made, table.survey)
            if table.classes is not None:
                made.classes_ = table.classes
            made._learn_in_parts(table.parts, table.sets, made._loss_in_parts(table))
        finally:
            for parts in (table.parts, *table.sets.values()):
                parts.release()
        self.__dict__ = made.__dict__
        return self


def _require_memory(looks: list[Look]) -> None:
    """An error if this process cannot hold the whole table."""
    needed, there = 3 * sum(look.n_bytes for look in looks), available_memory()
    if there is not None and needed > there:
        raise MemoryError(
            f"The table is gathered here, because trees are grown on all of the rows they draw, and needs about "
            f"{needed / 2**30:.1f} GiB; {there / 2**30:.1f} GiB are available. Use a smaller max_rows_per_tree or a "
            "larger subsample, so that rows stay on their workers."
        )


def _require_same_columns(partitions: Partitions, watched: Partitions) -> None:
    """An error if a set of validation rows has other columns than the training rows."""
    mine, theirs = partitions.columns, watched.columns
    if mine is not None and theirs is not None and mine != theirs:
        raise ValueError(f"{watched.names.X} {difference(theirs, mine)}: its columns must be those of X.")


def _sets(
    X_val: Any, y_val: Any, sample_weight_val: Any, eval_sets: Mapping[str, tuple[Any, ...]] | None
) -> dict[str, tuple[Any, ...]]:
    """By name: X, y and perhaps weights; an error if they do not go together."""
    check_sets(X_val, y_val, sample_weight_val, eval_sets)
    first = {} if X_val is None else {"validation": (X_val, y_val, sample_weight_val)}
    for name, given in (eval_sets or {}).items():
        if len(given) > 3 and given[3] is not None:
            raise ValueError(f"eval_sets[{name!r}] has an offset, which is not possible on a cluster.")
    return first | {name: tuple(given)[:3] for name, given in (eval_sets or {}).items()}


class SLMBoostClassifier(AnswersProbabilities, AnswersScores, _BoostingOnDask, slm.SLMBoostClassifier):
    """`planewise.SLMBoostClassifier` on a cluster.

    The model is the same to the bit as in memory, for any number of partitions and workers. Beyond `max_rows_per_tree`
    rows, rows stay on their workers, and the process of the client grows the trees, with `n_jobs` threads (None: all
    cores) from a sample. Fewer rows are gathered and fitted in the process of the client.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.SLMBoostClassifier`.

    See Also
    --------
    planewise.SLMBoostClassifier : Parameters and attributes.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from planewise.dask import SLMBoostClassifier
    >>> client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0")
    >>> X = da.random.default_rng(0).random((2000, 4), chunks=(500, 4))
    >>> y = (X[:, 0] + X[:, 1] > 1).astype(int)
    >>> model = SLMBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> bool((model.predict(X) == y).mean().compute() > 0.95)
    True
    >>> client.close()
    """

    def _loss_in_parts(self, table: ReadTable) -> RawLoss:
        return class_loss_of(self, len(self.classes_))


class SLMBoostRegressor(_BoostingOnDask, slm.SLMBoostRegressor):
    """`planewise.SLMBoostRegressor` on a cluster.

    The model is the same to the bit as in memory, for any number of partitions and workers. Beyond `max_rows_per_tree`
    rows, rows stay on their workers, and the process of the client grows the trees, with `n_jobs` threads (None: all
    cores) from a sample. Fewer rows are gathered and fitted in the process of the client.

    Parameters
    ----------
    client : Client or None, default=None
        None uses the current one.
    **parameters
        Those of `planewise.SLMBoostRegressor`.

    See Also
    --------
    planewise.SLMBoostRegressor : Parameters and attributes.
    """

    def _loss_in_parts(self, table: ReadTable) -> RawLoss:
        return number_loss_of(self, table.parts)
