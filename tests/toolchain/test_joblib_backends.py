"""The same results whichever backend of joblib runs the fits."""

from __future__ import annotations

import distributed
import joblib
import numpy as np
import pytest
from examples_to_fit import CLASSIFIERS, REGRESSORS, problem
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

MODELS = CLASSIFIERS | REGRESSORS


def predictions(n_jobs):
    """Of every estimator, each from a cross-validation whose fits run side by side."""
    return {
        name: cross_val_predict(clone(model), *problem(name), cv=2, n_jobs=n_jobs) for name, model in MODELS.items()
    }


@pytest.fixture(scope="module")
def one_after_another():
    return predictions(1)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python's word on multiprocessing from 3.12 on
def test_a_backend_changes_nothing(backend, one_after_another):
    with joblib.parallel_config(backend=backend):
        found = predictions(2)
    for name, wanted in one_after_another.items():
        np.testing.assert_array_equal(found[name], wanted, err_msg=name)


def test_dask_as_a_backend_changes_nothing(one_after_another):
    with (
        distributed.Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None),
        joblib.parallel_config(backend="dask"),
    ):
        found = predictions(2)
    for name, wanted in one_after_another.items():
        np.testing.assert_array_equal(found[name], wanted, err_msg=name)
