"""Sentences about a filled table: who is ahead where, how sparse, how sure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import wilcoxon

from .results import Entry, Results

Claim = Callable[[Results], str]


def at_least_as_good(ours: str, theirs: str, needed: int, *, lower_is_better: bool = False) -> Claim:
    """On how many data sets the mean of `ours` is no worse."""

    def claim(results: Results) -> str:
        sign = -1 if lower_is_better else 1
        gaps = [(title, sign * (one.mean - other.mean)) for title, one, other in results.pairs(ours, theirs)]
        behind = [f"{title} ({gap:+.3g})" for title, gap in gaps if gap < 0]
        good = len(gaps) - len(behind)
        sentence = f"{ours} is at least as good as {theirs} on {good} of {len(gaps)} sets (meant: {needed})"
        return sentence + (f"; behind on {', '.join(behind)}." if behind else ".")

    return claim


def at_most_printed(column: str, needed: int) -> Claim:
    """On how many rows our figure is at or below the printed one."""

    def claim(results: Results) -> str:
        entries = [e for (_, title), e in results.entries.items() if title == column and e.difference is not None]
        good = sum(entry.difference <= 0 for entry in entries)
        return f"{column}: at or below the printed figure on {good} of {len(entries)} sets (meant: {needed})."

    return claim


def smaller_than_printed(printed: str, other: str, needed: int, *, points: float = 1.0) -> Claim:
    """On how many rows either model is at or below the printed size, `other` being within `points` of accuracy."""

    def claim(results: Results) -> str:
        good = total = 0
        for row in results.table.rows:
            entries = [results[row.title, column] for column in (printed, other)]
            accuracies = [results[row.title, f"accuracy, {column}"] for column in (printed, other)]
            if not all(entry.values for entry in (*entries, *accuracies)):
                continue
            allowed = entries[1].mean if accuracies[1].mean >= accuracies[0].mean - points else entries[0].mean
            total += 1
            good += min(entries[0].mean, allowed) <= entries[0].printed.mean
        return (
            f"The smaller of {printed} and {other}, if within {points:g} point of {printed}'s accuracy, is at or below "
            f"the printed size on {good} of {total} sets (meant: {needed})."
        )

    return claim


def share(ours: str, theirs: str, what: str, wanted: float) -> Claim:
    """The mean ratio of two columns."""

    def claim(results: Results) -> str:
        ratios = [(one.mean + 1) / (other.mean + 1) for _, one, other in results.pairs(ours, theirs)]
        if not ratios:
            return f"No {what} of {ours} and {theirs} yet."
        mean, geometric = np.mean(ratios), np.exp(np.mean(np.log(ratios)))
        total = sum(one.mean for _, one, _ in results.pairs(ours, theirs))
        total /= sum(other.mean for _, _, other in results.pairs(ours, theirs))
        return (
            f"{ours} / {theirs}, {what}: mean ratio {mean:.3f}, geometric mean {geometric:.3f}, ratio of the sums "
            f"{total:.3f} over {len(ratios)} sets (meant: {wanted})."
        )

    return claim


def signed_rank_test(ours: str, theirs: str) -> Claim:
    """Wilcoxon's test on the means of the data sets, and on the printed ones."""

    def claim(results: Results) -> str:
        pairs = [(one, other) for _, one, other in results.pairs(ours, theirs)]
        table = results.table
        difference = np.array([one.mean - other.mean for one, other in pairs])
        if len(difference) < 2:
            return f"{ours} against {theirs}: too few sets for Wilcoxon's test."
        better, worse = (difference > 1e-9).sum(), (difference < -1e-9).sum()
        sentence = (
            f"{ours} against {theirs}: {difference.mean():+.2f} on average, better on {better}, worse on {worse} of "
            f"{len(difference)} sets, Wilcoxon's signed-rank test p = {_p_value(difference):.2g}"
        )
        places = [[table.printed.get((row.title, column)) for column in (ours, theirs)] for row in table.rows]
        printed = np.array([one.mean - other.mean for one, other in places if one and other])
        if len(printed):
            sentence += f" (of the {len(printed)} printed means: {_p_value(printed):.2g})"
        return sentence + "."

    return claim


def near_printed(title: str, needed: float, *, repetitions: int, margin: float = 0.01) -> Claim:
    """How many cells are within two standard errors (of both) plus a margin of the printed figure, or better.

    `repetitions` are those behind a printed figure.
    """

    def claim(results: Results) -> str:
        entries = [entry for entry in results.entries.values() if entry.difference is not None]
        if not entries:
            return f"{title}: nothing yet."
        good = sum(_near(entry, margin, repetitions) for entry in entries)
        return (
            f"{title}: {good} of {len(entries)} cells ({100 * good / len(entries):.0f} %) are within two standard "
            f"errors plus {margin} of the printed figure, or better (meant: {100 * needed:.0f} %)."
        )

    return claim


def _near(entry: Entry, margin: float, repetitions: int) -> bool:
    variance = entry.std**2 / len(entry.values) + (entry.printed.std or 0.0) ** 2 / repetitions
    return entry.difference >= -(2 * np.sqrt(variance) + margin)


def _p_value(difference: np.ndarray) -> float:
    """Two-sided and exact; equal means say nothing."""
    unequal = difference[np.abs(difference) > 1e-9]
    return float(wilcoxon(unequal, method="exact").pvalue) if len(unequal) else 1.0
