"""Contributions of trees as an explanation that SHAP's pictures draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from planewise._extras import require
from planewise._input import values_as_given
from planewise._tables import rows_as_given
from planewise.words import feature_names


def shap_explanation(model: Any, X: Any) -> Any:
    """The contributions of each feature, as a ``shap.Explanation``.

    The values are those of ``model.predict_contributions(X)``. They add up to the prediction as Shapley values do, but
    they are computed from the row's path down each tree and not as averages over coalitions of features. SHAP's
    ``TreeExplainer`` cannot read the trees of planewise, because a plane can look at several features at once.

    Parameters
    ----------
    model : fitted estimator
        A tree, a forest, boosting or a sum of views.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)

    Returns
    -------
    explanation : shap.Explanation
        ``values`` has shape (n_samples, n_features), or (n_samples, n_features, n_outputs) with several classes,
        targets or quantiles: ``explanation[..., k]`` is what SHAP's plots draw. ``values`` and ``base_values`` add up
        to the probability of a tree or forest, to the raw score of boosting or of a sum of views, or to the number
        that a regressor predicts (its logarithm for "poisson", "gamma" and "tweedie"). ``data`` has the numbers of X,
        with codes in place of categories; ``display_data`` has the categories themselves.

    Raises
    ------
    ModuleNotFoundError
        If shap is not installed.
    TypeError
        If the model has no ``predict_contributions``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from planewise import SLMBoostClassifier
    >>> from planewise.tools import shap_explanation
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SLMBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> explanation = shap_explanation(model, X[:5])
    >>> explanation.shape
    (5, 30)
    """
    shap = require("shap_explanation", "shap")
    if not hasattr(model, "predict_contributions"):
        raise TypeError(_what_to_pass(model))
    check_is_fitted(model)
    found = model.predict_contributions(X)
    values, base = found[..., :-1], found[..., -1]
    several = values.ndim == 3
    has_categories = bool(getattr(model, "categories_", None))
    return shap.Explanation(
        np.ascontiguousarray(values.transpose(0, 2, 1)) if several else values,
        base_values=base,
        data=values_as_given(model, X, reset=False),
        display_data=_as_objects(rows_as_given(X)) if has_categories else None,
        feature_names=feature_names(model),
        output_names=[str(label) for label in model.classes_] if several else None,
    )


def _what_to_pass(model: Any) -> str:
    name = type(model).__name__
    if hasattr(model, "steps"):
        return (
            f"shap_explanation needs a tree, a forest, boosting or a sum of views, but got a {name}. Pass its last "
            "step and the rows that this step gets: shap_explanation(model[-1], model[:-1].transform(X))."
        )
    return (
        f"shap_explanation needs a tree, a forest, boosting or a sum of views, because {name} has no "
        "predict_contributions. Use shap.Explainer(model.predict, X) instead."
    )


def _as_objects(rows: list[Any]) -> Any:
    """An array that keeps the user's values as they are."""
    made = np.empty((len(rows), len(rows[0])), dtype=object)
    made[:] = [list(row) for row in rows]
    return made
