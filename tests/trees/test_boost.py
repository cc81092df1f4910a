from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_blobs, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.utils import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

from planewise import SLMBoostClassifier, SLMBoostRegressor, SLMClassifier, SLMRegressor

BOTH = pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])
REGRESSION_LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson"]


# --------------------------------------------------------------------------------- scikit-learn's own checks
def expected_failures(estimator):
    if estimator.min_samples_leaf == 1:
        return {}
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": (
            "min_samples_leaf, 10 by default, and the noise margin count rows and not weights; with 1 "
            "and 0 the check passes"
        )
        for kind in ("dense", "sparse")
    }


@parametrize_with_checks(
    [
        SLMBoostClassifier(n_estimators=10),
        SLMBoostRegressor(n_estimators=10),
        SLMBoostClassifier(n_estimators=10, min_samples_leaf=1, noise_margin=0),
        SLMBoostRegressor(n_estimators=10, min_samples_leaf=1, noise_margin=0),
        SLMBoostClassifier(n_estimators=10, early_stopping=True, validation_fraction=0.3),
        SLMBoostRegressor(n_estimators=10, early_stopping=True, max_depth=2, bins="uniform", target_statistics=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_many_rows_get_the_same_scores_as_one_at_a_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).astype(np.float32)
    X[:, 5] = rng.integers(12, size=300)
    y = np.digitize(X[:, 0] - X[:, 1] + X[:, 5] % 3, [0, 1.5])
    X[rng.random(X.shape) < 0.05] = np.nan
    model = SLMBoostClassifier(n_estimators=10, categorical_features=[5], random_state=0)
    model.fit(X, y)
    alone = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(len(X))])
    for n_rows in (7, 16, 63, 64, 65, 300):
        assert_array_equal(model.decision_function(X[:n_rows]), alone[:n_rows])


# --------------------------------------------------------------------------------- the loop, in plain NumPy
def leaves_of(forest, tree, X):
    """The node in which each row ends, counted over the whole forest."""
    X = np.asarray(X, dtype=np.float32)
    root = forest.node_start[tree]
    ends = np.empty(len(X), dtype=int)
    for row, x in enumerate(X):
        node = root
        while True:
            code = 0
            first, last = forest.plane_start[node : node + 2]
            for place, plane in enumerate(range(first, last)):
                value = np.float32(0)
                for term in range(*forest.term_start[plane : plane + 2]):
                    value += forest.term_weight[term] * x[forest.term_feature[term]]
                right = forest.missing_right[plane] if np.isnan(value) else value >= forest.threshold[plane]
                code |= int(right) << place
            following = root + forest.children[forest.child_start[node] + code]
            if following == node:
                break
            node = following
        ends[row] = node
    return ends


def raw_scores(model, X, n_trees):
    """What the first trees say, with the base score."""
    score = np.tile(model.base_score_, (len(X), 1))
    for tree in range(n_trees):
        score[:, tree % score.shape[1]] += model.forest_.value[leaves_of(model.forest_, tree, X), 0]
    return score


def newton_parts(loss, score, target, alpha):
    """Gradient and Hessian of each row and output."""
    if loss == "log_loss" and score.shape[1] > 1:
        p = softmax(score, axis=1)
        return p - np.eye(score.shape[1])[target], 2 * p * (1 - p)
    apart = score - target[:, None]
    one = np.ones_like(apart)
    if loss == "log_loss":
        p = expit(score)
        return p - target[:, None], p * (1 - p)
    if loss == "poisson":
        return np.exp(score) - target[:, None], np.exp(score)
    if loss == "huber":
        bound = np.quantile(np.abs(apart), alpha, method="averaged_inverted_cdf")
        return np.clip(apart, -bound, bound), one
    return apart, one


@pytest.mark.parametrize("loss", ["squared_error", "huber", "poisson", "two classes", "three classes"])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_tree_moves_scores_by_the_newton_step_of_the_leaf(loss, weighted):
    common = {"n_estimators": 2, "learning_rate": 0.3, "reg_lambda": 1.7, "smoothing": 0.0, "random_state": 0}
    if loss.endswith("classes"):
        X, y = load_iris(return_X_y=True)
        X, y = (X[50:], y[50:] - 1) if loss == "two classes" else (X, y)
        model, loss = SLMBoostClassifier(**common), "log_loss"
    else:
        X, y = load_diabetes(return_X_y=True)
        X, y = X[:150], np.round(y[:150] / 10)
        model = SLMBoostRegressor(loss=loss, alpha=0.8, **common)
    weight = np.random.default_rng(0).random(len(y)) + 0.5 if weighted and loss != "huber" else np.ones(len(y))
    model.fit(X, y, sample_weight=weight)
    outputs = len(model.base_score_)
    assert model.forest_.n_trees == 2 * outputs
    assert model.forest_.n_planes > 0
    for tree in range(2 * outputs):
        # All trees of a round see the scores the round began with.
        score = raw_scores(model, X, tree // outputs * outputs)
        gradient, hessian = (part * weight[:, None] for part in newton_parts(loss, score, y, 0.8))
        leaf, k = leaves_of(model.forest_, tree, X), tree % outputs
        at_first = newton_parts(loss, raw_scores(model, X, 0), y, 0.8)[1] * weight[:, None]
        share = np.clip(hessian[:, k].sum() / at_first[:, k].sum(), 0.02, 1)  # regularisation goes with the Hessian
        for node in np.unique(leaf):
            rows = leaf == node
            step = -gradient[rows, k].sum() / (hessian[rows, k].sum() + 1.7 * share)
            step = 0.3 * (np.clip(step, -0.7, 0.7) if loss == "poisson" else step)  # no tree more than doubles a rate
            assert model.forest_.value[node, 0] == pytest.approx(step, rel=1e-5, abs=1e-6)
    raw = model.decision_function(X) if loss == "log_loss" else model.predict(X)
    expected = raw_scores(model, X, 2 * outputs)
    expected = expected[:, 0] if outputs == 1 else expected
    assert_allclose(raw, np.exp(expected) if loss == "poisson" else expected, rtol=1e-12)


def test_smoothing_draws_each_value_to_that_of_the_node_above():
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(n_estimators=1, learning_rate=0.5, reg_lambda=1.7, smoothing=2.5, random_state=0).fit(
        X, y
    )
    forest, rest = model.forest_, y - y.mean()
    under = {node: np.flatnonzero(leaves_of(forest, 0, X) == node) for node in range(forest.n_nodes)}
    parent = {}
    for node in reversed(range(forest.n_nodes)):
        for child in set(forest.children[forest.child_start[node] : forest.child_start[node + 1]]) - {node}:
            parent[child] = node
            under[node] = np.concatenate([under[node], under[child]])
    assert len(parent) == forest.n_nodes - 1 > 10
    for node in range(forest.n_nodes):
        rows, above = under[node], forest.value[parent[node], 0] / 0.5 if node > 0 else 0.0
        prior = 2.5 if node > 0 else 0.0
        step = (rest[rows].sum() + prior * above) / (len(rows) + 1.7 + prior)
        assert forest.value[node, 0] == pytest.approx(0.5 * step, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("loss", "level"), [("absolute_error", 0.5), ("quantile", 0.8)])
@pytest.mark.parametrize("weighted", [False, True])
def test_leaves_of_absolute_and_quantile_losses_are_quantiles_of_the_residuals(loss, level, weighted):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:200], y[:200]
    weight = np.random.default_rng(0).integers(1, 4, 200) if weighted else np.ones(200, dtype=int)
    model = SLMBoostRegressor(loss=loss, alpha=0.8, n_estimators=2, learning_rate=0.5, random_state=0)
    model.fit(X, y, sample_weight=weight)
    for tree in range(2):
        residual = (y - raw_scores(model, X, tree)[:, 0]).repeat(weight)
        leaf = leaves_of(model.forest_, tree, X).repeat(weight)
        assert len(np.unique(leaf)) > 1
        for node in np.unique(leaf):
            best = np.quantile(residual[leaf == node], level, method="averaged_inverted_cdf")
            assert model.forest_.value[node, 0] == pytest.approx(0.5 * best, rel=1e-5, abs=1e-5)


def test_base_scores_are_the_best_constants():
    X, y = load_diabetes(return_X_y=True)

    def base(y, weight=None, **parameters):
        return SLMBoostRegressor(n_estimators=1, **parameters).fit(X, y, sample_weight=weight).base_score_

    weight = np.arange(len(y)) % 4
    assert_allclose(base(y), y.mean())
    assert_allclose(base(y, weight), np.average(y, weights=weight))
    assert_allclose(base(y, loss="poisson"), np.log(y.mean()))
    for loss in ("absolute_error", "huber"):
        assert_allclose(base(y, loss=loss), np.median(y))
    assert_allclose(base(y, loss="quantile", alpha=0.3), np.quantile(y, 0.3, method="averaged_inverted_cdf"))
    assert_array_equal(base(y, base_score=-7), [-7])
    X, y = load_wine(return_X_y=True)
    assert_allclose(SLMBoostClassifier(n_estimators=1).fit(X, y).base_score_, np.log(np.bincount(y) / len(y)))
    two = SLMBoostClassifier(n_estimators=1).fit(X, y > 0).base_score_
    assert_allclose(two, np.log((y > 0).mean() / (y == 0).mean()))


def test_kept_training_losses_are_those_of_the_predictions():
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(n_estimators=10, random_state=0, callbacks=[lambda *_: False]).fit(X, y)
    errors = [np.mean((prediction - y) ** 2) for prediction in model.staged_predict(X)]
    assert_allclose(-model.train_score_, errors)
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=10, random_state=0, callbacks=[lambda *_: False]).fit(X, y)
    losses = [-np.log(p[np.arange(150), y]).mean() for p in model.staged_predict_proba(X)]
    assert_allclose(-model.train_score_, losses)


# -------------------------------------------------------------------------------------------- what it learns
@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_the_training_loss_of_regression_falls_with_the_rounds(loss):
    X, y = make_friedman1(300, random_state=0)
    seen = []
    SLMBoostRegressor(
        loss=loss, n_estimators=30, random_state=0, callbacks=[lambda _, now: seen.append(now["train"])]
    ).fit(X, y)
    assert len(seen) == 30
    assert seen[-1] < 0.75 * seen[0]
    assert (np.diff(seen) <= 1e-3 * seen[0]).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_training_loss_of_classification_falls_with_the_rounds(n_classes):
    X, y = load_wine(return_X_y=True)
    seen = []
    SLMBoostClassifier(n_estimators=30, random_state=0, callbacks=[lambda _, now: seen.append(now["train"])]).fit(
        X, np.minimum(y, n_classes - 1)
    )
    assert (np.diff(seen) < 0).all()
    assert seen[-1] < 0.3 * seen[0]


def test_boosting_beats_a_single_tree():
    X, y = make_friedman1(1000, noise=1, random_state=0)
    one = SLMRegressor(random_state=0).fit(X[:500], y[:500]).score(X[500:], y[500:])
    many = SLMBoostRegressor(random_state=0).fit(X[:500], y[:500]).score(X[500:], y[500:])
    assert many > one + 0.03
    X, y = load_breast_cancer(return_X_y=True)
    one = log_loss(y[1::2], SLMClassifier(random_state=0).fit(X[::2], y[::2]).predict_proba(X[1::2]))
    many = log_loss(y[1::2], SLMBoostClassifier(random_state=0).fit(X[::2], y[::2]).predict_proba(X[1::2]))
    assert many < one


def test_poisson_predictions_are_positive_and_follow_the_rate():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 3))
    y = rng.poisson(np.exp(2 * X[:, 0]))
    predicted = SLMBoostRegressor(loss="poisson", n_estimators=40, random_state=0).fit(X, y).predict(X)
    assert (predicted > 0).all()
    assert np.corrcoef(predicted, np.exp(2 * X[:, 0]))[0, 1] > 0.95
    assert predicted.mean() == pytest.approx(y.mean(), rel=0.05)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_quantile_predictions_lie_above_the_asked_share_of_new_rows(alpha):
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2))
    y = X[:, 0] + (0.2 + X[:, 1]) * rng.normal(size=3000)
    model = SLMBoostRegressor(loss="quantile", alpha=alpha, n_estimators=60, random_state=0).fit(X[:2000], y[:2000])
    assert (y[2000:] <= model.predict(X[2000:])).mean() == pytest.approx(alpha, abs=0.05)


def test_outliers_hurt_robust_losses_less():
    X, y = make_friedman1(600, random_state=0)
    spoilt = y.copy()
    spoilt[::20] += 1000
    errors = {}
    for loss in ("squared_error", "absolute_error", "huber"):
        model = SLMBoostRegressor(loss=loss, alpha=0.8, random_state=0).fit(X, spoilt)
        errors[loss] = np.abs(model.predict(X) - y).mean()
    assert errors["absolute_error"] < errors["squared_error"] / 3
    assert errors["huber"] < errors["squared_error"] / 3


def test_two_classes_grow_one_tree_a_round_and_more_classes_one_each():
    X, y = load_iris(return_X_y=True)
    two = SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y > 0)
    three = SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert (two.forest_.n_trees, three.forest_.n_trees) == (5, 15)
    assert two.decision_function(X).shape == (150,)
    assert three.decision_function(X).shape == (150, 3)
    assert two.n_iter_ == three.n_iter_ == 5


def test_softmax_of_three_classes_agrees_with_one_class_against_the_rest():
    X, y = load_wine(return_X_y=True)
    three = SLMBoostClassifier(n_estimators=50, random_state=0).fit(X, y)
    first = SLMBoostClassifier(n_estimators=50, random_state=0).fit(X, y == 0)
    assert np.abs(three.predict_proba(X)[:, 0] - first.predict_proba(X)[:, 1]).mean() < 0.05


def test_many_classes_with_names():
    X, y = make_blobs(1040, n_features=5, centers=26, cluster_std=0.5, random_state=0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    model = SLMBoostClassifier(n_estimators=10, learning_rate=0.3, random_state=0).fit(X[::2], letters[y[::2]])
    assert_array_equal(model.classes_, letters)
    assert model.predict_proba(X).shape == (1040, 26)
    assert model.score(X[1::2], letters[y[1::2]]) > 0.9


@pytest.mark.parametrize("names", [["no", "yes", "zzz"], [-7, -3, 12], [2.0, 4.0, 8.0]])
def test_names_of_classes_change_nothing(names):
    X, y = load_iris(return_X_y=True)
    plain = SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    named = SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, np.array(names)[y])
    assert_array_equal(named.classes_, names)
    assert_array_equal(named.predict(X), np.array(names)[plain.predict(X)])
    assert_array_equal(named.predict_proba(X), plain.predict_proba(X))


def test_one_class_gives_a_constant_model():
    X, _ = load_iris(return_X_y=True)
    model = SLMBoostClassifier().fit(X, np.full(150, "only"))
    assert_array_equal(model.predict(X[:2]), ["only", "only"])
    assert_array_equal(model.predict_proba(X[:2]), [[1.0], [1.0]])
    assert model.n_iter_ == model.forest_.n_trees == 0
    assert_array_equal(model.feature_importances_, np.zeros(4))
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X[:1]), ["only"])
    weighed_down = SLMBoostClassifier().fit(X, np.arange(150) % 2, sample_weight=np.arange(150) % 2)
    assert_array_equal(weighed_down.classes_, [1])


def test_a_constant_target_is_predicted_as_it_is():
    X, _ = load_iris(return_X_y=True)
    for loss in REGRESSION_LOSSES:
        assert_allclose(SLMBoostRegressor(loss=loss, n_estimators=3).fit(X, np.full(150, 7.0)).predict(X), 7)


@BOTH
def test_missing_values_learn_their_side(make):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3))
    X[y == 1, 1] = np.nan  # that a value is missing is all there is to know
    model = make(n_estimators=40, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.95
    assert model.feature_importances_[1] > 0.9
    expected = raw_scores(model, X[:50], 40)[:, 0]
    assert_allclose(model._raw(X[:50])[:, 0], expected, rtol=1e-12)


# --------------------------------------------------------------------------------------------------- weights
@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 5, 2: 0.5}, {0: 3}, {1: 0}])
def test_class_weights_are_sample_weights(class_weight):
    X, y = load_wine(return_X_y=True)
    by_class = SLMBoostClassifier(n_estimators=5, class_weight=class_weight, random_state=0).fit(X, y)
    by_row = SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y, compute_sample_weight(class_weight, y))
    assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))


@pytest.mark.parametrize("loss", [*REGRESSION_LOSSES, "log_loss"])
def test_whole_weights_are_repeated_rows(loss):
    make = SLMBoostClassifier if loss == "log_loss" else SLMBoostRegressor
    model = make(loss=loss, n_estimators=5, min_samples_leaf=1, noise_margin=0, random_state=0)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y, weight = rng.normal(size=(80, 4)), rng.integers(0, 3, 80), rng.integers(0, 4, 80)
        weighted = clone(model).fit(X, y, sample_weight=weight)
        repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
        assert_allclose(weighted._raw(X), repeated._raw(X), rtol=1e-5, atol=1e-5)


@BOTH
def test_a_row_of_no_weight_is_left_out(make):
    X, y = load_iris(return_X_y=True)
    counts = np.arange(150) % 3 > 0
    X_out = np.where(counts[:, None], X, 1e9 * X)  # would change every scale
    left_out = make(n_estimators=5, random_state=0).fit(X_out, y, sample_weight=counts.astype(float))
    without = make(n_estimators=5, random_state=0).fit(X[counts], y[counts])
    assert_same_model(left_out, without)


# ----------------------------------------------------------------------------------------------- predictions
@pytest.mark.parametrize("n_classes", [2, 3])
def test_staged_predictions_end_in_the_predictions(n_classes):
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=8, random_state=0).fit(X, np.minimum(y, n_classes - 1))
    stages, probabilities = list(model.staged_predict(X)), list(model.staged_predict_proba(X))
    assert len(stages) == len(probabilities) == 8
    assert_array_equal(stages[-1], model.predict(X))
    assert_array_equal(probabilities[-1], model.predict_proba(X))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    fewer = SLMBoostClassifier(n_estimators=3, random_state=0).fit(X, np.minimum(y, n_classes - 1))
    assert_array_equal(probabilities[2], fewer.predict_proba(X))


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_staged_predictions_of_numbers_end_in_the_predictions(loss):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(loss=loss, n_estimators=5, random_state=0).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 5
    assert_array_equal(stages[-1], model.predict(X))


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "staged_predict", "staged_predict_proba"]
)
def test_predictions_before_a_fit_are_refused(method):
    with pytest.raises(NotFittedError):
        list(getattr(SLMBoostClassifier(), method)(np.zeros((2, 2))))


# ---------------------------------------------------------------------------------------------- same and other
def assert_same_model(one, other):
    for name in one.forest_.arrays():
        assert getattr(one.forest_, name).tobytes() == getattr(other.forest_, name).tobytes(), name
    assert_array_equal(one.base_score_, other.base_score_)
    assert one.n_iter_ == other.n_iter_


SAMPLED = {"n_estimators": 8, "subsample": 0.6, "colsample": 0.5, "random_state": 3}


@BOTH
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_any_number_of_jobs_gives_the_same_bytes(make, n_jobs):
    X, y = load_wine(return_X_y=True)
    one, many = make(**SAMPLED).fit(X, y), make(**SAMPLED, n_jobs=n_jobs).fit(X, y)
    assert_same_model(one, many)
    wide = np.tile(X, (60, 1))  # enough rows for the threads to start
    assert one._raw(wide).tobytes() == many._raw(wide).tobytes()


@BOTH
@pytest.mark.parametrize("parameters", [{}, {"subsample": 0.5}, {"colsample": 0.4}], ids=str)
def test_the_seed_decides_the_model(make, parameters):
    X, y = load_wine(return_X_y=True)
    models = [make(n_estimators=4, random_state=seed, **parameters).fit(X, y) for seed in (0, 0, 1)]
    assert_same_model(models[0], models[1])
    assert models[0]._raw(X).tobytes() != models[2]._raw(X).tobytes()


def test_each_tree_sees_its_share_of_rows_and_columns():
    X, y = make_friedman1(400, n_features=10, random_state=0)
    model = SLMBoostRegressor(n_estimators=10, subsample=0.25, colsample=0.3, random_state=0).fit(X, y)
    forest, used = model.forest_, set()
    assert_array_equal(forest.n_samples[forest.node_start[:-1]], 100)
    for tree in range(10):
        planes = slice(*forest.plane_start[forest.node_start[tree : tree + 2]])
        features = set(forest.term_feature[forest.term_start[planes.start] : forest.term_start[planes.stop]])
        assert len(features) <= 3
        used |= features
    assert len(used) > 3
    assert_allclose(model.predict(X[:40]), raw_scores(model, X[:40], 10)[:, 0])


def test_watching_changes_no_tree():
    X, y = load_iris(return_X_y=True)
    alone = SLMBoostClassifier(n_estimators=6, random_state=0).fit(X, y)
    watched = SLMBoostClassifier(n_estimators=6, random_state=0, callbacks=[lambda *_: None]).fit(X, y)
    assert_same_model(alone, watched)


# -------------------------------------------------------------------------------------------- early stopping
def noisy(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, ((X[:, 0] + 2 * rng.normal(size=n)) > 0).astype(int)


@BOTH
@pytest.mark.parametrize("given", [False, True], ids=["fraction", "given"])
def test_early_stopping_returns_the_best_round(make, given):
    X, y = noisy()
    model = make(
        n_estimators=300, learning_rate=0.3, noise_margin=0, early_stopping=True, n_iter_no_change=5, random_state=0
    )
    if given:
        model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    else:
        model.set_params(validation_fraction=0.3).fit(X, y)
    losses = -model.validation_score_
    assert model.n_iter_ == model.best_iteration_ == np.argmin(losses) + 1
    assert model.n_iter_ == model.forest_.n_trees
    assert len(losses) == len(model.train_score_) == model.n_iter_ + 5 < 300
    if given:
        raw = model._raw(X[200:])[:, 0]
        squares, logs = (raw - y[200:]) ** 2, np.logaddexp(0, raw) - y[200:] * raw
        assert min(losses) == pytest.approx((squares if make is SLMBoostRegressor else logs).mean())
        fewer = make(n_estimators=model.n_iter_, learning_rate=0.3, noise_margin=0, random_state=0)
        assert_same_model(model, fewer.fit(X[:200], y[:200]))


@BOTH
def test_given_rows_are_only_watched_unless_stopping_early(make):
    X, y = noisy()
    model = make(n_estimators=40, learning_rate=0.3, noise_margin=0, random_state=0)
    unwatched = clone(model).fit(X[:200], y[:200])
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    losses = -model.validation_score_
    assert len(losses) == len(model.train_score_) == model.n_iter_ == 40
    assert model.best_iteration_ == np.argmin(losses) + 1 < 40
    assert_same_model(model, unwatched)


def test_a_large_tolerance_stops_at_once():
    X, y = noisy()
    model = SLMBoostClassifier(n_estimators=50, early_stopping=True, n_iter_no_change=2, tol=10, random_state=0)
    assert len(model.fit(X, y).validation_score_) == 3


def test_watched_rows_must_come_with_known_targets():
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=2)
    with pytest.raises(ValueError, match=r"y_val has the class .*, which no training row has"):
        model.fit(X[:100], y[:100], X_val=X, y_val=y)
    for half in ({"X_val": X}, {"y_val": y}):
        with pytest.raises(ValueError, match="X_val and y_val go together"):
            model.fit(X, y, **half)
    with pytest.raises(ValueError, match="features"):
        model.fit(X, y, X_val=X[:, :2], y_val=y)


def test_watched_rows_may_lack_a_class():
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=3, random_state=0).fit(X, y, X_val=X[100:], y_val=y[100:])
    p = model.predict_proba(X[100:])[:, 2]
    assert min(-model.validation_score_) == pytest.approx(-np.log(p).mean())


def test_a_class_that_is_all_set_aside_leaves_finite_scores():
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.repeat([0, 1, 2], [99, 99, 2])
    model = SLMBoostClassifier(n_estimators=3, early_stopping=True, validation_fraction=0.9, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


# ------------------------------------------------------------------------------------------------- callbacks
def test_callbacks_hear_of_every_round_in_order_with_its_losses():
    X, y = load_iris(return_X_y=True)
    heard = []
    model = SLMBoostClassifier(
        n_estimators=5,
        random_state=0,
        callbacks=[lambda number, now: heard.append(("a", number, now)), lambda *now: heard.append(("b", *now))],
    ).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert [call[:2] for call in heard] == [(name, number) for number in range(1, 6) for name in "ab"]
    for _, number, now in heard:
        assert now == {"train": -model.train_score_[number - 1], "validation": -model.validation_score_[number - 1]}


def test_a_callback_can_stop_and_the_others_still_hear_of_the_round():
    X, y = load_iris(return_X_y=True)
    heard = []
    stopping = [lambda number, _: number == 3, lambda number, _: heard.append(number)]
    model = SLMBoostClassifier(n_estimators=50, random_state=0, callbacks=stopping).fit(X, y)
    assert model.n_iter_ == 3
    assert heard == [1, 2, 3]
    assert_same_model(model, SLMBoostClassifier(n_estimators=3, random_state=0).fit(X, y))


@BOTH
def test_a_callback_that_raises_leaves_the_estimator_as_it_was(make):
    X, y = load_iris(return_X_y=True)

    def fail(number, now):
        raise RuntimeError("enough")

    fresh = make(n_estimators=3, callbacks=[fail])
    with pytest.raises(RuntimeError, match="enough"):
        fresh.fit(X, y)
    assert set(vars(fresh)) == set(fresh.get_params())
    fitted = make(n_estimators=3, random_state=0).fit(X, y)
    before, state = fitted.predict(X), dict(vars(fitted))
    fitted.set_params(callbacks=[fail])
    with pytest.raises(RuntimeError, match="enough"):
        fitted.fit(X[:, :2], y)
    assert vars(fitted) == state | {"callbacks": [fail]}
    assert_array_equal(fitted.predict(X), before)


# ------------------------------------------------------------------------------------------------ warm starts
@pytest.mark.parametrize("loss", [*REGRESSION_LOSSES, "log_loss"])
@pytest.mark.parametrize("sampling", [{}, {"subsample": 0.7, "colsample": 0.6}], ids=["all", "sampled"])
def test_ten_rounds_and_ten_more_are_twenty(loss, sampling):
    X, y = load_wine(return_X_y=True)
    X[::7, 3] = np.nan
    make = SLMBoostClassifier if loss == "log_loss" else SLMBoostRegressor
    at_once = make(loss=loss, n_estimators=20, random_state=0, **sampling).fit(X, y)
    model = make(loss=loss, n_estimators=10, random_state=0, warm_start=True, **sampling).fit(X, y)
    assert_same_model(at_once, model.set_params(n_estimators=20).fit(X, y))
    assert at_once.predict(X).tobytes() == model.predict(X).tobytes()


def test_a_warm_start_keeps_its_seed_and_cannot_go_back():
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=4, warm_start=True).fit(X, y)
    head = model.forest_
    model.set_params(n_estimators=6).fit(X, y)
    assert_array_equal(model.forest_.threshold[: head.n_planes], head.threshold)
    before = model.predict_proba(X)
    assert_array_equal(model.fit(X, y).predict_proba(X), before)  # nothing left to do
    with pytest.raises(ValueError, match="n_estimators=5 must be at least the 6 existing rounds"):
        model.set_params(n_estimators=5).fit(X, y)
    assert model.n_iter_ == 6


@pytest.mark.parametrize("stopping", [False, True], ids=["watched", "early_stopping"])
@pytest.mark.parametrize("loss", [*REGRESSION_LOSSES, "log_loss"])
def test_a_warm_start_counts_every_round_from_the_first_fit_on(loss, stopping):
    X, y = load_wine(return_X_y=True)
    make = SLMBoostClassifier if loss == "log_loss" else SLMBoostRegressor
    data, watched = (X[::2], y[::2]), {"X_val": X[1::2], "y_val": y[1::2]}
    parameters = {"loss": loss, "random_state": 0, "early_stopping": stopping, "n_iter_no_change": 3}
    if loss == "quantile":
        parameters["alpha"] = 0.5  # at 0.9 a constant is the best answer, and stopping would end the earlier fit
    at_once = make(n_estimators=12, **parameters).fit(*data, **watched)
    heard = []
    model = make(n_estimators=6, warm_start=True, **parameters | {"early_stopping": False})
    model.fit(*data)  # not monitored
    model.set_params(n_estimators=12, early_stopping=stopping, callbacks=[lambda number, _: heard.append(number)])
    model.fit(*data, **watched)
    assert len(heard) > 2
    assert heard == list(range(7, 7 + len(heard)))
    assert len(model.train_score_) == len(model.validation_score_) == 6 + len(heard)
    assert_array_equal(model.train_score_, at_once.train_score_)
    assert_array_equal(model.validation_score_, at_once.validation_score_)
    assert model.best_iteration_ == at_once.best_iteration_ == np.argmax(model.validation_score_) + 1
    assert_same_model(model, at_once)


def test_a_warm_start_is_judged_by_the_rows_watched_now():
    X, y = noisy()
    model = SLMBoostRegressor(n_estimators=5, warm_start=True, random_state=0)
    model.fit(X[:200], y[:200], X_val=X[200:300], y_val=y[200:300])
    model.set_params(n_estimators=8).fit(X[:200], y[:200], X_val=X[300:], y_val=y[300:])
    squares = [np.mean((prediction - y[300:]) ** 2) for prediction in model.staged_predict(X[300:])]
    assert_allclose(-model.validation_score_, squares)


def test_a_warm_start_that_brings_nothing_better_keeps_the_best_round():
    X, y = noisy()
    stopped = {"early_stopping": True, "n_iter_no_change": 5, "noise_margin": 0}
    model = SLMBoostClassifier(n_estimators=300, learning_rate=0.3, warm_start=True, random_state=0, **stopped)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    best, losses, before = model.best_iteration_, model.validation_score_, model.predict_proba(X)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.n_iter_ == model.best_iteration_ == best < 300
    assert_array_equal(model.validation_score_, losses)
    assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0), 0], ids=["none", "generator", "number"])
def test_a_warm_start_sets_the_same_rows_aside(random_state):
    X, y = load_iris(return_X_y=True)
    watched = []

    class Looked(SLMBoostClassifier):
        def _boost(self, *given):
            watched.append(given[3].rows)
            super()._boost(*given)

    model = Looked(n_estimators=2, early_stopping=True, warm_start=True, random_state=random_state).fit(X, y)
    model.set_params(n_estimators=4).fit(X, y)
    assert_array_equal(*watched)


def test_a_warm_start_on_other_features_classes_or_losses_is_refused():
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=2, warm_start=True).fit(X, y)
    model.set_params(n_estimators=4)
    with pytest.raises(ValueError, match=r"2 features.*warm_start=True.*4 features"):
        model.fit(X[:, :2], y)
    for other in (y > 0, y + 1, np.zeros(150)):
        with pytest.raises(ValueError, match="different classes than the earlier fit"):
            model.fit(X, other)
    model = SLMBoostRegressor(n_estimators=2, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="warm_start=True needs the same loss and kind of target as the earlier fit"):
        model.set_params(n_estimators=4, loss="poisson").fit(X, y)
    assert model.n_iter_ == 2
    for loss in ("quantile", "huber"):
        model = SLMBoostRegressor(loss=loss, alpha=0.1, n_estimators=2, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="warm_start=True needs the same loss"):
            model.set_params(n_estimators=4, alpha=0.9).fit(X, y)


def own(target, score):
    return score - target, score * 0 + 1


# ----------------------------------------------------------------------------------------- losses of one's own
def test_a_squared_error_of_ones_own_is_the_built_in_one():
    X, y = load_diabetes(return_X_y=True)
    weight = np.arange(len(y)) % 3 + 1.0
    common = {"n_estimators": 10, "random_state": 0, "base_score": 100}
    built_in = SLMBoostRegressor(**common).fit(X, y, sample_weight=weight)
    mine = SLMBoostRegressor(loss=own, **common).fit(X, y, sample_weight=weight)
    assert_same_model(built_in, mine)
    assert_array_equal(SLMBoostRegressor(loss=own, n_estimators=1).fit(X, y).base_score_, [0])


def test_a_log_loss_of_ones_own_is_the_built_in_one():
    X, y = load_wine(return_X_y=True)

    def own_log_loss(label, score):
        p = softmax(score, axis=1)
        return p - np.eye(3)[label.astype(int)], 2 * p * (1 - p)

    common = {"n_estimators": 5, "random_state": 0, "base_score": 0}
    built_in, mine = (SLMBoostClassifier(loss=loss, **common).fit(X, y) for loss in ("log_loss", own_log_loss))
    assert_allclose(mine.predict_proba(X), built_in.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (lambda y, score: (score[:-1], score[:-1]), "gradient of the custom loss has shape"),
        (lambda y, score: score, "two arrays"),
        (lambda y, score: (score * np.nan, score), "gradient of the custom loss has values that are not finite"),
        (lambda y, score: (score, score - 1), "Hessian of the custom loss has negative values"),
    ],
)
def test_a_wrong_loss_of_ones_own_is_refused(loss, words):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(loss=loss)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "forest_")


def test_a_loss_of_ones_own_has_nothing_to_watch():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="need a built-in loss"):
        SLMBoostRegressor(loss=own, early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match="need a built-in loss"):
        SLMBoostRegressor(loss=own).fit(X, y, X_val=X, y_val=y)


# --------------------------------------------------------------------------------------------- bad parameters
@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss", "hinge"),
        ("n_estimators", 0),
        ("n_estimators", 2.0),
        ("learning_rate", 0),
        ("learning_rate", np.nan),
        ("reg_lambda", -1),
        ("min_split_gain", -0.1),
        ("min_child_weight", -1),
        ("noise_margin", "none"),
        ("subsample", 0),
        ("subsample", 1.1),
        ("colsample", 0.0),
        ("base_score", "mean"),
        ("base_score", np.inf),
        ("early_stopping", 1),
        ("validation_fraction", 0.95),
        ("n_iter_no_change", 0),
        ("tol", -1),
        ("callbacks", print),
        ("callbacks", ["print"]),
        ("warm_start", None),
        ("verbose", -1),
        ("max_depth", 0),
        ("min_samples_leaf", 0),
        ("n_jobs", 0),
        ("random_state", -1),
    ],
)
def test_a_wrong_parameter_is_named(make, name, value):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=f"The parameter '{name}'"):
        make(**{name: value}).fit(X, y)


def test_wrong_parameters_of_one_kind_are_named():
    X, y = load_iris(return_X_y=True)
    for class_weight in ("even", {0: -1}, 3):
        with pytest.raises(ValueError, match="The parameter 'class_weight'"):
            SLMBoostClassifier(class_weight=class_weight).fit(X, y)
    for alpha in (0, 1, "half", np.nan):
        with pytest.raises(ValueError, match="The parameter 'alpha'"):
            SLMBoostRegressor(loss="quantile", alpha=alpha).fit(X, y)


# --------------------------------------------------------------------------------------- importances and files
@pytest.mark.parametrize("kind", ["gain", "split", "cover"])
def test_importances_sum_to_one_and_irrelevant_features_have_little(kind):
    X, y = make_friedman1(800, n_features=10, random_state=0)  # the last five do nothing
    model = SLMBoostRegressor(n_estimators=30, random_state=0).fit(X, y)
    shares = model.get_feature_importances(kind)
    assert shares.shape == (10,)
    assert shares.sum() == pytest.approx(1)
    assert shares[5:].sum() < (0.1 if kind == "gain" else 0.3)
    assert shares[:5].min() > shares[5:].max()
    assert_array_equal(model.get_feature_importances(), model.feature_importances_)


@BOTH
def test_a_pickle_gives_the_same_bytes_and_is_small(make):
    X, y = load_wine(return_X_y=True)
    model = make(n_estimators=50, random_state=0).fit(X, y)
    content = pickle.dumps(model)
    copy = pickle.loads(content)
    assert copy.predict(X).tobytes() == model.predict(X).tobytes()
    for name in model.forest_.arrays():
        array, same = getattr(model.forest_, name), getattr(copy.forest_, name)
        assert same.dtype == array.dtype
        assert_allclose(same, array, rtol=1e-7) if name == "plane_gain" else assert_array_equal(same, array)
    in_memory = sum(getattr(model.forest_, name).nbytes for name in model.forest_.arrays())
    assert len(content) < 0.6 * in_memory + 6000


@pytest.mark.parametrize("factor", [1e-25, 1e25])
def test_a_pickle_keeps_importances_of_tiny_and_huge_targets(factor):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(n_estimators=5, random_state=0).fit(X, y * factor)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert_allclose(pickle.loads(pickle.dumps(model)).feature_importances_, model.feature_importances_, rtol=1e-6)


def test_verbose_writes_progress_to_stderr_only(capfd):
    X, y = load_iris(return_X_y=True)
    SLMBoostClassifier(n_estimators=3).fit(X, y)
    assert capfd.readouterr() == ("", "")
    model = SLMBoostClassifier(n_estimators=3, verbose=1, random_state=0).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "boosting [" in err
    assert f"3/3  train {-model.train_score_[-1]:.5g}" in err
    assert err.endswith("\n")
    model.set_params(n_estimators=5, warm_start=True).fit(X, y)
    assert f"5/5  train {-model.train_score_[4]:.5g}" in capfd.readouterr().err
