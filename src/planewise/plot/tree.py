"""A tree of planes, drawn from its root on the left to its cells on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from planewise._text import count, counted, names_of_classes, number
from planewise.data.tables import n_rows
from planewise.data.values import Columns
from planewise.explain.planes import formula
from planewise.plot.style import (
    ACCENT,
    GREY,
    INK,
    NUMBERS_MAP,
    PALE,
    Display,
    Sizes,
    class_handle,
    colour,
    key,
    marker,
    new_axes,
    plain,
    require_matplotlib,
    settled,
    text_width,
    with_symbols,
)
from planewise.plot.tree_layout import LINE, Box, Layout, arrange, folded_note, leaf_label
from planewise.plot.trees import DrawnTree, drawn_tree, shown_nodes
from planewise.trees.arrays import tree_column_names, tree_rows

WIDEST = 10.0  # inches of a figure of our own


@dataclass(repr=False)
class TreeDisplay(Display):
    """One tree: planes as formulas in the data's units, the cells they make, and the rows in each.

    A node with several planes names them A, B, ...; its children say on which sides they are: ✓ where the formula
    holds, ✗ where it does not. Bars show the mix of classes (or, for numbers, where the value lies between the least
    and the largest), widths of lines the share of the rows. Create it with :meth:`from_estimator`.

    Attributes
    ----------
    tree : DrawnTree
        Planes, children, rows and values of every node.
    formulas : list of lists of str
        The formulas of every node's planes.
    mix : array of shape (n_nodes, n_classes) or None
        Shares of the classes; None where leaves hold numbers.
    counts : array of shape (n_nodes,)
        Rows in each node.
    columns : Columns
        Names, categories and kinds of the columns.
    class_names : list of str or None
    path : list of int
        The nodes that the highlighted row passes.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> from planewise.plot import TreeDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = SLMClassifier(random_state=0).fit(X, y)
    >>> display = TreeDisplay.from_estimator(tree, row=X.iloc[[0]])
    >>> len(display.path) == 2 and display.path[0] == 0
    True
    >>> display = display.plot()  # doctest: +SKIP
    """

    tree: DrawnTree
    columns: Columns
    class_names: list[str] | None
    mix: NDArray[np.float64] | None
    counts: NDArray[np.int64]
    path: list[int] = field(default_factory=list)

    def _facts(self) -> str:
        planes = self.tree.planes
        return f"{counted(sum(map(len, planes)), 'plane')}, {counted(sum(not each for each in planes), 'leaf')}"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        tree: int | None = None,
        row: Any = None,
        X: Any = None,
        y: Any = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
    ) -> TreeDisplay:
        """Read a fitted tree.

        Parameters
        ----------
        estimator : fitted tree, forest or boosting of planewise, or tree or forest of scikit-learn
        tree : int, default=None
            Which tree of an ensemble. None: the first. The trees of boosted classes add scores.
        row : table of one row, default=None
            The row whose path is highlighted.
        X, y : table and class labels, default=None
            Rows to count in the nodes instead of the training rows, such as new ones.
        feature_names : list of str, default=None
            Instead of the names the model was fitted with.
        class_names : list or mapping, default=None
            Names in the order of ``classes_``, or {label: name}.
        """
        drawn = drawn_tree(estimator, tree)
        which = 0 if tree is None else tree
        columns = Columns.of(estimator, tree_column_names(estimator, feature_names))
        drawn.value = value = _as_chances(estimator, drawn.value)
        labels = estimator.classes_ if _holds_chances(estimator, value) else None
        counts, mix = drawn.n_samples, None if labels is None else value
        if X is not None:
            counts, mix = _count_rows(estimator, drawn, which, X, y, labels)
        elif y is not None:
            raise ValueError("y was given without X; pass both to count other rows in the nodes.")
        path: list[int] = []
        if row is not None:
            if n_rows(row) != 1:
                raise ValueError(f"row must be a table of one row; got {n_rows(row)}.")
            path = drawn.path_to(int(_apply(estimator, row, which)[0]))
        return cls(
            drawn, columns, None if labels is None else names_of_classes(list(labels), class_names), mix,
            np.asarray(counts), path,
        )  # fmt: skip

    @property
    def formulas(self) -> list[list[str]]:
        """The formula of every plane of every node."""
        return [[" ".join(formula(plane, self.columns, 200)) for plane in planes] for planes in self.tree.planes]

    def shown(self, max_nodes: int = 30) -> list[int]:
        """The nodes in a picture of at most so many; the others are folded into the nearest one above them."""
        opened = shown_nodes(self.tree, max_nodes, self.path)
        return sorted({0, *(child for node in opened for child in self.tree.cells(node))})

    def plot(self, ax: Any = None, *, max_nodes: int = 30, title: str = "", with_key: bool = True) -> TreeDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure as large as the tree needs. In given axes type shrinks, and more nodes are folded, until
            all of it fits.
        max_nodes : int, default=30
            More nodes than this are folded, those with the fewest rows first; folded ones say how many they hold.
        title : str, default=""
        with_key : bool, default=True
            Draw which colour is which class.
        """
        require_matplotlib()
        if max_nodes < 1:
            raise ValueError(f"max_nodes must be at least 1; got {max_nodes}.")
        layout, given = None, ax is not None
        if ax is None:
            layout = self._arranged(max_nodes, None, None)
            if layout.width > WIDEST:
                layout = self._arranged(max_nodes, WIDEST, None)
            extra = 0.3 * (with_key and self.class_names is not None) + 0.3 * bool(title)
            ax = new_axes(size=(max(2.5, layout.width + 0.15), max(0.9, layout.height + extra)))[0, 0]
        ax.set_axis_off()
        sizes = Sizes.of(ax)
        if title:
            ax.set_title(plain(title), fontsize=sizes.font + 0.5, color=INK, loc="left")
        if with_key and self.class_names is not None:
            handles = [class_handle(place, 0.75 * sizes.small) for place in range(len(self.class_names))]
            labels = list(self.class_names)
            if any(len(planes) > 1 for planes in self.tree.planes):
                handles.append(class_handle(0, 0))
                labels.append("✓ holds, ✗ does not")
            for text in key(ax, handles, labels).get_texts():
                text.set_fontfamily(with_symbols())
        if layout is None:
            sizes = settled(ax)
            layout = self._arranged(max_nodes, sizes.width, sizes.height)
        # One unit is one inch, so that what was measured is what is drawn.
        spare = max(0.0, sizes.height - layout.height) if given else 0.0
        ax.set_xlim(-0.02, max(layout.width, sizes.width if given else 0.0) + 0.02)
        ax.set_ylim(layout.height + spare / 2, -spare / 2)
        self._draw_edges(ax, layout)
        for box in layout.root.all():
            self._draw_box(ax, box, layout)
        for text in ax.texts:  # what was measured may not push the axes smaller
            text.set_in_layout(False)
        self.figure_, self.ax_ = ax.get_figure(root=True), ax
        return self

    def _arranged(self, max_nodes: int, width: float | None, height: float | None) -> Layout:
        def words(node: int, most: int) -> list[list[str]]:
            return [formula(plane, self.columns, most) for plane in self.tree.planes[node]]

        return arrange(self.tree, words, self._label, max_nodes=max_nodes, path=self.path, width=width, height=height)

    def _label(self, node: int) -> str:
        """What a cell says: its class or number, and how many rows it has."""
        if self.mix is None or self.class_names is None:
            return leaf_label(number(self.tree.value[node, 0], 3), f"n {count(self.counts[node])}")
        return "    " + leaf_label(self.class_names[self._winner(node)], count(self.counts[node]))

    def _winner(self, node: int) -> int:
        """The class answered: by the model's own values, whatever rows are counted."""
        return int(self.tree.value[node].argmax())

    def _draw_edges(self, ax: Any, layout: Layout) -> None:
        from matplotlib.path import Path

        total = max(1, int(self.counts[0]))
        for box in layout.root.all():
            for child in box.children:
                on_path = child.node in self.path
                curve = Path(*_curve(box, child, layout.outline))
                share = self.counts[child.node] / total
                self._add_line(ax, curve, 0.5 + 2.5 * np.sqrt(share), on_path)
                ax.text(
                    child.x - 0.04, child.y - 0.02, child.edge, fontsize=layout.font - 1, ha="right", va="bottom",
                    fontfamily=with_symbols(),
                    color=ACCENT if on_path else INK, zorder=4,
                )  # fmt: skip

    @staticmethod
    def _add_line(ax: Any, curve: Any, width: float, on_path: bool) -> None:
        from matplotlib.patches import PathPatch

        look = {"edgecolor": ACCENT if on_path else PALE, "zorder": 2 if on_path else 1}
        ax.add_patch(PathPatch(curve, facecolor="none", linewidth=max(width, 1.4 * on_path), **look))

    def _draw_box(self, ax: Any, box: Box, layout: Layout) -> None:
        on_path = box.node in self.path
        step = layout.font * LINE
        top = box.y - box.height / 2
        if box.children:
            self._frame(ax, box, on_path)
            for place, line in enumerate(box.lines):
                ax.text(
                    box.x + 0.06, top + (place + 0.55) * step, plain_spaced(line), fontsize=layout.font, va="center",
                    ha="left", color=INK, zorder=5,
                )  # fmt: skip
            rows = f"n {count(self.counts[box.node])}"
            bar = top + (len(box.lines) + 0.45) * step
            ax.text(
                box.x + box.width - 0.06,
                bar,
                rows,
                fontsize=layout.font - 1.5,
                va="center",
                ha="right",
                color=GREY,
                zorder=5,
            )
            self._bar(
                ax, box.node, box.x + 0.06, bar, box.width - 0.2 - text_width(rows, layout.font - 1.5), 0.35 * step
            )
            return
        weight = "bold" if on_path else "normal"
        ax.text(
            box.x, top + 0.6 * step, plain_spaced(box.lines[0]), fontsize=layout.font, va="center", ha="left",
            color=ACCENT if on_path else INK, fontweight=weight, zorder=5,
        )  # fmt: skip
        if self.mix is not None:
            winner = self._winner(box.node)
            ax.scatter(
                [box.x + 0.55 * layout.font / 72], [top + 0.6 * step], marker=marker(winner), color=colour(winner),
                s=(0.75 * layout.font) ** 2, zorder=5, linewidths=0,
            )  # fmt: skip
        note = folded_note(box)
        room = min(box.width, 1.1) - 0.05
        if note:
            taken = text_width(note, layout.font - 1.5)
            room = min(room, box.width - 0.05 - taken)
            ax.text(
                box.x + room + 0.05, top + 1.4 * step, note, fontsize=layout.font - 1.5, va="center", ha="left",
                color=GREY, zorder=5,
            )  # fmt: skip
        self._bar(ax, box.node, box.x + 0.01, top + 1.4 * step, room, 0.35 * step)

    @staticmethod
    def _frame(ax: Any, box: Box, on_path: bool) -> None:
        from matplotlib.patches import FancyBboxPatch

        ax.add_patch(
            FancyBboxPatch(
                (box.x, box.y - box.height / 2),
                box.width,
                box.height,
                boxstyle="round,pad=0,rounding_size=0.04",
                facecolor="white",
                edgecolor=ACCENT if on_path else GREY,
                linewidth=1.4 if on_path else 0.6,
                zorder=3,
            )
        )

    def _bar(self, ax: Any, node: int, x: float, y: float, width: float, height: float) -> None:
        """The classes' shares side by side; or a mark between the least value and the largest."""
        from matplotlib.patches import Rectangle

        if width <= 0:
            return
        if self.mix is None:
            self._mark(ax, node, x, y, width, height)
            return
        share = self.mix[node] / max(self.mix[node].sum(), 1e-300)
        at = x
        for place, part in enumerate(share):
            if part > 0:
                ax.add_patch(
                    Rectangle((at, y - height / 2), part * width, height, facecolor=colour(place), edgecolor="white",
                              linewidth=0.3, zorder=5)
                )  # fmt: skip
                at += part * width

    def _mark(self, ax: Any, node: int, x: float, y: float, width: float, height: float) -> None:
        import matplotlib as mpl

        values = self.tree.value[:, 0]
        spread = float(values.max() - values.min())
        share = float(values[node] - values.min()) / spread if spread > 0 else 0.5
        ax.plot([x, x + width], [y, y], color=PALE, linewidth=1, zorder=4, solid_capstyle="butt")
        ax.scatter([x + share * width], [y], s=(72 * height * 1.6) ** 2, color=mpl.colormaps[NUMBERS_MAP](share),
                   zorder=5, linewidths=0.3, edgecolors=INK)  # fmt: skip


def _curve(box: Box, child: Box, outline: bool) -> tuple[list[tuple[float, float]], list[int]]:
    """The line to a child: out of the box's side, or below it in an outline."""
    end = (child.x - 0.02, child.y)
    if outline:
        start, corner = (box.x + 0.08, box.y + box.height / 2), (box.x + 0.08, child.y)
        return [start, (corner[0], corner[1] - 0.05), corner, (corner[0] + 0.05, corner[1]), end], [1, 2, 3, 3, 2]
    start, bend = (box.x + box.width, box.y), 0.05
    side = start[0] + bend
    return [start, (side, start[1]), (side, end[1]), (side + bend, end[1]), end], [1, 4, 4, 4, 2]


def plain_spaced(line: str) -> str:
    """Plain text that keeps the spaces in front."""
    kept = len(line) - len(line.lstrip())
    head, gap, rest = line[kept:].partition("  ")
    return " " * kept + plain(head) + gap + plain(rest)


def _as_chances(estimator: Any, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Forests of two classes keep the probability of the second only."""
    from planewise.trees.forest import SLMForestClassifier

    if isinstance(estimator, SLMForestClassifier) and value.shape[1] == 1 and len(estimator.classes_) == 2:
        return np.column_stack([1 - value, value])
    return value


def _holds_chances(estimator: Any, value: NDArray[np.float64]) -> bool:
    """Whether leaves hold probabilities: not the scores that boosting adds up."""
    boosted = hasattr(estimator, "learning_rate")
    return is_classifier(estimator) and not boosted and value.shape[1] == len(estimator.classes_)


def _apply(estimator: Any, X: Any, tree: int) -> NDArray[Any]:
    """The node of the drawn tree in which each row ends."""
    if not hasattr(estimator, "apply"):  # boosting
        return estimator.forest_.part(tree, tree + 1).apply(tree_rows(estimator, X))[:, 0]
    nodes = np.asarray(estimator.apply(X))
    return nodes if nodes.ndim == 1 else nodes.reshape(len(nodes), -1)[:, tree]


def _count_rows(
    estimator: Any, tree: DrawnTree, which: int, X: Any, y: Any, labels: Any
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Rows of X in every node, and the mix of their classes."""
    end = _apply(estimator, X, which)
    if labels is None:
        return _summed_up(tree, np.bincount(end, minlength=tree.n_nodes)[:, None])[:, 0], None
    if y is None:
        raise ValueError("X was given without y; pass both to count other rows in the nodes.")
    place = {label: at for at, label in enumerate(labels)}
    target = np.asarray(y).tolist()
    unknown = [label for label in target if label not in place]
    if unknown:
        raise ValueError(f"y contains the class {unknown[0]!r}, which the model was not fitted on.")
    counts = np.zeros((tree.n_nodes, len(labels)), dtype=np.int64)
    np.add.at(counts, (end, np.array([place[label] for label in target], dtype=np.intp)), 1)
    counts = _summed_up(tree, counts)
    return counts.sum(axis=1), counts.astype(np.float64)


def _summed_up(tree: DrawnTree, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    for node in range(tree.n_nodes - 1, 0, -1):
        counts[tree.parent[node]] += counts[node]
    return counts
