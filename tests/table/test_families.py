from __future__ import annotations

import polars as pl
import pytest

import planewise as pw
from planewise.table import TableModel
from planewise.table.families import (
    FAMILIES,
    estimator_class,
    estimator_name,
    max_columns,
    max_rows,
)


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
    assert estimator_name("kernel", task, n_rows) == name


@pytest.mark.parametrize(
    ("task", "cls"), [("classification", pw.AdditiveClassifier), ("regression", pw.AdditiveRegressor)]
)
def test_a_sum_of_views_has_no_limit_of_rows_but_one_of_columns(task, cls):
    assert estimator_class("additive", task, 10**6) is cls
    assert max_rows("additive", task) is None and max_columns("additive") == 2000
    assert {max_columns(family) for family in FAMILIES if family != "additive"} == {None}


def test_recip_predicts_classes_only():
    with pytest.raises(ValueError, match="'recip' predicts classes only"):
        TableModel("recip", "regression").fit(pl.DataFrame({"a": [1.0, 2.0] * 9, "y": [1.5, 2.5] * 9}), "y")


def test_the_words_of_families_are_all_different():
    assert FAMILIES["additive"] == "an additive model of functions of two columns"
    assert FAMILIES["recip"] == "nearest rows in two-feature views"
    assert len(set(FAMILIES.values())) == len(FAMILIES)
