"""Boosting on many rows and over many rounds: sampled trees, and directions that are remembered."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from plain_walk import assert_same_model, ends, paths, raw_scores
from reference_search import Random, mixed
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from planewise import SLMBoostClassifier, SLMBoostRegressor
from planewise.trees import Forest

SAMPLES, BAGS = 0x73616D706C << 24, 0x626167 << 40  # the streams that rows are drawn from
ROUNDS_PER_SAMPLE = 8
BOTH = pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])


def numbers(n, n_features=6, seed=0):
    X, y = make_friedman1(n, n_features=max(5, n_features), noise=0.5, random_state=seed)
    return X.astype(np.float32), y


def classes(n, n_features=6, n_classes=3):
    X, y = numbers(n, n_features)
    return X, np.argsort(np.argsort(y)) * n_classes // n


def data_for(make, n):
    return classes(n) if make is SLMBoostClassifier else numbers(n)


# ------------------------------------------------------------------------------ what a tree draws, in plain Python
class Draws:
    """The columns and rows that tree `tree` of a fitted model drew."""

    def __init__(self, model, tree, n_rows, usable):
        random = Random(model._seed, tree)
        random.next()  # the seed of its nodes
        self.columns = list(usable)
        if model.colsample < 1:
            wanted = max(1, round(model.colsample * len(usable)))
            for k in range(min(wanted, len(usable) - 1)):
                other = k + random.below(len(usable) - k)
                self.columns[k], self.columns[other] = self.columns[other], self.columns[k]
            self.columns = sorted(self.columns[:wanted])
        self.bag = self.few = np.arange(n_rows)
        wanted = max(1, round(model.subsample * n_rows))
        if model.max_rows_per_tree is not None and wanted > model.max_rows_per_tree:
            first = tree - tree % model.forest_.trees_per_round  # all trees of a round draw the same rows
            number = first // model.forest_.trees_per_round // ROUNDS_PER_SAMPLE
            self.few = self.without_replacement(n_rows, model.max_rows_per_tree, Random(model._seed, SAMPLES + number))
            noise = Random(model._seed, BAGS + first).next()
            chance = [(mixed(noise ^ mixed(row)) >> 11) / 2**53 for row in range(n_rows)]
            self.bag = np.flatnonzero(np.array(chance) < model.subsample)
        elif wanted < n_rows:
            self.bag = self.few = self.without_replacement(n_rows, wanted, random)

    @staticmethod
    def without_replacement(n_rows, wanted, random):
        marked = np.zeros(n_rows, dtype=bool)
        leaves = 2 * wanted > n_rows  # then the others are marked
        while marked.sum() < (n_rows - wanted if leaves else wanted):
            marked[random.below(n_rows)] = True
        return np.flatnonzero(~marked if leaves else marked)


# ------------------------------------------------------------------------------------------------ sampled trees
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("more", [{}, {"subsample": 0.5}, {"subsample": 0.6, "colsample": 0.5}], ids=str)
def test_values_are_newton_steps_over_all_rows_of_the_tree(more, weighted):
    X, y = numbers(1200)
    weight = np.random.default_rng(0).random(1200) + 0.5 if weighted else np.ones(1200)
    model = SLMBoostRegressor(
        n_estimators=4, learning_rate=0.3, reg_lambda=1.7, smoothing=0.0, max_rows_per_tree=300, random_state=0, **more
    ).fit(X, y, sample_weight=weight)
    forest = model.forest_
    for tree in range(4):
        drawn = Draws(model, tree, 1200, range(6))
        assert len(drawn.few) == 300
        residual = weight * (y - raw_scores(model, X, tree)[:, 0])
        steps = np.array(paths(forest, tree, X[drawn.bag]))
        assert len(np.unique(steps[-1])) > 4
        for node in np.unique(steps):  # inner ones too: a row in a cell without any of the few gets their value
            rows = drawn.bag[(steps == node).any(axis=0)]
            step = 0.3 * residual[rows].sum() / (weight[rows].sum() + 1.7)
            assert forest.value[node, 0] == pytest.approx(step, rel=1e-5, abs=1e-6)
            assert forest.n_samples[node] == len(rows)
        assert forest.n_samples[forest.node_start[tree]] == len(drawn.bag)


def test_counts_are_of_all_rows_and_children_part_their_parents():
    X, y = numbers(2000)
    model = SLMBoostRegressor(
        n_estimators=5, max_rows_per_tree=256, max_planes=3, min_samples_leaf=1, random_state=0
    ).fit(X, y)
    forest, stayed = model.forest_, 0
    for tree in range(5):
        root, last = forest.node_start[tree : tree + 2]
        ended = np.bincount(ends(forest, tree, X) - root, minlength=last - root)
        for node in range(last - root - 1, -1, -1):
            children = set(forest.children[slice(*forest.child_start[root + node : root + node + 2])]) - {node}
            below = sum(forest.n_samples[root + child] for child in children)
            assert forest.n_samples[root + node] == ended[node] + below
            stayed += ended[node] if children else 0
        assert forest.n_samples[root] == 2000
    assert stayed > 0  # some rows fell into cells where none of the few were


@pytest.mark.parametrize(("loss", "level"), [("absolute_error", 0.5), ("quantile", 0.8)])
def test_leaves_of_robust_losses_are_quantiles_over_all_rows(loss, level):
    X, y = numbers(1000)
    model = SLMBoostRegressor(
        loss=loss, alpha=0.8, n_estimators=3, learning_rate=0.5, max_rows_per_tree=256, random_state=0
    ).fit(X, y)
    for tree in range(3):
        residual, steps = y - raw_scores(model, X, tree)[:, 0], np.array(paths(model.forest_, tree, X))
        for node in np.unique(ends(model.forest_, tree, X)):  # also inner nodes, with the rows of all cells
            rows = (steps == node).any(axis=0)
            best = np.quantile(residual[rows], level, method="averaged_inverted_cdf")
            assert model.forest_.value[node, 0] == pytest.approx(0.5 * best, rel=1e-5, abs=1e-5)


def test_planes_come_from_the_few_rows_alone():
    X, y = numbers(800)
    model = SLMBoostRegressor(n_estimators=1, max_rows_per_tree=256, random_state=0).fit(X, y)
    few = Draws(model, 0, 800, range(6)).few
    others = np.setdiff1d(np.arange(800), few)
    changed = y.copy()
    changed[others] = np.random.default_rng(0).permutation(y[others])  # same mean, another fit
    again = clone(model).fit(X, changed)
    assert_array_equal(again.forest_.threshold, model.forest_.threshold)
    assert_array_equal(again.forest_.term_weight, model.forest_.term_weight)
    assert not np.array_equal(again.forest_.value, model.forest_.value)
    changed = y.copy()
    changed[few] = changed[few][::-1]
    assert not np.array_equal(clone(model).fit(X, changed).forest_.threshold, model.forest_.threshold)


@BOTH
def test_no_fewer_rows_than_there_are_is_no_sample(make):
    X, y = data_for(make, 600)
    whole = make(n_estimators=4, max_rows_per_tree=None, random_state=0).fit(X, y)
    for enough in (600, 10**6):
        assert_same_model(whole, make(n_estimators=4, max_rows_per_tree=enough, random_state=0).fit(X, y))
    few = make(n_estimators=4, max_rows_per_tree=599, random_state=0).fit(X, y)
    assert few.forest_.value.tobytes() != whole.forest_.value.tobytes()


@BOTH
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_any_number_of_jobs_gives_the_same_bytes(make, subsample):
    X, y = data_for(make, 40_000)  # enough rows for every loop to be shared out
    common = {"n_estimators": 3, "max_rows_per_tree": 2000, "subsample": subsample, "random_state": 0}
    one = make(**common).fit(X, y)
    for n_jobs in (2, 5):
        assert_same_model(one, make(**common, n_jobs=n_jobs).fit(X, y))


@BOTH
@pytest.mark.parametrize("more", [{}, {"subsample": 0.7}], ids=str)
def test_scores_while_fitting_are_those_of_predictions(make, more):
    X, y = data_for(make, 1500)
    model = make(n_estimators=6, max_rows_per_tree=300, random_state=0, callbacks=[lambda *_: False], **more)
    model.fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])

    def loss(stage, y):
        if make is SLMBoostRegressor:
            return np.mean((stage - y) ** 2)
        return -np.log(stage[np.arange(len(y)), y]).mean()

    staged = model.staged_predict if make is SLMBoostRegressor else model.staged_predict_proba
    n = model.n_iter_
    assert_allclose(-model.train_score_[:n], [loss(stage, y[:1000]) for stage in staged(X[:1000])])
    assert_allclose(-model.validation_score_[:n], [loss(stage, y[1000:]) for stage in staged(X[1000:])])


def test_trees_of_few_rows_learn_nearly_as_much():
    X, y = numbers(6000)
    scores = [
        SLMBoostRegressor(n_estimators=80, max_rows_per_tree=most, random_state=0)
        .fit(X[:5000], y[:5000])
        .score(X[5000:], y[5000:])
        for most in (None, 1000)
    ]
    assert scores[1] > scores[0] - 0.02


@BOTH
@pytest.mark.parametrize("most", [0, 255, 300.0, "all", -1])
def test_a_wrong_number_of_rows_is_named(make, most):
    with pytest.raises(ValueError, match="The parameter 'max_rows_per_tree'"):
        make(max_rows_per_tree=most).fit(*data_for(make, 50))


# --------------------------------------------------------------------------------------- remembered directions
def directions(forest, output=0):
    """The oblique directions of an output's trees, newest tree first, as ((feature, coefficient), ...)."""
    found = []
    for tree in reversed(range(output, forest.n_trees, forest.n_outputs)):
        for plane in range(*forest.plane_start[forest.node_start[tree : tree + 2]]):
            terms = slice(*forest.term_start[plane : plane + 2])
            found.append(
                tuple(zip(forest.term_feature[terms].tolist(), forest.term_coefficient[terms].tolist(), strict=True))
            )
    return [each for each in found if len(each) > 1]


def test_later_trees_try_known_directions_again():
    X, y = numbers(800, n_features=20)
    X = np.column_stack([X, X[:, :1] + 3 * X[:, 1:2]])  # of 21 columns any three, with coefficients -5 .. 5
    three, again = 0, 0
    for seed in range(4):
        forest = SLMBoostRegressor(n_estimators=60, random_state=seed).fit(X, y).forest_
        late = directions(forest)[: len(directions(forest)) // 2]
        early = set(directions(forest)[len(late) :])
        late = [each for each in late if len(each) == 3]  # too many of these to meet by chance
        three, again = three + len(late), again + sum(each in early for each in late)
    assert three > 100
    assert again > 0.03 * three


@BOTH
@pytest.mark.parametrize("first", [1, 4, 25])
@pytest.mark.parametrize(
    "more", [{}, {"subsample": 0.7, "colsample": 0.6, "max_rows_per_tree": 256}], ids=["all", "sampled"]
)
def test_a_fit_taken_up_again_remembers(make, first, more):
    X, y = data_for(make, 500)
    common = {"random_state": 0, **more}
    at_once = make(n_estimators=40, **common).fit(X, y)
    assert len(directions(at_once.forest_.head(25 * at_once.forest_.n_outputs))) > 64  # more than are remembered
    warm = make(n_estimators=first, warm_start=True, **common).fit(X, y)
    assert_same_model(at_once, warm.set_params(n_estimators=40).fit(X, y))


def test_a_fit_that_forgot_would_be_another(monkeypatch):
    X, y = numbers(500)
    at_once = SLMBoostRegressor(n_estimators=40, random_state=0).fit(X, y)
    warm = SLMBoostRegressor(n_estimators=25, warm_start=True, random_state=0).fit(X, y)
    monkeypatch.setattr(Forest, "teach", lambda *_: None)
    warm.set_params(n_estimators=40).fit(X, y)
    assert warm.forest_.threshold.tobytes() != at_once.forest_.threshold.tobytes()


@BOTH
def test_remembered_directions_stay_within_the_columns_of_the_tree(make):
    X, y = data_for(make, 500)
    X = np.column_stack([X, np.ones(500), X[:, :4] ** 2])  # column 6 is constant: of no use
    model = make(n_estimators=60, colsample=0.5, random_state=0).fit(X, y)
    forest, usable, oblique = model.forest_, [j for j in range(11) if j != 6], 0
    for tree in range(forest.n_trees):
        planes = forest.plane_start[forest.node_start[tree : tree + 2]]
        features = forest.term_feature[slice(*forest.term_start[planes])]
        assert set(features) <= set(Draws(model, tree, 500, usable).columns)
        oblique += (np.diff(forest.term_start[planes[0] : planes[1] + 1]) > 1).sum()
    assert oblique > 2 * 64  # the memory was full most of the time


def test_remembered_directions_keep_to_the_limits_of_the_draw():
    X, y = numbers(500, n_features=10)
    model = SLMBoostRegressor(n_estimators=60, max_coef=3, subspace_size=2, random_state=0).fit(X, y)
    forest = model.forest_
    assert np.diff(forest.term_start).max() == 2
    assert np.abs(forest.term_coefficient).max() <= 3
    for each in directions(forest):
        features, coefficients = zip(*each, strict=True)
        assert list(features) == sorted(set(features))
        assert np.gcd.reduce(coefficients) == 1
        assert coefficients[0] > 0
