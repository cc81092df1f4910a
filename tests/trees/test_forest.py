from __future__ import annotations

import pickle
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference_search import Random
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error, r2_score
from sklearn.utils import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from clean_shell import run_python
from planewise import SLMClassifier, SLMForestClassifier, SLMForestRegressor, SLMRegressor, _core
from planewise.trees import Forest

BOTH = pytest.mark.parametrize("make", [SLMForestClassifier, SLMForestRegressor])
ALL_ROWS = {"bootstrap": False, "min_samples_leaf": 1, "noise_margin": 0, "smoothing": 0}
PUBLISHED = {
    "n_estimators": 20,
    "bootstrap": False,
    "max_planes": 2,
    "plane_choice": "cosine",
    "subspace": "node",
    "refine_thresholds": False,
    "noise_margin": 0,
    "smoothing": 0,
    "min_samples_leaf": 1,
    "max_rows_per_node": None,
    "max_ranked_features": None,
    "subspace_size": [2, 3],
    "coef_decay": [0.0, 0.2],
    "rank_decay": [0.1, 0.5],
}


# --------------------------------------------------------------------------------- scikit-learn's own checks
def expected_failures(estimator):
    weights = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    expected = {}
    if isinstance(estimator, SLMForestClassifier):
        expected["check_class_weight_classifiers"] = (
            "leaves of trees that are not pruned hold few rows and often of one class only, whatever the weights; the "
            "check spares scikit-learn's forests by min_weight_fraction_leaf"
        )
    if estimator.bootstrap:
        expected |= dict.fromkeys(
            weights,
            "rows are drawn, each as likely as the next: a row of weight two is drawn as one, two equal rows as two",
        )
    elif estimator.min_samples_leaf > 1:
        expected |= dict.fromkeys(
            weights, "min_samples_leaf counts rows and not weights; the published configuration, with 1, passes"
        )
    return expected


@parametrize_with_checks(
    [
        SLMForestClassifier(n_estimators=5),
        SLMForestRegressor(n_estimators=5),
        SLMForestClassifier(n_estimators=5, bootstrap=True),
        SLMForestRegressor(n_estimators=5, bootstrap=True),
        SLMForestClassifier(**PUBLISHED | {"n_estimators": 5, "voting": "hard"}),
        SLMForestRegressor(**PUBLISHED | {"n_estimators": 5}),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --------------------------------------------------------------------------------------------- voting, in NumPy
def by_tree(model, X):
    """What each tree says: of shape (n_trees, n_samples, n_classes), or (n_trees, n_samples) for numbers."""
    forest, nodes = model.forest_, model.apply(X)
    values = np.stack([forest.value[forest.node_start[tree] + ends] for tree, ends in enumerate(nodes.T)])
    values = values.astype(np.float64)
    if isinstance(model, SLMForestRegressor):
        return values[:, :, 0] + model._centre
    return np.dstack([1 - values, values]) if len(model.classes_) == 2 else values


def hard_vote(probability):
    """Votes / T + mean / (2 T), to a sum of one."""
    n_trees = len(probability)
    votes = np.zeros(probability.shape[1:])
    for tree in probability:
        votes[np.arange(len(votes)), tree.argmax(axis=1)] += 1
    answer = votes / n_trees + probability.mean(axis=0) / (2 * n_trees)
    return votes, answer / answer.sum(axis=1, keepdims=True)


def noisy(n_classes, n_rows=400):
    X, y = make_classification(n_rows, 6, n_informative=4, n_classes=n_classes, flip_y=0.3, random_state=0)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_soft_voting_is_the_mean_of_the_trees(n_classes):
    X, y, new, _ = noisy(n_classes)
    model = SLMForestClassifier(n_estimators=7, smoothing=2, random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(new), by_tree(model, new).mean(axis=0), atol=1e-12)
    assert_allclose(model.predict_proba(new).sum(axis=1), 1)
    assert_array_equal(model.predict(new), model.predict_proba(new).argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_hard_voting_counts_votes_and_the_mean_decides_ties(n_classes):
    X, y, new, _ = noisy(n_classes)
    model = SLMForestClassifier(n_estimators=6, smoothing=2, voting="hard", random_state=0).fit(X, y)
    probability = by_tree(model, new)
    votes, expected = hard_vote(probability)
    assert_allclose(model.predict_proba(new), expected, atol=1e-6)
    predicted = model.predict(new)
    assert_array_equal(predicted, model.predict_proba(new).argmax(axis=1))
    assert_array_equal(votes[np.arange(len(new)), predicted], votes.max(axis=1))
    tied = np.flatnonzero((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    assert len(tied) > 5
    by_mean = np.where(votes == votes.max(axis=1, keepdims=True), probability.mean(axis=0), -1)[tied].argmax(axis=1)
    assert_array_equal(predicted[tied], by_mean)
    assert len(set(predicted[tied])) > 1


def test_hard_and_soft_votes_can_differ_and_the_trees_are_the_same():
    X, y, new, _ = noisy(3)
    soft, hard = (
        SLMForestClassifier(n_estimators=7, smoothing=4, voting=voting, random_state=0).fit(X, y)
        for voting in ("soft", "hard")
    )
    assert_same_forest(soft, hard)
    assert (soft.predict(new) != hard.predict(new)).any()


def test_the_regressor_answers_the_mean_of_its_trees():
    X, y = load_diabetes(return_X_y=True)
    model = SLMForestRegressor(n_estimators=7, random_state=0).fit(X[::2], y[::2])
    trees = by_tree(model, X)
    assert trees.std(axis=0).min() > 0
    assert_allclose(model.predict(X), trees.mean(axis=0), rtol=1e-12)


@BOTH
def test_a_forest_beats_a_tree_and_the_mean(make):
    X, y = make_friedman1(800, noise=1, random_state=0)
    y = y if make is SLMForestRegressor else np.digitize(y, [12, 17])
    one = {SLMForestClassifier: SLMClassifier, SLMForestRegressor: SLMRegressor}[make]
    tree, forest = (m(random_state=0).fit(X[:500], y[:500]).score(X[500:], y[500:]) for m in (one, make))
    assert forest > tree > 0.3


# ------------------------------------------------------------------------------------------ one tree, as it is
def seed_of_tree(seed, tree):
    return int(Random(seed, 2**64 - 1 - tree).next())


@pytest.mark.parametrize("smoothing", [0, 3.5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers"])
def test_without_bootstrap_every_tree_is_a_single_tree_with_the_trees_seed(kind, weighted, smoothing):
    X, y = load_diabetes(return_X_y=True) if kind == "numbers" else noisy(2 if kind == "two classes" else 3)[:2]
    X = X.astype(np.float32)
    weight = np.random.default_rng(0).random(len(y)) + 0.2 if weighted else np.ones(len(y))
    make = SLMForestRegressor if kind == "numbers" else SLMForestClassifier
    model = make(n_estimators=3, bootstrap=False, smoothing=smoothing, noise_margin=0.2, random_state=0)
    model.fit(X, y, sample_weight=weight)
    table, options = _core.Table(X, weight, 1), model._options()
    centre = np.average(y, weights=weight)
    for number in range(3):
        options.seed = seed_of_tree(model._new_seed(), number)
        if kind == "numbers":
            grown, leaf = _core.grow_numbers(table, y - centre, weight, options, 1)
            columns = [weight * (y - centre), weight]
        else:
            n_classes = len(model.classes_)
            grown, leaf = _core.grow_classes(table, y.astype(np.int32), weight, n_classes, False, options, 1)
            columns = [*(weight * (y == c) for c in range(n_classes)), weight]
        totals = np.column_stack([np.bincount(leaf, column, minlength=len(grown.parent)) for column in columns])
        tree = Forest(grown.with_means(totals, smoothing))
        assert tree.n_planes > 5
        alone = tree.value[tree.apply(X)[:, 0]] + (centre if kind == "numbers" else 0)
        answer = by_tree(model, X)[number]
        assert_allclose(answer.reshape(len(X), -1), alone, rtol=1e-5, atol=1e-6)


@BOTH
def test_smoothing_pulls_leaves_towards_the_root(make):
    X, y = load_diabetes(return_X_y=True)
    y = y if make is SLMForestRegressor else (y > 120).astype(int)

    def spread(smoothing):
        model = make(n_estimators=3, smoothing=smoothing, random_state=0).fit(X, y)
        return by_tree(model, X).reshape(3, len(X), -1)[:, :, -1].std()

    assert spread(0) > 1.05 * spread(3) > 1.05**2 * spread(1000) > 0


# ------------------------------------------------------------------------------------------------- out of bag
def out_of_bag(model, n_rows, draws):
    return np.stack(
        [_core.bootstrap(n_rows, draws, model._new_seed(), tree) == 0 for tree in range(model.n_estimators)]
    )


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("max_samples", [None, 0.5, 60])
def test_out_of_bag_probabilities_come_from_the_trees_that_have_not_seen_the_row(max_samples, voting):
    X, y, _, _ = noisy(3)
    names = np.array(["a", "b", "c"])[y]
    model = SLMForestClassifier(
        bootstrap=True, n_estimators=25, oob_score=True, max_samples=max_samples, voting=voting, random_state=0
    ).fit(X, names)
    draws = {None: len(X), 0.5: len(X) // 2, 60: 60}[max_samples]
    out, trees = out_of_bag(model, len(X), draws), by_tree(model, X)
    assert 0.9 * np.exp(-draws / len(X)) < out.mean() < 1.1 * np.exp(-draws / len(X))
    for row in range(len(X)):
        own = trees[out[:, row], row][:, None]
        expected = own.mean(axis=0) if voting == "soft" else hard_vote(own)[1]
        assert_allclose(model.oob_decision_function_[[row]], expected, atol=1e-6)
    predicted = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == accuracy_score(names, predicted)
    assert model.oob_score_ < accuracy_score(names, model.predict(X))


def test_out_of_bag_numbers_come_from_the_trees_that_have_not_seen_the_row():
    X, y = load_diabetes(return_X_y=True)
    model = SLMForestRegressor(bootstrap=True, n_estimators=25, oob_score=True, random_state=0).fit(X, y)
    out, trees = out_of_bag(model, len(X), len(X)), by_tree(model, X)
    expected = (trees * out).sum(axis=0) / out.sum(axis=0)
    assert_allclose(model.oob_prediction_, expected)
    assert model.oob_score_ == pytest.approx(r2_score(y, expected))


def test_a_score_of_ones_own_judges_the_out_of_bag_rows():
    X, y, _, _ = noisy(3)
    model = SLMForestClassifier(bootstrap=True, n_estimators=25, oob_score=balanced_accuracy_score, random_state=0).fit(
        X, y
    )
    predicted = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == balanced_accuracy_score(y, predicted) != accuracy_score(y, predicted)
    X, y = load_diabetes(return_X_y=True)
    model = SLMForestRegressor(bootstrap=True, n_estimators=25, oob_score=mean_absolute_error, random_state=0).fit(X, y)
    assert model.oob_score_ == pytest.approx(np.abs(y - model.oob_prediction_).mean())


@BOTH
def test_rows_that_every_tree_has_seen_are_named_and_do_not_count(make):
    X, y = load_wine(return_X_y=True)
    with pytest.warns(UserWarning, match="rows were drawn for every tree") as caught:
        model = make(bootstrap=True, n_estimators=2, oob_score=True, random_state=0).fit(X, y)
    out = out_of_bag(model, len(X), len(X)).any(axis=0)
    assert 0 < out.sum() < len(X)
    assert str(caught[0].message).startswith(f"{len(X) - out.sum()} rows")
    answer = model.oob_prediction_ if make is SLMForestRegressor else model.oob_decision_function_[:, 0]
    assert_array_equal(np.isnan(answer), ~out)
    if make is SLMForestRegressor:
        assert model.oob_score_ == pytest.approx(r2_score(y[out], answer[out]))
    else:
        assert model.oob_score_ == accuracy_score(y[out], model.oob_decision_function_[out].argmax(axis=1))


@BOTH
def test_rows_of_no_weight_have_no_out_of_bag_answer(make):
    X, y = load_wine(return_X_y=True)
    counts = np.arange(len(X)) % 3 > 0
    model = make(bootstrap=True, n_estimators=30, oob_score=True, random_state=0).fit(X, y, sample_weight=counts * 1.0)
    without = make(bootstrap=True, n_estimators=30, oob_score=True, random_state=0).fit(X[counts], y[counts])
    name = "oob_prediction_" if make is SLMForestRegressor else "oob_decision_function_"
    assert_array_equal(getattr(model, name)[counts], getattr(without, name))
    assert np.isnan(getattr(model, name)[~counts]).all()
    assert model.oob_score_ == without.oob_score_


@BOTH
def test_a_fit_without_out_of_bag_rows_forgets_those_of_an_earlier_one(make):
    X, y = load_wine(return_X_y=True)
    model = make(n_estimators=30, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    assert sum(name.startswith("oob_") for name in vars(model)) == 3
    model.set_params(oob_score=False).fit(X, y)
    assert [name for name in vars(model) if name.startswith("oob_")] == ["oob_score"]


@BOTH
def test_out_of_bag_rows_need_a_bootstrap(make):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="oob_score needs bootstrap=True"):
        make(bootstrap=False, oob_score=True).fit(X, y)


# --------------------------------------------------------------------------------------------- draws of rows
@BOTH
@pytest.mark.parametrize(("max_samples", "draws"), [(None, 178), (1, 1), (40, 40), (0.25, 44), (1.0, 178), (1e-9, 1)])
def test_each_tree_draws_as_many_rows_as_asked(make, max_samples, draws):
    X, y = load_wine(return_X_y=True)
    model = make(bootstrap=True, n_estimators=4, max_samples=max_samples, random_state=0).fit(X, y)
    roots = model.forest_.n_samples[model.forest_.node_start[:-1]]
    times = [_core.bootstrap(len(X), draws, model._new_seed(), tree) for tree in range(4)]
    assert_array_equal(roots, [np.count_nonzero(each) for each in times])
    assert [each.sum() for each in times] == [draws] * 4


@BOTH
def test_more_draws_than_rows_are_refused(make):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="max_samples=179 must be at most 178"):
        make(bootstrap=True, max_samples=179).fit(X, y)
    with pytest.raises(ValueError, match="max_samples needs bootstrap=True"):
        make(max_samples=0.5, bootstrap=False).fit(X, y)


@BOTH
def test_without_bootstrap_every_tree_has_all_rows_and_still_differs(make):
    X, y = noisy(2)[:2]
    model = make(n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    assert_array_equal(model.forest_.n_samples[model.forest_.node_start[:-1]], len(X))
    first, second, _ = by_tree(model, noisy(2)[2])
    assert (first != second).any()


# --------------------------------------------------------------------- the same model, and more of the same one
def assert_same_forest(one, other):
    for name in one.forest_.arrays():
        array, same = getattr(one.forest_, name), getattr(other.forest_, name)
        assert array.dtype == same.dtype, name
        assert array.tobytes() == same.tobytes(), name


@BOTH
@pytest.mark.parametrize(
    "extra",
    [{}, {"bootstrap": True}, {"verbose": 1}, {"bootstrap": True, "class_weight": "balanced_subsample"}],
    ids=str,
)
def test_any_number_of_jobs_gives_the_same_bytes(make, extra):
    if make is SLMForestRegressor and "class_weight" in extra:
        pytest.skip("numbers have no classes")
    X, y = load_wine(return_X_y=True)
    wide = np.tile(X, (60, 1))  # enough rows for the threads to start
    one = make(n_estimators=9, random_state=0, **({} if "verbose" in extra else extra)).fit(X, y)
    for n_jobs in (2, 3, -1):
        many = make(n_estimators=9, random_state=0, n_jobs=n_jobs, **extra).fit(X, y)
        assert_same_forest(one, many)
        assert many.predict(wide).tobytes() == one.predict(wide).tobytes()


@BOTH
def test_the_seed_decides_the_model(make):
    X, y = load_wine(return_X_y=True)
    one, same, other = (make(n_estimators=3, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    assert_same_forest(one, same)
    assert one.forest_.threshold.tolist() != other.forest_.threshold.tolist()


# --------------------------------------------------------------------------------------------------- weights
@BOTH
def test_without_bootstrap_whole_weights_are_repeated_rows(make):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y, weight = rng.normal(size=(60, 4)), rng.integers(0, 3, 60), rng.integers(0, 4, 60)
        y = rng.normal(size=60) if make is SLMForestRegressor else y
        weighted = make(n_estimators=3, random_state=0, **ALL_ROWS).fit(X, y, sample_weight=weight)
        repeated = make(n_estimators=3, random_state=0, **ALL_ROWS).fit(X.repeat(weight, axis=0), y.repeat(weight))
        assert_allclose(by_tree(weighted, X), by_tree(repeated, X), atol=1e-6)


@BOTH
def test_a_row_of_no_weight_is_left_out(make):
    X, y = load_iris(return_X_y=True)
    counts = np.arange(150) % 3 > 0
    X_out = np.where(counts[:, None], X, 1e9 * X)  # would change every scale
    left_out = make(n_estimators=5, random_state=0).fit(X_out, y, sample_weight=counts.astype(float))
    without = make(n_estimators=5, random_state=0).fit(X[counts], y[counts])
    assert_same_forest(left_out, without)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 5, 2: 0.5}, {0: 3}, {1: 0}])
def test_class_weights_are_sample_weights(class_weight):
    X, y = load_wine(return_X_y=True)
    by_class = SLMForestClassifier(n_estimators=5, class_weight=class_weight, random_state=0).fit(X, y)
    by_row = SLMForestClassifier(n_estimators=5, random_state=0)
    by_row.fit(X, y, sample_weight=compute_sample_weight(class_weight, y))
    assert_same_forest(by_class, by_row)


def test_a_balanced_subsample_balances_the_draw_of_every_tree():
    X, y = load_wine(return_X_y=True)
    y = np.where(y == 2, 1, y)  # 59 against 119
    given = np.random.default_rng(0).random(len(y)) + 0.5
    model = SLMForestClassifier(
        bootstrap=True, n_estimators=3, max_depth=1, class_weight="balanced_subsample", smoothing=0, random_state=0
    ).fit(X, y, sample_weight=given)
    assert model.forest_.n_planes > 0
    plain = clone(model).set_params(class_weight=None).fit(X, y, sample_weight=given)
    for tree in range(3):
        times = _core.bootstrap(len(X), len(X), model._new_seed(), tree)
        drawn = np.repeat(np.arange(len(y)), times)
        own = times * given * compute_sample_weight("balanced", y, indices=drawn)
        root = model.forest_.value[model.forest_.node_start[tree], 0]
        assert root == pytest.approx(own[y == 1].sum() / own.sum(), abs=1e-6)
        assert abs(root - plain.forest_.value[plain.forest_.node_start[tree], 0]) > 0.1


def test_a_draw_without_one_of_the_classes_is_balanced_among_the_others():
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:40, 50:90, 100]  # one row of the third class
    model = SLMForestClassifier(bootstrap=True, n_estimators=5, class_weight="balanced_subsample", random_state=0)
    model.fit(X[rows], y[rows])
    drawn = [_core.bootstrap(len(rows), len(rows), model._new_seed(), tree)[-1] for tree in range(5)]
    assert min(drawn) == 0 < max(drawn)
    for tree, times in enumerate(drawn):
        root = model.forest_.value[model.forest_.node_start[tree]]
        assert (root[2] > 0) == (times > 0)
    assert model.score(X[:100], y[:100]) > 0.95


def test_without_bootstrap_a_balanced_subsample_is_balanced():
    X, y = load_wine(return_X_y=True)
    one, other = (
        SLMForestClassifier(n_estimators=2, bootstrap=False, class_weight=word, random_state=0).fit(X, y)
        for word in ("balanced_subsample", "balanced")
    )
    assert_same_forest(one, other)


def test_class_weights_that_leave_nothing_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="class_weight gives every class a weight of 0"):
        SLMForestClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)


# ---------------------------------------------------------------------------------------- odd but valid data
@BOTH
def test_tables_give_the_same_model_as_arrays(make):
    X, y = load_iris(return_X_y=True)
    X[::11, 2] = np.nan
    plain = make(n_estimators=4, random_state=0).fit(X, y)
    for table in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd")).fill_nan(None)):
        named = make(n_estimators=4, random_state=0).fit(table, y)
        assert_same_forest(plain, named)
        assert_array_equal(named.feature_names_in_, list("abcd"))
        assert_array_equal(named.predict(table), plain.predict(X))
        assert_array_equal(named.apply(table), plain.apply(X))


@BOTH
def test_missing_values_learn_their_side(make):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 3))
    X[y == 1, 1] = np.nan  # that a value is missing is all there is to know
    model = make(n_estimators=10, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.9
    assert model.feature_importances_[1] > 0.9


@pytest.mark.parametrize("names", [["x", "yy", "zzz"], [-7, -3, 12], [2.0, 4.0, 8.0]], ids=["text", "int", "float"])
def test_labels_of_any_kind_come_back(names):
    X, y = load_iris(return_X_y=True)
    plain = SLMForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    named = SLMForestClassifier(n_estimators=3, random_state=0).fit(X, np.array(names)[y])
    assert_array_equal(named.classes_, names)
    assert_array_equal(named.predict(X), np.array(names)[plain.predict(X)])


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_one_class_gives_a_constant_model(voting):
    X, _ = load_iris(return_X_y=True)
    model = SLMForestClassifier(
        bootstrap=True, n_estimators=3, voting=voting, oob_score=True, max_samples=0.2, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, np.full(150, "only"))
    assert_array_equal(model.predict(X[:2]), ["only", "only"])
    assert_allclose(model.predict_proba(X[:2]), [[1.0], [1.0]])
    assert (model.n_planes_, model.n_parameters_, model.oob_score_) == (0, 0, 1.0)
    assert_array_equal(model.feature_importances_, 0)


def test_a_constant_target_is_predicted_as_it_is():
    X, _ = load_iris(return_X_y=True)
    assert_array_equal(SLMForestRegressor(n_estimators=3).fit(X, np.full(150, 1 / 3)).predict(X), 1 / 3)


def test_targets_far_from_zero_lose_nothing():
    X, y = load_diabetes(return_X_y=True)
    near, far = (SLMForestRegressor(n_estimators=5, random_state=0).fit(X, y + shift) for shift in (0, 2.0**30))
    same = np.isclose(far.predict(X) - 2.0**30, near.predict(X), rtol=1e-4)
    assert same.mean() > 0.9  # the last bit of the mean may decide between planes that are equally good


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_rows_get_the_same_bytes_as_few(n_jobs):
    X, y = make_friedman1(3000, noise=1, random_state=0)
    model = SLMForestRegressor(n_estimators=10, n_jobs=n_jobs, random_state=0).fit(X, y)
    assert model.forest_.n_nodes > 10 * 256  # large enough for all rows to go through one tree after another
    few = np.concatenate([model.predict(X[first : first + 100]) for first in range(0, 3000, 100)])
    assert model.predict(X).tobytes() == few.tobytes()
    base = np.array([0.1])
    whole = model.forest_.predict(X.astype(np.float32), base, 2, 7)
    parts = [model.forest_.predict(each.astype(np.float32), base, 2, 7) for each in np.array_split(X, 30)]
    assert whole.tobytes() == np.concatenate(parts).tobytes()


# --------------------------------------------------------------------------- reading a fitted forest, and files
def test_the_nodes_of_apply_hold_what_is_predicted_and_the_rows_of_the_leaves():
    X, y = load_breast_cancer(return_X_y=True)
    model = SLMForestClassifier(n_estimators=5, bootstrap=False, random_state=0).fit(X, y)
    nodes = model.apply(X)
    assert nodes.shape == (len(X), 5)
    assert nodes.dtype == np.int32
    assert_allclose(by_tree(model, X).mean(axis=0), model.predict_proba(X), atol=1e-12)
    forest = model.forest_
    for tree, ends in enumerate(nodes.T):
        node, rows = np.unique(ends, return_counts=True)
        assert_array_equal(forest.n_samples[forest.node_start[tree] + node], rows)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sizes_count_planes_terms_and_values(n_classes):
    X, y, _, _ = noisy(n_classes)
    model = SLMForestClassifier(n_estimators=4, subspace_size=3, random_state=0).fit(X, y)
    forest = model.forest_
    assert model.n_planes_ == len(forest.threshold) > 20
    assert model.n_parameters_ == model.n_planes_ * 4
    ends = 0
    for tree in range(4):
        root = forest.node_start[tree]
        for node in range(root, forest.node_start[tree + 1]):
            ends += node - root in forest.children[forest.child_start[node] : forest.child_start[node + 1]]
    values = 1 if n_classes == 2 else 3
    assert model.n_stored_numbers_ == len(forest.term_weight) + len(forest.threshold) + values * ends
    assert model.n_bytes_ >= 4 * model.n_stored_numbers_
    stumps = clone(model).set_params(max_depth=1).fit(X, y)
    assert stumps.n_bytes_ < model.n_bytes_


@pytest.mark.parametrize("kind", ["gain", "split", "cover"])
def test_importances_sum_to_one_and_irrelevant_features_have_little(kind):
    X, y = make_friedman1(800, n_features=10, random_state=0)  # the last five do nothing
    model = SLMForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    shares = model.get_feature_importances(kind)
    assert shares.shape == (10,)
    assert shares.sum() == pytest.approx(1)
    assert shares[:5].min() > shares[5:].max()
    assert_array_equal(model.get_feature_importances(), model.feature_importances_)
    with pytest.raises(ValueError, match=r"kind must be.*'weight'"):
        model.get_feature_importances("weight")


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_a_pickle_predicts_the_same(voting):
    X, y, new, _ = noisy(3)
    model = SLMForestClassifier(n_estimators=8, voting=voting, random_state=0).fit(X, y)
    before = len(pickle.dumps(model))
    expected = model.predict_proba(new)
    content = pickle.dumps(model)
    assert len(content) == before  # what was made for predicting is not kept
    copy = pickle.loads(content)
    assert copy.predict_proba(new).tobytes() == expected.tobytes()
    in_memory = sum(getattr(model.forest_, name).nbytes for name in model.forest_.arrays())
    assert len(content) < 0.6 * in_memory + 6000


@BOTH
def test_verbose_writes_progress_to_stderr_only(make, capfd):
    X, y = load_iris(return_X_y=True)
    plain = make(n_estimators=3, random_state=0).fit(X, y)
    assert capfd.readouterr() == ("", "")
    shown = make(n_estimators=3, verbose=1, random_state=0).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "forest [" in err
    assert "3/3" in err
    assert_same_forest(plain, shown)


# --------------------------------------------------------------------------------- what is wrong is said so
@BOTH
@pytest.mark.parametrize("method", ["predict", "apply", "get_feature_importances"])
def test_questions_before_a_fit_are_refused(make, method):
    with pytest.raises(NotFittedError):
        getattr(make(), method)(np.zeros((1, 2)))


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("make_name", ["class", "number"])
def test_a_fit_that_is_interrupted_leaves_the_estimator_as_it_was(make_name, error, monkeypatch):
    make = SLMForestClassifier if make_name == "class" else SLMForestRegressor
    X, y = load_iris(return_X_y=True)
    fitted = make(n_estimators=3, verbose=1, random_state=0).fit(X, y)
    fresh = clone(fitted)
    before = {**vars(fitted)}
    grow, calls = getattr(_core, f"grow_{make_name}_trees"), []

    def second_time_fails(*arguments):
        calls.append(arguments)
        if len(calls) % 2 == 0:
            raise error
        return grow(*arguments)

    monkeypatch.setattr(_core, f"grow_{make_name}_trees", second_time_fails)
    for model in (fitted, fresh):
        with pytest.raises(error):
            model.fit(X[:, :2], y)
    assert len(calls) == 4
    assert vars(fitted) == before
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    assert not hasattr(fresh, "n_features_in_")


# Grows for many minutes; a second thread presses Ctrl-C once the core is at work.
INTERRUPTED_FIT = """
    import signal, sys, threading, time
    import numpy as np
    from planewise import SLMForestClassifier, _core

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2_000, 5)), rng.integers(0, 2, 2_000)
    model = SLMForestClassifier(n_estimators=10**6, n_jobs={n_jobs})
    grow, inside = _core.grow_class_trees, threading.Event()

    def watched(*arguments):
        inside.set()
        return grow(*arguments)

    def press():
        inside.wait()
        for _ in range(100):
            time.sleep(0)  # a turn for the main thread each, which then is inside the core for good
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    _core.grow_class_trees = watched
    sys.setswitchinterval(1e-6)
    threading.Thread(target=press).start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", hasattr(model, "forest_"), hasattr(model, "n_features_in_"))
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_an_interrupt_ends_a_long_fit_and_leaves_no_forest(n_jobs):
    script = textwrap.dedent(INTERRUPTED_FIT).format(n_jobs=n_jobs)
    done = run_python("-c", script, timeout=120)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["interrupted False False"]


def test_probabilities_add_up_to_one_as_closely_as_others_ask():
    X, y = load_digits(return_X_y=True)
    p = SLMForestClassifier(n_estimators=50, random_state=0).fit(X, y).predict_proba(X)
    assert_allclose(p.sum(axis=1), 1, rtol=1e-14)


def same_planes(a, b):
    return a.forest_.term_feature.tobytes() == b.forest_.term_feature.tobytes()


@pytest.mark.parametrize("make", [SLMForestClassifier, SLMForestRegressor])
def test_nodes_of_a_wide_table_rank_512_of_its_columns(make):
    """Otherwise a forest of 200 rows and 10,000 columns would rank all of them at each of its thousands of nodes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 700))
    y = X[:, 0] + rng.normal(size=120) > 0
    default = make(n_estimators=3, random_state=0)
    part, every = (clone(default).set_params(max_ranked_features=most) for most in (512, None))
    assert same_planes(default.fit(X, y), part.fit(X, y)) and not same_planes(default, every.fit(X, y))
    assert same_planes(default.fit(X[:, :512], y), every.fit(X[:, :512], y))
