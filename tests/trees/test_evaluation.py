"""Validation rows and scores of boosting, and the first rounds of a model."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import f1_score, get_scorer, log_loss, make_scorer, mean_absolute_error, mean_pinball_loss

import planewise
from planewise import SLMBoostClassifier, SLMBoostRegressor, SLMForestClassifier

QUICK = {"n_estimators": 8, "random_state": 0}
BOTH = pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def own_squared(target, score):
    return score - target, np.ones_like(score)


# ------------------------------------------------------------------------------------------------ validation rows
@settings(max_examples=8)
@given(seed=st.integers(0, 1000), loss=st.sampled_from(["squared_error", "absolute_error", "quantile"]))
def test_training_and_validation_rows_have_the_losses_of_their_rows(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + rng.normal(size=150)
    weight, offset = rng.uniform(size=150), rng.normal(size=150)
    a, b = slice(0, 100), slice(100, 150)
    model = SLMBoostRegressor(loss=loss, **QUICK).fit(
        X[a], y[a], weight[a], offset=offset[a],
        X_val=X[b], y_val=y[b], sample_weight_val=weight[b], offset_val=offset[b],
    )  # fmt: skip

    def losses(rows):
        measure = {
            "squared_error": lambda p: np.average((p - y[rows]) ** 2, weights=weight[rows]),
            "absolute_error": lambda p: np.average(np.abs(p - y[rows]), weights=weight[rows]),
            "quantile": lambda p: mean_pinball_loss(y[rows], p, alpha=0.9, sample_weight=weight[rows]),
        }[loss]
        return [measure(stage) for stage in model.staged_predict(X[rows], offset=offset[rows])]

    assert_allclose(-model.train_score_, losses(a))
    assert_allclose(-model.validation_score_, losses(b))


def test_wrong_validation_rows_are_refused_by_name():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(**QUICK)
    with pytest.raises(ValueError, match="y_val has the class 6"):
        model.fit(X, y, X_val=X, y_val=y + 6)
    with pytest.raises(ValueError, match="sample_weight_val: "):
        model.fit(X, y, X_val=X, y_val=y, sample_weight_val=-np.ones(len(y)))
    with pytest.raises(ValueError, match="sample_weight_val requires X_val and y_val"):
        model.fit(X, y, sample_weight_val=np.ones(len(y)))
    with pytest.raises(ValueError, match="offset_val has shape"):
        model.fit(X, y, X_val=X, y_val=y, offset_val=np.zeros(2))
    with pytest.raises(ValueError, match="X_val: X has 3 features"):
        model.fit(X, y, X_val=X[:, :3], y_val=y)
    with pytest.raises(ValueError, match="y_val: Found input variables with inconsistent numbers of samples"):
        model.fit(X, y, X_val=X, y_val=y[:5])
    assert not hasattr(model, "forest_")


def test_class_weights_count_in_rows_set_aside_and_not_in_given_ones():
    X, y, X_val, y_val = cancer()
    heavy = SLMBoostClassifier(class_weight={0: 5.0, 1: 1.0}, **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    assert -heavy.validation_score_[-1] == pytest.approx(log_loss(y_val, heavy.predict_proba(X_val)))
    weight = np.where(y == 0, 5.0, 1.0)
    assert -heavy.train_score_[-1] == pytest.approx(log_loss(y, heavy.predict_proba(X), sample_weight=weight))


# ----------------------------------------------------------------------------------------------------- scoring
def first_rounds(model, n_rounds):
    """The model with its first rounds alone."""
    first = copy(model)
    first.forest_ = model.forest_.head(n_rounds * model.forest_.trees_per_round)
    return first


@pytest.mark.parametrize("name", ["roc_auc", "accuracy", "neg_log_loss", "f1", "average_precision"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_the_first_rounds(name, weighted):
    X, y, X_val, y_val = cancer()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y_val)) if weighted else None
    model = SLMBoostClassifier(scoring=name, **QUICK)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    extra = {"sample_weight": weight} if weighted else {}
    scorer = get_scorer(name)
    expected = [scorer(first_rounds(model, n), X_val, y_val, **extra) for n in range(1, 9)]
    assert_allclose(model.validation_score_, expected)
    assert_allclose(model.train_score_, [scorer(first_rounds(model, n), X, y) for n in range(1, 9)])


@pytest.mark.parametrize("name", ["roc_auc_ovr", "accuracy", "neg_log_loss"])
def test_scores_of_several_classes(name):
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(scoring=name, **QUICK).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    scorer = get_scorer(name)
    expected = [scorer(first_rounds(model, n), X[1::2], y[1::2]) for n in range(1, 9)]
    assert_allclose(model.validation_score_, expected)


def test_scores_of_numbers():
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(loss="poisson", scoring="neg_mean_absolute_error", **QUICK)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    errors = [mean_absolute_error(y[300:], stage) for stage in model.staged_predict(X[300:])]
    assert_allclose(model.validation_score_, np.negative(errors))
    assert model.best_iteration_ == np.argmin(errors) + 1


def test_labels_reach_scorers_as_given():
    X, y, X_val, y_val = cancer()
    names = np.array(["bad", "good"])
    model = SLMBoostClassifier(scoring=make_scorer(f1_score, pos_label="bad"), **QUICK)
    model.fit(X, names[y], X_val=X_val, y_val=names[y_val])
    expected = f1_score(names[y_val], model.predict(X_val), pos_label="bad")
    assert model.validation_score_[-1] == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_function_gets_an_estimator_that_predicts_the_rows(weighted):
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(1, 2, 142) if weighted else None

    def score(estimator, X, y, sample_weight=None):
        assert (sample_weight is not None) == (weighted and len(X) == 142)
        return -mean_absolute_error(y, estimator.predict(X), sample_weight=sample_weight)

    model = SLMBoostRegressor(scoring=score, **QUICK)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:], sample_weight_val=weight)
    errors = [mean_absolute_error(y[300:], stage, sample_weight=weight) for stage in model.staged_predict(X[300:])]
    assert_allclose(model.validation_score_, np.negative(errors))


def test_a_function_cannot_predict_other_rows():
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(scoring=lambda estimator, X, y: estimator.predict(X[:5]).mean(), **QUICK)
    with pytest.raises(ValueError, match="can only predict the X that it is called with"):
        model.fit(X, y)


def test_the_score_decides_when_to_stop():
    """By hand: values that are set beforehand, of which the best is the fifth."""
    X, y, X_val, y_val = cancer()
    values = iter([-9, -7, -8, -6, -3, -5, -4, -3, -3.5, -2, -1])

    def planned(estimator, X, y):
        return next(values) if np.array_equal(y, y_val) else 0.0

    model = SLMBoostClassifier(n_estimators=50, early_stopping=True, n_iter_no_change=4, scoring=planned)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ == model.best_iteration_ == 5
    assert model.validation_score_.tolist() == [-9, -7, -8, -6, -3, -5, -4, -3, -3.5]


def test_a_tolerance_applies_to_scores():
    X, y, X_val, y_val = cancer()
    model = SLMBoostClassifier(n_estimators=50, early_stopping=True, n_iter_no_change=3, scoring="roc_auc", tol=1.0)
    assert len(model.fit(X, y, X_val=X_val, y_val=y_val).validation_score_) == 4


@pytest.mark.parametrize("refit", [False, True])
def test_a_score_can_stop_a_loss_of_ones_own(refit):
    X, y = load_diabetes(return_X_y=True)
    stops = {"early_stopping": True, "n_estimators": 60, "n_iter_no_change": 3, "random_state": 0, "refit": refit}
    own = SLMBoostRegressor(loss=own_squared, learning_rate=0.5, scoring="neg_mean_squared_error", **stops).fit(X, y)
    assert own.n_iter_ == np.argmax(own.validation_score_) + 1 == len(own.validation_score_) - 3
    built_in = SLMBoostRegressor(base_score=0, learning_rate=0.5, **stops).fit(X, y)
    assert own.n_iter_ == built_in.n_iter_
    assert_allclose(own.validation_score_, built_in.validation_score_)
    assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-6)


def test_without_validation_rows_the_score_is_of_the_training_rows():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(scoring="accuracy", **QUICK).fit(X, y)
    assert model.train_score_[-1] == model.score(X, y)
    assert len(model.validation_score_) == 0 and model.best_iteration_ is None
    plain = SLMBoostClassifier(**QUICK).fit(X, y)
    assert len(plain.train_score_) == 0
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_callbacks_and_the_progress_line_hear_of_scores(capfd):
    X, y, X_val, y_val = cancer()
    heard = []
    model = SLMBoostClassifier(scoring="roc_auc", verbose=1, callbacks=[lambda *given: heard.append(given)], **QUICK)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert heard[2][1] == {"train": model.train_score_[2], "validation": model.validation_score_[2]}
    assert f"validation {model.validation_score_[-1]:.5g}" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("auc", "'auc' is not a valid scoring value"),
        (mean_absolute_error, "looks like it is a metric function rather than a scorer"),
        (lambda estimator, X, y: "much", "must return a number that is not NaN; got 'much'"),
        (lambda estimator, X, y: np.nan, "must return a number that is not NaN; got nan"),
        (3, "The parameter 'scoring' of SLMBoostRegressor must be None, the name of a scikit-learn scorer or"),
        (["r2"], "The parameter 'scoring' of SLMBoostRegressor must be"),
    ],
)
def test_wrong_scorers_are_refused(scoring, words):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(scoring=scoring, **QUICK)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "forest_")


def test_scorers_without_weights_are_asked_without_them():
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(1, 2, len(y))
    model = SLMBoostRegressor(scoring="neg_max_error", **QUICK).fit(X, y, weight)
    assert model.train_score_[-1] == pytest.approx(-np.abs(model.predict(X) - y).max())


def test_a_warm_start_scores_the_earlier_rounds():
    X, y, X_val, y_val = cancer()
    whole = SLMBoostClassifier(scoring="roc_auc", **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    model = SLMBoostClassifier(n_estimators=3, scoring="roc_auc", warm_start=True, random_state=0)
    model.fit(X, y).set_params(n_estimators=8).fit(X, y, X_val=X_val, y_val=y_val)
    assert_allclose(model.train_score_, whole.train_score_)
    assert_allclose(model.validation_score_, whole.validation_score_)


def test_files_keep_scores_and_the_name_of_the_scorer(tmp_path):
    X, y, X_val, y_val = cancer()
    model = SLMBoostClassifier(scoring="roc_auc", **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    planewise.save(model, tmp_path / "model")
    again = planewise.load(tmp_path / "model")
    assert_array_equal(again.train_score_, model.train_score_)
    assert_array_equal(again.validation_score_, model.validation_score_)
    assert again.scoring == "roc_auc"
    with pytest.raises(ValueError, match="scoring"):
        planewise.save(model.set_params(scoring=lambda estimator, X, y: 0.0), tmp_path / "model")


# --------------------------------------------------------------------------------- the first rounds, and leaves
def test_the_first_rounds_are_the_stages():
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(**QUICK).fit(X, y)
    stages = zip(model.staged_predict(X), model.staged_predict_proba(X), strict=True)
    for n_rounds, (labels, probabilities) in enumerate(stages, start=1):
        assert_array_equal(model.predict(X, n_rounds=n_rounds), labels)
        assert_array_equal(model.predict_proba(X, n_rounds=n_rounds), probabilities)
        scores = model.decision_function(X, n_rounds=n_rounds)
        assert_allclose(model.predict_contributions(X, n_rounds=n_rounds).sum(axis=2), scores, atol=1e-9)
    assert_array_equal(scores, model.decision_function(X))


def test_the_first_rounds_of_a_regressor_are_the_stages():
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(loss="poisson", **QUICK).fit(X, y)
    for n_rounds, stage in enumerate(model.staged_predict(X), start=1):
        assert_array_equal(model.predict(X, n_rounds=n_rounds), stage)


@BOTH
@pytest.mark.parametrize("n_rounds", [0, 9, -1, 2.0, True, "all"])
def test_rounds_that_are_not_there_are_refused(make, n_rounds):
    X, y, *_ = cancer()
    model = make(**QUICK).fit(X, y)
    for method in (model.predict, model.apply, model.predict_contributions):
        with pytest.raises(ValueError, match="n_rounds must be an integer from 1 to n_iter_, 8; got"):
            method(X, n_rounds=n_rounds)


def test_one_class_has_no_rounds():
    X, y, *_ = cancer()
    model = SLMBoostClassifier(scoring="accuracy", **QUICK).fit(X, 0 * y, X_val=X, y_val=0 * y)
    assert model.apply(X).shape == (len(X), 0)
    assert len(model.train_score_) == len(model.validation_score_) == 0
    with pytest.raises(ValueError, match="n_rounds must be None here: the model knows one class"):
        model.predict(X, n_rounds=1)


@pytest.mark.parametrize(
    ("parameters", "given", "words"),
    [
        ({"scoring": "nonsense"}, {}, "'nonsense' is not a valid scoring value"),
        ({"monotonic_cst": [1, 0]}, {}, "monotonic_cst"),
        ({"interaction_cst": [[0, 99]]}, {}, "interaction_cst"),
        ({}, {"X_val": np.zeros((2, 3)), "y_val": [0, 0]}, "X_val: X has 3 features"),
        ({}, {"X_val": np.zeros((2, 30)), "y_val": [0, 7]}, "y_val has the class 7"),
        ({}, {"X_val": np.zeros((2, 30)), "y_val": [0, 0], "sample_weight_val": [-1, 1]}, "sample_weight_val: "),
    ],
)
def test_one_class_is_checked_as_two_are(parameters, given, words):
    X, y, *_ = cancer()
    for target in (y, 0 * y):
        model = SLMBoostClassifier(**QUICK | parameters)
        with pytest.raises(ValueError, match=words):
            model.fit(X, target, **given)
        assert not hasattr(model, "forest_")


@pytest.mark.parametrize(("make", "y"), [(SLMBoostClassifier, [0, 1, 1, 1, 1, 1]), (SLMBoostRegressor, [0.5])])
def test_too_few_rows_to_set_aside_are_refused_by_name(make, y):
    X = np.arange(len(y), dtype=float)[:, None]
    with pytest.raises(ValueError, match=r"early_stopping=True cannot set aside validation_fraction=0\.1 .*Pass X_val"):
        make(early_stopping=True).fit(X, y)


@pytest.mark.parametrize("n_rounds", [None, 3])
def test_the_values_of_the_leaves_add_up_to_the_score(n_rounds):
    X, y = load_iris(return_X_y=True)
    model = SLMBoostClassifier(**QUICK).fit(X, y)
    nodes, forest = model.apply(X, n_rounds=n_rounds), model.forest_
    assert nodes.shape == (150, (n_rounds or 8) * 3)
    score = np.tile(model.base_score_, (150, 1))
    for tree, places in enumerate(nodes.T):
        score[:, tree % 3] += forest.value[forest.node_start[tree] + places, 0]
    assert_allclose(score, model.decision_function(X, n_rounds=n_rounds))


def test_the_leaves_of_a_forest_have_its_probabilities():
    X, y, *_ = cancer()
    forest = SLMForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    nodes = forest.apply(X)
    values = forest.forest_.value[forest.forest_.node_start[:-1] + nodes][:, :, 0]
    assert_allclose(values.mean(axis=1), forest.predict_proba(X)[:, 1], rtol=1e-6)
