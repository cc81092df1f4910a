"""The core refuses arrays that do not go together, instead of reading or writing outside of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from planewise import SLMBoostRegressor, _core

X, Y = load_iris(return_X_y=True)
ROWS, WEIGHT, TARGET = X.astype(np.float32), np.ones(len(Y)), Y.astype(float)
NONE = np.empty(0, np.float32)
START, COLUMN = np.array([0, 1], np.int32), np.array([0], np.int32)


def test_the_best_view_of_a_row_must_be_one():
    entropy = np.ascontiguousarray(ROWS.T)  # views x rows
    for best in (-1, 4, 2**31 - 1):
        with pytest.raises(ValueError, match="no such view"):
            _core.choose_projections(
                entropy, np.zeros(150, np.float32), np.full(150, best, np.int32), COLUMN, np.ones(1), 1.0, 1
            )


def test_results_of_neighbours_must_have_their_size_even_if_it_has_more_digits_than_memory_has_addresses():
    query, label = ROWS[:4], np.empty(0, np.int32)
    row, distance = np.zeros(0, np.int32), np.zeros(0, np.float32)
    with pytest.raises(MemoryError):
        _core.class_neighbours(ROWS, label, 1, NONE, START, COLUMN, query, label, 2**62, row, distance, 1)


def test_no_rows_can_not_be_drawn_from():
    with pytest.raises(ValueError, match="no rows to draw"):
        _core.bootstrap(0, 5, 0, 0)
    assert len(_core.bootstrap(0, 0, 0, 0)) == 0


def _boosting():
    options = _core.BoostOptions()
    options.loss = "squared"
    table = _core.Table(ROWS, WEIGHT, 1)
    return _core.Boosting(table, TARGET, WEIGHT, np.zeros((1, 1)), 0, options, 1)


def test_only_sets_that_are_watched_have_losses():
    boosting = _boosting()
    for ask in (boosting.watched_loss, boosting.watched_score):
        with pytest.raises(ValueError, match="no such set"):
            ask(0)


def _part():
    options = _core.BoostOptions()
    options.loss = "squared"
    return _core.BoostRows(ROWS, TARGET, WEIGHT, np.zeros((150, 1)), options, 0)


def test_rows_move_only_by_the_trees_that_they_were_sent_down():
    deep, flat = (
        SLMBoostRegressor(n_estimators=1, max_depth=depth, random_state=0).fit(X, Y).forest_._native for depth in (4, 1)
    )
    part = _part()
    part.route(deep, np.ones((1, 3)), 0, 1.0, 1)
    with pytest.raises(ValueError, match="not sent down these trees"):
        part.move(flat, 1)
    part.move(deep, 1)


def test_tables_of_parts_know_all_columns():
    ranges = _core.column_ranges(ROWS, WEIGHT, 1)
    sums = _core.column_sums(ROWS, WEIGHT, ranges, np.empty(0), 1)
    with pytest.raises(ValueError, match="one entry per column"):
        _core.table_of_parts(ranges, sums, sums, [3])
    table = _core.table_of_parts(ranges, sums, sums, [])
    with pytest.raises(ValueError, match="begin_bodies comes first"):
        _core.set_body(table, 0, ROWS[:, 0].copy(), WEIGHT, True)


def test_scores_without_outputs_are_refused():
    options, none = _core.BoostOptions(), np.zeros((150, 0))
    with pytest.raises(ValueError, match="at least one output"):
        _core.Rounds(3, 0, options)
    with pytest.raises(ValueError, match="at least one output"):
        _core.BoostRows(ROWS, TARGET, WEIGHT, none, options, 0)
    with pytest.raises(ValueError, match="at least one output"):
        _core.derivatives(options, TARGET, WEIGHT, none)
    with pytest.raises(ValueError, match="at least one output"):
        _core.Boosting(_core.Table(ROWS, WEIGHT, 1), TARGET, WEIGHT, np.zeros((1, 0)), 0, options, 1)


def test_rows_without_columns_have_no_values():
    part = _core.BoostRows(ROWS[:, :0], TARGET, WEIGHT, np.zeros((150, 1)), _core.BoostOptions(), 0)
    assert part.values_of(np.arange(3, dtype=np.uint32), 1).shape[1] == 0


@pytest.mark.parametrize(("k", "start"), [(0, [0, 1]), (1, [0, 0]), (1, [0, 1, 1])])
def test_neighbours_are_of_views_with_columns_and_at_least_one(k, start):
    start, label = np.array(start, np.int32), Y.astype(np.int32)
    found = np.zeros(4 * (len(start) - 1), np.float32), np.zeros(4 * (len(start) - 1), np.float32)
    rows = np.arange(4, dtype=np.int32)
    for search in (_core.OwnAndOtherSearch(ROWS, label, NONE), _core.NearestWeightsSearch(ROWS, label, WEIGHT, NONE)):
        ask = getattr(search, "distances", None) or search.own_and_other
        with pytest.raises(ValueError, match=r"k must be at least 1|view_start must rise"):
            ask(start, COLUMN, rows, k, *found, 1)
    none = np.empty(0, np.int32)
    with pytest.raises(ValueError, match="n_classes must be at least 1"):
        _core.class_neighbours(ROWS, none, 0, NONE, START, COLUMN, ROWS[:4], none, 1, none, NONE, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_bins", -1), ("n_bins", 256), ("n_projections", -1), ("max_planes", 9), ("max_coef", 0), ("max_joint", -5)],
)
def test_options_that_would_not_end_or_not_fit_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be from"):
        setattr(_core.GrowOptions(), name, value)


def test_draws_that_would_not_end_are_refused():
    with pytest.raises(ValueError, match="too many"):
        _core.bootstrap(10, 2**62, 0, 0)
    with pytest.raises(ValueError, match="too many"):
        _core.BagOptions().draws = 2**40
    for decays in ((np.nan, 0.0), (0.0, np.nan), (-1.0, 0.0)):
        with pytest.raises(ValueError, match="decays of at least 0"):
            _core.DrawRound(2, *decays)


def test_forests_are_joined_only_if_they_have_the_same_arrays():
    from planewise import SLMRegressor
    from planewise.trees import Forest

    tree = SLMRegressor(random_state=0).fit(X, TARGET).tree_
    bare = {name: each for name, each in tree.arrays().items() if name not in ("weight", "impurity", "gain")}
    narrow = tree.with_arrays(value=tree.value.astype(np.float32))
    for other in (Forest.from_arrays(**bare), narrow):
        for pair in ([tree, other], [other, tree]):
            with pytest.raises(ValueError, match=r"weight of another length|values of two types"):
                Forest.joined(pair)
    assert Forest.joined([tree, tree]).n_trees == 2


def test_a_count_of_rows_that_no_step_reaches_ends():
    ranges = _core.column_ranges(ROWS, WEIGHT, 1)
    for huge in (1e300, np.inf, np.nan):
        changed = np.array(ranges)
        changed[:] = huge
        assert _core.body_step(changed) >= 1
