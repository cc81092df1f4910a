"""Missing values and categories in kernel machines."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold

from planewise import (
    ConformalKernel,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
)
from planewise.machines.columns import (
    INDICATOR_SPREAD,
    LEVEL_SPREAD,
    MOST_LEVELS,
    Preparation,
    find_preparation,
    find_prepared_scaling,
    shown_values,
)

SEARCH = {"Cs": [100.0], "mus": [10.0, 1.0], "gammas": [0.2], "cv": 3, "n_repeats": 1, "random_state": 0}
FEW = {"n_components": 15, "max_iter": 4, "random_state": 0}
MACHINES = {
    "exact": lambda **given: MCMClassifier(**given),
    "linear": lambda **given: MCMClassifier(kernel="linear", **given),
    "conformal": lambda **given: MCMClassifier(conformal="signed", probability=True, random_state=0, **given),
    "search": lambda **given: MCMClassifierCV(**SEARCH, **given),
    "numbers": lambda **given: MCMRegressor(**given),
    "numbers, linear": lambda **given: MCMRegressor(kernel="linear", **given),
    "numbers, search": lambda **given: MCMRegressorCV(**SEARCH | {"mus": [0.1, 0.01], "max_support": 1.0}, **given),
    "large": lambda **given: LargeScaleMCMClassifier(**FEW, **given),
    "large, linear": lambda **given: LargeScaleMCMClassifier(kernel="linear", **FEW, **given),
    "kernel": lambda **given: ConformalKernel(**given),
}
EXACT = ["exact", "linear", "conformal", "search", "numbers", "numbers, linear", "numbers, search"]


@pytest.fixture(scope="module")
def mixed():
    """Numbers with and without gaps, a category with gaps, and two classes that depend on all of them."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["age", "size", "dose"])
    table["town"] = pd.Categorical(rng.choice(["Bonn", "Köln", "Ulm"], 120, p=[0.5, 0.3, 0.2]))
    y = (table["age"] + (table["town"] == "Ulm") * 2 + 0.3 * rng.normal(size=120) > 0.4).to_numpy().astype(int)
    table.loc[rng.random(120) < 0.2, "age"] = np.nan
    table.loc[rng.random(120) < 0.1, "town"] = np.nan
    return table, y


def answer(machine, X):
    if hasattr(machine, "decision_function"):
        return machine.decision_function(X)
    return machine.predict(X) if hasattr(machine, "predict") else machine.transform(X)


def by_hand(table):
    """The same table as numbers without gaps, the columns in the order of the machines' own."""
    return np.column_stack(
        [
            table["age"].fillna(table["age"].median()),
            table["age"].isna(),
            table["size"],
            table["dose"],
            *(table["town"] == town for town in ("Bonn", "Köln", "Ulm")),
            table["town"].isna(),
        ]
    ).astype(np.float64)


# --------------------------------------------------------------------------------------------- what a kernel compares
def test_the_prepared_columns_are_those_made_by_hand(mixed):
    table, y = mixed
    machine = MCMClassifier().fit(table, y)
    codes = table.assign(town=table["town"].cat.codes.replace(-1, np.nan)).to_numpy(dtype=np.float64)
    assert_array_equal(machine._scaling.preparation(codes), by_hand(table))
    names = ["age", "age is missing", "size", "dose", "town=Bonn", "town=Köln", "town=Ulm", "town is missing"]
    assert machine.prepared_feature_names_.tolist() == names
    assert machine.n_features_in_ == 4 and machine.categories_[3].tolist() == ["Bonn", "Köln", "Ulm"]


@pytest.mark.parametrize("make", [MCMClassifier, MCMRegressor])
def test_without_scaling_a_machine_is_that_of_the_table_made_by_hand(mixed, make):
    table, y = mixed
    own = make(gamma=0.2, scaling=None).fit(table, y)
    other = make(gamma=0.2, scaling=None).fit(by_hand(table), y)
    assert_array_equal(own.support_, other.support_)
    assert_allclose(answer(own, table), answer(other, by_hand(table)))
    assert_array_equal(own.support_vectors_[:, 1:3], other.support_vectors_[:, 2:4])


def test_gaps_are_filled_and_marked_as_by_an_imputer(mixed):
    table, y = mixed
    X = table[["age", "size", "dose"]].to_numpy()
    outside = SimpleImputer(strategy="median", add_indicator=True).fit(X)
    Z = outside.transform(X)
    own = MCMClassifier(gamma=0.2, scaling="standard").fit(X, y)
    order = [own.prepared_feature_names_.tolist().index(name) for name in ("x0", "x1", "x2", "x0 is missing")]
    assert_allclose(own._scaling.preparation(X)[:, order], Z)
    by_hand = MCMClassifier(gamma=0.2, scaling="standard").fit(Z[:, :3], y)
    assert_allclose(own._scaling(X)[:, order[:3]], by_hand._scaling(Z[:, :3]))


@pytest.mark.parametrize("how", ["arcsinh", "standard", "robust"])
def test_columns_of_0_and_1_are_scaled_alike_however_rare_the_1_is(mixed, how):
    table, y = mixed
    scaled = MCMClassifier(scaling=how).fit(table, y)._scaling(np.array([[np.nan] * 4, [0.0, 0.0, 0.0, 1.0]]))
    assert_allclose(scaled[0, 1] - scaled[1, 1], 1 / INDICATOR_SPREAD)
    apart = scaled[0, 4:] - scaled[1, 4:]
    assert_allclose(apart, [0, -1 / LEVEL_SPREAD, 0, 1 / LEVEL_SPREAD], atol=1e-12)
    assert_allclose(np.square(apart).sum(), 4)  # as the two values of a two-valued column


def test_the_large_machine_prepares_columns_as_the_exact_one_does(mixed):
    table, y = mixed
    rows = MCMClassifier(scaling="robust").fit(table, y)._scaling.preparation
    own = LargeScaleMCMClassifier(**FEW).fit(table, y)._scaling.preparation
    assert_array_equal(own.source, rows.source)
    assert_array_equal(own.level, rows.level)
    assert_allclose(own.fill, rows.fill, rtol=1e-6)


def test_a_table_of_complete_numbers_is_not_prepared():
    X = np.arange(12.0).reshape(6, 2)
    found = find_preparation(X, np.ones(6), {})
    assert found.is_plain and found(X) is X
    assert_array_equal(find_prepared_scaling(X, np.ones(6), "standard", found).preparation.fill, [5.0, 6.0])


def test_a_column_without_values_carries_nothing(mixed):
    table, y = mixed
    X = table[["age", "size"]].to_numpy()
    empty = np.column_stack([X[:, 0], np.full(len(X), np.nan), X[:, 1]])
    for make in (MCMClassifier, MCMRegressor):
        plain, with_empty = make(gamma=0.3).fit(X, y), make(gamma=0.3).fit(empty, y)
        assert "x1" not in with_empty.prepared_feature_names_
        given_now = empty.copy()
        given_now[:, 1] = 7.0
        for rows in (empty, given_now):
            assert_array_equal(answer(with_empty, rows), answer(plain, X))
    no_category = table.assign(town=pd.Categorical([None] * len(table), categories=["Ulm"]))
    assert len(MCMClassifier().fit(no_category, y).prepared_feature_names_) == 4


def test_a_table_without_any_value_is_refused():
    with pytest.raises(ValueError, match="Every value of X is missing in the rows that count"):
        MCMClassifier().fit([[np.nan], [np.nan], [1.0]], [0, 1, 1], sample_weight=[1, 1, 0])


# ------------------------------------------------------------------------------------------------- rows to be predicted
@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_takes_gaps_and_new_categories_where_fit_had_none(mixed, name):
    table, y = mixed
    known = table.dropna()
    machine = MACHINES[name]().fit(known, y[table.notna().all(axis=1)])
    assert "is missing" not in " ".join(machine.prepared_feature_names_)
    medians = known[["age", "size", "dose"]].median()
    asked = pd.DataFrame({"age": [np.nan], "size": [0.5], "dose": [np.nan], "town": pd.Categorical(["Rom"])})
    filled = asked.fillna(medians).assign(town=pd.Categorical([None], categories=["Ulm"]))
    assert_allclose(answer(machine, asked), answer(machine, filled), rtol=1e-6)
    assert np.isfinite(answer(machine, asked)).all()


@pytest.mark.parametrize("name", MACHINES)
def test_a_gap_in_fit_is_a_value_of_its_own(mixed, name):
    table, y = mixed
    machine = MACHINES[name]().fit(table, y)
    row = table.dropna().head(1)
    median = row.assign(age=table["age"].median())
    gap = row.assign(age=np.nan)
    assert not np.allclose(answer(machine, gap), answer(machine, median))


@pytest.mark.parametrize("name", MACHINES)
def test_arrays_and_frames_of_any_library_give_the_same(mixed, name):
    table, y = mixed
    X = table.astype(object).to_numpy()
    expected = answer(MACHINES[name]().fit(table, y), table)
    assert_array_equal(answer(MACHINES[name](categorical_features=[3]).fit(X, y), X), expected)
    frame = pl.from_pandas(table)
    assert_array_equal(answer(MACHINES[name]().fit(frame, y), frame), expected)
    numbers = table.assign(town=table["town"].cat.codes.replace(-1, np.nan).astype(float)).to_numpy()
    mask = np.array([False, False, False, True])
    made = MACHINES[name](categorical_features=mask).fit(numbers, y)
    assert_array_equal(answer(made, numbers), expected)
    assert_array_equal(answer(made, csr_matrix(np.nan_to_num(numbers))), answer(made, np.nan_to_num(numbers)))
    again = clone(made).fit(numbers, y)
    assert_array_equal(answer(pickle.loads(pickle.dumps(again)), numbers), expected)


def test_a_column_of_words_is_told_how_to_become_a_category(mixed):
    table, y = mixed
    words = table.assign(town=table["town"].astype(object))
    with pytest.raises(ValueError, match=r"'town' holds text.*name it in categorical_features, give it a category"):
        MCMClassifier().fit(words, y)
    assert MCMClassifier(categorical_features=["town"]).fit(words, y).categories_.keys() == {3}


# ------------------------------------------------------------------------------------------------------------- laws
rows_of_three = st.lists(
    st.tuples(
        st.sampled_from([np.nan, -1.0, 0.5, 2.0, 7.0]),
        st.sampled_from([np.nan, 0.0, 1.0, 2.0]),
        st.integers(0, 3),  # its weight
    ),
    min_size=6,
    max_size=20,
)


@settings(max_examples=40)
@given(rows=rows_of_three, exact=st.booleans())
def test_a_weight_is_so_many_equal_rows(rows, exact):
    X, weight = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows], dtype=np.float64)
    counted, repeated = X[weight > 0], np.repeat(X, weight.astype(int), axis=0)
    if len(counted) == 0 or np.isnan(counted).all():
        return
    kind = np.float64 if exact else np.float32
    found = []
    for table, weights in ((counted, weight[weight > 0]), (repeated, np.ones(len(repeated)))):
        table = table.astype(kind)
        preparation = find_preparation(table, weights, {1: 3})
        found.append(find_prepared_scaling(table, weights, "standard", preparation, to_float32=not exact))
    one, two = found
    assert_array_equal(one.preparation.level, two.preparation.level)
    assert_array_equal(one.preparation.fill, two.preparation.fill)
    assert_allclose(one(X.astype(kind)), two(X.astype(kind)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", EXACT)
def test_weights_equal_repeats_and_rows_of_weight_zero_do_not_count(mixed, name):
    table, y = mixed
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    odd = table.assign(town=table["town"].cat.add_categories("Rom"))
    odd.loc[weight == 0, ["age", "town"]] = [99.0, "Rom"]
    weighted = MACHINES[name]().fit(odd, y, sample_weight=weight)
    places = np.repeat(np.arange(len(y)), weight.astype(int))
    repeated = MACHINES[name]().fit(table.iloc[places], y[places])
    assert "town=Rom" not in weighted.prepared_feature_names_
    assert_allclose(answer(weighted, table), answer(repeated, table), rtol=1e-5, atol=1e-6)


@settings(max_examples=40)
@given(
    values=st.lists(st.sampled_from([np.nan, -3.0, 1.0, 1.5, 8.0]), min_size=1, max_size=30),
    seed=st.integers(0, 2**16),
)
def test_the_order_of_rows_does_not_matter(values, seed):
    X = np.array(values)[:, None]
    if np.isnan(X).all():
        return
    shuffled = X[np.random.default_rng(seed).permutation(len(X))]
    found = [
        find_prepared_scaling(rows, np.ones(len(X)), None, find_preparation(rows, np.ones(len(X)), {}))
        for rows in (X, shuffled)
    ]
    assert_array_equal(found[0](X), found[1](X))
    assert found[0].preparation.fill[0] == np.nanmedian(X)


def test_only_the_most_frequent_categories_have_a_column():
    codes = np.repeat(np.arange(80.0), np.arange(80, 0, -1))[:, None]
    found = find_preparation(codes, np.ones(len(codes)), {0: 80})
    assert_array_equal(found.level, np.arange(MOST_LEVELS))
    rare, new = found(np.array([[79.0], [80.0]]))
    assert not rare.any() and not new.any()
    lighter = find_preparation(codes, np.where(codes[:, 0] < 10, 1e-6, 1.0), {0: 80})
    assert_array_equal(lighter.level, np.arange(10, 60))


def test_folds_have_medians_of_their_own(mixed):
    table, y = mixed
    X = table[["age", "size"]].to_numpy()
    folds = list(StratifiedKFold(3).split(X, y))
    one = {"Cs": [100.0], "mus": [5.0], "gammas": [0.3]}
    search = MCMClassifierCV(**one, cv=folds, scaling="standard", refit=False).fit(X, y)
    right = []
    for train, held in folds:
        machine = MCMClassifier(100.0, 5.0, gamma=0.3, scaling="standard").fit(X[train], y[train])
        assert machine._scaling.preparation.fill[0] == np.nanmedian(X[train, 0])
        right.append(machine.score(X[held], y[held]))
    assert search.best_score_ == pytest.approx(np.mean(right))


def test_equal_rows_with_gaps_are_in_one_fold(mixed):
    table, y = mixed
    twice = pd.concat([table, table])
    one = MCMClassifierCV(**SEARCH).fit(table, y, sample_weight=np.full(len(y), 2.0))
    two = MCMClassifierCV(**SEARCH).fit(twice, np.concatenate([y, y]))
    assert_allclose(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


# ------------------------------------------------------------------------------------------ what machines tell of it
def test_support_vectors_are_rows_of_the_user(mixed):
    table, y = mixed
    machine = MCMClassifier().fit(table, y)
    codes = table.assign(town=table["town"].cat.codes.replace(-1, np.nan)).to_numpy(dtype=np.float64)
    assert_array_equal(machine.support_vectors_, codes[machine.support_])
    first = machine.explain(table.iloc[machine.support_[:1]])[0]
    assert first.same_values_in_fit
    assert {each.values["town"] for each in first.vectors} <= {"Bonn", "Köln", "Ulm", None}
    assert any(each.values["age"] is None for each in first.vectors) and "age missing" in first.to_text()
    assert "town Ulm" in first.to_text()


@pytest.mark.parametrize("name", ["linear", "numbers, linear", "large, linear"])
def test_a_linear_machine_adds_up_what_its_columns_add(mixed, name):
    table, y = mixed
    machine = MACHINES[name]().fit(table, y)
    for reason, score in zip(machine.explain(table.head(9)), answer(machine, table.head(9)), strict=True):
        assert [*sorted(each.column for each in reason.parts)] == ["age", "dose", "size", "town"]
        assert reason.average + sum(each.added for each in reason.parts) == pytest.approx(reason.total, abs=1e-4)
        assert abs(reason.total) == pytest.approx(abs(score), rel=1e-3, abs=1e-4)
    if "large" not in name:
        assert machine.coef_.shape == (1, len(machine.prepared_feature_names_))
        prepared = machine._scaling.preparation(machine._scaling.preparation.nearest(by_hand(table), {3: 3}))
        assert_allclose(prepared @ machine.coef_[0] + machine.intercept_[0], answer(machine, table), atol=1e-9)


def test_prototypes_between_categories_are_shown_by_the_nearest(mixed):
    table, y = mixed
    machine = LargeScaleMCMClassifier(n_components=15, max_iter=20, random_state=0).fit(table, y)
    vectors = machine.support_vectors_
    assert vectors.shape == (machine.n_support_, 4)
    assert set(vectors[~np.isnan(vectors[:, 3]), 3]) <= {0.0, 1.0, 2.0, 3.0}
    assert shown_values(machine, np.array([[1.0, 2.0, 3.0, 3.0]], np.float32))[0][3] == "another category"
    preparation = machine._scaling.preparation
    rows = by_hand(table)
    codes = table.assign(town=table["town"].cat.codes.replace(-1, np.nan)).to_numpy(dtype=np.float64)
    assert_array_equal(preparation.nearest(rows, {3: 3}), codes)


def test_partial_fit_keeps_what_the_first_call_found(mixed):
    table, y = mixed
    known = table.dropna()
    machine = LargeScaleMCMClassifier(n_components=15, random_state=0)
    machine.partial_fit(known, y[table.notna().all(axis=1)], classes=[0, 1])
    names, fill = machine.prepared_feature_names_.tolist(), machine._scaling.preparation.fill
    machine.partial_fit(table.assign(town=table["town"].cat.add_categories("Rom").fillna("Rom")), y)
    assert machine.prepared_feature_names_.tolist() == names
    assert_array_equal(machine._scaling.preparation.fill, fill)
    assert machine.score(table, y) > 0.6
    with pytest.raises(ValueError, match="started with categorical_features='from_dtype'"):
        machine.set_params(categorical_features=None).partial_fit(table, y)


# -------------------------------------------------------------------------------------------- the same words everywhere
@pytest.mark.parametrize("how", ["arcsinh", "standard", "robust", None])
def test_a_word_for_scaling_means_the_same_in_every_machine(how):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.lognormal(size=300), rng.normal(size=300), rng.random(300) < 0.1]).astype(np.float32)
    y = rng.integers(0, 2, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = MCMClassifier(scaling=how).fit(X, y)
        large = LargeScaleMCMClassifier(scaling=how, n_components=5, max_iter=1, random_state=0).fit(X, y)
    expected = exact._scaling(X.astype(np.float64))
    assert large._scaling(X).dtype == np.float32
    assert_allclose(large._scaling(X), expected, rtol=1e-3, atol=1e-4)
    prototypes = large._scaling(large.support_vectors_.astype(np.float32))
    assert_allclose(prototypes, large._model.feature_map.prototypes, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("word", ["smooth", "medium", "scale"])
def test_a_word_for_gamma_means_the_same_in_every_machine(word):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    expected = MCMClassifier(gamma=word, scaling="robust").fit(X, y)._trained_settings.kernel.gamma
    large = LargeScaleMCMClassifier(gamma=word, n_components=5, max_iter=1, random_state=0).fit(X, y)
    assert large.gamma_ == pytest.approx(expected, rel=1e-4)
    assert ConformalKernel(gamma=word).fit(X, y)._kernel.gamma == pytest.approx(expected, rel=1e-4)
    assert MCMRegressor(gamma=word, scaling="robust").fit(X, y)._kernel.gamma == pytest.approx(expected)


def test_a_column_that_is_not_there_is_an_error_and_nothing_is_written():
    odd = Preparation(2, np.array([0, 2**63 - 1]), np.array([0, 1]), np.zeros(2))
    with pytest.raises(IndexError):
        odd.by_column(np.ones(2))
