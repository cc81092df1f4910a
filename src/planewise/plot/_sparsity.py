"""Accuracy against size: how little a model needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.plot._display import OneAxesDisplay
from planewise.plot.style import (
    ACCENT,
    COLOURS,
    GREY,
    Sizes,
    class_handle,
    colour,
    dress,
    key,
    marker,
    plain_powers,
)
from planewise.slm import SLMBoostRegressor
from planewise.words import count, counted, tidy


@dataclass(repr=False)
class SparsityDisplay(OneAxesDisplay):
    """Quality and size of models as points; those that no smaller model beats are joined.

    Create it with :meth:`from_estimators` (models beside each other) or :meth:`from_search` (every point that an
    ``MCMClassifierCV`` or ``MCMRegressorCV`` tried, with its choice marked).

    Attributes
    ----------
    names : list of str
        One per point; empty for the points of a search.
    size : array
        Support vectors, parameters or bytes.
    score : array
        Accuracy, or R² of regressors; the higher, the better.
    error : array or None
        Standard errors of the scores.
    front : boolean array
        Points that no smaller (or equally small) one beats.
    chosen : int or None
        The search's choice.
    size_name, score_name : str
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import SVC
    >>> from planewise import MCMClassifier
    >>> from planewise.plot import SparsityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"SVM": SVC(), "MCM": MCMClassifier()}
    >>> models = {name: model.fit(X[::2], y[::2]) for name, model in models.items()}
    >>> display = SparsityDisplay.from_estimators(models, X[1::2], y[1::2], size="vectors")
    >>> bool(display.size[1] < display.size[0])
    True
    >>> display = display.plot()  # doctest: +SKIP
    """

    names: list[str]
    size: NDArray[np.float64]
    score: NDArray[np.float64]
    error: NDArray[np.float64] | None
    chosen: int | None
    size_name: str
    score_name: str

    def _facts(self) -> str:
        return f"{self.score_name} by {self.size_name}, {counted(len(self.size), 'model')}"

    @property
    def front(self) -> NDArray[np.bool_]:
        """Points that no smaller or equally small one beats."""
        best = [
            not np.any((self.size <= s) & (self.score >= a) & ((self.size < s) | (self.score > a)))
            for s, a in zip(self.size, self.score, strict=True)
        ]
        return np.array(best, dtype=bool)

    @classmethod
    def from_estimators(
        cls,
        models: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        size: str | Callable[[Any], float] = "parameters",
        score_name: str | None = None,
    ) -> SparsityDisplay:
        """Score fitted models on rows they have not seen.

        Parameters
        ----------
        models : mapping from name to fitted model, of planewise or scikit-learn
        X, y : table and targets
        size : {"vectors", "parameters"} or function of a model, default="parameters"
            Support vectors; or all numbers that prediction needs.
        score_name : str, default=None
            None: "accuracy" for classes, "R²" for numbers, or "score" if a model of boosting predicts quantiles.
        """
        from sklearn.base import is_classifier

        if not models:
            raise ValueError("models is empty; pass at least one as {name: fitted model}.")
        sizes = [float(size(model) if callable(size) else model_size(model, size)) for model in models.values()]
        scores = [float(model.score(X, y)) for model in models.values()]
        measure = "accuracy" if all(is_classifier(model) for model in models.values()) else "R²"
        if any(isinstance(model, SLMBoostRegressor) and model.loss == "quantile" for model in models.values()):
            measure = "score"  # D² of the pinball loss
        return cls(
            [tidy(name) for name in models], np.array(sizes), np.array(scores), None, None,
            "size" if callable(size) else SIZES[size], score_name or measure,
        )  # fmt: skip

    @classmethod
    def from_search(cls, search: Any) -> SparsityDisplay:
        """Points of a fitted :class:`~planewise.MCMClassifierCV` or :class:`~planewise.MCMRegressorCV`.

        Their mean held-out accuracy, or R², against support vectors. Points that were left out of some folds, because
        they were clearly worse than the best, are not shown. The search for classes compares log-losses: the chosen
        point need not be among the most accurate ones.
        """
        results = getattr(search, "cv_results_", None)
        if results is None or "mean_n_support" not in results:
            raise TypeError(
                f"{type(search).__name__} has no search over support vectors; pass a fitted MCMClassifierCV or "
                "MCMRegressorCV."
            )
        score, size = np.asarray(results["mean_test_score"]), np.asarray(results["mean_n_support"])
        splits = np.array([results[name] for name in results if name.startswith("split") and name.endswith("score")])
        known = np.isfinite(score) & np.isfinite(size) & np.isfinite(splits).all(axis=0)
        error = np.asarray(results["std_test_score"]) / np.sqrt(max(len(splits), 1))
        chosen = int(np.flatnonzero(np.flatnonzero(known) == search.best_index_)[0])
        return cls(
            [], size[known].astype(float), score[known], error[known], chosen, "support vectors, mean over folds",
            "held-out accuracy" if hasattr(search, "classes_") else "held-out R²",
        )  # fmt: skip

    def _size(self) -> tuple[float, float]:
        return 4.6, 3.4

    def _draw(self, ax: Any, title: str, with_key: bool) -> None:
        shown = np.maximum(self.size, 0.8)  # none at all has a place on a scale of powers
        if shown.max() > 12 * shown.min():
            ax.set_xscale("log")
            plain_powers(ax.xaxis)
        sizes = dress(ax, self.size_name, self.score_name, title)
        front = np.flatnonzero(self.front)
        front = front[np.argsort(self.size[front])]
        ax.plot(shown[front], self.score[front], color=GREY, linewidth=sizes.line, zorder=1, gid="front")
        if self.names:
            self._draw_models(ax, shown, sizes.point)
        else:
            self._draw_search(ax, shown, sizes.point)
        ax.grid(color="#eeeeee", linewidth=0.6, zorder=0)
        if self.names:
            ax.margins(0.08, 0.12)
        if with_key:
            self._draw_key(ax, 0.75 * sizes.small)

    def _draw_models(self, ax: Any, shown: NDArray[np.float64], point: float) -> None:
        for place in range(len(self.names)):
            ax.scatter(
                shown[place], self.score[place], s=2 * point, color=colour(place), marker=marker(place), zorder=3,
                gid=f"model {place}",
            )  # fmt: skip

    def _draw_search(self, ax: Any, shown: NDArray[np.float64], point: float) -> None:
        ax.scatter(shown, self.score, s=0.7 * point, color=COLOURS[0], alpha=0.35, linewidths=0, zorder=2, gid="tried")
        assert self.chosen is not None and self.error is not None
        best = int(self.score.argmax())
        ax.axhspan(
            self.score[best] - self.error[best], self.score[best], color=COLOURS[4], alpha=0.2, linewidth=0, zorder=0
        )
        ax.scatter(
            shown[[self.chosen]],
            self.score[[self.chosen]],
            s=3 * point,
            marker="*",
            color=ACCENT,
            zorder=4,
            gid="chosen",
        )
        self._look_at_the_better_half(ax)

    def _look_at_the_better_half(self, ax: Any) -> None:
        """Hopeless points of a search would press the others together; how many are out of sight is written."""
        best, middle = float(self.score.max()), float(np.median(self.score))
        least = best - max(4 * (best - middle), 1e-3)
        unseen = int((self.score < least).sum())
        if unseen:
            ax.set_ylim(least, best + 0.12 * (best - least))
            words = f"{unseen} tried point{'s' * (unseen > 1)} below"
            ax.text(
                0.99, 0.01, words, transform=ax.transAxes, ha="right", va="bottom", color=GREY,
                fontsize=Sizes.of(ax).small,
            )  # fmt: skip

    def _draw_key(self, ax: Any, size: float) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        front = Line2D([], [], color=GREY)
        if self.names:
            handles = [class_handle(place, size) for place in range(len(self.names))]
            labels = [f"{name} ({count(n)})" for name, n in zip(self.names, self.size, strict=True)]
            key(ax, [*handles, front], [*labels, "nothing smaller is better"])
            return
        assert self.chosen is not None
        handles = [
            Line2D([], [], color=COLOURS[0], alpha=0.5, marker="o", linestyle="", markersize=size),
            Line2D([], [], color=ACCENT, marker="*", linestyle="", markersize=1.5 * size),
            front,
            Patch(facecolor=COLOURS[4], alpha=0.3),
        ]
        picked = f"chosen ({self.size[self.chosen]:.0f} vectors)"
        key(ax, handles, ["tried", picked, "nothing smaller is better", "one standard error"])


SIZES = {"vectors": "support vectors", "parameters": "parameters"}


def model_size(model: Any, kind: str) -> float:
    """Of a model of planewise or scikit-learn; of a pipeline, its last step counts."""
    if kind not in SIZES:
        raise ValueError(f"size must be 'vectors', 'parameters' or a function of a model; got {kind!r}.")
    if hasattr(model, "steps"):
        model = model.steps[-1][1]
    if hasattr(model, "best_estimator_") and not hasattr(model, "support_"):
        model = model.best_estimator_
    found = _vectors(model) if kind == "vectors" else _parameters(model)
    if found is None:
        raise TypeError(f"{type(model).__name__} has no count of {SIZES[kind]}; pass a function of a model as size.")
    return found


def _vectors(model: Any) -> float | None:
    vectors = getattr(model, "support_", None)
    return None if vectors is None or np.asarray(vectors).dtype == bool else float(len(vectors))


def _parameters(model: Any) -> float | None:
    if hasattr(model, "n_stored_numbers_"):
        return float(model.n_stored_numbers_)
    if hasattr(model, "forest_"):
        return float(model.forest_.stored_numbers())
    if hasattr(model, "support_vectors_"):
        dual = getattr(model, "coef_", model.dual_coef_) if model.kernel == "linear" else model.dual_coef_
        vectors = 0 if model.kernel == "linear" else np.size(model.support_vectors_)
        return float(vectors + np.size(dual) + np.size(model.intercept_))
    if hasattr(model, "tree_"):
        return float(_of_sklearn_tree(model.tree_))
    if hasattr(model, "estimators_"):
        members = np.ravel(np.asarray(model.estimators_, dtype=object))
        return float(sum(_of_sklearn_tree(member.tree_) for member in members if hasattr(member, "tree_")))
    if hasattr(model, "_predictors"):  # histogram boosting of scikit-learn
        leaf = [tree.nodes["is_leaf"].astype(bool) for stage in model._predictors for tree in stage]
        return float(sum(2 * (~part).sum() + part.sum() for part in leaf))
    if hasattr(model, "coef_"):
        return float(np.size(model.coef_) + np.size(model.intercept_))
    return None


def _of_sklearn_tree(tree: Any) -> int:
    """One feature and one threshold per split, and the values of the leaves."""
    leaves = int((tree.children_left < 0).sum())
    return 2 * (tree.node_count - leaves) + leaves * int(np.prod(tree.value.shape[1:]))
