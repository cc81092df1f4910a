"""The same model from the same table, whichever library holds it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from examples_to_fit import CLASSIFIERS, REGRESSORS, problem, table
from sklearn.base import clone

import planewise as pw

MODELS = CLASSIFIERS | REGRESSORS


def frames():
    """The table in all its forms; words are a category in all of them."""
    plain = table()[0]
    category = plain.astype({"colour": "category"})
    arrow = pa.Table.from_pandas(plain, preserve_index=False)
    words = arrow["colour"].combine_chunks().cast(pa.string()).dictionary_encode()
    arrow = arrow.set_column(4, "colour", words)
    return {
        "pandas": category,
        "pandas, Arrow-backed": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "pandas, nullable": category.astype(dict.fromkeys(category.columns[:4], "Float64")),
        "polars": pl.from_pandas(plain).with_columns(pl.col("colour").cast(pl.Categorical)),
        "polars, enum": pl.from_pandas(plain).with_columns(pl.col("colour").cast(pl.Enum(["blue", "red", "white"]))),
        "Arrow": arrow,
    }


def words():
    """The table in the forms that hold words as text."""
    plain = table()[0]
    assert isinstance(plain["colour"].dtype, pd.StringDtype)  # the default of pandas 3
    return {
        "pandas, str": plain,
        "pandas, object": plain.astype({"colour": object}),
        "pandas, string[pyarrow]": plain.astype({"colour": "string[pyarrow]"}),
        "polars, String": pl.from_pandas(plain),
        "Arrow, string": pa.Table.from_pandas(plain, preserve_index=False),
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_model_does_not_depend_on_the_library(name):
    _, y = problem(name, table)
    wanted = clone(MODELS[name]).fit(frames()["pandas"], y).predict(frames()["pandas"])
    model = None
    for kind, X in frames().items():
        model = clone(MODELS[name]).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), wanted, err_msg=kind)
        assert list(model.feature_names_in_) == list(table()[0].columns), kind
    for kind, X in frames().items():  # fitted to Arrow, asked about all others
        np.testing.assert_array_equal(model.predict(X), wanted, err_msg=kind)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith(("SLMC", "SLMR", "SLMF", "SLMB"))])
def test_words_that_are_text_are_categories_when_asked_for(name):
    _, y = problem(name, table)
    wanted = clone(MODELS[name]).fit(frames()["pandas"], y).predict(frames()["pandas"])
    for kind, X in words().items():
        model = clone(MODELS[name]).set_params(categorical_features=["colour"]).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), wanted, err_msg=kind)


@pytest.mark.parametrize("kind", words())
def test_words_that_are_not_asked_for_are_named_in_the_error(kind):
    with pytest.raises(ValueError, match="colour"):
        pw.SLMClassifier().fit(words()[kind], table()[1])


def test_a_declared_order_of_categories_counts_in_all_libraries():
    _, y, _ = table()
    grades = ["low", "mid", "high"]
    given = [grades[k] for k in np.random.default_rng(0).integers(0, 3, len(y))]
    arrow = pa.DictionaryArray.from_arrays(pa.array(map(grades.index, given)), grades, ordered=True)
    rows = {
        "pandas": pd.DataFrame({"grade": pd.Categorical(given, grades, ordered=True)}),
        "polars": pl.DataFrame({"grade": pl.Series(given, dtype=pl.Enum(grades))}),
        "Arrow": pa.table({"grade": pa.chunked_array([arrow[:70], arrow[70:]])}),
    }
    for kind, X in rows.items():
        model = pw.RECIPClassifier(random_state=0).fit(X, y)
        known = dict(zip(model.categories_[0].tolist(), model._ranks[0].tolist(), strict=True))
        assert known == {"low": 0, "mid": 1, "high": 2}, kind


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_targets_and_weights_may_be_columns(kind):
    X, classes, target = table()
    make = pd.Series if kind == "pandas" else pl.Series
    weight = np.arange(len(X)) % 3 + 1.0
    for name, y in (("SLMBoostClassifier", classes), ("SLMBoostRegressor", target)):
        rows = frames()[kind]
        one = clone(MODELS[name]).fit(rows, y, sample_weight=weight)
        other = clone(MODELS[name]).fit(rows, make(y), sample_weight=make(weight))
        np.testing.assert_array_equal(one.predict(rows), other.predict(rows))
