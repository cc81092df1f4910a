from __future__ import annotations

import pytest

from planewise.table import estimator_name


@pytest.mark.parametrize(
    ("task", "n_rows", "name"),
    [
        ("classification", 3000, "MCMClassifierCV"),
        ("classification", 3001, "LargeScaleMCMClassifier"),
        ("regression", 3000, "MCMRegressorCV"),
        ("regression", 3001, "MCMRegressor"),
    ],
)
def test_the_parameters_of_a_machine_are_searched_on_small_tables(task, n_rows, name):
    assert estimator_name("mcm", task, n_rows) == name
