from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import planewise
from planewise import LargeScaleMCMClassifier, MCMClassifier, MCMClassifierCV
from planewise.machines import search as _search
from planewise.machines.folds import (
    TOLERANCES,
    Held,
    Losses,
    Point,
    Tolerance,
    choose,
    held_out_losses,
    near_the_best,
    smooth,
    stay_in_the_race,
    stratified_folds,
)
from planewise.machines.kernels import Kernel
from planewise.machines.search import first_of_the_best

SMALL = {"gammas": [0.2, 1.0], "mus": [10.0, 1.0, 0.1], "Cs": [100.0], "rhos": [0.0, 0.3], "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(160, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def search(moons):
    return MCMClassifierCV(**SMALL).fit(*moons)


def test_every_point_is_scored_in_the_first_fold_and_the_chosen_one_in_all(search):
    results = search.cv_results_
    assert len(results["params"]) == 12
    assert set(results["params"][0]) == {"C", "mu", "rho", "gamma"}
    splits = np.array([results[f"split{k}_test_score"] for k in range(12)])  # 3 folds, drawn four times
    assert not np.isnan(splits[0]).any()
    assert not np.isnan(splits[:, search.best_index_]).any()
    assert_allclose(results["mean_test_score"], np.nanmean(splits, axis=0))
    assert_allclose(results["std_test_score"], np.nanstd(splits, axis=0))
    complete = ~np.isnan(splits).any(axis=0)
    assert 0 < complete.sum() < 12  # the others were left out on the way
    assert_array_equal(np.isnan(results["mean_test_log_loss"]), ~complete)
    assert results["rank_test_score"].min() == 1
    assert (results["mean_n_support"] >= 0).all()


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_scores_are_those_of_machines_fitted_one_by_one(moons, rho):
    X, y = moons
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    given = SMALL | {"cv": folds, "Cs": [100.0, 1000.0], "rhos": [rho], "selection": "first", "max_support": 1.0}
    search = MCMClassifierCV(**given).fit(X, y)
    for point, params in enumerate(search.cv_results_["params"]):
        for k, (train, held) in enumerate(folds):
            machine = MCMClassifier(**params).fit(X[train], y[train])
            assert search.cv_results_[f"split{k}_test_score"][point] == machine.score(X[held], y[held])


def test_the_chosen_machine_is_fitted_on_all_rows(moons, search):
    X, y = moons
    machine = MCMClassifier(**search.best_params_).fit(X, y)
    assert_array_equal(search.support_, machine.support_)
    assert_array_equal(search.decision_function(X), machine.decision_function(X))
    assert_array_equal(search.best_estimator_.predict(X), search.predict(X))
    assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    for name in ("support_vectors_", "dual_coef_", "intercept_", "h_", "objective_", "gap_", "n_iter_"):
        assert_array_equal(getattr(search, name), getattr(machine, name))


@pytest.mark.parametrize(
    "settings",
    [
        {"relaxation": 0.7, "scaling": "standard", "class_weight": {0: 1.0, 1: 3.0}, "tol": 1e-6},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "linear"},
        {"conformal": "signed", "gammas_conformal": [2.0]},
        {"conformal": "shrunk", "gammas_conformal": [2.0]},
        {"conformal": "printed", "gammas_conformal": [3.0], "slack": "sum"},
    ],
    ids=lambda settings: settings.get("kernel", settings.get("conformal", "weights")),
)
def test_the_best_parameters_are_all_of_the_chosen_machine(moons, settings):
    X, y = moons
    search = MCMClassifierCV([100.0], [1.0], [0.5], cv=2, n_repeats=1, random_state=0, **settings).fit(X, y)
    machine = MCMClassifier(**search.best_params_).fit(X, y)
    assert_array_equal(machine.decision_function(X), search.best_estimator_.decision_function(X))
    assert_array_equal(machine.decision_function(X), search.decision_function(X))


@pytest.mark.parametrize("selection", TOLERANCES)
def test_the_choice_has_the_fewest_vectors_of_those_that_are_not_measurably_worse(moons, selection, monkeypatch):
    X, y = moons
    seen = []
    monkeypatch.setattr(_search, "choose", lambda *given: seen.append(given) or choose(*given))
    search = MCMClassifierCV(**SMALL | {"mus": [10.0, 3.0, 1.0, 0.3, 0.1]}, selection=selection, refit=False).fit(X, y)
    ((by_row, share, n_support, tolerance),) = seen
    assert tolerance == TOLERANCES[selection]
    mean = by_row @ share
    excess = by_row - by_row[np.nanargmin(mean)]
    error = excess.std(axis=1) / np.sqrt(len(y))  # of the mean of paired differences
    with np.errstate(invalid="ignore"):
        allowed = excess.mean(axis=1) <= np.maximum(tolerance.errors * error, tolerance.loss) + 1e-12
    assert allowed[search.best_index_]
    assert n_support[search.best_index_] == n_support[allowed].min()


def test_any_number_of_threads_finds_the_same(moons, search):
    two = MCMClassifierCV(**SMALL, n_jobs=2).fit(*moons)
    assert two.best_params_ == search.best_params_
    assert_array_equal(two.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    assert_array_equal(two.dual_coef_, search.dual_coef_)


def test_weights_are_repeats(moons):
    X, y = moons
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = MCMClassifierCV(**SMALL).fit(X, y, sample_weight=times)
    repeated = MCMClassifierCV(**SMALL).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert_allclose(weighted.cv_results_["mean_test_log_loss"], repeated.cv_results_["mean_test_log_loss"])
    assert weighted.best_params_ == repeated.best_params_


def test_the_prices_tried_by_default_depend_on_distinct_rows():
    X, y = make_moons(200, noise=0.3, random_state=0)
    weighted = MCMClassifierCV(cv=2, n_repeats=1, random_state=0).fit(X, y, sample_weight=np.full(200, 2.0))
    repeated = MCMClassifierCV(cv=2, n_repeats=1, random_state=0).fit(np.repeat(X, 2, 0), np.repeat(y, 2))
    assert weighted.cv_results_["params"] == repeated.cv_results_["params"]
    assert weighted.best_params_ == repeated.best_params_


def test_points_left_out_of_some_folds_rank_last():
    X, y = make_moons(200, noise=0.3, random_state=0)
    results = MCMClassifierCV(cv=3, random_state=0).fit(X, y).cv_results_
    complete = ~np.isnan(results["mean_test_log_loss"])
    assert 0 < complete.sum() < len(complete)
    assert results["rank_test_score"][complete].max() < results["rank_test_score"][~complete].min()


def test_many_rows_are_handed_to_the_large_scale_machine(monkeypatch, tmp_path):
    monkeypatch.setattr(_search, "MOST_ROWS_SEARCHED", 100)
    X, y = make_moons(150, noise=0.2, random_state=0)
    search = MCMClassifierCV(scaling="standard", random_state=0)
    with pytest.warns(UserWarning, match="best_estimator_ is a LargeScaleMCMClassifier with the same kernel"):
        search.fit(X, y)
    assert isinstance(search.best_estimator_, LargeScaleMCMClassifier)
    assert search.best_estimator_.scaling == "standard"
    assert not hasattr(search, "cv_results_")
    assert search.score(X, y) > 0.9
    assert_array_equal(search.classes_[search.predict_proba(X).argmax(axis=1)], search.predict(X))
    assert len(search.explain(X[:2])) == 2
    planewise.save(search, tmp_path / "model.planewise")
    assert_array_equal(planewise.load(tmp_path / "model.planewise").predict(X), search.predict(X))
    for given in ({"Cs": [10.0]}, {"mus": [1.0]}, {"cv": KFold(2)}, {"refit": False}):
        assert hasattr(MCMClassifierCV(gammas=[0.5], **given).fit(X, y), "cv_results_")
    search.fit(X[:90], y[:90])  # an exact one afterwards
    assert isinstance(search.best_estimator_, MCMClassifier) and hasattr(search, "cv_results_")


def test_probabilities_agree_with_predict_and_cost_no_further_fit(moons, search):
    X, y = moons
    probability = search.predict_proba(X)
    assert_array_equal(search.classes_[probability.argmax(axis=1)], search.predict(X))
    assert log_loss(y, probability) < 0.4
    assert search.slope_ == search.best_estimator_.slope_
    assert_array_equal(search.best_estimator_.predict_proba(X), probability)


def test_several_classes_linear_machines_and_kernel_matrices_can_be_searched():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["x", "y", "z"])[y]
    known = {"mus": [1.0, 0.1], "Cs": [100.0], "cv": 3, "n_repeats": 1, "random_state": 0}
    ovo = MCMClassifierCV(gammas=[0.25], multi_class="ovo", **known).fit(X, labels)
    linear = MCMClassifierCV(kernel="linear", **known).fit(X, labels)
    matrix = MCMClassifierCV(kernel="precomputed", **known)
    K = Kernel("rbf", 0.25)(X, X)
    matrix.fit(K, labels)
    assert min(ovo.score(X, labels), linear.score(X, labels), matrix.score(K, labels)) > 0.92
    assert linear.coef_.shape == (3, 4)
    assert set(linear.best_params_) - {"relaxation"} == {"C", "mu", "rho", "kernel"}
    assert set(matrix.cv_results_["param_rho"]) == {0.0}  # who knows whether a given matrix has a norm


@pytest.mark.parametrize("conformal", ["signed", "shrunk"])
def test_a_conformal_kernel_has_its_gamma_searched_too(conformal, moons):
    X, y = moons
    search = MCMClassifierCV(
        [100.0], [1.0], [0.5], conformal=conformal, gammas_conformal=[1.0, 4.0], cv=2, n_repeats=1, random_state=0
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == (2 if conformal == "signed" else 6)
    assert set(search.cv_results_["param_gamma_conformal"]) == {0.5, 2.0}  # multiples of gamma
    assert search.best_params_["gamma_conformal"] in (0.5, 2.0)
    machine = MCMClassifier(**search.best_params_).fit(X, y)
    assert_array_equal(search.decision_function(X), machine.decision_function(X))


def test_a_factor_shrunk_to_none_is_the_plain_machine(moons):
    given = {"Cs": [100.0], "mus": [10.0, 1.0], "rhos": [0.0], "gammas": [0.5], "cv": 3, "n_repeats": 1}
    given |= {"random_state": 0, "selection": "first"}
    plain = MCMClassifierCV(**given, refit=False).fit(*moons).cv_results_
    shrunk = MCMClassifierCV(**given, conformal="shrunk", gammas_conformal=[2.0], refit=False).fit(*moons).cv_results_
    none = shrunk["param_shrinkage"] == 0
    for name in ("mean_test_score", "mean_n_support"):
        assert_array_equal(shrunk[name][none], plain[name])


def test_default_gammas_fall_with_the_number_of_features():
    X, y = make_moons(60, noise=0.2, random_state=0)
    wide = np.column_stack([X, X[:, ::-1]])
    for rows in (X, wide):
        search = MCMClassifierCV(mus=[10.0], cv=2, n_repeats=1, refit=False, random_state=0).fit(rows, y)
        assert_allclose(np.unique(search.cv_results_["param_gamma"]) * rows.shape[1], [0.05, 0.2, 0.8, 2.0])


@pytest.mark.parametrize("conformal", ["none", "signed"])
@pytest.mark.parametrize("gamma", [2.0, 1e-3], ids=["degenerate", "ill-conditioned"])
def test_a_path_may_end_at_the_published_program(moons, conformal, gamma):
    X, y = moons
    folds = list(StratifiedKFold(2, shuffle=True, random_state=1).split(X, y))
    given = {"mus": [1.0, 0.0], "rhos": [0.0], "gammas": [gamma], "max_support": 1.0, "conformal": conformal}
    given |= {"slack": "sum", "selection": "first"}
    search = MCMClassifierCV([0.01, 1.0], **given, gammas_conformal=[3.0], cv=folds, refit=False).fit(X, y)
    results = search.cv_results_
    assert not np.isnan(results["mean_test_score"]).any()
    for point, params in enumerate(results["params"]):
        more = {"conformal": conformal, "slack": "sum"}
        for k, (train, held) in enumerate(folds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                machine = MCMClassifier(**params, **more).fit(X[train], y[train])
            assert results[f"split{k}_test_score"][point] == machine.score(X[held], y[held])
    if gamma == 2.0 and conformal == "none":
        # Without mu nearly every row is a vector; how many exactly depends on BLAS, which chooses among the optima.
        assert results["mean_n_support"][results["param_mu"] == 0].min() > 0.8 * len(X) / 2


def test_default_penalties_are_shares_of_what_the_mean_slack_costs(moons):
    X, y = moons
    given = {"gammas": [0.5], "cv": 2, "n_repeats": 1, "refit": False, "random_state": 0}
    mean = MCMClassifierCV([160.0], **given).fit(X, y).cv_results_
    summed = MCMClassifierCV([1.0], slack="sum", **given).fit(X, y).cv_results_
    assert_allclose(summed["param_mu"], mean["param_mu"])


def test_the_first_of_the_best_points_is_chosen_as_it_is():
    points = [Point(C, mu, gamma=gamma) for gamma in (0.1, 0.2) for C in (1.0, 2.0) for mu in (3.0, 1.0)]
    accuracy = np.array([0.5, 0.6, 0.9, 0.6, 0.7, 0.9, 0.9, np.nan])
    assert first_of_the_best(points, accuracy) == 5  # C = 1 comes before C = 2, whatever gamma
    assert first_of_the_best(points, np.where(np.arange(8) == 5, 0.9 - 1e-9, accuracy)) == 2


def test_the_first_choice_is_not_smoothed(moons):
    search = MCMClassifierCV(**SMALL, selection="first", refit=False).fit(*moons)
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])


def test_paths_end_where_machines_have_too_many_vectors(moons):
    given = SMALL | {"mus": [1.0, 0.01, 0.001], "gammas": [20.0], "rhos": [0.0]}
    short = MCMClassifierCV(**given, max_support=0.1).fit(*moons)
    assert np.isnan(short.cv_results_["mean_test_score"]).tolist() == [False, True, True]
    assert short.best_params_["mu"] == 1.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("mus", "tried"), [([0.0], [0.0]), ([1.0, 0.01, 0.0], [1.0])])
def test_a_path_ends_for_smaller_penalties_only(moons, mus, tried):
    given = {
        "gammas": [20.0],
        "rhos": [0.0],
        "conformal": "signed",
        "gammas_conformal": [2.0, 4.0, 10.0],
        "max_support": 0.1,
    }
    results = MCMClassifierCV([100.0], mus, **given, cv=2, n_repeats=1, refit=False, random_state=0).fit(*moons)
    scored = ~np.isnan(results.cv_results_["mean_test_score"])
    assert_array_equal(scored, np.isin(results.cv_results_["param_mu"], tried))  # whatever gamma_conformal


@pytest.mark.parametrize(
    ("mus", "advice"),
    [([0.0], r"of 0 at most 20 per row.* Use a small mu, such as 0.001, instead of 0"), ([0.1, 0.0], "Raise max_iter")],
)
def test_a_search_out_of_steps_says_what_helps(moons, mus, advice):
    search = MCMClassifierCV([100.0], mus, gammas=[0.5], max_support=1.0, max_iter=5, cv=2, n_repeats=1, refit=False)
    with pytest.warns(ConvergenceWarning, match=rf"did not reach the optimum of .*{advice}"):
        search.fit(*moons)


def test_without_refit_there_is_no_machine(moons):
    search = MCMClassifierCV(**SMALL, refit=False).fit(*moons)
    assert search.best_params_["C"] == 100.0
    for name in ("predict", "predict_proba", "decision_function", "support_", "best_estimator_"):
        assert not hasattr(search, name)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("Cs", []),
        ("Cs", None),
        ("mus", 1.0),
        ("mus", [1.0, -0.1]),
        ("slack", "total"),
        ("gammas", [0.0]),
        ("rhos", [-1.0]),
        ("rhos", 1.0),
        ("gammas_conformal", ["wide"]),
        ("selection", "sparse"),
        ("max_support", 0),
        ("n_repeats", 0),
        ("n_repeats", "often"),
        ("cv", 1),
        ("refit", "yes"),
    ],
)
def test_wrong_parameters_are_refused_by_name(parameter, value, moons):
    with pytest.raises(ValueError, match=f"The parameter '{parameter}' of MCMClassifierCV must be .*; got "):
        MCMClassifierCV(**{parameter: value}).fit(*moons)


def test_folds_must_know_every_class():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    with pytest.raises(ValueError, match="'cv' lacks a class; use stratified folds"):
        MCMClassifierCV(cv=KFold(3)).fit(X, y)


def test_folds_are_stratified_and_never_hold_out_the_only_row_of_a_class():
    label = np.array([0] * 30 + [1] * 9 + [2])
    folds = stratified_folds(3, label, 0)
    assert_array_equal(np.sort(np.concatenate([held for _, held in folds])), np.arange(39))
    for train, held in folds:
        assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(40))
        assert_array_equal(np.bincount(label[held]), [10, 3])
        assert 39 in train


def test_smoothing_mixes_neighbours_on_a_path_only():
    points = [Point(1.0, mu, gamma=gamma) for gamma in (0.1, 0.2) for mu in (1.0, 2.0, 3.0)]
    losses = np.array([0.6, 0.8, 1.0, 0.5, 0.5, np.nan])
    expected = [(0.6 + 0.4) / 1.5, (0.8 + 0.3 + 0.5) / 2, (1.0 + 0.4) / 1.5, 0.5, 0.5, np.nan]
    assert_allclose(smooth(points, np.column_stack([losses, 2 * losses])), np.outer(expected, [1, 2]))


def test_the_choice_is_the_sparsest_of_the_near_best():
    even = np.array([-1.0, 1.0] * 50)
    by_row = np.array([0.5 + 0 * even, 0.51 + 0.2 * even, 0.6 + 0 * even, np.nan * even])
    share, vectors = np.full(100, 0.01), np.array([30.0, 10.0, 1.0, 0.0])
    assert choose(by_row, share, vectors, Tolerance(0.0, 0.0)) == 0
    assert choose(by_row, share, vectors, Tolerance(0.4, 0.0)) == 0
    assert choose(by_row, share, vectors, Tolerance(0.6, 0.0)) == 1  # a standard error is 0.02
    assert choose(by_row, share, vectors, Tolerance(0.0, 0.2)) == 2
    assert near_the_best(by_row, share, Tolerance(9.0, 9.0)).tolist() == [True, True, True, False]


def test_paths_without_a_point_near_the_best_leave_the_race():
    points = [Point(1.0, mu, gamma=gamma) for gamma in (0.1, 0.2) for mu in (3.0, 2.0, 1.0, 0.5)]
    mean = np.array([0.5, 0.4, 0.6, 0.7, 0.9, 0.9, 0.9, 0.9])
    losses = Losses(np.outer(mean, np.ones(10)), mean, np.ones(8), np.full(10, 0.1))
    staying = stay_in_the_race(points, losses, Tolerance(0.0, 0.05))
    assert staying == points[:3]  # one step beyond the last that is near


def test_losses_are_means_over_the_times_a_row_was_held_out():
    label = np.array([0, 1, 1, 0], dtype=np.int32)
    held = [np.array([0, 1]), np.array([2, 3]), np.array([0, 1])]
    scores = np.array([-1.0, 2.0, -0.5, -3.0, 1.0, 2.0])
    parts = [Held(scores[at : at + 2, None], 3, True) for at in (0, 2, 4)]
    weight = np.array([1.0, 2.0, 1.0, 1.0])
    losses = held_out_losses([parts, [parts[0], None, parts[2]]], held, label, weight)
    own = np.log1p(np.exp(-losses.slope[0] * scores * np.array([-1, 1, 1, -1, -1, 1])))
    rows = np.concatenate(held)
    assert_allclose(losses.log_loss[0], np.average(own, weights=weight[rows]))
    wrong = np.array([0, 0, 1, 0, 1, 0])
    expected = [np.mean((own + 0.5 * wrong)[rows == row]) for row in range(4)]
    assert_allclose(losses.by_row[0], expected)
    assert np.isnan(losses.by_row[1]).all() and np.isnan(losses.slope[1])
    assert_allclose(losses.share, weight / weight.sum())


def test_more_rows_are_drawn_less_often(moons):
    search = MCMClassifierCV()
    assert [search._n_draws(n) for n in (20, 200, 400, 1000, 10**6)] == [4, 4, 2, 1, 1]
    assert MCMClassifierCV(n_repeats=2)._n_draws(20) == 2


@pytest.mark.parametrize("splitter", [GroupKFold(3), LeaveOneGroupOut()], ids=["folds", "one out"])
def test_groups_stay_together_and_are_asked_for(splitter, moons):
    X, y = moons
    groups = np.arange(len(y)) % 4
    given = SMALL | {"cv": splitter, "refit": False}
    by_groups = MCMClassifierCV(**given).fit(X, y, groups=groups)
    by_rows = MCMClassifierCV(**given | {"cv": list(splitter.split(X, y, groups))}).fit(X, y)
    assert_array_equal(by_groups.cv_results_["mean_test_score"], by_rows.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match=rf"cv={type(splitter).__name__}.* needs the group of every row.*groups="):
        MCMClassifierCV(**given).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MCMClassifierCV(**given).fit(X, y, groups=groups[1:])


def test_groups_without_a_splitter_that_keeps_them_together_are_refused(moons):
    with pytest.raises(ValueError, match=r"groups is given, but cv=3 ignores it.*GroupKFold\(3\)"):
        MCMClassifierCV(**SMALL).fit(*moons, groups=np.zeros(160))


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_a_pipeline_routes_groups_to_the_splitter(moons):
    X, y = moons
    groups = np.arange(len(y)) % 4
    search = MCMClassifierCV(**SMALL | {"cv": GroupKFold(3)})
    piped = make_pipeline(StandardScaler(), search).fit(X, y, groups=groups)
    alone = clone(search).fit(StandardScaler().fit_transform(X), y, groups=groups)
    assert piped[-1].best_params_ == alone.best_params_
    assert_array_equal(piped[-1].cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    with pytest.raises(TypeError, match="groups"):  # stratified folds do not ask for them
        make_pipeline(StandardScaler(), MCMClassifierCV(**SMALL)).fit(X, y, groups=groups)


@pytest.mark.usefixtures("routing")
def test_a_pipeline_routes_requested_weights_and_groups_together(moons):
    X, y = moons
    weight, groups = np.arange(len(y)) % 3, np.arange(len(y)) % 4
    search = MCMClassifierCV(**SMALL | {"cv": GroupKFold(3)}).set_fit_request(sample_weight=True)
    piped = make_pipeline(search).fit(X, y, sample_weight=weight, groups=groups)
    alone = clone(search).fit(X, y, sample_weight=weight, groups=groups)
    assert_array_equal(piped.decision_function(X), alone.decision_function(X))


@pytest.mark.usefixtures("routing")
def test_cross_validation_routes_groups_to_both_splitters(moons):
    X, y = moons
    groups = np.arange(len(y)) % 6
    search = MCMClassifierCV(**SMALL | {"cv": GroupKFold(2)})
    found = cross_val_score(search, X, y, cv=GroupKFold(3), params={"groups": groups})
    expected = []
    for train, held in GroupKFold(3).split(X, y, groups):
        expected.append(clone(search).fit(X[train], y[train], groups=groups[train]).score(X[held], y[held]))
    assert_array_equal(found, expected)
