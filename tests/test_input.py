from __future__ import annotations

import multiprocessing

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from planewise import (
    DiscriminantFeatureTest,
    LargeScaleMCMClassifier,
    MCMClassifier,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMClassifier,
    SLMRegressor,
    load,
    save,
)
from planewise.data.frames import as_values
from planewise.data.problem import (
    class_problem,
    number_problem,
    precise_rows,
    thread_count,
    unshifted_rows,
    values_as_given,
)

COLUMNS = ["length", "width", "height", "depth"]
FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "arrow": lambda columns: pa.table(columns),
}
ESTIMATORS = [SLMClassifier, SLMRegressor, DiscriminantFeatureTest]


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def columns_of(X):
    return dict(zip(COLUMNS, X.T, strict=True))


# ------------------------------------------------------------------------------------------ rows and columns
@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    ("rows", "columns", "words"), [(0, 4, r"0 sample\(s\).*\(0, 4\)"), (5, 0, r"0 feature\(s\).*\(5, 0\)")]
)
def test_empty_arrays_are_refused(make, rows, columns, words):
    with pytest.raises(ValueError, match=words):
        make().fit(np.empty((rows, columns)), np.arange(rows) % 2)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("make", ESTIMATORS)
def test_frames_without_rows_are_refused(make, kind):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        make().fit(FRAMES[kind](columns_of(np.empty((0, 4)))), [])


def test_frames_without_columns_are_refused():
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        SLMClassifier().fit(pd.DataFrame(index=range(5)), [0, 1, 0, 1, 0])


@pytest.mark.parametrize("make", ESTIMATORS)
def test_arrays_must_have_two_dimensions(make, iris):
    X, y = iris
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        make().fit(X[:, 0], y)
    with pytest.raises(ValueError, match="dim 3"):
        make().fit(X[:, :, None], y)
    with pytest.raises(ValueError, match="2-dimensional container"):
        make().fit(pd.Series(X[:, 0]), y)


def test_what_is_no_table_of_real_numbers_is_refused(iris):
    X, y = iris
    for make in (np.asarray, csr_matrix):
        with pytest.raises(ValueError, match="Complex data not supported"):
            SLMClassifier().fit(make(X + 1j), y)
    with pytest.raises(TypeError, match=r"collect\(\)"):
        SLMClassifier().fit(pl.DataFrame(columns_of(X)).lazy(), y)


def test_prediction_wants_the_columns_of_training(iris):
    X, y = iris
    model = SLMClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but SLMClassifier is expecting 4"):
        model.predict(X[:, :3])
    named = SLMClassifier().fit(pd.DataFrame(X, columns=COLUMNS), y)
    for make_frame in FRAMES.values():
        with pytest.raises(ValueError, match="must be in the same order"):
            named.predict(make_frame(dict(reversed(columns_of(X).items()))))
        with pytest.raises(ValueError, match=r"now missing:\n- depth"):
            named.predict(make_frame({name: X[:, 0] for name in COLUMNS[:3]}))


@pytest.mark.parametrize("make", [SLMClassifier, SLMRegressor])
@pytest.mark.parametrize("method", ["predict", "apply", "decision_path", "predict_proba", "get_depth", "get_n_leaves"])
def test_nothing_can_be_asked_before_fit(make, method, iris):
    model = make()
    if not hasattr(model, method):
        return
    with pytest.raises(NotFittedError):
        getattr(model, method)(*([] if method.startswith("get") else [iris[0]]))


# ----------------------------------------------------------------------------------------------- values of X
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("make", [MCMClassifier, LargeScaleMCMClassifier, RECIPClassifier])
def test_infinities_are_refused_by_estimators_of_distances(make, value, iris):
    X, y = iris
    clean = X.copy()
    X[3, 2] = value
    if value == 1e300 and make is not LargeScaleMCMClassifier:
        return  # a number like any other in float64
    with pytest.raises(ValueError, match=f"Column 2 .*contains (NaN or )?infinity.*{make.__name__}"):
        make().fit(X, y)
    with pytest.raises(ValueError, match=f"{make.__name__}|infinity"):
        make().fit(clean, y).predict(X)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("kind", FRAMES)
def test_an_infinity_in_a_frame_is_refused_by_the_name_of_its_column(kind, value, iris):
    X, y = iris
    clean = FRAMES[kind](columns_of(X.copy()))
    X[3, 2] = value
    frame = FRAMES[kind](columns_of(X))
    with pytest.raises(
        ValueError, match=r"Column 'height' contains infinity.*RECIPClassifier accepts NaN as a missing"
    ):
        RECIPClassifier().fit(frame, y)
    with pytest.raises(
        ValueError, match=r"Column 'height' contains infinity.*RECIPClassifier accepts NaN as a missing"
    ):
        RECIPClassifier().fit(clean, y).predict(frame)
    machine = LargeScaleMCMClassifier(max_iter=2, n_components=5, random_state=0).fit(clean, y)
    with pytest.raises(ValueError, match="LargeScaleMCMClassifier accepts NaN as a missing value, but not infinity"):
        machine.explain(frame)


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("kind", FRAMES)
def test_a_text_column_is_refused_by_its_name(make, kind, iris):
    X, y = iris
    columns = columns_of(X) | {"width": ["wide", "slim", "thin"] * 50}
    takes = "takes numbers only" if make is DiscriminantFeatureTest else "needs numbers or categories: name it"
    with pytest.raises(ValueError, match=f"Column 'width' holds text such as 'wide'; {make.__name__} {takes}"):
        make().fit(FRAMES[kind](columns), y)


NUMBERS_ONLY = [DiscriminantFeatureTest]


@pytest.mark.parametrize("make", NUMBERS_ONLY)
def test_estimators_of_numbers_say_so_of_a_column_of_categories(make, iris):
    X, y = iris
    table = pd.DataFrame(columns_of(X)).assign(width=pd.Categorical(["wide", "slim", "thin"] * 50))
    with pytest.raises(ValueError, match="Column 'width' holds categories such as 'wide'; ") as error:
        make().fit(table, y)
    message = str(error.value)
    assert f"{make.__name__} takes numbers only" in message and "OneHotEncoder in a Pipeline" in message
    assert "category dtype" not in message


@pytest.mark.parametrize("categorical", [None, ["length"]])
def test_a_category_column_that_is_not_to_be_one_is_told_how(categorical, iris):
    X, y = iris
    table = pd.DataFrame(columns_of(X)).assign(width=pd.Categorical(["wide", "slim", "thin"] * 50))
    with pytest.raises(ValueError, match=r"'width' holds categories .*: name it in categorical_features, ") as error:
        SLMClassifier(categorical_features=categorical).fit(table, y)
    assert "category dtype" not in str(error.value)


@pytest.mark.parametrize("make", [SLMClassifier, MCMClassifier])
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.date_range("2020", periods=150), "dates such as .*; convert it to a number, such as the days since a date"),
        (pd.timedelta_range("1h", periods=150), "durations such as .*; convert it to a number, such as seconds"),
    ],
    ids=["date", "duration"],
)
def test_a_column_of_dates_is_to_become_a_number(make, column, words, iris):
    X, y = iris
    with pytest.raises(ValueError, match=f"Column 'width' holds {words}") as error:
        make().fit(pd.DataFrame(columns_of(X) | {"width": column}), y)
    assert "OneHotEncoder" not in str(error.value)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1, "x", None] * 50, "'width' holds Object"),
        ([[1], [2], [3]] * 50, "'width' holds Object"),
    ],
    ids=["mixed", "lists"],
)
def test_other_columns_without_numbers_are_refused_by_name(column, words, iris):
    X, y = iris
    with pytest.raises(ValueError, match=words):
        SLMClassifier().fit(pd.DataFrame(columns_of(X) | {"width": column}), y)


def test_text_in_an_array_is_refused(iris):
    X, y = iris
    X = X.astype(object)
    X[0, 0] = "wide"
    with pytest.raises(ValueError, match="could not convert string to float: 'wide'"):
        SLMClassifier().fit(X, y)


NUMBERS = [None, 2, 0.5, True, 4] * 30


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Series(NUMBERS, dtype=object)}),
        pd.DataFrame({"a": pd.Series([np.nan, 2, 0.5, 1, 4] * 30).astype(pd.SparseDtype(float, np.nan))}),
        pd.DataFrame({"a": pd.array([np.nan, 2, 0.5, 1, 4] * 30, dtype="Float32")}),
        pl.DataFrame({"a": [None, 2.0, 0.5, 1.0, 4.0] * 30}),
        pl.DataFrame({"a": [float("nan"), 2.0, 0.5, 1.0, 4.0] * 30}),
        pa.table({"a": pa.array([None, 2, 0.5, 1, 4] * 30, type=pa.float32())}),
    ],
    ids=["object", "sparse", "nullable", "polars_null", "polars_nan", "arrow"],
)
def test_missing_and_mixed_numbers_of_frames_are_read_alike(frame):
    y = [0, 1, 1, 0, 1] * 30
    X = np.array([np.nan, 2, 0.5, 1, 4] * 30)[:, None]
    plain = SLMClassifier(min_samples_leaf=1).fit(X, y)
    framed = SLMClassifier(min_samples_leaf=1).fit(frame, y)
    assert_array_equal(framed.predict_proba(frame), plain.predict_proba(X))


@pytest.mark.parametrize(
    "nothing",
    [
        lambda X: pd.DataFrame(columns_of(X)).assign(width=None),
        lambda X: pd.DataFrame(columns_of(X)).assign(width=pd.NA),
        lambda X: pl.DataFrame(columns_of(X)).with_columns(width=pl.lit(None)),
        lambda X: pl.DataFrame(columns_of(X)).with_columns(width=pl.lit(None, dtype=pl.String)),
        lambda X: pa.table(columns_of(X)).set_column(1, "width", pa.nulls(len(X))),
    ],
    ids=["pandas_none", "pandas_na", "polars_null", "polars_text", "arrow_null"],
)
def test_a_column_of_nothing_is_a_column_of_missing_values(nothing, iris):
    X, y = iris
    frame = nothing(X)
    X[:, 1] = np.nan
    plain, framed = (SLMClassifier(random_state=0).fit(table, y) for table in (X, frame))
    assert_array_equal(framed.predict_proba(frame), plain.predict_proba(X))


def test_booleans_and_whole_numbers_of_frames_are_numbers(iris):
    X, y = iris
    frame = pd.DataFrame({"a": X[:, 0] > 5.5, "b": (10 * X[:, 2]).astype(np.int16)})
    array = np.column_stack([X[:, 0] > 5.5, (10 * X[:, 2]).astype(np.int16)])
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        framed = SLMClassifier(random_state=0).fit(table, y)
        assert_array_equal(framed.predict(table), SLMClassifier(random_state=0).fit(array, y).predict(array))


# ------------------------------------------------------------------------------------------ targets, weights
@pytest.mark.parametrize("make", ESTIMATORS)
def test_targets_must_be_one_a_row(make, iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[150, 149\]"):
        make().fit(X, y[:-1])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        make().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="requires y to be passed"):
        make().fit(X, None)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_column_of_targets_is_taken_with_a_warning(make, iris):
    X, y = iris
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        make().fit(X, y[:, None])


@pytest.mark.parametrize("make", ESTIMATORS)
def test_missing_targets_are_refused(make, iris):
    X, y = iris
    y = y.astype(float)
    y[7] = np.nan
    for missing in (y, pd.Series(y), pl.Series(y), pl.Series(y).fill_nan(None), pd.Series(y, dtype="Int64")):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            make().fit(X, missing)
    y[7] = np.inf
    with pytest.raises(ValueError, match="Input y contains infinity"):
        make().fit(X, y)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=str)
def test_missing_labels_are_refused_by_row(missing, iris):
    X, y = iris
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    labels[7] = missing
    with pytest.raises(ValueError, match="Input y contains NaN or None: row 7 has no target"):
        SLMClassifier().fit(X, labels)


def test_targets_of_the_wrong_kind_are_refused(iris):
    X, y = iris
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        SLMClassifier().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="y must hold numbers for SLMRegressor"):
        SLMRegressor().fit(X, np.array(["a", "b", "c"])[y])


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.full(150, -1.0), "Negative values in data passed to `sample_weight`"),
        (np.zeros(150), "zero"),
        (np.full(150, np.nan), "sample_weight contains NaN"),
        (np.full(150, np.inf), "sample_weight contains infinity"),
        (np.ones(149), r"sample_weight.shape == \(149,\), expected \(150,\)"),
        (np.ones((150, 1)), "must be 1D"),
    ],
    ids=["negative", "zero", "nan", "infinite", "short", "2d"],
)
def test_wrong_weights_are_refused(make, weight, words, iris):
    X, y = iris
    with pytest.raises(ValueError, match=words):
        make().fit(X, y, sample_weight=weight)


def test_class_weights_must_leave_a_row(iris):
    X, y = iris
    with pytest.raises(ValueError, match="class_weight gives every class a weight of 0"):
        SLMClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight gives every class a weight of 0"):
        SLMClassifier(class_weight={1: 0}).fit(X, y, sample_weight=(y == 1).astype(float))


# -------------------------------------------------------------------------------------------- all or nothing
def bad_weight(X, y):
    return pd.DataFrame(X[:, :2], columns=["u", "v"]), y, -np.ones(len(y))


def bad_target(X, y):
    return X[:, :3], np.where(y == 1, np.nan, y), None


def bad_column(X, y):
    return pd.DataFrame(X[:, :2], columns=["u", "v"]).assign(w="text"), y, None


BAD_INPUT = [bad_weight, bad_target, bad_column]


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("spoil", BAD_INPUT)
def test_a_failed_fit_leaves_an_unfitted_estimator_unfitted(make, spoil, iris):
    model = make()
    before = dict(vars(model))
    X, y, weight = spoil(*iris)
    with pytest.raises(ValueError, match=r"."):
        model.fit(X, y, sample_weight=weight)
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("spoil", BAD_INPUT)
@pytest.mark.parametrize("named", [False, True], ids=["array", "frame"])
def test_a_failed_refit_leaves_the_fitted_estimator_as_it_was(make, spoil, named, iris):
    X, y = iris
    X_old = pd.DataFrame(X, columns=COLUMNS) if named else X
    model = make().fit(X_old, y)
    ask = model.transform if make is DiscriminantFeatureTest else model.predict
    fitted, before = dict(vars(model)), ask(X_old)
    X_bad, y_bad, weight = spoil(X, y)
    with pytest.raises(ValueError, match=r"."):
        model.fit(X_bad, y_bad, sample_weight=weight)
    assert vars(model).keys() == fitted.keys()
    assert all(vars(model)[name] is value for name, value in fitted.items())
    assert_array_equal(ask(X_old), before)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_wrong_parameter_leaves_the_old_fit_usable(make, iris):
    X, y = iris
    model = make().fit(X, y)
    ask = model.transform if make is DiscriminantFeatureTest else model.predict
    before = ask(X)
    with pytest.raises(ValueError, match="'n_bins'"):
        model.set_params(n_bins=0).fit(X[:, :2], y)
    assert_array_equal(ask(X), before)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_refit_forgets_the_old_names(make, iris):
    X, y = iris
    model = make().fit(pd.DataFrame(X, columns=COLUMNS), y)
    returned = model.fit(X[:, :3], y)
    assert returned is model
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


def threads_in_a_worker(queue):
    queue.put([thread_count(2), thread_count(None), thread_count(-1)])


def test_threads_are_threads_in_a_worker_process_too():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    context.Process(target=threads_in_a_worker, args=(queue,), daemon=True).start()
    assert queue.get(timeout=60) == [2, 1, thread_count(-1)]


@pytest.mark.parametrize("make", [SLMClassifier, RECIPClassifier, MCMClassifier])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["low", "high"] * 20, "text such as 'low'"),
        (pd.Categorical(["a", "b"] * 20), "categories such as 'a'"),
        (pd.date_range("2024-01-01", periods=40), "dates such as"),
    ],
)
def test_a_column_that_held_numbers_and_now_holds_something_else_is_named(make, values, words):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=40), "width": rng.normal(size=40)})
    model = make().fit(table, (table["size"] > 0).astype(int))
    asked = [model.predict, model.explain] if hasattr(model, "explain") else [model.predict]
    for ask in asked:
        with pytest.raises(ValueError, match=f"Column 'size' held numbers in fit, but now holds {words}"):
            ask(table.assign(size=values))


def test_a_word_of_a_category_is_made_once_and_not_a_row():
    """Words of megabytes would otherwise be copied for every row."""
    words = pd.Index(["long " * 1000, "short", "never there"], dtype="str")
    column = pd.Series(pd.Categorical.from_codes([0, 1, 0, -1, 0], words), name="c")
    values = as_values(nw.from_native(column, series_only=True))
    assert values[0] is values[2] is values[4] and values[0] == words[0]
    assert values[1] == "short" and np.isnan(values[3])


# ------------------------------------------------------------------------------------------ categories of other kinds
WITH_CATEGORIES = {
    "tree": lambda **how: SLMClassifier(random_state=0, **how),
    "boosting": lambda **how: SLMBoostClassifier(n_estimators=5, random_state=0, **how),
    "views": lambda **how: RECIPClassifier(random_state=0, **how),
}


@pytest.fixture(scope="module")
def words():
    """A number, a number and a word by which the class goes, and the classes."""
    rng = np.random.default_rng(0)
    word = rng.choice(["ash", "birch", "cedar", "dogwood"], 120)
    y = np.isin(word, ["ash", "cedar"]) ^ (rng.random(120) < 0.05)
    return pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120), "word": word}), y.astype(int)


def as_dictionary(column, order):
    """An Arrow dictionary in pandas, its values in this order."""
    codes = pa.array([None if pd.isna(value) else order.index(value) for value in column], pa.int32())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(order))
    return pd.Series(array, dtype=pd.ArrowDtype(array.type), index=column.index)


@pytest.mark.parametrize("name", WITH_CATEGORIES)
def test_an_arrow_dictionary_in_pandas_is_a_column_of_categories(name, words, tmp_path):
    X, y = words[0].copy(), words[1]
    X.loc[3, "word"] = None
    plain = WITH_CATEGORIES[name]().fit(X.assign(word=X["word"].astype("category")), y)
    arrow = WITH_CATEGORIES[name]().fit(
        X.assign(word=as_dictionary(X["word"], ["cedar", "ash", "dogwood", "birch"])), y
    )
    reordered = X.assign(word=as_dictionary(X["word"], ["dogwood", "cedar", "birch", "ash"]))
    expected = plain.predict_proba(X.assign(word=X["word"].astype("category")))
    assert plain.categories_[2].tolist() == arrow.categories_[2].tolist() == ["ash", "birch", "cedar", "dogwood"]
    assert_array_equal(arrow.predict_proba(reordered), expected)
    save(arrow, tmp_path / "model.planewise")
    assert_array_equal(load(tmp_path / "model.planewise").predict_proba(reordered), expected)


def test_an_arrow_dictionary_of_numbers_is_a_column_of_categories(words):
    X, y = words
    number = X["word"].map({"ash": 40, "birch": 10, "cedar": 30, "dogwood": 20})
    plain = SLMClassifier(random_state=0).fit(X.assign(word=number.astype("category")), y)
    table = X.assign(word=as_dictionary(number, [30, 10, 40, 20]))
    arrow = SLMClassifier(random_state=0).fit(table, y)
    assert arrow.categories_[2].tolist() == [10, 20, 30, 40]
    assert_array_equal(arrow.predict_proba(table), plain.predict_proba(X.assign(word=number.astype("category"))))


@pytest.mark.parametrize("name", WITH_CATEGORIES)
def test_a_categorical_column_of_an_array_of_objects_may_hold_words(name, words):
    X, y = words
    array = X.to_numpy(dtype=object)
    array[5, 2] = None
    table = pd.DataFrame({"a": X["a"], "b": X["b"], "word": pd.Categorical(array[:, 2])})
    of_array = WITH_CATEGORIES[name](categorical_features=[2]).fit(array, y)
    of_table = WITH_CATEGORIES[name]().fit(table, y)
    assert_array_equal(of_array.predict_proba(array), of_table.predict_proba(table))
    array[:, 0] = "word"  # of a column that was not declared
    with pytest.raises(ValueError, match="could not convert string to float"):
        WITH_CATEGORIES[name](categorical_features=[2]).fit(array, y)


# -------------------------------------------------------------------------------------- the problem of a fit
def test_a_class_problem_has_the_rows_that_count_and_their_classes():
    X, y = np.arange(10.0).reshape(5, 2), np.array(["b", "a", "c", "a", "b"])
    problem = class_problem(SLMClassifier(), X, y, [1, 2, 0, 0, 3], class_weight={"a": 10, "b": 1})
    assert_array_equal(problem.rows, X[[0, 1, 4]].astype(np.float32))
    assert_array_equal(problem.table, X.astype(np.float32))
    assert_array_equal(problem.classes, ["a", "b"])
    assert_array_equal(problem.label, [1, 0, 1])
    assert_array_equal(problem.weight, [1, 20, 3])
    assert_array_equal(problem.sample_weight, [1, 2, 3])
    assert_array_equal(problem.counts, [True, True, False, False, True])
    assert_array_equal(problem.kept, [0, 1, 4])


def test_a_class_without_weight_is_no_class_of_the_problem():
    X, y = np.arange(4.0)[:, None], np.array([3, 5, 5, 7])
    problem = class_problem(SLMClassifier(), X, y, class_weight={3: 1, 5: 0, 7: 1})
    assert_array_equal(problem.classes, [3, 7])
    assert_array_equal(problem.kept, [0, 3])


def test_a_number_problem_has_the_rows_that_count_and_their_targets():
    X, y = np.arange(6.0).reshape(3, 2), [1, 2, 3]
    problem = number_problem(SLMRegressor(), X, y, [0, 1, 4], read=precise_rows)
    assert problem.rows.dtype == problem.target.dtype == np.float64
    assert_array_equal(problem.rows, X[1:])
    assert_array_equal(problem.target, [2.0, 3.0])
    assert_array_equal(problem.weight, [1.0, 4.0])


def test_without_zero_weights_nothing_is_copied():
    problem = class_problem(SLMClassifier(), np.eye(3), [0, 1, 1])
    assert problem.rows is problem.table


@pytest.mark.parametrize(
    ("read", "dtype"), [(values_as_given, np.float64), (precise_rows, np.float64), (unshifted_rows, np.float32)]
)
def test_a_problem_has_the_kind_of_rows_asked_for(read, dtype):
    problem = class_problem(RECIPClassifier(), np.eye(3), [0, 1, 1], read=read)
    assert problem.rows.dtype == dtype


def test_a_problem_that_needs_two_classes_refuses_one():
    with pytest.raises(ValueError, match=r"SLMClassifier needs rows of at least two classes.*only one class"):
        class_problem(SLMClassifier(), np.eye(3), [0, 1, 1], [0, 1, 1], min_classes=2)


def test_a_problem_that_continues_has_the_columns_and_classes_of_the_earlier_fit():
    tree = SLMClassifier().fit(np.eye(4), [0, 1, 0, 1])
    assert_array_equal(class_problem(tree, np.eye(4), [1, 0, 1, 1], continues=True).classes, [0, 1])
    with pytest.raises(ValueError, match="y has different classes than the earlier fit that warm_start=True continues"):
        class_problem(tree, np.eye(4), [1, 2, 1, 1], continues=True)
    with pytest.raises(ValueError, match="X has 5 features, but warm_start=True continues from a fit on 4"):
        number_problem(tree, np.eye(5), np.arange(5.0), continues=True)


def test_large_values_without_gaps_are_taken_as_they_are():
    X = np.full((4, 2), 3e38)
    X[1:3] *= -1
    model = LargeScaleMCMClassifier(n_components=2, max_iter=1, random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    wide = np.hstack([X, X])
    assert_array_equal(unshifted_rows(model, wide, reset=False), wide.astype(np.float32))
