"""Where the parts of a drawn tree go: which nodes are shown, how their text wraps, boxes in inches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from planewise._text import shorten, wrap
from planewise.explain.planes import cell_in_marks
from planewise.plot.style import text_width
from planewise.plot.trees import DrawnTree, shown_nodes

LINE = 1.3 / 72  # height of a line of text, in inches a point of its size
LARGEST, SMALLEST = 9.0, 5.5  # type, in points
LETTERS = "ABCDEFGH"
EDGE = 0.24  # inches beside the words on a line, for its bend


@dataclass
class Box:
    """One node of the picture; x and y are its left side and its middle, in inches from the top left."""

    node: int
    lines: list[str]
    edge: str
    folded: int
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    children: list[Box] = field(default_factory=list)

    def all(self) -> list[Box]:
        """This box and those below it."""
        return [self, *(box for child in self.children for box in child.all())]


@dataclass
class Layout:
    """The boxes of a tree and the size of its plot, in inches."""

    root: Box
    font: float
    width: float
    height: float
    outline: bool


Words = Callable[[int, int], list[list[str]]]  # (node, most letters a name) -> words of its planes
Label = Callable[[int], str]


def arrange(
    tree: DrawnTree,
    words: Words,
    label: Label,
    *,
    max_nodes: int,
    path: Sequence[int] = (),
    width: float | None = None,
    height: float | None = None,
) -> Layout:
    """Boxes that do not overlap, in the largest type that fits.

    Children stand right of their parents; where that is too wide, below them, as in an outline; where neither fits,
    more nodes are folded.
    """
    n_seen = max_nodes
    while True:
        opened = shown_nodes(tree, n_seen, path)
        for most in (26, 18, 13):
            for outline in (False, True):
                font = LARGEST
                while font >= SMALLEST:
                    layout = _arrange(tree, opened, words, label, font, most, width, outline)
                    fits_across = width is None or layout.width <= width
                    if fits_across and (height is None or layout.height <= height):
                        return layout
                    font -= 0.5
        if n_seen <= 3 or not opened:  # nothing is left to fold
            return layout
        n_seen = max(3, min(n_seen - 1, int(0.8 * n_seen)))


def _arrange(
    tree: DrawnTree,
    opened: set[int],
    words: Words,
    label: Label,
    font: float,
    most: int,
    width: float | None,
    outline: bool,
) -> Layout:
    levels = 1 + max((int(tree.depth[node]) for node in opened), default=-1)
    root = _box(tree, 0, opened, "", label)
    boxes = root.all()
    gap = EDGE + max((text_width(box.edge, font - 1) for box in boxes), default=0.0)
    ends = [box for box in boxes if not box.children]
    leaf = 0.16 + max(text_width(box.lines[0], font) for box in ends)
    leaf = max(leaf, 0.5 + max(text_width(folded_note(box), font - 1.5) for box in ends))
    if width is None:
        room = 2.7
    else:
        room = width - (levels - 1) * gap if outline else (width - leaf - levels * gap) / max(levels, 1)
    columns = [0.0] * levels
    for box in boxes:
        if box.children:
            _write(box, tree, words, font, most, room)
            depth = int(tree.depth[box.node])
            columns[depth] = max(columns[depth], box.width)
    starts = [0.0]
    for column in columns:
        starts.append(starts[-1] + gap + (0.0 if outline else column))
    for box in boxes:
        box.x = starts[int(tree.depth[box.node])]
        if not box.children:
            box.width, box.height = leaf, 1.75 * font * LINE
    space = 0.35 * font * LINE
    bottom = _list(boxes, space) if outline else _stack(root, 0.0, space)
    return Layout(root, font, max(box.x + box.width for box in boxes), bottom, outline)


def _list(boxes: list[Box], space: float) -> float:
    """Boxes one below the other, children after their parents."""
    at = 0.0
    for box in boxes:
        box.y = at + box.height / 2
        at += box.height + space
    return at


def _box(tree: DrawnTree, node: int, opened: set[int], edge: str, label: Label) -> Box:
    if node not in opened:
        folded = sum(1 for _ in tree.below(node))
        return Box(node, [label(node)], edge, folded)
    box = Box(node, [], edge, 0)
    n_planes = len(tree.planes[node])
    for child in tree.cells(node):
        box.children.append(_box(tree, child, opened, cell_in_marks(tree.codes(child), n_planes, LETTERS), label))
    return box


def _write(box: Box, tree: DrawnTree, words: Words, font: float, most: int, room: float) -> None:
    """The planes of an inner node as lines of text, each marked by its letter where there are several."""
    several = len(tree.planes[box.node]) > 1
    box.lines = []
    for letter, plane in zip(LETTERS, words(box.node, most), strict=False):
        indent = f"{letter}  " if several else ""
        lines = wrap(plane, lambda line, indent=indent: text_width(indent + line, font) <= room - 0.12)
        box.lines += [(indent if number == 0 else " " * (2 * len(indent))) + line for number, line in enumerate(lines)]
    box.width = 0.12 + max(text_width(line, font) for line in box.lines)
    box.width = max(box.width, 0.75)
    box.height = (len(box.lines) + 1.15) * font * LINE


def _stack(box: Box, top: float, space: float) -> float:
    """Puts a box and all below it under `top`; returns where they end."""
    if not box.children:
        box.y = top + box.height / 2
        return top + box.height + space
    at = top
    for child in box.children:
        at = _stack(child, at, space)
    needed = top + box.height + space
    if at < needed:  # a tall box beside few cells: move these to its middle
        shift = (needed - at) / 2
        for below in box.all()[1:]:
            below.y += shift
        at = needed
    box.y = (box.children[0].y + box.children[-1].y) / 2
    # Its middle may not push it over the border.
    box.y = min(max(box.y, top + box.height / 2), at - space - box.height / 2)
    return at


def folded_note(box: Box) -> str:
    """What is said about nodes that are not shown."""
    return f"+{box.folded} node{'s' * (box.folded > 1)}" if box.folded else ""


def leaf_label(name: str, rows: str, most: int = 16) -> str:
    """Return what the box of a leaf says."""
    return f"{shorten(name, most)}  {rows}"
