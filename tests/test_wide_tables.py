"""The work that a table takes grows with its columns, not with their square."""

from __future__ import annotations

import sys

import narwhals.stable.v1 as nw
import numpy as np
import polars as pl
import pytest

from planewise import SLMBoostClassifier, SLMClassifier, load, save
from planewise.data import from_batches
from planewise.table import TableModel

N_ROWS = 20
LABEL = np.arange(N_ROWS) % 2


def floats(width):
    values = np.random.default_rng(0).normal(size=(N_ROWS, width))
    return pl.DataFrame(values, schema=[f"c{j}" for j in range(width)])


def numbers_with_gaps(width):
    return pl.DataFrame({f"c{j}": [None, *((np.arange(1, N_ROWS) + j) % 3).tolist()] for j in range(width)})


def categories(width):
    columns = {f"c{j}": np.array(["a", "b", "c"])[(np.arange(N_ROWS) + j) % 3].tolist() for j in range(width)}
    return pl.DataFrame(columns).cast(pl.Categorical)


TABLES = [floats, numbers_with_gaps, categories]
LIBRARIES = {
    "pandas": lambda frame: frame.to_pandas(),
    "polars": lambda frame: frame,
    "arrow": lambda frame: frame.to_arrow(),
}


def calls(work):
    """How many functions are called, those of C included."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def assert_linear(work, width=60):
    """`work` is done on a table of this width and on one of twice the width, after a first one for caches."""
    work(width)
    once, twice = (calls(lambda width=width: work(width)) for width in (width, 2 * width))
    assert twice < 2.2 * once


@pytest.fixture
def listings(monkeypatch):
    """How often a frame is asked for the names of all of its columns, which takes a time that grows with them."""
    asked = []
    names = nw.DataFrame.columns.fget

    def counted(frame):
        asked.append(frame)
        return names(frame)

    monkeypatch.setattr(nw.DataFrame, "columns", property(counted))
    return asked


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("table", TABLES)
def test_the_calls_of_a_fit_and_a_prediction_grow_with_the_columns(table, library):
    tables = {width: LIBRARIES[library](table(width)) for width in (60, 120)}

    def work(width):
        model = SLMBoostClassifier(n_estimators=1, max_depth=1, random_state=0).fit(tables[width], LABEL)
        model.predict(tables[width])

    assert_linear(work)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("table", TABLES)
def test_names_of_columns_are_listed_equally_often_however_many_there_are(table, library, listings):
    found = []
    for width in (10, 40):
        frame = LIBRARIES[library](table(width))
        listings.clear()
        model = SLMClassifier(max_depth=1, random_state=0).fit(frame, LABEL)
        model.predict(frame)
        found.append(len(listings))
    assert found[0] == found[1]


def test_names_of_columns_of_parts_are_listed_equally_often_however_many_there_are(listings):
    found = []
    for width in (10, 40):
        listings.clear()
        with from_batches([categories(width).with_columns(y=pl.Series(LABEL))], target="y")[0]:
            found.append(len(listings))
    assert found[0] == found[1]


@pytest.mark.parametrize("table", TABLES)
def test_the_calls_of_a_table_model_grow_with_the_columns(table, tmp_path):
    tables = {width: table(width).with_columns(y=pl.Series(LABEL)) for width in (60, 120)}

    def work(width):
        model = TableModel("tree", random_state=0).fit(tables[width], "y")
        model.predict(tables[width])
        save(model, tmp_path / f"{width}.planewise")
        load(tmp_path / f"{width}.planewise").describe()

    assert_linear(work)


def test_arrow_dictionaries_with_unsigned_codes_are_read():
    frame = categories(2)
    arrow = frame.to_arrow()
    assert "uint32" in str(arrow.schema.field(0).type)
    model = SLMClassifier(random_state=0).fit(frame, LABEL)
    assert SLMClassifier(random_state=0).fit(arrow, LABEL).predict(arrow).tolist() == model.predict(frame).tolist()
