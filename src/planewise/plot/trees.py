"""A tree as pictures need it: planes, cells and rows of each node, whichever estimator it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise.data.float32 import Origins
from planewise.explain.planes import Plane, read_plane


@dataclass
class DrawnTree:
    """Nodes numbered so that parents come before their children; node 0 is the root.

    Attributes
    ----------
    planes : list of lists of Plane
        The planes of each node; a leaf has none.
    children : list of lists of int
        The child for every code of a node, ``2 ** n_planes`` of them; a row's code is the sum of ``2 ** k`` over
        the planes ``k`` on whose right side it lies. The node itself: a cell without training rows.
    n_samples : array of shape (n_nodes,)
    value : array of shape (n_nodes, n_outputs)
        Class probabilities, or the predicted number.
    """

    planes: list[list[Plane]]
    children: list[list[int]]
    n_samples: NDArray[np.int64]
    value: NDArray[np.float64]
    parent: NDArray[np.int64] = field(init=False)
    depth: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.parent = np.full(self.n_nodes, -1)
        self.depth = np.zeros(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes):
            for child in self.cells(node):
                self.parent[child], self.depth[child] = node, self.depth[node] + 1

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves."""
        return len(self.planes)

    def cells(self, node: int) -> list[int]:
        """The children of a node, each once, in the order of their codes."""
        return [child for child in dict.fromkeys(self.children[node]) if child != node]

    def codes(self, child: int) -> list[int]:
        """The codes by which the parent's rows come to this node."""
        return [code for code, found in enumerate(self.children[int(self.parent[child])]) if found == child]

    def below(self, node: int) -> Iterator[int]:
        """All nodes below this one."""
        for child in self.cells(node):
            yield child
            yield from self.below(child)

    def path_to(self, node: int) -> list[int]:
        """The nodes from the root to this one."""
        path = [int(node)]
        while self.parent[path[-1]] >= 0:
            path.append(int(self.parent[path[-1]]))
        return path[::-1]


def drawn_tree(estimator: Any, tree: int | None = None) -> DrawnTree:
    """The tree of an estimator; of an ensemble that of number `tree`."""
    check_is_fitted(estimator)
    if hasattr(estimator, "forest_"):
        forest = estimator.forest_
        which = _checked_number(0 if tree is None else tree, forest.n_trees)
        return _from_flat(forest.part(which, which + 1), estimator.feature_origins_)
    if hasattr(estimator, "estimators_") and not hasattr(estimator, "tree_"):
        members = list(np.ravel(np.asarray(estimator.estimators_, dtype=object)))
        return drawn_tree(members[_checked_number(0 if tree is None else tree, len(members))])
    if tree is not None:
        raise ValueError(f"tree={tree} chooses one of several trees, but {type(estimator).__name__} is a single tree.")
    if not hasattr(estimator, "tree_"):
        raise TypeError(
            f"{type(estimator).__name__} has no tree to draw; pass a fitted tree or forest of planewise or sklearn."
        )
    if hasattr(estimator.tree_, "plane_start"):
        return _from_flat(estimator.tree_, estimator.feature_origins_)
    return _from_sklearn(estimator.tree_)


def has_cuts(estimator: Any) -> bool:
    """Whether an estimator is one tree, whose cutting lines can be drawn."""
    return hasattr(estimator, "tree_") and (
        hasattr(estimator.tree_, "plane_start") or hasattr(estimator.tree_, "children_left")
    )


def _checked_number(tree: int, n_trees: int) -> int:
    if not 0 <= tree < n_trees:
        raise ValueError(f"tree must be from 0 to {n_trees - 1}; got {tree}.")
    return tree


def _from_flat(flat: Any, origins: Origins) -> DrawnTree:
    n_nodes = len(flat.plane_start) - 1
    every = [read_plane(flat, place, origins) for place in range(len(flat.threshold))]
    planes = [every[flat.plane_start[i] : flat.plane_start[i + 1]] for i in range(n_nodes)]
    children = [flat.children[flat.child_start[i] : flat.child_start[i + 1]].tolist() for i in range(n_nodes)]
    return DrawnTree(planes, children, np.asarray(flat.n_samples), np.asarray(flat.value, dtype=np.float64))


def _from_sklearn(tree: Any) -> DrawnTree:
    planes: list[list[Plane]] = []
    children: list[list[int]] = []
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        leaf = left < 0
        cut = Plane((int(tree.feature[node]),), (1.0,), float(tree.threshold[node]), strict=True)
        planes.append([] if leaf else [cut])
        children.append([node] if leaf else [left, right])
    return DrawnTree(planes, children, tree.n_node_samples.astype(np.int64), tree.value[:, 0, :].astype(np.float64))


def shown_nodes(tree: DrawnTree, max_nodes: int, path: Sequence[int] = ()) -> set[int]:
    """Inner nodes that show their children: the path's, then the heaviest, while at most `max_nodes` are seen."""
    opened: set[int] = set()
    n_seen, border = 1, [0]
    while border:
        border.sort(key=lambda node: (node not in path, -tree.n_samples[node]))
        fitting = [node for node in border if n_seen + len(tree.cells(node)) <= max_nodes and tree.planes[node]]
        if not fitting:
            break
        node = fitting[0]
        border.remove(node)
        opened.add(node)
        cells = tree.cells(node)
        n_seen += len(cells)
        border += [child for child in cells if tree.planes[child]]
    return opened
