"""Frames are read in blocks and by codes; every way must give what reading column by column and row by row gives."""

from __future__ import annotations

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from planewise import SLMBoostClassifier
from planewise.data import categories as _categories
from planewise.data import problem as _input
from planewise.data.categories import encode, learn_categories
from planewise.data.frames import as_values
from planewise.data.problem import precise_rows, prediction_rows, training_rows, values_as_given

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
WORDS = ["ash", "birch", "cedar", "date", "elm"]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
CATEGORIES = {
    "pandas": lambda values: pd.Series(pd.Categorical(values)),
    "pandas_reversed": lambda values: pd.Series(pd.Categorical(values, categories=[*WORDS[::-1], "oak"])),
    "pandas_arrow": lambda values: pd.Series(
        pd.array(values, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))
    ),
    "pandas_object": lambda values: pd.Series(values, dtype=object),
    "pandas_str": lambda values: pd.Series(values, dtype="string"),
    "polars": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars_enum": lambda values: pl.Series(values, dtype=pl.Enum([*WORDS[::-1], "oak"])),
    "polars_str": lambda values: pl.Series(values, dtype=pl.String),
    "arrow": lambda values: pa.array(values, pa.string()).dictionary_encode(),
    "arrow_chunks": lambda values: pa.chunked_array(
        [pa.array(part, pa.string()).dictionary_encode() for part in (values[:2], values[2:])]
    ),
}


class Reader(BaseEstimator):
    """An estimator that only reads its tables."""

    def __init__(self, categorical_features="from_dtype"):
        self.categorical_features = categorical_features


def frame_of(kind, column):
    make = pa.table if kind.startswith("arrow") else pl.DataFrame if kind.startswith("polars") else pd.DataFrame
    return make({"tree": column})


@st.composite
def plain_tables(draw):
    n_rows = draw(st.integers(1, 5))
    columns = {}
    for j, name in enumerate(draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=8))):
        dtype = np.dtype(name)
        if dtype.kind == "b":
            values = st.booleans()
        elif dtype.kind in "iu":
            values = st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        else:
            values = st.floats(-(2.0**100), 2.0**100, width=32) | st.just(float("nan"))
        columns[f"c{j}"] = np.array(draw(st.lists(values, min_size=n_rows, max_size=n_rows)), dtype=dtype)
    return columns


@given(plain_tables())
@settings(max_examples=60)
def test_every_column_of_plain_numbers_is_read_as_if_it_were_alone(columns):
    for make in FRAMES.values():
        frame = make(columns)
        for read, dtype in ((training_rows, np.float32), (values_as_given, np.float64)):
            wanted = np.column_stack([values.astype(dtype) for values in columns.values()])
            got = read(Reader(), frame)
            assert got.flags.c_contiguous and got.dtype == dtype
            assert_array_equal(got, wanted)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_whole_number_beside_floats_is_rounded_once(kind):
    number = 2**60 + 2**36 + 1  # by way of a float64, the last bit would be lost, and with it the way to round
    frame = FRAMES[kind]({"a": np.array([0.5, 1.5]), "b": np.array([number, 0])})
    assert training_rows(Reader(), frame)[0, 1] == np.int64(number).astype(np.float32)


@given(st.lists(st.none() | st.integers(-(2**40), 2**40), min_size=1, max_size=6))
@settings(max_examples=40)
def test_missing_whole_numbers_booleans_and_floats_are_read_alike_from_all_frames(values):
    flags = [None if value is None else value > 0 for value in values]
    halves = [None if value is None else value / 2 for value in values]
    wanted = np.array([values, flags, halves, [1.0] * len(values)], dtype=np.float64).T  # None becomes NaN
    frames = [
        pd.DataFrame(
            {
                "a": pd.array(values, dtype="Int64"),
                "b": pd.array(flags, dtype="boolean"),
                "c": pd.array(halves, dtype="Float64"),
                "d": np.ones(len(values)),
            }
        ),
        pl.DataFrame(
            {"a": values, "b": flags, "c": halves, "d": np.ones(len(values))},
            schema={"a": pl.Int64, "b": pl.Boolean, "c": pl.Float64, "d": pl.Float64},
        ),
        pa.table(
            {
                "a": pa.array(values, pa.int64()),
                "b": pa.array(flags, pa.bool_()),
                "c": pa.array(halves, pa.float64()),
                "d": np.ones(len(values)),
            }
        ),
    ]
    for frame in frames:
        assert_array_equal(values_as_given(Reader(), frame), wanted)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("read", [training_rows, precise_rows])
def test_a_frame_of_plain_numbers_is_not_read_column_by_column(kind, read, monkeypatch):
    calls = []
    monkeypatch.setattr(_input, "column_to_floats", lambda *args, **kwargs: calls.append("converted"))
    monkeypatch.setattr(_input, "column_at", lambda *args: calls.append("taken"))
    columns = {f"c{j}": np.arange(3).astype(DTYPES[j % len(DTYPES)]) for j in range(50)}
    rows = read(Reader(), FRAMES[kind](columns))
    assert not calls
    assert_array_equal(rows, np.column_stack(list(columns.values())).astype(rows.dtype))


def test_frames_of_several_chunks_and_slices_are_read():
    whole = pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6), "c": np.arange(6) % 2 == 0})
    wanted = training_rows(Reader(), whole)
    parts = whole.iloc[:2], whole.iloc[2:]
    assert_array_equal(training_rows(Reader(), pl.concat([pl.from_pandas(part) for part in parts])), wanted)
    assert_array_equal(
        training_rows(Reader(), pa.concat_tables([pa.Table.from_pandas(part) for part in parts])), wanted
    )
    assert_array_equal(training_rows(Reader(), whole.iloc[::2]), wanted[::2])
    assert_array_equal(training_rows(Reader(), pl.from_pandas(whole)[::2]), wanted[::2])
    assert_array_equal(training_rows(Reader(), nw.from_native(whole)), wanted)


# ------------------------------------------------------------------------------------------------------- categories
def row_by_row(frame, known=None):
    """The categories of a frame's only column, and its rows as numbers, without codes."""
    column = nw.from_native(frame, eager_only=True)[:, 0]
    values = as_values(column)
    known = learn_categories(values, "tree") if known is None else known
    return known, encode(values, known, "tree")


@pytest.mark.parametrize("kind", CATEGORIES)
@given(
    values=st.lists(st.sampled_from([*WORDS, None]), min_size=1, max_size=12),
    later=st.lists(st.sampled_from([*WORDS, None]), min_size=1, max_size=12),
)
@settings(max_examples=30)
def test_codes_give_the_categories_and_numbers_that_rows_give(kind, values, later):
    reader, make = Reader([0]), CATEGORIES[kind]
    frame, next_frame = frame_of(kind, make(values)), frame_of(kind, make(later))
    known, numbers = row_by_row(frame)
    assert_array_equal(training_rows(reader, frame)[:, 0], numbers)
    assert reader.categories_[0].dtype == known.dtype
    assert_array_equal(reader.categories_[0], known)
    assert_array_equal(prediction_rows(reader, next_frame)[:, 0], row_by_row(next_frame, known)[1])


@given(values=st.lists(st.none() | st.integers(-3, 3), min_size=1, max_size=10), scale=st.sampled_from([1, 0.5]))
@settings(max_examples=40)
def test_codes_of_numbers_give_the_categories_that_rows_give(values, scale):
    frame = frame_of("pandas", pd.Series(pd.Categorical([None if v is None else v * scale for v in values])))
    reader = Reader()
    known, numbers = row_by_row(frame)
    assert_array_equal(training_rows(reader, frame)[:, 0], numbers)
    assert reader.categories_[0].dtype == known.dtype
    assert_array_equal(reader.categories_[0], known)


@pytest.mark.parametrize("kind", CATEGORIES)
def test_only_the_entries_of_a_dictionary_are_looked_at_and_not_the_rows(kind, monkeypatch):
    looks = []
    is_missing = _categories.is_missing
    monkeypatch.setattr(_categories, "is_missing", lambda value: looks.append(value) or is_missing(value))
    reader = Reader([0])
    frame = frame_of(kind, CATEGORIES[kind]([*WORDS, None] * 500))
    rows = training_rows(reader, frame)
    assert_array_equal(prediction_rows(reader, frame), rows)
    assert len(looks) <= 100


@pytest.mark.parametrize("kind", CATEGORIES)
def test_a_model_does_not_depend_on_how_categories_are_stored(kind):
    rng = np.random.default_rng(0)
    words = np.array(WORDS, dtype=object)[rng.integers(0, 5, 300)]
    words[rng.random(300) < 0.1] = None
    target = (words == "ash") | (rng.random(300) < 0.2)
    plain = pd.DataFrame({"tree": pd.Series(words, dtype=object)})
    settings = {"n_estimators": 5, "random_state": 0, "categorical_features": [0]}
    wanted = SLMBoostClassifier(**settings).fit(plain, target).predict_proba(plain)
    frame = frame_of(kind, CATEGORIES[kind](words.tolist()))
    model = SLMBoostClassifier(**settings).fit(frame, target)
    assert_array_equal(model.predict_proba(frame), wanted)
    assert_array_equal(model.predict_proba(plain), wanted)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_categories_written_in_another_way_are_told_by_the_first_value_in_the_table(kind):
    reader = Reader([0])
    training_rows(reader, pd.DataFrame({"tree": pd.Categorical([1, 2, 3])}))
    frame = frame_of(kind, CATEGORIES[kind]([None, "elm", "ash"]))
    with pytest.raises(ValueError, match=r"'tree' had categories such as 1 in fit, but now has values such as 'elm'"):
        prediction_rows(reader, frame)
