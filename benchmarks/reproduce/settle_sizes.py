"""What the SLM paper claims about the sizes and depths of trees, settled by our figures and by its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .claims import Claim, Verdict
from .declaration import Figure, PaperClaim, Settled
from .results import Results


def verdict_of(good: int, total: int) -> str:
    """Of a claim about all data sets."""
    return "holds" if good == total else "holds in part" if 2 * good > total else "does not hold"


def smaller(ours: str, theirs: str, what: str) -> Any:
    """On how many data sets a column is below another one."""

    def settle(results: Results) -> Settled:
        rows = [
            (row.title, results[row.title, ours].mean, results[row.title, theirs].mean) for row in results.table.rows
        ]
        not_smaller = [f"{title} ({mine:.0f} and {other:.0f})" for title, mine, other in rows if mine >= other]
        good = len(rows) - len(not_smaller)
        evidence = f"{what}: “{ours}” is below “{theirs}” on {good} of {len(rows)} data sets"
        evidence += f"; not on {', '.join(not_smaller)}." if not_smaller else "."
        return Settled(verdict_of(good, len(rows)), evidence + _halved(results, ours, theirs))

    return settle


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
    """Whether a search on one test part reaches the printed figures: none is above the best of all splits."""

    def settle(results: Results) -> Settled:
        entries = [
            results[f"{method}, best point", column.title] for method in methods for column in results.table.columns
        ]
        above = [entry for entry in entries if entry.printed.mean > max(entry.values) + 0.005]
        beyond_mean = sum(entry.printed.mean > entry.mean for entry in entries)
        tuned = [
            results[f"{method}, first point", column.title] for method in methods for column in results.table.columns
        ]
        gain = sum(best.mean - first.mean for best, first in zip(entries, tuned, strict=True)) / len(entries)
        named = [
            f"{entry.row.title.split(',')[0]}, {entry.column.title} ({entry.printed.mean:.2f}, "
            f"best {max(entry.values):.2f})"
            for entry in above
        ]
        evidence = (
            f"Choosing the best of nine points on the test part adds {gain:.1f} points on average. "
            f"{beyond_mean} of {len(entries)} printed figures are above the mean of such searches, and "
            f"{len(above)} above the best of all splits"
        )
        evidence += f": {'; '.join(named)}." if named else "."
        return Settled(verdict_of(len(entries) - len(above), len(entries)), evidence)

    return settle


FEWER_PARAMETERS = PaperClaim(
    "SLM, Table II",
    "SLM models are generally smaller than DT models.",
    smaller("SLM Baseline, published", "DT", "Parameters as the paper counts them"),
)
SHALLOWER = PaperClaim(
    "SLM, Section IV",
    "SLM trees are shallower than decision trees.",
    smaller("depth, SLM Baseline, published", "depth, DT", "Depth"),
)
