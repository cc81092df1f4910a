from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.base import clone

from planewise import SLMBoostRegressor, _core
from planewise.trees.losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    RawLoss,
    classification_loss,
    regression_loss,
)

ALPHA = 0.8


def value_of(core, score, target):
    """Each row's loss at these raw scores."""
    if core == "softmax":
        return logsumexp(score, axis=1) - score[np.arange(len(score)), target.astype(int)]
    score = score[:, 0]
    return {
        "squared": lambda: (score - target) ** 2 / 2,
        "absolute": lambda: np.abs(score - target),
        "quantile": lambda: np.maximum(ALPHA * (target - score), (ALPHA - 1) * (target - score)),
        "poisson": lambda: np.exp(score) - target * score,
        "logistic": lambda: np.logaddexp(0, score) - target * score,
    }[core]()


def options_of(core):
    options = _core.BoostOptions()
    options.loss, options.alpha, options.learning_rate, options.reg_lambda = core, ALPHA, 1.0, 0.0
    return options


def core_loss(core, score, target, weight):
    """The core's own mean loss at these scores."""
    columns = np.zeros((len(target), 1), dtype=np.float32)
    table = _core.Table(columns, weight, 1)
    return _core.Boosting(table, target, weight, score, 0, options_of(core), 1).loss()


def one_step(core, score, target):
    """The core's Newton step -g/h of every row on its own: each row is a leaf."""
    score, target = np.atleast_2d(score), np.atleast_1d(target)
    columns = np.zeros((1, 1), dtype=np.float32)
    steps = []
    for f, y in zip(score, target, strict=True):
        table = _core.Table(columns, np.ones(1), 1)
        boosting = _core.Boosting(table, np.array([y]), np.ones(1), f[None], 0, options_of(core), 1)
        boosting.rounds(1)
        steps.append(boosting.score()[0] - f)
    return np.array(steps)


def some_rows(core, rng):
    k = 4 if core == "softmax" else 1
    score = rng.normal(size=(12, k))
    if core == "softmax":
        return score, rng.integers(0, k, 12).astype(float)
    if core == "logistic":
        return score, rng.integers(0, 2, 12).astype(float)
    return score, rng.poisson(2, 12).astype(float) if core == "poisson" else rng.normal(size=12)


@pytest.mark.parametrize("core", ["squared", "poisson", "logistic", "softmax"])
def test_newton_steps_are_those_of_numerical_differentiation(core):
    score, target = some_rows(core, np.random.default_rng(0))
    for k in range(score.shape[1]):
        nudge = np.zeros(score.shape)
        nudge[:, k] = 1e-4
        below, here, above = (value_of(core, score + sign * nudge, target) for sign in (-1, 0, 1))
        gradient, hessian = (above - below) / 2e-4, (above - 2 * here + below) / 1e-8
        factor = 2 if core == "softmax" else 1  # K trees a round share the step
        expected = -gradient / hessian / factor
        if core == "poisson":  # no tree more than doubles a rate
            expected = np.clip(expected, -0.7, 0.7)
        assert_allclose(one_step(core, score, target)[:, k], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("core", ["squared", "absolute", "quantile", "poisson", "logistic", "softmax"])
def test_the_reported_loss_is_the_weighted_mean_of_the_rows(core):
    rng = np.random.default_rng(1)
    score, target = some_rows(core, rng)
    weight = rng.random(12)
    rows = value_of(core, score, target)
    if core == "squared":
        rows = 2 * rows  # told without the half, as everybody knows it
    if core == "poisson":  # measured from a perfect score
        rows = rows - np.where(target > 0, target - target * np.log(np.maximum(target, 1)), 0)
    assert core_loss(core, score, target, weight) == pytest.approx(np.average(rows, weights=weight))


def test_the_huber_loss_is_squared_up_to_the_quantile_of_the_residuals_and_linear_after():
    rng = np.random.default_rng(0)
    target = rng.normal(size=101)
    size = np.abs(target)
    bound = np.sort(size)[80]
    expected = np.where(size <= bound, size**2 / 2, bound * (size - bound / 2)).mean()
    assert core_loss("huber", np.zeros((101, 1)), target, np.ones(101)) == pytest.approx(expected)


@pytest.mark.parametrize("core", ["squared", "absolute", "quantile", "poisson", "logistic"])
def test_scores_start_at_the_best_constant(core):
    rng = np.random.default_rng(2)
    target = some_rows(core, rng)[1]
    weight = rng.random(12) + 0.1

    def total(constant):
        return weight @ value_of(core, np.full((12, 1), constant), target)

    start = RawLoss(core, alpha=ALPHA).start(target, weight)
    assert start.shape == (1,)
    best = minimize_scalar(total, bounds=(-5, 5), method="bounded", options={"xatol": 1e-10})
    assert total(start[0]) <= best.fun + 1e-9


def test_softmax_starts_at_the_logarithms_of_the_weighted_shares():
    start = RawLoss("softmax", 3).start(np.array([0.0, 1, 1, 2]), np.array([2.0, 1, 2, 5]))
    assert_allclose(start, np.log([0.2, 0.3, 0.5]))


@pytest.mark.parametrize(
    ("weight", "median"), [([1, 1, 1, 1], 15.0), ([3, 1, 1, 1], 5.0), ([1, 1, 1, 4], 30.0), ([1, 1, 2, 0.5], 20.0)]
)
def test_the_median_of_equal_halves_is_their_middle(weight, median):
    target = np.array([0.0, 10, 20, 30])
    assert_array_equal(RawLoss("absolute").start(target, np.array(weight, float)), [median])


@pytest.mark.parametrize("core", ["logistic", "softmax", "poisson"])
def test_scores_start_finite_even_where_a_class_or_all_counts_are_missing(core):
    loss = RawLoss(core, 3 if core == "softmax" else 1)
    assert np.isfinite(loss.start(np.zeros(5), np.ones(5))).all()


def test_probabilities_sum_to_one_at_any_score():
    far = np.array([[-800.0], [0.0], [800.0]])
    assert_array_equal(RawLoss("logistic").probabilities(far), [[1, 0], [0.5, 0.5], [0, 1]])
    scores = np.array([[1000.0, 0, -1000], [0, 0, 0]])
    assert_allclose(RawLoss("softmax", 3).probabilities(scores), [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]])


def test_names_of_losses_are_checked():
    with pytest.raises(ValueError, match=r"'loss'.*got 'hinge'"):
        regression_loss("hinge", 0.5, np.ones(2))
    with pytest.raises(ValueError, match=r"'loss'.*got 'squared_error'"):
        classification_loss("squared_error", 2)
    for loss in ("huber", "quantile"):
        with pytest.raises(ValueError, match="'alpha'"):
            regression_loss(loss, 1.0, np.ones(2))
    for target in ([-1.0, 2.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match="poisson"):
            regression_loss("poisson", 0.5, np.array(target))


# ------------------------------------------------------------------------------------------ losses of one's own
def derivatives(own, n_outputs=1):
    loss = regression_loss(own, 0.5, np.ones(4)) if n_outputs == 1 else classification_loss(own, n_outputs)
    return loss.derivatives(np.ones(4), np.zeros((4, n_outputs)))


def test_a_loss_of_ones_own_sees_a_flat_score_for_one_output_and_a_table_for_more():
    seen = []

    def own(target, score):
        seen.append(score.shape)
        return score, np.ones_like(score)

    for n_outputs in (1, 3):
        gradient, hessian = derivatives(own, n_outputs)
        assert gradient.shape == hessian.shape == (4, n_outputs)
    assert seen == [(4,), (4, 3)]


@pytest.mark.parametrize(
    ("answer", "n_outputs", "words"),
    [
        (np.ones(4), 1, "two arrays"),
        ((np.ones(4),), 1, "two arrays"),
        ((np.ones(3), np.ones(4)), 1, r"gradient.*\(3,\).*expected \(4,\)"),
        ((np.ones(4), np.ones(8)), 1, r"Hessian.*\(8,\).*expected \(4,\)"),
        ((1.0, 1.0), 1, r"gradient.*shape \(\)"),
        ((np.ones((3, 4)), np.ones((4, 3))), 3, r"gradient.*\(3, 4\).*expected \(4, 3\)"),
        ((np.ones((4, 3)), np.ones(12)), 3, r"Hessian.*\(12,\).*expected \(4, 3\)"),
        ((np.full(4, np.nan), np.ones(4)), 1, "gradient.*not finite"),
        ((np.ones(4), np.full(4, np.inf)), 1, "Hessian.*not finite"),
        ((np.ones(4), np.array([1, 1, -1e-9, 1])), 1, "Hessian.*negative"),
    ],
)
def test_wrong_answers_of_a_loss_of_ones_own_are_named(answer, n_outputs, words):
    with pytest.raises(ValueError, match=words):
        derivatives(lambda target, score: answer, n_outputs)


def test_files_know_every_loss_that_boosting_has():
    assert set(REGRESSION_LOSSES) == {"squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"}
    assert {classification_loss("auto", k).core for k in (2, 3, 9)} < set(CLASSIFICATION_LOSSES)
    options = _core.BoostOptions()
    for name in {*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES} - {"constant"}:
        options.loss = name
        assert options.loss == name
        outputs = 3 if name == "softmax" else 1
        assert np.isfinite(RawLoss(name, outputs).start(np.array([0.0, 1.0]), np.ones(2))).all()


def test_an_unknown_loss_starts_nowhere():
    with pytest.raises(ValueError, match="No initial constant is defined for the loss 'hinge'"):
        RawLoss("hinge").start(np.ones(3), np.ones(3))


@pytest.mark.parametrize("loss", [{"loss": "absolute_error"}, {"loss": "quantile", "alpha": 0.1}])
def test_predictions_scale_with_the_targets_also_where_no_training_row_was(loss):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(600, 3)), rng.normal(size=(5000, 3))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=600)
    make = SLMBoostRegressor(n_estimators=10, random_state=0, **loss)
    one, small = clone(make).fit(X, y).predict(new), clone(make).fit(X, y / 1024).predict(new)
    assert_allclose(1024 * small, one, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [0.9, 0.1])
def test_a_weight_is_as_many_rows_where_gradients_have_two_values(seed, alpha):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(300, 4)), rng.integers(0, 4, 300)
    y = X[:, 0] + rng.normal(size=300)
    make = SLMBoostRegressor(
        loss="quantile", alpha=alpha, n_estimators=4, min_samples_leaf=1, noise_margin=0, random_state=0
    )
    repeated = np.repeat(np.arange(300), weight)
    weighted = clone(make).fit(X, y, weight).predict(X)
    assert_allclose(weighted, clone(make).fit(X[repeated], y[repeated]).predict(X), atol=1e-6)
