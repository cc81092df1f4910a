"""A table in parts is read as if it were in one piece, however it is cut."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from planewise import SLMClassifier
from planewise.data.float32 import find_origins
from planewise.data.problem import training_rows
from planewise.data.survey import join_surveys, learn_columns, read_part, survey_part

START = 1_700_000_000
WORDS = ["ash", "birch", "cedar", "elm", None]


def surveyed(parts, categorical_features="from_dtype"):
    return join_surveys(survey_part(part, categorical_features, f"partition {k}") for k, part in enumerate(parts))


def assert_read_alike(whole, parts, categorical_features="from_dtype"):
    """The parts give the bytes and the attributes that the whole table gives."""
    in_memory, in_parts = (SLMClassifier(categorical_features=categorical_features) for _ in range(2))
    rows = training_rows(in_memory, whole)
    survey = pickle.loads(pickle.dumps(surveyed(parts, categorical_features)))
    learn_columns(in_parts, survey)
    found = [read_part(part, survey) for part in parts]
    assert all(each.dtype == np.float32 and each.flags.c_contiguous for each in found)
    assert np.concatenate(found).tobytes() == rows.tobytes()
    assert survey.n_rows == len(rows)
    assert in_parts.n_features_in_ == in_memory.n_features_in_
    assert in_parts.feature_origins_ == in_memory.feature_origins_
    assert list(getattr(in_parts, "feature_names_in_", [])) == list(getattr(in_memory, "feature_names_in_", []))
    assert in_parts.categories_.keys() == in_memory.categories_.keys()
    for column, known in in_memory.categories_.items():
        assert in_parts.categories_[column].dtype == known.dtype or not len(known)
        assert_array_equal(in_parts.categories_[column], known)


@st.composite
def columns(draw, n_rows):
    """Columns by name: numbers of every kind, seconds since 1970, categories, text; values may be missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    seconds = START + rng.integers(0, draw(st.sampled_from([3, 600, 10**6])), n_rows)
    made = {
        "real": rng.normal(size=n_rows),
        "short": rng.normal(size=n_rows).astype(np.float32),
        "whole": rng.integers(-5, 5, n_rows),
        "flag": rng.integers(0, 2, n_rows).astype(bool),
        "seconds": seconds.astype(draw(st.sampled_from([np.float64, np.int64]))),
        "nanoseconds": seconds * 10**9 + rng.integers(0, 999, n_rows),
    }
    gaps = {name: draw(st.booleans()) for name in ("real", "seconds", "nanoseconds", "whole")}
    return {
        name: [None if gaps.get(name) and rng.random() < 0.3 else value for value in values.tolist()]
        for name, values in made.items()
    } | {name: [WORDS[k] for k in rng.integers(0, len(WORDS), n_rows)] for name in ("category", "text")}


def as_pandas(made):
    frame = pd.DataFrame({name: values for name, values in made.items() if name not in ("category", "text")})
    return frame.assign(category=pd.Categorical(made["category"]), text=pd.Series(made["text"], dtype=object))


def as_polars(made):
    return pl.DataFrame(made).with_columns(pl.col("category").cast(pl.Categorical))


def as_arrow(made):
    return pa.table({**made, "category": pa.array(made["category"], pa.string()).dictionary_encode()})


def as_array(made):
    names = [name for name in made if name not in ("category", "text")]
    code = [np.nan if word is None else float(WORDS.index(word)) for word in made["category"]]
    return np.column_stack([np.array([*(np.array(made[name], dtype=np.float64) for name in names), code]).T])


KINDS = {
    "pandas": (as_pandas, lambda frame, a, b: frame.iloc[a:b]),
    "polars": (as_polars, lambda frame, a, b: frame[a:b]),
    "arrow": (as_arrow, lambda frame, a, b: frame.slice(a, b - a)),
    "array": (as_array, lambda rows, a, b: rows[a:b]),
}


@settings(max_examples=150)
@given(st.data(), st.sampled_from(list(KINDS)), st.integers(1, 40))
def test_any_partitioning_gives_the_bytes_of_the_table_in_one_piece(data, kind, n_rows):
    make, cut = KINDS[kind]
    whole = make(data.draw(columns(n_rows)))
    cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=6)))  # equal ones: empty parts
    parts = [cut(whole, a, b) for a, b in zip([0, *cuts], [*cuts, n_rows], strict=True)]
    if kind == "pandas" and data.draw(st.booleans()):
        parts = [part.assign(category=part["category"].cat.remove_unused_categories()) for part in parts]
    assert_read_alike(whole, parts, [6] if kind == "array" else ["category", "text"])
    if kind == "array":
        assert_read_alike(whole, parts, None)
    else:
        without = {"pandas": lambda f: f.drop(columns="text"), "polars": lambda f: f.drop("text")}
        drop = without.get(kind, lambda f: f.drop_columns(["text"]))
        assert_read_alike(drop(whole), [drop(part) for part in parts])


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([np.int64, np.uint64, np.float64, np.int32]), min_size=2, max_size=4),
    st.sampled_from([0, 2**24, START, 2**53 - 3, 2**53, 2**60 + 2**33]),
    st.integers(1, 5000),
    st.integers(0, 999),
)
def test_parts_of_different_number_types_are_read_as_numpy_would_join_them(kinds, start, size, seed):
    rng = np.random.default_rng(seed)
    parts = []
    for kind in kinds:
        values = start + rng.integers(0, size, 7)
        parts.append((values % 2**31 if kind == np.int32 else values).astype(kind)[:, None])
    assert_read_alike(np.concatenate(parts), parts, None)
    frames = [pd.DataFrame({"a": part[:, 0]}) for part in parts]
    assert_read_alike(pd.concat(frames), frames)


@settings(max_examples=60)
@given(st.integers(1, 20_000), st.integers(0, 3), st.integers(2, 5), st.sampled_from([np.float64, np.int64]))
def test_origins_are_those_of_all_rows(size, n_codes, n_parts, dtype):
    """Codes far from the other values (0, -1, -2) do not hide what float32 merges, in whichever part they are."""
    column = np.append(START + np.arange(size) * 0.5, -np.arange(n_codes)).astype(dtype)[:, None]
    survey = surveyed(np.array_split(column, n_parts))
    assert survey.origins == find_origins(column)


def test_rows_that_do_not_count_have_no_say_in_origins():
    column = np.append(START + np.arange(600.0), [0.5])[:, None]
    counts = np.arange(601) < 600
    found = join_surveys([survey_part(column, None, "partition 0", counts=counts)])
    assert found.origins == find_origins(column, counts) == {0: START}


def test_sparse_parts_are_read_as_dense_ones():
    rows = sparse.random_array((50, 7), density=0.3, format="csr", random_state=0)
    assert_read_alike(rows.toarray(), [rows[:20], rows[20:]], None)


def test_arrays_of_words_are_read_alike():
    whole = np.array([[1.5, "b"], [2.5, None], [3.5, "a"], [4.5, "c"]], dtype=object)
    assert_read_alike(whole, [whole[:1], whole[1:2], whole[2:]], [1])


def test_empty_and_all_missing_parts_agree_with_anything():
    whole = pd.DataFrame({"n": [1.0, 2.0, np.nan], "c": pd.Categorical(["x", "y", None])})
    gap = pd.DataFrame({"n": [None], "c": [np.nan]})
    parts = [pd.DataFrame(), whole[:0], pd.DataFrame({"z": pd.Series([], dtype=str)}), whole[:2], gap]
    assert_read_alike(whole, parts)
    assert_read_alike(pd.concat([gap, whole[:2]]).astype({"n": float, "c": "category"}), [gap, whole[:2]])


def test_one_value_of_numbers_that_only_float64_holds_keeps_categories_apart():
    ids = np.array([[2.0**24], [2.0**24 + 1], [5.0]])
    assert_read_alike(ids, [ids[:1], ids[1:2], ids[2:]], [0])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": [1.0], "c": ["x"]}, "Partition 1 has no column 'b', which partition 0 has"),
        ({"a": [1.0], "b": [2.0], "c": ["x"], "d": [1]}, "Partition 1 has a column 'd', which partition 0 does not"),
        ({"b": [1.0], "a": [2.0], "c": ["x"]}, "different order than partition 0: column 0 is 'b' instead of 'a'"),
        ({"a": ["p"], "b": [2.0], "c": ["x"]}, "Column 'a' holds numbers in partition 0, but text such as 'p' in part"),
        (
            {"a": [1.0], "b": [2.0], "c": [7]},
            "'c' holds categories such as 'x' in partition 0, but categ.* 7 in",
        ),
    ],
)
def test_parts_that_disagree_are_named_with_the_column(second, message):
    first = {"a": [1.0], "b": [2], "c": ["x"]}
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        with pytest.raises(ValueError, match=message):
            surveyed([make(first), make(second)], ["c"])


def test_a_column_that_no_tree_reads_is_refused_with_what_to_do():
    parts = [pl.DataFrame({"a": [None, None]}), pl.DataFrame({"a": ["x", None]})]
    with pytest.raises(ValueError, match=r"Column 'a' holds text such as 'x' in partition 1; .*categorical_fe"):
        surveyed(parts)


def test_arrays_that_disagree_and_tables_without_rows():
    with pytest.raises(ValueError, match="Partition 1 has 2 columns, but partition 0 has 3"):
        surveyed([np.ones((2, 3)), np.ones((2, 2))])
    with pytest.raises(ValueError, match="The columns of partition 0 have names, but those of partition 1 have none"):
        surveyed([pl.DataFrame({"a": [1]}), np.ones((2, 1))])
    with pytest.raises(ValueError, match="0 sample"):
        surveyed([np.empty((0, 3)), pl.DataFrame({"a": []})])


def test_a_survey_is_small():
    rows = np.random.default_rng(0).normal(size=(100_000, 20))
    assert len(pickle.dumps(survey_part(rows, None, "partition 0"))) < 10_000
    assert len(pickle.dumps(survey_part(START + rows, None, "partition 0"))) < 20 * 80_000
