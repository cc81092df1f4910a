"""Losses and metrics of a boosting fit, round by round."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from planewise._params import Limit
from planewise.slm._boost_data import Data, Floats
from planewise.slm._objectives import RawLoss
from planewise.slm.fitted import Trials

WEIGHT_NAMES = ("weight", "weights", "sample_weight")


class Found(NamedTuple):
    """What a metric says of some predictions."""

    name: str
    value: float
    greater_is_better: bool


# Targets (of a classifier: 0, 1, ...), raw scores and weights -> what is found, and perhaps more than one thing.
Measure = Callable[[NDArray[Any], Floats, Floats], list[Found]]


def metrics_allowed() -> Limit:
    """What ``eval_metric`` may be."""

    def allows(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return len(value) > 0 and all(isinstance(each, str) or callable(each) for each in value)
        return value is None or isinstance(value, str) or callable(value)

    return Limit(
        allows,
        "the name of a scikit-learn scorer, a scorer, a function (y_true, y_pred) -> (name, value, is_higher_better), "
        "a list of such, or None",
    )


class _ClassesOfScores(ClassifierMixin, BaseEstimator):
    """A classifier for scorers: its X are raw scores."""

    def __init__(self, loss: RawLoss, classes: NDArray[Any]) -> None:
        self.loss, self.classes_ = loss, classes

    def predict(self, score: Floats) -> NDArray[Any]:
        return self.classes_[self.loss.likeliest(score)]

    def predict_proba(self, score: Floats) -> Floats:
        return self.loss.probabilities(score)

    def decision_function(self, score: Floats) -> Floats:
        return score[:, 0] if score.shape[1] == 1 else score


class _NumbersOfScores(RegressorMixin, BaseEstimator):
    """A regressor for scorers: its X are raw scores."""

    def __init__(self, loss: RawLoss) -> None:
        self.loss = loss

    def predict(self, score: Floats) -> Floats:
        return self.loss.numbers(score)


class Metrics:
    """The metrics given as ``eval_metric``; false in a condition if there are none."""

    def __init__(self, asked: Any, loss: RawLoss, classes: NDArray[Any] | None) -> None:
        self.loss, self.classes = loss, classes
        self._answers: Any = _NumbersOfScores(loss) if classes is None else _ClassesOfScores(loss, classes)
        self._measures = [(name_of_metric(each), self._measure(each)) for each in metrics_in(asked)]
        self.first: Found | None = None  # the latest value of the one that decides
        self._names: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._measures)

    def truth(self, data: Data) -> NDArray[Any]:
        """Targets as functions get them: numbers, or the places of the classes."""
        return data.target if self.classes is None else data.target.astype(np.intp)

    def of(self, name: str, truth: NDArray[Any], score: Floats, weight: Floats) -> dict[str, float]:
        """All metrics of the set with this name, each named after it."""
        every = []
        for called, measure in self._measures:
            try:
                every += measure(truth, score, weight)
            except Exception as error:
                raise ValueError(f"eval_metric {called!r} failed on the rows of {name!r}: {error}") from error
        names = [found.name for found in every]
        for number, found in enumerate(every):
            if np.isnan(found.value):
                raise ValueError(f"eval_metric {found.name!r} is NaN on the rows of {name!r}; it must be a number.")
            if found.name in names[:number]:
                raise ValueError(
                    f"eval_metric has two metrics called {found.name!r}; give one of them another name, as a function "
                    "that returns (name, value, is_higher_better)."
                )
        self._names = self._names or names
        if names != self._names:
            raise ValueError(
                f"eval_metric returned the names {names} for the rows of {name!r}, but {self._names} before; names "
                "must always be the same."
            )
        self.first = every[0]
        return {f"{name} {found.name}": found.value for found in every}

    def _measure(self, asked: Any) -> Measure:
        if isinstance(asked, str):
            try:
                scorer = get_scorer(asked)
            except ValueError:
                raise ValueError(
                    f"eval_metric={asked!r} is not the name of a scikit-learn scorer; "
                    "sklearn.metrics.get_scorer_names() lists them."
                ) from None
            return self._by_scorer(asked, scorer)
        if hasattr(asked, "_score_func"):  # made by scikit-learn's make_scorer
            return self._by_scorer(name_of_metric(asked), asked)
        return self._by_function(asked)

    def _by_scorer(self, name: str, scorer: Any) -> Measure:
        if self.loss.levels:
            raise ValueError(
                f"eval_metric {name!r} is a scorer, which needs one prediction per row, but there are several "
                "quantiles. Pass a function (y_true, y_pred): its y_pred has shape (n_samples, n_levels)."
            )
        takes_weights = any(each.name == "sample_weight" for each in _parameters(scorer._score_func))

        def measure(truth: NDArray[Any], score: Floats, weight: Floats) -> list[Found]:
            weighted = takes_weights and not (weight == 1).all()
            labels = truth if self.classes is None else self.classes[truth]
            try:
                value = scorer(self._answers, score, labels, **{"sample_weight": weight} if weighted else {})
            except ValueError as error:
                if "pos_label" not in str(error):
                    raise
                function = name_of_metric(scorer)
                hint = f"Say which class is the positive one: sklearn.metrics.make_scorer({function}, pos_label=...)."
                raise ValueError(f"{str(error).rstrip('.')}. {hint}") from error
            return [Found(name, _number(value), True)]

        return measure

    def _by_function(self, function: Callable[..., Any]) -> Measure:
        call = _weighted_call(function)

        def measure(truth: NDArray[Any], score: Floats, weight: Floats) -> list[Found]:
            if self.classes is None:
                predicted = self._answers.predict(score)
            else:
                predicted = self._answers.predict_proba(score)
                predicted = predicted[:, 1] if predicted.shape[1] == 2 else predicted
            given = call(truth, predicted, weight)
            if isinstance(given, list) and not given:
                raise ValueError(
                    "it returned an empty list; return (name, value, is_higher_better), or a list of such."
                )
            return [_found(each) for each in (given if isinstance(given, list) else [given])]

        return measure


def metrics_in(asked: Any) -> list[Any]:
    """What ``eval_metric`` names, one by one."""
    return [] if asked is None else list(asked) if isinstance(asked, (list, tuple)) else [asked]


def name_of_metric(asked: Any) -> str:
    if isinstance(asked, str):
        return asked
    function = getattr(asked, "_score_func", asked)
    return str(getattr(function, "__name__", type(function).__name__))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        raise ValueError(
            f"eval_metric {name_of_metric(function)!r} does not say which parameters it has. Pass a Python function "
            "(y_true, y_pred) that calls it."
        ) from None


def _weighted_call(function: Callable[..., Any]) -> Callable[[NDArray[Any], Floats, Floats], Any]:
    """Call the function with targets, predictions and, if it takes them, weights."""
    parameters = _parameters(function)
    if "X" in [each.name for each in parameters[:2]] or [each.name for each in parameters[:1]] == ["estimator"]:
        raise ValueError(
            f"eval_metric {name_of_metric(function)!r} is a function of an estimator or of X. Pass a scorer from "
            "sklearn.metrics.make_scorer, or a function (y_true, y_pred) that returns (name, value, is_higher_better)."
        )
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    third = [each for each in parameters if each.kind in by_place][2:3]
    if any(each.default is inspect.Parameter.empty or each.name in WEIGHT_NAMES for each in third):
        return function
    named = [each.name for each in parameters if each.name in WEIGHT_NAMES]
    return lambda truth, predicted, weight: function(truth, predicted, **dict.fromkeys(named[:1], weight))


def _number(value: Any) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"its value must be a number, but is a {type(value).__name__}.")
    return float(value)


def _found(given: Any) -> Found:
    if isinstance(given, (int, float, np.number)):
        raise ValueError(
            "it returned a number, which does not say whether greater is better. Return (name, value, "
            "is_higher_better), or pass sklearn.metrics.make_scorer(function, greater_is_better=...)."
        )
    if not isinstance(given, tuple) or len(given) != 3 or not isinstance(given[0], str) or not given[0]:
        raise ValueError("it must return (name, value, is_higher_better), or a list of such.")
    return Found(given[0], _number(given[1]), bool(given[2]))


class _Followed(NamedTuple):
    """Rows whose loss and metrics are kept."""

    name: str
    data: Data
    truth: NDArray[Any]
    number: int | None  # of the set in the core; None for the training rows


class Booster(Protocol):
    """Boosting in the core, or on rows in parts."""

    def rounds(self, count: int) -> None: ...
    def loss(self) -> float: ...
    def score(self) -> Floats: ...
    def watched_loss(self, set: int) -> float: ...
    def watched_score(self, set: int) -> Floats: ...
    def trial_losses(self) -> Floats: ...
    def left_out(self) -> Floats: ...


class Monitor:
    """Losses and metrics of the training rows and of other sets, after each round."""

    def __init__(self, boosting: Booster, loss: RawLoss, metrics: Metrics, train: Data) -> None:
        self.boosting, self.loss, self.metrics = boosting, loss, metrics
        self.history: dict[str, list[float]] = {}
        self.best_trials: Trials | None = None  # what a warm start needs of the best round
        self._has_losses = loss.own is None  # a custom loss has derivatives only
        self._followed: list[_Followed] = []
        if metrics or self._has_losses:
            self._followed.append(_Followed("train", train, metrics.truth(train), None))

    def follow(self, name: str, data: Data, number: int) -> None:
        """Follow one more set, which the core watches under this number."""
        self._followed.append(_Followed(name, data, self.metrics.truth(data), number))

    def complete(self, stages_of: Callable[[Data], Iterable[Floats]]) -> None:
        """Fill in the rounds of an earlier fit, from the scores after each of them."""
        for each in self._followed:
            data = each.data
            for score in stages_of(data):
                loss = self.loss.mean(data.target, data.weight, score) if self._has_losses else 0.0
                self._add(self._values(each, loss, score))

    def after_round(self) -> dict[str, float]:
        """The values now, which are kept as well."""
        now: dict[str, float] = {}
        for each in self._followed:
            loss, score = 0.0, None
            if self._has_losses:
                loss = self.boosting.loss() if each.number is None else self.boosting.watched_loss(each.number)
            if self.metrics:
                score = self.boosting.score() if each.number is None else self.boosting.watched_score(each.number)
            now |= self._values(each, loss, score)
        self._add(now)
        return now

    def losses_that_decide(self) -> list[float]:
        """Of the validation rows, the lower the better: the first metric, or else the loss; empty without such rows."""
        if not self.metrics:
            return self.history.get("validation", [])
        if self.metrics.first is None:
            return []
        values = self.history.get(f"validation {self.metrics.first.name}", [])
        return [-value for value in values] if self.metrics.first.greater_is_better else values

    def _values(self, each: _Followed, loss: float, score: Floats | None) -> dict[str, float]:
        """By the names of ``evals_result_``."""
        own = {each.name: loss} if self._has_losses else {}
        if score is None or not self.metrics:
            return own
        return own | self.metrics.of(each.name, each.truth, score, each.data.weight)

    def _add(self, values: dict[str, float]) -> None:
        for name, value in values.items():
            self.history.setdefault(name, []).append(value)
