"""The cells of a model in a plane of two features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from planewise._text import counted, find_feature, names_of_classes, number, with_unit
from planewise._text import feature_names as names_of_features
from planewise.data.tables import numeric_column, rows_like, usual_row
from planewise.data.values import ValueKind, kinds_of
from planewise.explain.describe import require_no_offset, require_no_ranking
from planewise.plot.cuts import Cell, Cut, cut_plane
from planewise.plot.date_ticks import ticks_of_kind
from planewise.plot.points import draw_classes, draw_numbers
from planewise.plot.style import (
    INK,
    NUMBERS_MAP,
    Display,
    Sizes,
    as_axes,
    class_handle,
    colour,
    colours_rgb,
    dress,
    key,
    key_of_figure,
    limits,
    new_axes,
    plain,
    require_matplotlib,
    scale_bar,
    shade,
)
from planewise.plot.trees import DrawnTree, drawn_tree, has_cuts

Numbers = NDArray[np.float64]
PANELS = ("cells", "train", "test", "prediction")
TITLES = {"train": "training rows", "test": "new rows: truth", "prediction": "new rows: predicted"}
MOST_WRONG = 2000  # mistakes ringed one by one


@dataclass
class Rows:
    """Rows in the picture: where they are, their target (class number, or number), and what the model says."""

    x: Numbers
    y: Numbers
    target: NDArray[Any] | None
    predicted: NDArray[Any] | None = None

    def in_sight(self) -> NDArray[np.bool_]:
        return np.isfinite(self.x) & np.isfinite(self.y)


@dataclass(repr=False)
class PartitionDisplay(Display):
    """Predictions of a model in a plane of two features, with the lines that cut the plane.

    For any classifier or regressor, of planewise or with scikit-learn's API. Single trees are drawn exactly, by the
    polygons of their cells; other models on a grid. Create it with :meth:`from_estimator`.

    Attributes
    ----------
    features : tuple of two ints
        The columns on the axes.
    names : list of str
        Names on the axes, with units.
    still : list
        The values at which the other features are held.
    grid_x, grid_y : arrays of shape (resolution,)
        Where the model was evaluated.
    response : array of shape (resolution, resolution)
        Its predictions, rows along y: indices into ``classes_``, or numbers.
    confidence : array of the same shape or None
        The probability of the predicted class, if the model gives probabilities.
    tree : DrawnTree or None
        The tree, if the model is a single one.
    cells : list of Cell
        Its cells: a node and the corners of a polygon.
    cuts : list of Cut
        Its cutting lines: a node, the number of its plane, and two ends.
    train, test : Rows or None
        The rows: ``x``, ``y``, ``target`` and ``predicted``.
    classes, class_names : list or None
        Labels and their names; None for a regressor.
    kinds : pair
        What the numbers on the axes stand for: dates or booleans of a table's model; else None.
    figure_, axes_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from planewise import SLMClassifier
    >>> from sklearn.datasets import make_moons
    >>> from planewise.plot import PartitionDisplay
    >>> X, y = make_moons(1000, noise=0.3, random_state=0)
    >>> tree = SLMClassifier(random_state=0).fit(X[:600], y[:600])
    >>> display = PartitionDisplay.from_estimator(tree, X[:600], y[:600], X_test=X[600:], y_test=y[600:])
    >>> len(display.cuts) >= tree.n_planes_
    True
    >>> display = display.plot()  # doctest: +SKIP
    """

    features: tuple[int, int]
    names: list[str]
    still: list[Any]
    grid_x: Numbers
    grid_y: Numbers
    response: NDArray[Any]
    confidence: Numbers | None
    tree: DrawnTree | None
    cells: list[Cell]
    cuts: list[Cut]
    train: Rows
    test: Rows | None
    classes: list[Any] | None
    class_names: list[str] | None
    target_name: str = ""
    note: str = ""
    kinds: tuple[ValueKind | None, ValueKind | None] = (None, None)

    def _facts(self) -> str:
        n_rows = len(self.train.x) + (0 if self.test is None else len(self.test.x))
        return f"{self.names[0]} and {self.names[1]}, {counted(n_rows, 'row')}"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        features: tuple[Any, Any] = (0, 1),
        at: Sequence[Any] | None = None,
        resolution: int = 200,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | Mapping[Any, str] | None = None,
        units: Mapping[str, str] | None = None,
        target_name: str | None = None,
    ) -> PartitionDisplay:
        """Evaluate a fitted model in the plane.

        Parameters
        ----------
        estimator : fitted classifier or regressor
        X, y : table and targets
            Rows to show, usually the training rows; they also determine the range of the axes.
        X_test, y_test : table and targets, default=None
            New rows, for the panels "test" and "prediction".
        features : pair of names or places, default=(0, 1)
            The columns on the axes, which must hold numbers.
        at : row or None, default=None
            The values at which the other features are held. None: medians, and the most frequent category.
        resolution : int, default=200
            Steps of the grid along each axis.
        feature_names : list of str, default=None
            Instead of the names the model was fitted with.
        class_names : list or mapping, default=None
            Names in the order of ``classes_``, or {label: name}.
        units : mapping, default=None
            {name of a feature: its unit}, written on the axes.
        target_name : str, default=None
            What a regressor predicts, for its scale. None: the name of y, where it has one.
        """
        check_is_fitted(estimator)
        if y is not None or y_test is not None:  # targets are shown on the scale of the predictions
            require_no_offset(estimator, "PartitionDisplay with targets")
            require_no_ranking(estimator, "PartitionDisplay with targets")
        names = names_of_features(estimator, feature_names)
        if len(names) < 2:
            raise ValueError("A plane needs two features; this model has one.")
        if not isinstance(resolution, (int, np.integer)) or resolution < 2:
            raise ValueError(f"resolution must be an integer of at least 2; got {resolution!r}.")
        across, up = (find_feature(feature, names) for feature in features)
        if across == up:
            raise ValueError(f"features must name two different features; got {names[across]!r} twice.")
        classes = list(estimator.classes_) if is_classifier(estimator) else None
        train = _rows(X, y, across, up, names, classes, "y")
        test = None if X_test is None else _rows(X_test, y_test, across, up, names, classes, "y_test")
        if test is not None:
            test.predicted = _numbered(estimator.predict(X_test), classes, "predictions")
        shown = [train] if test is None else [train, test]
        grid_x = np.linspace(*limits(*(rows.x for rows in shown)), resolution)
        grid_y = np.linspace(*limits(*(rows.y for rows in shown)), resolution)
        still = usual_row(X) if at is None else _checked_row(at, len(names))
        response, confidence = _ask(estimator, X, still, (across, up), grid_x, grid_y, classes)
        tree = drawn_tree(estimator) if has_cuts(estimator) else None
        box = (grid_x[0], grid_x[-1], grid_y[0], grid_y[-1])
        codes = _coded(estimator, still)
        cells, cuts = cut_plane(tree, (across, up), codes, box) if tree is not None else ([], [])
        others = len(names) - 2
        held = "medians" if at is None else "given values"
        note = f" ({others} other feature{'s' * (others > 1)} held at their {held})" if others else ""
        return cls(
            (across, up), [with_unit(names[across], units), with_unit(names[up], units)], still, grid_x, grid_y,
            response, confidence, tree, cells, cuts, train, test, classes,
            None if classes is None else names_of_classes(classes, class_names),
            target_name or str(getattr(y, "name", None) or ""), note.strip(),
            (kinds_of(estimator).get(across), kinds_of(estimator).get(up)),
        )  # fmt: skip

    def plot(
        self,
        ax: Any = None,
        *,
        panels: Sequence[str] | None = None,
        lines: bool = True,
        with_key: bool = True,
        title: str | None = None,
    ) -> PartitionDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, or as many as panels; default=None
            None: a new figure.
        panels : list, default=None
            Of "cells" (the answers, the lines and the training rows), "train" (training rows by their true class),
            "test" (new rows by their true class) and "prediction" (new rows by their predicted class over the answers,
            wrong ones ringed). None: the last three where there are new rows and ax is not one axes; else "cells".
        lines : bool, default=True
            Draw the cutting lines of a tree.
        with_key : bool, default=True
            Draw what colours and markers mean.
        title : str, default=None
            Instead of the first panel's own.
        """
        require_matplotlib()
        several = self.test is not None and (ax is None or np.size(np.asarray(ax, dtype=object)) == 3)
        chosen = tuple(panels) if panels is not None else (PANELS[1:] if several else PANELS[:1])
        self._check_panels(chosen)
        if ax is None:
            axes = list(new_axes(1, len(chosen), size=(4.6 if len(chosen) == 1 else 2.9 * len(chosen), 3.6))[0])
        else:
            axes = as_axes(ax, len(chosen), chosen)
        for place, (one, panel) in enumerate(zip(axes, chosen, strict=True)):
            heading = title if title is not None and place == 0 else TITLES.get(panel, "")
            self._draw(one, panel, lines, heading, y_name=place == 0)
        if self.note:
            middle = axes[len(axes) // 2]
            sizes = Sizes.of(middle)
            middle.set_xlabel(f"{middle.get_xlabel()}\n{plain(self.note)}", fontsize=sizes.font)
        if with_key:
            self._draw_key(axes)
        self.figure_, self.axes_ = axes[0].get_figure(root=True), axes
        return self

    def _check_panels(self, panels: tuple[str, ...]) -> None:
        for panel in panels:
            if panel not in PANELS:
                raise ValueError(f"panels may hold {', '.join(map(repr, PANELS))}; got {panel!r}.")
            if panel in ("test", "prediction") and self.test is None:
                raise ValueError(f"The panel {panel!r} needs new rows: pass X_test (and y_test) to from_estimator.")

    def _draw(self, ax: Any, panel: str, lines: bool, title: str, y_name: bool) -> None:
        sizes = dress(ax, self.names[0], self.names[1], title)
        if not y_name:  # the same as beside it
            ax.set_ylabel("")
            ax.tick_params(labelleft=False)
        ax.set_xlim(self.grid_x[0], self.grid_x[-1])
        ax.set_ylim(self.grid_y[0], self.grid_y[-1])
        if panel in ("cells", "prediction"):
            self._draw_answers(ax)
            if lines:
                self._draw_cuts(ax, sizes)
        rows = self.train if panel in ("cells", "train") else self.test
        assert rows is not None
        self._draw_rows(ax, rows, rows.predicted if panel == "prediction" else rows.target, sizes)
        if panel == "prediction" and self.classes is not None:
            self._ring_mistakes(ax, rows, sizes)
        ax.set_xlim(self.grid_x[0], self.grid_x[-1])
        ax.set_ylim(self.grid_y[0], self.grid_y[-1])
        for kind, grid, put, inches in zip(
            self.kinds, (self.grid_x, self.grid_y), (ax.set_xticks, ax.set_yticks), (sizes.width, sizes.height),
            strict=True,
        ):  # fmt: skip
            if kind is not None:
                put(*ticks_of_kind(kind, float(grid[0]), float(grid[-1]), max(2, int(1.3 * inches))))

    def _draw_answers(self, ax: Any) -> None:
        if self.cells:
            self._draw_cells(ax)
            return
        extent = (self.grid_x[0], self.grid_x[-1], self.grid_y[0], self.grid_y[-1])
        look: dict[str, Any] = {"extent": extent, "origin": "lower", "aspect": "auto", "zorder": 0}
        if self.classes is None:
            ax.imshow(self.response, cmap=NUMBERS_MAP, norm=self._norm(), alpha=0.9, **look)
            return
        strength = _strength(self.confidence, len(self.classes), self.response.shape)[..., None]
        ax.imshow(1 - strength * (1 - colours_rgb(len(self.classes))[self.response]), interpolation="nearest", **look)

    def _draw_cells(self, ax: Any) -> None:
        from matplotlib.collections import PolyCollection

        assert self.tree is not None
        value = self.tree.value
        if self.classes is None:
            import matplotlib as mpl

            faces: list[Any] = [
                mpl.colormaps[NUMBERS_MAP](float(self._norm()(value[cell.node, 0])), alpha=0.9) for cell in self.cells
            ]
        else:
            likely = value.argmax(axis=1)
            strength = _strength(value.max(axis=1) / value.sum(axis=1), len(self.classes), (len(value),))
            faces = [shade(colour(int(likely[cell.node])), float(strength[cell.node])) for cell in self.cells]
        corners = [cell.corners for cell in self.cells]
        ax.add_collection(PolyCollection(corners, facecolors=faces, edgecolors=faces, linewidths=0.2, zorder=0))

    def _draw_cuts(self, ax: Any, sizes: Sizes) -> None:
        from matplotlib.collections import LineCollection

        if not self.cuts:
            return
        assert self.tree is not None
        # The lines of the first nodes are the widest: the order of the cuts can be seen.
        widths = [max(0.35, sizes.line * 1.5 * 0.62 ** self.tree.depth[cut.node]) for cut in self.cuts]
        ends = [[cut.start, cut.end] for cut in self.cuts]
        ax.add_collection(LineCollection(ends, colors=INK, linewidths=widths, zorder=1))

    def _draw_rows(self, ax: Any, rows: Rows, target: NDArray[Any] | None, sizes: Sizes) -> None:
        seen = rows.in_sight()
        x, y = rows.x[seen], rows.y[seen]
        size = _marker_size(sizes, len(x))
        if target is None:
            ax.scatter(x, y, s=size, c=INK, linewidths=0, alpha=0.5, zorder=3)
        elif self.classes is None:
            draw_numbers(ax, x, y, target[seen].astype(float), self._norm(), size=size)
        else:
            draw_classes(ax, x, y, target[seen], len(self.classes), size=size)

    def _ring_mistakes(self, ax: Any, rows: Rows, sizes: Sizes) -> None:
        if rows.target is None or rows.predicted is None:
            return
        size = 1.9 * _marker_size(sizes, len(rows.x))
        wrong = np.flatnonzero((rows.target != rows.predicted) & rows.in_sight())[:MOST_WRONG]
        ax.scatter(
            rows.x[wrong], rows.y[wrong], s=size, facecolors="none", edgecolors=INK,
            linewidths=0.5 * sizes.line, zorder=4, gid="mistakes",
        )  # fmt: skip

    def _norm(self) -> Any:
        from matplotlib.colors import Normalize

        ends = [self.response.min(), self.response.max()]
        for rows in (self.train, self.test):
            if rows is not None and rows.target is not None:  # single far-off targets would leave the rest grey
                ends += np.quantile(rows.target, [0.05, 0.95]).tolist()
        return Normalize(float(min(ends)), float(max(ends)), clip=True)

    def _draw_key(self, axes: list[Any]) -> None:
        if self.classes is None:
            scale_bar(axes, self._norm(), self.target_name)
            return
        assert self.class_names is not None
        handles: list[Any] = [class_handle(n, Sizes.of(axes[0]).small * 0.7) for n in range(len(self.classes))]
        labels = list(self.class_names)
        drawn = {artist.get_gid() for artist in axes[-1].collections}
        if "mistakes" in drawn:
            from matplotlib.lines import Line2D

            look: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "color": INK, "linestyle": ""}
            handles.append(Line2D([], [], markersize=Sizes.of(axes[0]).small * 0.9, **look))
            labels.append(f"wrong ({self._share_wrong()})")
        (key if len(axes) == 1 else key_of_figure)(axes[0] if len(axes) == 1 else axes, handles, labels)

    def _share_wrong(self) -> str:
        assert self.test is not None
        return f"{number(100 * float(np.mean(self.test.target != self.test.predicted)), 3)}%"


def _marker_size(sizes: Sizes, n_rows: int) -> float:
    """Area of a marker: the smaller, the more of them there are."""
    return sizes.point * float(np.clip(np.sqrt(200 / max(n_rows, 1)), 0.35, 1.2))


def _strength(confidence: Any, n_classes: int, shape: tuple[int, ...]) -> Numbers:
    """How strongly to shade: pale where the model hesitates."""
    if confidence is None:
        return np.full(shape, 0.28)
    least = 1 / max(n_classes, 2)
    return 0.1 + 0.28 * np.clip((np.asarray(confidence) - least) / (1 - least), 0, 1)


def _rows(X: Any, y: Any, across: int, up: int, names: Sequence[str], classes: list[Any] | None, what: str) -> Rows:
    columns = [numeric_column(X, place, names[place]) for place in (across, up)]
    target = None if y is None else _numbered(y, classes, what)
    if target is not None and len(target) != len(columns[0]):
        raise ValueError(f"{what} has {len(target)} values for {len(columns[0])} rows.")
    return Rows(columns[0], columns[1], target)


def _numbered(y: Any, classes: list[Any] | None, what: str) -> NDArray[Any]:
    """Targets as places among the classes, or as numbers."""
    values = np.asarray(y)
    if classes is None:
        return values.astype(np.float64)
    place = {label: at for at, label in enumerate(classes)}
    unknown = [value for value in np.unique(values).tolist() if value not in place]
    if unknown:
        raise ValueError(f"{what} contains the class {unknown[0]!r}, which the model was not fitted on.")
    return np.array([place[value] for value in values.tolist()], dtype=np.intp)


def _checked_row(at: Sequence[Any], n_features: int) -> list[Any]:
    row = list(np.ravel(np.asarray(at, dtype=object)))
    if len(row) != n_features:
        raise ValueError(f"at must be one row of {n_features} values; got {len(row)}.")
    return row


def _coded(estimator: Any, still: list[Any]) -> list[float]:
    """The held row as the tree sees it: categories by their number."""
    categories = getattr(estimator, "categories_", None) or {}
    coded = []
    for place, value in enumerate(still):
        if place in categories:
            known = list(categories[place])
            coded.append(float(known.index(value)) if value in known else float("nan") if value is None else len(known))
        else:
            coded.append(float("nan") if value is None else float(value))
    return coded


def _ask(
    estimator: Any,
    X: Any,
    still: list[Any],
    features: tuple[int, int],
    grid_x: Numbers,
    grid_y: Numbers,
    classes: list[Any] | None,
) -> tuple[NDArray[Any], Numbers | None]:
    x, y = (grid.ravel() for grid in np.meshgrid(grid_x, grid_y))
    rows = rows_like(X, still, {features[0]: x, features[1]: y})
    shape = (len(grid_y), len(grid_x))
    if classes is None:
        return np.asarray(estimator.predict(rows), dtype=np.float64).reshape(shape), None
    if hasattr(estimator, "predict_proba"):
        chances = np.asarray(estimator.predict_proba(rows))
        return chances.argmax(axis=1).reshape(shape), chances.max(axis=1).reshape(shape)
    return _numbered(estimator.predict(rows), classes, "predictions").reshape(shape), None
