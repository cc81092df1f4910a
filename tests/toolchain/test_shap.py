"""SHAP's own explainers and our models."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from examples_to_fit import CLASSIFIERS, REGRESSORS, problem
from sklearn.base import clone

import planewise as pw

with warnings.catch_warnings():  # of matplotlib, about what shap does when it is imported
    warnings.simplefilter("ignore")
    import shap

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::FutureWarning")  # of its plots
TREES = [name for name in CLASSIFIERS | REGRESSORS if name.startswith("SLM")]


def fitted(name):
    X, y = problem(name)
    return clone((CLASSIFIERS | REGRESSORS)[name]).fit(X, y), X


def what_is_explained(model, X):
    """The prediction that contributions add up to."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if not hasattr(model, "predict_proba"):
        return model.predict(X)
    probability = model.predict_proba(X)
    return probability[:, 1] if probability.shape[1] == 2 else probability


@pytest.mark.parametrize("name", TREES)
def test_contributions_add_up_to_the_prediction_and_are_drawn(name):
    model, X = fitted(name)
    contributions = model.predict_contributions(X)
    np.testing.assert_allclose(contributions.sum(axis=1), what_is_explained(model, X), atol=1e-6)
    found = shap.Explanation(contributions[:, :-1], base_values=contributions[:, -1], data=X)
    shap.plots.waterfall(found[0], show=False)
    shap.plots.beeswarm(found, show=False)


@pytest.mark.parametrize("name", TREES)
def test_the_tree_explainer_refuses_our_trees_and_names_the_class(name):
    model, _ = fitted(name)
    with pytest.raises(shap.utils._exceptions.InvalidModelError, match=rf"not yet supported by TreeExplainer.*{name}"):
        shap.TreeExplainer(model)


@pytest.mark.parametrize("name", CLASSIFIERS | REGRESSORS)
def test_any_model_is_explained_by_its_predictions(name):
    model, X = fitted(name)
    ask = model.decision_function if hasattr(model, "decision_function") else model.predict
    if not hasattr(model, "decision_function") and hasattr(model, "predict_proba"):
        ask = lambda rows: model.predict_proba(rows)[:, 1]  # noqa: E731
    found = shap.Explainer(ask, X[:20])(X[:3])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, ask(X[:3]), atol=1e-6)


@pytest.mark.parametrize("model", [pw.MCMClassifier(kernel="linear"), pw.MCMRegressor(kernel="linear")])
def test_linear_machines_are_explained_by_their_coefficients(model):
    X, y = problem(type(model).__name__)
    model.fit(X, y)
    explainer = shap.Explainer(model, X)
    assert isinstance(explainer, shap.LinearExplainer)
    found = explainer(X)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, what_is_explained(model, X), atol=1e-6)
