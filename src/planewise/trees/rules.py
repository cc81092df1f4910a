"""What trees, forests and boosting are, in words: importances, and trees as nested rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._text import counted, feature_names, number, percent, signed
from planewise.data.values import Columns, class_in_words, mix_in_words
from planewise.explain.describe import (
    OFFSET_NOT_STORED,
    RANKS,
    Description,
    Limits,
    TableSection,
    TextSection,
    fitted_with_offset,
    ranks_queries,
)
from planewise.explain.planes import cell_in_words, plane_in_words, read_plane
from planewise.trees.arrays import Forest, start_and_link, tree_column_names

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class DescribedTrees:
    """A mixin: what `describe` says of one or many trees."""

    def _describe(self, about: Description, limits: Limits) -> None:
        model: Any = self
        trees, start = _trees(model)
        about.facts += [
            ("trees", str(trees.n_trees)),
            ("planes", str(trees.n_planes)),
            ("leaves", str(trees.n_leaves)),
            ("numbers stored", str(model.n_stored_numbers_)),
        ]
        if ranks_queries(model):
            about.facts.append(("predicts", RANKS))
        if start.any():
            about.facts.append(("starts from", ", ".join(number(each) for each in start)))
        if fitted_with_offset(model):
            about.facts.append(("offset", OFFSET_NOT_STORED))
        if trees.n_planes:
            about.sections.append(_importances(model, limits))
        for tree in range(min(trees.n_trees, limits.max_trees)):
            heading = "Rules" if trees.n_trees == 1 else f"Tree {tree + 1} of {trees.n_trees}"
            about.sections.append(TextSection(heading, rules_of_tree(model, tree, limits)))


def rules_of_tree(model: Any, tree: int, limits: Limits) -> list[str]:
    """A tree of the model as nested rules, one per line."""
    return _Rules(model, tree, limits).lines


def _trees(model: Any) -> tuple[Forest, NDArray[np.float64]]:
    """The arrays of the trees, and what their values are added to."""
    return model.tree_ if hasattr(model, "tree_") else model.forest_, start_and_link(model)[0]


def _importances(model: Any, limits: Limits) -> TableSection:
    share, names = model.feature_importances_, feature_names(model)
    order = np.argsort(-share, kind="stable")
    shown = [j for j in order if share[j] > 0][: limits.max_columns]
    left = int((share > 0).sum()) - len(shown)
    note = f"… and {left} more" if left > 0 else ""
    rows = [[names[j], percent(share[j])] for j in shown]
    return TableSection("Importances", ["column", "share"], rows, note, [float(share[j]) for j in shown])


def _leaf_in_words(model: Any, start: NDArray[np.float64], tree: int) -> Callable[[NDArray[Any]], str]:
    """How the value of a leaf is written: a mix of classes, a number, or what is added to scores."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        alone = hasattr(model, "tree_") or (model.forest_.n_trees == 1 and not start.any())
        return lambda value: number(value[0], 6) if alone else signed(value[0])
    if not hasattr(model, "base_score_"):  # probabilities; of two classes the second one's may stand for both
        return lambda value: mix_in_words(
            np.array([1 - value[0], value[0]] if len(value) < len(classes) else value, np.float64), classes
        )
    one = class_in_words(classes[tree % len(start) if len(start) > 1 else -1])
    return lambda value: f"{one} {signed(value[0])}"


class _Rules:
    """Lines that read a tree from its root; beyond the limits stands "…" with what is left out."""

    def __init__(self, model: Any, tree: int, limits: Limits) -> None:
        self.trees, start = _trees(model)
        self.columns = Columns.of(model, tree_column_names(model))
        self.origins = model.feature_origins_
        self.value = _leaf_in_words(model, start, tree)
        self.root = int(self.trees.node_start[tree])
        self.max_depth, self.nodes_left = limits.max_depth, limits.max_nodes
        self.lines: list[str] = []
        if self._is_leaf(self.root):
            self.lines.append(f"every row → {self._value(self.root)}")
            return
        # A stack, not recursion: trees can be deeper than Python's calls.
        self.open: list[tuple[int, int, str]] = [(self.root, 0, "")]
        while self.open:
            node, depth, opening = self.open.pop()
            if node < 0:
                self.lines.append(opening)
            else:
                self._node(node, depth, opening)

    def _is_leaf(self, node: int) -> bool:
        return bool(self.trees.plane_start[node] == self.trees.plane_start[node + 1])

    def _node(self, node: int, depth: int, opening: str) -> None:
        trees, indent = self.trees, "    " * depth
        if opening:
            self.lines.append(opening)
        if self.nodes_left <= 0 or (self.max_depth is not None and depth >= self.max_depth):
            self.lines.append(f"{indent}… ({self._below(node)} nodes more)")
            return
        self.nodes_left -= 1
        letters = self._planes(node, indent)
        entries = trees.children[trees.child_start[node] : trees.child_start[node + 1]] + self.root
        later = []
        for child in sorted(set(entries.tolist()), key=lambda child: -int(np.flatnonzero(entries == child)[-1])):
            cell = f"{indent}- {cell_in_words(np.flatnonzero(entries == child).tolist(), letters)}"
            rows = counted(trees.n_samples[child], "row")
            if child == node:
                later.append((-1, depth, f"{cell} → {self._value(node)} (no training rows)"))
            elif self._is_leaf(child):
                later.append((-1, depth, f"{cell} → {self._value(child)}, {rows}"))
            else:
                later.append((child, depth + 1, f"{cell}, {rows}:"))
        self.open += reversed(later)

    def _planes(self, node: int, indent: str) -> str:
        """Write the planes of a node, each with its letter where there are several."""
        places = range(self.trees.plane_start[node], self.trees.plane_start[node + 1])
        words = [plane_in_words(read_plane(self.trees, k, self.origins), self.columns) for k in places]
        letters = LETTERS[: len(words)] if len(words) <= len(LETTERS) else "".join(chr(0x3B1 + k) for k in places)
        if len(words) == 1:
            self.lines.append(f"{indent}{words[0]}?")
        else:
            self.lines += [f"{indent}{letter}: {each}" for letter, each in zip(letters, words, strict=True)]
        return letters

    def _below(self, node: int) -> int:
        """How many nodes a subtree has, with its root."""
        count, open_nodes = 0, [node]
        while open_nodes:
            at = open_nodes.pop()
            count += 1
            entries = self.trees.children[self.trees.child_start[at] : self.trees.child_start[at + 1]]
            open_nodes += [self.root + int(each) for each in np.unique(entries) if self.root + int(each) != at]
        return count

    def _value(self, node: int) -> str:
        return self.value(self.trees.value[node])
