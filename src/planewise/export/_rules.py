"""A tree as nested rules."""

from __future__ import annotations

import numpy as np

from planewise.export._models import TreeEnsemble
from planewise.words import (
    cell_in_words,
    class_in_words,
    counted,
    mix_in_words,
    number,
    plane_in_words,
    read_plane,
    signed,
)

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def tree_rules(model: TreeEnsemble, tree: int, max_depth: int | None, max_nodes: int) -> list[str]:
    """Lines that read a tree from its root; beyond the limits stands "…" with what is left out."""
    return _Rules(model, tree, max_depth, max_nodes).lines


class _Rules:
    """Writes one tree; nodes are counted over the whole forest."""

    def __init__(self, model: TreeEnsemble, tree: int, max_depth: int | None, max_nodes: int) -> None:
        self.model, self.forest = model, model.forest
        self.root = int(self.forest.node_start[tree])
        self.output = tree % model.n_outputs
        self.max_depth, self.nodes_left = max_depth, max_nodes
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
        return bool(self.forest.plane_start[node] == self.forest.plane_start[node + 1])

    def _node(self, node: int, depth: int, opening: str) -> None:
        forest, indent = self.forest, "    " * depth
        if opening:
            self.lines.append(opening)
        if self.nodes_left <= 0 or (self.max_depth is not None and depth >= self.max_depth):
            self.lines.append(f"{indent}… ({self._below(node)} nodes more)")
            return
        self.nodes_left -= 1
        planes = range(forest.plane_start[node], forest.plane_start[node + 1])
        words = [plane_in_words(read_plane(forest, k), self.model.feature_names, self.model.categories) for k in planes]
        letters = LETTERS[: len(words)] if len(words) <= len(LETTERS) else "".join(chr(0x3B1 + k) for k in planes)
        if len(words) == 1:
            self.lines.append(f"{indent}{words[0]}?")
        else:
            self.lines += [f"{indent}{letter}: {each}" for letter, each in zip(letters, words, strict=True)]
        entries = forest.children[forest.child_start[node] : forest.child_start[node + 1]] + self.root
        later = []
        for child in sorted(set(entries.tolist()), key=lambda child: -int(np.flatnonzero(entries == child)[-1])):
            cell = f"{indent}- {cell_in_words(np.flatnonzero(entries == child).tolist(), letters)}"
            if child == node:
                later.append((-1, depth, f"{cell} → {self._value(node)}, as no training row was there"))
            elif self._is_leaf(child):
                later.append((-1, depth, f"{cell} → {self._value(child)}, {counted(forest.n_samples[child], 'row')}"))
            else:
                later.append((child, depth + 1, f"{cell}, {counted(forest.n_samples[child], 'row')}:"))
        self.open += reversed(later)

    def _below(self, node: int) -> int:
        """How many nodes a sub-tree has, its root too."""
        count, open_nodes = 0, [node]
        while open_nodes:
            at = open_nodes.pop()
            count += 1
            entries = self.forest.children[self.forest.child_start[at] : self.forest.child_start[at + 1]]
            open_nodes += [self.root + int(each) for each in np.unique(entries) if self.root + int(each) != at]
        return count

    def _value(self, node: int) -> str:
        model, value = self.model, self.forest.value[node]
        if model.link == "probability":
            assert model.classes is not None
            share = np.array([1 - value[0], value[0]]) if len(value) == 1 else value
            return mix_in_words(np.asarray(share, np.float64), model.classes)
        if model.classes is None:
            return number(value[0], 6) if model.forest.n_trees == 1 and not model.base.any() else signed(value[0])
        if len(value) == 1:
            return f"{self._class(self.output if model.n_outputs > 1 else 1)} {signed(value[0])}"
        return ", ".join(f"{self._class(k)} {signed(each)}" for k, each in enumerate(value))

    def _class(self, place: int) -> str:
        assert self.model.classes is not None
        return class_in_words(self.model.classes[place])
