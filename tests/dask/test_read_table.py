"""Partitions become parts whose rows are those of the table in one piece, to the bit."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from dask_partitions import array, frame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import planewise.dask as on_dask
from planewise.dask.look import look_at
from planewise.dask.partitions import Partitions
from planewise.dask.read import read_table
from planewise.data.problem import class_problem, number_problem
from planewise.data.survey import learn_columns


def split(n_rows, cuts):
    bounds = [0, *sorted(cuts), n_rows]
    return [b - a for a, b in itertools.pairwise(bounds)]


def read(client, model, X, y, weight=None, sizes=None, validation=None):
    lazy = [None if each is None else frame(each, sizes) for each in (X, y, weight)]
    partitions = Partitions(client, *lazy, model)
    looks = look_at(partitions, model, surveys=True)
    watched = None
    if validation is not None:
        theirs = Partitions(client, *(frame(each, [len(each)]) for each in validation), None, model, "_val")
        watched = theirs, look_at(theirs, model)
    return read_table(client, partitions, looks, watched, model)


def everything(parts):
    return parts.gather_rows(np.arange(sum(parts.sizes)))


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 600), max_size=6), st.booleans(), st.sampled_from([None, "balanced", {"yes": 2.5}]))
def test_classes_in_any_partitions(client, table, cuts, weighted, class_weight):
    X, y, _, weight = table
    model = on_dask.SLMBoostClassifier(class_weight=class_weight)
    given_weight = weight if weighted else None
    found = read(client, model, X, y, given_weight, split(600, cuts))
    expected = class_problem(model, X, y, given_weight, class_weight=class_weight)
    taken = everything(found.parts)
    assert taken.rows.tobytes() == expected.rows.tobytes()
    assert np.array_equal(taken.target, expected.label)
    assert np.array_equal(taken.weight, expected.weight)
    assert found.classes.tolist() == expected.classes.tolist() and found.classes.dtype == expected.classes.dtype


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 600), max_size=6), st.booleans())
def test_numbers_in_any_partitions(client, table, cuts, weighted):
    X, _, y, weight = table
    model, given_weight = on_dask.SLMBoostRegressor(), weight if weighted else None
    found = read(client, model, X, y, given_weight, split(600, cuts))
    expected = number_problem(model, X, y, given_weight)
    taken = everything(found.parts)
    assert taken.rows.tobytes() == expected.rows.tobytes()
    assert np.array_equal(taken.target, expected.target) and np.array_equal(taken.weight, expected.weight)


def test_columns_are_learned_as_in_memory(client, table):
    model = on_dask.SLMBoostClassifier()
    found = read(client, model, table[0], table[1], sizes=[100, 500])
    class_problem(other := on_dask.SLMBoostClassifier(), *table[:2])
    learn_columns(model, found.survey)
    assert model.n_features_in_ == 6 and model.feature_names_in_.tolist() == other.feature_names_in_.tolist()
    assert {j: each.tolist() for j, each in model.categories_.items()} == {4: ["u", "v", "w"]}
    assert model.feature_origins_ == other.feature_origins_ != {}


def test_a_class_of_weight_zero_is_left_out(client, table):
    y = pd.Series(np.repeat(["p", "q", "r"], 200))
    model = on_dask.SLMBoostClassifier(class_weight={"q": 0, "r": 3})
    found = read(client, model, table[0], y, sizes=[250, 350])
    expected = class_problem(model, table[0], y, class_weight=model.class_weight)
    assert found.classes.tolist() == ["p", "r"] and found.parts.sizes == [200, 200]
    taken = everything(found.parts)
    assert np.array_equal(taken.target, expected.label) and np.array_equal(taken.weight, expected.weight)


def test_validation_rows_are_read_by_the_columns_of_the_training_rows(client, table):
    X, y = table[:2]
    new = X[500:].copy()
    new["kind"] = pd.Categorical(["z"] * 50 + ["v"] * 50)
    model = on_dask.SLMBoostClassifier()
    found = read(client, model, X[:500], y[:500], sizes=[500], validation=(new, y[500:]))
    taken = everything(found.validation)
    assert taken.rows[:, 4].tolist() == [3.0] * 50 + [1.0] * 50  # one past the last category, and the second


def test_a_validation_class_that_no_training_row_has(client, table):
    X, y = table[:2]
    strange = pd.Series(["maybe"] * 100)
    model = on_dask.SLMBoostClassifier()
    found = read(client, model, X[:500], y[:500], sizes=[500], validation=(X[500:], strange))
    with pytest.raises(ValueError, match="Partition 0 of y_val has the class 'maybe', which no training row has"):
        everything(found.validation)


def test_labels_of_different_kinds(client, table):
    model, y = on_dask.SLMBoostClassifier(), array(np.array(["a"] * 300 + [1] * 300, dtype=object), [300, 300])
    partitions = Partitions(client, frame(table[0], [300, 300]), y, None, model)
    with pytest.raises(ValueError, match="The classes are text in partition 0 of y, but not in partition 1"):
        read_table(client, partitions, look_at(partitions, model, surveys=True), None, model)
