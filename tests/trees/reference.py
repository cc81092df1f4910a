"""One SLM tree grown in plain Python: the oracle the compiled core is tested against, and its description.

It says what the core computes, not how: no samples, no threads, no flat arrays. Nodes with more than
``max_rows_per_node`` rows, which the core judges by a sample, are out of its scope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from reference_search import (
    ClassStatistics,
    Random,
    Search,
    SquareStatistics,
    column_scale,
    draw_terms,
    plain_sum,
    roughly,
)
from sklearn.utils import check_random_state

from planewise.trees.growth import draw_rounds


@dataclass
class Node:
    rows: np.ndarray
    parent: int
    depth: int
    ranking: list  # the features it may look at, its parent's best first
    planes: list = field(default_factory=list)
    children: list = field(default_factory=list)  # by code; the node itself where no training row fell
    gain: float = 0.0
    chance: float = 0.0  # what the best of random cuts would have gained
    weight: float = 0.0
    impurity: float = 0.0
    value: np.ndarray | None = None


class ReferenceTree:
    """Grown from an estimator's parameters; `nodes` are numbered as in the estimator's ``tree_``."""

    def __init__(self, estimator, X, y, sample_weight=None):
        self.estimator = estimator
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        counts = weight > 0
        self.X, self.weight = np.asarray(X, dtype=np.float32)[counts], weight[counts]
        if hasattr(estimator, "criterion"):
            classes, label = np.unique(y, return_inverse=True)
            self.target = np.eye(len(classes))[label[counts]]
            gini = estimator.criterion == "gini"
            self.statistics = ClassStatistics(label[counts], self.weight, len(classes), gini)
        else:
            y = np.asarray(y, dtype=np.float64)[counts]
            self.target = y[:, None]
            self.statistics = SquareStatistics(y - np.average(y, weights=self.weight), self.weight)
        self.scale = [column_scale(x, self.weight) for x in self.X.T]
        self.seed = check_random_state(estimator.random_state).randint(2**31 - 1)
        self.grow()
        self.prune()
        self.number_by_level()
        self.set_values()

    def total(self, node):
        return self.statistics.parts[node.rows].sum(axis=0)

    def grow(self):
        varying = [j for j, scale in enumerate(self.scale) if scale > 0]
        self.nodes = [Node(np.arange(len(self.X)), -1, 0, varying)]
        fresh, waiting = [0], []
        while fresh or waiting:
            for k in fresh:
                if self.may_split(self.nodes[k]):
                    self.search(k)
            waiting += [k for k in fresh if self.nodes[k].planes]
            now = waiting
            if self.estimator.max_leaf_nodes:  # the most promising half, the largest gain first, then the oldest
                by_gain = sorted(waiting, key=lambda k: (-plain_sum(p.gain for p in self.nodes[k].planes), k))
                now = by_gain[: (len(by_gain) + 1) // 2]
            waiting = [k for k in waiting if k not in now]
            fresh = [child for k in now for child in self.branch(k)]
            if self.n_leaves() >= (self.estimator.max_leaf_nodes or math.inf):
                break
        for k in waiting:
            self.nodes[k].planes = []

    def n_leaves(self):
        return sum(not node.children for node in self.nodes)

    def may_split(self, node):
        whole, e = self.total(node), self.estimator
        impurity = self.statistics.impurity(whole)
        return (
            (e.max_depth is None or node.depth < e.max_depth)
            and len(node.rows) >= max(e.min_samples_split, 2 * e.min_samples_leaf)
            and impurity > 0
            and impurity > e.min_loss * self.statistics.weight(whole)
            and impurity > e.noise_margin * self.chance(whole, impurity, 2)  # it would be pruned anyway
        )

    def chance(self, whole, gain, n_cells):
        """What the best of all cuts a node may try gains by chance: the largest of so many chi-squares."""
        e = self.estimator
        offered = min(e.max_ranked_features or math.inf, e.root_features or math.inf)
        n_features = min(sum(scale > 0 for scale in self.scale), offered)
        n_cuts = (n_features + e.n_projections * len(draw_rounds(e))) * (e.n_bins - 1)
        luck = self.statistics.degrees_of_freedom(whole) + 2 * math.log(max(1, n_cuts))
        return luck * self.statistics.chance(whole, gain, n_cells)

    def search(self, k):
        node, share = self.nodes[k], self.estimator.max_ranked_features
        random = Random(self.seed, k)
        random.next()  # for the sample of a large node
        offered = list(node.ranking)
        if share and share < len(offered) and k > 0:  # half its parent's best, half random
            for i in range(share // 2, share):
                j = i + random.below(len(offered) - i)
                offered[i], offered[j] = offered[j], offered[i]
            del offered[share:]
        X, parts = self.X[node.rows], self.statistics.parts[node.rows]
        search = Search(self.estimator, self.statistics, self.scale, X, parts)
        axes = [search.measure([(feature, 1)]) for feature in offered]
        usable = [c for c in axes if c.edges is not None]
        ranked = [c.direction.features[0] for c in sorted(usable, key=lambda c: -roughly(c.cut.gain))]
        if share and share < len(node.ranking):
            node.ranking = ranked + [feature for feature in node.ranking if feature not in offered]
        allowed = set(ranked)
        if self.estimator.root_features and k == 0:
            node.ranking = ranked = ranked[: self.estimator.root_features]
            allowed = set(ranked)
        subspace = set()
        oblique = [search.measure(terms) for terms in draw_terms(ranked, self.estimator, random, subspace)]
        if self.estimator.axis_candidates != "all":
            allowed &= subspace if self.estimator.axis_candidates == "subspace" else set()
        axes = [c for c in axes if c.direction.features[0] in allowed]
        node.planes = search.choose(axes + oblique)

    def branch(self, k):
        """Makes a node's filled cells its children, or drops its planes if that is no gain."""
        node, e = self.nodes[k], self.estimator
        n_leaves = self.n_leaves() - 1
        while True:
            codes = sum(plane.is_right(self.X[node.rows]) << j for j, plane in enumerate(node.planes))
            rows = [node.rows[codes == code] for code in range(2 ** len(node.planes))]
            home = merge_small_cells([len(each) for each in rows], e.min_samples_leaf)
            filled = sorted({cell for cell in home if cell is not None})
            fits = n_leaves + len(filled) <= (e.max_leaf_nodes or math.inf)
            if fits or len(node.planes) == 1:
                break
            node.planes.pop()  # where leaves run out, the first planes may still fit
        rows = [np.concatenate([rows[code] for code, to in enumerate(home) if to == cell]) for cell in filled]
        children = [Node(each, k, node.depth + 1, node.ranking) for each in rows]
        score, whole = self.statistics.score, self.total(node)
        gain = plain_sum([-score(whole), *(score(self.total(child)) for child in children)])
        if (
            len(filled) < 2
            or not gain > 1e-10 * self.statistics.impurity(whole)
            or gain < e.min_impurity_decrease * self.statistics.weight(self.total(self.nodes[0]))
            or not fits
        ):
            node.planes = []
            return []
        node.gain, node.chance = gain, self.chance(whole, gain, len(filled))
        first = len(self.nodes)
        node.children = [k if cell is None else first + filled.index(cell) for cell in home]
        self.nodes += children
        return range(first, len(self.nodes))

    def prune(self):
        """Cuts back, bottom up, every subtree that gains no more than chance would give its planes."""
        worth = [0.0] * len(self.nodes)
        for k, node in reversed(list(enumerate(self.nodes))):
            if node.children:
                worth[k] += node.gain - self.estimator.noise_margin * node.chance * len(node.planes)
                if not worth[k] > 0:
                    worth[k], node.children, node.planes, node.gain = 0.0, [], [], 0.0
            if k > 0:
                worth[node.parent] += worth[k]

    def number_by_level(self):
        """Level by level, siblings by the first code that leads to them; a leaf's child is itself."""
        order = [0]
        for k in order:
            order += [child for child in dict.fromkeys(self.nodes[k].children) if child != k]
        number = {k: new for new, k in enumerate(order)}
        self.nodes = [self.nodes[k] for k in order]
        for new, node in enumerate(self.nodes):
            node.parent = number.get(node.parent, -1)
            node.children = [number[k] for k in node.children] or [new]

    def set_values(self):
        """Means, each mixed with its parent's value as if `smoothing` rows more had it."""
        prior = self.estimator.smoothing * min(1.0, self.weight.mean())
        for node in self.nodes:
            weight = self.weight[node.rows]
            node.weight = weight.sum()
            node.impurity = self.statistics.impurity(self.total(node))
            node.value = np.average(self.target[node.rows], axis=0, weights=weight)
            if node.parent >= 0:
                own = node.weight / (node.weight + prior)
                node.value = own * node.value + (1 - own) * self.nodes[node.parent].value


def merge_small_cells(n_rows, least):
    """The cell each cell ends in, None for empty ones.

    As long as a cell has fewer than `least` rows, the smallest joins the filled cell nearest in Hamming
    distance; of equally near ones that across the latest plane.
    """
    home = [cell if n > 0 else None for cell, n in enumerate(n_rows)]
    n_rows = {cell: n for cell, n in enumerate(n_rows) if n > 0}
    while len(n_rows) > 1 and min(n_rows.values()) < least:
        small = min(n_rows, key=n_rows.get)
        others = n_rows.keys() - {small}
        nearest = min(others, key=lambda cell: ((cell ^ small).bit_count(), -(cell ^ small)))
        n_rows[nearest] += n_rows.pop(small)
        home = [nearest if cell == small else cell for cell in home]
    return home
