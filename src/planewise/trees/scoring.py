"""The loss, or the score, of a boosting fit after every round."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring, get_scorer

from planewise.trees.arrays import Trials
from planewise.trees.boost_data import Data, Floats
from planewise.trees.losses import RawLoss


class Scoring:
    """The scorer that `scoring` names, asked about raw scores; larger is better.

    A scorer asks an estimator about X. It gets a copy of the estimator that knows the raw scores of these rows: sending
    them down all trees again after every round would take quadratic time.
    """

    def __init__(self, estimator: Any, loss: RawLoss) -> None:
        scoring = estimator.scoring
        self._scorer = get_scorer(scoring) if isinstance(scoring, str) else check_scoring(estimator, scoring=scoring)
        self._model = copy(estimator)
        self._model._loss = loss
        function = getattr(self._scorer, "_score_func", self._scorer)
        self._takes_weights = "sample_weight" in inspect.signature(function).parameters

    def __call__(self, data: Data, score: Floats) -> float:
        """Return the score of rows with these raw scores."""
        classes = getattr(self._model, "classes_", None)
        y = data.target if classes is None else classes[data.target.astype(np.intp)]

        def raw_scores(X: Any, *_: Any) -> Floats:
            if X is not data.rows:
                raise ValueError("During the fit, a callable `scoring` can only predict the X that it is called with.")
            return score

        self._model._raw = raw_scores
        weighted = self._takes_weights and not (data.weight == 1).all()
        value = self._scorer(self._model, data.rows, y, **{"sample_weight": data.weight} if weighted else {})
        if not isinstance(value, (int, float, np.integer, np.floating)) or np.isnan(value):
            raise ValueError(f"scoring={self._model.scoring!r} must return a number that is not NaN; got {value!r}.")
        return float(value)


class Booster(Protocol):
    """Boosting in the core, or on rows in parts."""

    def rounds(self, count: int) -> None: ...
    def loss(self) -> float: ...
    def score(self) -> Floats: ...
    def watched_loss(self, set: int) -> float: ...
    def watched_score(self, set: int) -> Floats: ...
    def trial_losses(self) -> Floats: ...
    def left_out(self) -> Floats: ...


class _Followed(NamedTuple):
    """Rows whose loss or score is recorded."""

    data: Data
    number: int | None  # of the set in the core; None for the training rows


class Monitor:
    """The loss, or the score with `scoring`, of the training and the validation rows after each round."""

    def __init__(self, boosting: Booster, loss: RawLoss, scoring: Scoring | None, train: Data) -> None:
        self.boosting, self.loss, self.scoring = boosting, loss, scoring
        self.best_trials: Trials | None = None  # what a warm start needs of the best round
        # A custom loss has derivatives only.
        self._followed = {"train": _Followed(train, None)} if scoring or loss.own is None else {}
        self._history: dict[str, list[float]] = {"train": [], "validation": []}

    def follow(self, validation: Data, number: int) -> None:
        """Follow the validation rows, which the core watches under this number."""
        self._followed["validation"] = _Followed(validation, number)

    def complete(self, stages_of: Callable[[Data], Iterable[Floats]]) -> None:
        """Fill in the rounds of an earlier fit, from the raw scores after each of them."""
        for name, (data, _) in self._followed.items():
            for score in stages_of(data):
                if self.scoring is None:
                    self._history[name].append(self.loss.mean(data.target, data.weight, score))
                else:
                    self._history[name].append(self.scoring(data, score))

    def after_round(self) -> dict[str, float]:
        """Record and return the values of this round."""
        now = {name: self._value(*each) for name, each in self._followed.items()}
        for name, value in now.items():
            self._history[name].append(value)
        return now

    def _value(self, data: Data, number: int | None) -> float:
        boosting = self.boosting
        if self.scoring is None:
            return boosting.loss() if number is None else boosting.watched_loss(number)
        return self.scoring(data, boosting.score() if number is None else boosting.watched_score(number))

    def losses(self) -> list[float]:
        """Return what early stopping lowers, by round; empty without validation rows."""
        values = self._history["validation"]
        return values if self.scoring is None else [-value for value in values]

    def scores(self, name: str) -> NDArray[np.float64]:
        """Return the scores of "train" or "validation" by round: the larger, the better."""
        values = np.array(self._history[name], dtype=np.float64)
        return values if self.scoring else -values
