"""A linear model is called as good only where the paired difference says so."""

from __future__ import annotations

import numpy as np
import pytest

from planewise import SLMBoostClassifier, SLMBoostRegressor, SLMClassifier, SLMRegressor
from planewise.evaluate import evaluate, quality


def halves(target, seed=0, n=800):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = target(X, rng)
    return X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :]


def compared(model, X, y, X_new, y_new):
    case = evaluate(model.fit(X, y), X_new, y_new)
    return quality(case, X, y), case


def straight(X, rng):
    return X @ [2.0, -1.0, 0.5, 0.0] + rng.normal(size=len(X))


def bent(X, rng):
    return X[:, 0] * X[:, 1] * 3 + rng.normal(size=len(X)) * 0.3


def test_a_linear_truth_is_said_to_need_no_more_than_a_linear_model():
    found, _ = compared(SLMRegressor(random_state=0), *halves(straight))
    assert found.linear.is_as_good
    assert found.linear.sentence().startswith("A ridge regression is better on these rows: its RMSE is ")
    classes = halves(lambda X, rng: np.where(straight(X, rng) > 0, "yes", "no"))
    found, _ = compared(SLMClassifier(random_state=0), *classes)
    assert found.linear.is_as_good and found.linear.name == "logistic_regression"
    assert f"its accuracy is {100 * found.linear.linear:.1f}%" in found.linear.sentence()


def test_where_a_linear_model_fails_nothing_is_said():
    found, _ = compared(SLMBoostRegressor(random_state=0), *halves(bent))
    assert not found.linear.is_as_good and found.linear.sentence() == ""
    classes = halves(lambda X, rng: bent(X, rng) > 0)
    found, _ = compared(SLMBoostClassifier(random_state=0), *classes)
    assert not found.linear.is_as_good


def test_the_difference_and_its_error_are_those_of_paired_losses():
    found, case = compared(SLMClassifier(random_state=0), *halves(lambda X, rng: straight(X, rng) > 0))
    linear = found.linear
    assert linear.model == pytest.approx(found.found["model"]["accuracy"].value)
    assert linear.linear == pytest.approx(found.found["logistic_regression"]["accuracy"].value)
    assert linear.difference == pytest.approx(linear.model - linear.linear)
    assert 0 < linear.standard_error < np.sqrt(2 / len(case.target))


def test_a_linear_model_with_worse_probabilities_is_not_as_good():
    """It may be as accurate; with probabilities, log losses are compared as well."""
    X, y, X_new, y_new = halves(lambda X, rng: rng.random(len(X)) < np.where(np.abs(X[:, 0]) < 1, 0.51, 0.99), n=4000)
    found, _ = compared(SLMBoostClassifier(n_estimators=20, random_state=0), X, y, X_new, y_new)
    assert found.linear.difference <= found.linear.standard_error
    assert not found.linear.is_as_good


def test_quality_comes_back_from_its_data():
    found, _ = compared(SLMRegressor(random_state=0), *halves(straight))
    again = type(found).of_record({"quality": found.data(), "linear_is_as_good": True})
    assert again.note.endswith("On these rows, a ridge regression is as good as this model.")
    assert again.data() == found.data() and again.table() == found.table()


def noise(X, rng):
    return rng.normal(size=len(X))


def test_a_model_that_found_nothing_is_said_to_be_no_better_than_a_constant():
    found, _ = compared(SLMRegressor(random_state=0), *halves(noise))
    assert found.constant.is_as_good and found.constant.name == "mean"
    first = found.sentences()[0]
    assert first.startswith("The model is no better than the mean on these rows: its RMSE is ")
    assert "as good" not in " ".join(found.sentences())
    record = {"quality": found.data(), "linear_is_as_good": True}
    assert type(found).of_record(record).note.endswith("On these rows, this model is no better than the mean.")
    classes = halves(lambda X, rng: np.where(noise(X, rng) > -0.5, "yes", "no"))
    found, _ = compared(SLMBoostClassifier(random_state=0), *classes)
    assert found.sentences()[0].startswith("The model is no better than the most common class on these rows: ")


def test_a_model_that_found_something_is_better_than_a_constant():
    found, _ = compared(SLMRegressor(random_state=0), *halves(straight))
    assert not found.constant.is_as_good and found.constant.sentence() == ""
    assert found.sentences() == [found.linear.sentence()]
    assert found.constant.constant == pytest.approx(found.found["mean"]["rmse"].value)
    found, _ = compared(SLMBoostRegressor(random_state=0), *halves(bent))
    assert found.sentences() == []


def test_a_linear_model_that_is_better_than_a_useless_one_is_still_named():
    X, y, X_new, y_new = halves(straight)
    model = SLMRegressor(random_state=0).fit(X, -y)
    found = quality(evaluate(model, X_new, y_new), X, y)
    assert [each.split(" on these rows")[0] for each in found.sentences()] == [
        "The model is no better than the mean",
        "A ridge regression is better",
    ]


def test_better_probabilities_than_those_of_the_most_common_class_count():
    """With a rare class, accuracy alone would say that nothing was learned."""
    X, y, X_new, y_new = halves(lambda X, rng: rng.random(len(X)) < np.where(X[:, 0] > 0, 0.4, 0.02), n=4000)
    found, _ = compared(SLMBoostClassifier(n_estimators=20, random_state=0), X, y, X_new, y_new)
    assert found.constant.difference <= found.constant.standard_error and not found.constant.is_as_good
