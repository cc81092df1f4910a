from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import planewise
from planewise import (
    ConformalKernel,
    DiscriminantFeatureTest,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
    SLMBoostClassifier,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

PUBLIC = [getattr(planewise, name) for name in planewise.__all__]
ESTIMATORS = [each for each in PUBLIC if isinstance(each, type) and issubclass(each, BaseEstimator)]

# For each parameter: values that are wrong, and words of the message that say what would be right.
WRONG = {
    "max_depth": ([0, -1, 2.5, "deep", True], "an integer of 1 or more or None"),
    "min_samples_split": ([1, 0, 2.5, None], "an integer of 2 or more"),
    "min_samples_leaf": ([0, -3, 0.5, None, False], "an integer of 1 or more"),
    "max_leaf_nodes": ([1, 0, "many"], "an integer of 2 or more or None"),
    "min_impurity_decrease": ([-0.1, np.nan, np.inf, None], "a number of 0 or more"),
    "min_loss": ([-1, np.nan, "0"], "a number of 0 or more"),
    "noise_margin": ([-0.5, np.inf, None], "a number of 0 or more"),
    "smoothing": ([-1e-9, np.nan, "none"], "a number of 0 or more"),
    "max_planes": ([0, 9, 1.5, None], "an integer from 1 to 8"),
    "plane_choice": (["best", "JOINT", None, 1], "'joint' or 'cosine'"),
    "max_cosine": ([-0.1, 1.1, np.nan, "0.5"], "a number of 0 or more and at most 1"),
    "min_relative_gain": ([-0.1, 1.01, None], "a number of 0 or more and at most 1"),
    "n_projections": ([-1, 1.5, 10**7, None], "an integer from 0 to 1000000"),
    "subspace": (["round", None, 2], "'candidate' or 'node'"),
    "subspace_size": (
        [0, [], [2, 0], 1.5, [2, "3"], np.array([2, 3])],
        "an integer of 1 or more, or a list of such",
    ),
    "root_features": ([0, -1, 0.5, "sqrt"], "an integer of 1 or more or None"),
    "axis_candidates": (["node", None, 1], "'all' or 'subspace' or 'none'"),
    "max_coef": ([0, 1001, 2.0], "an integer from 1 to 1000"),
    "min_coef": ([-1, 2, 0.0, None], "an integer from 0 to 1"),
    "coef_decay": ([-0.1, [], [0.1, -0.1], None, np.inf], "a number of 0 or more, or a list of such"),
    "rank_decay": ([-0.1, (), [np.nan], "fast"], "a number of 0 or more, or a list of such"),
    "n_bins": ([1, 256, 16.0, None], "an integer from 2 to 255"),
    "bins": (["equal", None], "'uniform' or 'robust' or 'quantile'"),
    "refine_thresholds": ([1, 0, "yes", None], "True or False"),
    "max_rows_per_node": ([15, 0, 1e4], "an integer of 16 or more or None"),
    "categorical_features": (["from_type", 3, [[0]], {"a": 1}], "'from_dtype', a list"),
    "monotonic_cst": (["up", 3, [[1, 0, 0, 0]]], "a list with 1, -1 or 0 for each column, a dict of these"),
    "interaction_cst": (
        ["none", 3, [0, 1], [[0.5]], {"a": 1}],
        "'pairwise', 'no_interactions', a list of groups (each a list or set of column names or numbers) or None",
    ),
    "max_ranked_features": ([0, -1, 0.5, "sqrt"], "an integer of 1 or more or None"),
    "n_jobs": ([0, 1.0, "all", True], "an integer other than 0"),
    "random_state": ([-1, 2**32, 1.5, "seed", [0, 1]], "an integer from 0 to 4294967295"),
}
WRONG_FOR_CLASSES = {
    "criterion": (["mse", None, "Gini"], "'entropy' or 'gini'"),
    "class_weight": (
        ["equal", [1, 2, 3], {0: -1}, {0: np.nan}, {0: "1"}, 2],
        "a dict with a weight of 0 or more for each class, 'balanced' or None",
    ),
}
WRONG_FOR_TEST = {
    "task": (["classify", None, 1], "'auto' or 'classification' or 'regression'"),
    "n_features_to_select": (
        [0, -1, 0.0, 1.5, "all", None, np.nan, True],
        "an integer of 1 or more, or a number above 0 and at most 1, or 'elbow'",
    ),
    "criterion": WRONG_FOR_CLASSES["criterion"],
    **{name: WRONG[name] for name in ("n_bins", "min_samples_leaf", "n_jobs")},
    "bins": (["equal", "robust"], "'uniform' or 'quantile'"),
}
WRONG_FOR_FOREST = WRONG | {
    "rows_per_projection": ([-1, 1.5, None], "an integer from 0 to 1000000"),
    "n_estimators": ([0, -1, 10.0, None, True], "an integer of 1 or more"),
    "bootstrap": ([1, 0, "yes", None], "True or False"),
    "max_samples": (
        [0, -1, 0.0, 1.5, "all", True, np.nan],
        "an integer of 1 or more or None, or a number above 0 and at",
    ),
    "oob_score": ([1, "accuracy", None], "True or False, or a function (y_true, y_pred) -> score"),
    "verbose": ([-1, 0.5, None], "an integer of 0 or more"),
}
WRONG_FOR_FOREST_OF_CLASSES = WRONG_FOR_FOREST | {
    "criterion": WRONG_FOR_CLASSES["criterion"],
    "voting": (["majority", None, True], "'soft' or 'hard'"),
    "class_weight": (
        ["equal", [1, 2, 3], {0: -1}, {0: np.nan}, {0: "1"}, 2],
        "a dict with a weight of 0 or more for each class, 'balanced' or 'balanced_subsample' or None",
    ),
}
TABLE = {
    SLMClassifier: WRONG | WRONG_FOR_CLASSES,
    SLMRegressor: WRONG,
    SLMForestClassifier: WRONG_FOR_FOREST_OF_CLASSES,
    SLMForestRegressor: WRONG_FOR_FOREST,
    DiscriminantFeatureTest: WRONG_FOR_TEST,
}
# Words that mean the same in every machine; their other parameters are tested in tests/machines.
WRONG_FOR_MACHINES = {
    "categorical_features": WRONG["categorical_features"],
    "scaling": (["rank", True, ["standard"], 1], "'arcsinh', 'standard', 'robust' or None"),
    "gamma": (["wide", "search", 0, -1.0, np.inf, None], "a number above 0, 'smooth', 'medium', 'scale' or 'auto'"),
}
WRONG_FOR_SEARCH = {name: WRONG_FOR_MACHINES[name] for name in ("categorical_features", "scaling")}
WRONG_FOR_LARGE = WRONG_FOR_MACHINES | {
    "scaling": (WRONG_FOR_MACHINES["scaling"][0], "'robust', 'standard', 'arcsinh' or None"),
    "gamma": (
        ["wide", "auto", 0, -1.0, np.inf, None],
        "a number above 0, 'search', 'smooth', 'medium' or 'scale'",
    ),
}
WORDS_OF_MACHINES = {
    MCMClassifier: WRONG_FOR_MACHINES,
    MCMRegressor: WRONG_FOR_MACHINES,
    MCMClassifierCV: WRONG_FOR_SEARCH,
    MCMRegressorCV: WRONG_FOR_SEARCH,
    LargeScaleMCMClassifier: WRONG_FOR_LARGE,
    ConformalKernel: {name: WRONG_FOR_MACHINES[name] for name in ("categorical_features", "gamma")},
}
CASES = [
    pytest.param(make, name, value, words, id=f"{make.__name__}-{name}-{value!r}")
    for make, wrong in (TABLE | WORDS_OF_MACHINES).items()
    for name, (values, words) in wrong.items()
    for value in values
]


@pytest.mark.parametrize("make", ESTIMATORS)
def test_an_unknown_parameter_is_refused_in_the_name_of_the_estimator(make):
    with pytest.raises(TypeError, match=rf"^{make.__name__}\.__init__\(\) got an unexpected keyword argument 'foo'"):
        make(foo=1)
    assert clone(make()).get_params() == make().get_params()


@pytest.mark.parametrize("make", TABLE)
def test_every_parameter_has_wrong_values_here(make):
    assert set(TABLE[make]) == set(make().get_params())


@pytest.mark.parametrize(("make", "name", "value", "words"), CASES)
def test_a_wrong_value_is_named_with_what_would_be_right(make, name, value, words):
    X, y = load_iris(return_X_y=True)
    model = make(**{name: value})
    with pytest.raises(ValueError, match=f"'{name}' of {make.__name__}") as raised:
        model.fit(X, y)
    message = str(raised.value)
    assert f"must be {words}" in message
    assert message.endswith(f"got {value!r}.")
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@pytest.mark.parametrize(
    "rounds",
    [
        {"subspace_size": [2, 3], "rank_decay": [0.1, 0.2, 0.3]},
        {"coef_decay": [0.1], "rank_decay": (0.1, 0.2)},
        {"subspace_size": [2, 2, 3], "coef_decay": [0.1, 0.2], "rank_decay": [0.1, 0.2]},
    ],
)
def test_rounds_of_different_lengths_are_refused_with_the_lengths(rounds):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="subspace_size, coef_decay and rank_decay must be") as raised:
        SLMClassifier(**rounds).fit(X, y)
    for name, values in rounds.items():
        assert f"'{name}': {len(values)}" in str(raised.value)


@pytest.mark.parametrize("make", [SLMClassifier, SLMForestClassifier, SLMBoostClassifier])
def test_axes_of_a_subspace_that_is_not_drawn_are_refused(make):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"axis_candidates='subspace' needs subspace='node'.*got subspace='candidate'"):
        make(axis_candidates="subspace").fit(X, y)


@pytest.mark.parametrize("given", [{"n_projections": 0}, {"subspace_size": 1}, {"subspace_size": [1, 1]}])
def test_a_tree_without_any_candidate_is_refused(given):
    X, y = load_iris(return_X_y=True)
    name, value = next(iter(given.items()))
    with pytest.raises(ValueError, match="axis_candidates='none' leaves only planes of several") as raised:
        SLMClassifier(axis_candidates="none", **given).fit(X, y)
    assert f"but {name}={value!r} allows none" in str(raised.value)


def test_single_values_repeat_in_every_round():
    X, y = load_iris(return_X_y=True)
    short, long = (
        SLMClassifier(subspace_size=[2, 3], rank_decay=decay, random_state=0).fit(X, y).tree_
        for decay in (0.2, [0.2, 0.2])
    )
    assert short.threshold.tolist() == long.threshold.tolist()


@pytest.mark.parametrize(
    "name",
    ["max_depth", "max_leaf_nodes", "max_rows_per_node", "max_ranked_features", "subspace_size", "root_features"],
)
def test_an_endless_limit_is_none(name):
    X, y = load_iris(return_X_y=True)
    X, y = X[:90], y[:90]
    model = SLMClassifier(**{name: 10**30}, n_projections=20, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("name", ["min_samples_split", "min_samples_leaf"])
def test_a_demand_nothing_can_meet_gives_a_constant_model(name):
    X, y = load_iris(return_X_y=True)
    assert SLMClassifier(**{name: 10**30}).fit(X, y).n_planes_ == 0
    assert np.isnan(DiscriminantFeatureTest(min_samples_leaf=10**30).fit(X, y).thresholds_).all()


def test_a_random_state_object_moves_on_and_a_number_does_not():
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)  # noise enough for seeds to matter
    moving = np.random.RandomState(0)
    first, second = (SLMClassifier(random_state=moving).fit(X, y).tree_.threshold.tolist() for _ in range(2))
    assert first != second
    assert first == SLMClassifier(random_state=0).fit(X, y).tree_.threshold.tolist()


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_parameters_are_kept_as_they_are_given(cls):
    given = {name: object() for name in cls._get_param_names()}
    model = cls(**given)
    assert vars(model) == given
