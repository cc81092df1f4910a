"""Trees, forests and boosting in ONNX: one MatMul gives the projections, a TreeEnsemble reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.export.models import TreeEnsemble
from planewise.export.onnx_graph import Graph
from planewise.trees.arrays import Forest

AT_LEAST = 2  # BRANCH_GTE


def tree_scores(graph: Graph, model: TreeEnsemble) -> str:
    """Raw scores in double, one column per output."""
    forest = model.forest
    projections = Projections(graph, model)
    ensemble = Ensemble(forest, projections)
    columns = graph.cast(projections.columns(), "DOUBLE")
    if forest.value.shape[1] == 1:
        total = ensemble.add_to(graph, columns, model.n_outputs)
    else:  # a leaf of the operator holds one number: it is the leaf's place in a table
        places = graph.cast(ensemble.add_to(graph, columns, forest.n_trees), "INT64")
        values = graph.add("Gather", graph.constant(forest.value), places)
        total = graph.add("ReduceSum", values, graph.constant([1], np.int64), keepdims=0)
    if model.divisor > 1:
        total = graph.add("Div", total, graph.constant(model.divisor))
    return graph.add("Add", total, graph.constant(model.base)) if model.base.any() else total


class Projections:
    """The columns that trees look at: distinct directions, then the sets of categories; NaN where one is missing."""

    def __init__(self, graph: Graph, model: TreeEnsemble) -> None:
        self.graph, self.model, forest = graph, model, model.forest
        self.column = np.zeros(forest.n_planes, np.int64)  # of each plane
        self.directions: dict[tuple[bytes, bytes], int] = {}
        sets: list[tuple[int, int]] = []  # (feature, plane)
        for plane in range(forest.n_planes):
            terms = slice(*forest.term_start[plane : plane + 2])
            if forest.set_start[plane] < forest.set_start[plane + 1]:
                sets.append((int(forest.term_feature[terms.start]), plane))
                continue
            key = forest.term_feature[terms].tobytes(), forest.term_weight[terms].tobytes()
            self.column[plane] = self.directions.setdefault(key, len(self.directions))
        self.by_feature: dict[int, list[int]] = {}
        for place, (feature, plane) in enumerate(sorted(sets)):
            self.by_feature.setdefault(feature, []).append(plane)
            self.column[plane] = len(self.directions) + place

    def columns(self) -> str:
        """All of them side by side, in float."""
        graph = self.graph
        rows = "X"
        if self.model.origins:
            rows = graph.cast(graph.add("Sub", rows, graph.constant(_by_column(self.model))), "FLOAT")
        if self.model.statistics:
            rows = self._with_statistics(rows)
        missing = graph.add("IsNaN", rows)
        filled = graph.add("Where", missing, graph.constant(0, np.float32), rows)
        parts = [self._directions(rows, missing)] if self.directions else []
        parts += [self._sets(feature, missing, filled) for feature in sorted(self.by_feature)]
        if not parts:  # no plane at all: any column will do
            return filled
        return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)

    def _directions(self, rows: str, missing: str) -> str:
        """Sums; infinite if terms are infinite in one direction, NaN if they are in both or if one is missing."""
        graph, zero = self.graph, self.graph.constant(0, np.float32)
        infinite = graph.add("IsInf", rows)
        special = graph.add("Or", missing, infinite)
        filled = graph.add("Where", special, zero, rows)
        signs = graph.add("Where", infinite, graph.add("Sign", rows), zero)
        weights = np.zeros((self.model.n_columns, len(self.directions)), np.float32)
        for (features, values), column in self.directions.items():
            weights[np.frombuffer(features, np.int32), column] = np.frombuffer(values, np.float32)
        held = graph.constant(weights, np.float32)
        projected = graph.add("MatMul", filled, held)
        # Which terms a plane has, and their signs, is seen from the weights, not stored again.
        has_term = graph.cast(graph.cast(held, "BOOL"), "FLOAT")
        touched = graph.add("MatMul", graph.cast(special, "FLOAT"), has_term)
        way = graph.add("MatMul", signs, graph.add("Sign", held))
        upwards = graph.add("Greater", way, zero)
        far = [graph.constant(end, np.float32) for end in (np.inf, -np.inf, np.nan)]
        beyond = graph.add("Where", upwards, far[0], far[1])
        # All terms that are no finite numbers must be infinite in one direction.
        beyond = graph.add("Where", graph.add("Greater", touched, graph.add("Abs", way)), far[2], beyond)
        return graph.add("Where", graph.add("Greater", touched, zero), beyond, projected)

    def _sets(self, feature: int, missing: str, filled: str) -> str:
        """Whether the category goes right, for all planes on one column: a row of a table."""
        graph, forest = self.graph, self.model.forest
        planes = self.by_feature[feature]
        known = len(self.model.categories[feature])
        right = np.zeros((known + 1, len(planes)), np.float32)
        for place, plane in enumerate(planes):
            weight, threshold = forest.term_weight[forest.term_start[plane]], forest.threshold[plane]
            right[:, place] = np.float32(0) >= threshold
            right[forest.set_category[slice(*forest.set_start[plane : plane + 2])], place] = weight >= threshold
        found = graph.add("Gather", graph.constant(right, np.float32), self._category(feature, filled, known))
        gone = graph.add("Gather", missing, graph.constant([feature], np.int64), axis=1)
        return graph.add("Where", gone, graph.constant(np.nan, np.float32), found)

    def _category(self, feature: int, filled: str, known: int) -> str:
        """The number of each row's category in a column without gaps, `known` for one not seen in fit."""
        graph = self.graph
        category = graph.add("Gather", filled, graph.constant(feature, np.int64), axis=1)
        beyond = graph.constant(known, np.float32)
        outside = graph.add(
            "Or", graph.add("Less", category, graph.constant(0, np.float32)), graph.add("Greater", category, beyond)
        )
        between = graph.add("Greater", category, graph.add("Floor", category))
        unseen = graph.add("Or", outside, between)
        return graph.cast(graph.add("Where", unseen, beyond, category), "INT64")

    def _with_statistics(self, rows: str) -> str:
        """The columns that trees read: those of X, then target statistics by category."""
        graph, parts = self.graph, [rows]
        filled = graph.add("Where", graph.add("IsNaN", rows), graph.constant(0, np.float32), rows)
        for source, known in sorted(self.model.statistics.items()):
            table = graph.constant(np.vstack([known.values, known.prior]), np.float32)
            found = graph.add("Gather", table, self._category(source, filled, len(known.values)))
            gone = graph.add("IsNaN", graph.add("Gather", rows, graph.constant([source], np.int64), axis=1))
            parts.append(graph.add("Where", gone, graph.constant(np.nan, np.float32), found))
        return graph.add("Concat", *parts, axis=1)

    def split(self, plane: int) -> float:
        """What the plane's column is compared with."""
        forest = self.model.forest
        by_category = forest.set_start[plane] < forest.set_start[plane + 1]
        return 0.5 if by_category else float(forest.threshold[plane])


@dataclass
class Ensemble:
    """The attributes of a TreeEnsemble: nodes of several planes become small binary trees."""

    forest: Forest
    projections: Projections
    roots: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    missing_right: list[int] = field(default_factory=list)
    # Two entries for each node, the left child first: the number of the child, and whether it is a node or a leaf.
    goes_to: list[list[int]] = field(default_factory=list)
    is_leaf: list[list[int]] = field(default_factory=list)
    leaf_value: list[float] = field(default_factory=list)
    leaf_target: list[int] = field(default_factory=list)

    def add_to(self, graph: Graph, columns: str, n_targets: int) -> str:
        """The operator itself, in double."""
        one_number = self.forest.value.shape[1] == 1
        for tree in range(self.forest.n_trees):
            self._tree(tree, tree % n_targets, one_number)
        tensor = graph.onnx.numpy_helper.from_array
        return graph.add(
            "TreeEnsemble",
            columns,
            domain="ai.onnx.ml",
            n_targets=n_targets,
            aggregate_function=1,
            post_transform=0,
            tree_roots=self.roots,
            nodes_featureids=self.feature,
            nodes_splits=tensor(np.array(self.split, np.float64), "splits"),
            nodes_modes=tensor(np.full(len(self.feature), AT_LEAST, np.uint8), "modes"),
            nodes_missing_value_tracks_true=self.missing_right,
            nodes_falsenodeids=[sides[0] for sides in self.goes_to],
            nodes_falseleafs=[sides[0] for sides in self.is_leaf],
            nodes_truenodeids=[sides[1] for sides in self.goes_to],
            nodes_trueleafs=[sides[1] for sides in self.is_leaf],
            leaf_weights=tensor(np.array(self.leaf_value, np.float64), "weights"),
            leaf_targetids=self.leaf_target,
        )

    def _tree(self, tree: int, target: int, one_number: bool) -> None:
        forest = self.forest
        root = int(forest.node_start[tree])
        self.roots.append(len(self.feature))
        if forest.plane_start[root] == forest.plane_start[root + 1]:  # one leaf: both sides lead to it
            leaf = self._leaf(root, target, one_number)
            self._node(0, 0.0, False, [leaf, leaf], [1, 1])
            return
        # (node, number of the binary node to fill in, its side); a stack, since trees can be deep
        open_ends: list[tuple[int, int, int]] = []
        self._expand(root, root, target, one_number, open_ends)
        while open_ends:
            node, above, side = open_ends.pop()
            self.goes_to[above][side] = len(self.feature)
            self._expand(node, root, target, one_number, open_ends)

    def _expand(self, node: int, root: int, target: int, one_number: bool, open_ends: list[Any]) -> None:
        """The binary tree of a node's planes, in front of its children."""
        forest = self.forest
        first, last = int(forest.plane_start[node]), int(forest.plane_start[node + 1])
        goes_to = root + forest.children[forest.child_start[node] : forest.child_start[node + 1]]

        def place(planes: tuple[int, ...], codes: NDArray[np.int64]) -> int:
            """A binary node for these codes, by the planes that are left."""
            at = _best_plane(planes, codes, goes_to)
            number = len(self.feature)
            plane = first + at
            self._node(
                int(self.projections.column[plane]),
                self.projections.split(plane),
                bool(forest.missing_right[plane]),
                [0, 0],
                [0, 0],
            )
            for side in (0, 1):
                part = codes[codes >> at & 1 == side]
                child = int(goes_to[part[0]])
                if (goes_to[part] != child).any():
                    self.goes_to[number][side] = place(tuple(k for k in planes if k != at), part)
                elif child == node or forest.plane_start[child] == forest.plane_start[child + 1]:
                    self.goes_to[number][side] = self._leaf(child, target, one_number)
                    self.is_leaf[number][side] = 1
                else:
                    open_ends.append((child, number, side))
            return number

        place(tuple(range(last - first)), np.arange(len(goes_to)))

    def _node(self, feature: int, split: float, missing_right: bool, goes_to: list[int], is_leaf: list[int]) -> None:
        self.feature.append(feature)
        self.split.append(split)
        self.missing_right.append(int(missing_right))
        self.goes_to.append(goes_to)
        self.is_leaf.append(is_leaf)

    def _leaf(self, node: int, target: int, one_number: bool) -> int:
        self.leaf_value.append(float(self.forest.value[node, 0]) if one_number else float(node))
        self.leaf_target.append(target)
        return len(self.leaf_value) - 1


def _by_column(model: TreeEnsemble) -> NDArray[np.float64]:
    return np.array([model.origins.get(j, 0.0) for j in range(model.n_features)])


def _best_plane(planes: tuple[int, ...], codes: NDArray[np.int64], goes_to: NDArray[Any]) -> int:
    """The plane after which the fewest children are on both sides: joined cells then stay together."""

    def crossing(at: int) -> int:
        right = codes >> at & 1 == 1
        return len(np.intersect1d(goes_to[codes[right]], goes_to[codes[~right]]))

    return min(planes, key=crossing)
