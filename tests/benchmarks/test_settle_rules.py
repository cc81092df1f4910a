"""Rules by which claims about convergence and sizes are settled."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.reproduce import convergence
from benchmarks.reproduce.convergence import DEPTHS, SETS, TREES, at_depth
from benchmarks.reproduce.declaration import Figure
from benchmarks.reproduce.settle_sizes import best_splits, found_on_one_split, smaller
from benchmarks.reproduce.settle_slm import best_of_all, collapse, reach_the_printed


class Curves(dict):
    """Results with the same curve of a method for all data sets and depths."""

    def __init__(self, **curves):
        names = {"forest": "random forest", "ours": "SLM Forest", "xgb": "XGBoost"}
        for name, curve in curves.items():
            for title in SETS:
                for depth in DEPTHS:
                    row = f"{title}, {at_depth(names[name], depth)}"
                    for trees, value in zip(TREES, curve, strict=True):
                        self[row, str(trees)] = SimpleNamespace(mean=value)


RISING = np.linspace(80, 91, len(TREES))


@pytest.mark.parametrize(
    ("ours", "verdict", "figures"),
    [
        (np.full(len(TREES), 90.0), "holds", "1 and 100"),
        (RISING, "does not hold", "100 and 100"),
    ],
)
def test_a_forest_converges_faster_if_it_is_near_its_end_earlier(ours, verdict, figures):
    settled = convergence.forests_converge_faster("SLM Forest")(Curves(ours=ours, forest=RISING))
    assert settled.verdict == verdict
    assert figures in settled.evidence


def test_a_forest_ends_higher_by_its_last_accuracy():
    assert convergence.forests_end_higher("SLM Forest")(Curves(ours=RISING + 1, forest=RISING)).verdict == "holds"
    assert convergence.forests_end_higher("SLM Forest")(Curves(ours=RISING, forest=RISING)).verdict == "does not hold"


def test_boosting_converges_faster_if_it_reaches_the_lowest_loss_of_the_other_earlier():
    falling = np.linspace(0.7, 0.1, len(TREES))
    settle = convergence.boosting_converges_faster("SLM Forest")
    assert settle(Curves(ours=falling - 0.1, xgb=falling)).verdict == "holds"
    slower = settle(Curves(ours=falling + 0.1, xgb=falling))
    assert slower.verdict == "does not hold" and "never and 100" in slower.evidence
    assert convergence.boosting_ends_lower("SLM Forest")(Curves(ours=falling - 0.1, xgb=falling)).verdict == "holds"


class Grid(dict):
    """Results of rows and columns of values, with printed figures."""

    def __init__(self, figures, printed):
        edges = {title: SimpleNamespace(title=title) for place in figures for title in place}
        rows, columns = (list(dict.fromkeys(place[k] for place in figures)) for k in (0, 1))
        self.table = SimpleNamespace(
            rows=[edges[title] for title in rows],
            columns=[edges[title] for title in columns],
            printed={place: Figure(value) for place, value in printed.items()},
        )
        for (row, column), values in figures.items():
            figure = self.table.printed.get((row, column))
            self[row, column] = SimpleNamespace(
                row=edges[row],
                column=edges[column],
                values=values,
                seeds=tuple(range(len(values))),
                of_seeds=lambda seeds, values=values: SimpleNamespace(mean=float(np.mean([values[k] for k in seeds]))),
                mean=float(np.mean(values)),
                std=float(np.std(values)),
                printed=figure,
                difference=float(np.mean(values)) - figure.mean if figure else None,
            )


def test_printed_sizes_of_decision_trees_are_halved_if_all_are_odd():
    figures = {("a", "SLM"): [10], ("a", "DT"): [20], ("b", "SLM"): [30], ("b", "DT"): [20]}
    printed = {("a", "SLM"): 10, ("a", "DT"): 2 * 11, ("b", "SLM"): 12, ("b", "DT"): 2 * 9}
    settled = smaller("SLM", "DT", "Sizes")(Grid(figures, printed))
    assert settled.verdict == "does not hold" and "on 1 of 2 data sets, not on b (30 and 20)" in settled.evidence
    assert "smaller on 2 of 2 data sets, and on 0 if n nodes are (n - 1) / 2 splits" in settled.evidence
    even = printed | {("a", "DT"): 2 * 10}
    assert "odd" not in smaller("SLM", "DT", "Sizes")(Grid(figures, even)).evidence


def test_smaller_in_general_is_on_more_than_half_and_of_named_sets_on_all():
    figures = {
        (row, column): [value]
        for row, values in {"a": (1, 4, 3), "b": (1, 4, 3), "c": (5, 4, 6)}.items()
        for column, value in zip(("SLM", "DT", "pruned"), values, strict=True)
    }
    general = smaller("SLM", "DT", "Sizes", also="pruned")(Grid(figures, {}))
    assert general.verdict == "holds" and "and below “pruned” on 3" in general.evidence
    assert smaller("SLM", "DT", "Sizes", only=("a", "c"))(Grid(figures, {})).verdict == "does not hold"
    assert smaller("SLM", "DT", "Sizes", times=0.5, only=("a", "b"))(Grid(figures, {})).verdict == "holds"
    assert smaller("SLM", "DT", "Sizes", times=0.2, only=("a", "b"))(Grid(figures, {})).verdict == "does not hold"


def test_a_search_on_one_split_explains_as_many_figures_above_it_as_chance_would():
    splits = [84.0, 86.0, 85.0]
    figures = {(f"m, {words} point", name): splits for name in "abcdefgh" for words in ("first", "best")}

    def settled(n_above):
        printed = {("m, best point", name): 87.0 if k < n_above else 86.0 for k, name in enumerate("abcdefgh")}
        return found_on_one_split(("m",))(Grid(figures, printed))

    assert settled(0).verdict == settled(4).verdict == "holds"  # two of eight are expected
    assert settled(5).verdict == "does not hold"
    assert "5 above the best of all splits (2.0 expected by chance): m, a (87.00, best 86.00)" in settled(5).evidence
    printed = {("m, best point", name): 86.0 for name in "abcdefgh"}
    assert "a 86.00 (mean 85.00)" in best_splits("m")(Grid(figures, printed)).sentence


def test_the_best_method_is_sought_among_those_printed_by_common_splits():
    figures = {("x", "a"): [1.0, 9.0], ("y", "a"): [2.0], ("ours", "a"): [0.5]}
    results = Grid(figures, {("x", "a"): 1, ("y", "a"): 2})
    lowest = best_of_all(("x",), ("a",), lower_is_better=True)(results)
    assert lowest.verdict == "holds" and "“x” is best, alone or with others, on 1 of 1 data sets" in lowest.evidence
    highest = best_of_all(("x",), ("a",))(results)
    assert highest.verdict == "does not hold" and "(a: y)" in highest.evidence


def test_a_network_collapses_if_it_is_five_points_behind_the_other():
    pairs = [("a", SimpleNamespace(mean=80.0), SimpleNamespace(mean=90.0)), ("b",) + (SimpleNamespace(mean=90.0),) * 2]
    results = SimpleNamespace(pairs=lambda one, other: iter(pairs))
    assert collapse("BP", "FF", ("a",))(results).verdict == "holds"
    assert collapse("BP", "FF", ("a", "b"))(results).verdict == "does not hold"


def test_twenty_trees_are_enough_if_more_change_little():
    assert convergence.twenty_trees_are_enough("SLM Forest")(Curves(ours=np.full(len(TREES), 90.0))).verdict == "holds"
    assert convergence.twenty_trees_are_enough("SLM Forest")(Curves(ours=RISING)).verdict == "does not hold"


def test_a_printed_figure_is_reached_within_two_standard_deviations_of_splits():
    figures = {("m", "a"): [90.0, 92.0], ("m", "b"): [90.0, 92.0], ("m", "c"): [90.0, 92.0]}
    near = reach_the_printed(("m",))(Grid(figures, {("m", "a"): 93.0, ("m", "b"): 91.0, ("m", "c"): 89.0}))
    assert (
        near.verdict == "holds"
        and "in 1 of 3 entries; the mean difference over all of them is +0.0 points" in near.evidence
    )
    far = reach_the_printed(("m",))(Grid(figures, {("m", "a"): 93.1, ("m", "b"): 91.0, ("m", "c"): 91.0}))
    assert far.verdict == "holds in part" and "1 are behind by more than two standard deviations" in far.evidence
