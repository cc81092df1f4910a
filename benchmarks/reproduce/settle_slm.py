"""What the SLM paper claims about other methods, settled by our figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
) -> Callable[[Results], Settled]:
    """Whether each of `ours` is at least as good as each of `theirs`, by means over the seeds that both have.

    It holds if that is so for every pair of methods, on all data sets (`everywhere`) or on more than half of them. It
    holds in part if it is so on more than half of all pairs and data sets together. What the methods `also` named do is
    said and does not count.
    """
    sign = -1 if lower_is_better else 1

    def settle(results: Results) -> Settled:
        counted = [_compare(results, one, other, sign) for one in ours for other in theirs]
        others = [_compare(results, one, other, sign) for one in also for other in theirs]
        total, good = sum(each.n_sets for each in counted), sum(each.n_good for each in counted)
        least = min(each.n_good / each.n_sets for each in counted)
        if least == 1 or (not everywhere and least > 0.5):
            verdict = "holds"
        else:
            verdict = "holds in part" if good > total / 2 else "does not hold"
        return Settled(verdict, " ".join(_sentence(one, [*counted, *others]) for one in (*ours, *also)))

    return settle


@dataclass(frozen=True)
class _Comparison:
    """On how many data sets `one` is at least as good as `other`, and where it is behind by two standard errors."""

    one: str
    other: str
    n_sets: int
    n_good: int
    clearly_behind: list[str]


def _compare(results: Results, one: str, other: str, sign: int) -> _Comparison:
    pairs = list(results.pairs(one, other))
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
    clearly = [f"{title} ({each.other})" for each in mine for title in each.clearly_behind]
    more = f"; it is more than two standard errors behind on {', '.join(clearly)}" if clearly else ""
    return f"“{one}” is at least as good as {counts} data sets{more}."


def best_of_all(
    method: str, columns: tuple[str, ...], *, lower_is_better: bool = False
) -> Callable[[Results], Settled]:
    """Whether no method that the paper prints has a better mean on these data sets."""

    def settle(results: Results) -> Settled:
        rivals = [row.title for row in results.table.rows if (row.title, columns[0]) in results.table.printed]
        best = {
            column: (min if lower_is_better else max)(rivals, key=lambda title: results[title, column].mean)
            for column in columns
        }
        won = [column for column in columns if best[column] == method]
        others = [f"{column}: {best[column]}" for column in columns if best[column] != method]
        verdict = "holds" if not others else "holds in part" if 2 * len(won) > len(columns) else "does not hold"
        sentence = f"Of the paper's methods, “{method}” is best on {len(won)} of {len(columns)} data sets"
        return Settled(verdict, sentence + (f" ({'; '.join(others)})." if others else "."))

    return settle


def reach_the_printed(methods: tuple[str, ...], *, lower_is_better: bool = False) -> Callable[[Results], Settled]:
    """Whether the printed figures can be expected: our mean is not behind by more than two standard errors of a split.

    A printed figure comes from one split, so that it may differ from a mean as splits do among themselves.
    """
    sign = -1 if lower_is_better else 1

    def settle(results: Results) -> Settled:
        entries = [results[method, column.title] for method in methods for column in results.table.columns]
        behind = [entry for entry in entries if sign * entry.difference < -2 * max(entry.std, 1e-12)]
        lower = sum(sign * entry.difference < 0 for entry in entries)
        mean = float(np.mean([entry.difference / (entry.printed.mean if lower_is_better else 1) for entry in entries]))
        unit = f"{100 * mean:+.1f} % of the printed figures" if lower_is_better else f"{mean:+.1f} points"
        named = [f"{entry.row.title.split(',')[0]}, {entry.column.title} ({entry.difference:+.3g})" for entry in behind]
        sentence = (
            f"Our means are behind the printed figure in {lower} of {len(entries)} entries, on average by {unit}; "
            f"{len(behind)} by more than two standard deviations of splits"
        )
        n_near = len(entries) - len(behind)
        verdict = "holds" if not behind else "holds in part" if 2 * n_near > len(entries) else "does not hold"
        return Settled(verdict, sentence + (f": {'; '.join(named)}." if named else "."))

    return settle


ABOUT_CLASSES = (
    PaperClaim(
        "SLM, Section IV",
        "SLM Baseline outperforms DT on all data sets.",
        outperform((BASELINE,), ("DT",), also=("SLM Baseline",)),
    ),
    PaperClaim(
        "SLM, Section III-A",
        "SLM Forest outperforms a random forest.",
        outperform((FOREST,), ("RF",), also=("SLM Forest",)),
    ),
    PaperClaim(
        "SLM, Section III-B", "SLM Boost outperforms XGBoost.", outperform((BOOST,), ("XGBoost",), also=("SLM Boost",))
    ),
    PaperClaim(
        "SLM, Section IV",
        "Among the basic methods, SLM Baseline and SVM/RBF often outperform FF-MLP, BP-MLP, LSVM and DT.",
        outperform((BASELINE, "SVM/RBF"), (*NETWORKS, "LSVM", "DT"), everywhere=False),
    ),
    PaperClaim(
        "SLM, Section IV",
        "The SLM methods outperform the multilayer perceptrons on all data sets.",
        outperform((BASELINE, FOREST, BOOST), NETWORKS),
    ),
    PaperClaim(
        "SLM, Table I",
        "The printed accuracies of the SLM methods can be expected on new rows.",
        reach_the_printed((BASELINE, FOREST, BOOST)),
    ),
)
ABOUT_NUMBERS = (
    PaperClaim(
        "SLM, Section V",
        "SLR Baseline outperforms DT on all data sets.",
        outperform((BASELINE,), ("DT",), lower_is_better=True, also=("SLM Baseline",)),
    ),
    PaperClaim(
        "SLM, Section V",
        "SLR Forest outperforms a random forest.",
        outperform((FOREST,), ("RF",), lower_is_better=True, also=("SLM Forest",)),
    ),
    PaperClaim(
        "SLM, Section V",
        "SLR Boost outperforms XGBoost.",
        outperform((BOOST,), ("XGBoost",), lower_is_better=True, also=("SLM Boost",)),
    ),
    PaperClaim(
        "SLM, Section V",
        "SLR Boost is the best method on all data sets except Friedman 2.",
        best_of_all(BOOST, ("Friedman 1", "Friedman 3", "Boston", "California", "Diabetes"), lower_is_better=True),
    ),
    PaperClaim(
        "SLM, Section V",
        "SVR/RBF is the best method on Friedman 2.",
        best_of_all("SVR/RBF", ("Friedman 2",), lower_is_better=True),
    ),
    PaperClaim(
        "SLM, Table III",
        "The printed errors of the SLR methods can be expected on new rows.",
        reach_the_printed((BASELINE, FOREST, BOOST), lower_is_better=True),
    ),
)
