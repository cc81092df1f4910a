"""Quality by number of trees, several ensembles side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import log_loss

from planewise._tables import as_array
from planewise.plot._display import OneAxesDisplay
from planewise.plot.style import GREY, class_handle, colour, dress, key, marker
from planewise.words import counted, one_line, require_no_offset, require_no_ranking, tidy

MEASURES = ("accuracy", "log_loss", "rmse")
AXIS = {"accuracy": "accuracy", "log_loss": "log-loss", "rmse": "root mean squared error"}
MOST_STAGES = 30


@dataclass(repr=False)
class Curve:
    """Quality of one model: shape (n_runs, n_stages), after so many trees."""

    n_trees: NDArray[np.int64]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        n_runs, n_stages = self.values.shape
        return one_line(self, f"{counted(n_runs, 'run')}, {counted(n_stages, 'stage')}")


@dataclass(repr=False)
class ConvergenceDisplay(OneAxesDisplay):
    """Curves of quality by number of trees.

    Create it with :meth:`from_estimators`, with :meth:`from_history` from what boosting monitored during its fit, or
    from curves that were measured otherwise: ``ConvergenceDisplay({"name": Curve(n_trees, values)}, "log_loss")``.
    Several runs (seeds, splits) are joined by :meth:`joined` and shown by their mean and a band of one standard error.

    Attributes
    ----------
    curves : dict of Curve
        By name: ``n_trees`` of shape (n_stages,) and ``values`` of shape (n_runs, n_stages).
    measure : {"accuracy", "log_loss", "rmse"}, "loss", "score" or the name of a scorer
    counted : {"trees", "rounds"}
        What the horizontal axis counts.
    best : int or None
        The best round, shown by a line.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from planewise import SLMForestClassifier
    >>> from planewise.plot import ConvergenceDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = SLMForestClassifier(n_estimators=10, random_state=0).fit(X[::2], y[::2])
    >>> display = ConvergenceDisplay.from_estimators({"SLM forest": forest}, X[1::2], y[1::2])
    >>> bool(display.curves["SLM forest"].values[0, -1] == forest.score(X[1::2], y[1::2]))
    True
    >>> display = display.plot()  # doctest: +SKIP
    """

    curves: dict[str, Curve]
    measure: str
    counted: str = "trees"
    best: int | None = None

    def _facts(self) -> str:
        return f"{AXIS.get(self.measure, self.measure)} of {', '.join(self.curves)}"

    @classmethod
    def from_estimators(
        cls, models: Mapping[str, Any], X: Any, y: Any, *, measure: str | None = None
    ) -> ConvergenceDisplay:
        """Evaluate the first trees of fitted ensembles.

        Parameters
        ----------
        models : mapping from name to fitted forest or boosting, of planewise or scikit-learn
        X, y : table and targets
            Rows that the models have not seen.
        measure : {"accuracy", "log_loss", "rmse"}, default=None
            None: accuracy for classes, rmse for numbers.
        """
        if not models:
            raise ValueError("models is empty; pass at least one as {name: fitted model}.")
        for model in models.values():
            require_no_offset(model, "ConvergenceDisplay.from_estimators")
            require_no_ranking(model, "ConvergenceDisplay.from_estimators")
        kinds = {is_classifier(model) for model in models.values()}
        if len(kinds) > 1:
            raise ValueError("models mixes classifiers and regressors, which have no measure in common.")
        measure = measure or ("accuracy" if kinds == {True} else "rmse")
        if measure not in MEASURES or (measure == "rmse") == (kinds == {True}):
            fitting = MEASURES[:2] if kinds == {True} else MEASURES[2:]
            raise ValueError(f"measure must be {' or '.join(map(repr, fitting))} for these models; got {measure!r}.")
        return cls({name: _curve(model, X, np.asarray(y), measure) for name, model in models.items()}, measure)

    @classmethod
    def from_history(cls, model: Any) -> ConvergenceDisplay:
        """Show the loss, or the score of `scoring`, that boosting monitored during its fit.

        Parameters
        ----------
        model : fitted SLMBoostClassifier, SLMBoostRegressor or SLMBoostRanker
            With ``train_score_``.
        """
        if not len(getattr(model, "train_score_", ())):
            raise ValueError("train_score_ is empty: nothing was monitored. Pass X_val and y_val to fit.")
        sign = -1.0 if model.scoring is None else 1.0
        curves = {
            name: Curve(np.arange(1, len(scores) + 1), sign * scores[None])
            for name, scores in (("train", model.train_score_), ("validation", model.validation_score_))
            if len(scores)
        }
        measure = "loss" if model.scoring is None else model.scoring if isinstance(model.scoring, str) else "score"
        return cls(curves, measure, "rounds", model.best_iteration_)

    @classmethod
    def joined(cls, displays: Sequence[ConvergenceDisplay]) -> ConvergenceDisplay:
        """Several runs of the same models in one picture.

        Only numbers of trees that all runs have are kept.
        """
        if not displays:
            raise ValueError("There is nothing to join.")
        if len({display.measure for display in displays}) > 1:
            raise ValueError("Only displays of one measure can be joined.")
        curves = {}
        for name in displays[0].curves:
            runs = [display.curves[name] for display in displays if name in display.curves]
            if len(runs) < len(displays):
                raise ValueError(f"Not every display has a curve {name!r}.")
            common = sorted(set.intersection(*(set(run.n_trees.tolist()) for run in runs)))
            values = [run.values[:, np.searchsorted(run.n_trees, common)] for run in runs]
            curves[name] = Curve(np.array(common), np.concatenate(values))
        return cls(curves, displays[0].measure, displays[0].counted)

    def _size(self) -> tuple[float, float]:
        return 4.6, 3.4

    def _draw(self, ax: Any, title: str, with_key: bool) -> None:
        most = max(int(curve.n_trees.max()) for curve in self.curves.values())
        if most > 12:
            ax.set_xscale("log")
        sizes = dress(ax, self.counted, AXIS.get(self.measure, self.measure), title)
        if self.best is not None:
            ax.axvline(self.best, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
        for number, curve in enumerate(self.curves.values()):
            mean = curve.values.mean(axis=0)
            marked = None if len(mean) <= MOST_STAGES else [place - 1 for place in stages(len(mean))]
            ax.plot(
                curve.n_trees, mean, color=colour(number), marker=marker(number), linewidth=1.4 * sizes.line,
                markersize=0.16 * sizes.point + 1.2, markeredgewidth=0, markevery=marked, zorder=3,
            )  # fmt: skip
            if len(curve.values) > 1:
                error = curve.values.std(axis=0, ddof=1) / np.sqrt(len(curve.values))
                ax.fill_between(
                    curve.n_trees, mean - error, mean + error, color=colour(number), alpha=0.18, linewidth=0, zorder=2
                )
        ax.grid(axis="y", color="#eeeeee", linewidth=0.6, zorder=0)
        if most > 12:
            self._count_on_axis(ax, most)
        if with_key:
            handles = [class_handle(number, 0.7 * sizes.small) for number in range(len(self.curves))]
            for handle in handles:
                handle.set_linestyle("-")
            key(ax, handles, [tidy(name) for name in self.curves])

    @staticmethod
    def _count_on_axis(ax: Any, most: int) -> None:
        from matplotlib.ticker import NullFormatter, NullLocator

        ticks = [n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000) if n <= most]
        if len(ticks) > 7:
            ticks = [n for n in ticks if str(n)[0] == "1"]
        ax.set_xticks(ticks, [str(n) for n in ticks])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())


def stages(n_trees: int) -> list[int]:
    """Numbers of trees to evaluate: all if there are few, else increasingly far apart, and always the last.

    >>> stages(5)
    [1, 2, 3, 4, 5]
    """
    if n_trees <= MOST_STAGES // 2:
        return list(range(1, n_trees + 1))
    return sorted({round(n) for n in np.geomspace(1, n_trees, MOST_STAGES)})


def _curve(model: Any, X: Any, y: NDArray[Any], measure: str) -> Curve:
    counts = stages(n_trees_of(model))
    found, values = [], []
    for n_trees, answer in first_trees(model, X, counts, chances=measure == "log_loss"):
        found.append(n_trees)
        values.append(_quality(answer, y, model, measure))
    return Curve(np.array(found), np.array([values]))


def _quality(answer: NDArray[Any], y: NDArray[Any], model: Any, measure: str) -> float:
    if measure == "accuracy":
        return float(np.mean(answer == y))
    if measure == "rmse" and answer.shape != y.shape:
        raise ValueError(
            f"y has shape {y.shape}, but {type(model).__name__} predicts an array of shape {answer.shape}. Several "
            "quantiles of one target have no error that can be drawn."
        )
    if measure == "rmse":
        return float(np.sqrt(np.mean((answer - y) ** 2)))
    chances = answer / answer.sum(axis=1, keepdims=True)  # float32 leaves sum to one only so closely
    return float(log_loss(y, chances, labels=model.classes_))


Answers = Iterator[tuple[int, NDArray[Any]]]


def n_trees_of(model: Any) -> int:
    """Trees, or rounds of boosting."""
    if hasattr(model, "staged_predict"):
        for name in ("n_iter_", "n_estimators_"):
            if hasattr(model, name):
                return int(getattr(model, name))
        return len(model.estimators_)
    if hasattr(model, "forest_"):
        return int(model.forest_.n_trees)
    if hasattr(model, "estimators_"):
        return len(model.estimators_)
    raise TypeError(
        f"{type(model).__name__} has no trees to count; pass fitted forests or boosting of planewise or scikit-learn, "
        "or the curves themselves."
    )


def first_trees(model: Any, X: Any, counts: Sequence[int], chances: bool) -> Answers:
    """Probabilities (`chances`) or predictions of the first trees, for each of these ascending counts."""
    wanted = set(counts)
    staged = "staged_predict_proba" if chances else "staged_predict"
    if hasattr(model, staged):
        for n_trees, answer in enumerate(getattr(model, staged)(X), start=1):
            if n_trees in wanted:
                yield n_trees, np.array(answer)
    elif hasattr(model, "forest_"):
        part = copy(model)
        for n_trees in counts:
            part.forest_ = model.forest_.head(n_trees)
            yield n_trees, part.predict_proba(X) if chances else part.predict(X)
    else:
        yield from _means(model, X, wanted, chances)


def _means(model: Any, X: Any, wanted: set[int], chances: bool) -> Answers:
    """Forests of scikit-learn: the mean of the trees' answers."""
    rows = as_array(X).astype(np.float32)
    total: Any = 0
    for n_trees, tree in enumerate(model.estimators_, start=1):
        total = total + (tree.predict_proba(rows) if is_classifier(model) else tree.predict(rows))
        if n_trees in wanted:
            mean = total / n_trees
            yield n_trees, mean if chances or not is_classifier(model) else model.classes_[mean.argmax(axis=1)]
