"""Samplers of imbalanced-learn before our classifiers, in its pipelines and in searches."""

from __future__ import annotations

import numpy as np
import pytest
from examples_to_fit import CLASSIFIERS, numbers, table
from imblearn.ensemble import BalancedBaggingClassifier
from imblearn.over_sampling import SMOTE, SMOTENC
from imblearn.pipeline import make_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV


def rare(of=numbers):
    """Ten rows of the rare class, and all of the other one."""
    X, y, _ = of()
    kept = np.sort(np.r_[np.flatnonzero(y == "other"), np.flatnonzero(y == "virginica")[:10]])
    return (X.iloc[kept] if hasattr(X, "iloc") else X[kept]), y[kept]


@pytest.mark.parametrize("sampler", [SMOTE(random_state=0), RandomUnderSampler(random_state=0)], ids=["more", "fewer"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_pipeline_learns_from_the_resampled_rows(name, sampler):
    X, y = rare()
    model = make_pipeline(sampler, clone(CLASSIFIERS[name])).fit(X, y)
    again = clone(CLASSIFIERS[name]).fit(*clone(sampler).fit_resample(X, y))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert balanced_accuracy_score(y, model.predict(X)) > 0.8


def test_a_search_over_the_sampler_and_the_model():
    X, y = rare()
    pipe = make_pipeline(SMOTE(random_state=0), clone(CLASSIFIERS["SLMBoostClassifier"]))
    grid = {"smote__k_neighbors": [2, 4], "slmboostclassifier__max_depth": [1, 2]}
    search = GridSearchCV(pipe, grid, cv=3, scoring="balanced_accuracy", error_score="raise").fit(X, y)
    assert search.best_score_ > 0.8


def test_new_rows_of_a_table_keep_its_categories():
    X, y = rare(table)
    X = X.astype({"colour": "category"})
    model = make_pipeline(SMOTENC(["colour"], random_state=0), clone(CLASSIFIERS["SLMForestClassifier"])).fit(X, y)
    assert sorted(model[-1].categories_[4]) == sorted(X["colour"].cat.categories)
    assert balanced_accuracy_score(y, model.predict(X)) > 0.8


def test_a_balanced_bag_of_trees():
    X, y = rare()
    bag = BalancedBaggingClassifier(clone(CLASSIFIERS["SLMClassifier"]), n_estimators=5, random_state=0).fit(X, y)
    assert balanced_accuracy_score(y, bag.predict(X)) > 0.8
