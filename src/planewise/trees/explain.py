"""Why trees, forests and boosting answer as they do: the path down one tree, or what each column added."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._text import feature_names
from planewise.data.problem import prediction_rows, thread_count
from planewise.data.tables import rows_as_given
from planewise.data.values import Columns
from planewise.explain.contributions import CategoryStatistic, Start
from planewise.explain.describe import ranks_queries
from planewise.explain.planes import (
    Plane,
    counted_from,
    plane_form,
    plane_in_words,
    read_plane,
    threshold_step,
)
from planewise.explain.reasons import Contributions, Path, Step
from planewise.trees.arrays import Forest, start_and_link, tree_rows
from planewise.trees.rules import DescribedTrees
from planewise.trees.target_statistics import added_to_sources


class HasContributions(DescribedTrees):
    """A mixin for trees, alone or added up."""

    def predict_contributions(self, X: Any) -> NDArray[np.float64]:
        """What each feature added to each row's prediction.

        Every step down a tree changes the value; the change is shared among the terms of the node's planes by how far
        they are from the training mean (a missing value or a category counts as one standard deviation).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        contributions : array of shape (n_samples, n_features + 1), or (n_samples, n_classes, n_features + 1)
            The last entry is the mean over the training rows; a row's entries add up to its prediction: the number, the
            probability of the second of two classes, or of each class (in a forest the mean over the trees, whatever
            `voting` is).
        """
        check_is_fitted(self)
        return self._contributions(X, self._trees())  # type: ignore[attr-defined]

    def _contributions(self, X: Any, trees: Forest) -> NDArray[np.float64]:
        """Those of these trees, which may be a part of the estimator's."""
        model: Any = self
        start, _ = start_and_link(model)
        rows, threads = tree_rows(model, X), thread_count(model.n_jobs)
        found = trees.contributions(rows, model.feature_means_, threads)
        if not hasattr(model, "base_score_"):  # the values of boosting are added up, others are averaged
            found /= trees.n_trees
        found[:, :, -1] += start
        if statistics := getattr(model, "target_statistics_", {}):
            columns = added_to_sources(found[:, :, :-1], model.n_features_in_, statistics)
            found = np.concatenate([columns, found[:, :, -1:]], axis=2)
        if found.shape[1] == 2 and len(getattr(model, "classes_", ())) == 2:  # one tree keeps both probabilities
            found = found[:, 1:]
        return found[:, 0] if found.shape[1] == 1 else found


class ExplainsByPath(HasContributions):
    """A mixin for one tree."""

    tree_: Forest
    categories_: Any
    feature_origins_: dict[int, float]

    def explain(self, X: Any) -> list[Path]:
        """Why each row gets its prediction: the planes on its way down the tree.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        paths : list of planewise.explain.Path
            One per row.
        """
        check_is_fitted(self)
        columns, answers = Columns.of(self), self.predict(X)  # type: ignore[attr-defined]
        every = [read_plane(self.tree_, k, self.feature_origins_) for k in range(self.tree_.n_planes)]
        words = [plane_in_words(plane, columns) for plane in every]
        rows = prediction_rows(self, X)
        leaves = self.tree_.apply(rows)[:, 0]
        planes = _Planes(self.tree_, every, words, columns)
        return [
            _path(planes, row, given, int(leaf), answer)
            for row, given, leaf, answer in zip(rows, rows_as_given(X), leaves, answers, strict=True)
        ]


class _Planes(NamedTuple):
    """The planes of a tree, as steps show them."""

    trees: Forest
    planes: list[Plane]
    words: list[str]
    columns: Columns

    def step(self, node: int, place: int, value: float, right: bool, given: Any) -> Step:
        """One plane, with the row's own number where it looks at one column."""
        plane = self.planes[place]
        features, depth, words = plane.features, int(self.trees.depth[node]), self.words[place]
        column = self.columns.names[features[0]] if len(features) == 1 else None
        known = self.columns.categories.get(features[0])
        if known is not None:
            name = known[int(value)] if 0 <= value < len(known) else "another category"
            return Step(depth, words, None if np.isnan(value) else name, right, column)
        if np.isnan(value):
            return Step(depth, words, None, right, column)
        if column is None:
            shown = counted_from(plane, self.columns)
            moved = plane.shift - shown.shift if shown.is_relative else 0.0  # the tree's sum starts at its own origins
            return Step(depth, words, (value + moved) / plane_form(shown).divisor, right)
        own = self.columns.value(features[0], given[features[0]])
        return Step(depth, words, own, right, column, threshold_step(plane, 6))


def _path(planes: _Planes, row: NDArray[np.float32], given: Any, leaf: int, answer: Any) -> Path:
    trees = planes.trees
    steps = [
        planes.step(int(node), int(plane), float(value), bool(right), given)
        for node, plane, value, right in zip(*trees.trace(row), strict=True)
    ]
    return Path(answer, steps, leaf, int(trees.depth[leaf]), int(trees.n_samples[leaf]), trees.value[leaf].tolist())


class ExplainsByContributions(HasContributions):
    """A mixin for sums of trees."""

    def explain(self, X: Any) -> list[Contributions]:
        """Why each row gets its prediction: what each column added to the probability, score or number.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        contributions : list of planewise.explain.Contributions
            One per row; they are those of ``predict_contributions``, and without an offset. With ``voting="hard"`` they
            add up to the trees' mean probability, not to the share of votes that ``predict_proba`` gives.
        """
        parts, answers = self.predict_contributions(X), self.predict(X)  # type: ignore[attr-defined]
        made = _number_added_up if getattr(self, "classes_", None) is None else _class_added_up
        codes, given = prediction_rows(self, X), map(Columns.of(self).row, rows_as_given(X))
        return [made(self, feature_names(self), *each) for each in zip(given, codes, parts, answers, strict=True)]


def _category_statistics(estimator: Any, row: NDArray[np.float32], of: Any = None) -> dict[int, CategoryStatistic]:
    """By column, what the model reads in place of a row's category: the share of the class `of`, where it is there."""
    found = {}
    for column, known in getattr(estimator, "target_statistics_", {}).items():
        place = 0
        if known.classes is not None:
            places = np.flatnonzero(estimator.classes_[known.classes] == of)
            if len(places) == 0:
                continue
            place = int(places[0])
        value, code = known.of_codes(row[[column]])[0, place], row[column]
        if not np.isnan(value):
            name = known.names(getattr(estimator, "classes_", None))[place]
            found[column] = CategoryStatistic(name, float(value), bool(code >= len(known.values)))
    return found


def _number_added_up(estimator: Any, names: list[str], values: Any, row: Any, parts: Any, answer: Any) -> Contributions:
    logarithm = start_and_link(estimator)[1] == "exp"
    return Contributions.of_columns(
        names,
        values,
        parts[:-1],
        _category_statistics(estimator, row),
        prediction=answer,
        what="the score" if ranks_queries(estimator) else f"{'the logarithm of ' * logarithm}the prediction",
        of=None,
        average=float(parts[-1]),
        total=float(np.sum(parts)),
        logarithm=logarithm,
    )


def _class_added_up(estimator: Any, names: list[str], values: Any, row: Any, parts: Any, answer: Any) -> Contributions:
    classes = estimator.classes_
    shares = hasattr(estimator, "voting")  # the trees of a forest add up to probabilities
    by_votes = shares and estimator.voting == "hard"
    what, neutral = ("probability", 0.5) if shares else ("score", 0.0)
    place, start = int(np.flatnonzero(classes == answer)[0]), None
    of, towards = answer, 1.0
    if len(classes) > 1:
        if parts.ndim == 1:  # of the second of two classes
            halves = np.array([-0.5, 0.5])
            averages, columns = halves * (parts[-1] - neutral), halves * parts[:-1].sum()
            of, towards = classes[1], 1.0 if place else -1.0
        else:
            averages, columns = parts[:, -1], parts[:, :-1].sum(axis=1)
            parts = parts[place]
        votes = ("the trees' votes", "their mean probability") if by_votes else None
        start = Start.of(f"the average {what}", classes, place, averages, columns, votes)
    total = float(np.sum(parts))
    if shares:
        total = min(max(total, 0.0), 1.0)  # rounding must not lead out of a probability's range
    return Contributions.of_columns(
        names,
        values,
        parts[:-1],
        _category_statistics(estimator, row, of),
        prediction=answer,
        what="the trees' mean probability" if by_votes else f"the {what}",
        of=of,
        average=float(parts[-1]),
        total=total,
        towards=towards,
        start=start,
        only_class=len(classes) == 1,
    )
