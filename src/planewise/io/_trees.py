"""Trees and forests as flat arrays: how they are kept, and what native code relies on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._categories import Categories
from planewise.io._arrays import ArrayReader, ArrayWriter
from planewise.io._errors import require
from planewise.io._kinds import Integer, Kind, Numbers, unpack_parts
from planewise.slm._flat_forest import FlatForest
from planewise.slm._flat_tree import FlatTree

Ints = NDArray[np.int64]

MOST_PLANES = 8  # a node: the limit of max_planes
MOST_COEFFICIENT = 1000  # the limit of max_coef
DEEPEST_TREE = 10_000
MOST_SET_BYTES = 256 << 20  # a bit for every category up to the largest of a plane's set


@dataclass(frozen=True)
class Starts:
    """Where lists in one long array begin, kept as the lengths of these lists: most fit a byte."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return arrays.add_small(np.diff(value))

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        lengths = Numbers("int64").unpack(packed, arrays, where)
        require((lengths >= 0).all(), f"has a {where} that goes back")
        ends = np.cumsum(np.minimum(lengths, 2**31))
        require(len(ends) == 0 or int(ends[-1]) < 2**31, f"has a {where} beyond what it points into")
        return np.concatenate([[0], ends]).astype(np.int32)


_SHARED: dict[str, Kind] = {
    "plane_start": Starts(),
    "child_start": Starts(),
    "children": Numbers("int32"),
    "n_samples": Numbers("int64"),
    "term_start": Starts(),
    "threshold": Numbers("float32"),
    "missing_right": Numbers("uint8"),
    "plane_gain": Numbers("float64"),
    "term_feature": Numbers("int32"),
    "term_coefficient": Numbers("int32"),
    "term_weight": Numbers("float32"),
    "set_start": Starts(),
    "set_category": Numbers("int32"),
}
_TREE: dict[str, Kind] = _SHARED | {
    "weight": Numbers("float64"),
    "impurity": Numbers("float64"),
    "gain": Numbers("float64"),
    "value": Numbers("float64", ndim=2),
}
_FOREST: dict[str, Kind] = _SHARED | {
    "node_start": Starts(),
    "value": Numbers("float32", ndim=2),
    "n_outputs": Integer(1, 2**31 - 1),
}
assert set(_TREE) | {"parent", "depth"} == {each.name for each in fields(FlatTree)}
assert set(_FOREST) == {*FlatForest.arrays(), "n_outputs"}


class Tree:
    """A `FlatTree`; parents and levels are found again from the children."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {name: kind.pack(getattr(value, name), arrays) for name, kind in _TREE.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> FlatTree:
        parts = unpack_parts(_TREE, packed, arrays, where)
        nothing = np.zeros(0, np.int32)
        tree = FlatTree(**parts, parent=nothing, depth=nothing)
        n_nodes = len(tree.plane_start) - 1
        check_links(tree, np.array([0, n_nodes]), where)
        for name in ("weight", "impurity", "gain"):
            require(len(getattr(tree, name)) == n_nodes, f"has a {where}.{name} of another length than the nodes")
        tree.parent, tree.depth = (each.astype(np.int32) for each in _parents(tree, np.array([0, n_nodes]), where))
        return tree


class Forest:
    """A `FlatForest`."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {name: kind.pack(getattr(value, name), arrays) for name, kind in _FOREST.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> FlatForest:
        forest = FlatForest(**unpack_parts(_FOREST, packed, arrays, where))
        check_links(forest, forest.node_start.astype(np.int64), where)
        if forest.n_trees:
            _parents(forest, forest.node_start.astype(np.int64), where)
        return forest


def check_links(trees: Any, node_start: Ints, where: str) -> None:
    """Every start, length and link of flat trees: that all lists lie inside their arrays, and that walks end."""
    n_nodes, n_planes = len(trees.plane_start) - 1, len(trees.threshold)
    require(node_start[-1] == n_nodes, f"has {where} with another number of nodes than it says")
    require((np.diff(node_start) >= 1).all(), f"has {where} with a tree without a root")
    for name, length, of in (
        ("plane_start", n_planes, "planes"),
        ("child_start", len(trees.children), "children"),
        ("term_start", len(trees.term_feature), "terms"),
        ("set_start", len(trees.set_category), "categories"),
    ):
        require(getattr(trees, name)[-1] == length, f"has {where} with another number of {of} than its {name} says")
    for name, length in (
        *(("child_start", n_nodes + 1), ("n_samples", n_nodes), ("value", n_nodes)),
        *(("term_start", n_planes + 1), ("set_start", n_planes + 1)),
        *(("missing_right", n_planes), ("plane_gain", n_planes)),
        *(("term_coefficient", len(trees.term_feature)), ("term_weight", len(trees.term_feature))),
    ):
        require(len(getattr(trees, name)) == length, f"has a {where}.{name} of another length than it should have")
    require(trees.value.shape[1] >= 1, f"has {where} without values")
    planes = np.diff(trees.plane_start)
    require((planes <= MOST_PLANES).all(), f"has {where} with a node of more than {MOST_PLANES} planes")
    require(
        np.array_equal(np.diff(trees.child_start), 1 << planes.astype(np.int64)),
        f"has {where} with a node that has not a child for every side of its planes",
    )
    require((trees.n_samples >= 1).all(), f"has {where} with a node without rows")
    require((trees.missing_right <= 1).all(), f"has {where} with a plane without a side for missing values")


def _parents(trees: Any, node_start: Ints, where: str) -> tuple[Ints, Ints]:
    """The parent (-1 for roots) and the level of every node; an error unless they make trees, level by level.

    A child comes after its parent and has no other one, so that there is no way back and every walk ends.
    """
    n_nodes = int(node_start[-1])
    root = np.repeat(node_start[:-1], np.diff(node_start))
    end = np.repeat(node_start[1:], np.diff(node_start))
    node = np.repeat(np.arange(n_nodes), np.diff(trees.child_start))
    child = trees.children.astype(np.int64) + root[node]
    require(
        ((child >= node) & (child < end[node])).all(), f"has {where} with a child that is no later node of its tree"
    )
    leaf = np.diff(trees.plane_start) == 0
    require((child[leaf[node]] == node[leaf[node]]).all(), f"has {where} with a leaf that has a child")
    step = child != node
    parent = np.full(n_nodes, -1, dtype=np.int64)
    parent[child[step]] = node[step]
    require((parent[child[step]] == node[step]).all(), f"has {where} with a node that has two parents")
    is_root = np.zeros(n_nodes, dtype=bool)
    is_root[node_start[:-1]] = True
    require(((parent < 0) == is_root).all(), f"has {where} with a node that no row can reach")
    depth = _depth(parent, where)
    within = ~is_root[1:]  # pairs of neighbours of one tree
    require((np.diff(depth)[within] >= 0).all(), f"has {where} with nodes that are not numbered level by level")
    return parent - np.where(parent < 0, 0, root), depth


def _depth(parent: Ints, where: str) -> Ints:
    """How many steps up each root is: every turn looks twice as far."""
    depth, above = (parent >= 0).astype(np.int64), parent.copy()
    while (above >= 0).any():
        climbing = above >= 0
        depth[climbing] += depth[above[climbing]]
        above[climbing] = above[above[climbing]]
    require(int(depth.max()) <= DEEPEST_TREE, f"has {where} with more than {DEEPEST_TREE} levels")
    return depth


def check_tree_arrays(trees: Any, n_features: int, categories: Categories, where: str) -> None:
    """The columns, coefficients and categories that planes refer to; links are checked when trees are read."""
    terms = np.diff(trees.term_start)
    require((terms >= 1).all(), f"has {where} with a plane without terms")
    require(
        ((trees.term_feature >= 0) & (trees.term_feature < n_features)).all(),
        f"has {where} with a plane on a column that the model does not have",
    )
    size = np.abs(trees.term_coefficient.astype(np.int64))
    require(((size >= 1) & (size <= MOST_COEFFICIENT)).all(), f"has {where} with a coefficient that no plane can have")
    require(not np.isnan(trees.threshold).any(), f"has {where} with a threshold that is no number")
    _check_sets(trees, n_features, categories, where)


def _check_sets(trees: Any, n_features: int, categories: Categories, where: str) -> None:
    counts = np.zeros(n_features, dtype=np.int64)
    for column, known in categories.items():
        counts[column] = len(known)
    sizes = np.diff(trees.set_start)
    first_feature = trees.term_feature[trees.term_start[:-1]]
    by_category = sizes > 0
    require(
        (np.diff(trees.term_start)[by_category] == 1).all(),
        f"has {where} with a plane that mixes categories and numbers",
    )
    plane = np.repeat(np.arange(len(sizes)), sizes)
    category = trees.set_category.astype(np.int64)
    require(
        ((category >= 0) & (category < counts[first_feature[plane]])).all(),
        f"has {where} with a category that its column does not have",
    )
    largest = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(largest, plane, category + 1)
    require(int(largest.sum()) // 8 <= MOST_SET_BYTES, f"has {where} with more sets of categories than memory is for")
