"""Dask collections as aligned partitions: the rows of X with their targets and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.utils import is_dataframe_like, is_series_like
from distributed import Client, Future

from dask import delayed
from planewise.dask.waiting import finished


class Rows(NamedTuple):
    """Rows in memory, as a partition has them."""

    X: Any
    y: Any
    sample_weight: Any = None


def is_collection(X: Any) -> bool:
    """Whether X is an array, a data frame or a series of dask."""
    return is_dask_collection(X) and (isinstance(X, da.Array) or is_dataframe_like(X) or is_series_like(X))


def require_collection(value: Any, name: str, estimator: Any) -> None:
    """An error that names what is in memory, and says what to do."""
    if is_collection(value):
        return
    kind, own = type(value), type(estimator).__name__
    raise TypeError(
        f"{name} is a {kind.__module__.partition('.')[0]}.{kind.__name__}, but planewise.dask.{own} is fitted on dask "
        f"arrays and data frames. For tables in memory use planewise.{own}, or pass dask.array.from_array({name}) or "
        f"dask.dataframe.from_pandas({name}, npartitions=...)."
    )


class Partitions:
    """The partitions of X, with those of y and of the weights that belong to them.

    Parameters
    ----------
    client : Client
    X : dask array or data frame
    y : dask array or series, or data frame of one column
    sample_weight : dask array, series or None
    estimator : estimator
        Named in errors.
    suffix : str
        Behind the names X, y and sample_weight in errors, such as "_val".
    """

    def __init__(self, client: Client, X: Any, y: Any, sample_weight: Any, estimator: Any, suffix: str = "") -> None:
        self.names = Rows(*(f"{name}{suffix}" for name in Rows._fields))
        given = Rows(X, y, sample_weight)
        for name, value in zip(self.names, given, strict=True):
            if value is not None or name == self.names.X:
                require_collection(value, name, estimator)
        if y is None:
            raise ValueError(f"This {type(estimator).__name__} estimator requires y to be passed, but y is None.")
        self.columns = list(X.columns) if is_dataframe_like(X) else None
        self._client = client
        self._blocks = self._aligned(given)

    def __len__(self) -> int:
        return len(self._blocks[0])

    def submit(
        self, what: str, job: Callable[..., Any], *common: Any, each: Sequence[Any] | None = None
    ) -> list[Future]:
        """One task per partition, ``job(rows, number, *common[, each[number]])``, shown as ``planewise-what``."""
        name, tasks = f"planewise-{what}-{uuid4().hex}", []
        for number, block in enumerate(zip(*self._blocks, strict=True)):
            own = () if each is None else (each[number],)
            call = delayed(_with_rows, pure=False)
            tasks.append(call(job, *block, number, *common, *own, dask_key_name=f"{name}-{number}"))
        return list(self._client.compute(tasks))

    def ask(self, what: str, job: Callable[..., Any], *common: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """The results of `submit`, in the order of the partitions."""
        futures = self.submit(what, job, *common, each=each)
        finished(self._client, futures, self.name_of)
        return list(self._client.gather(futures))

    def name_of(self, number: int) -> str:
        """How errors call a partition."""
        return f"partition {number} of {self.names.X}"

    # --------------------------------------------------------------------------------------------------- alignment
    def _aligned(self, given: Rows) -> list[list[Any]]:
        """The blocks of X, of y and of the weights, which correspond."""
        X = one_chunk_of_columns(given.X)
        others = [None if each is None else one_chunk_of_columns(each) for each in given[1:]]
        sizes: tuple[Any, ...] | None = None
        for place, other in enumerate(others):
            if other is None or _agree(X, other):
                continue
            if not _is_known(other):
                others[place] = self._repartitioned(X, other, self.names[place + 1])
                continue
            sizes = sizes or self._sizes(X)
            if sum(sizes) != other.shape[0]:
                raise ValueError(
                    f"{self.names.X} has {sum(sizes)} rows, but {self.names[place + 1]} has {other.shape[0]}."
                )
            others[place] = other.rechunk({0: sizes})
        n = n_blocks(X)
        return [blocks_of(X), *([None] * n if each is None else blocks_of(each) for each in others)]

    def _sizes(self, X: Any) -> tuple[int, ...]:
        """The number of rows of each partition of X; computed, if dask does not know them."""
        if _is_known(X):
            return tuple(X.chunks[0])
        name = f"planewise-count-{uuid4().hex}"
        tasks = [
            delayed(_n_rows, pure=False)(block, dask_key_name=f"{name}-{k}") for k, block in enumerate(blocks_of(X))
        ]
        futures = list(self._client.compute(tasks))
        finished(self._client, futures, self.name_of)
        return tuple(self._client.gather(futures))

    def _repartitioned(self, X: Any, other: Any, name: str) -> Any:
        """A data frame or series with the partitions of X, by its index."""
        known = [getattr(each, "known_divisions", False) for each in (X, other)]
        if all(known):
            return other.repartition(divisions=X.divisions, force=True)
        raise ValueError(
            f"{self.names.X} has {n_blocks(X)} partitions, but {name} has {n_blocks(other)}, and dask does not know "
            f"which rows they hold. Make {name} from the same partitions as {self.names.X}, or repartition both."
        )


def _with_rows(job: Callable[..., Any], X: Any, y: Any, sample_weight: Any, *args: Any) -> Any:
    return job(Rows(X, y, sample_weight), *args)


def n_blocks(collection: Any) -> int:
    """Number of partitions along the rows."""
    return collection.numblocks[0] if isinstance(collection, da.Array) else collection.npartitions


def blocks_of(collection: Any) -> list[Any]:
    """The partitions, each as a delayed object.

    Only as many columns as needed are read, but partitions are not merged, as dask does with those of few columns: X
    and y from one file would no longer correspond.
    """
    if isinstance(collection, da.Array):
        return list(np.ravel(collection.to_delayed()))
    return list(collection.simplify().to_delayed(optimize_graph=False))


def one_chunk_of_columns(collection: Any) -> Any:
    """Return the collection with all columns of a row in one chunk."""
    if isinstance(collection, da.Array) and collection.ndim > 1 and collection.numblocks[1] > 1:
        return collection.rechunk({1: -1})
    return collection


def _is_known(collection: Any) -> bool:
    """Whether dask knows how many rows each partition has."""
    return isinstance(collection, da.Array) and not any(np.isnan(collection.chunks[0]))


def _agree(X: Any, other: Any) -> bool:
    """Whether partitions correspond as far as dask knows; each is compared again where it is computed."""
    if _is_known(X) and _is_known(other):
        return bool(X.chunks[0] == other.chunks[0])
    return n_blocks(X) == n_blocks(other)


def _n_rows(block: Any) -> int:
    return int(block.shape[0])
