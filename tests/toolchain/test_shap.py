"""Explanations for SHAP's pictures, and what SHAP's own explainers make of our models."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from examples_to_fit import CLASSIFIERS, REGRESSORS, numbers, problem, table
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise as pw
from planewise.tools import shap_explanation

with warnings.catch_warnings():  # of matplotlib, about what shap does when it is imported
    warnings.simplefilter("ignore")
    import shap

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::FutureWarning")  # of its plots
TREES = [name for name in CLASSIFIERS | REGRESSORS if name.startswith("SLM")]


def fitted(name, of=numbers, **parameters):
    X, y = problem(name, of)
    return clone((CLASSIFIERS | REGRESSORS)[name]).set_params(**parameters).fit(X, y), X


def what_is_explained(model, X):
    """The prediction that contributions add up to."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if not hasattr(model, "predict_proba"):
        return model.predict(X)
    probability = model.predict_proba(X)
    return probability[:, 1] if probability.shape[1] == 2 else probability


@pytest.mark.parametrize("name", TREES)
def test_values_add_up_to_the_prediction_and_are_drawn(name):
    model, X = fitted(name)
    found = shap_explanation(model, X)
    assert isinstance(found, shap.Explanation) and found.shape == X.shape
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, what_is_explained(model, X), atol=1e-6)
    np.testing.assert_array_equal(found.data, X)
    shap.plots.waterfall(found[0], show=False)
    shap.plots.beeswarm(found, show=False)


@pytest.mark.parametrize("name", [name for name in TREES if name in CLASSIFIERS])
def test_classes_are_the_last_axis_as_in_shap(name):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = clone(CLASSIFIERS[name]).fit(X, y)
    found = shap_explanation(model, X)
    assert found.shape == (150, 4, 3)
    assert found.output_names == ["0", "1", "2"]
    assert found.feature_names == list(X.columns)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, what_is_explained(model, X), atol=1e-6)
    shap.plots.waterfall(found[0, :, 2], show=False)
    shap.plots.beeswarm(found[..., 2], show=False)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("name", TREES)
def test_categories_are_codes_to_compute_with_and_words_to_read(name, kind):
    X, y = problem(name, table)
    if kind == "polars":
        X = pl.from_pandas(X)
    model = clone((CLASSIFIERS | REGRESSORS)[name]).set_params(categorical_features=["colour"]).fit(X, y)
    found = shap_explanation(model, X)
    assert found.data.dtype == np.float64
    assert list(found.display_data[:5, 4]) == list(X["colour"][:5])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, what_is_explained(model, X), atol=1e-6)
    axes = shap.plots.waterfall(found[0], show=False)
    assert any(f"{X['colour'][0]} = colour" in label.get_text() for label in axes.get_yticklabels())
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


def test_what_cannot_be_explained_says_what_to_pass():
    X, y = problem("MCMClassifier")
    with pytest.raises(TypeError, match=r"MCMClassifier has no predict_contributions. Use shap.Explainer\("):
        shap_explanation(pw.MCMClassifier().fit(X, y), X)
    pipe = make_pipeline(StandardScaler(), pw.SLMClassifier(random_state=0)).fit(X, y)
    with pytest.raises(TypeError, match=r"shap_explanation\(model\[-1\], model\[:-1\].transform\(X\)\)"):
        shap_explanation(pipe, X)
    assert shap_explanation(pipe[-1], pipe[:-1].transform(X)).shape == X.shape


def test_missing_values_stay_missing():
    X, y = problem("SLMBoostClassifier")
    gaps = pd.DataFrame(X, columns=list("abcd"))
    gaps.loc[::3, "b"] = np.nan
    found = shap_explanation(pw.SLMBoostClassifier(n_estimators=5, random_state=0).fit(gaps, y), gaps)
    np.testing.assert_array_equal(found.data, gaps.to_numpy())
    shap.plots.waterfall(found[0], show=False)


def test_without_shap_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    model, X = fitted("SLMClassifier")
    with pytest.raises(ModuleNotFoundError) as told:
        shap_explanation(model, X)
    assert str(told.value) == "shap_explanation needs shap, which is not installed: pip install shap."
