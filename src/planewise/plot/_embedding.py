"""What a kernel makes of the rows, before and after its optimisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._tables import n_rows, take
from planewise.mcm.fitted import FittedKernel, fitted_kernel
from planewise.plot._components import KernelComponents, Numbers, PlainComponents
from planewise.plot._display import Display
from planewise.plot._points import draw_classes
from planewise.plot.style import (
    ACCENT,
    INK,
    Sizes,
    as_axes,
    class_handle,
    dress,
    key_of_figure,
    limits,
    new_axes,
    require_matplotlib,
)
from planewise.words import class_names as names_of_classes
from planewise.words import count, counted, number

TITLES = {"pca": "the data", "before": "the kernel", "after": "the kernel, optimised"}


@dataclass
class Panel:
    """One view of the rows: its name, their coordinates, and those of the cores and of the support vectors."""

    name: str
    train: Numbers
    test: Numbers | None
    cores: Numbers
    support: Numbers


@dataclass(repr=False)
class EmbeddingDisplay(Display):
    """The rows along two principal components: of the data, of the kernel, and of the optimised kernel.

    Training rows on the left, new rows on the right, support vectors ringed, cores of the conformal factor crossed.
    If the first rows are not the training rows, as in a report, the components are those of these rows, and rings show
    where the support vectors fall among them. Create it with :meth:`from_estimator`.

    Attributes
    ----------
    panels : list of Panel
        ``name`` ("pca", "before", "after"), ``train`` and ``test`` of shape (n_rows, 2), ``cores`` and ``support``.
    label, label_test : int arrays
        Classes of the rows, as places in `classes`.
    of_fit : bool
        Whether the first rows contain all support vectors in their places, and so are the training rows; False if
        there are no support vectors.
    separability : (float, float) or None
        Scatter between the classes over that within them, by the kernel before and after.
    n_rows : int
        Number of rows given; if there are more than `max_rows`, an evenly spread part is shown.
    figure_, axes_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from planewise import MCMClassifier
    >>> from planewise.plot import EmbeddingDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> machine = MCMClassifier(conformal="signed").fit(X[::2], y[::2])
    >>> display = EmbeddingDisplay.from_estimator(machine, X[::2], y[::2], X_test=X[1::2], y_test=y[1::2])
    >>> [panel.name for panel in display.panels]
    ['pca', 'before', 'after']
    >>> display = display.plot()  # doctest: +SKIP
    """

    panels: list[Panel]
    label: NDArray[np.intp]
    label_test: NDArray[np.intp] | None
    of_fit: bool
    classes: list[Any]
    class_names: list[str]
    separability: tuple[float, float] | None
    n_rows: int

    def _facts(self) -> str:
        return f"{counted(self.n_rows, 'row')} in {counted(len(self.panels), 'panel')}"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        X_test: Any = None,
        y_test: Any = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        max_rows: int = 1500,
    ) -> EmbeddingDisplay:
        """Embed rows by a fitted machine's kernel.

        Parameters
        ----------
        estimator : fitted MCMClassifier, MCMClassifierCV or ConformalKernel
            With a conformal kernel there are three panels, else two.
        X, y : table and class labels
            The training rows; other rows are labelled as rows only.
        X_test, y_test : table and class labels, default=None
            New rows, placed by the training rows' components.
        class_names : list or mapping, default=None
            Names in the order of ``classes_``, or {label: name}.
        max_rows : int, default=1500
            Maximum number of training (and of new) rows: the kernel matrix has one row and one column for each.
        """
        check_is_fitted(estimator)
        known = fitted_kernel(estimator)
        classes = list(estimator.classes_)
        total = n_rows(X)
        chosen = _spread(total, max_rows)
        rows = known.scale(take(X, chosen))
        vectors, of_fit = _support(estimator, known, X, total)
        label = _places(np.asarray(y), classes, "y")[chosen]
        others, label_test = None, None
        if X_test is not None:
            if y_test is None:
                raise ValueError("X_test was given without y_test; pass both.")
            some = _spread(n_rows(X_test), max_rows)
            others, label_test = known.scale(take(X_test, some)), _places(np.asarray(y_test), classes, "y_test")[some]
        views: list[tuple[str, Any]] = [
            ("pca", PlainComponents.of(rows)),
            ("before", KernelComponents.of(known.before, rows)),
        ]
        if known.after is not None:
            views.append(("after", KernelComponents.of(known.after, rows)))
        panels = [
            Panel(
                name, view(rows), None if others is None else view(others), _placed(view, known.cores),
                _placed(view, vectors),
            )
            for name, view in views
        ]  # fmt: skip
        return cls(
            panels, label, label_test, of_fit, classes, names_of_classes(classes, class_names), known.separability,
            total,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, with_key: bool = True) -> EmbeddingDisplay:
        """Draw it.

        Parameters
        ----------
        ax : as many matplotlib axes as panels, default=None
            Training and new rows in turn: "pca", "before", "after". None: a new figure.
        with_key : bool, default=True
        """
        require_matplotlib()
        columns = 1 if self.label_test is None else 2
        names = [f"{panel.name}, {part}" for panel in self.panels for part in ("train", "test")[:columns]]
        if ax is None:
            n = len(self.panels)
            grid = new_axes(n, 2, size=(6.6, 2.3 * n + 0.3)) if columns == 2 else new_axes(1, n, size=(3.1 * n, 2.9))
            axes = list(grid.ravel())
        else:
            axes = as_axes(ax, len(names), names)
        for at, panel in enumerate(self.panels):
            first = axes[columns * at]
            self._draw(first, panel, panel.train, self.label, new=False)
            if columns == 2:
                assert panel.test is not None and self.label_test is not None
                self._draw(axes[columns * at + 1], panel, panel.test, self.label_test, new=True)
        if with_key:
            self._draw_key(axes)
        self.figure_, self.axes_ = axes[0].get_figure(root=True), axes
        return self

    def _draw(self, ax: Any, panel: Panel, points: Numbers, label: NDArray[np.intp], new: bool) -> None:
        kind_of_rows = "training rows" if self.of_fit else "rows"
        what = "new rows" if new else kind_of_rows
        if not new and len(label) < self.n_rows:
            what = f"{count(len(label))} of {count(self.n_rows)} {kind_of_rows}"
        kind = "principal" if panel.name == "pca" else "kernel"
        sizes = dress(
            ax,
            f"1st {kind} component",
            f"2nd {kind} component",
            f"{TITLES[panel.name]}: {what}{self._how_apart(panel)}",
        )
        size = sizes.point * float(np.clip(np.sqrt(200 / max(len(points), 1)), 0.5, 1.2))
        draw_classes(ax, points[:, 0], points[:, 1], label, len(self.classes), size=size)
        everything = [panel.train, panel.support] if panel.test is None else [panel.train, panel.support, panel.test]
        ax.set_xlim(*limits(*(each[:, 0] for each in everything)))
        ax.set_ylim(*limits(*(each[:, 1] for each in everything)))
        ax.ticklabel_format(axis="both", scilimits=(-2, 3))
        if new:
            return
        ax.scatter(
            panel.support[:, 0], panel.support[:, 1], s=2.6 * size, facecolors="none", edgecolors=INK,
            linewidths=0.9 * sizes.line, zorder=5, gid="support vectors",
        )  # fmt: skip
        ax.scatter(
            panel.cores[:, 0], panel.cores[:, 1], s=1.6 * size, marker="x", c=ACCENT, linewidths=1.1 * sizes.line,
            zorder=6, gid="cores",
        )  # fmt: skip

    def _how_apart(self, panel: Panel) -> str:
        if self.separability is None or panel.name == "pca":
            return ""
        return f" ({number(self.separability[panel.name == 'after'], 3)})"

    def _draw_key(self, axes: list[Any]) -> None:
        from matplotlib.lines import Line2D

        size = 0.75 * Sizes.of(axes[0]).small
        handles: list[Any] = [class_handle(place, size) for place in range(len(self.classes))]
        labels = list(self.class_names)
        if n_vectors := len(self.panels[0].support):
            ring: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "color": INK, "linestyle": ""}
            handles.append(Line2D([], [], markersize=1.3 * size, **ring))
            labels.append(f"support vectors ({n_vectors})")
        n_cores = len(self.panels[-1].cores)
        if n_cores:
            handles.append(Line2D([], [], marker="x", color=ACCENT, linestyle="", markersize=size))
            labels.append(f"cores ({n_cores})")
        if self.separability is not None:
            handles.append(Line2D([], [], linestyle=""))
            labels.append("(scatter between / within classes)")
        key_of_figure(axes, handles, labels)


def _support(estimator: Any, known: FittedKernel, X: Any, total: int) -> tuple[Numbers, bool]:
    """The support vectors, scaled, and whether X contains them in the places they had in the fit."""
    places: Any = getattr(estimator, "support_", ())  # a ConformalKernel has none
    if len(places) == 0:
        return np.empty((0, 0)), False
    scaled = known.scale_numbers(estimator.support_vectors_)
    return scaled, bool(places.max() < total and np.allclose(known.scale(take(X, places)), scaled))


def _placed(view: Any, rows: Numbers) -> Numbers:
    return view(rows) if rows.size else np.empty((0, 2))


def _spread(n_all: int, most: int) -> NDArray[np.intp]:
    """Evenly spread places, at most so many."""
    return np.unique(np.linspace(0, n_all - 1, min(n_all, most)).astype(np.intp))


def _places(y: NDArray[Any], classes: list[Any], what: str) -> NDArray[np.intp]:
    place = {label: at for at, label in enumerate(classes)}
    unknown = [label for label in np.unique(y).tolist() if label not in place]
    if unknown:
        raise ValueError(f"{what} contains the class {unknown[0]!r}, which the model was not fitted on.")
    return np.array([place[label] for label in y.tolist()], dtype=np.intp)
