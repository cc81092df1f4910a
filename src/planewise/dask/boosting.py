"""Boosting on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Self

from distributed import Client

from planewise import trees
from planewise._params import check_parameters
from planewise.dask.estimator import AnswersProbabilities, AnswersScores, OnDask
from planewise.dask.gather import gathered
from planewise.dask.look import Look, difference, look_at
from planewise.dask.memory import available_memory
from planewise.dask.partitions import Partitions, Rows
from planewise.dask.read import ReadTable, read_table
from planewise.data.survey import learn_columns
from planewise.trees.boost_data import Given
from planewise.trees.chunked import BoostsParts, class_loss_of, number_loss_of
from planewise.trees.losses import RawLoss


class _BoostingOnDask(OnDask, BoostsParts):
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
        offset: Any = None,
        offset_val: Any = None,
    ) -> Any:
        """Fit the model on dask collections.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            As in ``fit`` of the ordinary estimator. It is computed at least twice, to look at it and to learn from it:
            call ``persist`` first if that takes long.
        y : dask array or series of shape (n_samples,), or data frame of one column
            Targets, in partitions that correspond to those of X. Arrays are rechunked if need be.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weights; zero leaves a row out.
        X_val, y_val, sample_weight_val : like X, y and sample_weight, default=None
            Validation rows.
        offset, offset_val : None
            Not supported on a cluster.

        Returns
        -------
        self
        """
        if offset is not None or offset_val is not None:
            raise ValueError(f"Offsets are not supported on a cluster; use planewise.{type(self).__name__}.")
        check_parameters(self)
        Given(X_val, y_val, sample_weight_val).check()
        given = None if X_val is None else Rows(X_val, y_val, sample_weight_val)
        return self._run(partial(self._fit_on, X=X, y=y, sample_weight=sample_weight, given=given))

    def _fit_on(self, client: Client, X: Any, y: Any, sample_weight: Any, given: Rows | None) -> Self:
        partitions = Partitions(client, X, y, sample_weight, self)
        looks = look_at(partitions, self, surveys=True)
        validation = None
        if given is not None:
            theirs = Partitions(client, *given, self, "_val")
            _require_same_columns(partitions, theirs)
            validation = theirs, look_at(theirs, self)
        if not self._can_stay_in_parts(sum(look.n_counting for look in looks), validation is not None):
            _require_memory([*looks, *(validation[1] if validation else [])])
            return self._fit_here(partitions, validation[0] if validation else None)
        return self._fit_parts(client, partitions, looks, validation)

    def _fit_here(self, partitions: Partitions, validation: Partitions | None) -> Self:
        """Gather all rows in this process, and fit the ordinary estimator on them."""
        made, rows = self.to_local(), gathered(partitions)
        known = {} if validation is None else gathered(validation)._asdict()
        return self._adopt(made.fit(*rows, **{f"{name}_val": value for name, value in known.items()}))

    def _fit_parts(
        self,
        client: Client,
        partitions: Partitions,
        looks: list[Look],
        validation: tuple[Partitions, list[Look]] | None,
    ) -> Self:
        """Fit on more rows than one tree is grown on: they stay on their workers."""
        made = copy(self)
        table = read_table(client, partitions, looks, validation, self)
        try:
            learn_columns(made, table.survey)
            if table.classes is not None:
                made.classes_ = table.classes
            made._learn_in_parts(table.parts, table.validation, made._loss_in_parts(table))
        finally:
            table.parts.release()
            if table.validation is not None:
                table.validation.release()
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


class SLMBoostClassifier(AnswersProbabilities, AnswersScores, _BoostingOnDask, trees.SLMBoostClassifier):
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


class SLMBoostRegressor(_BoostingOnDask, trees.SLMBoostRegressor):
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
