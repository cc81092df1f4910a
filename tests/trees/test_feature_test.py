from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from planewise import DiscriminantFeatureTest
from planewise.trees.feature_test import _elbow


# ---------------------------------------------------------------------------------- the test, in plain NumPy
def entropy(y, weight):
    share = np.array([weight[y == c].sum() for c in np.unique(y)]) / weight.sum()
    return -weight.sum() * (share * np.log(share)).sum()


def gini(y, weight):
    share = np.array([weight[y == c].sum() for c in np.unique(y)]) / weight.sum()
    return weight.sum() * (1 - (share**2).sum())


def squared_error(y, weight):
    return (weight * (y - np.average(y, weights=weight)) ** 2).sum()


def oracle(f, y, weight, loss, n_bins=16, min_samples_leaf=1):
    """Mean loss and threshold of one feature; of equal splits the more balanced, then the smaller threshold.

    Missing values go to either side, and may have the left one for themselves (b = 0).
    """
    f = f.astype(np.float32).astype(np.float64)
    low, high = np.nanmin(f), np.nanmax(f)
    best, best_threshold, best_balance = loss(y, weight), np.nan, -1
    for missing_right in (True, False) if np.isnan(f).any() else (True,):
        for b in range(int(missing_right), n_bins) if high > low else ():
            threshold = low + b * (high - low) / n_bins
            left = np.where(np.isnan(f), not missing_right, f < threshold)
            balance = min(left.sum(), (~left).sum())
            if balance < min_samples_leaf:
                continue
            now = loss(y[left], weight[left]) + loss(y[~left], weight[~left])
            tie = np.isclose(now, best, rtol=1e-12, atol=0)
            if (now < best and not tie) or (tie and balance > best_balance and best_threshold == best_threshold):
                best, best_threshold, best_balance = now, threshold, balance
    return best / weight.sum(), best_threshold


def expect_agreement(test, X, y, weight, loss, **options):
    expected = np.array([oracle(f, y, weight, loss, **options) for f in X.T])
    assert_allclose(test.scores_, expected[:, 0], rtol=1e-6, atol=1e-9)
    assert_allclose(test.thresholds_, expected[:, 1], rtol=1e-5, atol=1e-6)


def row_weights(kind, n):
    rng = np.random.default_rng(0)
    return {
        "equal": np.ones(n),
        "whole": rng.integers(1, 5, n).astype(float),
        "real": rng.exponential(size=n),
    }[kind]


@pytest.mark.parametrize("weights", ["equal", "whole", "real"])
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_classification_agrees_with_plain_numpy(load, criterion, weights):
    X, y = load(return_X_y=True)
    weight = row_weights(weights, len(y))
    test = DiscriminantFeatureTest(criterion=criterion).fit(X, y, sample_weight=weight)
    expect_agreement(test, X, y, weight, {"entropy": entropy, "gini": gini}[criterion])


@pytest.mark.parametrize("weights", ["equal", "whole", "real"])
def test_regression_agrees_with_plain_numpy(weights):
    X, y = load_diabetes(return_X_y=True)
    weight = row_weights(weights, len(y))
    test = DiscriminantFeatureTest(task="regression").fit(X, y, sample_weight=weight)
    expect_agreement(test, X, y, weight, squared_error)


@pytest.mark.parametrize("options", [{"n_bins": 2}, {"n_bins": 255}, {"min_samples_leaf": 60}])
def test_agrees_with_plain_numpy_for_other_bins_and_least_rows(options):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10]
    test = DiscriminantFeatureTest(**options).fit(X, y)
    expect_agreement(test, X, y, np.ones(len(y)), entropy, **options)


def test_missing_values_go_where_plain_numpy_puts_them():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6].copy()
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[y == 1, 0] = np.nan  # here only the missing values tell
    test = DiscriminantFeatureTest().fit(X, y)
    expect_agreement(test, X, y, np.ones(len(y)), entropy)


def test_whole_numbers_on_bin_edges_agree_with_plain_numpy():
    X, y = load_digits(return_X_y=True)  # pixels from 0 to 16: every edge is a value
    test = DiscriminantFeatureTest().fit(X, y)
    expect_agreement(test, X, y, np.ones(len(y)), entropy)


# -------------------------------------------------------------------------------------------------- its laws
@pytest.mark.parametrize("load", [load_iris, load_diabetes])
def test_whole_weights_are_repeats_and_zero_leaves_a_row_out(load):
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weight[X[:, 0].argmax()] = 0  # so that a row that does not count could have changed the bins
    weighted = DiscriminantFeatureTest().fit(X, y, sample_weight=weight)
    repeated = DiscriminantFeatureTest().fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)
    assert_array_equal(weighted.thresholds_, repeated.thresholds_)


def test_scaling_a_feature_scales_its_threshold_and_nothing_else():
    X, y = load_iris(return_X_y=True)
    plain = DiscriminantFeatureTest().fit(X, y)
    scaled = DiscriminantFeatureTest().fit(X * 2.0**60, y)
    assert_allclose(scaled.scores_, plain.scores_, rtol=1e-9)
    assert_allclose(scaled.thresholds_, plain.thresholds_ * 2.0**60)


def test_quantile_bins_see_only_the_order_of_the_values():
    X, y = load_breast_cancer(return_X_y=True)
    straight = DiscriminantFeatureTest(bins="quantile").fit(X, y)
    bent = DiscriminantFeatureTest(bins="quantile").fit(np.sqrt(X), y)
    assert_allclose(bent.scores_, straight.scores_, rtol=1e-9)
    assert not np.allclose(straight.scores_, DiscriminantFeatureTest().fit(X, y).scores_)


def test_any_number_of_threads_gives_the_same_scores():
    X, y = load_breast_cancer(return_X_y=True)
    one, three = (DiscriminantFeatureTest(n_jobs=n).fit(X, y) for n in (1, 3))
    assert_array_equal(one.scores_, three.scores_)
    assert_array_equal(one.thresholds_, three.thresholds_)


def test_a_feature_that_cannot_split_has_the_loss_of_not_splitting():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([np.full(150, 3.7), X[:, 2], np.full(150, np.nan)])
    test = DiscriminantFeatureTest().fit(X, y)
    assert_allclose(test.scores_[[0, 2]], np.log(3))
    assert_array_equal(np.isnan(test.thresholds_), [True, False, True])
    assert_array_equal(test.order_, [1, 0, 2])


def test_one_class_leaves_nothing_to_separate():
    X, _ = load_iris(return_X_y=True)
    test = DiscriminantFeatureTest().fit(X, np.zeros(150, dtype=int))
    assert_array_equal(test.scores_, 0)
    assert test.n_features_ == 1


# --------------------------------------------------------------------------------------------- what it keeps
@pytest.mark.parametrize(("wanted", "kept"), [(1, 1), (7, 7), (30, 30), (0.5, 15), (0.29, 9), (1.0, 30), (1e-3, 1)])
def test_keeps_the_best_features_as_many_as_wanted(wanted, kept):
    X, y = load_breast_cancer(return_X_y=True)
    test = DiscriminantFeatureTest(n_features_to_select=wanted).fit(X, y)
    assert test.n_features_ == test.support_.sum() == kept
    assert_array_equal(np.sort(test.order_[:kept]), test.get_support(indices=True))
    assert_array_equal(test.order_, np.argsort(test.scores_, kind="stable"))
    assert_array_equal(test.transform(X), X[:, test.support_])


def test_more_features_than_there_are_is_an_error_that_says_how_many_there_are():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"'n_features_to_select'.* at most the number of features, 4; got 5"):
        DiscriminantFeatureTest(n_features_to_select=5).fit(X, y)


def test_the_elbow_keeps_the_informative_features():
    X, y = make_classification(
        2000,
        40,
        n_informative=5,
        n_redundant=0,
        n_clusters_per_class=1,
        class_sep=2,
        shuffle=False,
        random_state=0,
    )
    test = DiscriminantFeatureTest().fit(X, y)
    assert test.n_features_ == test.elbow_
    assert set(test.get_support(indices=True)) <= set(range(5))
    assert test.n_features_ >= 3


@pytest.mark.parametrize(
    ("losses", "kept"),
    [
        ([0.1, 0.12, 0.15, 0.69, 0.69, 0.69, 0.7], 3),  # few useful ones, then a plateau
        ([0.1, 0.11, 0.12, 0.13, 0.69], 4),  # all useful but one
        ([0.1, 0.7, 0.7], 1),
        ([0.1, 0.2, 0.3, 0.4, 0.5], 1),  # no elbow: every point is on the line
        ([0.0, 0.5, 0.5, 1.0], 1),  # two points are equally far
        ([0.3, 0.3, 0.3], 1),
        ([0.1, 0.7], 1),
        ([0.4], 1),
    ],
)
def test_elbow(losses, kept):
    assert _elbow(np.array(losses)) == kept


def test_elbow_is_told_even_when_another_number_is_wanted():
    X, y = load_iris(return_X_y=True)
    assert DiscriminantFeatureTest(n_features_to_select=4).fit(X, y).elbow_ == 2


# ------------------------------------------------------------------------------------------ which task it is
def test_auto_takes_whole_numbers_for_classes_and_fractions_for_numbers():
    X, y = load_iris(return_X_y=True)
    classes = DiscriminantFeatureTest(task="classification").fit(X, y)
    numbers = DiscriminantFeatureTest(task="regression").fit(X, y)
    assert not np.allclose(classes.scores_, numbers.scores_)
    for labels in (y, y.astype(float), np.array(["a", "b", "c"])[y]):
        assert_array_equal(DiscriminantFeatureTest().fit(X, labels).scores_, classes.scores_)
    halved = DiscriminantFeatureTest().fit(X, y / 2)
    assert_allclose(halved.scores_, numbers.scores_ / 4, rtol=1e-6)


def test_auto_says_so_when_it_cannot_tell():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'task' of DiscriminantFeatureTest must be 'classification' or 'regr"):
        DiscriminantFeatureTest().fit(X, y.astype(object))
    with pytest.raises(ValueError, match="y must hold numbers"):
        DiscriminantFeatureTest(task="regression").fit(X, np.array(["a", "b", "c"])[y])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        DiscriminantFeatureTest(task="classification").fit(X, y + 0.5)


# ------------------------------------------------------------------------------------------ tables and tools
COLUMNS = ["a", "b", "c", "d"]
TABLES = {
    "pandas": lambda X, names=COLUMNS: pd.DataFrame(X, columns=names),
    "polars": lambda X, names=COLUMNS: pl.DataFrame(X, schema=names),
    "arrow": lambda X, names=COLUMNS: pa.table(dict(zip(names, X.T, strict=True))),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_give_the_same_test_with_names(kind):
    X, y = load_iris(return_X_y=True)
    X[::7, 3] = np.nan
    table = TABLES[kind](X)
    plain = DiscriminantFeatureTest(n_features_to_select=2).fit(X, y)
    named = DiscriminantFeatureTest(n_features_to_select=2).fit(table, y)
    assert_array_equal(named.scores_, plain.scores_)
    assert_array_equal(named.get_feature_names_out(), ["c", "d"])
    assert_array_equal(named.transform(table), X[:, 2:])
    with pytest.raises(ValueError, match="feature names should match"):
        named.transform(TABLES[kind](X, COLUMNS[::-1]))


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_gives_frames_with_the_names_of_the_kept(kind, output, frame):
    X, y = load_iris(return_X_y=True)
    table = TABLES[kind](X)
    test = DiscriminantFeatureTest(n_features_to_select=2).set_output(transform=output).fit(table, y)
    kept = test.transform(table)
    assert isinstance(kept, frame)
    assert list(kept.columns) == ["c", "d"]
    assert_array_equal(kept.to_numpy(), X[:, 2:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_transform_keeps_the_dtype(dtype):
    X, y = load_iris(return_X_y=True)
    X = (10 * X).astype(dtype)
    assert DiscriminantFeatureTest().fit(X, y).transform(X).dtype == dtype


def test_pandas_output_keeps_the_dtype_of_each_column():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.astype({X.columns[2]: np.float32}).assign(late=y > 1)
    test = DiscriminantFeatureTest(n_features_to_select=3).set_output(transform="pandas").fit(X, y)
    kept = test.transform(X)
    assert kept.dtypes.to_dict() == X.dtypes[kept.columns].to_dict()
    assert "late" in kept.columns


def test_a_pipeline_can_search_how_many_features_to_keep():
    X, y = make_classification(
        300, 20, n_informative=3, n_redundant=0, n_clusters_per_class=1, class_sep=2, random_state=0
    )
    pipeline = make_pipeline(DiscriminantFeatureTest(), LogisticRegression())
    search = GridSearchCV(pipeline, {"discriminantfeaturetest__n_features_to_select": [1, 3, 0.5, "elbow"]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    assert search.best_estimator_.predict(X).shape == (300,)
