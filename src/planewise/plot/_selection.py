"""How a tree draws its directions: which features, and how large a coefficient each may get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from planewise.plot._display import OneAxesDisplay
from planewise.plot.style import (
    COLOURS,
    GREY,
    INK,
    MARKERS,
    PALE,
    dress,
    key,
    plain,
    text_width,
)
from planewise.words import counted, shorten
from planewise.words import feature_names as names_of_features

MOST_RANKS = 40


@dataclass(repr=False)
class SelectionDisplay(OneAxesDisplay):
    """The envelope of the coefficients over the features' ranks, and the coefficients drawn.

    Features stand in the order of their one-dimensional test, the best first. Dots are the integers a coefficient may
    be drawn from, dark for the selected features; the darker a column, the more likely its feature is selected; markers
    are the coefficients of planes. Create it with :meth:`from_estimator`, or with :meth:`from_parameters` to see what
    parameters mean.

    Attributes
    ----------
    names : list of str
        Features by rank.
    bounds : int array of shape (n_features,)
        A_d = max(min_coef, floor(A exp(-alpha d))): the largest coefficient of rank d.
    chance : array of shape (n_features,)
        P_d, proportional to exp(-beta d).
    selected : boolean array of shape (n_features,)
        Features the directions shown have terms on; from parameters: those drawn.
    directions : list of int arrays of shape (n_features,)
        Coefficients by rank: of the planes of a tree's root, or of one drawn direction.
    max_coef, coef_decay, min_coef : A, alpha and the least A_d
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from planewise.plot import SelectionDisplay
    >>> display = SelectionDisplay.from_parameters(
    ...     n_features=10, subspace_size=5, max_coef=10, coef_decay=0.5, random_state=0
    ... )
    >>> display.bounds.tolist()
    [10, 6, 3, 2, 1, 1, 1, 1, 1, 1]
    >>> int(display.selected.sum())
    5
    >>> display = display.plot()  # doctest: +SKIP
    """

    names: list[str]
    bounds: NDArray[np.int64]
    chance: NDArray[np.float64]
    selected: NDArray[np.bool_]
    directions: list[NDArray[np.int64]]
    max_coef: int
    coef_decay: float
    labels: list[str] = field(default_factory=list)
    min_coef: int = 1

    def _facts(self) -> str:
        return f"{counted(len(self.names), 'feature')}, {counted(len(self.directions), 'direction')}"

    @classmethod
    def from_parameters(
        cls,
        *,
        n_features: int,
        subspace_size: int = 5,
        max_coef: int = 10,
        coef_decay: float = 0.5,
        rank_decay: float = 0.1,
        min_coef: int = 1,
        feature_names: Sequence[str] | None = None,
        random_state: Any = None,
    ) -> SelectionDisplay:
        """Draw features and one direction as a node would.

        Parameters
        ----------
        n_features : int
            D.
        subspace_size, max_coef, coef_decay, rank_decay, min_coef
            R (or D0), A, alpha, beta and the least bound, as in :class:`~planewise.SLMClassifier`. With `min_coef=0`,
            as in the paper, features of low rank fade out.
        feature_names : list of str, default=None
            Names by rank.
        random_state : int, RandomState or None, default=None
        """
        if n_features < 1 or subspace_size < 1 or max_coef < 1:
            raise ValueError("n_features, subspace_size and max_coef must be at least 1.")
        names = [f"a{d + 1}'" for d in range(n_features)] if feature_names is None else [str(n) for n in feature_names]
        if len(names) != n_features:
            raise ValueError(f"feature_names has {len(names)} names for {n_features} features; give one per feature.")
        random = check_random_state(random_state)
        rank = np.arange(n_features)
        noise = random.gumbel(size=n_features)
        chosen = np.argsort(-(-rank_decay * rank + noise))[:subspace_size]
        selected = np.zeros(n_features, dtype=bool)
        selected[chosen] = True
        bounds = _bounds(n_features, max_coef, coef_decay, min_coef)
        direction = np.where(selected, random.randint(-bounds, bounds + 1), 0)
        if not direction.any():
            direction[chosen[0]] = 1
        return cls(
            names, bounds, _chance(n_features, rank_decay), selected, [direction], max_coef, coef_decay,
            ["one direction drawn"], min_coef,
        )  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, feature_names: Sequence[str] | None = None
    ) -> SelectionDisplay:
        """The parameters of a fitted tree (or an ensemble's first tree), and the planes of its root.

        Parameters
        ----------
        estimator : fitted tree, forest or boosting of planewise
            Of several values of `subspace_size`, `coef_decay` or `rank_decay` the first counts.
        X, y : table and targets it was fitted on
            They rank the features.
        feature_names : list of str, default=None
            Instead of the names the model was fitted with.
        """
        from planewise.slm import DiscriminantFeatureTest

        flat: Any = getattr(estimator, "tree_", None)
        if flat is None and hasattr(estimator, "forest_"):
            flat = estimator.forest_.part(0, 1)
        if not hasattr(flat, "term_coefficient"):
            raise TypeError(f"{type(estimator).__name__} does not draw directions; pass a fitted tree of planewise.")
        if getattr(estimator, "target_statistics_", {}):
            raise ValueError("SelectionDisplay ranks columns of numbers, but this model has categorical columns.")
        task = "classification" if is_classifier(estimator) else "regression"
        ranked = DiscriminantFeatureTest(task=task, n_bins=estimator.n_bins).fit(X, y).order_
        names = names_of_features(estimator, feature_names, X)
        place = np.argsort(ranked)
        directions = []
        for plane in range(flat.plane_start[1]):
            if flat.set_start[plane + 1] > flat.set_start[plane]:
                continue  # a set of categories has no coefficients
            terms = slice(flat.term_start[plane], flat.term_start[plane + 1])
            direction = np.zeros(len(names), dtype=np.int64)
            direction[place[flat.term_feature[terms]]] = flat.term_coefficient[terms]
            directions.append(direction)
        decay, fade = _first(estimator.coef_decay), _first(estimator.rank_decay)
        used = np.any(directions, axis=0) if directions else np.zeros(len(names), dtype=bool)
        return cls(
            [names[j] for j in ranked], _bounds(len(names), estimator.max_coef, decay, estimator.min_coef),
            _chance(len(names), fade), used, directions, estimator.max_coef, decay,
            [f"plane {letter} of the root" for letter in "ABCDEFGH"[: len(directions)]], estimator.min_coef,
        )  # fmt: skip

    def _size(self) -> tuple[float, float]:
        return 6.4, 3.6

    def _draw(self, ax: Any, title: str, with_key: bool) -> None:
        ranks = self._shown()
        more = f", the first {ranks} of {len(self.names)}" if ranks < len(self.names) else ""
        sizes = dress(ax, f"features, the best first{more}", "coefficient", title)
        ax.set_xlim(-0.6, ranks - 0.4)
        top = 1.12 * self.max_coef
        ax.set_ylim(-top, top)
        for d in range(ranks):
            strength = self.chance[d] / self.chance.max()
            ax.axvspan(d - 0.5, d + 0.5, facecolor=COLOURS[0], alpha=0.14 * strength, linewidth=0, zorder=0)
        at = np.linspace(0, ranks - 1, 200)
        envelope = np.maximum(self.min_coef, self.max_coef * np.exp(-self.coef_decay * at))
        for sign in (1, -1):
            ax.plot(at, sign * envelope, color=GREY, linewidth=sizes.line, linestyle="--", zorder=1)
        self._draw_dots(ax, ranks, 0.3 * sizes.point)
        for number, direction in enumerate(self.directions):
            drawn = np.flatnonzero(direction[:ranks])
            ax.scatter(
                drawn, direction[drawn], marker=MARKERS[number], s=2.2 * sizes.point, facecolors="none", zorder=4,
                edgecolors=COLOURS[(number + 1) % len(COLOURS)], linewidths=1.3 * sizes.line, gid=f"direction {number}",
            )  # fmt: skip
        ax.axhline(0, color=PALE, linewidth=0.5, zorder=0)
        self._name_ranks(ax, ranks, sizes.small, sizes.width)
        if with_key:
            self._draw_key(ax, sizes.small)

    def _shown(self) -> int:
        used = np.flatnonzero(self.selected)
        return min(len(self.names), max(MOST_RANKS, int(used.max()) + 1 if len(used) else 0))

    def _draw_dots(self, ax: Any, ranks: int, size: float) -> None:
        rank = np.concatenate([np.full(2 * bound + 1, d) for d, bound in enumerate(self.bounds[:ranks])])
        value = np.concatenate([np.arange(-bound, bound + 1) for bound in self.bounds[:ranks]])
        dark = self.selected[rank]
        ax.scatter(rank[~dark], value[~dark], s=size, color=PALE, linewidths=0, zorder=2, gid="not selected")
        ax.scatter(rank[dark], value[dark], s=size, color=INK, linewidths=0, zorder=3, gid="selected")

    def _name_ranks(self, ax: Any, ranks: int, font: float, width: float) -> None:
        names = [shorten(name, 18) for name in self.names[:ranks]]
        room = width / max(ranks, 1)
        if room < 1.3 * font / 72:  # not even upright names fit
            return
        flat = max(text_width(name, font) for name in names) < 0.9 * room
        look = {"rotation": 0, "ha": "center"} if flat else {"rotation": 90, "ha": "center"}
        ax.set_xticks(range(ranks), [plain(name) for name in names], fontsize=font, **look)

    def _draw_key(self, ax: Any, font: float) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        dot: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 0.5 * font}
        handles: list[Any] = [
            Line2D([], [], color=GREY, linestyle="--"),
            Line2D([], [], color=INK, **dot),
            Line2D([], [], color=PALE, **dot),
            Patch(facecolor=COLOURS[0], alpha=0.2),
        ]
        labels = ["envelope", "may be drawn", "not selected", "chance of selection"]
        for number, label in enumerate(self.labels):
            edge = COLOURS[(number + 1) % len(COLOURS)]
            look: dict[str, Any] = {"color": edge, "markerfacecolor": "none", "markersize": 0.8 * font}
            handles.append(Line2D([], [], linestyle="", marker=MARKERS[number], **look))
            labels.append(label)
        key(ax, handles, labels)


def _bounds(n_features: int, max_coef: int, decay: float, least: int) -> NDArray[np.int64]:
    reach = max_coef * np.exp(-decay * np.arange(n_features))
    return np.maximum(least, np.floor(reach + 1e-9)).astype(np.int64)


def _chance(n_features: int, decay: float) -> NDArray[np.float64]:
    chance = np.exp(-decay * np.arange(n_features))
    return chance / chance.sum()


def _first(value: Any) -> float:
    return float(value[0] if isinstance(value, (list, tuple)) else value)
