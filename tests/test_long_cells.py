"""One long text among short ones takes about its own size, not that size times the number of rows."""

from __future__ import annotations

import csv
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from clean_shell import PEAK_MEMORY, run_python
from planewise import (
    AdditiveClassifier,
    LargeScaleMCMClassifier,
    MCMClassifier,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMClassifier,
    SLMForestClassifier,
    load,
    save,
)
from planewise.data import from_batches
from planewise.data.categories import text_array
from planewise.table import TableModel

N_ROWS = 300
LENGTH = 1_000_000
LONG = "z" * LENGTH
MOST = 20 * LENGTH  # bytes; an array of fixed width would take 4 * N_ROWS * LENGTH
FAMILIES = [
    lambda: SLMClassifier(),
    lambda: SLMForestClassifier(n_estimators=2),
    lambda: SLMBoostClassifier(n_estimators=2),
    lambda: AdditiveClassifier(max_views=1),
    lambda: MCMClassifier(),
    lambda: LargeScaleMCMClassifier(),
    lambda: RECIPClassifier(),
]


def columns(*, long_town=False, long_label=False):
    rng = np.random.default_rng(0)
    x = rng.normal(size=N_ROWS)
    town, label = rng.choice(["Bonn", "Ulm"], N_ROWS).tolist(), np.where(x > 0, "yes", "no").tolist()
    if long_town:
        town[5] = LONG
    if long_label:
        label[5:8] = [LONG] * 3
    return {"x": x.tolist(), "town": town, "y": label}


def as_pandas(given):
    return pd.DataFrame({"x": given["x"], "town": pd.Categorical(given["town"])}), pd.Series(given["y"])


def as_polars(given):
    frame = pl.DataFrame({"x": given["x"], "town": pl.Series(given["town"], dtype=pl.Categorical)})
    return frame, pl.Series(given["y"])


def as_arrow(given):
    return pa.table({"x": given["x"], "town": pa.array(given["town"]).dictionary_encode()}), pa.array(given["y"])


def as_lists(given):
    return [[x, float(town == "Ulm")] for x, town in zip(given["x"], given["town"], strict=True)], given["y"]


def as_objects(given):
    return np.array([given["x"], given["town"]], dtype=object).T, np.array(given["y"], dtype=object)


def peak(call):
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fit_and_predict(model, X, y):
    if isinstance(X, np.ndarray):
        model.set_params(categorical_features=[1])
    return model.fit(X, y), model.predict(X)


@pytest.mark.parametrize("what", ["long_town", "long_label"])
@pytest.mark.parametrize("table", [as_pandas, as_polars, as_arrow, as_lists, as_objects])
def test_a_long_text_takes_about_its_own_size_whatever_the_table(table, what):
    X, y = table(columns(**{what: True}))
    (model, found), most = peak(lambda: fit_and_predict(SLMClassifier(), X, y))
    assert most < MOST
    assert len(model.classes_) == (3 if what == "long_label" else 2) and len(found) == N_ROWS


@pytest.mark.parametrize("what", ["long_town", "long_label"])
@pytest.mark.parametrize("make", FAMILIES, ids=lambda make: type(make()).__name__)
def test_a_long_text_takes_about_its_own_size_in_every_family(make, what):
    X, y = as_polars(columns(**{what: True}))
    assert peak(lambda: fit_and_predict(make(), X, y))[1] < MOST


@pytest.mark.parametrize("table", [as_pandas, as_polars, as_arrow])
def test_a_long_text_where_numbers_should_be_is_refused_in_few_words(table):
    X, y = table(columns(long_town=True))
    X = X.with_columns(pl.col("town").cast(pl.String)) if isinstance(X, pl.DataFrame) else X
    X = X.astype({"town": str}) if isinstance(X, pd.DataFrame) else X
    X = pa.table({"town": X["town"].cast(pa.string())}) if isinstance(X, pa.Table) else X

    def fit():
        with pytest.raises(ValueError, match="Column 'town' holds text such as") as refused:
            SLMClassifier().fit(X, y)
        return str(refused.value)

    words, most = peak(fit)
    assert most < MOST and len(words) < 500


def test_long_labels_are_predicted_as_they_are():
    X, y = as_lists(columns())
    y = [LONG if each == "yes" else each for each in y]
    assert SLMClassifier().fit(X, y).predict(X).tolist() == y


@pytest.mark.parametrize("table", [as_polars, as_lists])
def test_short_labels_stay_arrays_of_fixed_width(table):
    X, y = table(columns())
    assert SLMClassifier().fit(X, y).classes_.dtype == np.dtype("<U3")


def test_labels_longer_than_an_array_of_fixed_width_should_hold_survive_a_file(tmp_path):
    given = columns()
    long = "z" * 1000
    X, y = as_polars(given | {"y": [long if each == "yes" else each for each in given["y"]]})
    model = SLMClassifier().fit(X, y)
    save(model, tmp_path / "model.planewise")
    again = load(tmp_path / "model.planewise")
    assert again.classes_.dtype == model.classes_.dtype == object
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_labels_of_a_file_take_about_their_own_size_if_one_is_longer_than_the_others():
    texts = [f"{k:04x}" for k in range(20_000)]
    found, most = peak(lambda: text_array([*texts, 256 * "z"]))
    assert most < 30 * 4 * len(texts) and found.tolist()[-1] == 256 * "z"
    assert text_array(texts).dtype.kind == text_array(["a", 256 * "z"]).dtype.kind == "U"


def test_rows_in_parts_take_about_the_size_of_a_long_label():
    table = pl.DataFrame(columns(long_label=True))
    (X, y), most = peak(lambda: from_batches([table], target="y", categorical_features=["town"]))
    with X:
        assert most < MOST and len(set(y.tolist())) == 3


def test_a_table_model_leaves_out_a_column_with_a_text_that_no_file_could_hold():
    model, most = peak(lambda: TableModel("tree").fit(pl.DataFrame(columns(long_town=True)), "y"))
    assert most < MOST
    assert [(each.name, each.why) for each in model.left_out_] == [
        ("town", "has a text of 1,000,000 characters: looks like free text")
    ]


def test_a_table_model_refuses_a_class_that_no_file_could_hold():
    with pytest.raises(ValueError, match=r"target 'y' has a class label of 1,000,000 characters.*up to 10,000"):
        TableModel("tree").fit(pl.DataFrame(columns(long_label=True)), "y")


COMMAND = (
    PEAK_MEMORY
    + """
import atexit
from planewise.cli import main
atexit.register(lambda: print(peak_memory(), file=open("peak", "w")))
main()
"""
)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory of a process from /proc")
@pytest.mark.parametrize("command", ["fit --target y --model tree --out new.planewise", "predict --out new.csv"])
def test_a_long_text_in_a_file_takes_about_its_own_size_on_the_command_line(command, tmp_path):
    short, long = columns(), columns(long_town=True)
    long["town"] = [10 * each if each is LONG else each for each in long["town"]]
    save(TableModel("tree").fit(pl.DataFrame(short), "y"), tmp_path / "model.planewise")
    with (tmp_path / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(long), *zip(*long.values(), strict=True)])
    verb, *options = command.split()
    files = ["model.planewise", "table.csv"] if verb == "predict" else ["table.csv"]
    done = run_python("-c", COMMAND, verb, *files, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    peak = int(Path(tmp_path, "peak").read_text())
    assert peak < 2**29 + 20 * 10 * LENGTH  # the libraries alone take half of the first
