from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from planewise import MCMRegressor, MCMRegressorCV
from planewise.machines.kernels import Kernel
from planewise.machines.regressor_search import (
    ALLOWANCES,
    Allowance,
    shuffled_folds,
    sparsest_near_the_best,
)

SMALL = {"gammas": [0.05, 0.3], "mus": [1.0, 0.1, 0.01], "cv": 3, "max_support": 1.0, "random_state": 0}


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(150, n_features=5, noise=0.5, random_state=0)


@pytest.fixture(scope="module")
def search(friedman):
    return MCMRegressorCV(**SMALL).fit(*friedman)


def test_every_point_is_scored_in_every_fold(search):
    results = search.cv_results_
    assert len(results["params"]) == 6
    assert set(results["params"][0]) == {"C", "mu", "gamma", "epsilon"}
    splits = np.array([results[f"split{k}_test_score"] for k in range(3)])
    assert_allclose(results["mean_test_score"], splits.mean(axis=0))
    assert_allclose(results["std_test_score"], splits.std(axis=0))
    assert results["rank_test_score"].min() == 1


@pytest.mark.parametrize("relaxation", ["ridge", 0.3, 1])
def test_scores_are_those_of_machines_fitted_one_by_one(friedman, relaxation):
    X, y = friedman
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    given = SMALL | {"cv": folds, "relaxation": relaxation, "mus": [1.0, 0.1], "refit": False}
    search = MCMRegressorCV([100.0, 1000.0], epsilons=[0.1, 0.5], **given).fit(X, y)
    assert len(search.cv_results_["params"]) == 16
    for point, params in enumerate(search.cv_results_["params"]):
        for k, (train, held) in enumerate(folds):
            machine = MCMRegressor(**params, relaxation=relaxation).fit(X[train], y[train])
            score = 1 - np.mean((machine.predict(X[held]) - y[held]) ** 2) / y.var()
            assert_allclose(search.cv_results_[f"split{k}_test_score"][point], score, rtol=1e-5)


def test_the_chosen_machine_is_fitted_on_all_rows(friedman, search):
    X, y = friedman
    machine = MCMRegressor(**search.best_params_).fit(X, y)
    assert_array_equal(search.predict(X), machine.predict(X))
    assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
    for name in (
        "support_",
        "support_vectors_",
        "dual_coef_",
        "intercept_",
        "h_",
        "objective_",
        "gap_",
        "n_iter_",
        "mu_",
    ):
        assert_array_equal(getattr(search, name), getattr(machine, name))


@pytest.mark.parametrize(
    "settings",
    [
        {"relaxation": 0.7, "scaling": "standard", "tol": 1e-6},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "linear"},
        {"slack": "sum", "Cs": [0.3]},
        {"categorical_features": [0, 3]},
        {"categorical_features": np.arange(5) == 2},
    ],
    ids=lambda settings: settings.get("kernel", next(iter(settings))),
)
def test_the_best_parameters_are_all_of_the_chosen_machine(friedman, settings):
    X, y = friedman
    search = MCMRegressorCV(mus=[0.1], gammas=[0.2], cv=2, max_support=1.0, random_state=0, **settings).fit(X, y)
    assert_array_equal(MCMRegressor(**search.best_params_).fit(X, y).predict(X), search.predict(X))


def test_default_penalties_are_shares_of_what_the_mean_slack_costs(friedman):
    X, y = friedman
    weight = np.arange(150) % 3 + 1.0
    given = {"gammas": [0.1], "cv": 2, "max_support": 1.0, "random_state": 0, "refit": False}
    summed = MCMRegressorCV(Cs=[0.1], slack="sum", **given).fit(X, y, sample_weight=weight)
    mean = MCMRegressorCV(Cs=[0.2 * weight.sum()], **given).fit(X, y, sample_weight=weight)
    assert_allclose(summed.cv_results_["param_mu"], mean.cv_results_["param_mu"])


def test_any_number_of_threads_finds_the_same(friedman, search):
    two = MCMRegressorCV(**SMALL, n_jobs=2).fit(*friedman)
    assert two.best_params_ == search.best_params_
    assert_array_equal(two.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    assert_array_equal(two.dual_coef_, search.dual_coef_)


def test_weights_are_repeats(friedman):
    X, y = friedman
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = MCMRegressorCV(**SMALL).fit(X, y, sample_weight=times)
    repeated = MCMRegressorCV(**SMALL).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert_allclose(weighted.cv_results_["mean_test_score"], repeated.cv_results_["mean_test_score"], rtol=1e-6)
    assert weighted.best_params_ == repeated.best_params_
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5)


def test_units_of_y_do_not_matter(friedman, search):
    X, y = friedman
    other = MCMRegressorCV(**SMALL).fit(X, 1000 * y - 7)
    assert_allclose(other.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], rtol=1e-4)
    assert other.best_params_ == search.best_params_


@pytest.mark.parametrize("selection", ALLOWANCES)
def test_the_choice_has_the_fewest_vectors_of_those_near_the_best(friedman, selection):
    search = MCMRegressorCV(**SMALL, selection=selection, refit=False).fit(*friedman)
    results = search.cv_results_
    error = 1 - results["mean_test_score"]
    surely = error <= (1 + ALLOWANCES[selection].share) * error.min()
    assert results["mean_n_support"][search.best_index_] <= results["mean_n_support"][surely].min()
    if selection == "best":
        assert search.best_index_ == error.argmin()


def test_differences_count_row_by_row():
    random = np.random.default_rng(0)
    best = random.exponential(size=400)
    steady, unsteady = best + 0.02, best + 0.02 + random.normal(0, 1.0, 400)
    unsteady += 0.02 - (unsteady - best).mean()
    vectors, equal = np.array([30.0, 10.0, 5.0]), np.ones(400)
    errors = np.array([best, steady, unsteady])
    assert sparsest_near_the_best(errors, equal, vectors, Allowance(0.0, 0.0)) == 0
    assert sparsest_near_the_best(errors, equal, vectors, Allowance(0.5, 0.0)) == 2  # 0.4 standard errors
    assert sparsest_near_the_best(errors[:2], equal, vectors[:2], Allowance(0.5, 0.0)) == 0
    assert sparsest_near_the_best(errors[:2], equal, vectors[:2], Allowance(0.0, 0.03)) == 1
    unknown = np.vstack([errors, np.full(400, np.nan)])
    assert sparsest_near_the_best(unknown, equal, np.append(vectors, 0.0), Allowance(0.0, 0.0)) == 0


def test_linear_machines_and_kernel_matrices_can_be_searched(friedman):
    X, y = friedman
    known = {"mus": [0.1, 0.01], "cv": 3, "random_state": 0, "max_support": 1.0}
    linear = MCMRegressorCV(kernel="linear", **known).fit(X, y)
    K = Kernel("rbf", 0.5)(X, X)
    matrix = MCMRegressorCV(kernel="precomputed", **known).fit(K, y)
    assert linear.coef_.shape == (1, 5) and linear.score(X, y) > 0.6
    assert matrix.score(K, y) > 0.9
    assert set(linear.best_params_) == {"C", "mu", "epsilon", "kernel"}


def test_default_gammas_fall_with_the_number_of_features(friedman):
    X, y = friedman
    search = MCMRegressorCV(mus=[0.1], cv=2, refit=False, random_state=0).fit(X, y)
    again = MCMRegressorCV(mus=[0.1], cv=2, refit=False, random_state=0).fit(np.hstack([X, X]), y)
    assert_allclose(again.cv_results_["param_gamma"], search.cv_results_["param_gamma"] / 2)


def test_paths_end_where_machines_have_too_many_vectors(friedman):
    given = SMALL | {"gammas": [2.0], "mus": [10.0, 0.001, 0.0001], "max_support": 0.1}
    short = MCMRegressorCV(**given).fit(*friedman)
    assert np.isnan(short.cv_results_["mean_test_score"]).tolist() == [False, False, True]


def test_a_search_out_of_steps_says_what_helps(friedman):
    with pytest.warns(ConvergenceWarning, match="did not reach the optimum of .* Raise max_iter"):
        MCMRegressorCV(**SMALL, max_iter=3, refit=False).fit(*friedman)


def test_without_refit_there_is_no_machine(friedman):
    search = MCMRegressorCV(**SMALL, refit=False).fit(*friedman)
    assert search.best_params_["C"] == 100.0
    for name in ("predict", "explain", "support_", "best_estimator_"):
        assert not hasattr(search, name)


def test_groups_stay_together_and_are_asked_for(friedman):
    X, y = friedman
    groups = np.arange(len(y)) % 4
    given = SMALL | {"cv": GroupKFold(3), "refit": False}
    by_groups = MCMRegressorCV(**given).fit(X, y, groups=groups)
    by_rows = MCMRegressorCV(**given | {"cv": list(GroupKFold(3).split(X, y, groups))}).fit(X, y)
    assert_array_equal(by_groups.cv_results_["mean_test_score"], by_rows.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match=r"cv=GroupKFold.* needs the group of every row.*groups="):
        MCMRegressorCV(**given).fit(X, y)
    with pytest.raises(ValueError, match=r"groups is given, but cv=3 ignores it"):
        MCMRegressorCV(**SMALL).fit(X, y, groups=groups)


def test_a_pipeline_routes_groups_to_the_splitter(friedman):
    X, y = friedman
    groups = np.arange(len(y)) % 4
    search = MCMRegressorCV(**SMALL | {"cv": GroupKFold(3)})
    with config_context(enable_metadata_routing=True):
        piped = make_pipeline(StandardScaler(), search).fit(X, y, groups=groups)
        alone = clone(search).fit(StandardScaler().fit_transform(X), y, groups=groups)
    assert_array_equal(piped[-1].cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_every_row_may_be_held_out_alone(friedman):
    X, y = (part[:20] for part in friedman)
    search = MCMRegressorCV(gammas=[0.1], mus=[0.1], cv=LeaveOneOut(), max_support=1.0).fit(X, y)
    assert np.isfinite(search.best_score_)


def test_folds_hold_out_every_row_once_per_repeat():
    folds = shuffled_folds(3, 2, 20, 0)
    assert len(folds) == 6
    for repeat in (folds[:3], folds[3:]):
        assert_array_equal(np.sort(np.concatenate([held for _, held in repeat])), np.arange(20))
    for train, held in folds:
        assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(20))
        assert 6 <= len(held) <= 7
    assert len(shuffled_folds(5, 1, 2, 0)) == 2
    with pytest.raises(ValueError, match="1 sample, or all are equal"):
        MCMRegressorCV().fit(np.ones((5, 2)), np.ones(5))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("Cs", []),
        ("mus", [1.0, -0.1]),
        ("gammas", [0.0]),
        ("epsilons", None),
        ("relaxation", "squares"),
        ("selection", "first"),
        ("max_support", 0),
        ("n_repeats", 0),
        ("cv", 1),
        ("refit", "yes"),
    ],
)
def test_wrong_parameters_are_refused_by_name(parameter, value, friedman):
    with pytest.raises(ValueError, match=f"The parameter '{parameter}' of MCMRegressorCV must be .*; got "):
        MCMRegressorCV(**{parameter: value}).fit(*friedman)


def test_the_defaults_predict_well_with_few_vectors():
    X, y = load_diabetes(return_X_y=True)
    search = MCMRegressorCV(cv=3, random_state=0).fit(X[:300], y[:300])
    assert search.score(X[300:], y[300:]) > 0.45
    assert len(search.support_) < 60


def test_folds_of_numbers_are_not_stratified():
    X = np.random.default_rng(0).normal(size=(40, 2))
    search = MCMRegressorCV(gammas=[0.1], mus=[0.1], cv=None, max_support=1.0).fit(X, np.arange(40.0))
    assert len([name for name in search.cv_results_ if name.startswith("split")]) == 5
