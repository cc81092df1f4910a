"""Many fitted trees in one set of flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise.slm._flat_tree import nodes_where_rows_end, share_by_feature

IntArray = NDArray[np.int32]


@dataclass(repr=False)
class FlatForest:
    """Trees one after another; the arrays mean what they mean in `FlatTree`.

    Attributes
    ----------
    node_start : int32 array of shape (n_trees + 1,)
        Tree ``t`` has the nodes ``node_start[t]:node_start[t + 1]``.
    plane_start, child_start, children, n_samples, value : arrays over all nodes
        Children are counted from their own tree's root; values are float32, of shape (n_nodes, n_outputs).
    term_start, threshold, missing_right, plane_gain : arrays over all planes
    term_feature, term_coefficient, term_weight : arrays over all terms
    set_start, set_category : categories of the planes on categorical columns
    n_outputs : int
        Numbers a row gets. When leaves hold one number, trees take turns with the outputs.
    """

    node_start: IntArray
    plane_start: IntArray
    child_start: IntArray
    children: IntArray
    n_samples: NDArray[np.int64]
    value: NDArray[np.float32]
    term_start: IntArray
    threshold: NDArray[np.float32]
    missing_right: NDArray[np.uint8]
    plane_gain: NDArray[np.float64]
    term_feature: IntArray
    term_coefficient: IntArray
    term_weight: NDArray[np.float32]
    set_start: IntArray
    set_category: IntArray
    n_outputs: int = 1
    # Made when first asked for, and not kept in files.
    _predictor: Any = field(default=None, compare=False)
    _votes: Any = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<FlatForest: n_trees={self.n_trees}, n_planes={self.n_planes}, n_leaves={self.n_leaves}>"

    @property
    def n_trees(self) -> int:
        return len(self.node_start) - 1

    @property
    def trees_per_round(self) -> int:
        """In boosting: one, or one an output where leaves hold one number."""
        return self.n_outputs if self.value.shape[1] == 1 else 1

    @property
    def n_nodes(self) -> int:
        return int(self.node_start[-1])

    @property
    def n_planes(self) -> int:
        return len(self.threshold)

    @property
    def n_leaves(self) -> int:
        return int((np.diff(self.plane_start) == 0).sum())

    def sum(
        self,
        rows: NDArray[np.float32],
        base: NDArray[np.float64],
        first: int = 0,
        last: int | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """``base`` plus the values of trees first .. last-1, for each row (C-ordered float32)."""
        if self._predictor is None:
            self._predictor = _core.ForestPredictor(
                self.node_start,
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
                self.value,
                self.n_outputs,
            )
        return self._predictor.sum(rows, base, first, self.n_trees if last is None else last, n_threads)

    def stages(
        self, rows: NDArray[np.float32], base: NDArray[np.float64], n_threads: int = 1
    ) -> Iterator[NDArray[np.float64]]:
        """Boosting's scores of each row after the first round, the second and so on."""
        k, nothing = self.trees_per_round, np.zeros(self.n_outputs)
        score = np.tile(base, (len(rows), 1))
        for first in range(0, self.n_trees, k):
            score = score + self.sum(rows, nothing, first, first + k, n_threads)
            yield score

    def contributions(
        self, rows: NDArray[np.float32], means: NDArray[np.float32], n_threads: int = 1
    ) -> NDArray[np.float64]:
        """What each feature added to the sum, and last what does not depend on the row: (rows, outputs, features + 1).

        Every step from a node to its child changes the value that training rows get on average, and the change is
        shared among the terms of the node's planes by how far they are from their means.
        """
        out = _core.contributions(
            rows,
            self.node_start,
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
            self.value,
            self.n_outputs,
            self.term_coefficient,
            self.usual_values(),
            means,
            n_threads,
        )
        return out.reshape(len(rows), self.n_outputs, -1)

    def usual_values(self) -> NDArray[np.float64]:
        """The mean of the values that the training rows of each node get: its own for a leaf."""
        usual = self.value.astype(np.float64)
        count = self.n_samples.astype(np.float64)[:, None]
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.node_start))
        node = np.repeat(np.arange(self.n_nodes), np.diff(self.child_start))
        child = self.children + self.node_start[tree[node]]
        parent, child = np.unique(np.column_stack([node, child])[node != child], axis=0).T
        inner = np.unique(parent)
        depth = np.zeros(self.n_nodes, dtype=np.intp)
        while True:  # a level a turn: parents come before their children
            deeper = depth.copy()
            deeper[child] = depth[parent] + 1
            if (deeper == depth).all():
                break
            depth = deeper
        for level in range(int(depth.max(initial=0)) - 1, -1, -1):
            now = depth[parent] == level
            sums = np.zeros_like(usual)
            np.add.at(sums, parent[now], usual[child[now]] * count[child[now]])
            here = inner[depth[inner] == level]
            below = np.zeros_like(count)
            np.add.at(below, parent[now], count[child[now]])
            # Rows that ended in the node itself got its own value.
            usual[here] = (sums[here] + (count[here] - below[here]) * usual[here]) / count[here]
        return usual

    def recent_directions(self, output: int, most: int) -> tuple[IntArray, IntArray, IntArray]:
        """The oblique directions of an output's latest trees, as (term starts, features, coefficients)."""
        found: list[int] = []
        for tree in range(self.n_trees - self.trees_per_round + output, -1, -self.trees_per_round):
            first, last = self.plane_start[self.node_start[tree : tree + 2]]
            found += [plane for plane in range(first, last) if self.term_start[plane + 1] - self.term_start[plane] > 1]
            if len(found) >= most:
                break
        terms = [np.arange(self.term_start[plane], self.term_start[plane + 1]) for plane in found[:most]]
        start = np.cumsum([0, *map(len, terms)]).astype(np.int32)
        every = np.concatenate(terms) if terms else np.zeros(0, np.intp)
        return start, self.term_feature[every], self.term_coefficient[every]

    def head(self, n_trees: int) -> FlatForest:
        """The first trees alone."""
        return self.part(0, n_trees)

    def part(self, first: int, last: int) -> FlatForest:
        """Trees first .. last-1 alone."""
        nodes = slice(*self.node_start[[first, last]])
        planes = slice(*self.plane_start[[nodes.start, nodes.stop]])
        terms = slice(*self.term_start[[planes.start, planes.stop]])
        entries = slice(*self.child_start[[nodes.start, nodes.stop]])
        return FlatForest(
            node_start=_starts(self.node_start, slice(first, last)),
            plane_start=_starts(self.plane_start, nodes),
            child_start=_starts(self.child_start, nodes),
            children=self.children[entries].copy(),
            n_samples=self.n_samples[nodes].copy(),
            value=self.value[nodes].copy(),
            term_start=_starts(self.term_start, planes),
            threshold=self.threshold[planes].copy(),
            missing_right=self.missing_right[planes].copy(),
            plane_gain=self.plane_gain[planes].copy(),
            term_feature=self.term_feature[terms].copy(),
            term_coefficient=self.term_coefficient[terms].copy(),
            term_weight=self.term_weight[terms].copy(),
            set_start=_starts(self.set_start, planes),
            set_category=self.set_category[slice(*self.set_start[[planes.start, planes.stop]])].copy(),
            n_outputs=self.n_outputs,
        )

    def as_votes(self) -> FlatForest:
        """The same trees, with values whose mean over T trees is proportional to votes / T + mean / (2 T).

        A tree votes for its likeliest class, and adds so little of its probabilities that they can only decide ties.
        One value a leaf is the probability of the second of two classes.
        """
        if self._votes is None:
            probability, little = self.value.astype(np.float64), 0.5 / self.n_trees
            if probability.shape[1] == 1:
                vote = (probability > 0.5).astype(np.float64)
            else:
                vote = np.eye(probability.shape[1])[probability.argmax(axis=1)]
            value = ((vote + little * probability) / (1 + little)).astype(np.float32)
            self._votes = replace(self, value=value, _predictor=None)
        return self._votes

    def followed_by(self, other: FlatForest) -> FlatForest:
        """This forest with the other's trees behind its own."""
        return FlatForest.joined([self, other])

    @classmethod
    def joined(cls, forests: Sequence[FlatForest]) -> FlatForest:
        """The trees of all these forests, one forest's after another's."""
        whole: dict[str, Any] = {}
        for name in cls.arrays():
            parts = [getattr(forest, name) for forest in forests]
            if name.endswith("_start"):
                before = np.cumsum([0, *(part[-1] for part in parts[:-1])])
                parts = [parts[0][:1], *(part[1:] + passed for part, passed in zip(parts, before, strict=True))]
            whole[name] = np.concatenate(parts).astype(_DTYPES[name], copy=False)
        return cls(**whole, n_outputs=forests[0].n_outputs)

    def apply(self, rows: NDArray[np.float32], n_threads: int = 1) -> IntArray:
        """The node of each tree in which each row (C-ordered float32) ends, counted from that tree's root."""
        nodes = np.empty((len(rows), self.n_trees), dtype=np.int32)
        for tree in range(self.n_trees):
            one = self.part(tree, tree + 1)
            nodes[:, tree] = _core.apply_tree(
                rows,
                one.plane_start,
                one.child_start,
                one.children,
                one.term_start,
                one.term_feature,
                one.term_weight,
                one.threshold,
                one.missing_right,
                one.set_start,
                one.set_category,
                n_threads,
            )
        return nodes

    def stored_numbers(self) -> int:
        """Non-zero weights, thresholds and the values rows can get: the numbers prediction needs."""
        root = np.repeat(self.node_start[:-1], np.diff(self.node_start))
        children = self.children + np.repeat(root, np.diff(self.child_start))
        ends = nodes_where_rows_end(self.child_start, children)
        return len(self.term_weight) + len(self.set_category) + self.n_planes + len(ends) * self.value.shape[1]

    def nbytes(self) -> int:
        """Bytes of the arrays that prediction needs."""
        not_needed = ("n_samples", "plane_gain", "term_coefficient")
        return sum(getattr(self, name).nbytes for name in self.arrays() if name not in not_needed)

    @classmethod
    def arrays(cls) -> list[str]:
        """Names of the arrays, in order."""
        return [each.name for each in fields(cls) if each.name != "n_outputs" and not each.name.startswith("_")]

    @classmethod
    def empty(cls) -> FlatForest:
        """No tree at all."""
        shapes: dict[str, Any] = {
            name: np.zeros(1 if name.endswith("_start") else 0, dtype) for name, dtype in _DTYPES.items()
        }
        return cls(**shapes | {"value": np.zeros((0, 1), np.float32)})

    @classmethod
    def from_core(cls, arrays: dict[str, Any], n_outputs: int) -> FlatForest:
        """A forest from the core's answer."""
        kept = {name: arrays[name] for name in cls.arrays()}
        kept["value"] = kept["value"].astype(np.float32)
        kept["plane_gain"] = _smallest(kept["plane_gain"]).astype(np.float64)  # as a pickle keeps it
        return cls(**kept, n_outputs=n_outputs)

    def __getstate__(self) -> dict[str, Any]:
        """Integers as small as they are, starts as differences: most fit a byte."""
        arrays = {name: getattr(self, name) for name in self.arrays()}
        small = {
            name: _smallest(np.diff(array) if name.endswith("_start") else array) for name, array in arrays.items()
        }
        return small | {"n_outputs": self.n_outputs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in self.arrays():
            array = state[name]
            if name.endswith("_start"):
                array = np.concatenate([[0], np.cumsum(array, dtype=np.int64)])
            setattr(self, name, array.astype(_DTYPES[name], copy=False))
        self.n_outputs = state["n_outputs"]
        self._predictor = self._votes = None

    def importances(self, n_features: int, kind: str) -> NDArray[np.float64]:
        """Share of each feature in the planes: by ``"gain"``, by ``"split"`` count or by ``"cover"`` (rows)."""
        if kind == "split":
            worth = np.ones(self.n_planes)
        elif kind == "cover":
            node = np.repeat(np.arange(self.n_nodes), np.diff(self.plane_start))
            worth = self.n_samples[node].astype(np.float64)
        else:
            worth = self.plane_gain
        return share_by_feature(self, worth, n_features)


class ForestImportances:
    """What an estimator with a ``forest_`` can say about its features."""

    forest_: FlatForest
    n_features_in_: int

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the planes' gain."""
        return self.get_feature_importances("gain")

    def get_feature_importances(self, kind: str = "gain") -> NDArray[np.float64]:
        """Share of each feature in the planes, by "gain", by number of planes ("split") or by their rows ("cover")."""
        check_is_fitted(self)
        if kind not in ("gain", "split", "cover"):
            raise ValueError(f"kind must be 'gain', 'split' or 'cover'; got {kind!r}.")
        return self.forest_.importances(self.n_features_in_, kind)


_DTYPES = {name: np.int32 for name in FlatForest.arrays()} | {
    "n_samples": np.int64,
    "value": np.float32,
    "threshold": np.float32,
    "missing_right": np.uint8,
    "plane_gain": np.float64,
    "term_weight": np.float32,
}


def _starts(starts: IntArray, part: slice) -> IntArray:
    """The starts of a part of the things they list, counted from its own first."""
    return starts[part.start : part.stop + 1] - starts[part.start]


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == np.float64:
        size = np.abs(array[array != 0])
        held = np.finfo(np.float32)
        return array.astype(np.float32) if ((size > held.tiny) & (size < held.max)).all() else array
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    return array.astype(np.promote_types(np.min_scalar_type(array.min()), np.min_scalar_type(array.max())))
