"""Selection, feature test, convergence, embedding and sparsity."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from picture_check import assert_readable, coarse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.decomposition import PCA, KernelPCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from planewise import (
    ConformalKernel,
    DiscriminantFeatureTest,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressorCV,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
)
from planewise.plot import (
    ConvergenceDisplay,
    Curve,
    EmbeddingDisplay,
    FeatureTestDisplay,
    SelectionDisplay,
    SparsityDisplay,
)
from planewise.plot._convergence import stages

WINE = load_wine(return_X_y=True, as_frame=True)


def small(display):
    """Drawn into three inches."""
    figure, ax = plt.subplots(figsize=(3, 2.6), layout="constrained")
    display.plot(ax)
    return figure


# Selection


def test_the_envelope_is_the_papers():
    display = SelectionDisplay.from_parameters(
        n_features=10, subspace_size=5, max_coef=10, coef_decay=0.5, rank_decay=0.3, random_state=0
    )
    expected = [max(1, int(10 * np.exp(-0.5 * d))) for d in range(10)]
    assert display.bounds.tolist() == expected
    np.testing.assert_allclose(display.chance[1:] / display.chance[:-1], np.exp(-0.3))
    direction = display.directions[0]
    assert (np.abs(direction) <= display.bounds).all() and not direction[~display.selected].any() and direction.any()
    display.plot()
    drawn = {artist.get_gid(): artist.get_offsets() for artist in display.ax_.collections}
    dark = sum(2 * expected[d] + 1 for d in np.flatnonzero(display.selected))
    assert len(drawn["selected"]) == dark
    assert_readable(display.figure_)
    assert_readable(small(display))


def test_a_trees_own_coefficients_stand_at_their_features_ranks():
    X, y = WINE
    tree = SLMClassifier(random_state=0, max_coef=10).fit(X, y)
    display = SelectionDisplay.from_estimator(tree, X, y)
    ranked = DiscriminantFeatureTest().fit(X, y).order_
    assert display.names == [X.columns[j] for j in ranked]
    flat = tree.tree_
    for plane, direction in enumerate(display.directions):
        terms = slice(flat.term_start[plane], flat.term_start[plane + 1])
        got = {display.names[d]: int(direction[d]) for d in np.flatnonzero(direction)}
        assert got == dict(zip(X.columns[flat.term_feature[terms]], flat.term_coefficient[terms].tolist(), strict=True))
    assert len(display.directions) == flat.plane_start[1]
    assert_readable(small(display))


def test_features_are_selected_as_often_as_their_chance_says():
    first = [
        SelectionDisplay.from_parameters(n_features=4, subspace_size=1, rank_decay=0.7, random_state=seed).selected
        for seed in range(1500)
    ]
    chance = np.exp(-0.7 * np.arange(4))
    np.testing.assert_allclose(np.mean(first, axis=0), chance / chance.sum(), atol=0.04)


def test_features_of_low_rank_fade_out_where_the_least_bound_is_zero():
    display = SelectionDisplay.from_parameters(n_features=8, coef_decay=0.5, min_coef=0, random_state=0)
    assert display.bounds.tolist() == [10, 6, 3, 2, 1, 0, 0, 0]
    tree = SLMClassifier(coef_decay=2.0, min_coef=0, random_state=0).fit(*WINE)
    assert SelectionDisplay.from_estimator(tree, *WINE).bounds.tolist() == [5, *[0] * 12]


def test_selection_refuses_what_has_no_directions():
    with pytest.raises(TypeError, match="LogisticRegression does not draw directions"):
        SelectionDisplay.from_estimator(LogisticRegression(), *WINE)
    with pytest.raises(ValueError, match="at least 1"):
        SelectionDisplay.from_parameters(n_features=0)


# Feature test


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer, load_digits])
def test_losses_are_sorted_and_the_kept_come_first(load):
    X, y = load(return_X_y=True)
    test = DiscriminantFeatureTest().fit(X, y)
    display = FeatureTestDisplay.from_estimator(test)
    assert (np.diff(display.losses) >= 0).all()
    assert display.kept.sum() == test.n_features_ == display.elbow
    assert display.kept[: display.elbow].all()
    assert display.names[0] == f"x{test.scores_.argmin()}"
    assert_readable(display.plot().figure_)
    assert_readable(small(display))


def test_a_selection_by_number_still_shows_the_elbow():
    test = DiscriminantFeatureTest(n_features_to_select=2, task="classification").fit(*WINE)
    display = FeatureTestDisplay.from_estimator(test)
    assert display.kept.sum() == 2 and display.elbow == test.elbow_ != 2
    assert display.measure.startswith("entropy")
    with pytest.raises(TypeError, match="SVC is not a feature test"):
        FeatureTestDisplay.from_estimator(SVC())


# Convergence


def test_curves_are_the_scores_of_ensembles_with_fewer_trees():
    X, y = WINE
    parts = X[::2], y[::2], X[1::2], y[1::2]
    models = {
        "ours": SLMForestClassifier(n_estimators=12, random_state=0).fit(*parts[:2]),
        "theirs": RandomForestClassifier(12, random_state=0).fit(*parts[:2]),
        "boost": SLMBoostClassifier(n_estimators=6, random_state=0).fit(*parts[:2]),
        "their boost": GradientBoostingClassifier(n_estimators=4, random_state=0).fit(*parts[:2]),
    }
    display = ConvergenceDisplay.from_estimators(models, *parts[2:])
    for name, model in models.items():
        curve = display.curves[name]
        assert curve.values[0, -1] == pytest.approx(model.score(*parts[2:]))
    few = SLMForestClassifier(n_estimators=5, random_state=0).fit(*parts[:2])
    assert display.curves["ours"].values[0, 4] == few.score(*parts[2:])
    chances = ConvergenceDisplay.from_estimators(models, *parts[2:], measure="log_loss")
    for name, model in models.items():
        chance = model.predict_proba(parts[2]).astype(float)
        expected = log_loss(parts[3], chance / chance.sum(axis=1, keepdims=True))
        assert chances.curves[name].values[0, -1] == pytest.approx(expected)
    assert_readable(display.plot().figure_)
    assert_readable(small(chances))


def test_numbers_converge_by_their_error():
    X, y = load_diabetes(return_X_y=True)
    models = {
        "forest": SLMForestRegressor(n_estimators=3, random_state=0).fit(X, y),
        "theirs": RandomForestRegressor(3, random_state=0).fit(X, y),
        "boost": SLMBoostRegressor(n_estimators=3, random_state=0).fit(X, y),
    }
    display = ConvergenceDisplay.from_estimators(models, X, y)
    for name, model in models.items():
        rmse = np.sqrt(np.mean((model.predict(X) - y) ** 2))
        assert display.curves[name].values[0, -1] == pytest.approx(rmse)


def test_runs_are_joined_and_drawn_by_mean_and_band():
    one = ConvergenceDisplay({"a": Curve(np.array([1, 2, 3]), np.array([[0.5, 0.6, 0.7]]))}, "accuracy")
    two = ConvergenceDisplay({"a": Curve(np.array([1, 3, 4]), np.array([[0.7, 0.9, 1.0]]))}, "accuracy")
    both = ConvergenceDisplay.joined([one, two])
    assert both.curves["a"].n_trees.tolist() == [1, 3]
    both.plot()
    np.testing.assert_allclose(both.ax_.lines[0].get_ydata(), [0.6, 0.8])
    assert len(both.ax_.collections) == 1
    with pytest.raises(ValueError, match="one measure"):
        ConvergenceDisplay.joined([one, ConvergenceDisplay({}, "rmse")])


def test_curves_of_boosting_count_rounds_as_the_model_does():
    X, y = load_breast_cancer(return_X_y=True)
    watched = {"X_val": X[1::2], "y_val": y[1::2]}
    model = SLMBoostClassifier(n_estimators=14, learning_rate=0.5, noise_margin=0, random_state=0)
    model.fit(X[::2], y[::2], **watched)
    curve = ConvergenceDisplay.from_estimators({"a": model}, X[1::2], y[1::2], measure="log_loss").curves["a"]
    assert curve.n_trees.tolist() == list(range(1, 15))
    np.testing.assert_allclose(curve.values[0], -model.validation_score_)
    assert curve.n_trees[curve.values[0].argmin()] == model.best_iteration_ < 14


def test_what_boosting_monitored_is_shown():
    X, y = load_breast_cancer(return_X_y=True)
    model = SLMBoostClassifier(n_estimators=40, random_state=0).fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    loss = ConvergenceDisplay.from_history(model)
    assert (loss.measure, list(loss.curves)) == ("loss", ["train", "validation"])
    np.testing.assert_array_equal(loss.curves["validation"].values[0], -model.validation_score_)
    assert loss.best == np.argmin(loss.curves["validation"].values[0]) + 1
    assert_readable(small(loss))
    scored = ConvergenceDisplay.from_history(model.set_params(scoring="roc_auc").fit(X[::2], y[::2]))
    assert (scored.measure, list(scored.curves), scored.best) == ("roc_auc", ["train"], None)
    np.testing.assert_array_equal(scored.curves["train"].values[0], model.train_score_)
    assert_readable(scored.plot().figure_)
    assert scored.ax_.get_xlabel() == "rounds"
    with pytest.raises(ValueError, match="nothing was monitored"):
        ConvergenceDisplay.from_history(SLMBoostClassifier(n_estimators=2).fit(X, y))


@pytest.mark.parametrize(("loss", "name"), [("quantile", "score"), ("absolute_error", "R²")])
def test_scores_of_quantiles_are_not_called_r2(loss, name):
    X, y = load_diabetes(return_X_y=True)
    model = SLMBoostRegressor(loss=loss, n_estimators=2).fit(X, y)
    assert SparsityDisplay.from_estimators({"a": model}, X, y).score_name == name


def test_convergence_errors_name_what_is_wrong():
    X, y = WINE
    forest = SLMForestClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="'accuracy' or 'log_loss' for these models; got 'rmse'"):
        ConvergenceDisplay.from_estimators({"a": forest}, X, y, measure="rmse")
    with pytest.raises(TypeError, match="LogisticRegression has no trees"):
        ConvergenceDisplay.from_estimators({"a": LogisticRegression().fit(X[:2] * 0, [0, 1])}, X, y)
    with pytest.raises(ValueError, match="models is empty"):
        ConvergenceDisplay.from_estimators({}, X, y)


def test_stages_begin_with_one_and_end_with_all():
    for n_trees in (1, 2, 15, 16, 100, 1000):
        found = stages(n_trees)
        assert found[0] == 1 and found[-1] == n_trees and found == sorted(set(found)) and len(found) <= 30


# Embedding


def test_components_are_those_of_scikit_learn_divided_by_their_roots():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120], y[:120]
    machine = MCMClassifier(conformal="signed", gamma=0.05, scaling="standard").fit(X, y)
    display = EmbeddingDisplay.from_estimator(machine, X, y, X_test=X[:30], y_test=y[:30])
    scaled = machine._scaling(X)
    theirs = PCA(2).fit(scaled)
    expected = theirs.transform(scaled) / np.sqrt(theirs.explained_variance_ * (len(X) - 1))
    np.testing.assert_allclose(np.abs(display.panels[0].train), np.abs(expected), atol=1e-8)
    kernel = machine._trained_settings.kernel
    theirs = KernelPCA(2, kernel="precomputed").fit(kernel(scaled, scaled))
    np.testing.assert_allclose(
        np.abs(display.panels[1].train), np.abs(theirs.transform(kernel(scaled, scaled))), atol=1e-8
    )
    for panel in display.panels:  # the same rows land in the same place as new ones
        np.testing.assert_allclose(panel.test, panel.train[:30], atol=1e-8)
    assert display.of_fit
    np.testing.assert_allclose(display.panels[0].support, display.panels[0].train[machine.support_], atol=1e-8)


def test_rows_with_gaps_and_categories_are_placed_by_the_kernel_that_the_machine_has():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(size=80), "town": pd.Categorical(rng.choice(["Bonn", "Ulm"], 80))})
    y = ((table["age"] > 0) == (table["town"] == "Ulm")).to_numpy()
    table.loc[::7, "age"] = np.nan
    table.loc[::9, "town"] = None
    for estimator in (MCMClassifier(conformal="signed"), ConformalKernel(random_state=0)):
        display = EmbeddingDisplay.from_estimator(estimator.fit(table, y), table, y, X_test=table[:9], y_test=y[:9])
        for panel in display.panels:
            np.testing.assert_allclose(panel.test, panel.train[:9], atol=1e-6)


def test_rings_are_where_the_vectors_are_among_rows_that_are_not_of_the_fit():
    X, y = WINE
    machine = MCMClassifier().fit(X[::2], y[::2])
    few = EmbeddingDisplay.from_estimator(machine, X[1:20:2], y[1:20:2])  # fewer rows than the fit had
    other = EmbeddingDisplay.from_estimator(machine, X[1::2], y[1::2])
    assert not few.of_fit and not other.of_fit
    plain = PCA(2).fit(np.asarray(machine._scaling(X[1::2])))
    expected = plain.transform(machine._scaling(machine.support_vectors_))
    expected /= np.sqrt(plain.explained_variance_ * (len(X[1::2]) - 1))
    np.testing.assert_allclose(np.abs(other.panels[0].support), np.abs(expected), atol=1e-8)
    ax = other.plot().axes_[0]
    assert ax.get_title() == "the data: rows"
    drawn = {artist.get_gid(): artist for artist in ax.collections}
    np.testing.assert_allclose(drawn["support vectors"].get_offsets(), other.panels[0].support)
    assert_readable(other.figure_)


def test_rows_are_not_said_to_be_of_the_fit_where_nobody_knows():
    """A ConformalKernel has no vectors to tell by, nor has a machine of none."""
    X, y = WINE
    display = EmbeddingDisplay.from_estimator(ConformalKernel().fit(X[::2], y[::2]), X[1::2], y[1::2])
    assert not display.of_fit
    assert [ax.get_title().split(" (")[0] for ax in display.plot().axes_] == [
        "the data: rows",
        "the kernel: rows",
        "the kernel, optimised: rows",
    ]
    bare = MCMClassifier().fit(X, y)
    bare.support_, bare.support_vectors_ = bare.support_[:0], bare.support_vectors_[:0]
    assert not EmbeddingDisplay.from_estimator(bare, X, y).of_fit


def test_the_optimised_kernel_is_the_machines_own():
    X, y = WINE
    kernel = ConformalKernel().fit(X, y)
    display = EmbeddingDisplay.from_estimator(kernel, X, y)
    theirs = KernelPCA(2, kernel="precomputed").fit(kernel.transform(X))
    expected = theirs.transform(kernel.transform(X))
    np.testing.assert_allclose(np.abs(display.panels[2].train), np.abs(expected), atol=1e-6)
    assert display.separability == (kernel.separability_before_, kernel.separability_)
    assert len(display.panels[0].cores) == len(kernel.cores_)
    assert_readable(display.plot().figure_)


def test_the_six_panels_are_readable():
    X, y = WINE
    machine = MCMClassifier(conformal="signed").fit(X[::2], y[::2])
    display = EmbeddingDisplay.from_estimator(
        machine, X[::2], y[::2], X_test=X[1::2], y_test=y[1::2], class_names=["Barolo", "Grignolino", "Barbera"]
    ).plot()
    assert len(display.axes_) == 6
    drawn = {artist.get_gid(): artist for artist in display.axes_[0].collections}
    assert len(drawn["support vectors"].get_offsets()) == len(machine.support_)
    assert_readable(display.figure_)


def test_a_plain_machine_has_two_views_and_a_linear_one_none():
    X, y = WINE
    display = EmbeddingDisplay.from_estimator(MCMClassifier().fit(X, y), X, y)
    assert [panel.name for panel in display.panels] == ["pca", "before"]
    with pytest.raises(ValueError, match="not a function of rows"):
        EmbeddingDisplay.from_estimator(MCMClassifier(kernel="linear").fit(X, y), X, y)
    with pytest.raises(TypeError, match="SVC has no kernel"):
        EmbeddingDisplay.from_estimator(SVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match="without y_test"):
        EmbeddingDisplay.from_estimator(MCMClassifier().fit(X, y), X, y, X_test=X)


# Sparsity


def test_sizes_and_scores_are_the_models():
    X, y = load_breast_cancer(return_X_y=True)
    models = {
        "SVM": make_pipeline(StandardScaler(), SVC()),
        "MCM": MCMClassifier(),
        "SLM": SLMClassifier(random_state=0),
        "tree": DecisionTreeClassifier(random_state=0),
        "boost": SLMBoostClassifier(n_estimators=3, random_state=0),
        "line": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    models = {name: model.fit(X[::2], y[::2]) for name, model in models.items()}
    display = SparsityDisplay.from_estimators(models, X[1::2], y[1::2])
    assert display.score.tolist() == [model.score(X[1::2], y[1::2]) for model in models.values()]
    size = dict(zip(display.names, display.size, strict=True))
    tree = models["tree"].tree_
    leaves = (tree.children_left < 0).sum()
    assert size["tree"] == 2 * (tree.node_count - leaves) + 2 * leaves
    assert size["SLM"] == models["SLM"].n_stored_numbers_
    assert size["SVM"] == models["SVM"][-1].support_vectors_.size + len(models["SVM"][-1].support_) + 1
    assert size["line"] == 31
    vectors = SparsityDisplay.from_estimators({name: models[name] for name in ("SVM", "MCM")}, X, y, size="vectors")
    assert vectors.size.tolist() == [len(models["SVM"][-1].support_), len(models["MCM"].support_)]
    assert_readable(display.plot().figure_)
    assert_readable(small(vectors))
    with pytest.raises(TypeError, match="SLMClassifier has no count of support vectors"):
        SparsityDisplay.from_estimators(models | {"MCM": models["SLM"]}, X, y, size="vectors")
    with pytest.raises(ValueError, match="got 'weight'"):
        SparsityDisplay.from_estimators(models, X, y, size="weight")


def test_nothing_smaller_beats_what_is_on_the_front():
    rng = np.random.default_rng(0)
    display = SparsityDisplay([], rng.integers(1, 20, 50).astype(float), rng.random(50), None, None, "", "")
    for at in range(50):
        beaten = any(
            (display.size[o] <= display.size[at] and display.score[o] > display.score[at])
            or (display.size[o] < display.size[at] and display.score[o] >= display.score[at])
            for o in range(50)
        )
        assert display.front[at] != beaten


def test_a_search_shows_its_choice():
    X, y = load_breast_cancer(return_X_y=True)
    search = MCMClassifierCV(random_state=0, n_repeats=1, cv=3).fit(X[:200], y[:200])
    display = SparsityDisplay.from_search(search)
    assert display.score[display.chosen] == search.best_score_
    complete = np.isfinite(search.cv_results_["mean_test_log_loss"])
    assert 0 < complete.sum() < len(complete)  # the others were left out of some folds
    assert len(display.score) == complete.sum()
    display.plot()
    drawn = {artist.get_gid(): artist for artist in display.ax_.collections}
    assert drawn["chosen"].get_offsets()[0, 1] == pytest.approx(search.best_score_)
    assert_readable(display.figure_)
    assert_readable(small(display))
    with pytest.raises(TypeError, match="SVC has no search"):
        SparsityDisplay.from_search(SVC())


def test_a_search_for_numbers_shows_its_choice():
    X, y = load_diabetes(return_X_y=True)
    search = MCMRegressorCV(mus=[1.0, 0.1, 0.01], gammas=[0.05], cv=3, random_state=0).fit(X[:150], y[:150])
    display = SparsityDisplay.from_search(search)
    assert display.score[display.chosen] == search.best_score_
    assert display.score_name == "held-out R²"


def test_pictures_change_with_their_data_and_not_with_the_type():
    def picture(coef_decay, font="DejaVu Sans"):
        with plt.rc_context({"font.family": font}):
            figure, ax = plt.subplots(figsize=(4, 4))
            SelectionDisplay.from_parameters(n_features=8, coef_decay=coef_decay, random_state=0).plot(
                ax, with_key=False
            )
            return coarse(figure)

    again = picture(0.5, "DejaVu Serif")
    assert np.abs(picture(0.5) - again).max() < 5
    assert np.abs(picture(0.0) - again).max() > 10
