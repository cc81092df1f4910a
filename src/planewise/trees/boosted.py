"""What fitted boosting answers: scores, leaves, contributions and importances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._params import integer
from planewise.data.problem import thread_count
from planewise.trees.arrays import tree_rows
from planewise.trees.boost_data import Floats, read_offset
from planewise.trees.explain import ExplainsByContributions
from planewise.trees.growth import TreeEstimator
from planewise.trees.losses import RawLoss
from planewise.trees.target_statistics import TargetStatistics, added_to_sources, n_tree_columns


class BoostedTrees(ExplainsByContributions, TreeEstimator):
    """The answers of the classifier and the regressor."""

    n_iter_: int
    base_score_: Floats
    target_statistics_: dict[int, TargetStatistics]
    _loss: RawLoss

    def get_feature_importances(self, kind: str = "gain") -> NDArray[np.float64]:
        """Share of each feature in the planes, by "gain", by number of planes ("split") or by their rows ("cover")."""
        n_features, statistics = self.n_features_in_, self.target_statistics_
        shares = self._trees().importances(n_tree_columns(n_features, statistics), kind)
        return added_to_sources(shares, n_features, statistics)

    @property
    def n_stored_numbers_(self) -> int:
        """Number of non-zero weights, thresholds, leaf values and target statistics."""
        return super().n_stored_numbers_ + sum(each.n_numbers for each in self.target_statistics_.values())

    @property
    def n_bytes_(self) -> int:
        """Bytes of the arrays that prediction needs."""
        return super().n_bytes_ + sum(4 * each.n_numbers for each in self.target_statistics_.values())

    def _n_trees(self, n_rounds: int | None) -> int:
        """The number of trees in the first rounds; all if None."""
        check_is_fitted(self)
        if n_rounds is None:
            return self.forest_.n_trees
        if self.n_iter_ == 0:
            raise ValueError("n_rounds must be None here: the model knows one class and has no rounds.")
        if not integer(1, self.n_iter_).allows(n_rounds):
            raise ValueError(f"n_rounds must be an integer from 1 to n_iter_, {self.n_iter_}; got {n_rounds!r}.")
        return int(n_rounds) * self.forest_.trees_per_round

    def _raw(self, X: Any, offset: Any = None, n_rounds: int | None = None) -> Floats:
        last, rows = self._n_trees(n_rounds), tree_rows(self, X)
        raw = self.forest_.predict(rows, self.base_score_, last=last, n_threads=thread_count(self.n_jobs))
        given = read_offset(offset, len(rows), self._loss)
        return raw if given is None else raw + given

    def apply(self, X: Any, *, n_rounds: int | None = None) -> NDArray[np.int32]:
        """The node in which each row ends, in every tree.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        n_rounds : int or None, default=None
            Use the trees of the first rounds only.

        Returns
        -------
        nodes : int array of shape (n_samples, n_trees)
            Numbers of nodes, counted from the root of each tree: mostly leaves. Trees are in the order they were grown
            in. With more than two classes, a round has one tree per class, next to each other, in the order of the
            classes: those of round ``r``, counted from 0, are the columns ``r * n_classes`` to
            ``(r + 1) * n_classes - 1``.
        """
        n_trees = self._n_trees(n_rounds)
        return self.forest_.head(n_trees).apply(tree_rows(self, X), thread_count(self.n_jobs))

    def predict_contributions(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """What each feature added to the raw score of each row, without an offset.

        Every step down a tree changes the score; the change is shared among the terms of the node's planes by how far
        they are from the training mean (a missing value or a category counts as one standard deviation).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        n_rounds : int or None, default=None
            Use the first rounds only.

        Returns
        -------
        contributions : array of shape (n_samples, n_features + 1), or (n_samples, n_classes, n_features + 1)
            The last entry is the mean score of the training rows; a row's entries add up to its raw score: the
            ``decision_function`` of a classifier, the prediction of a regressor (its logarithm for "poisson", "gamma"
            and "tweedie").
        """
        n_trees = self._n_trees(n_rounds)
        return self._contributions(X, self.forest_.head(n_trees))

    def _staged_raw(self, X: Any, offset: Any = None) -> Iterator[Floats]:
        check_is_fitted(self)
        rows = tree_rows(self, X)
        given = read_offset(offset, len(rows), self._loss)
        for raw in self.forest_.stages(rows, self.base_score_, thread_count(self.n_jobs)):
            yield raw if given is None else raw + given
