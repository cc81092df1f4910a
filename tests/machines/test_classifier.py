from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler
from whole_program import whole_optimum

import planewise
from planewise import MCMClassifier, MCMClassifierCV
from planewise.machines import training as _training
from planewise.machines.kernels import Kernel


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def machine(moons):
    return MCMClassifier(scaling="standard").fit(*moons)


# ------------------------------------------------------------------------------------------- a fitted machine
def test_the_objective_is_the_optimum_of_the_whole_program(moons, machine):
    X, y = moons
    scaled = StandardScaler().fit_transform(X)
    G = Kernel("rbf", 0.25)(scaled, scaled)
    expected = whole_optimum(G, np.where(y == 1, 1.0, -1.0), np.ones(len(y)), machine.C, machine.mu)
    assert_allclose(machine.objective_, expected, rtol=1e-6)
    assert machine.gap_[0] < 1e-6


def test_scores_are_sums_over_support_vectors(moons, machine):
    X, y = moons
    mean, spread = X.mean(axis=0), X.std(axis=0)
    K = Kernel("rbf", 0.25)((X - mean) / spread, (machine.support_vectors_ - mean) / spread)
    assert_allclose(machine.decision_function(X), K @ machine.dual_coef_[0] + machine.intercept_)
    assert_array_equal(machine.predict(X), machine.decision_function(X) >= 0)
    assert machine.score(X, y) > 0.9


def test_support_vectors_are_rows_of_x_few_and_in_order(moons, machine):
    X, _ = moons
    assert_array_equal(machine.support_vectors_, X[machine.support_])
    assert_array_equal(machine.support_, np.sort(machine.support_))
    assert 0 < len(machine.support_) < 20
    assert machine.dual_coef_.shape == (1, len(machine.support_))


def test_h_is_the_largest_margin(moons, machine):
    X, y = moons
    margin = np.where(y == 1, 1, -1) * machine.decision_function(X)
    assert_allclose(machine.h_, max(1, margin.max()), rtol=1e-6)


def test_units_of_the_columns_do_not_matter(moons, machine):
    X, y = moons
    other = X * [1000, 0.01] + [5, -7]
    refit = MCMClassifier(scaling="standard").fit(other, y)
    assert_array_equal(refit.support_, machine.support_)
    assert_allclose(refit.decision_function(other), machine.decision_function(X), rtol=1e-5)


def test_an_unscaled_machine_sees_the_units_of_the_columns(moons):
    X, y = moons
    other = X * [4, 0.5]
    unscaled = MCMClassifier(scaling=None, gamma=0.2).fit(other, y)
    K = np.exp(-0.2 * cdist(other, other, "sqeuclidean"))
    by_matrix = MCMClassifier(kernel="precomputed").fit(K, y)
    assert_array_equal(unscaled.support_, by_matrix.support_)
    assert_allclose(unscaled.decision_function(other), by_matrix.decision_function(K), rtol=1e-6)


def test_long_tails_are_drawn_in_unless_told_otherwise(moons):
    X, y = moons
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    by_hand = MCMClassifier(scaling="standard").fit(np.arcsinh(2 * z), y)
    inside = MCMClassifier().fit(X, y)
    assert_allclose(inside.decision_function(X), by_hand.decision_function(np.arcsinh(2 * z)), rtol=1e-6)
    assert_array_equal(inside.support_vectors_, X[inside.support_])


def test_a_copy_of_the_machine_says_the_same(moons, machine):
    X, _ = moons
    assert_array_equal(pickle.loads(pickle.dumps(machine)).decision_function(X), machine.decision_function(X))


# ---------------------------------------------------------------------------------------------------- kernels
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_every_kernel_learns(kernel):
    X, y = load_breast_cancer(return_X_y=True)
    machine = MCMClassifier(kernel=kernel, coef0=1.0 if kernel == "poly" else 0.0).fit(X[:200], y[:200])
    assert machine.score(X[:200], y[:200]) > 0.9
    assert machine.gap_[0] < 1e-6


def test_a_linear_machine_is_a_plane_in_the_units_of_x():
    X, y = load_breast_cancer(return_X_y=True)
    machine = MCMClassifier(kernel="linear").fit(X, y)
    assert machine.score(X, y) > 0.95
    assert machine.coef_.shape == (1, 30)
    assert np.count_nonzero(machine.coef_) < 30
    assert_allclose(machine.decision_function(X), X @ machine.coef_[0] + machine.intercept_[0])
    assert machine.support_.shape == (0,) and machine.dual_coef_.shape == (1, 0)
    scaled = StandardScaler().fit_transform(X)
    expected = whole_optimum(scaled, np.where(y == 1, 1.0, -1.0), np.ones(len(y)), machine.C, machine.mu)
    assert_allclose(machine.objective_, expected, rtol=1e-6)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_a_kernel_matrix_says_what_its_function_says(multi_class, iris):
    X, y = iris
    scaled = StandardScaler().fit_transform(X)
    kernel = Kernel("rbf", 0.25)
    by_name = MCMClassifier(gamma=0.25, scaling=None, multi_class=multi_class).fit(scaled, y)
    by_matrix = MCMClassifier(kernel="precomputed", multi_class=multi_class).fit(kernel(scaled, scaled), y)
    assert_allclose(by_matrix.objective_, by_name.objective_, rtol=1e-6)
    assert_allclose(
        by_matrix.decision_function(kernel(scaled[:20], scaled)), by_name.decision_function(scaled[:20]), atol=1e-4
    )
    assert by_matrix.support_vectors_.shape == (0, 0)


def test_kernel_matrices_can_be_cut_into_folds(iris):
    X, y = iris
    K = Kernel("rbf", 0.25)(X, X)
    assert cross_val_score(MCMClassifier(kernel="precomputed"), K, y, cv=3).mean() > 0.9


def test_a_kernel_held_in_memory_or_not_gives_the_same_machine(moons, machine, monkeypatch):
    X, y = moons
    monkeypatch.setattr(_training, "HELD_BYTES", 0)
    computed = MCMClassifier(scaling="standard").fit(X, y)
    assert_array_equal(computed.support_, machine.support_)
    assert_allclose(computed.dual_coef_, machine.dual_coef_, rtol=1e-5)


@pytest.mark.parametrize("conformal", ["signed", "shrunk"])
def test_a_conformal_kernel_changes_the_machine(conformal, moons, machine):
    X, y = moons
    changed = MCMClassifier(conformal=conformal, shrinkage=0.5 if conformal == "shrunk" else None).fit(X, y)
    assert changed.shrinkage_ == (1.0 if conformal == "signed" else 0.5)
    assert changed.score(X, y) > 0.85
    assert not np.allclose(changed.decision_function(X), machine.decision_function(X))
    plain = MCMClassifier(conformal="shrunk", shrinkage=0.0, scaling="standard").fit(X, y)
    assert_allclose(plain.decision_function(X), machine.decision_function(X), rtol=1e-6)


def test_shrinkage_is_chosen_by_validation(moons):
    machine = MCMClassifier(conformal="shrunk", random_state=0).fit(*moons)
    assert machine.shrinkage_ in (0, 0.25, 0.5, 0.75, 1)


# ------------------------------------------------------------------------------------------------ several classes
@pytest.mark.parametrize(("multi_class", "machines"), [("ovr", 4), ("ovo", 6)])
def test_several_classes(multi_class, machines, iris):
    X, y = iris
    y = np.where(X[:, 0] > 6.5, 3, y)
    labels = np.array(["a", "b", "c", "d"])[y]
    model = MCMClassifier(mu=0.1, multi_class=multi_class, probability=True, random_state=0).fit(X, labels)
    assert model.dual_coef_.shape == (machines, len(model.support_))
    assert model.decision_function(X).shape == (150, 4)
    assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    assert model.score(X, labels) > 0.9


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_any_number_of_threads_gives_the_same_machine(multi_class, iris):
    X, y = iris
    one, two = (MCMClassifier(multi_class=multi_class, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert_array_equal(one.intercept_, two.intercept_)


# -------------------------------------------------------------------------------------------------- probabilities
def test_probabilities_agree_with_predict_and_are_calibrated():
    X, y = make_moons(400, noise=0.4, random_state=1)
    model = MCMClassifier(probability=True, random_state=0).fit(X[:200], y[:200])
    probability = model.predict_proba(X[200:])
    assert_allclose(probability.sum(axis=1), 1)
    assert_array_equal(probability[:, 1] >= 0.5, model.predict(X[200:]) == 1)
    base = y[:200].mean()
    assert log_loss(y[200:], probability) < 0.8 * log_loss(y[200:], np.full(200, base))


def test_without_probability_there_is_no_predict_proba(machine):
    assert not hasattr(machine, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = machine.predict_proba


# -------------------------------------------------------------------------------------------------------- weights
@pytest.mark.parametrize("probability", [False, True])
def test_weights_are_repeats(probability, moons):
    X, y = moons
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = MCMClassifier(probability=probability, random_state=0).fit(X, y, sample_weight=times)
    repeated = MCMClassifier(probability=probability, random_state=0).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-8)
    assert (times[weighted.support_] > 0).all()
    if probability:
        assert weighted.slope_ == pytest.approx(repeated.slope_, rel=1e-4)


def test_the_scale_of_the_weights_and_the_order_of_rows_do_not_matter(moons, machine):
    X, y = moons
    heavy = MCMClassifier(scaling="standard").fit(X, y, sample_weight=np.full(len(y), 1000.0))
    assert_allclose(heavy.decision_function(X), machine.decision_function(X), rtol=1e-6, atol=1e-8)
    backwards = MCMClassifier(scaling="standard").fit(X[::-1], y[::-1])
    assert_allclose(backwards.decision_function(X), machine.decision_function(X), rtol=1e-6, atol=1e-8)
    assert_array_equal(np.sort(len(y) - 1 - backwards.support_), machine.support_)


def test_class_weights_are_sample_weights(moons):
    X, y = moons
    by_class = MCMClassifier(class_weight={0: 3, 1: 1}).fit(X, y)
    by_row = MCMClassifier().fit(X, y, sample_weight=np.where(y == 0, 3, 1))
    assert_allclose(by_class.decision_function(X), by_row.decision_function(X))
    assert by_class.predict(X).mean() < 0.5


def test_equal_rows_with_opposite_labels_share_a_column():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]] * 4)
    y = np.array([0, 1, 0, 0, 1] * 4)
    machine = MCMClassifier(mu=0.01, gamma=1.0).fit(X, y)
    assert len(machine.support_) <= 3
    assert_array_equal(machine.predict([[1.0], [2.0]]), [0, 1])


# ------------------------------------------------------------------------------------------------- the lone mu = 0
def test_the_published_program_warns_where_it_is_degenerate(moons):
    X, y = moons
    with pytest.warns(UserWarning, match="degenerate.*h = 1.*mu"):
        published = MCMClassifier(mu=0, gamma=20.0).fit(X[:60], y[:60])
    assert published.h_[0] == pytest.approx(1, abs=1e-5)
    assert len(published.support_) >= 58
    assert len(MCMClassifier(mu=30, gamma=20.0).fit(X[:60], y[:60]).support_) < 40


def test_relaxation_needs_no_more_vectors(moons, machine):
    X, y = moons
    relaxed = MCMClassifier(relaxation=0.1, scaling="standard").fit(X, y)
    assert set(relaxed.support_) <= set(machine.support_)
    assert np.abs(relaxed.dual_coef_).sum() > np.abs(machine.dual_coef_).sum()
    assert_allclose(relaxed.objective_, machine.objective_)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_c_on_the_sum_of_slacks_is_that_times_the_weights_on_their_mean(multi_class):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    given = {"mu": 0.5, "multi_class": multi_class}
    summed = MCMClassifier(2.0, slack="sum", **given).fit(X, y, weight)
    if multi_class == "ovr":
        mean = MCMClassifier(2.0 * weight.sum(), **given).fit(X, y, weight)
        assert_array_equal(summed.decision_function(X), mean.decision_function(X))
    pair = y < 2  # of one duel only its own rows count
    alone = MCMClassifier(2.0, slack="sum", scaling=None, gamma=0.1, mu=0.5).fit(X[pair], y[pair], weight[pair])
    duels = MCMClassifier(2.0, slack="sum", scaling=None, gamma=0.1, **given).fit(X, y, weight)
    if multi_class == "ovo":
        assert_allclose(duels.objective_[0], alone.objective_[0], rtol=1e-9)
    repeated = MCMClassifier(2.0, slack="sum", **given).fit(
        np.repeat(X, weight.astype(int), 0), np.repeat(y, weight.astype(int))
    )
    assert_allclose(summed.objective_, repeated.objective_, rtol=1e-9)


def test_the_printed_factor_is_another_one_and_never_shrunk(moons):
    X, y = moons
    printed, signed = (MCMClassifier(conformal=form, shrinkage=0.5).fit(X, y) for form in ("printed", "signed"))
    assert printed.shrinkage_ == 1.0
    assert np.abs(printed._factor(X) - signed._factor(X)).max() > 0.01


# ------------------------------------------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("C", 0),
        ("C", "1"),
        ("mu", -1),
        ("kernel", "gauss"),
        ("gamma", 0),
        ("gamma", "wide"),
        ("degree", 0),
        ("conformal", True),
        ("slack", "total"),
        ("gamma_conformal", -1),
        ("shrinkage", 2),
        ("relaxation", 1.5),
        ("tol", -1),
        ("max_iter", 0),
        ("class_weight", "even"),
        ("probability", "yes"),
        ("multi_class", "crammer"),
        ("scaling", True),
        ("n_jobs", 0),
        ("random_state", -1),
    ],
)
def test_wrong_parameters_are_refused_by_name(parameter, value, moons):
    with pytest.raises(ValueError, match=f"The parameter '{parameter}' of MCMClassifier must be .*; got {value!r}"):
        MCMClassifier(**{parameter: value}).fit(*moons)


def test_one_class_is_refused(moons):
    X, y = moons
    with pytest.raises(ValueError, match="only one class"):
        MCMClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="only one class"):
        MCMClassifier().fit(X, y, sample_weight=(y == 1).astype(float))


def test_a_kernel_matrix_may_not_have_missing_values(moons):
    X, y = moons
    K = X @ X.T
    K[3, 1] = K[1, 3] = np.nan
    with pytest.raises(ValueError, match="Column 1 of X contains NaN or infinity, which MCMClassifier does not accept"):
        MCMClassifier(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="categorical_features needs the columns of a table"):
        MCMClassifier(kernel="precomputed", categorical_features=[0]).fit(X @ X.T, y)


def test_infinities_are_refused_by_the_name_of_their_column(moons):
    X, y = moons
    X = X.copy()
    X[3, 1] = np.inf
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        with pytest.raises(ValueError, match=r"Column 'b' contains infinity.*MCMClassifier accepts NaN"):
            MCMClassifier().fit(frame, y)


def test_frames_are_tables(moons, machine):
    X, y = moons
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        model = MCMClassifier(scaling="standard").fit(frame, y)
        assert_array_equal(model.decision_function(frame), machine.decision_function(X))
        assert list(model.feature_names_in_) == ["a", "b"]


def test_a_kernel_matrix_must_be_square_and_symmetric(moons):
    X, y = moons
    with pytest.raises(
        ValueError, match=re.escape("square matrix of the training rows' kernel values; got shape (150")
    ):
        MCMClassifier(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match=r"must be symmetric; entries differ .* by up to 1"):
        MCMClassifier(kernel="precomputed").fit(np.triu(np.ones((150, 150))), y)


def test_too_many_rows_are_refused_with_an_estimate():
    X, y = np.zeros((100_000, 1)), np.arange(100_000) % 2
    with pytest.raises(ValueError, match=r"100,000 rows.* minutes .* GB .*LargeScaleMCMClassifier"):
        MCMClassifier().fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_a_conformal_kernel_needs_a_kernel_function(kernel):
    X = np.eye(4)
    with pytest.raises(ValueError, match=f"conformal='signed' .* kernel='{kernel}' has none"):
        MCMClassifier(kernel=kernel, conformal="signed").fit(X, [0, 1, 0, 1])


def test_a_solver_out_of_steps_warns_with_the_gap(moons):
    with pytest.warns(ConvergenceWarning, match=r"ran out of steps .* relative gap of \d\.\de.* Raise max_iter"):
        MCMClassifier(max_iter=5).fit(*moons)


def test_a_published_program_out_of_steps_warns_with_its_own_limit(moons, monkeypatch):
    X, y = moons
    monkeypatch.setattr(_training, "STEPS_A_ROW", 1)
    limit = f"ran out of steps after {len(X)} of at most {len(X)} steps"
    with pytest.warns(ConvergenceWarning, match=rf"{limit}.* set a small mu, such as mu=0.001") as caught:
        MCMClassifier(mu=0, gamma=0.5).fit(X, y)
    assert not any("Raise max_iter" in str(each.message) for each in caught)
    with pytest.warns(ConvergenceWarning, match="of at most 5 steps.* Raise max_iter"):  # here that helps
        MCMClassifier(mu=0, gamma=0.5, max_iter=5).fit(X, y)


@pytest.mark.parametrize("machine", [MCMClassifier, MCMClassifierCV])
def test_the_limit_of_the_published_program_is_documented(machine):
    assert f"{_training.STEPS_A_ROW} steps per row" in machine.__doc__


def test_a_machine_without_vectors_warns(moons):
    with pytest.warns(UserWarning, match="No support vector is worth its penalty.*mu=1e"):
        MCMClassifier(mu=1e6).fit(*moons)
    X = np.repeat(np.arange(10.0), 2)[:, None]
    with pytest.warns(UserWarning, match="opposite labels"):
        MCMClassifier().fit(X, [0, 1] * 10)


def test_nothing_can_be_asked_before_fit(moons):
    for method in ("predict", "decision_function", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(MCMClassifier(probability=True), method)(moons[0])


def test_a_failed_refit_leaves_the_machine_as_it_was(moons):
    X, y = moons
    machine = MCMClassifier().fit(X, y)
    before = dict(vars(machine))
    with pytest.raises(ValueError, match="Every value of X is missing"):
        machine.fit(np.full((4, 3), np.nan), [0, 1, 0, 1])
    assert all(vars(machine)[name] is value for name, value in before.items())


def test_a_refit_forgets_what_no_longer_holds():
    X, y = load_breast_cancer(return_X_y=True)
    machine = MCMClassifier(kernel="linear").fit(X[:100], y[:100])
    assert not hasattr(machine.set_params(kernel="rbf").fit(X[:100], y[:100]), "coef_")


def test_it_can_be_searched_and_cloned(moons):
    search = GridSearchCV(MCMClassifier(), {"mu": [0.3, 3.0]}, cv=3).fit(*moons)
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


def test_the_saved_machine_does_not_tell_how_many_threads_fitted_it(tmp_path):
    X, y = load_iris(return_X_y=True)
    files = []
    for n_jobs in (1, 2):
        machine = MCMClassifier(n_jobs=n_jobs).fit(X, y).set_params(n_jobs=None)
        planewise.save(machine, tmp_path / "machine")
        files.append((tmp_path / "machine").read_bytes())
    assert files[0] == files[1]
