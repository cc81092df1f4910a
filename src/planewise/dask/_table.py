"""A table model fitted on a dask data frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from dask import compute, delayed
from planewise._categories import is_missing
from planewise.dask import _boosting, _others, _trees
from planewise.dask._partitions import blocks_of
from planewise.table import (
    ON_CLUSTERS,
    Column,
    LeftOut,
    TableModel,
    as_polars,
    estimator_name,
    for_many_rows,
    kind_of,
    polars,
    read_target,
    require_columns,
    target_values,
    task_of,
)
from planewise.words import Dates


def fit_table(
    frame: Any,
    target: str,
    *,
    family: str = "boost",
    task: str = "auto",
    settings: Mapping[str, Any] | None = None,
    random_state: int | None = None,
    client: Any = None,
) -> TableModel:
    """Fit a `planewise.table.TableModel` on a dask data frame.

    All columns of numbers, booleans, dates and text are used: unlike in memory, constant columns and identifiers are
    not detected. Rows without a target are left out. The target column is gathered; the others stay on their
    workers as far as the estimator lets them.

    Parameters
    ----------
    frame : dask data frame
    target : str
        The column to predict.
    family : {"slm", "forest", "boost", "recip"}, default="boost"
        As in `planewise.table.TableModel`.
    task : {"auto", "classification", "regression"}, default="auto"
        As in `planewise.table.TableModel`.
    settings : dict or None, default=None
        Parameters of the estimator.
    random_state : int or None, default=None
        Seed of the estimator.
    client : Client or None, default=None
        None uses the current one.

    Returns
    -------
    model : TableModel
        It predicts tables in memory, and can be saved.
    """
    require_columns([target], list(frame.columns))
    if family not in ON_CLUSTERS:
        raise ValueError(f"The family {family!r} cannot be fitted on a cluster; use one of {', '.join(ON_CLUSTERS)}.")
    known = frame[frame[target].notnull()]
    y = as_polars(known[[target]].compute())[target]
    task = task_of(y) if task == "auto" else task
    target_values(y, task)  # an error if there is nothing to learn
    settings = for_many_rows(family, settings or {}, len(y))
    model = _described(TableModel(family, task, settings, random_state), frame, target, task)
    estimator = _estimator(family, task, len(y), settings, random_state, client)
    estimator.fit(*_collections(known, model))
    model.estimator_ = estimator.to_local()
    model.tell_estimator()
    return model


def _described(model: TableModel, frame: Any, target: str, task: str) -> TableModel:
    """The model with what it knows of columns before the fit."""
    empty, columns, left_out = as_polars(frame._meta), [], []
    for name in empty.columns:
        kind = kind_of(empty[name].dtype)
        if name != target and kind is None:
            left_out.append(LeftOut(name, f"holds values of type {empty[name].dtype}, which cannot be used"))
        elif name != target and kind is not None:
            columns.append(_dates(frame[name], empty[name].dtype) if kind == "date" else Column(name, kind))
    if not columns:
        raise ValueError(f"No column can be used to predict {target!r}: there is no other column of a usable type.")
    model.target_, model.task_, model.columns_, model.left_out_ = target, task, columns, left_out
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
    return model


def _dates(values: Any, dtype: Any) -> Column:
    """A column of dates, with the middle between the first and the last one."""
    known, is_day = values.dropna(), dtype == polars().Date
    first, last, whole = compute(known.min(), known.max(), is_day or (known.dt.floor("D") == known).all())
    middle = 0.0 if is_missing(first) else (Dates().number(first) + Dates().number(last)) / 2
    zone = None if is_day else dtype.time_zone
    return Column(values.name, "date", middle, clock=None if whole and zone is None else zone or "")


def _estimator(
    family: str, task: str, n_rows: int, settings: Mapping[str, Any], random_state: int | None, client: Any
) -> Any:
    name = estimator_name(family, task, n_rows)
    cls = next((getattr(each, name) for each in (_boosting, _trees, _others) if hasattr(each, name)), None)
    if cls is None:
        raise ValueError(f"{name} cannot be fitted on a cluster.")
    seed = {} if random_state is None else {"random_state": random_state}
    return cls(**{**seed, **settings}, client=client)


def _collections(known: Any, model: TableModel) -> tuple[Any, Any]:
    """X and y as the estimator takes them."""
    meta = _read(known._meta, model)
    X = known.map_partitions(_read, model, meta=meta)
    pieces = blocks_of(known[[model.target_]])
    y = [delayed(_read_target, pure=False)(piece, model.target_, model.task_) for piece in pieces]
    return X, da.concatenate([da.from_delayed(piece, shape=(np.nan,), dtype=object) for piece in y])


def _read(part: Any, model: TableModel) -> Any:
    read = model.read(part).to_pandas()
    read.index = part.index
    return read


def _read_target(part: Any, target: str, task: str) -> NDArray[Any]:
    return read_target(as_polars(part)[target], task)
