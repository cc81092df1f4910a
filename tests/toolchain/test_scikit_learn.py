"""Our estimators in scikit-learn's own machinery: pipelines, searches, calibration, routing, frames, inspection."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import sklearn
from examples_to_fit import CLASSIFIERS, REGRESSORS, numbers, problem, table
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import planewise as pw

MODELS = CLASSIFIERS | REGRESSORS
SCORE = 0.8  # what every model reaches on its training rows, accuracy or R²


def prepare():
    """Numbers scaled and filled, words as columns of zeros and ones."""
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), slice(0, 4)),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["colour"]),
        ]
    )


# ------------------------------------------------------------------------------------------------ pipelines, frames
@pytest.mark.parametrize("name", MODELS)
def test_a_pipeline_scores(name):
    X, y = problem(name, table)
    pipe = make_pipeline(prepare(), clone(MODELS[name])).fit(X, y)
    assert pipe.score(X, y) > SCORE
    assert pipe[-1].n_features_in_ == 7


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", MODELS)
def test_set_output_brings_names_and_categories_to_the_model(name, library):
    X, y = problem(name, table)
    X = X.astype({"colour": "category"})
    if library == "polars":
        X = pl.from_pandas(X)
    pipe = make_pipeline(
        make_column_transformer(
            (StandardScaler(), list(X.columns[:4])), remainder="passthrough", verbose_feature_names_out=False
        ),
        clone(MODELS[name]),
    )
    pipe.set_output(transform=library).fit(X, y)
    assert list(pipe[-1].feature_names_in_) == list(X.columns)
    assert list(pipe[-1].categories_) == [4]
    assert pipe.score(X, y) > SCORE


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_transformer_of_ours_gives_frames(library):
    X, y, _ = table()
    X = X.drop(columns="colour")
    selector = pw.DiscriminantFeatureTest(n_features_to_select=2).set_output(transform=library).fit(X, y)
    found = selector.transform(X)
    assert type(found).__module__.startswith(library)
    assert list(found.columns) == list(selector.get_feature_names_out())
    assert len(found.columns) == 2
    pipe = make_pipeline(selector, pw.SLMClassifier(random_state=0)).fit(X, y)
    assert list(pipe[-1].feature_names_in_) == list(found.columns)


# --------------------------------------------------------------------------------------------------------- searches
GRIDS = {
    "SLMClassifier": {"max_depth": [1, 2]},
    "SLMForestClassifier": {"max_depth": [1, 3]},
    "SLMBoostClassifier": {"learning_rate": [0.1, 0.3]},
    "MCMClassifier": {"gamma": [0.1, 1.0]},
    "MCMClassifierCV": {"scaling": ["standard", "robust"]},
    "LargeScaleMCMClassifier": {"gamma": [0.1, 1.0]},
    "RECIPClassifier": {"k": [3, 9]},
    "AdditiveClassifier": {"max_views": [1, 3]},
    "SLMRegressor": {"max_depth": [1, 2]},
    "SLMForestRegressor": {"max_depth": [1, 3]},
    "SLMBoostRegressor": {"learning_rate": [0.1, 0.3]},
    "MCMRegressor": {"gamma": [0.1, 1.0]},
    "MCMRegressorCV": {"scaling": ["standard", "robust"]},
    "AdditiveRegressor": {"max_views": [1, 3]},
}
SEARCHES = {
    "grid": lambda model, grid: GridSearchCV(model, grid, cv=2, error_score="raise"),
    "random": lambda model, grid: RandomizedSearchCV(model, grid, n_iter=2, cv=2, random_state=0, error_score="raise"),
    "halving": lambda model, grid: HalvingGridSearchCV(
        model, grid, cv=2, min_resources=60, random_state=0, error_score="raise"
    ),
}


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("name", MODELS)
def test_a_search_finds_the_best_setting(name, kind):
    X, y = problem(name)
    pipe = make_pipeline(StandardScaler(), clone(MODELS[name]))
    grid = {f"{name.lower()}__{parameter}": values for parameter, values in GRIDS[name].items()}
    search = SEARCHES[kind](pipe, grid).fit(X, y)
    best = clone(pipe).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), best.predict(X))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("name", ["SLMBoostClassifier", "SLMForestClassifier", "SLMBoostRegressor"])
def test_halving_by_the_number_of_trees(name):
    X, y = problem(name)
    search = HalvingGridSearchCV(
        clone(MODELS[name]),
        {"max_depth": [1, 2, 3]},
        resource="n_estimators",
        min_resources=2,
        max_resources=6,
        cv=2,
        random_state=0,
        error_score="raise",
    ).fit(X, y)
    assert search.n_resources_ == [2, 6]
    assert search.best_estimator_.n_estimators == 6


# ------------------------------------------------------------------------------------------------------ calibration
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_are_calibrated_by_folds(name, method):
    X, y = problem(name)
    model = CalibratedClassifierCV(clone(CLASSIFIERS[name]), method=method, cv=2).fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert model.score(X, y) > SCORE


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fitted_model_is_calibrated_on_other_rows(name):
    X, y = problem(name)
    model = clone(CLASSIFIERS[name]).fit(X[:100], y[:100])
    before = model.predict(X)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[100:], y[100:])
    np.testing.assert_array_equal(model.predict(X), before)
    assert calibrated.score(X, y) > SCORE


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_threshold_is_tuned(name):
    X, y = problem(name)
    if not any(hasattr(CLASSIFIERS[name], ask) for ask in ("predict_proba", "decision_function")):
        pytest.fail(f"{name} has nothing to compare with a threshold")
    labels = (y == "virginica").astype(int)
    model = TunedThresholdClassifierCV(clone(CLASSIFIERS[name]), scoring="balanced_accuracy", cv=2).fit(X, labels)
    assert model.score(X, labels) > SCORE


# --------------------------------------------------------------------------------------------------------- metadata
@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("name", [name for name, each in MODELS.items() if "RECIP" not in name])
@pytest.mark.usefixtures("routing")
def test_weights_reach_the_model_through_a_pipeline_and_a_search(name):
    X, y = problem(name)
    weight = np.arange(len(X)) % 3 + 0.5
    model = clone(MODELS[name]).set_fit_request(sample_weight=True)
    scale = StandardScaler().set_fit_request(sample_weight=False)
    pipe = make_pipeline(scale, model)
    alone = clone(MODELS[name]).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    wanted = alone.predict(StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(pipe.fit(X, y, sample_weight=weight).predict(X), wanted)
    pipe[-1].set_score_request(sample_weight=True)
    search = GridSearchCV(pipe, {f"{name.lower()}__{k}": v[:1] for k, v in GRIDS[name].items()}, cv=2)
    search.fit(X, y, sample_weight=weight)
    best = clone(MODELS[name]).set_params(**{key.split("__")[1]: v for key, v in search.best_params_.items()})
    best.fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_array_equal(search.predict(X), best.predict(StandardScaler().fit_transform(X)))


@pytest.mark.usefixtures("routing")
def test_offsets_groups_and_weights_reach_boosting_in_a_search():
    X, _, y = numbers()
    offset, weight, groups = X[:, 0], np.arange(len(X)) % 2 + 1.0, np.arange(len(X)) // 10
    model = clone(REGRESSORS["SLMBoostRegressor"]).set_fit_request(sample_weight=True, offset=True)
    model.set_score_request(sample_weight=False, offset=True)
    search = GridSearchCV(model, {"max_depth": [2]}, cv=GroupKFold(3), error_score="raise")
    search.fit(X, y, sample_weight=weight, offset=offset, groups=groups)
    alone = clone(model).set_params(max_depth=2).fit(X, y, sample_weight=weight, offset=offset)
    np.testing.assert_array_equal(search.predict(X), alone.predict(X))
    assert search.best_estimator_.has_offset_


@pytest.mark.usefixtures("routing")
def test_queries_reach_a_ranker_in_a_cross_validation():
    X, _, target = numbers()
    qid, grade = np.arange(len(X)) // 10, (target > 8).astype(int)
    ranker = pw.SLMBoostRanker(n_estimators=5, random_state=0).set_fit_request(qid=True)
    seen = []

    def scorer(model, X, y):
        seen.append(len(y))
        return float(np.corrcoef(model.predict(X), y)[0, 1])

    found = cross_validate(
        ranker, X, grade, cv=GroupKFold(3), scoring=scorer, params={"qid": qid, "groups": qid}, error_score="raise"
    )
    assert np.isfinite(found["test_score"]).all() and sum(seen) == len(X)


@pytest.mark.usefixtures("routing")
def test_what_nobody_asked_for_is_refused_by_name():
    X, y, _ = numbers()
    with pytest.raises(ValueError, match="sample_weight"):
        make_pipeline(StandardScaler(), pw.SLMBoostClassifier(n_estimators=2)).fit(X, y, sample_weight=np.ones(len(X)))


# ------------------------------------------------------------------------------------------------------- inspection
@pytest.mark.parametrize("name", MODELS)
def test_permutation_importances(name):
    X, y = problem(name)
    model = clone(MODELS[name]).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean.max() > 0.1


@pytest.mark.parametrize("name", MODELS)
def test_partial_dependence_is_drawn(name):
    X, y = problem(name, table)
    X = X.astype({"colour": "category"})
    model = clone(MODELS[name]).fit(X, y)
    methods = {"response_method": "auto"} if name in REGRESSORS else {}
    display = PartialDependenceDisplay.from_estimator(
        model, X, ["petal length", "colour"], categorical_features=["colour"], grid_resolution=5, **methods
    )
    assert len(display.pd_results) == 2
    assert np.ptp(display.pd_results[0]["average"]) > 0


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_decision_boundary_is_drawn(name):
    X, y = problem(name)
    model = clone(CLASSIFIERS[name]).fit(X[:, 2:], y)
    display = DecisionBoundaryDisplay.from_estimator(model, X[:, 2:], grid_resolution=20)
    assert np.ptp(display.response) > 0


# ---------------------------------------------------------------------------------------------------- models of models
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_classifiers_vote(voting):
    X, y, _ = numbers()
    members = [(name, clone(CLASSIFIERS[name])) for name in ("SLMClassifier", "SLMBoostClassifier", "RECIPClassifier")]
    assert VotingClassifier(members, voting=voting).fit(X, y).score(X, y) > SCORE


def test_all_classifiers_are_stacked():
    X, y, _ = numbers()
    stack = StackingClassifier([(name, clone(model)) for name, model in CLASSIFIERS.items()], cv=2).fit(X, y)
    assert stack.score(X, y) > SCORE


def test_all_regressors_are_stacked_and_averaged():
    X, _, y = numbers()
    members = [(name, clone(model)) for name, model in REGRESSORS.items()]
    assert StackingRegressor(members, cv=2).fit(X, y).score(X, y) > SCORE
    assert VotingRegressor(members).fit(X, y).score(X, y) > SCORE


@pytest.mark.parametrize("name", REGRESSORS)
def test_targets_are_transformed_and_repeated(name):
    X, _, y = numbers()
    model = TransformedTargetRegressor(clone(REGRESSORS[name]), func=np.log, inverse_func=np.exp).fit(X, y)
    assert model.score(X, y) > SCORE
    both = MultiOutputRegressor(clone(REGRESSORS[name])).fit(X, np.column_stack([y, -y]))
    assert both.score(X, np.column_stack([y, -y])) > SCORE


@pytest.mark.parametrize("name", ["SLMClassifier", "SLMForestClassifier", "SLMBoostRegressor", "SLMForestRegressor"])
def test_features_are_chosen_by_importance(name):
    X, y = problem(name)
    noisy = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 3))])
    assert SelectFromModel(clone(MODELS[name])).fit(noisy, y).get_support()[4:].sum() == 0
    chosen = RFECV(clone(MODELS[name]), cv=2, min_features_to_select=1).fit(noisy, y)
    assert chosen.support_[:4].any()


@pytest.mark.parametrize("name", MODELS)
def test_a_cross_validation(name):
    assert cross_val_score(clone(MODELS[name]), *problem(name), cv=3, error_score="raise").mean() > 0.6
