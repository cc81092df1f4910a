from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification, make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from planewise import LargeScaleMCMClassifier
from planewise.data.scaling import robust_scaling
from planewise.machines import large
from planewise.machines import large_factor as _factor_on_map
from planewise.machines.descent import BLOCK, Schedule
from planewise.machines.kernels import Kernel
from planewise.machines.large import mu_for
from planewise.machines.maps import KernelMap, PrototypeMap
from planewise.machines.rows import balanced_draw
from planewise.machines.scores import calibrate, probabilities

SMALL = {"n_components": 15, "max_iter": 10, "random_state": 0}


@parametrize_with_checks(
    [
        LargeScaleMCMClassifier(n_components=20),
        LargeScaleMCMClassifier(**SMALL),
        LargeScaleMCMClassifier(conformal="shrunk", **SMALL),
    ],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": (
            "mini-batches of repeated rows are other mini-batches; that weights equal repeats in the "
            "objective is a test below"
        )
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(1200, noise=0.25, random_state=0)
    return X[:600].astype(np.float32), y[:600], X[600:].astype(np.float32), y[600:]


@pytest.fixture(scope="module")
def fitted(moons):
    return LargeScaleMCMClassifier(n_components=40, random_state=0).fit(*moons[:2])


# --------------------------------------------------------------------------------------------- feature maps
def numeric(loss, array, step=1e-2):
    gradient = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        ends = []
        for sign in (1, -1):
            moved = array.copy()
            moved[place] += sign * step
            ends.append(loss(moved))
        gradient[place] = (ends[0] - ends[1]) / (2 * step)
    return gradient


def test_the_backward_pass_is_the_derivative_of_the_forward_pass():
    rng = np.random.default_rng(0)
    rows, slope = rng.normal(size=(12, 3)).astype("f4"), rng.normal(size=(12, 2)).astype("f4")
    slope[3:6, 0] = 0  # rows that do not count for one of the outputs
    weights = rng.normal(size=(5, 2)).astype("f4")
    phi = PrototypeMap(rng.normal(size=(5, 3)).astype("f4"), rng.normal(scale=0.3, size=3).astype("f4") - 1)
    in_weights, in_arrays = phi.backward(phi.forward(rows), slope, weights)

    def loss(weights, arrays):
        return float(np.sum(slope * (phi.with_arrays(arrays).forward(rows).features @ weights)))

    assert_allclose(in_weights, numeric(lambda w: loss(w, phi.arrays), weights), atol=2e-3)
    for k, array in enumerate(phi.arrays):

        def with_this(moved, k=k):
            return loss(weights, [*phi.arrays[:k], moved, *phi.arrays[k + 1 :]])

        assert_allclose(in_arrays[k], numeric(with_this, array), atol=5e-3)


def test_prototypes_give_the_rbf_kernel():
    rng = np.random.default_rng(0)
    rows, centres = rng.normal(size=(50, 4)).astype("f4"), rng.normal(size=(6, 4)).astype("f4")
    exact = np.exp(-0.3 * cdist(rows, centres, "sqeuclidean"))
    phi = PrototypeMap(centres, np.full(4, np.log(0.3), "f4"))
    assert_allclose(phi.forward(rows).features, exact, atol=1e-5)
    assert_allclose(KernelMap(Kernel("rbf", 0.3), centres, 1.0).forward(rows).features, exact, atol=1e-6)


def test_a_balanced_draw_gives_every_class_its_share_as_far_as_it_goes():
    label = np.repeat([0, 1, 2], [100, 50, 4])
    drawn = balanced_draw(label, 40, np.random.default_rng(0))
    assert_array_equal(np.bincount(label[drawn]), [18, 18, 4])
    assert len(set(drawn)) == 40
    assert len(balanced_draw(label, 1000, np.random.default_rng(0))) == len(label)


# -------------------------------------------------------------------------------------------- the objective
def smallest_objective(features, signs, weight, C, mu):
    """Of the linear program: min h + C sum q + mu |w|, y f + q >= 1, y f <= h, q >= 0, h >= 1."""
    n, m = features.shape
    yf = signs[:, None] * np.column_stack([features, -features, np.ones(n), -np.ones(n)])
    cost = np.concatenate([np.full(2 * m, mu), [0, 0, 1], C * weight])
    least = np.hstack([-yf, np.zeros((n, 1)), -np.eye(n)])
    most = np.hstack([yf, -np.ones((n, 1)), np.zeros((n, n))])
    bounds = [(0, None)] * (2 * m + 2) + [(1, None)] + [(0, None)] * n
    return linprog(cost, np.vstack([least, most]), np.concatenate([-np.ones(n), np.zeros(n)]), bounds=bounds).fun


@pytest.mark.parametrize(("C", "mu"), [(9.0, 0.1), (90.0, 1.0)])
def test_with_fixed_prototypes_the_objective_comes_close_to_that_of_the_linear_program(C, mu):
    X, y = make_moons(150, noise=0.3, random_state=0)
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    # All rows in each mini-batch: h is then bounded by all of them.
    model = LargeScaleMCMClassifier(
        C=C,
        mu=mu,
        refine=False,
        gamma=1.0,
        n_components=150,
        batch_size=150,
        max_iter=1500,
        learning_rate=0.05,
        random_state=0,
    ).fit(X, y, weight)
    standard = robust_scaling(X.astype("f4"), weight)(X.astype("f4"))
    features = np.exp(-cdist(standard, standard, "sqeuclidean"))
    best = smallest_objective(features, 2.0 * y - 1, weight / weight.sum(), C, mu)
    margin = (2 * y - 1) * model.decision_function(X)
    by_hand = max(1, margin.max()) + C * np.average(np.maximum(0, 1 - margin), weights=weight)
    assert_allclose(model.objective_, by_hand + mu * np.abs(model.dual_coef_).sum(), rtol=1e-5)
    assert best <= model.objective_ * (1 + 1e-6)
    assert model.objective_ < 1.03 * best


def test_weights_equal_repeated_rows_in_the_objective(moons):
    X, y = moons[:2]
    weight = np.random.default_rng(0).integers(1, 4, size=len(X))
    params = {"C": 20.0, "mu": 0.1, "n_components": 30, "refine": False, "gamma": 1.0, "batch_size": 4000}
    params["max_iter"] = 400
    weighted = LargeScaleMCMClassifier(**params, random_state=0).fit(X, y, weight)
    repeated = LargeScaleMCMClassifier(**params, random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.objective_, repeated.objective_, rtol=0.05)


def test_a_dearer_weight_leaves_fewer_prototypes(moons):
    X, y = moons[:2]
    counts = [
        LargeScaleMCMClassifier(mu=mu, n_components=100, random_state=0).fit(X, y).n_support_ for mu in (0, 0.1, 1)
    ]
    assert counts[0] == 100
    assert counts[0] > counts[1] > counts[2]


def test_weights_are_dearer_where_rows_are_few(moons):
    X, y = moons[:2]
    assert mu_for(20_000) == mu_for(10_000) == 0.01
    assert_allclose([mu_for(5000), mu_for(1000), mu_for(100)], [0.04, 1.0, 3.0])
    model = LargeScaleMCMClassifier(n_components=30, max_iter=2, random_state=0)
    assert model.fit(X, y).mu_ == mu_for(len(X)) > 1
    assert model.set_params(mu=0.2).fit(X, y).mu_ == 0.2
    stream = LargeScaleMCMClassifier(n_components=30, random_state=0)
    assert stream.partial_fit(X, y, classes=[0, 1]).mu_ == 0.01


def test_few_rows_of_mixed_classes_are_not_learned_by_heart():
    X, y = make_classification(1500, 10, n_informative=3, n_redundant=0, flip_y=0.3, random_state=0)
    few, rest = slice(0, 500), slice(500, None)
    fits = [LargeScaleMCMClassifier(mu=mu, random_state=0).fit(X[few], y[few]) for mu in ("auto", 0.01)]
    usual, by_heart = (model.score(X[rest], y[rest]) for model in fits)
    assert usual > by_heart + 0.03


@pytest.mark.parametrize("conformal", ["signed", "shrunk"])
def test_where_no_weight_is_worth_its_price_every_row_gets_one_class(conformal, moons):
    X, y = moons[:2]
    model = LargeScaleMCMClassifier(C=1e-3, mu=100.0, conformal=conformal, n_components=20, max_iter=5, random_state=0)
    assert model.fit(X, y).n_support_ == 0
    assert len(np.unique(model.predict(X))) == 1


def test_a_smaller_c_lowers_the_largest_margin(moons):
    h = [LargeScaleMCMClassifier(C=C, n_components=40, random_state=0).fit(*moons[:2]).h_[0] for C in (5.0, 5000.0)]
    assert 1 <= h[0] < h[1]


# ------------------------------------------------------------------------------------------ the fitted model
def test_the_model_is_the_kernel_on_its_prototypes(moons, fitted):
    X = moons[2]
    centre, scale = fitted._scaling.mean, fitted._scaling.spread
    root = np.sqrt(fitted.feature_scale_)
    kernel = np.exp(
        -cdist((X - centre) / scale * root, (fitted.support_vectors_ - centre) / scale * root, "sqeuclidean")
    )
    by_hand = kernel @ fitted.dual_coef_[0] + fitted.intercept_
    assert_allclose(fitted.decision_function(X), by_hand, atol=1e-3)
    assert fitted.support_vectors_.shape == (fitted.n_support_, 2)
    assert fitted.dual_coef_.shape == (1, fitted.n_support_)
    assert np.abs(fitted.dual_coef_).max(axis=0).min() > 0


def test_learning_the_map_is_worth_it(moons):
    X, y, X_test, y_test = moons
    refined = LargeScaleMCMClassifier(n_components=8, random_state=0).fit(X, y)
    fixed = clone(refined).set_params(refine=False).fit(X, y)
    assert refined.objective_ < fixed.objective_
    assert refined.score(X_test, y_test) > 0.92


def test_it_beats_a_nystroem_map_of_as_many_features():
    X, y = make_classification(3000, n_features=12, n_informative=8, n_clusters_per_class=8, random_state=0)
    peer = make_pipeline(StandardScaler(), Nystroem(n_components=40, random_state=0), SGDClassifier(random_state=0))
    ours = LargeScaleMCMClassifier(n_components=40, random_state=0).fit(X[:2000], y[:2000])
    assert ours.score(X[2000:], y[2000:]) > peer.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) + 0.05


@pytest.mark.parametrize("params", [{}, {"conformal": "signed"}])
def test_probabilities_agree_with_predictions(moons, params):
    X, y, X_test, y_test = moons
    model = LargeScaleMCMClassifier(n_components=30, random_state=0, **params).fit(X, y)
    p = model.predict_proba(X_test)
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X_test))
    assert_array_equal(model.predict(X_test) == 1, model.decision_function(X_test) >= 0)
    assert -np.mean(np.log(p[np.arange(len(p)), y_test])) < 0.3


def test_probabilities_of_several_classes_agree_with_predictions():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LargeScaleMCMClassifier(n_components=20, random_state=0).fit(X, names)
    p = model.predict_proba(X)
    assert p.shape == model.decision_function(X).shape == (150, 3)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert model.score(X, names) > 0.95
    assert model.dual_coef_.shape == (3, model.n_support_)
    assert model.h_.shape == (3,)


def test_the_steepness_is_the_one_with_the_least_log_loss():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3, size=(4000, 1))
    label = (rng.random(4000) < 1 / (1 + np.exp(-1.7 * scores[:, 0]))).astype(np.int32)
    assert_allclose(calibrate(scores, label, np.ones(4000)), 1.7, rtol=0.1)
    assert_allclose(probabilities(np.array([[0.0], [1.0]]), 2.0)[:, 1], [0.5, 1 / (1 + np.exp(-2))])


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_other_kernels_keep_their_prototypes_where_they_are(moons, kernel):
    X, y, X_test, y_test = moons
    model = LargeScaleMCMClassifier(kernel=kernel, n_components=30, coef0=0.5, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.8
    assert cdist(model.support_vectors_, X).min(axis=1).max() < 1e-4


# ---------------------------------------------------------------------------------------- conformal factor
def test_the_conformal_factor_multiplies_the_map(moons):
    X, y, X_test, y_test = moons
    model = LargeScaleMCMClassifier(conformal="signed", n_components=40, max_cores=12, random_state=0).fit(X, y)
    assert model.conformal_.cores.shape == (12, 2)
    assert model.conformal_.separability(1.0) > model.conformal_.separability(0.0)
    assert model.score(X_test, y_test) > 0.9
    rows = model._scaling(X_test)
    features = model._model.feature_map.forward(rows).features
    by_hand = model.conformal_(rows) * (features @ model._model.weights[:, 0]) + model.intercept_[0]
    assert_allclose(model.decision_function(X_test), by_hand, atol=1e-3)


def test_a_shrunken_factor_is_no_worse_than_none_where_it_is_of_no_use(moons):
    X, y, X_test, y_test = moons
    model = LargeScaleMCMClassifier(conformal="shrunk", n_components=40, random_state=0).fit(X, y)
    assert 0 <= model.conformal_.shrinkage <= 1
    assert model.score(X_test, y_test) > 0.92


@pytest.mark.parametrize("how", [{}, {"refine": False}], ids=str)
def test_cores_are_equally_many_of_each_class_if_asked_for(how):
    X, y = make_blobs(300, centers=3, cluster_std=2.0, random_state=0)
    some = np.flatnonzero((y < 2) | (np.arange(300) % 4 == 0))
    sample = X[some].astype(np.float32), y[some]
    model = LargeScaleMCMClassifier(
        conformal="signed", equal_cores=True, n_components=60, max_cores=50, max_iter=5, random_state=0, **how
    ).fit(*sample)
    n_cores = len(model.conformal_.cores)
    assert n_cores % 3 == 0 and 0 < n_cores <= 50
    if how.get("refine") is False:  # cores are rows, whose classes are known
        label = {row.tobytes(): each for row, each in zip(model._scaling(sample[0]), y[some], strict=True)}
        classes = np.bincount([label[core.tobytes()] for core in model.conformal_.cores])
        assert len(np.unique(classes)) == 1


def test_equal_cores_need_room_for_every_class(moons):
    X, y, _, _ = moons
    model = LargeScaleMCMClassifier(conformal="signed", equal_cores=True, max_cores=1)
    words = r"max_cores must be at least the number of classes \(2\) with equal_cores=True; got 1\."
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    with pytest.raises(ValueError, match=words):
        model.partial_fit(X, y, classes=[0, 1])
    model.set_params(conformal="none", max_iter=2).fit(X, y)  # not used


def test_a_class_without_a_core_is_named():
    X, y = make_blobs(200, centers=3, random_state=0)
    names = np.array(["ant", "bee", "cat"])[y]
    model = LargeScaleMCMClassifier(conformal="signed", equal_cores=True, n_components=2, refine=False, random_state=0)
    with pytest.warns(UserWarning, match="r = 1.*no prototype in use belongs to class '(ant|bee|cat)'. Raise n_comp"):
        model.set_params(max_iter=2).fit(X, names)
    assert len(model.conformal_.cores) == 0
    model.set_params(n_components=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.fit(X, names).conformal_.cores) > 0


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_cores_that_need_not_be_equal_are_chosen_by_weights_alone(monkeypatch, kernel):
    """The class of a core is the one that its weight speaks for: no row is looked up."""
    X, y = make_moons(600, noise=0.5, random_state=0)
    given = {"kernel": kernel, "n_components": 40, "max_cores": 11, "refine": False, "random_state": 0, "max_iter": 4}
    model = LargeScaleMCMClassifier(conformal="signed", mu=0.0, **given)
    found = []

    def watched(model, most):
        weights, prototypes = model.weights[:, 0], model.feature_map.prototypes
        for side in (weights > 0, weights <= 0):
            order = np.argsort(-np.abs(weights[side]), kind="stable")
            found.append({row.tobytes() for row in prototypes[side][order[:5]]})
        return choose_cores(model, most)

    choose_cores = large.choose_cores
    monkeypatch.setattr(large, "choose_cores", watched)
    monkeypatch.setattr(_factor_on_map, "classes_of", None)
    cores = {core.tobytes() for core in model.fit(X, y).conformal_.cores}
    assert len(cores) == 11
    assert found[0] | found[1] <= cores


@pytest.mark.parametrize("refine", [False, True])
def test_a_factor_found_after_the_fit_is_that_of_the_plain_machine(moons, refine):
    X, y, X_test, y_test = moons
    given = {"n_components": 40, "refine": refine, "random_state": 0, "max_iter": 8}
    model = LargeScaleMCMClassifier(conformal="signed", conformal_start="after_fit", **given).fit(X, y)
    plain = LargeScaleMCMClassifier(**given).fit(X, y)
    cores = model._scaling.inverse(model.conformal_.cores, {})
    assert cdist(cores, plain.support_vectors_).min(axis=1).max() < 1e-5
    assert model.n_iter_ == 2 * plain.n_iter_
    assert model.score(X_test, y_test) > 0.9


def test_the_printed_factor_of_a_map_is_that_of_its_kernel(moons):
    X, y, _, _ = moons
    given = {"n_components": 40, "refine": False, "random_state": 0, "max_iter": 5}
    printed, signed = (LargeScaleMCMClassifier(conformal=form, **given).fit(X, y) for form in ("printed", "signed"))
    rows = signed._scaling(X)
    assert np.abs(printed.conformal_(rows) - signed.conformal_(rows)).max() > 0.01
    assert printed.conformal_.shrinkage == 1.0


def test_c_on_the_sum_of_the_hinge_loss_is_that_times_the_rows_on_its_mean(moons):
    X, y, _, _ = moons
    given = {"n_components": 20, "max_iter": 5, "random_state": 0}
    summed, mean = (
        LargeScaleMCMClassifier(C=C, slack=slack, **given).fit(X, y) for C, slack in ((2.0, "sum"), (1200.0, "mean"))
    )
    assert_array_equal(summed.decision_function(X), mean.decision_function(X))
    assert summed.objective_ == mean.objective_
    with pytest.raises(ValueError, match="slack='sum' needs; use slack='mean'"):
        summed.partial_fit(X, y)


# --------------------------------------------------------------------------------------------- partial_fit
def test_partial_fit_learns_from_a_stream(moons):
    X, y, X_test, y_test = moons
    model = LargeScaleMCMClassifier(n_components=40, batch_size=50, random_state=0)
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    first = model.score(X_test, y_test)
    for _ in range(10):
        for start in range(100, 600, 100):
            model.partial_fit(X[start : start + 100], y[start : start + 100])
    assert model.score(X_test, y_test) > max(0.92, first)
    assert model.n_iter_ == 51


def test_a_stream_may_bring_a_class_later_and_rows_one_by_one():
    X, y = make_blobs(90, centers=3, random_state=0)
    early = np.flatnonzero(y < 2)
    model = LargeScaleMCMClassifier(n_components=10, random_state=0).partial_fit(X[early], y[early], classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (90, 3)
    for row in range(90):
        model.partial_fit(X[[row]], y[[row]])
    for _ in range(30):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.85


def test_partial_fit_goes_on_from_fit(moons):
    X, y, X_test, y_test = moons
    model = LargeScaleMCMClassifier(n_components=40, conformal="shrunk", random_state=0).fit(X[:300], y[:300])
    before = model.decision_function(X_test)
    model.partial_fit(X[300:], y[300:])
    assert not np.array_equal(model.decision_function(X_test), before)
    assert model.score(X_test, y_test) > 0.9


def test_a_partial_fit_that_fails_changes_nothing(moons, fitted):
    X, y, X_test, _ = moons
    model = pickle.loads(pickle.dumps(fitted))
    before = model.decision_function(X_test)
    with pytest.raises(ValueError, match="labels that are not in classes"):
        model.partial_fit(X[:5], [7] * 5)
    assert_array_equal(model.decision_function(X_test), before)
    model.partial_fit(X, y)
    again = pickle.loads(pickle.dumps(fitted)).partial_fit(X, y)
    assert_array_equal(model.decision_function(X_test), again.decision_function(X_test))


@pytest.mark.parametrize(
    ("params", "classes", "words"),
    [
        ({}, None, "classes must be passed in the first call"),
        ({"class_weight": "balanced"}, [0, 1], "pass a dict of weights"),
        ({}, [0, 5], "labels that are not in classes"),
    ],
)
def test_what_a_stream_cannot_have_is_refused(moons, params, classes, words):
    with pytest.raises(ValueError, match=words):
        LargeScaleMCMClassifier(**params).partial_fit(*moons[:2], classes=classes)


def test_classes_stay_the_same_in_a_stream(fitted, moons):
    with pytest.raises(ValueError, match="the same in every call"):
        fitted.partial_fit(*moons[:2], classes=[0, 1, 2])


# -------------------------------------------------------------------------------------------- the same model
def test_the_same_seed_gives_the_same_model(moons, fitted):
    X, y, X_test, _ = moons
    again = LargeScaleMCMClassifier(n_components=40, random_state=0).fit(X, y)
    assert_array_equal(again.decision_function(X_test), fitted.decision_function(X_test))
    other = LargeScaleMCMClassifier(n_components=40, random_state=1).fit(X, y)
    assert not np.array_equal(other.decision_function(X_test), fitted.decision_function(X_test))


@pytest.mark.parametrize("params", [{}, {"conformal": "shrunk"}])
def test_any_number_of_threads_gives_the_same_model(params):
    X, y = make_moons(2 * BLOCK + 100, noise=0.3, random_state=0)
    models = [
        LargeScaleMCMClassifier(
            n_components=20, batch_size=1000, max_iter=4, n_jobs=n_jobs, early_stopping=True, random_state=0, **params
        ).fit(X, y)
        for n_jobs in (None, 2, 3)
    ]
    for model in models[1:]:
        assert_array_equal(model.decision_function(X), models[0].decision_function(X))
        assert model.objective_ == models[0].objective_


def test_units_of_columns_do_not_matter(moons, fitted):
    X, y, X_test, _ = moons
    units = np.array([1000.0, 0.25], dtype=np.float32)
    model = clone(fitted).fit(X * units, y)
    assert np.mean(model.predict(X_test * units) == fitted.predict(X_test)) > 0.97
    assert model.support_vectors_[:, 0].std() > 100


def test_a_model_survives_pickling_and_a_second_fit(moons, fitted):
    X, y, X_test, _ = moons
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict_proba(X_test), fitted.predict_proba(X_test))
    assert again.fit(X, y).n_iter_ == fitted.n_iter_
    assert_array_equal(again.predict_proba(X_test), fitted.predict_proba(X_test))


def test_frames_are_taken_and_names_kept(moons, fitted):
    X, y = moons[:2]
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})):
        model = clone(fitted).fit(frame, y)
        assert list(model.feature_names_in_) == ["a", "b"]
        assert_array_equal(model.predict(frame), fitted.predict(X))


# ---------------------------------------------------------------------------------------------- weights
def test_rows_and_classes_of_no_weight_do_not_count(moons):
    X, y, X_test, _ = moons
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    kept = weight > 0
    model = LargeScaleMCMClassifier(**SMALL)
    without = clone(model).fit(X[kept], y[kept]).decision_function(X_test)
    assert_array_equal(clone(model).fit(X, y, weight).decision_function(X_test), without)
    three = np.where(np.arange(len(y)) % 5 == 0, 2, y)
    assert_array_equal(clone(model).fit(X, three, (three < 2).astype(float)).classes_, [0, 1])


def test_heavier_classes_are_predicted_more_often(moons):
    X, y, X_test, _ = moons
    shares = [
        LargeScaleMCMClassifier(n_components=30, class_weight=weights, random_state=0).fit(X, y).predict(X_test).mean()
        for weights in ({0: 20, 1: 1}, None, {0: 1, 1: 20})
    ]
    assert shares[0] < shares[1] < shares[2]


def test_one_class_is_predicted_for_everything(moons):
    X = moons[0]
    model = LargeScaleMCMClassifier().fit(X, np.full(len(X), "only"))
    assert set(model.predict(X)) == {"only"}
    assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))
    assert model.n_support_ == 0


# --------------------------------------------------------------------------------------- stopping, progress
def test_early_stopping_ends_sooner_and_keeps_the_best_look(moons):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)
    params = {"n_components": 50, "max_iter": 150, "random_state": 0}
    whole = LargeScaleMCMClassifier(**params).fit(X, y)
    stopped = LargeScaleMCMClassifier(**params, early_stopping=True, n_iter_no_change=2).fit(X, y)
    assert whole.n_iter_ == 150
    assert whole.validation_hinge_ == []
    assert stopped.n_iter_ < 150
    assert len(stopped.validation_hinge_) >= 3


def test_the_rate_warms_up_falls_to_zero_and_can_be_told_to_end_sooner():
    schedule = Schedule(1000)
    rates = [schedule.rate(update) for update in range(1000)]
    assert rates[0] < 0.05
    assert max(rates) == rates[50] > 0.94
    assert rates == sorted(rates[:51]) + sorted(rates[51:], reverse=True)
    assert rates[-1] == pytest.approx(1e-3)
    schedule.finish_soon(300)
    assert schedule.end == 400
    assert schedule.rate(300) == pytest.approx(rates[300])
    assert schedule.rate(399) == pytest.approx(rates[300] / 100)
    schedule.finish_soon(399)
    assert schedule.end == 400


def test_progress_is_shown_when_asked_for(moons, capsys):
    LargeScaleMCMClassifier(verbose=1, **SMALL).fit(*moons[:2])
    assert "minimal complexity [########################] 20/20" in capsys.readouterr().err
    LargeScaleMCMClassifier(**SMALL).fit(*moons[:2])
    assert capsys.readouterr().err == ""


# ------------------------------------------------------------------------------------------------- memory
def test_features_exist_for_some_rows_at_a_time_only():
    n_rows, n_components = 40_000, 400
    X = np.random.default_rng(0).normal(size=(n_rows, 2)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = LargeScaleMCMClassifier(
        n_components=n_components, max_iter=1, conformal="signed", max_cores=50, gamma=1.0, random_state=0
    )
    tracemalloc.start()
    model.fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole = 4 * n_rows * n_components
    assert peak < whole / 2


# ----------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"C": 0}, "'C'.*above 0"),
        ({"mu": -1}, "'mu'.*0 or more"),
        ({"kernel": "rbff"}, "'kernel'"),
        ({"gamma": "wide"}, "'gamma'.*'search', 'smooth', 'medium' or 'scale'"),
        ({"n_components": 0}, "'n_components'.*1 or more"),
        ({"refine": True, "kernel": "poly"}, "refine=True needs kernel='rbf'"),
        ({"conformal": "yes"}, "'conformal'"),
        ({"conformal_start": "later"}, "'conformal_start'.*'halfway' or 'after_fit'"),
        ({"equal_cores": "yes"}, "'equal_cores'.*True or False"),
        ({"slack": "total"}, "'slack'.*'mean' or 'sum'"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"early_stopping": True, "validation_fraction": 1e-5}, "leaves no row to hold out"),
        ({"class_weight": {0: 0, 1: 0}}, "class_weight gives every class a weight of 0"),
    ],
)
def test_wrong_parameters_are_refused_by_name(moons, params, words):
    with pytest.raises(ValueError, match=words):
        LargeScaleMCMClassifier(**params).fit(*moons[:2])


def test_a_batch_may_lack_classes_that_have_weights():
    X, y = make_blobs(90, centers=3, random_state=0)
    labels = y.astype(str)
    model = LargeScaleMCMClassifier(class_weight={"0": 2.0, "2": 3.0}, random_state=0)
    model.partial_fit(X, labels, classes=["0", "1", "2"])
    model.partial_fit(X[y < 2], labels[y < 2])
    assert model.score(X, labels) > 0.8
    with pytest.raises(
        ValueError, match="class_weight names the class '3', which y does not have, and not the class '1'"
    ):
        LargeScaleMCMClassifier(class_weight={"0": 2.0, "2": 1.0, "3": 3.0}).fit(X, labels)
