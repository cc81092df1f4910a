"""What the SLM paper claims about other methods, settled by our figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .claims import settled_by_count
from .declaration import PaperClaim, Settled
from .results import Results

NETWORKS = ("FF-MLP", "BP-MLP")
BASELINE, FOREST, BOOST = (f"SLM {kind}, published" for kind in ("Baseline", "Forest", "Boost"))


def outperform(
    ours: tuple[str, ...],
    theirs: tuple[str, ...],
    *,
    everywhere: bool = True,
    lower_is_better: bool = False,
    also: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
) -> Callable[[Results], Settled]:
    """Whether each of `ours` is at least as good as each of `theirs`, by means over the seeds that both have.

    It holds if that is so for every pair of methods, on all data sets (`everywhere`) or on more than half of them. It
    holds in part if it is so on more than half of all pairs and data sets together. What the methods `also` named do is
    said and does not count; `only` are the data sets that the claim is about.
    """
    sign = -1 if lower_is_better else 1

    def settle(results: Results) -> Settled:
        counted = [_compare(results, one, other, sign, only) for one in ours for other in theirs]
        others = [_compare(results, one, other, sign, only) for one in also for other in theirs]
        total, good = sum(each.n_sets for each in counted), sum(each.n_good for each in counted)
        least = min(each.n_good / each.n_sets for each in counted)
        evidence = " ".join(_sentence(one, [*counted, *others]) for one in (*ours, *also))
        if not everywhere and least > 0.5:
            return Settled("holds", evidence)
        return settled_by_count(good, total, evidence)

    return settle


@dataclass(frozen=True)
class _Comparison:
    """On how many data sets `one` is at least as good as `other`, and where it is behind by two standard errors."""

    one: str
    other: str
    n_sets: int
    n_good: int
    clearly_behind: list[str]


def _compare(results: Results, one: str, other: str, sign: int, only: tuple[str, ...]) -> _Comparison:
    pairs = [pair for pair in results.pairs(one, other) if not only or pair[0] in only]
    differences = {title: sign * (np.array(a.values) - np.array(b.values)) for title, a, b in pairs}
    behind = {title: each for title, each in differences.items() if each.mean() < -1e-9}  # less is rounding
    clearly = [
        title
        for title, each in behind.items()
        if len(each) == 1 or -each.mean() > 2 * results.standard_error(title, each)
    ]
    return _Comparison(one, other, len(pairs), len(pairs) - len(behind), clearly)


def _sentence(one: str, comparisons: list[_Comparison]) -> str:
    mine = [each for each in comparisons if each.one == one]
    counts = ", ".join(f"{each.other} on {each.n_good} of {each.n_sets}" for each in mine)
    clearly = [title + (f" ({each.other})" if len(mine) > 1 else "") for each in mine for title in each.clearly_behind]
    more = f"; it is more than two standard errors behind on {', '.join(clearly)}" if clearly else ""
    return f"“{one}” is at least as good as {counts} data sets{more}."


def best_of_all(
    methods: tuple[str, ...], columns: tuple[str, ...], *, lower_is_better: bool = False
) -> Callable[[Results], Settled]:
    """Whether one of `methods` has the best mean of all that the paper prints, by the seeds that all of them have."""

    sign = -1 if lower_is_better else 1

    def settle(results: Results) -> Settled:
        rivals = [row.title for row in results.table.rows if (row.title, columns[0]) in results.table.printed]
        won, others = 0, []
        for column in columns:
            seeds = set.intersection(*(set(results[title, column].seeds) for title in rivals))
            scores = {title: sign * results[title, column].of_seeds(seeds).mean for title in rivals}
            best = [title for title in rivals if scores[title] >= max(scores.values()) - 1e-9]
            if set(methods) & set(best):
                won += 1
            else:
                others.append(f"{column}: {best[0]}")
        named = " or ".join(f"“{method}”" for method in methods)
        sentence = (
            f"Of the paper's methods, {named} is best, alone or with others, on {won} of {len(columns)} data sets, by "
            f"the splits that all methods have"
        )
        sentence += f" ({'; '.join(others)})." if others else "."
        return settled_by_count(won, len(columns), sentence)

    return settle


def reach_the_printed(methods: tuple[str, ...], *, lower_is_better: bool = False) -> Callable[[Results], Settled]:
    """Whether the printed figures can be expected: our mean is not behind by more than two deviations of splits.

    A printed figure comes from one split, so that it may differ from a mean as splits do among themselves.
    """
    sign = -1 if lower_is_better else 1

    def settle(results: Results) -> Settled:
        entries = [results[method, column.title] for method in methods for column in results.table.columns]
        behind = [entry for entry in entries if sign * entry.difference < -2 * max(entry.std, 1e-12)]
        lower = sum(sign * entry.difference < 0 for entry in entries)
        mean = float(np.mean([entry.difference / (entry.printed.mean if lower_is_better else 1) for entry in entries]))
        unit = f"{100 * mean:+.1f}% of the printed figures" if lower_is_better else f"{mean:+.1f} points"
        named = [f"{entry.row.title.split(',')[0]}, {entry.column.title} ({entry.difference:+.3g})" for entry in behind]
        sentence = (
            f"Our means are behind the printed figures in {lower} of {len(entries)} entries; the mean difference over "
            f"all of them is {unit}. {len(behind)} are behind by more than two standard deviations of splits"
        )
        sentence += f": {'; '.join(named)}." if named else "."
        return settled_by_count(len(entries) - len(behind), len(entries), sentence)

    return settle


def collapse(method: str, other: str, sets: tuple[str, ...]) -> Callable[[Results], Settled]:
    """Whether a method is more than five points behind another on these data sets, as printed."""

    def settle(results: Results) -> Settled:
        gaps = {title: one.mean - two.mean for title, one, two in results.pairs(method, other) if title in sets}
        fallen = sum(gap < -5 for gap in gaps.values())
        said = ", ".join(f"{title} {gap:+.1f}" for title, gap in gaps.items())
        return settled_by_count(fallen, len(gaps), f"Ours, {method} less {other}: {said} points.")

    return settle


REAL = ("Iris", "Wine", "B.C.W.", "Pima", "Ionosphere", "Banknote")
ALL_CLASSES = ("circle-and-ring", "2-new-moons", "4-new-moons", *REAL)
ABOUT_CLASSES = (
    PaperClaim(
        "SLM, Section IV",
        "SLM Baseline is at least as accurate as DT on all data sets.",
        outperform((BASELINE,), ("DT",), also=("SLM Baseline",)),
    ),
    PaperClaim(
        "SLM, Section IV",
        "SLM Forest is generally at least as accurate as a random forest.",
        outperform((FOREST,), ("RF",), everywhere=False, also=("SLM Forest",)),
    ),
    PaperClaim(
        "SLM, Section IV",
        "SLM Boost is generally at least as accurate as XGBoost.",
        outperform((BOOST,), ("XGBoost",), everywhere=False, also=("SLM Boost",)),
    ),
    PaperClaim(
        "SLM, Section IV",
        "The ensembles of SLM trees are the best of all methods.",
        best_of_all((FOREST, BOOST), ALL_CLASSES),
    ),
    PaperClaim(
        "SLM, Section IV",
        "Ensembles are at least as accurate as the basic methods.",
        outperform((FOREST, BOOST), ("LSVM", "SVM/RBF", "DT", BASELINE)),
    ),
    PaperClaim(
        "SLM, Section IV",
        "Among the basic methods, SLM Baseline and SVM/RBF often outperform FF-MLP, BP-MLP, LSVM and DT.",
        outperform((BASELINE, "SVM/RBF"), (*NETWORKS, "LSVM", "DT"), everywhere=False),
    ),
    PaperClaim(
        "SLM, Section IV",
        "On the tables with more than two features, the SLM methods are at least as accurate as the multilayer "
        "perceptrons.",
        outperform((BASELINE, FOREST, BOOST), NETWORKS, only=REAL),
    ),
    PaperClaim(
        "SLM, Table I (printed figures)",
        "Trained by back-propagation from FF-MLP, BP-MLP falls far behind it on five data sets.",
        collapse("BP-MLP", "FF-MLP", ("4-new-moons", "Iris", "Wine", "Ionosphere", "Banknote")),
    ),
    PaperClaim(
        "SLM, Table I (printed figures)",
        "The accuracies of the SLM methods can be expected on new rows.",
        reach_the_printed((BASELINE, FOREST, BOOST)),
    ),
)
ABOUT_NUMBERS = (
    PaperClaim(
        "SLM, Section V",
        "SLR Baseline is at least as good as DT on all data sets.",
        outperform((BASELINE,), ("DT",), lower_is_better=True, also=("SLM Baseline",)),
    ),
    PaperClaim(
        "SLM, Section V",
        "SLR Forest is at least as good as a random forest.",
        outperform((FOREST,), ("RF",), lower_is_better=True, also=("SLM Forest",)),
    ),
    PaperClaim(
        "SLM, Section V",
        "SLR Boost is at least as good as XGBoost.",
        outperform((BOOST,), ("XGBoost",), lower_is_better=True, also=("SLM Boost",)),
    ),
    PaperClaim(
        "SLM, Section V",
        "SLR Boost is the best method on all data sets except Friedman 2.",
        best_of_all((BOOST,), ("Friedman 1", "Friedman 3", "Boston", "California", "Diabetes"), lower_is_better=True),
    ),
    PaperClaim(
        "SLM, Section V",
        "SVR/RBF is the best method on Friedman 2.",
        best_of_all(("SVR/RBF",), ("Friedman 2",), lower_is_better=True),
    ),
    PaperClaim(
        "SLM, Table III (printed figures)",
        "The errors of the SLR methods can be expected on new rows.",
        reach_the_printed((BASELINE, FOREST, BOOST), lower_is_better=True),
    ),
)
