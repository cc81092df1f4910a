"""Answers to dask collections: collections themselves, of which nothing is computed before it is asked for."""

from __future__ import annotations

import warnings
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.utils import is_dataframe_like
from numpy.typing import NDArray

from dask import delayed
from planewise.dask.partitions import one_chunk_of_columns


def lazy_answer(model: Any, method: str, X: Any, **options: Any) -> Any:
    """``model.method(X)`` for a dask array (an array) or data frame (a series or data frame with the same index).

    Parameters
    ----------
    model : estimator
        An ordinary, fitted one.
    method : str
    X : dask array or data frame
    **options
        Passed on to the method.
    """
    form = _example(model, method, options)
    shared = delayed(model, name=f"planewise-model-{uuid4().hex}", pure=False)
    if is_dataframe_like(X):
        return _of_frame(shared, model, method, X, options, form)
    X = one_chunk_of_columns(X)
    sizes = tuple((size,) for size in form.shape[1:])
    return da.map_blocks(
        _answer,
        X,
        shared,
        method=method,
        options=options,
        form=form,
        name=f"planewise-{method}-{uuid4().hex}",
        drop_axis=[1] if form.ndim == 1 else None,
        chunks=(X.chunks[0], *sizes),
        dtype=form.dtype,
        meta=form[:0],
    )


def _of_frame(shared: Any, model: Any, method: str, X: Any, options: dict[str, Any], form: NDArray[Any]) -> Any:
    names = _column_names(model, method, form)
    meta = _empty_frame(form, X._meta.index, names)
    return X.map_partitions(
        _answer_with_index, shared, method=method, options=options, form=form, names=names, meta=meta
    )


def _answer(X: Any, model: Any, *, method: str, options: dict[str, Any], form: NDArray[Any]) -> NDArray[Any]:
    if X.shape[0] == 0:
        return form[:0]
    return np.asarray(getattr(model, method)(X, **options))


def _answer_with_index(
    X: Any, model: Any, *, method: str, options: dict[str, Any], form: NDArray[Any], names: list[Any] | None
) -> Any:
    if X.shape[0] == 0:
        return _empty_frame(form, X.index, names)
    return _as_frame(np.asarray(getattr(model, method)(X, **options)), X.index, names)


def _empty_frame(form: NDArray[Any], index: Any, names: list[Any] | None) -> Any:
    """Without rows; types follow from a row, since pandas does not know the type of no text."""
    empty = _as_frame(form, None, names).iloc[:0]
    empty.index = index[:0]
    return empty


def _as_frame(answer: NDArray[Any], index: Any, names: list[Any] | None) -> Any:
    import pandas as pd

    if answer.ndim == 1:
        return pd.Series(answer, index=index, name="prediction")
    return pd.DataFrame(answer, index=index, columns=names)


def _column_names(model: Any, method: str, form: NDArray[Any]) -> list[Any] | None:
    """The columns of an answer that is a data frame."""
    if form.ndim != 2:
        return None
    if method in ("predict_proba", "decision_function"):
        return list(model.classes_)
    return list(range(form.shape[1]))


def _example(model: Any, method: str, options: dict[str, Any]) -> NDArray[Any]:
    """The answer to a row of zeros, which shows the type and shape of answers; the caller never sees it."""
    row = np.zeros((1, model.n_features_in_))
    row[:, list(getattr(model, "categories_", {}))] = np.nan
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return np.asarray(getattr(model, method)(row, **options))
