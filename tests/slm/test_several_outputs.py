"""Several targets or several quantiles in one model: every output as if alone, and quantiles that never cross."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import d2_pinball_score, mean_pinball_loss, r2_score
from sklearn.multioutput import MultiOutputRegressor

from planewise import (
    MCMRegressor,
    RECIPRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise.io import load, save

law = settings(max_examples=40)

LEVELS = [0.1, 0.5, 0.9]
STRATEGIES = ["one_output_per_tree", "multi_output_tree"]
LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]
NO_DRAWS = {"n_projections": 0, "smoothing": 1.0, "max_depth": 3}  # then trees do not depend on the seed
strategies = pytest.mark.parametrize("strategy", STRATEGIES)


def boosting(**parameters):
    return SLMBoostRegressor(**({"n_estimators": 6, "random_state": 0} | parameters))


def quantiles(**parameters):
    return boosting(**({"loss": "quantile", "alpha": LEVELS} | parameters))


def table(n=300, seed=0):
    """Three targets, one of them noisier towards one side."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    noisy = X[:, 0] + np.exp(X[:, 1] / 2) * rng.normal(size=n)
    return X, np.column_stack([noisy, np.sin(2 * X[:, 2]), X[:, 0] * X[:, 3] + 3])


def positive(loss, Y):
    return np.exp(np.clip(Y, -2, 2)) if loss in ("poisson", "gamma", "tweedie") else Y


def assert_never_falls(rows):
    assert rows.ndim == 2
    assert (np.diff(rows, axis=1) >= 0).all()


# ---------------------------------------------------------------------------------------------- several targets
@pytest.mark.parametrize("loss", LOSSES)
def test_trees_of_their_own_learn_each_target_as_a_model_of_its_own_does(loss):
    X, Y = table()
    Y = positive(loss, Y)
    together = boosting(loss=loss, alpha=0.6, **NO_DRAWS).fit(X, Y)
    alone = [boosting(loss=loss, alpha=0.6, **NO_DRAWS).fit(X, y) for y in Y.T]
    assert_array_equal(together.predict(X), np.column_stack([model.predict(X) for model in alone]))
    assert_array_equal(together.base_score_, [model.base_score_[0] for model in alone])
    assert together.n_outputs_ == 3
    assert together.forest_.n_trees == 18


@strategies
@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_the_mean_over_the_targets_and_falls(loss, strategy):
    X, Y = table()
    Y = positive(loss, Y)
    model = boosting(loss=loss, alpha=0.6, multi_strategy=strategy, n_estimators=15)
    model.fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:])
    losses = -model.validation_score_
    raw = model._raw(X[200:])
    by_output = [
        type(model._loss)(model._loss.core, alpha=0.6, power=model._loss.power).mean(
            np.ascontiguousarray(y), np.ones(100), np.ascontiguousarray(f[:, None])
        )
        for y, f in zip(Y[200:].T, raw.T, strict=True)
    ]
    assert losses[-1] == pytest.approx(np.mean(by_output))
    assert -model.train_score_[-1] < 0.9 * -model.train_score_[0]


@strategies
def test_a_leaf_holds_the_median_of_what_is_left_by_target(strategy):
    X, Y = table(60)
    model = boosting(
        loss="absolute_error", n_estimators=1, learning_rate=1.0, multi_strategy=strategy, min_samples_leaf=3
    ).fit(X, Y)
    found = model.predict(X)
    leaf = model.forest_.apply(np.ascontiguousarray(X, dtype=np.float32))
    for k in range(3):
        of_tree = leaf[:, k if leaf.shape[1] == 3 else 0]
        for node in np.unique(of_tree):
            here = of_tree == node
            assert_allclose(found[here, k], np.median(Y[here, k]), rtol=1e-5)


@strategies
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
@law
@given(powers=st.lists(st.integers(-60, 60), min_size=3, max_size=3))
def test_the_scale_of_a_target_changes_nothing_but_its_predictions(loss, strategy, powers):
    X, Y = table(150)
    scale, without_trials = 2.0 ** np.array(powers), {"smoothing": 1.0, "max_depth": 3}
    model = boosting(loss=loss, alpha=0.6, multi_strategy=strategy, n_estimators=3, **without_trials)
    assert_array_equal(model.fit(X, Y * scale).predict(X), model.fit(X, Y).predict(X) * scale)


@strategies
def test_a_loss_of_ones_own_gets_all_targets_at_once(strategy):
    X, Y = table()
    seen = []

    def squared(target, score):
        seen.append((target.shape, score.shape))
        return score - target, np.ones_like(score)

    own = boosting(loss=squared, base_score=0.5, multi_strategy=strategy, **NO_DRAWS).fit(X, Y)
    if strategy == "one_output_per_tree":  # trees for all targets also bring the targets of built-in losses to scale
        built_in = boosting(base_score=0.5, **NO_DRAWS).fit(X, Y)
        assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-6)
    assert own.score(X, Y) > boosting(base_score=0.5, n_estimators=1).fit(X, Y).score(X, Y)
    assert set(seen) == {((300, 3), (300, 3))}


@strategies
def test_everything_of_boosting_works_with_several_targets(strategy, tmp_path):
    X, Y = table()
    X[::9, 1] = np.nan
    make = {"multi_strategy": strategy, "subsample": 0.8}
    whole = boosting(n_estimators=10, **make).fit(X, Y)
    assert whole.predict(X).shape == (300, 3)
    assert list(whole.staged_predict(X))[-1].shape == (300, 3)
    assert_allclose(list(whole.staged_predict(X))[-1], whole.predict(X), rtol=1e-12)
    assert whole.score(X, Y) == pytest.approx(r2_score(Y, whole.predict(X)))
    contributions = whole.predict_contributions(X)
    assert contributions.shape == (300, 3, 5)
    assert_allclose(contributions.sum(axis=2), whole.predict(X), rtol=1e-9, atol=1e-9)
    assert whole.feature_importances_.sum() == pytest.approx(1)
    for n_jobs in (2, 3):
        assert_array_equal(boosting(n_estimators=10, n_jobs=n_jobs, **make).fit(X, Y).predict(X), whole.predict(X))
    warm = boosting(n_estimators=4, warm_start=True, **make).fit(X, Y)
    assert_array_equal(warm.set_params(n_estimators=10).fit(X, Y).predict(X), whole.predict(X))
    early = boosting(n_estimators=60, early_stopping=True, n_iter_no_change=3, **make).fit(X, Y)
    assert early.best_iteration_ == early.n_iter_ <= 60
    assert early.forest_.n_trees == early.n_iter_ * early.forest_.trees_per_round
    for copied in (pickle.loads(pickle.dumps(whole)), saved(whole, tmp_path)):
        assert_array_equal(copied.predict(X), whole.predict(X))


def saved(model, folder):
    save(model, folder / "m.planewise")
    return load(folder / "m.planewise")


@strategies
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_an_integer_weight_is_as_many_rows(loss, strategy):
    X, Y = table(120)
    weight = np.random.default_rng(0).integers(1, 4, len(Y))
    model = boosting(loss=loss, multi_strategy=strategy, min_samples_leaf=1, noise_margin=0)
    weighted = model.fit(X, Y, weight).predict(X)
    assert_allclose(model.fit(X.repeat(weight, axis=0), Y.repeat(weight, axis=0)).predict(X), weighted, rtol=1e-6)


def test_a_statistic_of_each_target_stands_beside_many_categories():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 60, 1200)
    X = pd.DataFrame({"town": pd.Categorical([f"t{k}" for k in town]), "size": rng.normal(size=1200)})
    effect = rng.normal(size=(60, 2))
    Y = effect[town] + 0.1 * rng.normal(size=(1200, 2))
    model = boosting(n_estimators=30).fit(X[:800], Y[:800])
    known = model.target_statistics_[0]
    assert known.values.shape == (60, 2)
    assert known.names(None) == ["mean of target 0", "mean of target 1"]
    assert model.score(X[800:], Y[800:]) > 0.8
    assert quantiles().fit(X, Y[:, 0]).target_statistics_[0].values.shape == (60, 1)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "gamma", "quantiles"])
def test_every_output_follows_the_constraints(loss):
    X, Y = table()
    if loss == "quantiles":
        model = quantiles(monotonic_cst=[1, 0, -1, 0], learning_rate=0.5).fit(X, Y[:, 0])
    else:
        model = boosting(loss=loss, monotonic_cst=[1, 0, -1, 0]).fit(X, positive(loss, Y))
    grid = np.repeat(X[:20], 50, axis=0)
    for column, sign in ((0, 1), (2, -1)):
        rows = grid.copy()
        rows[:, column] = np.tile(np.linspace(-3, 3, 50), 20)
        steps = np.diff(model.predict(rows).reshape(20, 50, 3), axis=1)
        assert (sign * steps >= 0).all()
    with pytest.raises(ValueError, match=r"monotonic_cst.*multi_strategy='one_output_per_tree'"):
        boosting(monotonic_cst=[1, 0, 0, 0], multi_strategy="multi_output_tree").fit(X, Y)


def test_one_column_warns_as_in_scikit_learn_and_predicts_numbers():
    X, Y = table()
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = boosting().fit(X, Y[:, :1])
    assert_array_equal(model.predict(X), boosting().fit(X, Y[:, 0]).predict(X))


def test_targets_may_be_a_data_frame_of_any_order_in_memory():
    X, Y = table()
    plain = boosting().fit(X, Y).predict(X)
    assert_array_equal(boosting().fit(X, np.asfortranarray(Y)).predict(X), plain)
    assert_array_equal(boosting().fit(X, pd.DataFrame(Y)).predict(X), plain)
    assert_array_equal(boosting().fit(X, Y.tolist()).predict(X), plain)


@pytest.mark.parametrize("make", [SLMRegressor, SLMForestRegressor, MCMRegressor, RECIPRegressor])
def test_models_of_one_target_name_what_takes_several(make):
    X, Y = table(60)
    with pytest.raises(ValueError, match=r"1d array.*\(60, 3\).*MultiOutputRegressor.*SLMBoostRegressor"):
        make().fit(X, Y)
    assert MultiOutputRegressor(make()).fit(X, Y[:, :2]).predict(X).shape == (60, 2)


@pytest.mark.parametrize("make", [SLMClassifier, SLMBoostClassifier])
def test_classifiers_name_what_takes_several(make):
    with pytest.raises(ValueError, match="MultiOutputClassifier"):
        make().fit(np.zeros((6, 2)), np.zeros((6, 2), dtype=int))


def test_validation_targets_have_as_many_columns():
    X, Y = table()
    with pytest.raises(ValueError, match=r"y_val has shape \(300, 2\)"):
        boosting().fit(X, Y, X_val=X, y_val=Y[:, :2])
    bad = np.abs(Y)
    bad[3, 1] = -5
    with pytest.raises(ValueError, match=r"row 3 of y has -5\.0"):
        boosting(loss="poisson").fit(X, bad)
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        boosting().fit(X, bad)
    model = boosting(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start=True needs the same loss and kind of target"):
        model.fit(X, Y[:, :2])


# -------------------------------------------------------------------------------------------- several quantiles
@st.composite
def rows_of_any_kind(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.normal(size=(40, 4)) * 10.0 ** rng.integers(-3, 4, size=(40, 4))
    odd = np.array([np.nan, 0.0, -0.0, 1e30, -1e30, 3.4e38, -3.4e38, 1e-40])
    at = rng.random(rows.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    rows[at] = rng.choice(odd, int(at.sum()))
    return rows


@strategies
@law
@given(data=st.data())
def test_quantiles_never_cross_on_any_row(strategy, data):
    X, Y = table(120, data.draw(st.integers(0, 1000)))
    levels = sorted(data.draw(st.sets(st.sampled_from(np.linspace(0.02, 0.98, 25).tolist()), min_size=2, max_size=6)))
    model = quantiles(
        alpha=levels, multi_strategy=strategy, learning_rate=data.draw(st.sampled_from([0.1, 1.0])), max_depth=2
    ).fit(X, Y[:, 0])
    rows = data.draw(rows_of_any_kind())
    assert_never_falls(model.predict(rows))
    for stage in model.staged_predict(rows):
        assert_never_falls(stage)
    assert_allclose(model.predict_contributions(rows).sum(axis=2), model.predict(rows), rtol=1e-9, atol=1e-9)


def test_sorting_happens_and_never_worsens_the_loss():
    X, Y = table(150)
    levels = [0.45, 0.5, 0.55]
    model = quantiles(alpha=levels, learning_rate=1.0).fit(X[:100], Y[:100, 0], X_val=X[100:], y_val=Y[100:, 0])
    raw, found = model._raw(X[100:]), model.predict(X[100:])
    crossing = (np.diff(raw, axis=1) < 0).any(axis=1)
    assert crossing.any()
    losses = [
        np.mean([mean_pinball_loss(Y[100:, 0], each, alpha=level) for level, each in zip(levels, of.T, strict=True)])
        for of in (found, raw)
    ]
    assert losses[0] <= losses[1]
    assert -model.validation_score_[-1] == pytest.approx(losses[0])


def test_a_quantile_has_the_share_of_targets_below_it_that_it_names():
    X, Y = table(6000)
    y = Y[:, 0]
    for strategy in STRATEGIES:
        model = quantiles(n_estimators=60, multi_strategy=strategy, min_samples_leaf=50).fit(X[:4000], y[:4000])
        below = (y[4000:, None] <= model.predict(X[4000:])).mean(axis=0)
        assert_allclose(below, LEVELS, atol=0.06)
        low, _, high = model.predict(X[4000:]).T
        wide = X[4000:, 1] > 0  # where there is more noise
        assert (high - low)[wide].mean() > 1.3 * (high - low)[~wide].mean()


def test_each_level_is_learned_as_by_a_model_of_its_own():
    X, Y = table()
    raw = quantiles(**NO_DRAWS).fit(X, Y[:, 0])._raw(X)
    alone = [quantiles(alpha=level, **NO_DRAWS).fit(X, Y[:, 0]).predict(X) for level in LEVELS]
    assert_array_equal(raw, np.column_stack(alone))


def test_the_score_of_several_quantiles_is_their_mean_d2():
    X, Y = table()
    model, weight = quantiles(n_estimators=30).fit(X, Y[:, 0]), np.random.default_rng(0).random(300)
    expected = [
        d2_pinball_score(Y[:, 0], each, alpha=level, sample_weight=weight)
        for level, each in zip(LEVELS, model.predict(X).T, strict=True)
    ]
    assert model.score(X, Y[:, 0], weight) == pytest.approx(np.mean(expected))
    assert 0.1 < model.score(X, Y[:, 0]) < 1


def test_the_score_of_one_quantile_is_that_of_its_level():
    X, Y = table()
    for y in (Y[:, 0], Y):
        model = SLMBoostRegressor(loss="quantile", alpha=0.8, n_estimators=5, random_state=0).fit(X, y)
        assert model.score(X, y) == pytest.approx(d2_pinball_score(y, model.predict(X), alpha=0.8))
    with pytest.raises(NotFittedError, match="not fitted"):
        SLMBoostRegressor().n_outputs_  # noqa: B018


@pytest.mark.parametrize("alpha", [[0.5], [], [0.5, 0.5], [0.9, 0.1], [0.0, 0.5], [0.5, 1.0], [0.1, None], "0.5"])
def test_levels_must_rise_between_zero_and_one(alpha):
    X, Y = table(40)
    with pytest.raises(ValueError, match="'alpha'"):
        quantiles(alpha=alpha).fit(X, Y[:, 0])


def test_levels_go_with_one_target_and_the_quantile_loss():
    X, Y = table(40)
    with pytest.raises(ValueError, match="A list as 'alpha' needs one target, but y has 3 columns"):
        quantiles().fit(X, Y)
    for loss in ("huber", "squared_error"):
        with pytest.raises(ValueError, match="'alpha' can be a list for loss='quantile' only"):
            quantiles(loss=loss).fit(X, Y[:, 0])
    model = quantiles(warm_start=True).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="the same loss"):
        model.set_params(alpha=[0.1, 0.5, 0.8], n_estimators=9).fit(X, Y[:, 0])


def test_what_needs_one_number_per_row_says_so():
    from planewise.evaluate import evaluate
    from planewise.plot import ConvergenceDisplay, PartitionDisplay, TreeDisplay
    from planewise.report import report

    X, Y = table(60)
    for model, target in ((quantiles().fit(X, Y[:, 0]), Y[:, 0]), (boosting().fit(X, Y), Y)):
        for use, named in (
            (lambda m=model: m.explain(X), "explain"),
            (lambda m=model, t=target: evaluate(m, X, t), "evaluate"),
            (lambda m=model, t=target: report(m, X, t), "evaluate"),
            (lambda m=model, t=target: PartitionDisplay.from_estimator(m, X, t), "PartitionDisplay"),
        ):
            with pytest.raises(ValueError, match=f"{named} needs a model with one prediction per row.* has 3"):
                use()
        assert "predicts" in report(model)
        assert TreeDisplay.from_estimator(model, tree=1).tree.value.shape[1] == 1
    with pytest.raises(ValueError, match="TreeDisplay of a tree with several numbers per leaf"):
        TreeDisplay.from_estimator(boosting(multi_strategy="multi_output_tree").fit(X, Y))
    with pytest.raises(ValueError, match="Several quantiles of one target have no error"):
        ConvergenceDisplay.from_estimators({"quantiles": quantiles().fit(X, Y[:, 0])}, X, Y[:, 0])
    curves = ConvergenceDisplay.from_estimators({"targets": boosting().fit(X, Y)}, X, Y).curves
    assert curves["targets"].values.shape == (1, 6)


@pytest.mark.parametrize(
    ("model", "names"), [(quantiles(), ["quantile 0.1", "quantile 0.9"]), (boosting(), ["target 0"])]
)
@strategies
def test_descriptions_name_the_outputs(model, names, strategy):
    X, Y = table(100)
    several = "alpha" in str(model)
    text = model.set_params(multi_strategy=strategy).fit(X, Y[:, 0] if several else Y).describe().to_text()
    assert "predicts: 3 numbers: " in text
    assert f"{names[0]} +" in text or f"{names[0]} −" in text  # in the rules of the first tree
    for name in names:
        assert name in text
