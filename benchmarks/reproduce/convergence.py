"""Figure 5 of the SLM paper: how quickly ensembles converge with the number of trees, at equal depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from .claims import settled_by_count
from .data import SLM_CLASSES, load
from .declaration import Data, Experiment, Method, Metrics, PaperClaim, Settled
from .methods import build, fitted_model
from .pictures import save
from .results import Results

TREES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
SETS = dict(zip(("Wine", "B.C.W.", "Pima"), SLM_CLASSES[4:7], strict=True))
DEPTHS = (3, 6)  # the paper says that depths are equal, and not which; 6 is XGBoost's default
NEAR = 0.5  # points from its last accuracy: there a forest has converged


@dataclass(frozen=True)
class Curves:
    """The metrics are named by numbers of trees: accuracy in percent of forests, log-loss of boosting."""

    test_share: float = 0.4

    def run(self, data: Data, method: Method, seed: int, data_home: str | None) -> Metrics:
        """One curve on one split."""
        X, y = load(data, seed, data_home)
        X, X_test, y, y_test = train_test_split(X, y, test_size=self.test_share, random_state=seed, stratify=y)
        model = fitted_model(build(method, data, seed).fit(X, y))
        if is_forest(method):
            return {str(n): 100 * float(np.mean(p.argmax(axis=1) == y_test)) for n, p in _forest(model, X_test)}
        return {str(n): float(log_loss(y_test, p)) for n, p in _boosting(model, X_test)}


def is_forest(method: Method) -> bool:
    """Not boosting."""
    return "forest" in method.classifier.lower()


def _forest(model, X):
    """Probabilities of the first trees alone."""
    if hasattr(model, "estimators_"):
        each = np.cumsum([tree.predict_proba(X) for tree in model.estimators_], axis=0)
        yield from ((n, each[n - 1]) for n in TREES)
        return
    whole = model.forest_
    for n in TREES:
        model.forest_ = whole.head(n)
        yield n, model.predict_proba(X)


def _boosting(model, X):
    """Probabilities after so many rounds."""
    if hasattr(model, "staged_predict_proba"):
        staged = list(model.staged_predict_proba(X))
        yield from ((n, staged[min(n, len(staged)) - 1]) for n in TREES)
        return
    for n in TREES:
        p = model.predict_proba(X, iteration_range=(0, n)).astype(float)  # float32 shares add up to one only roughly
        yield n, p / p.sum(axis=1, keepdims=True)


_RATE = {"learning_rate": 0.1}
KINDS = (
    Method("random forest", "sklearn.ensemble.RandomForestClassifier", fixed={"n_estimators": 100}),
    Method("SLM Forest, published", "planewise.published.slm_forest_classifier", fixed={"n_estimators": 100}),
    Method("SLM Forest", "planewise.SLMForestClassifier", fixed={"n_estimators": 100}),
    Method("XGBoost", "xgboost.XGBClassifier", fixed={"n_jobs": 1} | _RATE),
    Method("SLM Boost, published", "planewise.published.slm_boost_classifier", fixed=_RATE),
    Method("SLM Boost", "planewise.SLMBoostClassifier", fixed=_RATE),
)


def at_depth(method: str, depth: int) -> str:
    """What the method of `KINDS` is called at a depth."""
    return f"{method}, depth {depth}"


CONVERGENCE = Experiment(
    "slm-convergence",
    Curves(),
    tuple(SETS.values()),
    tuple(
        replace(kind, name=at_depth(kind.name, depth), fixed={**kind.fixed, "max_depth": depth})
        for depth in DEPTHS
        for kind in KINDS
    ),
    seeds=10,
    quick_seeds=2,
)


# ---------------------------------------------------------------------------------------------------- the verdicts
def mean_curve(results: Results, title: str, method: str, depth: int) -> NDArray[np.float64]:
    """Means over seeds, by numbers of trees."""
    return np.array([results[f"{title}, {at_depth(method, depth)}", str(trees)].mean for trees in TREES])


def trees_until_near_the_end(curve: NDArray[np.float64]) -> int:
    """From how many trees on the accuracy stays within `NEAR` points of that of all trees."""
    far = np.flatnonzero(np.abs(curve - curve[-1]) > NEAR)
    return TREES[far[-1] + 1 if len(far) else 0]


def trees_until(curve: NDArray[np.float64], loss: float) -> int | None:
    """After how many trees the log-loss is no larger than this."""
    reached = np.flatnonzero(curve <= loss + 1e-12)
    return TREES[reached[0]] if len(reached) else None


def forests_converge_faster(ours: str) -> Callable[[Results], Settled]:
    """By the number of trees from which on a forest stays near its last accuracy, against the random forest's."""

    def compare(curve: NDArray[np.float64], rival: NDArray[np.float64]) -> tuple[bool, str]:
        mine, theirs = trees_until_near_the_end(curve), trees_until_near_the_end(rival)
        return mine < theirs, f"{mine} and {theirs}"

    words = f"trees until within {NEAR} points of the last accuracy"
    return _settle(ours, "random forest", compare, words)


def forests_end_higher(ours: str) -> Callable[[Results], Settled]:
    """By the mean accuracy of 100 trees."""

    def compare(curve: NDArray[np.float64], rival: NDArray[np.float64]) -> tuple[bool, str]:
        return curve[-1] > rival[-1], f"{curve[-1]:.2f} and {rival[-1]:.2f}"

    return _settle(ours, "random forest", compare, "accuracy of 100 trees")


def boosting_converges_faster(ours: str) -> Callable[[Results], Settled]:
    """By the number of rounds until XGBoost's lowest log-loss is reached."""

    def compare(curve: NDArray[np.float64], rival: NDArray[np.float64]) -> tuple[bool, str]:
        mine, theirs = (trees_until(each, rival.min()) for each in (curve, rival))
        return mine is not None and mine < theirs, f"{'never' if mine is None else mine} and {theirs}"

    return _settle(ours, "XGBoost", compare, "rounds until the lowest log-loss of XGBoost")


def boosting_ends_lower(ours: str) -> Callable[[Results], Settled]:
    """By the mean log-loss after 100 rounds."""

    def compare(curve: NDArray[np.float64], rival: NDArray[np.float64]) -> tuple[bool, str]:
        return curve[-1] < rival[-1], f"{curve[-1]:.3f} and {rival[-1]:.3f}"

    return _settle(ours, "XGBoost", compare, "log-loss after 100 rounds")


def _settle(ours: str, theirs: str, compare: Callable, words: str) -> Callable[[Results], Settled]:
    """It holds if `compare` says so for all data sets and depths; in part, for more than half of them."""

    def settle(results: Results) -> Settled:
        said, won = [], 0
        for depth in DEPTHS:
            for title in SETS:
                better, figures = compare(*(mean_curve(results, title, name, depth) for name in (ours, theirs)))
                won += better
                said.append(f"{title}, depth {depth}: {figures}")
        total = len(said)
        return settled_by_count(
            won,
            total,
            f"“{ours}” is ahead of {theirs} in {won} of {total} comparisons of the {words} ({'; '.join(said)}).",
        )

    return settle


def twenty_trees_are_enough(ours: str) -> Callable[[Results], Settled]:
    """Whether 20 trees are within `NEAR` points of 100."""

    def settle(results: Results) -> Settled:
        twenty = TREES.index(20)
        curves = [mean_curve(results, title, ours, depth) for depth in DEPTHS for title in SETS]
        gaps = np.array([curve[-1] - curve[twenty] for curve in curves])
        return settled_by_count(
            int((np.abs(gaps) <= NEAR).sum()),
            len(gaps),
            f"From 20 to 100 trees, the accuracy of “{ours}” changes by {gaps.min():+.1f} to {gaps.max():+.1f} points "
            f"(three data sets, two depths); allowed: {NEAR}.",
        )

    return settle


PAPER_CLAIMS = (
    PaperClaim(
        "SLM, Section IV",
        "20 trees are enough for SLM Forest to converge.",
        twenty_trees_are_enough("SLM Forest, published"),
    ),
    PaperClaim(
        "SLM, Section IV",
        "SLM Forest converges faster than a random forest.",
        forests_converge_faster("SLM Forest, published"),
    ),
    PaperClaim(
        "SLM, Section III-A", "SLM Forest ends at a higher accuracy.", forests_end_higher("SLM Forest, published")
    ),
    PaperClaim(
        "SLM, Section IV", "SLM Boost converges faster than XGBoost.", boosting_converges_faster("SLM Boost, published")
    ),
    PaperClaim("SLM, Section III-B", "SLM Boost ends at a lower loss.", boosting_ends_lower("SLM Boost, published")),
)


# ----------------------------------------------------------------------------------------------------- the picture
def draw_curves(results: Results, path: Path, data_home: str | None) -> None:
    """Draw a row of panels for each kind and depth, one panel per data set: means over seeds, and standard errors."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [(forests, depth) for forests in (True, False) for depth in DEPTHS]
    figure, axes = plt.subplots(len(rows), len(SETS), figsize=(3.6 * len(SETS), 2.9 * len(rows)), layout="constrained")
    for row, (forests, depth) in enumerate(rows):
        kinds = [kind.name for kind in KINDS if is_forest(kind) == forests]
        for column, title in enumerate(SETS):
            ax = axes[row, column]
            for name, marker in zip(kinds, "o^s", strict=True):
                place = f"{title}, {at_depth(name, depth)}"
                values = np.array([results[place, str(trees)].values for trees in TREES])
                if not values.size:
                    continue
                mean, error = values.mean(axis=1), values.std(axis=1) / np.sqrt(max(values.shape[1] - 1, 1))
                ax.plot(TREES, mean, marker=marker, markersize=4, label=name)
                ax.fill_between(TREES, mean - error, mean + error, alpha=0.18, linewidth=0)
            ax.set(xscale="log", xticks=[1, 2, 5, 10, 20, 50, 100], title=f"{title}, depth {depth}")
            ax.set(xlabel="trees", ylabel="accuracy (%)" if forests else "log-loss")
            ax.xaxis.set_major_formatter("{x:g}")
            ax.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
            ax.grid(axis="y", color="#eeeeee")
        if axes[row, 0].lines:
            axes[row, 0].legend(fontsize="small")
    save(figure, path)
