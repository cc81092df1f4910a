"""A fitted tree: flat NumPy arrays with documented names, and what can be read off them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from planewise import _core

IntArray = NDArray[np.int32]


@dataclass(repr=False)
class FlatTree:
    """One tree of hyperplanes as flat arrays; nodes are numbered level by level, node 0 is the root.

    Attributes
    ----------
    plane_start : int32 array of shape (n_nodes + 1,)
        Node ``i`` has the planes ``plane_start[i]:plane_start[i + 1]``; a leaf has none.
    child_start : int32 array of shape (n_nodes + 1,)
        Its children are ``children[child_start[i]:child_start[i + 1]]``.
    children : int32 array
        The child for every code, ``2 ** n_planes`` of them a node. The code of a row is the sum of ``2 ** k`` over the
        node's planes ``k`` on whose right side it lies. An entry that names the node itself is a cell without training
        rows: such a row stays, and gets the node's own value. A leaf's one entry is itself.
    parent, depth : int32 arrays of shape (n_nodes,)
        Parent (-1 for the root) and level of each node.
    n_samples : int64 array of shape (n_nodes,)
        Training rows in each node.
    weight, impurity, gain : float64 arrays of shape (n_nodes,)
        Weight of those rows, their summed loss, and by how much the node's planes lowered it.
    value : float64 array of shape (n_nodes, n_outputs)
        Class probabilities, or the predicted number.
    term_start : int32 array of shape (n_planes + 1,)
        Plane ``k`` has the terms ``term_start[k]:term_start[k + 1]``.
    threshold : float32 array of shape (n_planes,)
        A row is on the right side of a plane when its weighted sum is ``>=`` this.
    missing_right : uint8 array of shape (n_planes,)
        Whether a row with a missing value among the plane's terms goes right.
    plane_gain : float64 array of shape (n_planes,)
        By how much each plane lowered the loss when it was added.
    term_feature : int32 array
        The column of each term.
    term_weight : float32 array
        Its weight, in the user's own units.
    term_coefficient : int32 array
        The integer it came from, on standardised features.
    set_start, set_category : int32 arrays
        A plane ``k`` on a categorical column has the categories ``set_category[set_start[k]:set_start[k + 1]]``, and
        its one term reads 1 for a row whose category is among them, else 0. Other planes have none. Categories are
        numbered by their place in the estimator's ``categories_``.
    """

    plane_start: IntArray
    child_start: IntArray
    children: IntArray
    parent: IntArray
    depth: IntArray
    n_samples: NDArray[np.int64]
    weight: NDArray[np.float64]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    value: NDArray[np.float64]
    term_start: IntArray
    threshold: NDArray[np.float32]
    missing_right: NDArray[np.uint8]
    plane_gain: NDArray[np.float64]
    term_feature: IntArray
    term_coefficient: IntArray
    term_weight: NDArray[np.float32]
    set_start: IntArray
    set_category: IntArray

    def __repr__(self) -> str:
        return f"<FlatTree: n_planes={self.n_planes}, n_leaves={self.n_leaves}>"

    @property
    def n_nodes(self) -> int:
        return len(self.parent)

    @property
    def n_planes(self) -> int:
        return len(self.threshold)

    @property
    def max_depth(self) -> int:
        return int(self.depth[-1])

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        return np.diff(self.plane_start) == 0

    @property
    def n_leaves(self) -> int:
        return int(self.is_leaf.sum())

    @property
    def nodes_per_level(self) -> list[int]:
        """How many nodes each level has, the root's first."""
        return [int(count) for count in np.bincount(self.depth)]

    def apply(self, rows: NDArray[np.float32], n_threads: int = 1) -> IntArray:
        """The node in which each row (C-ordered float32) ends."""
        return _core.apply_tree(
            rows,
            self.plane_start,
            self.child_start,
            self.children,
            self.term_start,
            self.term_feature,
            self.term_weight,
            self.threshold,
            self.missing_right,
            self.set_start,
            self.set_category,
            n_threads,
        )

    def path(self, nodes: IntArray) -> csr_matrix:
        """Indicator matrix of the nodes on the way from the root to each of `nodes`."""
        steps = [nodes]
        while (steps[-1] > 0).any():
            steps.append(np.where(steps[-1] > 0, self.parent[steps[-1]], -1).astype(np.int32))
        columns = np.stack(steps[::-1], axis=1)
        on_path = columns >= 0
        start = np.concatenate([[0], np.cumsum(on_path.sum(axis=1))])
        ones = np.ones(int(start[-1]), dtype=np.int64)
        return csr_matrix((ones, columns[on_path], start), shape=(len(nodes), self.n_nodes))

    def importances(self, n_features: int) -> NDArray[np.float64]:
        """Each plane's gain, shared among its terms by the size of their coefficients; sums to one."""
        return share_by_feature(self, self.plane_gain, n_features)

    def stored_numbers(self) -> int:
        """Non-zero weights, thresholds and values: the numbers prediction needs.

        A node's value is needed when rows can end there: in leaves, and in inner nodes with a cell no training row fell
        into.
        """
        ends = nodes_where_rows_end(self.child_start, self.children)
        return len(self.term_weight) + len(self.set_category) + self.n_planes + len(ends) * self.value.shape[1]

    def nbytes(self) -> int:
        """Bytes of the arrays that prediction needs."""
        needed = (
            *(self.plane_start, self.child_start, self.children, self.term_start, self.term_feature),
            *(self.term_weight, self.threshold, self.missing_right, self.value, self.set_start, self.set_category),
        )
        return sum(array.nbytes for array in needed)

    def set_values(self, totals: NDArray[np.float64], smoothing: float) -> None:
        """Means from the per-leaf sums ``totals``, whose last column is the weight.

        Sums go up from the leaves to the root; values come down from it, each node's own mean mixed with
        `smoothing` rows at its parent's value.
        """
        sums = totals.copy()
        level_ends = np.cumsum(np.bincount(self.depth))
        levels = [slice(start, end) for start, end in pairwise(level_ends)]
        for level in reversed(levels):
            np.add.at(sums, self.parent[level], sums[level])
        self.weight = np.ascontiguousarray(sums[:, -1])
        value = sums[:, :-1] / self.weight[:, None]
        if smoothing > 0:
            # A weight of one is a row; weights that are smaller on the average count as if they were one.
            prior = smoothing * min(1.0, self.weight[0] / self.n_samples[0])
            value = smoothed(value, self.weight, self.parent, self.depth, prior)
        self.value = np.ascontiguousarray(value)


def smoothed(
    value: NDArray[np.float64],
    weight: NDArray[np.float64],
    parent: IntArray,
    depth: IntArray,
    prior: float | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Each node's value mixed with its parent's mixed one, as if `prior` more weight had that; level by level.

    The nodes may be those of many trees, as long as parents are counted over all of them.
    """
    value = value.copy()
    own = (weight / (weight + prior))[:, None]
    order = np.argsort(depth, kind="stable")
    for start, end in pairwise(np.cumsum(np.bincount(depth))):
        level = order[start:end]
        value[level] = own[level] * value[level] + (1 - own[level]) * value[parent[level]]
    return value


def nodes_where_rows_end(child_start: IntArray, children: NDArray[Any]) -> NDArray[np.int64]:
    """Leaves, and inner nodes with a cell that no training row fell into: those that are a child of their own."""
    node_of_entry = np.repeat(np.arange(len(child_start) - 1), np.diff(child_start))
    return np.unique(node_of_entry[children == node_of_entry])


def share_by_feature(planes: Any, worth: NDArray[np.float64], n_features: int) -> NDArray[np.float64]:
    """What each plane is worth, shared among its terms by the size of their coefficients; sums to one.

    `planes` is a tree or a forest: whatever has ``term_start``, ``term_feature`` and ``term_coefficient``.
    """
    size = np.abs(planes.term_coefficient).astype(np.float64)
    plane = np.repeat(np.arange(len(worth)), np.diff(planes.term_start))
    part = size / np.bincount(plane, weights=size, minlength=len(worth))[plane]
    # Counting nothing gives integers: a model without planes has importances too, all zero.
    shares = np.bincount(planes.term_feature, weights=part * worth[plane], minlength=n_features).astype(np.float64)
    total = shares.sum()
    return shares / total if total > 0 else shares


def from_arrays(arrays: dict[str, Any]) -> FlatTree:
    """A tree from the core's answer."""
    return FlatTree(**{field.name: arrays[field.name] for field in fields(FlatTree)})
