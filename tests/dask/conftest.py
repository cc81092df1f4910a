from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")

from dask.distributed import Client, LocalCluster


# For the tests of this folder only: dask removes workers in this process for good if its event loop does not run for
# five minutes.
@pytest.fixture(scope="package")
def cluster():
    with LocalCluster(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as started:
        yield started


@pytest.fixture(scope="package")
def client(cluster):
    # Within `with Client(cluster)`, clients that others make later would not be used.
    connected = Client(cluster)
    yield connected
    connected.close()


@pytest.fixture(scope="session")
def table():
    """600 rows with numbers, missing values, categories, and a column that float32 cannot resolve."""
    rng = np.random.default_rng(0)
    n_rows = 600
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)).round(3), columns=list("abcd"))
    X.loc[rng.choice(n_rows, 60, replace=False), "b"] = np.nan
    X["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], n_rows))
    X["time"] = 1.6e9 + rng.integers(0, 600, n_rows)
    score = X["a"] + (X["kind"] == "v") - X["b"].fillna(0) / 2
    y = pd.Series(np.where(score > 0, "yes", "no"), name="y")
    weight = pd.Series(rng.integers(0, 3, n_rows).astype(float), name="w")
    return X, y, score.rename("score"), weight
