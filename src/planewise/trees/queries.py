"""Which rows belong to which query, and the grades that rank them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.data.categories import as_label_array, is_missing

Floats = NDArray[np.float64]
LARGEST_GRADE = 31  # that 2^y - 1 can sensibly tell apart


def query_numbers(qid: Any, group: Any, n_rows: int) -> Floats:
    """Return the number of each row's query, from what ``fit`` was given."""
    if (qid is None) == (group is None):
        which = "neither" if qid is None else "both"
        raise ValueError(
            f"Ranking needs qid (the query of each row) or group (how many rows each query has); got {which}."
        )
    return query_of_rows(qid, n_rows) if group is None else _from_sizes(np.asarray(group), n_rows)


def query_of_rows(qid: Any, n_rows: int, name: str = "qid") -> Floats:
    """Return the number of each row's query from its label; `name` is what errors call the labels."""
    given = as_label_array(qid)
    if given.shape != (n_rows,):
        raise ValueError(f"{name} has shape {given.shape}; expected ({n_rows},), one entry per row.")
    missing = [row for row, value in enumerate(given.tolist()) if is_missing(value)]
    if missing:
        raise ValueError(f"{name} is missing in row {missing[0]}; every row must belong to a query.")
    try:
        return np.unique(given, return_inverse=True)[1].astype(np.float64)
    except TypeError:
        raise ValueError(f"{name} must hold numbers or texts, not both.") from None


def _from_sizes(sizes: NDArray[Any], n_rows: int) -> Floats:
    whole = (
        sizes.ndim == 1 and sizes.dtype.kind in "iuf" and bool((np.isfinite(sizes) & (sizes == np.floor(sizes))).all())
    )
    if not whole or (sizes < 1).any():
        raise ValueError("group must hold the number of rows of each query: whole numbers of at least 1.")
    if sizes.sum() != n_rows:
        raise ValueError(f"group adds up to {int(sizes.sum())} rows, but there are {n_rows}.")
    return np.repeat(np.arange(len(sizes), dtype=np.float64), sizes.astype(np.int64))


def check_grades(grade: Floats, query: Floats, gain: str, name: str = "y") -> None:
    """ValueError unless these are grades that some query is ranked by."""
    wrong = np.flatnonzero((grade < 0) | ((grade > LARGEST_GRADE) & (gain == "exponential")))
    if len(wrong):
        most = f"from 0 to {LARGEST_GRADE}" if gain == "exponential" else "of zero or more"
        hint = "; gain='linear' has no upper limit" if gain == "exponential" and grade[wrong[0]] > 0 else ""
        raise ValueError(f"{name} must hold grades {most}; one of them is {float(grade[wrong[0]])!r}{hint}.")
    if len(ranked_queries(grade, query)[0]) == 0:
        raise ValueError(f"In {name}, no query has rows of different grades: there is nothing to rank.")


def ranked_queries(grade: Floats, query: Floats) -> tuple[Floats, Floats]:
    """The queries that have rows of different grades, and the others."""
    every, place = np.unique(query, return_inverse=True)
    lowest, highest = np.full(len(every), np.inf), np.full(len(every), -np.inf)
    np.minimum.at(lowest, place, grade)
    np.maximum.at(highest, place, grade)
    return every[lowest < highest], every[lowest == highest]
