"""All views of a sum of views side by side: the whole model as one page of pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from planewise._text import counted, names_of_classes, percent, shorten
from planewise.plot.style import (
    GREY,
    INK,
    NUMBERS_MAP,
    Display,
    Sizes,
    as_axes,
    class_handle,
    colour,
    dress,
    key_of_figure,
    limits,
    marker,
    new_axes,
    plain,
    require_matplotlib,
    scale_bar,
)
from planewise.plot.surfaces import Surface, shaded_classes
from planewise.plot.view_data import MOST_LANES, Axis, Numbers, axes_of, rows_in

STEPS = 90
MOST_ROWS = 600


@dataclass
class ViewPanel:
    """One view: its score everywhere, rows, and perhaps a case."""

    axes: list[Axis]
    share: float  # of all scores
    ranges: list[tuple[float, float]]  # of places along each axis
    grid: list[Numbers]  # places along each axis
    score: Numbers  # points x outputs, or rows x points x outputs; rows of a picture go up
    rows: Numbers  # (n_rows, n_columns): places
    target: NDArray[Any]  # places among the classes, or numbers
    n_missing: int  # rows that lack a value
    cells: NDArray[np.intp] | None = None  # of two categories: rows by lane across, lane up and class
    case: Numbers | None = None  # its place
    case_score: Numbers | None = None
    border: Numbers | None = None  # where the answer of the whole model changes, other columns as in the case

    @property
    def name(self) -> str:
        return " × ".join(axis.name for axis in self.axes)


@dataclass(repr=False)
class ViewsDisplay(Display):
    """A sum of views, one panel per view: what `AdditiveClassifier` and `AdditiveRegressor` consist of.

    A view of two columns is shaded by what its own score speaks for, over the kept training rows; one of a single
    column is a curve, or bars for categories. With `case`, a star marks one row in each view, and a line shows where
    the answer of the whole model changes while the other columns stay as they are.

    Attributes
    ----------
    panels : list of ViewPanel
        What is drawn.
    class_names : list or None
        Names of the classes; None for numbers.
    figure_, axes_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import AdditiveClassifier
    >>> from planewise.plot import ViewsDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AdditiveClassifier(projections=[(0, 1), (2, 3)], random_state=0).fit(X, y)
    >>> display = ViewsDisplay.from_estimator(model)
    >>> len(display.panels)
    2
    >>> display = display.plot()  # doctest: +SKIP
    """

    panels: list[ViewPanel]
    class_names: list[str] | None

    def _facts(self) -> str:
        return f"{counted(len(self.panels), 'view')}: " + "; ".join(panel.name for panel in self.panels)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        case: Any = None,
        n_views: int | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        resolution: int = STEPS,
    ) -> ViewsDisplay:
        """The views of a fitted model.

        Parameters
        ----------
        estimator : fitted AdditiveClassifier or AdditiveRegressor
        case : ProjectionExplanation, default=None
            From ``explain`` of the same model: one row to mark in every view.
        n_views : int, default=None
            Maximum number of views: the most important ones or, with `case`, those that add most to its prediction,
            the first of them first. None: all views, as the model has them.
        class_names : list or mapping, default=None
            Names in the order of the sorted labels, or {label: name}.
        resolution : int, default=90
            Steps of the shading along each axis.
        """
        if not hasattr(estimator, "view_surface"):
            raise ValueError(
                f"ViewsDisplay draws AdditiveClassifier and AdditiveRegressor; got {type(estimator).__name__}. "
                "ProjectionDisplay draws the views of RECIP."
            )
        if not estimator.projections_:
            raise ValueError("The model has no view to draw: it knows one class only.")
        classes = getattr(estimator, "classes_", None)
        names = None if classes is None else names_of_classes(classes.tolist(), class_names)
        data = None if case is None else case.data()
        places = range(len(estimator.projections_))
        if n_views is not None:
            weight = estimator.projection_importance_ if data is None else _added(estimator, data)
            places = np.argsort(-np.abs(weight), kind="stable")[:n_views].tolist()
        return cls([_panel(estimator, place, data, resolution) for place in places], names)

    def plot(self, ax: Any = None, *, title: str = "", with_key: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes or an array of them, default=None
            One per view. None: a new figure.
        title : str, default=""
        with_key : bool, default=True
            Draw what colours and markers mean.

        Returns
        -------
        display : the display itself
            With ``figure_`` and ``axes_``, the figure and a list of axes.
        """
        require_matplotlib()
        if ax is None:
            columns = min(len(self.panels), 3)  # on a page, more would be hard to read
            rows = -(-len(self.panels) // columns)
            grid = new_axes(rows, columns, size=(3.3 * columns, 3.1 * rows))
            for spare in grid.ravel()[len(self.panels) :]:
                spare.set_axis_off()
            axes = list(grid.ravel()[: len(self.panels)])
        else:
            axes = as_axes(ax, len(self.panels), [panel.name for panel in self.panels])
        for one, panel in zip(axes, self.panels, strict=True):
            self._draw(one, panel)
        figure = axes[0].get_figure(root=True)
        if title:
            figure.suptitle(plain(title))
        if with_key:
            self._draw_key(axes)
        self.figure_, self.axes_ = figure, axes
        return self

    # ------------------------------------------------------------------------------------------------------ drawing
    def _draw(self, ax: Any, panel: ViewPanel) -> None:
        if len(panel.axes) == 1:
            self._draw_curve(ax, panel)
            names = panel.axes[0].name, self._score_name()
        else:
            self._draw_plane(ax, panel)
            names = panel.axes[0].name, panel.axes[1].name
        sizes = dress(ax, *names, f"{percent(panel.share)} of the scores")
        self._number_axes(ax, panel, sizes)

    def _score_name(self) -> str:
        if self.class_names is None or len(self.class_names) > 2:
            return "score"
        return f"score of {shorten(self.class_names[1], 20)}"

    def _draw_curve(self, ax: Any, panel: ViewPanel) -> None:
        """A score per value; one line for each of several classes."""
        at, score = panel.grid[0], panel.score
        for output in range(score.shape[1]):
            tint = colour(output) if score.shape[1] > 1 else INK
            if panel.axes[0].categories:
                ax.plot(at, score[:, output], linestyle="", marker="_", markersize=16, color=tint, markeredgewidth=2.2)
            else:
                ax.plot(at, score[:, output], color=tint, linewidth=1.4)
        ax.axhline(0, color=GREY, linewidth=0.7)
        known = panel.rows[np.isfinite(panel.rows[:, 0]), 0]
        ax.plot(known, np.full(len(known), 0.02), "|", color=GREY, alpha=0.35, transform=ax.get_xaxis_transform())
        ax.set_xlim(*panel.ranges[0])
        if panel.case is not None and panel.case_score is not None and np.isfinite(panel.case).all():
            ax.axvline(panel.case[0], color=INK, linewidth=0.8, linestyle=":")
            for each in panel.case_score:
                self._star(ax, panel.case[0], each)

    def _draw_plane(self, ax: Any, panel: ViewPanel) -> None:
        if self.class_names is None:
            shade: Any = {"X": panel.score[..., 0], "cmap": NUMBERS_MAP, "norm": self._norm(), "alpha": 0.75}
        else:
            flat = shaded_classes(panel.score.reshape(-1, panel.score.shape[-1]), len(self.class_names))
            shade = {"X": flat.reshape(*panel.score.shape[:2], 4)}
        edges = [_edges(axis, places) for axis, places in zip(panel.axes, panel.grid, strict=True)]
        ax.imshow(extent=(*edges[0], *edges[1]), origin="lower", aspect="auto", interpolation="nearest", **shade)
        if all(axis.categories for axis in panel.axes):
            self._count_cells(ax, panel)
        else:
            self._scatter(ax, panel)
        if panel.border is not None:
            pieces = np.pad(panel.border, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)  # one line with gaps
            ax.plot(*pieces.reshape(-1, 2).T, color=INK, linewidth=1.4, solid_capstyle="round")
        ax.set(xlim=edges[0], ylim=edges[1])
        if panel.case is not None and np.isfinite(panel.case).all():
            self._star(ax, *panel.case)

    def _star(self, ax: Any, x: float, y: float) -> None:
        ax.plot(x, y, "*", color="white", markeredgecolor=INK, markersize=12, markeredgewidth=1.1, zorder=6)

    def _scatter(self, ax: Any, panel: ViewPanel) -> None:
        if self.class_names is None:
            ax.scatter(*panel.rows.T, s=5, color=INK, alpha=0.35, linewidths=0)
            return
        for place in range(len(self.class_names)):
            mine = panel.rows[panel.target == place]
            ax.scatter(*mine.T, s=9, color=colour(place), marker=marker(place), alpha=0.6, linewidths=0)

    def _count_cells(self, ax: Any, panel: ViewPanel) -> None:
        """How many kept rows there are in each cell of two categories: of each class, or all."""
        assert panel.cells is not None
        for x, y in np.ndindex(panel.cells.shape[:2]):
            at = x * panel.axes[0].gap, y * panel.axes[1].gap
            words = "/".join(str(count) for count in panel.cells[x, y].tolist())
            ax.text(*at, words, ha="center", va="center", fontsize=6, color=INK)

    def _norm(self) -> Any:
        from matplotlib.colors import Normalize

        planes = [panel.score for panel in self.panels if len(panel.axes) > 1]
        return Normalize(float(min(each.min() for each in planes)), float(max(each.max() for each in planes)))

    def _number_axes(self, ax: Any, panel: ViewPanel, sizes: Sizes) -> None:
        """The user's numbers, or categories."""
        at, words = panel.axes[0].ticks(*panel.ranges[0], max(3, int(sizes.width * 1.6)))
        turned = {"rotation": 30, "ha": "right"} if panel.axes[0].categories else {}
        inside = at <= panel.ranges[0][1]  # categories without a lane have no tick
        ax.set_xticks(at[inside], [plain(word) for word, own in zip(words, inside, strict=True) if own], **turned)
        if len(panel.axes) > 1:
            at, words = panel.axes[1].ticks(*panel.ranges[1], max(3, int(sizes.height * 1.8)))
            inside = at <= panel.ranges[1][1]
            ax.set_yticks(at[inside], [plain(word) for word, own in zip(words, inside, strict=True) if own])

    def _draw_key(self, axes: list[Any]) -> None:
        from matplotlib.lines import Line2D

        size = 0.75 * Sizes.of(axes[0]).small
        handles: list[Any] = []
        labels: list[str] = []
        if self.class_names is None:
            if any(len(panel.axes) > 1 for panel in self.panels):
                scale_bar(axes, self._norm(), "score")
        else:
            handles += [class_handle(place, size) for place in range(len(self.class_names))]
            labels += self.class_names
        if any(panel.case is not None for panel in self.panels):
            handles.append(
                Line2D([], [], marker="*", color="white", markeredgecolor=INK, linestyle="", markersize=2 * size)
            )
            labels.append("this case")
            if any(panel.border is not None and len(panel.border) for panel in self.panels):
                handles.append(Line2D([], [], color=INK, linewidth=1.4))
                labels.append("the whole model's answer changes")
        if missing := max(panel.n_missing for panel in self.panels):
            handles.append(Line2D([], [], linestyle=""))
            labels.append(
                f"not drawn: {missing} rows with a missing value"
                if missing > 1
                else "not drawn: a row that lacks a value"
            )
        if handles:
            key_of_figure(axes, handles, labels)


def _added(model: Any, data: Mapping[str, Any]) -> list[float]:
    """Return what each view adds to the prediction of a case."""
    score = {tuple(each["columns"]): each["score"] for each in data["contributions"]}
    return [score.get(tuple(columns), 0.0) for columns in model.projections_]


def _edges(axis: Axis, places: Numbers) -> tuple[float, float]:
    half = (0.5 * axis.gap) if axis.categories else (places[1] - places[0]) / 2
    return float(places[0] - half), float(places[-1] + half)


def _panel(model: Any, place: int, data: Any, resolution: int) -> ViewPanel:
    known, columns = model.fitted_rows(), model.projections_[place]
    view = model.view_in_words(place)
    axes = [_with_few_lanes(axis, known.values) for axis in axes_of(view, _table_for_axes(model, known.values))]
    places = rows_in(axes, known.values) if len(known.target) else np.zeros((0, len(axes)))
    target = known.target
    if hasattr(model, "classes_"):
        target = np.searchsorted(model.classes_, target)
    ranges = [_range(axis, places[:, at]) for at, axis in enumerate(axes)]
    grid = [
        axis.gap * np.arange(len(axis.drawn or axis.categories), dtype=np.float64)
        if axis.categories
        else np.linspace(low, high, resolution)
        for axis, (low, high) in zip(axes, ranges, strict=True)
    ]
    surface = Surface(model.view_surface, axes, columns)
    points = np.column_stack([part.ravel() for part in np.meshgrid(*grid)])
    score = surface.own(points)
    score = score.reshape(len(grid[1]), len(grid[0]), -1) if len(axes) > 1 else score
    for at, axis in enumerate(axes):
        if axis.categories and not all(each.categories for each in axes):  # rows of a category side by side
            places[:, at] += 0.6 * axis.gap * (np.modf(np.arange(len(places)) * 0.6180339887)[0] - 0.5)
    for at, axis in enumerate(axes):
        if axis.drawn:
            places[axis.lanes_of(known.values[:, axis.column]) >= len(axis.drawn), at] = np.nan
    whole = np.isfinite(places).all(axis=1)
    some = np.flatnonzero(whole)
    some = some[np.linspace(0, len(some) - 1, min(MOST_ROWS, len(some))).astype(np.intp)]
    shares = model.projection_importance_ / (model.projection_importance_.sum() or 1.0)
    panel = ViewPanel(
        axes, float(shares[place]), ranges, grid, score, places[some], np.asarray(target)[some], int((~whole).sum())
    )
    if len(axes) > 1 and all(axis.categories for axis in axes):
        lanes = [np.round(places[whole, at] / axis.gap).astype(np.intp) for at, axis in enumerate(axes)]
        n_classes = len(model.classes_) if hasattr(model, "classes_") else 1
        panel.cells = np.zeros((len(grid[0]), len(grid[1]), n_classes), np.intp)
        labels = np.asarray(target)[whole] if n_classes > 1 else np.zeros(int(whole.sum()), np.intp)
        for x, y, label in zip(*lanes, labels, strict=True):
            panel.cells[x, y, label] += 1
    if data is not None:
        own = list(data["query"].values())
        used = sorted({column for each in model.projections_ for column in each})
        panel.case = np.array([axis.places([own[used.index(axis.column)]])[0] for axis in axes])
        values = [[own[used.index(column)]] for column in columns]
        panel.case_score = model.view_surface(place, values)[0][0]
        if len(axes) > 1 and hasattr(model, "classes_"):
            panel.border = surface.border(data, (*ranges[0], *ranges[1]))
    return panel


def _table_for_axes(model: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Rows that show all categories of the model, whether a kept row has them or not."""
    longest = max([len(values), *(len(each) for each in model.categories_.values())], default=0)
    table = np.full((longest, values.shape[1]), None, dtype=object)
    table[: len(values)] = values
    for column, known in model.categories_.items():
        table[: len(known), column] = known.tolist()
        table[len(known) :, column] = None
    return table


def _with_few_lanes(axis: Axis, values: NDArray[Any]) -> Axis:
    """At most so many categories as can be read: the most frequent ones."""
    if len(axis.categories) <= MOST_LANES:
        return axis
    return axis.with_lanes(Counter(str(value) for value in values[:, axis.column]), [])


def _range(axis: Axis, places: Numbers) -> tuple[float, float]:
    if axis.categories:
        return -0.5 * axis.gap, axis.gap * (len(axis.drawn or axis.categories) - 0.5)
    known = places[np.isfinite(places)]
    if not len(known):
        return -2.0, 2.0  # standard deviations about the mean
    return limits(known)
