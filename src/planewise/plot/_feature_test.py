"""The one-dimensional test of every feature: sorted losses and their elbow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise.plot._display import OneAxesDisplay
from planewise.plot.style import (
    COLOURS,
    GREY,
    INK,
    PALE,
    Sizes,
    dress,
    key,
    plain,
    settled,
)
from planewise.words import counted, shorten
from planewise.words import feature_names as names_of_features

MOST_NAMED = 40
NAMES_BESIDE_CURVE = 8


@dataclass(repr=False)
class FeatureTestDisplay(OneAxesDisplay):
    """Losses of the features' best splits in ascending order, and how many come before the elbow.

    Up to 40 features are drawn as one line each with their names, more as a curve. Create it with
    :meth:`from_estimator`.

    Attributes
    ----------
    losses : array of shape (n_features,)
        Ascending.
    names : list of str
        In the same order.
    kept : boolean array
        Which are selected.
    elbow : int
        How many the elbow keeps.
    measure : str
        What a loss is.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from planewise import DiscriminantFeatureTest
    >>> from planewise.plot import FeatureTestDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = FeatureTestDisplay.from_estimator(DiscriminantFeatureTest().fit(X, y))
    >>> display.names[0]
    'flavanoids'
    >>> display = display.plot()  # doctest: +SKIP
    """

    losses: NDArray[np.float64]
    names: list[str]
    kept: NDArray[np.bool_]
    elbow: int
    measure: str

    def _facts(self) -> str:
        return f"{self.measure} of {counted(len(self.losses), 'feature')}, {int(self.kept.sum())} kept"

    @classmethod
    def from_estimator(cls, estimator: Any, *, feature_names: Sequence[str] | None = None) -> FeatureTestDisplay:
        """Read a fitted :class:`~planewise.DiscriminantFeatureTest`."""
        if not hasattr(estimator, "n_features_to_select"):
            raise TypeError(f"{type(estimator).__name__} is not a feature test; pass a DiscriminantFeatureTest.")
        check_is_fitted(estimator)
        order = estimator.order_
        names = names_of_features(estimator, feature_names)
        known = {"classification": estimator.criterion, "regression": "squared error"}
        return cls(
            estimator.scores_[order], [names[j] for j in order], estimator.support_[order], estimator.elbow_,
            f"{known.get(estimator.task, 'loss')} after the best split",
        )  # fmt: skip

    def _size(self) -> tuple[float, float]:
        n_features = len(self.losses)
        tall = min(7.5, 0.9 + 0.17 * n_features) if n_features <= MOST_NAMED else 3.4
        return 5.2, max(2.0, tall)

    def _draw(self, ax: Any, title: str, with_key: bool) -> None:
        n_features = len(self.losses)
        room = ax.get_position().height * ax.get_figure(root=True).get_size_inches()[1]
        if n_features <= MOST_NAMED and room / n_features > 0.085:
            self._draw_lines(ax, title)
        else:
            self._draw_curve(ax, title)
        if with_key:
            self._draw_key(ax)
        if ax.yaxis_inverted():  # one line per feature
            sizes = settled(ax)
            ax.tick_params(axis="y", labelsize=min(sizes.small, 0.75 * 72 * sizes.height / n_features))

    def _draw_lines(self, ax: Any, title: str) -> None:
        sizes = dress(ax, self.measure, "", title)
        at = np.arange(len(self.losses))
        left = self._left()
        colours = np.where(self.kept, COLOURS[0], GREY)
        ax.hlines(at, left, self.losses, colors=PALE, linewidth=sizes.line, zorder=1)
        for chosen, shape in ((self.kept, "o"), (~self.kept, "D")):
            ax.scatter(
                self.losses[chosen], at[chosen], s=0.9 * sizes.point, c=colours[chosen].tolist(), marker=shape, zorder=3
            )
        ax.set_yticks(at, [plain(shorten(name, 28)) for name in self.names], fontsize=sizes.small)
        ax.set_ylim(len(at) - 0.4, -0.6)
        ax.set_xlim(left, None)
        if self.elbow < len(at):
            ax.axhline(self.elbow - 0.5, color=INK, linewidth=sizes.line, linestyle="--", zorder=2)

    def _draw_curve(self, ax: Any, title: str) -> None:
        sizes = dress(ax, "rank of the feature", self.measure, title)
        rank = np.arange(1, len(self.losses) + 1)
        ax.plot(rank, self.losses, color=PALE, linewidth=sizes.line, zorder=1)
        size = 0.4 * sizes.point
        for chosen, shape, tint in ((self.kept, "o", COLOURS[0]), (~self.kept, "D", GREY)):
            ax.scatter(rank[chosen], self.losses[chosen], s=size, color=tint, marker=shape, linewidths=0, zorder=3)
        if self.elbow < len(rank):
            ax.axvline(self.elbow + 0.5, color=INK, linewidth=sizes.line, linestyle="--", zorder=2)
        best = "\n".join(plain(shorten(name, 22)) for name in self.names[:NAMES_BESIDE_CURVE])
        ax.text(
            0.98, 0.04, f"the best:\n{best}", transform=ax.transAxes, fontsize=sizes.small, ha="right", va="bottom",
            color=INK,
        )  # fmt: skip

    def _left(self) -> float:
        """Losses begin at zero, unless they hardly differ."""
        low, high = float(self.losses.min()), float(self.losses.max())
        return 0.0 if low < 0.6 * high else low - 0.15 * (high - low)

    def _draw_key(self, ax: Any) -> None:
        from matplotlib.lines import Line2D

        size = 0.7 * Sizes.of(ax).small
        handles = [
            Line2D([], [], color=COLOURS[0], marker="o", linestyle="", markersize=size),
            Line2D([], [], color=GREY, marker="D", linestyle="", markersize=size),
            Line2D([], [], color=INK, linestyle="--"),
        ]
        labels = [f"kept ({self.kept.sum()})", f"left out ({(~self.kept).sum()})", f"elbow after {self.elbow}"]
        if self.kept.all():
            handles, labels = handles[:1], labels[:1]
        key(ax, handles, labels)
