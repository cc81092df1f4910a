"""Which views are candidates: all of one and two features, larger ones grown from the best.

Candidates are judged by local entropies of a few hundred rows, never by a feature's correlation with the label: of an
exclusive or, no single feature has any. What growth can miss is a parity of three features or more, no pair of which
says anything; with few features all triples fit in, and it is found.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from planewise.explain.projections import ViewColumns
from planewise.recip.rows import FloatArray, Vector, weighted_sum

Loss = Callable[[Sequence[ViewColumns], NDArray[np.intp]], FloatArray]  # views, rows -> (views, rows), NaN: missing

SCREENING_ROWS = 400
SCREENED_PER_KEPT = 4  # so many grown views are screened for each that can be kept
SCREENED_AT_ONCE = 20_000
SHARE_OF_MEMORY = 0.5
COUNTED_VIEWS = 10**18


def candidate_views(
    columns: Sequence[int],
    max_dim: int,
    max_candidates: int | None,
    loss: Loss,
    weight: Vector,
    random: np.random.RandomState,
) -> list[ViewColumns]:
    """At most `max_candidates` views of the columns, by dimension and then in the order of columns.

    With None there is no limit for views of one and two features; larger ones may be as many as those.
    """
    rows = some_rows(weight, SCREENING_ROWS, random)
    limit = math.inf if max_candidates is None else max_candidates
    singles: list[ViewColumns] = [(j,) for j in columns]
    views = singles if len(singles) <= limit else best_views(singles, int(limit), loss, weight, rows)
    last = views
    for dim in range(2, min(max_dim, len(columns)) + 1):
        room = limit - len(views) if dim == 2 or max_candidates is not None else len(views)
        number = math.comb(len(columns), dim)
        if room < 1:
            break
        if number <= room:
            last = list(combinations(columns, dim))
        elif dim == 2:
            # Where larger views are wanted too, half of the room is left for them.
            share = int(room) if max_dim == 2 else max(1, int(room) // 2)
            last = best_views(combinations(columns, 2), share, loss, weight, rows)
        else:
            pool = grown_views(ordered_by_score(last, loss, weight, rows), columns, SCREENED_PER_KEPT * int(room))
            last = best_views(pool, int(room), loss, weight, rows)
        views = views + last
    return sorted(views, key=lambda view: (len(view), view))


def number_of_views(n_columns: int, max_dim: int) -> int:
    """How many views of up to `max_dim` of these columns there are; counted up to COUNTED_VIEWS."""
    number = 0
    for dim in range(1, min(max_dim, n_columns) + 1):
        number += math.comb(n_columns, dim)
        if number >= COUNTED_VIEWS:
            return COUNTED_VIEWS
    return number


def some_rows(weight: Vector, most: int | None, random: np.random.RandomState) -> NDArray[np.intp]:
    """At most so many rows that count, at random; all of them where they are fewer."""
    counting = np.flatnonzero(weight > 0)
    return counting if most is None or len(counting) <= most else np.sort(random.permutation(counting)[:most])


def scores(views: Sequence[ViewColumns], loss: Loss, weight: Vector, rows: NDArray[np.intp]) -> Vector:
    """How much clearer than nothing the classes of these rows are in each view: sum_i w_i max(0, 1 - Z_ij)."""
    clear = 1 - loss(views, rows)
    return weighted_sum(weight[rows], np.where(clear > 0, clear, 0))  # NaN is not above 0


def best_views(
    views: Iterable[ViewColumns], keep: int, loss: Loss, weight: Vector, rows: NDArray[np.intp]
) -> list[ViewColumns]:
    """The `keep` views of the highest score, the best first; they are screened in blocks."""
    best: list[ViewColumns] = []
    best_score = np.zeros(0)
    for block in _blocks(views):
        pool = best + block
        score = np.concatenate([best_score, scores(block, loss, weight, rows)])
        order = np.argsort(-score, kind="stable")[:keep]
        best, best_score = [pool[j] for j in order], score[order]
    return best


def ordered_by_score(
    views: Sequence[ViewColumns], loss: Loss, weight: Vector, rows: NDArray[np.intp]
) -> list[ViewColumns]:
    """Return all of the views, the one with the highest score first."""
    return best_views(views, len(views), loss, weight, rows)


def grown_views(parents: Sequence[ViewColumns], columns: Sequence[int], most: int) -> list[ViewColumns]:
    """Views of one feature more than these, the children of the best parents first."""
    grown: dict[ViewColumns, None] = {}
    for parent in parents:
        for j in columns:
            if j not in parent:
                grown[tuple(sorted((*parent, j)))] = None
        if len(grown) >= most:
            break
    return list(grown)[:most]


def _blocks(views: Iterable[ViewColumns]) -> Iterator[list[ViewColumns]]:
    views = iter(views)
    for first in views:
        yield [first, *(view for _, view in zip(range(SCREENED_AT_ONCE - 1), views, strict=False))]


def refuse_too_many_views(n_columns: int, max_dim: int, max_candidates: int | None, n_rows: int) -> None:
    """An error before views are listed, where those that must be compared do not fit in memory.

    Views beyond `max_candidates` are screened, a block at a time, and do not count. With None, only views of one and
    two features are certain to be compared.
    """
    if max_candidates is None:
        max_dim = min(max_dim, 2)
    number, fitting = number_of_views(n_columns, max_dim), memory_limit() // (4 * max(1, n_rows))
    compared = number if max_candidates is None else min(number, max_candidates)
    if compared <= fitting:
        return
    count = f"{number:,}" if number < 10**9 else f"about {number:.2g}".replace("e+", "e")
    if number == COUNTED_VIEWS:
        count = count.replace("about", "more than")
    allowed = f" (max_candidates allows {compared:,} of them)" if compared < number else ""
    smaller = [dim for dim in range(2, min(max_dim, n_columns)) if number_of_views(n_columns, dim) <= fitting]
    lower = f"Lower max_dim (d in planewise.published) to {smaller[-1]}, or set" if smaller else "Set"
    raise ValueError(
        f"There are {count} views of up to {max_dim} of {n_columns} features{allowed}; with {n_rows:,} rows, the local "
        f"entropies of {fitting:,} views fit in the {memory_limit() / 1e9:.1f} GB of memory that may be used. "
        f"{lower} max_candidates to {max(1, fitting):,} or less, which compares only the views that are best on a few "
        "hundred rows."
    )


def refuse_too_much_memory(n_views: int, n_rows: int) -> None:
    """An error with an estimate, before hours of work end in one of the system."""
    needed, there = 4 * n_views * n_rows, memory_limit()
    if needed <= there:
        return
    raise ValueError(
        f"The local entropies of {n_views:,} candidate views and {n_rows:,} rows need {needed / 1e9:.1f} GB; at most "
        f"{there / 1e9:.1f} GB may be used. Set max_candidates to {max(1, there // (4 * n_rows)):,} or less."
    )


def memory_limit() -> int:
    """Half of the machine's memory, in bytes; 4 GB where the system does not say."""
    try:
        return int(SHARE_OF_MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 4 * 10**9


def with_all_features(views: list[ViewColumns], columns: Sequence[int]) -> list[ViewColumns]:
    """And the view of all columns, last."""
    everything = tuple(columns)
    return views if everything in views else list(chain(views, [everything]))
