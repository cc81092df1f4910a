"""What the SLM paper claims about the sizes and depths of trees, settled by our figures and by its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .claims import Claim, Verdict, settled_by_count
from .declaration import Figure, PaperClaim, Settled
from .results import Results


def smaller(
    ours: str, theirs: str, what: str, *, times: float = 1.0, only: tuple[str, ...] = (), also: str = ""
) -> Any:
    """Whether a column is below another one (times a share): on more than half of the data sets, or on all of `only`.

    Of a column `also` named it is said and does not count.
    """

    def settle(results: Results) -> Settled:
        titles = only or [row.title for row in results.table.rows]
        good, evidence = _counted(results, ours, theirs, titles, times)
        if also:
            evidence += f", and below “{also}” on {_counted(results, ours, also, titles, times)[0]}"
        evidence = f"{what}: {evidence}." + _halved(results, ours, theirs)
        if only:
            return settled_by_count(good, len(titles), evidence)
        return Settled("holds" if 2 * good > len(titles) else "does not hold", evidence)

    return settle


def _counted(results: Results, ours: str, theirs: str, titles: Sequence[str], times: float) -> tuple[int, str]:
    rows = [(title, results[title, ours].mean, results[title, theirs].mean) for title in titles]
    not_smaller = [f"{title} ({mine:.0f} and {other:.0f})" for title, mine, other in rows if mine >= times * other]
    good = len(rows) - len(not_smaller)
    share = "half of " if times == 0.5 else ""
    words = f"“{ours}” is below {share}“{theirs}” on {good} of {len(rows)} data sets"
    return good, words + (f", not on {', '.join(not_smaller)}" if not_smaller else "")


def _halved(results: Results, ours: str, theirs: str) -> str:
    """What the printed sizes of decision trees mean if their "splits" are nodes; only said of these."""
    if theirs != "DT":
        return ""
    printed = results.table.printed
    rows = [row.title for row in results.table.rows if (row.title, ours) in printed]
    splits = [int(printed[title, theirs].mean) // 2 for title in rows]
    if not rows or not all(count % 2 for count in splits):
        return ""
    sizes = [printed[title, ours].mean for title in rows]
    as_printed = sum(size < 2 * count for size, count in zip(sizes, splits, strict=True))
    as_nodes = sum(size < count - 1 for size, count in zip(sizes, splits, strict=True))
    return (
        f" All {len(splits)} printed numbers of splits of DT are odd, as numbers of nodes in binary trees are: the "
        f"column seems to count nodes, twice too many. By the printed figures SLM is smaller on {as_printed} of "
        f"{len(rows)} data sets, and on {as_nodes} if n nodes are (n - 1) / 2 splits."
    )


def size_at_printed_accuracy(models: tuple[str, ...], accuracy: Mapping[str, Figure], needed: int) -> Claim:
    """On how many rows the size of a model that is as accurate as printed is at or below the printed size.

    Of several such models the smallest counts; if none is, the most accurate one. The first of `models` has the printed
    sizes; ``accuracy, <model>`` are columns too.
    """

    def claim(results: Results) -> Verdict:
        above, short, total = [], [], 0
        for row in results.table.rows:
            found = [(results[row.title, f"accuracy, {model}"], results[row.title, model]) for model in models]
            if not all(entry.values for pair in found for entry in pair):
                continue
            total += 1
            wanted = accuracy[row.title].mean
            reached = [size.mean for quality, size in found if quality.mean >= wanted]
            best, size = max(((quality.mean, size.mean) for quality, size in found), key=lambda pair: pair[0])
            if not reached:
                short.append(f"{row.title} ({best:.1f}, printed {wanted:.1f})")
            taken, printed = min(reached, default=size), results[row.title, models[0]].printed.mean
            if taken > printed:
                above.append(f"{row.title} ({taken:.0f}, printed {printed:.0f})")
        if not total:
            return Verdict("Sizes: nothing yet.")
        sentence = (
            "the size of the smallest model with the printed accuracy, or else of the most accurate one, is at or "
            f"below the printed size on {total - len(above)} of {total} data sets (target: {needed})"
        )
        sentence += f"; above on {', '.join(above)}." if above else "."
        sentence += f" The printed accuracy is not reached on {', '.join(short)}." if short else ""
        return Verdict(sentence, total - len(above) >= needed)

    return claim


def found_on_one_split(methods: tuple[str, ...]) -> Any:
    """Whether a search on one test part explains the printed figures.

    If the paper's split were one more of ours, its best point would be above that of all n splits with probability
    1 / (n + 1): so many of its figures may be, and two standard deviations more.
    """

    def settle(results: Results) -> Settled:
        titles = [column.title for column in results.table.columns]
        best, first = (
            [results[f"{method}, {words}", title] for method in methods for title in titles]
            for words in ("best point", "first point")
        )
        above = [entry for entry in best if entry.printed.mean > max(entry.values) + 0.005]
        expected = sum(1 / (len(entry.values) + 1) for entry in best)
        gain = float(np.mean([one.mean - other.mean for one, other in zip(best, first, strict=True)]))
        named = [
            f"{entry.row.title.split(',')[0]}, {entry.column.title} ({entry.printed.mean:.2f}, "
            f"best {max(entry.values):.2f})"
            for entry in above
        ]
        evidence = (
            f"The best of nine points on the test part is {gain:.1f} points above the first of them on average. "
            f"{sum(entry.printed.mean > entry.mean for entry in best)} of {len(best)} printed figures are above the "
            f"mean of such searches, and {len(above)} above the best of all splits ({expected:.1f} expected by chance)"
        )
        evidence += f": {'; '.join(named)}." if named else "."
        fits = len(above) <= expected + 2 * np.sqrt(expected)
        return Settled("holds" if fits else "does not hold", evidence)

    return settle


def best_splits(method: str) -> Claim:
    """The maximum over splits, beside the mean."""

    def claim(results: Results) -> Verdict:
        entries = [results[f"{method}, best point", column.title] for column in results.table.columns]
        if not all(entry.values for entry in entries):
            return Verdict(f"“{method}”: nothing yet.")
        said = ", ".join(f"{entry.column.title} {max(entry.values):.2f} (mean {entry.mean:.2f})" for entry in entries)
        return Verdict(f"“{method}”, best point, maximum over splits: {said}.")

    return claim


PUBLISHED = "SLM Baseline, published"
FEWER_PARAMETERS = PaperClaim(
    "SLM, Table II",
    "SLM models are generally smaller than DT models.",
    smaller(PUBLISHED, "DT", "Parameters as the paper counts them", also="DT, tuned"),
)
SHALLOWER = PaperClaim(
    "SLM, Section IV",
    "SLM trees are overall shallower than decision trees.",
    smaller(f"depth, {PUBLISHED}", "depth, DT", "Depth", also="depth, DT, tuned"),
)
HALF_OF_NETWORKS = PaperClaim(
    "SLM, Section IV",
    "On Iris, Banknote and Ionosphere, SLM has less than half of the parameters of an MLP.",
    smaller(PUBLISHED, "FF/BP-MLP", "Parameters", times=0.5, only=("Iris", "Banknote", "Ionosphere")),
)
