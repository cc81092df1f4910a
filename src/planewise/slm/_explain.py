"""Why trees, forests and boosting answer as they do: the path down one tree, or what each column added."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._input import prediction_rows
from planewise._tables import rows_as_given
from planewise.slm._describe import DescribedTrees
from planewise.slm.fitted import Forest, start_and_link
from planewise.words import (
    CategoryStatistic,
    Contributions,
    Path,
    Start,
    Step,
    feature_names,
    normal_form,
    plane_in_words,
    read_plane,
)


class ExplainsByPath(DescribedTrees):
    """A mixin for one tree."""

    tree_: Forest
    categories_: Any

    def explain(self, X: Any) -> list[Path]:
        """Why each row gets its prediction: the planes on its way down the tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        paths : list of planewise.words.Path
            One per row.
        """
        check_is_fitted(self)
        names, answers = feature_names(self), self.predict(X)  # type: ignore[attr-defined]
        words = [plane_in_words(read_plane(self.tree_, k), names, self.categories_) for k in range(self.tree_.n_planes)]
        rows = prediction_rows(self, X)
        leaves = self.tree_.apply(rows)[:, 0]
        planes = _Planes(self.tree_, names, words, self.categories_)
        return [
            _path(planes, row, given, int(leaf), answer)
            for row, given, leaf, answer in zip(rows, rows_as_given(X), leaves, answers, strict=True)
        ]


class _Planes(NamedTuple):
    """The planes of a tree, as steps show them."""

    trees: Forest
    names: list[str]
    words: list[str]
    categories: Any

    def step(self, node: int, place: int, value: float, right: bool, given: Any) -> Step:
        """One plane, with the row's own number where it looks at one column."""
        trees, terms = self.trees, slice(self.trees.term_start[place], self.trees.term_start[place + 1])
        form = normal_form(trees.term_weight[terms], trees.threshold[place])
        features, depth, words = trees.term_feature[terms].tolist(), int(trees.depth[node]), self.words[place]
        column = self.names[features[0]] if len(features) == 1 else None
        known = self.categories.get(features[0])
        if known is not None:
            name = known[int(value)] if 0 <= value < len(known) else "another category"
            return Step(depth, words, None if np.isnan(value) else name, right, column)
        if np.isnan(value):
            return Step(depth, words, None, right, column, None if column is None else form.threshold)
        if column is None:
            return Step(depth, words, value / form.divisor, right)
        return Step(depth, words, given[features[0]], right, column, form.threshold)


def _path(planes: _Planes, row: NDArray[np.float32], given: Any, leaf: int, answer: Any) -> Path:
    trees = planes.trees
    steps = [
        planes.step(int(node), int(plane), float(value), bool(right), given)
        for node, plane, value, right in zip(*trees.trace(row), strict=True)
    ]
    return Path(answer, steps, leaf, int(trees.depth[leaf]), int(trees.n_samples[leaf]), trees.value[leaf].tolist())


class ExplainsByContributions(DescribedTrees):
    """A mixin for sums of trees."""

    def explain(self, X: Any) -> list[Contributions]:
        """Why each row gets its prediction: what each column added to the probability, score or number.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        contributions : list of planewise.words.Contributions
            One per row; they are those of ``predict_contributions``. With ``voting="hard"`` they add up to the trees'
            mean probability, not to the share of votes that ``predict_proba`` gives.
        """
        parts, answers = self.predict_contributions(X), self.predict(X)  # type: ignore[attr-defined]
        made = _number_added_up if getattr(self, "classes_", None) is None else _class_added_up
        codes = prediction_rows(self, X)
        return [
            made(self, feature_names(self), *each) for each in zip(rows_as_given(X), codes, parts, answers, strict=True)
        ]


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
        what="the logarithm of the prediction" if logarithm else "the prediction",
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
