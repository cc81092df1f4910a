"""Where numbers, weights or tables are extreme: the answer is right, or there is an error or a warning that says so."""

import warnings

import numpy as np
import pytest
from benchmarks.data import make_circle_and_ring
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from whole_program import whole_optimum

from planewise import (
    ConformalKernel,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
)
from planewise.data.scaling import find_scaling
from planewise.machines import folds as _held_out
from planewise.machines.folds import Point
from planewise.machines.kernels import Kernel
from planewise.machines.search import MUS_BY_C
from planewise.machines.settings import Settings
from planewise.machines.training import MachinePaths


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.25, random_state=0)


def value_of(machine, X, y):
    margin = machine.decision_function(X) * np.where(y == machine.classes_[1], 1, -1)
    slack = np.maximum(0, 1 - margin).mean()
    return max(1.0, margin.max()) + machine.C * slack + machine.mu * np.abs(machine.dual_coef_).sum()


@pytest.mark.parametrize(("C", "mu"), [(1e3, 1e-3), (1e5, 1e-4)])
def test_the_reported_value_is_that_of_the_machine_that_is_kept(moons, C, mu):
    X, y = moons[0][:, :1], moons[1]
    K = np.exp(-0.1 * np.abs(X - X.T) / X.std())
    machine = MCMClassifier(C, mu, kernel="precomputed").fit(K, y)
    assert_allclose(machine.objective_[0], value_of(machine, K, y), rtol=1e-6)
    assert machine.gap_[0] < 1e-5


@pytest.mark.parametrize("C", [1e4, 1e5, 1e6])
def test_very_dear_slack_is_solved_too(C):
    X, y = load_breast_cancer(return_X_y=True)
    machine = MCMClassifier(C, 0.01, gamma=1.0).fit(X[:200], y[:200])
    assert_allclose(machine.objective_, 2.81387656, rtol=1e-6)  # HiGHS on the whole program
    assert machine.gap_[0] < 1e-6


def test_slack_a_billion_times_as_dear_equals_the_whole_program(moons):
    X, y = moons
    machine = MCMClassifier(C=1e9, gamma=0.5, scaling="standard").fit(X, y)
    assert machine.gap_[0] < 1e-5
    K = rbf_kernel((X - X.mean(axis=0)) / X.std(axis=0), gamma=0.5)
    least = whole_optimum(K, np.where(y == 1, 1.0, -1.0), np.ones(len(y)), 1e9, 0.2)
    assert_allclose(machine.objective_[0], least, rtol=1e-4)


def test_a_gap_that_is_left_is_told(moons):
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        machine = MCMClassifier(C=1e14).fit(*moons)
    assert machine.gap_[0] > 1e-5


def test_a_kernel_that_overflows_is_refused(moons):
    X, y = moons
    with pytest.raises(ValueError, match=r"overflow.*degree=500"):
        MCMClassifier(kernel="poly", degree=500, gamma=1.0).fit(X, y)
    with pytest.raises(ValueError, match="scaling='standard'"):
        MCMClassifier(scaling=None, gamma=1.0).fit(X * 1e160, y)


def test_columns_too_large_for_float32_are_priced_in_float64(monkeypatch):
    monkeypatch.setattr("planewise.machines.training.HELD_BYTES", 0)
    X, y = make_moons(200, noise=0.2, random_state=1)
    usual = MCMClassifier(scaling=None, gamma=1.0).fit(X, y)
    large = MCMClassifier(scaling=None, gamma=1e-50).fit(X * 1e25, y)
    assert_allclose(large.objective_, usual.objective_, rtol=1e-6)


def test_rows_without_weight_do_not_count_in_the_search_of_a_given_kernel():
    X, y = load_iris(return_X_y=True)
    K, weight = rbf_kernel(X, gamma=0.3), np.ones(len(X))
    weight[::3] = 0
    keep = weight > 0
    noisy = K.copy()
    noise = np.random.default_rng(0).normal(size=K.shape)
    hidden = ~(keep[:, None] & keep)
    noisy[hidden] = (noise + noise.T)[hidden]
    settings = {"kernel": "precomputed", "Cs": [100.0], "mus": [1.0, 0.1], "cv": 3, "random_state": 0}
    scores = [
        MCMClassifierCV(**settings).fit(K, y, sample_weight=weight).cv_results_["mean_test_score"],
        MCMClassifierCV(**settings).fit(noisy, y, sample_weight=weight).cv_results_["mean_test_score"],
        MCMClassifierCV(**settings).fit(K[np.ix_(keep, keep)], y[keep]).cv_results_["mean_test_score"],
    ]
    assert_array_equal(scores[0], scores[1])
    assert_array_equal(scores[0], scores[2])


def test_an_unsolvable_published_program_keeps_its_conformal_kernel(moons):
    with pytest.warns(ConvergenceWarning, match="ill-conditioned"):
        machine = MCMClassifier(1.0, mu=0, conformal="signed", gamma=1e-4).fit(*moons)
    assert machine._factor is not None


def test_what_stands_in_for_a_missing_penalty_suits_a_small_C():
    X, y = make_circle_and_ring(60, random_state=0)
    published = {"mu": 0.0, "slack": "sum", "relaxation": 1.0, "scaling": "standard"}
    machine = MCMClassifier(C=2.0**-19, gamma=2.0**-8, conformal="signed", gamma_conformal=2.0**-7, **published)
    with pytest.warns(ConvergenceWarning, match="was used instead"):
        machine.fit(X, y)
    assert machine.score(X, y) > 0.7
    assert len(machine.support_) > 0


def test_predict_and_predict_proba_agree_at_zero():
    X, y = np.array([[-1.0], [-2], [-3], [1], [2], [3]]), [0, 0, 0, 1, 1, 1]
    machine = MCMClassifier(kernel="linear", probability=True).fit(X, y)
    query = np.array([[0.0], [1e-11], [-1e-11]])
    assert machine.decision_function(query)[0] == 0
    assert_array_equal(machine.predict(query), machine.classes_[machine.predict_proba(query).argmax(axis=1)])


@pytest.mark.parametrize("times", [1e-200, 1e-12, 1e12, 1e200])
def test_the_scale_of_the_weights_does_not_matter(moons, times):
    X, y = moons
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    expected = MCMClassifier().fit(X, y, weight).decision_function(X)
    assert_allclose(MCMClassifier().fit(X, y, weight * times).decision_function(X), expected, rtol=1e-6, atol=1e-8)
    search = MCMClassifierCV(Cs=[1000.0], gammas=[0.5], cv=3, n_repeats=1, random_state=0)
    plain = search.fit(X, y, weight).best_params_
    assert search.fit(X, y, weight * times).best_params_ == plain


@pytest.mark.parametrize(
    "machine", [MCMClassifier(probability=True), MCMClassifier(conformal="shrunk"), MCMClassifierCV()]
)
def test_too_few_rows_to_hold_any_out(machine):
    with pytest.raises(ValueError, match="two distinct rows"):
        machine.fit([[-1.0], [1.0]], [0, 1])
    warnings.simplefilter("ignore", UserWarning)  # that nothing tells the classes apart; pytest puts it back
    with pytest.raises(ValueError, match="two distinct rows"):
        machine.fit(np.ones((10, 2)), [0, 1] * 5)


@pytest.mark.parametrize(("times", "plus"), [(1e-3, 1e3), (1e-30, 0.0)])
def test_columns_of_small_spread_count(moons, times, plus):
    X, y = moons
    assert LargeScaleMCMClassifier(random_state=0).fit(X * times + plus, y).score(X * times + plus, y) > 0.9


def test_a_column_that_float32_cannot_resolve_is_named(moons):
    X, y = moons
    near = np.c_[X[:, 0] * 1e-6 + 10, X[:, 1]]
    with pytest.warns(UserWarning, match="Column 0 varies by"):
        LargeScaleMCMClassifier(random_state=0, max_iter=2).fit(near.astype(np.float32), y)
    assert LargeScaleMCMClassifier(random_state=0).fit(near, y).score(near, y) > 0.9  # float64 resolves it


@pytest.mark.parametrize("seed", range(4))
def test_the_only_row_of_a_class_is_learned_from(seed):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.r_[[2], (X[1:, 0] > 0).astype(int)]
    model = LargeScaleMCMClassifier(early_stopping=True, validation_fraction=0.9, max_iter=2, random_state=seed)
    assert_array_equal(model.fit(X, y).classes_, [0, 1, 2])


def test_a_search_tells_of_machines_that_did_not_converge(moons):
    with pytest.warns(ConvergenceWarning, match="of the search's machines"):
        MCMClassifierCV(max_iter=3, refit=False, random_state=0, cv=2, n_repeats=1).fit(*moons)


def test_class_weights_do_not_bend_probabilities(moons):
    X, y = moons
    settings = {"class_weight": {0: 20, 1: 1}}
    search = MCMClassifierCV(Cs=[1000.0], mus=[1.0], gammas=[0.5], random_state=0, **settings).fit(X, y)
    machine = MCMClassifier(1000.0, 1.0, gamma=0.5, relaxation=0.3, probability=True, random_state=0, **settings)
    assert_allclose(machine.fit(X, y).slope_, search.slope_, rtol=0.4)  # other folds


@pytest.mark.parametrize("times", [1e-200, 1e200])
def test_columns_of_any_size(moons, times):
    X, y = moons
    expected = MCMClassifier().fit(X, y).score(X, y)
    assert MCMClassifier().fit(X * times, y).score(X * times, y) == pytest.approx(expected, abs=0.02)
    target = X[:, 0] * X[:, 1]
    plain = MCMRegressor().fit(X, target).predict(X)
    assert_allclose(MCMRegressor().fit(X, target * times).predict(X) / times, plain, rtol=1e-5, atol=1e-6)


def test_partial_fit_takes_new_prices_and_refuses_another_kernel(moons):
    X, y = moons
    first = {"n_components": 10, "random_state": 0}
    unchanged = LargeScaleMCMClassifier(**first).partial_fit(X, y, classes=[0, 1]).partial_fit(X, y)
    changed = LargeScaleMCMClassifier(**first).partial_fit(X, y, classes=[0, 1])
    changed.set_params(mu=1e4, learning_rate=1e-3).partial_fit(X, y)
    assert not np.array_equal(changed.decision_function(X), unchanged.decision_function(X))
    with pytest.raises(ValueError, match="was started with gamma='search'"):
        changed.set_params(gamma=3.0).partial_fit(X, y)


def test_a_fitted_regressor_does_not_depend_on_later_parameters(moons):
    X, y = moons
    model = MCMRegressor().fit(X, y)
    before = model.predict(X)
    assert_array_equal(model.set_params(kernel="linear").predict(X), before)


def test_too_many_rows_for_a_regressor_name_one_that_takes_them():
    with pytest.raises(ValueError, match="SLMBoostRegressor"):
        MCMRegressor().fit(np.zeros((60_000, 1)), np.zeros(60_000))


def test_symmetry_is_asked_of_the_matrix_and_not_of_its_scale():
    X = load_iris().data[:60].astype(np.float32)
    y = np.arange(60) % 2
    K = rbf_kernel(X)
    K[0, 1] += 1e-7  # as float32 products leave it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # noise: no vector is worth it
        MCMClassifier(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="symmetric"):
        MCMClassifier(kernel="precomputed").fit(1e-9 * np.random.default_rng(0).normal(size=(60, 60)), y)


@pytest.mark.parametrize("ask", ["predict", "decision_function", "predict_proba", "explain"])
def test_errors_about_rows_name_the_search(moons, ask):
    search = MCMClassifierCV(mus=[1.0], gammas=[0.1], cv=2, n_repeats=1, random_state=0).fit(*moons)
    with pytest.raises(ValueError, match="X has 1 features, but MCMClassifierCV is expecting 2"):
        getattr(search, ask)([[1.0]])


def test_a_search_without_refit_says_why_it_has_no_machine(moons):
    search = MCMClassifierCV(mus=[1.0], gammas=[0.1], cv=2, n_repeats=1, refit=False, random_state=0)
    with pytest.raises(AttributeError, match="'support_'"):
        search.support_  # noqa: B018
    search.fit(*moons)
    with pytest.raises(AttributeError, match="MCMClassifierCV has no attribute 'support_': with refit=False"):
        search.support_  # noqa: B018
    assert not any(hasattr(search, name) for name in ("predict", "explain", "coef_", "predict_proba"))


def test_a_search_without_refit_forgets_the_last_machine(moons):
    X, y = moons
    search = MCMClassifierCV(Cs=[100.0], cv=2, n_repeats=1, random_state=0).fit(X, y)
    search.set_params(refit=False).fit(*load_iris(return_X_y=True))
    assert not hasattr(search, "support_") and not hasattr(search, "best_estimator_")


def test_probabilities_need_a_fit_with_them(moons):
    machine = MCMClassifier().fit(*moons).set_params(probability=True)
    with pytest.raises(AttributeError) as told:
        machine.predict_proba(moons[0])
    assert "fitted without" in str(told.value.__cause__)


@pytest.mark.parametrize(
    "machine",
    [
        MCMClassifier(max_iter=2),
        MCMClassifierCV(max_iter=2, Cs=[100.0], cv=2, n_repeats=1, random_state=0),
        MCMRegressor(max_iter=2),
    ],
)
def test_warnings_point_to_the_users_line(moons, machine):
    with pytest.warns(ConvergenceWarning) as told:
        machine.fit(*moons)
    assert {warning.filename for warning in told} == {__file__}


def test_a_search_on_tied_columns_and_noisy_labels_takes_fewer_steps_than_its_paths_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(300, 11)).astype(np.float64)
    signal = X @ rng.normal(size=11)
    noisy = signal / signal.std() + 4 * rng.normal(size=300)
    y = (noisy > np.median(noisy)).astype(np.int32)
    weight = np.ones(300)
    rows = find_scaling(X, weight, "arcsinh")(X)
    made, solutions = [], []

    class Counted(MachinePaths):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

        def solve(self, C, mu, **how):
            trained = super().solve(C, mu, **how)
            solutions.extend(trained.solutions)
            return trained

    settings = Settings(Kernel("rbf", 0.8 / 11), n_classes=2)

    def steps(Cs):
        made.clear()
        points = [Point(C, share * C, gamma=0.8 / 11) for C in Cs for share in MUS_BY_C[:8]]
        paths = Counted(settings, rows, y, weight, np.arange(300))
        _held_out._step_by_step(paths, points, rows, 300)
        return made[0].paths[0].program.steps()

    one_by_one = steps([100.0]) + steps([1000.0])
    assert steps([100.0, 1000.0]) < 0.8 * one_by_one  # 0.65 here, and 1.05 when one C came after the other
    assert max(solution.gap for solution in solutions) < 1e-6


EXTREMES = [1e-300, 1e-8, 1e8, 1e300]
MACHINES_AT_EXTREMES = [
    *(ConformalKernel(gamma=value) for value in EXTREMES),
    *(ConformalKernel(gamma_conformal=value) for value in EXTREMES),
    *(MCMClassifier(C=value) for value in EXTREMES),
    *(MCMClassifier(mu=value) for value in EXTREMES),
    *(MCMClassifier(C=value, mu=0.0) for value in EXTREMES),
    *(MCMClassifier(C=value, rho=1.0, kernel="poly") for value in EXTREMES),
    *(MCMClassifier(gamma=value) for value in EXTREMES),
    *(MCMClassifier(conformal="shrunk", gamma_conformal=value) for value in EXTREMES),
    *(MCMRegressor(C=value) for value in EXTREMES),
    *(MCMRegressor(gamma=value) for value in EXTREMES),
    *(LargeScaleMCMClassifier(mu=value, n_components=8, max_iter=2) for value in EXTREMES),
    *(LargeScaleMCMClassifier(gamma=value, n_components=8, max_iter=2) for value in EXTREMES[:3]),
]


@pytest.mark.parametrize("machine", MACHINES_AT_EXTREMES, ids=lambda machine: f"{machine}".replace("\n", ""))
def test_a_fit_with_an_extreme_parameter_ends_with_finite_answers(machine):
    X, y = make_moons(40, noise=0.3, random_state=0)
    X = np.c_[X[[*range(40), 0, 0, 1]], np.ones(43)]  # a constant column, and equal rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        machine.fit(X, y[[*range(40), 0, 0, 1]])
    ask = getattr(machine, "decision_function", None) or getattr(machine, "predict", None) or machine.transform
    assert np.isfinite(ask(X)).all()


def test_a_width_that_overflows_in_float32_is_named(moons):
    with pytest.raises(ValueError, match=r"overflow in float32 \(gamma=1e\+300\); use a smaller gamma"):
        LargeScaleMCMClassifier(gamma=1e300).fit(*moons)
