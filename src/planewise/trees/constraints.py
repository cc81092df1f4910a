"""Constraints of trees: which way predictions may go along a column, and which columns may meet on a path."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise._params import Limit
from planewise.trees.arrays import Forest

ENDLESS = 2**31 - 1  # more levels, rows or columns than a table has, and yet a number the core can hold
ALL_ROWS = sys.maxsize // 2  # more rows than memory can hold, on 32-bit systems as well

_COLLECTIONS = (list, tuple, set, frozenset)


def _is_list_of_signs(value: Any) -> bool:
    try:
        return not isinstance(value, (str, set, frozenset)) and np.ndim(value) == 1
    except ValueError:  # lists of different lengths
        return False


def _is_list_of_groups(value: Any) -> bool:
    return isinstance(value, _COLLECTIONS) and all(
        isinstance(group, (*_COLLECTIONS, np.ndarray))
        and all(isinstance(each, (Integral, str)) and not isinstance(each, bool) for each in group)
        for group in value
    )


CONSTRAINT_LIMITS: dict[str, Limit] = {
    "monotonic_cst": Limit(
        lambda value: value is None or isinstance(value, Mapping) or _is_list_of_signs(value),
        "a list with 1, -1 or 0 for each column, a dict of these by column name, or None",
    ),
    "interaction_cst": Limit(
        lambda value: (
            value is None
            or (isinstance(value, str) and value in ("pairwise", "no_interactions"))
            or _is_list_of_groups(value)
        ),
        "'pairwise', 'no_interactions', a list of groups (each a list or set of column names or numbers) or None",
    ),
}


def constrain(
    options: _core.GrowOptions,
    estimator: Any,
    n_classes: int = 1,
    sources: Sequence[int] = (),
) -> None:
    """Give the core the estimator's constraints; its columns are known by now.

    `sources` are the columns of X that further columns, which the trees read after those of X, are made from.
    """
    signs = _signs(estimator)
    if any(signs):
        if n_classes > 2:
            raise ValueError("monotonic_cst needs a regressor or two classes: with more, no score alone decides.")
        options.monotone = [*signs, *(0 for _ in sources)]
        # One plane per node, and as many planes on a path as without constraints.
        options.max_depth = min(options.max_depth * options.max_planes, ENDLESS)
        options.max_planes = 1
    n = estimator.n_features_in_
    rules = interaction_rules(estimator)
    if isinstance(rules, int):
        options.limit_interactions(n + len(sources), rules, [], [*range(n), *sources])
    elif rules is not None:
        groups = [sorted(group) + [n + k for k, source in enumerate(sources) if source in group] for group in rules]
        options.limit_interactions(n + len(sources), 0, groups, [])


def _column_names(estimator: Any) -> list[Any]:
    return list(getattr(estimator, "feature_names_in_", range(estimator.n_features_in_)))


def _no_such_column(estimator: Any) -> str:
    if hasattr(estimator, "feature_names_in_"):
        return "which is not a column of the data frame in fit"
    return "but X has no column names; use column numbers"


def _signs(estimator: Any) -> list[int]:
    """`monotonic_cst` by column: 1, -1 or 0; empty if it is None."""
    given, n, names = estimator.monotonic_cst, estimator.n_features_in_, _column_names(estimator)
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in names]:
            raise ValueError(f"monotonic_cst names {unknown[0]!r}, {_no_such_column(estimator)}.")
        given = [given.get(name, 0) for name in names]
    signs = [] if given is None else list(given)  # not as an array: that would make numbers of booleans
    if given is not None and len(signs) != n:
        raise ValueError(
            f"monotonic_cst must have one entry for each of the {n} columns, or be a dict by name; got {len(signs)} "
            "entries."
        )
    for column, sign in enumerate(signs):
        if isinstance(sign, (bool, np.bool_)) or sign not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst must hold 1, -1 or 0; column {names[column]!r} has {sign!r}.")
        if sign != 0 and column in estimator.categories_:
            raise ValueError(
                f"monotonic_cst constrains column {names[column]!r}, which is categorical and has no order."
            )
    return [int(sign) for sign in signs]


def interaction_rules(estimator: Any) -> list[set[int]] | int | None:
    """`interaction_cst` as groups of column numbers; as the number of columns that may meet; or None: all may."""
    given, n = estimator.interaction_cst, estimator.n_features_in_
    if given is None:
        return None
    if isinstance(given, str) and given == "pairwise":
        return 2 if n > 2 else None
    if isinstance(given, str):
        groups = [{column} for column in range(n)]
    else:
        groups = [_columns_of(group, estimator) for group in given]
    rest = set(range(n)).difference(*groups)
    if rest:
        groups.append(rest)
    return None if any(len(group) == n for group in groups) else groups


def _columns_of(group: Iterable[Any], estimator: Any) -> set[int]:
    n = estimator.n_features_in_
    place = {name: column for column, name in enumerate(_column_names(estimator)) if isinstance(name, str)}
    columns = set()
    for each in group:
        if isinstance(each, str) and each not in place:
            raise ValueError(f"interaction_cst names {each!r}, {_no_such_column(estimator)}.")
        if not isinstance(each, str) and not 0 <= each < n:
            raise ValueError(f"interaction_cst has the column number {each}; the columns are 0 to {n - 1}.")
        columns.add(place[each] if isinstance(each, str) else int(each))
    return columns


# ------------------------------------------------------------------------------------------- trees of earlier fits
def check_earlier_trees(estimator: Any, trees: Forest, sources: Sequence[int] = ()) -> None:
    """An error if a warm start would keep trees that were grown without the current constraints."""
    signs = [*_signs(estimator), *(0 for _ in sources)]
    if any(signs) and not _follow_signs(trees, np.array(signs)):
        raise ValueError(_EARLIER.format("monotonic_cst"))
    rules = interaction_rules(estimator)
    if rules is not None and not _meet_by_rules(trees, rules, [*range(estimator.n_features_in_), *sources]):
        raise ValueError(_EARLIER.format("interaction_cst"))


_EARLIER = (
    "warm_start=True keeps trees of the earlier fit that do not obey {0}; fit with the same {0} from the first fit on, "
    "or with warm_start=False."
)


def _terms_of(trees: Forest, node: int) -> slice:
    first, last = trees.plane_start[node : node + 2]
    return slice(trees.term_start[first], trees.term_start[last])


def _roots(trees: Forest) -> NDArray[np.intp]:
    """The root of the tree of each node."""
    return np.repeat(trees.node_start[:-1], np.diff(trees.node_start))


def _follow_signs(trees: Forest, signs: NDArray[np.int_]) -> bool:
    """Whether no value on the lower side of a constrained plane is above one on the upper side."""
    root, low, high = _roots(trees), trees.value[:, -1].copy(), trees.value[:, -1].copy()
    for node in range(len(root))[::-1]:  # children come after their parents
        terms = _terms_of(trees, node)
        ways = signs[trees.term_feature[terms]] * np.sign(trees.term_coefficient[terms])
        children = trees.children[trees.child_start[node] : trees.child_start[node + 1]] + root[node]
        if ways.any():
            sides = set(ways[ways != 0].tolist())
            if len(children) != 2 or len(sides) > 1:
                return False
            lower, upper = children[:: sides.pop()]
            if high[lower] > low[upper]:
                return False
        low[node] = min(low[node], *low[children])
        high[node] = max(high[node], *high[children])
    return True


def _meet_by_rules(trees: Forest, rules: list[set[int]] | int, sources: Sequence[int]) -> bool:
    """Whether the columns on every path from a root lie in one group, or are as few as they should be."""
    root = _roots(trees)
    used: list[frozenset[int]] = []
    for node in range(len(root)):
        here = {sources[column] for column in trees.term_feature[_terms_of(trees, node)].tolist()}
        above = used[root[node] + trees.parent[node]] if trees.parent[node] >= 0 else frozenset()
        used.append(above | here)
        if not here:
            continue
        if len(used[node]) > rules if isinstance(rules, int) else not any(used[node] <= group for group in rules):
            return False
    return True
