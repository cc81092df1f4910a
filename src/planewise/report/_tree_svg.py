"""A small tree as SVG: planes in boxes, cells with their class and rows, all of a node's words under the mouse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from planewise.plot.style import colour
from planewise.plot.trees import DrawnTree, drawn_tree, shown_nodes
from planewise.report._view_shapes import class_form
from planewise.report.html import said
from planewise.words import Columns, Plane, cell_in_marks, count, formula, number, shorten, wrap

MOST_NODES = 25  # more are folded, those with the fewest rows first
MOST_DEPTH = 6  # columns
PLANES = "ABCDEFGH"  # what they are called where a node has several
LETTERS, LETTERS_OF_NAME, LINES = 33, 24, 4  # of a plane in its box
BOX, GAP, CELL, LINE = 232.0, 46.0, 24.0, 15.0  # sizes in pixels; in the gaps stand the words of the lines


@dataclass(frozen=True)
class _Node:
    place: int
    x: float
    y: float
    edge: str  # by which sides of its parent's planes rows come here
    open: bool


def tree_figure(estimator: Any) -> str:
    """The tree of a fitted single tree."""
    tree = drawn_tree(estimator)
    drawing = _Drawing(tree, Columns.of(estimator), getattr(estimator, "classes_", None))
    return drawing.figure()


@dataclass(frozen=True)
class _Drawing:
    tree: DrawnTree
    columns: Columns
    classes: Any

    def figure(self) -> str:
        opened = {node for node in shown_nodes(self.tree, MOST_NODES) if self.tree.depth[node] < MOST_DEPTH}
        nodes: list[_Node] = []
        height = self._arrange(0, 0.0, "", opened, nodes)
        width = max(node.x for node in nodes) + BOX + 4
        lines = "".join(self._lines(nodes))
        boxes = "".join(self._box(node) for node in nodes)
        folded = self.tree.n_nodes - len(nodes)
        note = f"<figcaption>{folded} more nodes are folded.</figcaption>" if folded else ""
        return (
            '<figure class="pw-figure"><div class="pw-wide" tabindex="0" role="region" aria-label="The tree">'
            f'<svg class="pw-plot pw-tree" role="group" aria-label="The tree" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">\n{lines}{boxes}</svg></div>{note}</figure>'
        )

    def _arrange(self, node: int, top: float, edge: str, opened: set[int], out: list[_Node]) -> float:
        """Place a node and its descendants below `top`, and return their height."""
        x = 2 + (BOX + GAP) * float(self.tree.depth[node])
        if node not in opened:
            out.append(_Node(node, x, top + CELL / 2, edge, False))
            return CELL
        n_planes = len(self.tree.planes[node])
        needed = _height(self._lines_of(node)) + 6
        children: list[_Node] = []
        taken = 0.0
        for child in self.tree.cells(node):
            words = cell_in_marks(self.tree.codes(child), n_planes, PLANES)
            taken += self._arrange(child, top + taken, words, opened, children)
        spare = max(0.0, needed - taken) / 2  # a tall box beside few cells: these go to its middle
        out += [replace(child, y=child.y + spare) for child in children]
        height = max(taken, needed)
        out.append(_Node(node, x, top + height / 2, edge, True))
        return height

    def _lines(self, nodes: list[_Node]) -> Iterator[str]:
        at = {node.place: node for node in nodes}
        rows = max(1, int(self.tree.n_samples[0]))
        for node in nodes:
            if node.place == 0:
                continue
            parent = at[int(self.tree.parent[node.place])]
            start, middle = parent.x + BOX, parent.x + BOX + 14
            wide = 0.8 + 3 * float(self.tree.n_samples[node.place] / rows) ** 0.5
            yield (
                f'<path class="pw-branch" fill="none" stroke-width="{wide:.1f}" '
                f'd="M{start:g} {parent.y:g}C{middle:g} {parent.y:g} {start:g} {node.y:g} {middle:g} {node.y:g}'
                f'L{node.x:g} {node.y:g}"/>'
                f'<text class="pw-side" x="{node.x - 3:g}" y="{node.y - 4:g}" text-anchor="end">'
                f"{said(shorten(node.edge, 10))}</text>\n"
            )

    def _box(self, node: _Node) -> str:
        """A box with the planes in short, or a cell with its answer."""
        lines = self._lines_of(node.place) if node.open else []
        height = _height(lines) if node.open else CELL - 4
        top = node.y - height / 2
        kind = "pw-hit pw-node pw-open" if node.open else "pw-hit pw-node"
        frame = f'<rect class="{kind}" x="{node.x:g}" y="{top:g}" width="{BOX:g}" height="{height:g}" rx="4"/>'
        if node.open:
            drawn = [
                f'<text x="{node.x + 6:g}" y="{top + LINE * at + 14:g}">{said(words)}</text>'
                for at, words in enumerate(lines)
            ]
            inside = frame + "".join(drawn)
        else:
            inside = frame + self._cell(node)
        return (
            f'<g class="pw-mark" tabindex="0" role="img"><title>{said(self._words(node), most=1000)}</title>'
            f"{inside}</g>\n"
        )

    def _cell(self, node: _Node) -> str:
        mark, start = "", node.x + 4
        if self.classes is not None:
            place = int(self.tree.value[node.place].argmax())
            mark = f'<path class="pw-form" fill="{colour(place)}" d="{class_form(place, node.x + 9, node.y, 5)}"/>'
            start = node.x + 20
        folded = sum(1 for _ in self.tree.below(node.place))
        rows = f"{count(self.tree.n_samples[node.place])} rows" + (f", +{folded} nodes" if folded else "")
        words = f"{shorten(self._answer(node.place), 14)} · {rows}"
        return f'{mark}<text x="{start:g}" y="{node.y + 4:g}">{said(words)}</text>'

    def _lines_of(self, node: int) -> list[str]:
        """The planes of a node as they stand in its box."""
        out = []
        for letter, plane in self._lettered(node):
            words = [shorten(word, LETTERS) for word in formula(plane, self.columns, LETTERS_OF_NAME)]
            lines = wrap(words, lambda line, letter=letter: len(letter) + len(line) <= LETTERS)
            if len(lines) > LINES:
                lines = [*lines[: LINES - 2], f"… {len(lines) - LINES + 1} more", lines[-1]]
            out += [f"{letter if at == 0 else ' ' * (len(letter) + 1)}{line}" for at, line in enumerate(lines)]
        return out

    def _planes(self, node: int) -> list[str]:
        """The planes of a node in full."""
        return [letter + " ".join(formula(plane, self.columns, 40)) for letter, plane in self._lettered(node)]

    def _lettered(self, node: int) -> list[tuple[str, Plane]]:
        """Planes with what they are called where there are several."""
        planes = self.tree.planes[node]
        letters = [f"{letter}: " for letter in PLANES] if len(planes) > 1 else [""]
        return list(zip(letters, planes, strict=False))

    def _answer(self, node: int) -> str:
        value = self.tree.value[node]
        return number(value[0], 3) if self.classes is None else str(self.classes[int(value.argmax())])[:200]

    def _words(self, node: _Node) -> str:
        """All that is known of a node."""
        value, rows = self.tree.value[node.place], f"{count(self.tree.n_samples[node.place])} training rows"
        if self.classes is None:
            return "\n".join([*self._planes(node.place), f"{rows}: {number(value[0], 3)}"])
        best = [k for k in value.argsort()[::-1][:4] if value[k] >= 0.005]
        mix = ", ".join(f"{shorten(self.classes[k], 40)} {100 * value[k]:.0f} %" for k in best)
        return "\n".join([*self._planes(node.place), f"{rows}: {mix}"])


def _height(lines: list[str]) -> float:
    return LINE * len(lines) + 7
