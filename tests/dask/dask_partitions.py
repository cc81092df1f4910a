"""Tables in partitions of given sizes, and models by their bytes."""

from __future__ import annotations

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np

from dask import delayed


def frame(table, sizes):
    """A dask frame or series with partitions of these sizes, of which dask knows neither divisions nor sizes."""
    ends = np.cumsum(sizes)
    pieces = [delayed(table.iloc[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
    return dd.from_delayed(pieces, meta=table.iloc[:0], verify_meta=False)


def array(values, sizes):
    return da.from_array(np.asarray(values), chunks=(tuple(sizes), *np.asarray(values).shape[1:]))


def model_bytes(model):
    """All that a fit learned, without the parameters."""
    made = model.to_local() if hasattr(model, "to_local") else model
    parameters = made.get_params(deep=False)
    learned = {name: value for name, value in vars(made).items() if name not in parameters}
    return {name: _bytes(value) for name, value in learned.items()}


def _bytes(value):
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    if isinstance(value, dict):
        return {key: _bytes(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_bytes(each) for each in value]
    return pickle.dumps(value)


def wait_for_two_workers(cluster, client):
    """Until two workers are there. On a busy machine a nanny may not start its worker again: another one then does."""
    for wanted in (2, 3, 4):
        cluster.scale(wanted)
        try:
            return client.wait_for_workers(2, timeout=40)
        except TimeoutError:
            continue
    raise TimeoutError("two workers did not start")
