"""Boosting on rows in parts: the model of the table in memory, to the bit, whatever the parts and whatever is lost."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables_in_parts import ForgetfulParts, InParts, a_frame, a_table, both

from local_parts import LocalParts

law = settings(max_examples=8)
N_ROWS = 600
X, TARGETS, WEIGHT = a_table(N_ROWS)
CUT = [0, 170, 1, 0, 329, 100]  # sizes of parts
KEPT = ["base_score_", "feature_means_", "train_score_", "validation_score_"]


def assert_same_model(one, other):
    """Byte by byte, with all that is said of the fit."""
    for name, array in one.forest_.arrays().items():
        assert array.tobytes() == other.forest_.arrays()[name].tobytes(), name
    for name in KEPT:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    for name in ("n_iter_", "best_iteration_"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.target_statistics_.keys() == other.target_statistics_.keys()
    for j, statistics in one.target_statistics_.items():
        assert statistics.equals(other.target_statistics_[j])


def kind_of(task):
    return "numbers" if task in ("numbers", "counts") else task


def assert_same_in_parts(task, X, y, weight=None, *, sizes=CUT, make=LocalParts, **parameters):
    """Fit both, compare them, and return the one in memory."""
    memory, parts = both(kind_of(task), **parameters)
    memory.fit(X, y, weight)
    parts.fit_parts(X, y, weight, sizes=sizes, make=make)
    assert_same_model(memory, parts)
    assert memory.forest_.n_nodes > memory.forest_.n_trees  # there are splits to compare
    return memory


@st.composite
def cuts(draw, n_rows=N_ROWS):
    """Sizes of parts, empty ones among them."""
    ends = sorted(draw(st.lists(st.integers(0, n_rows), max_size=12)))
    ends += ends[:1] * draw(st.integers(0, 1))
    return np.diff([0, *sorted(ends), n_rows]).tolist()


# ------------------------------------------------------------------------------------------------- any partitioning
@law
@given(cuts(), st.sampled_from(["two", "ten", "numbers"]), st.integers(0, 99))
def test_any_parts_give_the_model_of_the_table_in_memory(sizes, task, seed):
    weight = WEIGHT if seed % 2 else None
    assert_same_in_parts(task, X, TARGETS[task], weight, sizes=sizes, n_estimators=4, random_state=seed)


@law
@given(cuts(), st.sampled_from(["two", "ten", "numbers"]), st.sampled_from([3, 80]))
def test_any_parts_of_a_frame_with_categories(sizes, task, n_categories):
    frame, targets, weight = a_frame(n_categories)
    made = assert_same_in_parts(task, frame, targets[task], weight, sizes=sizes, n_estimators=4)
    assert bool(made.target_statistics_) == (n_categories > 50)


def test_one_row_a_part():
    assert_same_in_parts("two", X[:300], TARGETS["two"][:300], sizes=[1] * 300, n_estimators=3)


# ---------------------------------------------------------------------------------------------------------- settings
@pytest.mark.parametrize("task", ["two", "ten", "numbers"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"subsample": 0.6, "max_rows_per_tree": 300},
        {"colsample": 0.5},
        {"bins": "robust"},
        {"bins": "uniform"},
        {"bins": "quantile"},
        {"interaction_cst": [[0, 1], [2, 3, 4]]},
        {"base_score": 0.25},
        {"remember_directions": False},
        {"root_features": 3, "subspace": "node", "axis_candidates": "subspace", "coef_decay": 0.7, "min_coef": 0},
        {"max_depth": 2, "smoothing": 3.0, "min_split_gain": 0.01},
    ],
    ids=lambda parameters: next(iter(parameters)) + " " + str(next(iter(parameters.values()))),
)
def test_settings_mean_the_same_in_parts(task, parameters):
    assert_same_in_parts(task, X, TARGETS[task], WEIGHT, n_estimators=5, **parameters)


def test_monotone_constraints_and_outliers():
    wild = X.copy()
    wild[::50, 0] *= 1e6
    assert_same_in_parts("numbers", wild, TARGETS["numbers"], monotonic_cst=[1, 0, 0, -1, 0], bins="robust")
    assert_same_in_parts("two", X, TARGETS["two"], monotonic_cst=[1, 0, 0, -1, 0])


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_losses_of_counts_and_amounts(loss):
    y = TARGETS["counts"] + (loss == "gamma")
    assert_same_in_parts("counts", X, y, WEIGHT, loss=loss)


def test_infinities():
    endless = X.copy()
    endless[3, 0], endless[400, 0], endless[401, 1] = np.inf, -np.inf, np.inf
    for bins in ("robust", "uniform", "quantile"):
        assert_same_in_parts("two", endless, TARGETS["two"], bins=bins, n_estimators=4)


def test_a_class_and_a_category_that_one_part_has():
    frame, targets, _ = a_frame(60)
    y = np.where(np.arange(N_ROWS) < 40, "rare", targets["two"])
    frame["late"] = np.where(np.arange(N_ROWS) < 590, 0.0, np.nan)
    assert_same_in_parts("ten", frame, y, sizes=[40, 300, 260])


def test_one_class_only():
    memory, parts = both("two")
    y = np.full(N_ROWS, "yes")
    parts.fit_parts(X, y, sizes=CUT)
    assert memory.fit(X, y).predict(X).tolist() == parts.predict(X).tolist()
    assert parts.n_iter_ == memory.n_iter_ == 0


# ---------------------------------------------------------------------------------------------- validation and metrics
@pytest.mark.parametrize("task", ["two", "ten", "numbers"])
@pytest.mark.parametrize("refit", [True, False])
def test_early_stopping_by_a_share_of_the_rows(task, refit):
    frame, targets, weight = a_frame(80)
    made = assert_same_in_parts(
        task, frame, targets[task], weight, n_estimators=40, learning_rate=0.6,
        early_stopping=True, n_iter_no_change=3, refit=refit,
    )  # fmt: skip
    assert made.n_iter_ < 40


@pytest.mark.parametrize("task", ["two", "ten", "numbers"])
@pytest.mark.parametrize("metric", [None, "metric"])
def test_early_stopping_by_given_rows(task, metric):
    frame, targets, weight = a_frame(80)
    name = metric and ("neg_mean_absolute_error" if task == "numbers" else "accuracy")
    y, learn, rest = targets[task], slice(0, 400), slice(400, N_ROWS)
    options = {"n_estimators": 40, "learning_rate": 0.6, "early_stopping": True, "n_iter_no_change": 3}
    memory, parts = both(task, scoring=name, **options)
    memory.fit(frame[learn], y[learn], weight[learn], X_val=frame[rest], y_val=y[rest], sample_weight_val=weight[rest])
    validation = frame[rest], y[rest], weight[rest]
    parts.fit_parts(frame[learn], y[learn], weight[learn], sizes=[150, 0, 250], validation=validation)
    assert_same_model(memory, parts)
    assert memory.n_iter_ < 40


def test_scores_of_the_training_rows():
    made = assert_same_in_parts("two", X, TARGETS["two"], WEIGHT, scoring="roc_auc")
    assert len(made.train_score_) == 10


def test_a_callback_that_ends_the_fit():
    heard = []

    def third(number, losses):
        heard.append((number, losses))
        return number == 3

    made = assert_same_in_parts("two", X, TARGETS["two"], callbacks=[third])
    assert made.n_iter_ == 3 and heard[:3] == heard[3:]


# -------------------------------------------------------------------------------------------------------------- losses
@law
@given(st.integers(0, 99), st.sampled_from(["two", "ten", "numbers"]), st.sampled_from([0.05, 0.5]))
def test_parts_that_lose_their_scores_at_any_moment_give_the_same_bytes(seed, task, share):
    make = partial(ForgetfulParts, random=np.random.default_rng(seed), share=share)
    assert_same_in_parts(task, X, TARGETS[task], WEIGHT, make=make, n_estimators=10, subsample=0.9)


@law
@given(st.integers(0, 99), st.booleans())
def test_losses_while_rows_are_monitored(seed, by_score):
    random = np.random.default_rng(seed)
    frame, targets, weight = a_frame(80)
    assert_same_in_parts(
        "two", frame, targets["two"], weight, make=partial(ForgetfulParts, random=random, share=0.3),
        early_stopping=True, n_iter_no_change=3, learning_rate=0.6, scoring="accuracy" if by_score else None,
    )  # fmt: skip


def test_parts_that_always_come_without_scores_end_all_the_same():
    make = partial(ForgetfulParts, random=np.random.default_rng(0), share=1.0)
    assert_same_in_parts("two", X, TARGETS["two"], make=make, n_estimators=3)


def test_parts_keep_nothing_of_a_fit_that_has_ended():
    made = []

    def make(parts):
        made.extend(parts)
        return LocalParts(parts)

    kept = []
    model = both("two", callbacks=[lambda *_: kept.append([len(part.states) for part in made])], n_estimators=2)[1]
    model.fit_parts(X, TARGETS["two"], sizes=CUT, make=make)
    assert kept == [[1] * len(CUT)] * 2
    assert [part.states for part in made] == [{}] * len(CUT)


# ------------------------------------------------------------------------------------------------------------ refusals
def own_loss(y, score):
    return score - y, np.ones_like(score)


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (own_loss, "A custom loss needs all rows in one place"),
        ("absolute_error", "loss='absolute_error' needs all rows in one place"),
        ("quantile", "loss='quantile' needs all rows in one place"),
        ("huber", "loss='huber' needs all rows in one place"),
    ],
)
def test_losses_that_need_all_rows_are_refused_by_name(loss, told):
    model = both("numbers", loss=loss)[1]
    with pytest.raises(ValueError, match=rf"^{told}, and RegressorInParts keeps them in parts beyond max_rows_per"):
        model.fit_parts(X, TARGETS["numbers"], sizes=CUT)


def test_a_warm_start_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^warm_start=True is not possible"):
        both("two", warm_start=True)[1].fit_parts(X, TARGETS["two"], sizes=CUT)


def test_targets_that_a_loss_is_not_defined_for():
    y = TARGETS["counts"].copy()
    with pytest.raises(ValueError, match="needs targets of zero or more, not all of them zero"):
        both("numbers", loss="poisson")[1].fit_parts(X, 0 * y, sizes=CUT)
    y[310] = -1
    for model in both("numbers", loss="poisson"):
        fit = partial(model.fit_parts, sizes=CUT) if isinstance(model, InParts) else model.fit
        with pytest.raises(ValueError, match=r"row 310"):
            fit(X, y)
