"""The view in which a query is decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._text import count, counted, names_of_classes, number, tidy
from planewise.data.tables import column_values, n_rows, take
from planewise.explain.projections import FittedRows
from planewise.plot.cell_grid import cell_size, draw_cells, lane_height, name_lanes_up
from planewise.plot.cells import CellGrid, Place, cell_grid, is_grid
from planewise.plot.points import draw_classes
from planewise.plot.style import (
    ACCENT,
    COLOURS,
    INK,
    Display,
    Sizes,
    as_axes,
    class_handle,
    colour,
    colours_rgb,
    dress,
    key_of_figure,
    limits,
    new_axes,
    plain,
    require_matplotlib,
)
from planewise.plot.view_data import (
    Axis,
    DecidingRows,
    Numbers,
    axes_of,
    drawn_axes,
    features_of,
    rows_in,
)

PANELS = ("view", "near")


@dataclass
class QueryInView:
    """One query: where it is, its answer, and its neighbours on both sides."""

    at: Numbers
    answer: Any
    supporting: Numbers
    opposing: Numbers
    undecided: bool = False
    cell: Place | None = None
    cells_near: dict[Place, int] = field(default_factory=dict)


@dataclass
class ViewOfRows:
    """A view with the rows in it.

    Attributes
    ----------
    axes : list of Axis
        Its features: names with units, and where values are drawn.
    rows : array of shape (n_rows, 2)
        Where the training rows are drawn; in a view of one feature the second spreads them over lanes.
    target : array
        Their classes, as places among the classes.
    grid_x, grid_y, ratio : arrays or None
        Eq. 9 on a grid, shape (len(grid_y), len(grid_x), n_classes).
    queries : array of shape (n_queries, 2)
        Queries decided here, with ``predicted`` and, where the truth is known, ``right``.
    one : QueryInView or None
        The one query that is explained.
    share : float
        Share of the queries that this view decided.
    grid : CellGrid or None
        The rows counted in cells, which are drawn instead of points, in a view of categories. ``one.cell`` is the
        query's cell, and ``one.cells_near`` counts the nearest rows in each; ``cells_asked`` says of many queries how
        many are in each, and how many of them are wrong.
    """

    axes: list[Axis]
    rows: Numbers
    target: NDArray[Any]
    grid_x: Numbers | None = None
    grid_y: Numbers | None = None
    ratio: Numbers | None = None
    queries: Numbers = field(default_factory=lambda: np.empty((0, 2)))
    predicted: list[Any] = field(default_factory=list)
    right: NDArray[np.bool_] | None = None
    one: QueryInView | None = None
    share: float = 1.0
    note: str = ""
    grid: CellGrid | None = None
    cells_asked: dict[Place, str] = field(default_factory=dict)


@dataclass(repr=False)
class ProjectionDisplay(Display):
    """RECIP's picture: a view with its training rows, and the queries that are decided in it.

    One query (:meth:`from_explanation`) is a star, its nearest rows on both sides are ringed and joined to it, and the
    ratio is shaded underneath: the stronger, the clearer the nearer class. Many queries (:meth:`from_estimator`) are
    rings in the views that decided them, correct ones and wrong ones in different colours. Distances in the picture are
    those the model measures, except in long tails, which are compressed; numbers on the axes are the user's.

    Attributes
    ----------
    views : list of ViewOfRows
        What is drawn, one panel each (two for one query: the whole view, and what is near).
    classes, class_names : list
        Labels and their names.
    figure_, axes_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import RECIPClassifier
    >>> from planewise.plot import ProjectionDisplay
    >>> iris = load_iris()
    >>> X, y = iris.data, iris.target_names[iris.target]
    >>> model = RECIPClassifier(random_state=0).fit(X[1:], y[1:])
    >>> explanation = model.explain(X[:1], feature_names=iris.feature_names)[0]
    >>> display = ProjectionDisplay.from_explanation(explanation, X[1:], y[1:])
    >>> str(display.views[0].one.answer)
    'setosa'
    >>> display = display.plot()  # doctest: +SKIP
    """

    views: list[ViewOfRows]
    classes: list[Any]
    class_names: list[str]

    def _facts(self) -> str:
        views = [" and ".join(axis.name for axis in view.axes) for view in self.views]
        n_queries = sum(len(view.queries) if view.one is None else 1 for view in self.views)
        return f"{counted(n_queries, 'case')} in {counted(len(views), 'view')}: {'; '.join(views)}"

    @classmethod
    def from_explanation(
        cls,
        explanation: Any,
        X: Any,
        y: Any,
        *,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        resolution: int = 90,
    ) -> ProjectionDisplay:
        """Draw one query's explanation.

        Parameters
        ----------
        explanation : ProjectionExplanation
            As ``explain`` of :class:`RECIPClassifier` returns it.
        X, y : table and targets of the rows the model was fitted on
            They are drawn. The shading comes from the model's own rows and weights.
        class_names : list or mapping, default=None
            Names in the order of the sorted labels, or {label: name}.
        resolution : int, default=90
            Steps of the shading along each axis.
        """
        data = explanation.data()
        if data["estimate"] == "score":
            raise ValueError("ProjectionDisplay draws explanations of RECIP; for sums of views, use ViewsDisplay.")
        if data["view"] is None:
            raise ValueError("No view could judge this query, so there is nothing to draw: " + _reasons(data))
        classes = [each["label"] for each in data["probabilities"]]
        near = [*data["neighbours"]["for"], *data["neighbours"]["against"]]
        view = _view(data["view"], X, y, classes, [data["query"], *(each["values"] for each in near)])
        view.one = _query(data, view.axes, classes)
        if is_grid(view.axes):
            view.grid = _grid_of(view, X, classes)
            _add_cells(view.one, view, data, near)
        if all(not axis.categories for axis in view.axes):
            _add_ratio(view, data, resolution, _deciding_rows(view, classes, explanation.model.fitted_rows()))
        return cls([view], classes, names_of_classes(classes, class_names))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        queries: Any,
        y_queries: Any = None,
        *,
        n_views: int = 2,
        max_queries: int = 500,
        feature_names: Sequence[str] | None = None,
        units: Any = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
    ) -> ProjectionDisplay:
        """Show many queries in the views that decided them.

        Parameters
        ----------
        estimator : fitted RECIPClassifier
        X, y : table and targets it was fitted on
        queries, y_queries : table, and the truth where it is known
        n_views : int, default=2
            Views to show: those that decided most queries.
        max_queries : int, default=500
            Of more queries an evenly spread part is looked at.
        feature_names, units
            As in ``explain``.
        class_names : list or mapping, default=None
        """
        total = n_rows(queries)
        chosen = np.unique(np.linspace(0, total - 1, min(total, max_queries)).astype(np.intp))
        told: dict[str, Any] = {"feature_names": feature_names, "units": units}
        given = {name: value for name, value in told.items() if value is not None}
        found = [each.data() for each in estimator.explain(take(queries, chosen), **given)]
        truth = None if y_queries is None else np.asarray(y_queries)[chosen]
        classes = list(estimator.classes_)
        used = Counter(tuple(data["view"]["columns"]) for data in found if data["view"] is not None)
        if not used:
            raise ValueError("No view could judge any of these queries, so there is nothing to draw.")
        views = []
        for columns, times in used.most_common(n_views):
            mine = [at for at, data in enumerate(found) if data["view"] and tuple(data["view"]["columns"]) == columns]
            view = _view(found[mine[0]]["view"], X, y, classes, [found[at]["query"] for at in mine])
            _add_queries(view, [found[at] for at in mine], None if truth is None else truth[mine], classes)
            if is_grid(view.axes):
                _add_asked(view, [found[at] for at in mine], X, classes)
            view.share = times / len(found)
            views.append(view)
        return cls(views, classes, names_of_classes(classes, class_names))

    def plot(self, ax: Any = None, *, panels: Sequence[str] | None = None, with_key: bool = True) -> ProjectionDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, or as many as panels; default=None
            None: a new figure.
        panels : list, default=None
            For one query: of "view" (the whole of it) and "near" (the query's surroundings). None: both in a figure of
            its own, or the first in one given axes.
        with_key : bool, default=True
        """
        require_matplotlib()
        one = self.views[0].one is not None
        if panels is None:
            several = np.size(np.asarray(ax, dtype=object)) > 1 if ax is not None else self.views[0].grid is None
            panels = PANELS if one and several else PANELS[:1]
        if bad := [panel for panel in panels if panel not in PANELS]:
            raise ValueError(f"panels may hold 'view' and 'near'; got {bad[0]!r}.")
        if not one and "near" in panels:
            raise ValueError("The panel 'near' shows one query; make the display by from_explanation.")
        drawn = [(view, panel) for view in self.views for panel in panels]
        names = [f"{'/'.join(axis.name for axis in view.axes)}, {panel}" for view, panel in drawn]
        axes = (
            list(new_axes(1, len(drawn), size=self._size(len(drawn)))[0])
            if ax is None
            else as_axes(ax, len(drawn), names)
        )
        for one_ax, (view, panel) in zip(axes, drawn, strict=True):
            self._draw(one_ax, view, near=panel == "near")
        if with_key:
            self._draw_key(axes)
        self.figure_, self.axes_ = axes[0].get_figure(root=True), axes
        return self

    def _size(self, n_panels: int) -> tuple[float, float]:
        """Inches of a new figure: names of categories need room."""
        wide = 0.72 if self.views[0].one is not None else 1.0  # a lane, for what is said of its cells
        grids = [cell_size(view.grid, wide) for view in self.views if view.grid is not None]
        lanes = [view.axes[1].lanes for view in self.views if len(view.axes) > 1 and view.axes[1].categories]
        if len(grids) == len(self.views):
            width, height = (max(sides) for sides in zip(*grids, strict=True))
            return n_panels * width, height
        height = max(
            [1.2 + len(names) * lane_height(names, 7) for names in lanes] + [each[1] for each in grids] + [3.6]
        )
        width = max([4.2 if lanes else 3.5] + [each[0] for each in grids])
        return max(4.2, width * n_panels), height

    def _draw_grid(self, ax: Any, view: ViewOfRows, grid: CellGrid, near: bool) -> None:
        sizes = dress(ax, "" if grid.across is None else grid.across.name, grid.down.name, self._title(view, near))
        own, star, badges = None, "white", view.cells_asked
        if view.one is not None:
            own, badges = view.one.cell, {at: f"{count(n)} nearest" for at, n in view.one.cells_near.items()}
            star = colour(self.classes.index(view.one.answer))
        draw_cells(ax, grid, sizes, own=own, badges=badges, star=star, close_up=near)

    def _draw(self, ax: Any, view: ViewOfRows, near: bool) -> None:
        if view.grid is not None:
            self._draw_grid(ax, view, view.grid, near)
            return
        second = view.axes[1].name if len(view.axes) > 1 else ""
        sizes = dress(ax, view.axes[0].name, second, self._title(view, near))
        box = _surroundings(view) if near else _extent(view)
        self._shade(ax, view)
        finite = np.isfinite(view.rows).all(axis=1)
        x, y, target = view.rows[finite, 0], view.rows[finite, 1], view.target[finite]
        size = sizes.point * float(np.clip(np.sqrt(200 / max(len(x), 1)), 0.3, 1.0)) * (1.8 if near else 1)
        faint = 0.85 if view.one is not None else 0.45
        draw_classes(ax, x, y, target.astype(np.intp), len(self.classes), size=size, alpha=faint)
        self._draw_queries(ax, view, sizes)
        if view.one is not None:
            self._draw_one(ax, view.one, sizes)
        ax.set_xlim(box[0], box[1])
        ax.set_ylim(box[2], box[3])
        self._number_axes(ax, view, box, sizes)

    def _title(self, view: ViewOfRows, near: bool) -> str:
        if view.one is None:
            return f"decides {number(100 * view.share, 3)}% of the queries{view.note}"
        if near:
            return "around it"
        name = self.class_names[self.classes.index(view.one.answer)]
        sure = ", undecided" if view.one.undecided else ""
        return f"answer: {name}{sure}{view.note}"

    def _shade(self, ax: Any, view: ViewOfRows) -> None:
        """The nearer class everywhere, the stronger the smaller its ratio."""
        if view.ratio is None:
            return
        assert view.grid_x is not None and view.grid_y is not None
        winner, least = view.ratio.argmin(axis=2), view.ratio.min(axis=2)
        strength = 0.42 * np.clip(1 - least, 0, 1)[..., None]
        image = 1 - strength * (1 - colours_rgb(len(self.classes))[winner])
        ax.imshow(
            image, extent=(view.grid_x[0], view.grid_x[-1], view.grid_y[0], view.grid_y[-1]), origin="lower",
            aspect="auto", interpolation="bilinear", zorder=0,
        )  # fmt: skip

    def _draw_queries(self, ax: Any, view: ViewOfRows, sizes: Sizes) -> None:
        if not len(view.queries):
            return
        right = np.ones(len(view.queries), dtype=bool) if view.right is None else view.right
        tint = INK if view.right is None else COLOURS[2]
        size = 1.6 * sizes.point * float(np.clip(np.sqrt(80 / len(view.queries)), 0.4, 1.0))
        for chosen, edge, shape, gid in ((right, tint, "o", "right"), (~right, ACCENT, "s", "wrong")):
            ax.scatter(
                view.queries[chosen, 0], view.queries[chosen, 1], s=size, facecolors="none", edgecolors=edge,
                marker=shape, linewidths=1.1 * sizes.line, zorder=5, gid=gid,
            )  # fmt: skip

    def _draw_one(self, ax: Any, query: QueryInView, sizes: Sizes) -> None:
        for side, style, gid in ((query.supporting, "-", "for"), (query.opposing, ":", "against")):
            for point in side:
                ax.plot(*zip(query.at, point, strict=True), color=INK, linestyle=style, linewidth=1.2 * sizes.line,
                        zorder=5)  # fmt: skip
            ax.scatter(
                side[:, 0], side[:, 1], s=3.2 * sizes.point, facecolors="none", edgecolors=INK, zorder=6,
                linewidths=1.2 * sizes.line, linestyle="-" if gid == "for" else (0, (1.5, 1)), gid=gid,
            )  # fmt: skip
        ax.scatter(
            [query.at[0]], [query.at[1]], marker="*", s=6 * sizes.point,
            color=colour(self.classes.index(query.answer)), edgecolors=INK,
            linewidths=0.8 * sizes.line, zorder=7, gid="query",
        )  # fmt: skip

    def _number_axes(self, ax: Any, view: ViewOfRows, box: tuple[float, ...], sizes: Sizes) -> None:
        """The user's numbers at the model's coordinates."""
        at, words = view.axes[0].ticks(box[0], box[1], max(3, int(sizes.width * 1.6)))
        ax.set_xticks(at, [plain(word) for word in words])
        if len(view.axes) > 1:
            at, words = view.axes[1].ticks(box[2], box[3], max(3, int(sizes.height * 1.8)))
            if view.axes[1].categories:
                inside = [place for place in range(len(at)) if box[2] <= at[place] <= box[3]]
                lane = 0.95 * sizes.height * view.axes[1].gap / (box[3] - box[2])
                name_lanes_up(ax, at[inside].tolist(), [words[place] for place in inside], sizes.small, lane)
            else:
                ax.set_yticks(at, [plain(word) for word in words])
        else:
            ax.set_yticks(range(len(self.class_names)), [plain(name) for name in self.class_names])

    def _draw_key(self, axes: list[Any]) -> None:
        from matplotlib.lines import Line2D

        size = 0.75 * Sizes.of(axes[0]).small
        handles: list[Any] = [class_handle(place, size) for place in range(len(self.class_names))]
        labels = [*self.class_names]
        ring: dict[str, Any] = {"markerfacecolor": "none", "markersize": 1.3 * size}
        if self.views[0].one is not None:
            star = Line2D([], [], marker="*", color="white", markeredgecolor=INK, linestyle="", markersize=2 * size)
            handles.append(star)
            labels.append("the query")
            if self.views[0].grid is None:
                handles.append(Line2D([], [], marker="o", color=INK, linestyle="-", **ring))
                labels.append("nearest of its class")
            if len(self.views[0].one.opposing) and self.views[0].grid is None:
                handles.append(Line2D([], [], marker="o", color=INK, linestyle=":", **ring))
                labels.append("nearest of the others")
        elif any(view.grid is None for view in self.views):  # cells say it in words
            known = any(view.right is not None for view in self.views)
            handles.append(Line2D([], [], marker="o", color=COLOURS[2] if known else INK, linestyle="", **ring))
            labels.append("query, right" if known else "query")
            if known:
                handles.append(Line2D([], [], marker="s", color=ACCENT, linestyle="", **ring))
                labels.append("query, wrong")
        key_of_figure(axes, handles, labels)


def _view(view: Mapping[str, Any], X: Any, y: Any, classes: list[Any], cases: list[Any]) -> ViewOfRows:
    """The rows in a view; of three features the first two are drawn, of many categories those of the cases first."""
    axes = drawn_axes(axes_of(view, X), X, view, cases)
    target = np.asarray(y)
    if len(target) != n_rows(X):
        raise ValueError(f"y has {len(target)} values for {n_rows(X)} rows.")
    place = {label: at for at, label in enumerate(classes)}
    unknown = [label for label in np.unique(target).tolist() if label not in place]
    if unknown:
        raise ValueError(f"y contains the class {unknown[0]!r}, which the model was not fitted on.")
    target = np.array([place[label] for label in target.tolist()], dtype=np.intp)
    rows = rows_in(axes, X)
    if len(axes) == 1:
        rows = np.column_stack([rows[:, 0], _lanes(target)])
    made = ViewOfRows(axes[:2], rows, target)
    if len(axes) > 2:
        made.note = f" (and {', '.join(axis.name for axis in axes[2:])})"
    return made


def _lanes(target: NDArray[Any]) -> Numbers:
    """Heights for rows that have one coordinate: one lane per class, rows spread over it."""
    spread = np.modf(np.arange(len(target)) * 0.6180339887)[0] - 0.5
    return target + 0.6 * spread


def _query(data: Mapping[str, Any], axes: Sequence[Axis], classes: list[Any]) -> QueryInView:
    answer = data["prediction"]
    lane = float(classes.index(answer))
    supporting, opposing = (data["neighbours"][side] for side in ("for", "against"))
    at = _points([data["query"]], data, axes, [lane])[0]
    against = [float(classes.index(each["label"])) for each in opposing]
    return QueryInView(
        at, answer,
        _points([each["values"] for each in supporting], data, axes, [lane] * len(supporting)),
        _points([each["values"] for each in opposing], data, axes, against),
        bool(data["undecided"]),
    )  # fmt: skip


def _points(
    values: Sequence[Mapping[str, Any]], data: Mapping[str, Any], axes: Sequence[Axis], lanes: Sequence[float]
) -> Numbers:
    """Coordinates of rows given by the names of their features."""
    if not values:
        return np.empty((0, 2))
    names = features_of(axes, data["view"])
    columns = [axis.places([row[name] for row in values]) for axis, name in zip(axes, names, strict=False)]
    return np.column_stack([*columns, lanes]) if len(columns) == 1 else np.column_stack(columns)


def _grid_of(view: ViewOfRows, X: Any, classes: list[Any]) -> CellGrid:
    columns = [np.asarray(column_values(X, axis.column)) for axis in view.axes]
    return cell_grid(view.axes, columns, view.target, len(classes))


def _add_asked(view: ViewOfRows, found: Sequence[Any], X: Any, classes: list[Any]) -> None:
    """Count the queries in the cells of a view of categories, and those that are wrong where the truth is known."""
    view.grid = _grid_of(view, X, classes)
    names = features_of(view.axes, found[0]["view"])
    asked: Counter[Place] = Counter()
    wrong: Counter[Place] = Counter()
    for at, data in enumerate(found):
        values = {axis.column: data["query"][name] for axis, name in zip(view.axes, names, strict=True)}
        place = view.grid.place_of(values)
        if place is not None:
            asked[place] += 1
            wrong[place] += 0 if view.right is None else int(not view.right[at])
    view.cells_asked = {
        place: ("1 query" if n == 1 else f"{count(n)} queries")
        + (f", {count(wrong[place])} wrong" if wrong[place] else "")
        for place, n in asked.items()
    }


def _add_cells(one: QueryInView, view: ViewOfRows, data: Mapping[str, Any], near: Sequence[Mapping[str, Any]]) -> None:
    """Where the query and its nearest rows are in the grid."""
    assert view.grid is not None
    names = features_of(view.axes, data["view"])

    def place_of(values: Mapping[str, Any]) -> Place | None:
        assert view.grid is not None
        return view.grid.place_of({axis.column: values[name] for axis, name in zip(view.axes, names, strict=True)})

    one.cell = place_of(data["query"])
    for each in near:
        at = place_of(each["values"])
        if at is not None:
            one.cells_near[at] = one.cells_near.get(at, 0) + len(each["rows"])


def _add_queries(view: ViewOfRows, found: list[Any], truth: NDArray[Any] | None, classes: list[Any]) -> None:
    places = [_query(data, view.axes, classes) for data in found]
    view.queries = np.array([query.at for query in places])
    view.predicted = [query.answer for query in places]
    if truth is not None:
        view.right = np.array([a == b for a, b in zip(view.predicted, truth.tolist(), strict=True)])


def _deciding_rows(view: ViewOfRows, classes: list[Any], known: FittedRows) -> DecidingRows:
    """Return the training rows as the model counts them."""
    place = {label: at for at, label in enumerate(classes)}
    label = np.array([place[each] for each in known.target.tolist()], dtype=np.intp)
    return DecidingRows(view.axes, rows_in(view.axes, known.values), label, known.weight, len(classes))


def _add_ratio(view: ViewOfRows, data: Mapping[str, Any], resolution: int, rows: DecidingRows) -> None:
    """The ratio on a grid."""
    box = _extent(view)
    view.grid_x, view.grid_y = np.linspace(box[0], box[1], resolution), np.linspace(box[2], box[3], resolution)
    dimension = len(data["view"]["features"])
    if dimension > 2:
        return  # a plane through rows that lie all around it would say little
    if dimension == 1:
        view.ratio = np.repeat(rows.ratios_at(data, view.grid_x[:, None])[None], resolution, axis=0)
        return
    grid = np.column_stack([part.ravel() for part in np.meshgrid(view.grid_x, view.grid_y)])
    view.ratio = rows.ratios_at(data, grid).reshape(resolution, resolution, rows.n_classes)


def _extent(view: ViewOfRows) -> tuple[float, float, float, float]:
    points = [view.rows, view.queries] + ([view.one.at[None]] if view.one is not None else [])
    across, up = (limits(*(each[:, at] for each in points)) for at in range(2))
    if len(view.axes) > 1 and view.axes[1].categories:
        up = -0.5 * view.axes[1].gap, (len(view.axes[1].lanes) - 0.5) * view.axes[1].gap
    return *across, *up


def _surroundings(view: ViewOfRows) -> tuple[float, float, float, float]:
    """A box around the query that holds its neighbours with room to spare, a fraction of the view at least."""
    assert view.one is not None
    whole = _extent(view)
    around = np.concatenate([view.one.at[None], view.one.supporting, view.one.opposing])
    reach = np.abs(around - view.one.at).max(axis=0)
    least = 0.06 * np.array([whole[1] - whole[0], whole[3] - whole[2]])
    across, up = np.maximum(1.6 * reach, least)
    if len(view.axes) == 1:
        return float(view.one.at[0] - across), float(view.one.at[0] + across), whole[2], whole[3]
    x, y = view.one.at
    return float(x - across), float(x + across), float(y - up), float(y + up)


def _reasons(data: Mapping[str, Any]) -> str:
    return tidy("; ".join(data["reasons"])) + "."
