"""What was meant of a table and what came out: who is ahead where, how sparse, how sure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

from .declaration import Settled
from .results import Entry, Results


@dataclass(frozen=True)
class Verdict:
    """A sentence, and whether it is what was meant (None: nothing was, or nothing is there yet)."""

    sentence: str
    met: bool | None = None

    def __str__(self) -> str:
        word = {True: "Target met: ", False: "Target not met: ", None: ""}[self.met]
        return word + self.sentence


Claim = Callable[[Results], Verdict]


def settled_by_count(good: int, total: int, evidence: str) -> Settled:
    """A claim about all of some comparisons: it holds in part if it is true in more than half of them."""
    return Settled("holds" if good == total else "holds in part" if 2 * good > total else "does not hold", evidence)


def settled_by_published(published: bool, ours: bool, when: str, evidence: str) -> Settled:
    """The published method decides; what only a variant does is said as a condition."""
    if published:
        return Settled("holds", evidence)
    return Settled("holds when", evidence, when) if ours else Settled("does not hold", evidence)


def at_least_as_good(ours: str, theirs: str, needed: int, *, lower_is_better: bool = False, words: str = "") -> Claim:
    """On how many data sets the mean of `ours` is no worse; `words` say so where the names of the columns do not."""
    words = words or f"“{ours}” is at least as good as “{theirs}”"

    def claim(results: Results) -> Verdict:
        sign = -1 if lower_is_better else 1
        pairs = list(results.pairs(ours, theirs))
        if not pairs:
            return Verdict(f"“{ours}” against “{theirs}”: nothing yet.")
        behind = [
            _gap(results, title, one, other, sign) for title, one, other in pairs if sign * (one.mean - other.mean) < 0
        ]
        good = len(pairs) - len(behind)
        sentence = f"{words} on {good} of {len(pairs)} data sets (target: {needed})"
        sentence += f"; behind on {', '.join(behind)}." if behind else "."
        return Verdict(sentence, good >= needed)

    return claim


def _gap(results: Results, title: str, one: Entry, other: Entry, sign: int) -> str:
    """How far behind, and how sure: the standard error of the differences seed by seed."""
    differences = sign * (np.array(one.values) - np.array(other.values))
    text = f"{title} ({differences.mean():+.3g}"
    if len(differences) > 1 and (error := results.standard_error(title, differences)) > 0:
        text += f", {-differences.mean() / error:.1f} standard errors"
    return text + ")"


def share(ours: str, theirs: str, what: str, wanted: float | None = None) -> Claim:
    """The mean ratio of two columns."""

    def claim(results: Results) -> Verdict:
        pairs = [(one.mean, other.mean) for _, one, other in results.pairs(ours, theirs) if other.mean > 0]
        if not pairs:
            return Verdict(f"No {what} of “{ours}” and “{theirs}” yet.")
        mean = float(np.mean([one / other for one, other in pairs]))
        total = sum(one for one, _ in pairs) / sum(other for _, other in pairs)
        geometric = _geometric_mean([(one + 1) / (other + 1) for one, other in pairs])  # a machine may have none
        sentence = (
            f"{what}, “{ours}” / “{theirs}”: {mean:.3f} on average over {len(pairs)} data sets (geometric mean, with "
            f"one added to each count: {geometric:.3f}; ratio of the totals: {total:.3f})"
        )
        sentence += f"; target: {wanted} on average." if wanted else "."
        return Verdict(sentence, mean <= wanted if wanted else None)

    return claim


def geometric(ours: str, theirs: str, peer: str, ratios: Mapping[str, str], *, most: float = 2.0) -> Claim:
    """Geometric means of our loss, and of `ratios`, by a peer's.

    One set where both are nearly right may decide the loss, so it is also said with no set counting for more than
    `most` times.
    """

    def claim(results: Results) -> Verdict:
        losses = [one.mean / other.mean for _, one, other in results.pairs(ours, theirs)]
        if not losses:
            return Verdict(f"{peer}: nothing yet.")
        clipped = _geometric_mean([min(max(loss, 1 / most), most) for loss in losses])
        said = [f"loss {_geometric_mean(losses):.2g} ({clipped:.2g} with each ratio clipped to [1/{most:g}, {most:g}])"]
        for words in ratios.values():
            row = f"{words}, planewise / {peer}"
            entries = [entry for (title, _), entry in results.entries.items() if title == row and entry.values]
            said.append(f"{words} {_geometric_mean([entry.mean for entry in entries]):.2g}")
        return Verdict(f"planewise / {peer}, geometric mean over {len(losses)} data sets: {', '.join(said)}.")

    return claim


def _geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def signed_rank_test(ours: str, theirs: str) -> Claim:
    """Wilcoxon's test on the means of the data sets, and on the printed ones."""

    def claim(results: Results) -> Verdict:
        pairs = [(one, other) for _, one, other in results.pairs(ours, theirs)]
        table = results.table
        difference = np.array([one.mean - other.mean for one, other in pairs])
        if len(difference) < 2:
            return Verdict(f"{ours} against {theirs}: too few data sets for Wilcoxon's test.")
        better, worse = (difference > 1e-9).sum(), (difference < -1e-9).sum()
        sentence = (
            f"{ours} against {theirs}: {difference.mean():+.2f} on average, better on {better}, worse on {worse} of "
            f"{len(difference)} data sets, Wilcoxon's signed-rank test p = {p_value(difference):.2g}"
        )
        places = [[table.printed.get((row.title, column)) for column in (ours, theirs)] for row in table.rows]
        printed = np.array([one.mean - other.mean for one, other in places if one and other])
        if len(printed):
            sentence += f" (on the {len(printed)} printed means: p = {p_value(printed):.2g})"
        return Verdict(sentence + ".")

    return claim


def near_printed(title: str, needed: float | None, *, repetitions: int, margin: float = 0.01, block: str = "") -> Claim:
    """How many entries are within two standard errors (of both) plus a margin of the printed figure, above and below.

    `repetitions` are those behind a printed figure; of several blocks of rows, `block` is how the titles of one begin.
    Without `needed` nothing is met or missed.
    """

    def claim(results: Results) -> Verdict:
        entries = [
            entry
            for entry in results.entries.values()
            if entry.difference is not None and entry.row.title.startswith(block)
        ]
        if not entries:
            return Verdict(f"{title}: nothing yet.")
        side = [_side(entry, margin, repetitions) for entry in entries]
        near, above, below = (side.count(wanted) for wanted in (0, 1, -1))
        sentence = (
            f"{title}: {near} of {len(entries)} table entries ({100 * near / len(entries):.0f}%) are within two "
            f"standard errors plus {margin} of the printed figure; {above} are above that range and {below} below it"
        )
        sentence += f" (target: {100 * needed:.0f}% within)." if needed else "."
        return Verdict(sentence, near >= needed * len(entries) if needed else None)

    return claim


def _side(entry: Entry, margin: float, repetitions: int) -> int:
    """Whether our figure is near the printed one (0), above (1) or below (-1)."""
    variance = entry.std**2 / len(entry.values) + (entry.printed.std or 0.0) ** 2 / repetitions
    allowed = 2 * np.sqrt(variance) + margin
    return int(np.sign(entry.difference)) if abs(entry.difference) > allowed else 0


def p_value(difference: np.ndarray) -> float:
    """Two-sided and exact; equal means say nothing."""
    unequal = difference[np.abs(difference) > 1e-9]
    return float(wilcoxon(unequal, method="exact").pvalue) if len(unequal) else 1.0
