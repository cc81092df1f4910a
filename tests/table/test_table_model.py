"""Columns are taken for what they are, and tables are read the same at prediction as in the fit."""

from __future__ import annotations

from datetime import date, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier

import planewise as pw
from planewise.data.columns import find_columns, read_words
from planewise.data.problem import values_as_given
from planewise.table import TableModel, as_table_model
from planewise.table.families import read_setting
from planewise.table.model import task_of

N = 60


def table(**more):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "x": rng.normal(size=N),
            "town": rng.choice(["Bonn", "Ulm"], N),
            "y": np.where(rng.normal(size=N) > 0, "a", "b"),
            **more,
        }
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.linspace(0, 1, N), "number"),
        (np.arange(N) % 7, "number"),
        (np.arange(N) % 2 == 0, "truth"),
        ([["a", "b", "c"][k % 3] for k in range(N)], "category"),
        ([date(2020, 1, 1 + k % 28) for k in range(N)], "date"),
        (np.arange(N) * 1000, "number"),  # different in every row, but with gaps: as likely a measurement
    ],
)
def test_the_kind_of_a_column(values, kind):
    columns, left_out = find_columns(table(z=values), "y")
    assert [column.name for column in columns] == ["x", "town", "z"] and not left_out
    assert columns[2].kind == kind


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("z", np.arange(N) + 500, "identifier"),
        ("customer_id", np.arange(N) * 1000, "identifier"),
        ("z", [f"text {k}" for k in range(N)], "identifier or free text"),
        ("z", [3] * N, "the same value in every row"),
        ("z", [None] * N, "is empty"),
        ("z", [[1]] * N, "cannot be used"),
    ],
)
def test_a_column_that_is_of_no_use_is_left_out(name, values, why):
    _, left_out = find_columns(table(**{name: values}), "y")
    assert [each.name for each in left_out] == [name]
    assert why in left_out[0].why


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 20, "classification"),
        ([True, False] * 20, "classification"),
        ([0, 1] * 20, "classification"),
        (list(range(40)), "regression"),
        ([0.5, 1.5] * 20, "regression"),
        ([0.0, 1.0] * 20, "classification"),
        ([0.0, 1.0, 2.0, 3.0] * 10, "regression"),
    ],
)
def test_the_task_is_told_by_the_target(values, task):
    assert task_of(pl.Series("y", values)) == task


@pytest.mark.parametrize("family", ["tree", "kernel"])
def test_tables_of_every_library_give_the_same(family):
    rows = table()
    settings = {"mus": [10.0], "gammas": [0.1], "n_repeats": 1} if family == "kernel" else {}
    model = TableModel(family, settings=settings, random_state=0).fit(rows, "y")
    again = TableModel(family, settings=settings, random_state=0).fit(rows.to_pandas(), "y")
    expected = model.predict_proba(rows)
    np.testing.assert_array_equal(again.predict_proba(rows.to_arrow()), expected)
    shuffled = rows.select("y", "town", "x")  # columns are found by name
    np.testing.assert_array_equal(model.predict_proba(shuffled), expected)


def test_a_machine_takes_gaps_and_new_categories_as_they_are():
    rows = table()
    model = TableModel("kernel", settings={"mus": [10.0], "gammas": [0.1], "n_repeats": 1}).fit(rows, "y")
    asked = pl.DataFrame({"x": [None, 0.5], "town": ["Ulm", "Rom"]}, schema={"x": pl.Float64, "town": pl.String})
    assert model.read(asked)["town"].to_list() == ["Ulm", "Rom"] and model.read(asked)["x"].to_list()[1] == 0.5
    names = model.estimator_.prepared_feature_names_.tolist()
    prepared = model.estimator_._scaling.preparation(values_as_given(model.estimator_, model.read(asked), reset=False))
    found = [dict(zip(names, row, strict=True)) for row in prepared.tolist()]
    assert found[0]["x"] == rows["x"].median() and found[1]["x"] == 0.5
    assert [each["town=Ulm"] for each in found] == [1.0, 0.0] and found[1]["town=Bonn"] == 0.0


def test_dates_and_booleans_may_come_as_text_or_numbers():
    rows = table(day=[date(2020, 1, 1 + k % 28) for k in range(N)], new=[k % 3 == 0 for k in range(N)])
    model = TableModel("tree", random_state=0).fit(rows, "y")
    words = rows.with_columns(pl.col("new").cast(pl.Int8))
    np.testing.assert_array_equal(model.predict_proba(words), model.predict_proba(rows))
    words = rows.with_columns(pl.when(pl.col("new")).then(pl.lit("True")).otherwise(pl.lit("False")).alias("new"))
    np.testing.assert_array_equal(model.predict_proba(words), model.predict_proba(rows))
    with pytest.raises(ValueError, match="Column 'day' holds numbers, but held dates"):
        model.predict(rows.with_columns(pl.lit(3).alias("day")))


def test_what_cannot_be_fitted_is_named():
    with pytest.raises(ValueError, match="no column 'z'"):
        TableModel().fit(table(), "z")
    with pytest.raises(ValueError, match="family"):
        TableModel("svm").fit(table(), "y")
    with pytest.raises(TypeError, match="named columns"):
        TableModel().fit(np.zeros((3, 2)), "y")
    with pytest.raises(ValueError, match="infinity"):
        TableModel("tree").fit(table(z=[np.inf] + [1.0] * (N - 1)), "y")
    with pytest.raises(AttributeError, match="neither classes nor probabilities"):
        _ = TableModel("tree").fit(table(), "x").classes_


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_depth", "4", 4),
        ("max_depth", "none", None),
        ("coef_decay", "0.5", 0.5),
        ("subspace_size", "2,3", [2, 3]),
        ("refine_thresholds", "False", False),
        ("bins", "quantile", "quantile"),
        ("categorical_features", "a,b", ["a", "b"]),
        ("monotonic_cst", "1,0,-1", [1, 0, -1]),
        ("monotonic_cst", "1", [1]),
        ("monotonic_cst", '{"a": 1}', {"a": 1}),
        ("interaction_cst", "pairwise", "pairwise"),
        ("interaction_cst", '[["a", "b"], [2]]', [["a", "b"], [2]]),
    ],
)
def test_a_setting_is_read_by_the_limits_of_its_parameter(name, text, value):
    from planewise import SLMClassifier

    read = read_setting(SLMClassifier, name, text)
    assert read == value and type(read) is type(value)


def test_constraints_of_a_table_name_its_columns():
    rows = table().with_columns(pl.lit(1).alias("same"))
    for family in ("tree", "forest", "boosting"):
        settings = {"monotonic_cst": {"x": 1}, "interaction_cst": [["x", "town"]]}
        model = TableModel(family, settings=settings, random_state=0).fit(rows, "y")
        at = rows.head(50).with_columns(pl.lit("Ulm").alias("town"), pl.Series("x", np.linspace(-3, 3, 50)))
        assert (np.diff(model.predict_proba(at)[:, 1]) >= 0).all()
    for settings, words in [
        ({"monotonic_cst": {"same": 1}}, "monotonic_cst names 'same', which is left out: it "),
        ({"monotonic_cst": {"y": 1}}, "monotonic_cst names 'y', which is left out: it is the target"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst of a table needs column names"),
        ({"interaction_cst": [["x", "wealth"]]}, "names 'wealth', which is not a column of the table"),
        ({"interaction_cst": [[0, 1]]}, "interaction_cst of a table needs column names"),
        ({"interaction_cst": 5}, "'interaction_cst' of SLMBoostClassifier must be 'pairwise'"),
    ]:
        with pytest.raises(ValueError, match=words):
            TableModel("boosting", settings=settings).fit(rows, "y")


def test_pandas_categories_are_words():
    rows = table().to_pandas()
    rows["town"] = pd.Categorical(rows["town"])
    model = TableModel("tree", random_state=0).fit(rows, "y")
    assert model.columns_[1].kind == "category"
    np.testing.assert_array_equal(model.predict(rows), model.predict(table()))


def test_rows_are_called_by_the_given_numbers_and_those_without_a_target_by_none():
    rows = table()
    rows = rows.with_columns(pl.when(pl.int_range(pl.len()) % 4 > 0).then(pl.col("y")).alias("y"))
    numbers = np.arange(N)[::-1] + 1000
    model = TableModel("recip", random_state=0).fit(rows, "y", numbers)
    known = np.flatnonzero(rows["y"].is_not_null().to_numpy())
    assert sorted(model.estimator_._rows.origin.tolist()) == sorted(numbers[known].tolist())
    plain = TableModel("recip", random_state=0).fit(rows, "y")
    assert sorted(plain.estimator_._rows.origin.tolist()) == known.tolist()
    assert (plain.predict(rows) == model.predict(rows)).all()


def test_kept_rows_of_a_sum_of_views_are_called_by_the_given_numbers():
    rows = table()
    rows = rows.with_columns(pl.when(pl.int_range(pl.len()) % 4 > 0).then(pl.col("y")).alias("y"))
    numbers = np.arange(N)[::-1] + 1000
    few = {"n_estimators": 5, "cv": 2, "max_views": 3, "keep_rows": 30}
    model = TableModel("additive", settings=few, random_state=0).fit(rows, "y", numbers)
    kept = model.estimator_.fitted_rows()
    assert len(kept.row_number) == 30 and kept.row_number.min() >= 1000
    places = N - 1 - (kept.row_number - 1000)
    assert [rows["y"][int(place)] for place in places] == kept.target.tolist()
    plain = TableModel("additive", settings=few, random_state=0).fit(rows, "y")
    assert plain.estimator_.fitted_rows().row_number.tolist() == places.tolist()
    with pytest.raises(ValueError, match="numbers must have one number for each row of fit"):
        model.estimator_.renumber_rows(np.arange(3))
    with pytest.raises(ValueError, match="numbers must be 0 or more"):
        model.estimator_.renumber_rows(-np.arange(2000))


@pytest.mark.parametrize(
    ("estimator", "family"),
    [
        (pw.SLMClassifier(), "tree"),
        (pw.SLMForestClassifier(n_estimators=3), "forest"),
        (pw.SLMBoostClassifier(n_estimators=3), "boosting"),
        (pw.MCMClassifier(), "kernel"),
        (pw.AdditiveClassifier(n_estimators=3, cv=2, max_views=2), "additive"),
        (pw.RECIPClassifier(random_state=0), "recip"),
    ],
)
def test_an_estimator_becomes_a_model_of_its_family_that_can_be_saved(estimator, family, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    model = as_table_model(estimator.fit(X, X["a"] > 0))
    assert model.family == family
    pw.save(model, tmp_path / "m")
    np.testing.assert_array_equal(pw.load(tmp_path / "m").predict(X), model.predict(X))


def test_an_estimator_of_another_library_is_refused():
    X = pd.DataFrame({"a": [0.0, 1.0]})
    with pytest.raises(ValueError, match="holds a DummyClassifier, which cannot predict the rows of a table"):
        as_table_model(DummyClassifier().fit(X, [0, 1]))


@pytest.mark.parametrize("wrong", [[1, 2], np.zeros(N), -np.arange(N)])
def test_invalid_row_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="row_numbers must have one integer of at least 0 for each"):
        TableModel("tree").fit(table(), "y", wrong)


@pytest.mark.parametrize("task", ["auto", "classification", "regression"])
def test_a_target_of_a_type_that_cannot_be_predicted_is_named(task):
    times = table(took=[timedelta(hours=k % 3) for k in range(N)], parts=[[k % 3] for k in range(N)])
    for target, kind in (("took", "Duration"), ("parts", "List")):
        with pytest.raises(ValueError, match=f"The target '{target}' holds values of type {kind}.*cannot be predicted"):
            TableModel("tree", task).fit(times, target)


def test_times_of_day_and_days_are_classes():
    hours = table(at=[time(k % 3) for k in range(N)], on=[date(2024, 1, 1 + k % 3) for k in range(N)])
    assert TableModel("tree").fit(hours, "at").classes_.tolist() == ["00:00:00", "01:00:00", "02:00:00"]
    assert TableModel("tree").fit(hours, "on").classes_.tolist() == ["2024-01-01", "2024-01-02", "2024-01-03"]


def test_text_is_read_as_booleans_or_dates_only():
    words = pl.Series("x", ["true", "2024-01-01"])
    assert read_words(words, "truth").to_list() == [1.0, None]
    assert read_words(words, "date").to_list() == [None, 19723.0]
    with pytest.raises(ValueError, match="not as 'number'"):
        read_words(words, "number")
