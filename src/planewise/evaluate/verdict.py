"""Whether a constant or a linear model is as good as the model, judged row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._text import number, percent
from planewise.evaluate.baselines import Answers
from planewise.evaluate.evaluation import Evaluation
from planewise.evaluate.measures import Vector, standard_error

LINEAR = ("logistic_regression", "ridge_regression")
CONSTANT = ("most_common_class", "mean")


@dataclass(frozen=True)
class LinearComparison:
    """A linear model beside the model, on the same rows.

    Attributes
    ----------
    name : {"logistic_regression", "ridge_regression"}
    measure : {"accuracy", "rmse"}
    model, linear : float
        This measure of both.
    difference, standard_error : float
        By how much the linear model's loss per row (1 for a wrong class; the squared error) is larger in the mean, and
        the standard error of this difference.
    is_as_good : bool
        Whether the difference is at most one standard error; with probabilities, that of the log losses as well.
    """

    name: str
    measure: str
    model: float
    linear: float
    difference: float
    standard_error: float
    is_as_good: bool

    @property
    def is_better(self) -> bool:
        """Whether the model's loss is larger by more than one standard error."""
        return self.is_as_good and self.difference < -self.standard_error

    def sentence(self) -> str:
        """That a linear model is as good, in words; empty if it is not."""
        if not self.is_as_good:
            return ""
        named = self.name.replace("_", " ")
        both = _both(self.measure, self.linear, self.model)
        if self.is_better:
            return f"A {named} is better on these rows: {both}."
        within = "" if self.difference <= 0 else "; the difference is within one standard error"
        return f"A {named} is as good on these rows: {both}{within}."


@dataclass(frozen=True)
class ConstantComparison:
    """The most common class or the mean beside the model, on the same rows.

    Attributes
    ----------
    name : {"most_common_class", "mean"}
    measure : {"accuracy", "rmse"}
    model, constant : float
        This measure of both.
    difference, standard_error : float
        By how much the constant's loss per row is larger in the mean, and the standard error of this difference.
    is_as_good : bool
        As for a linear model: then the model has learned nothing that shows on these rows.
    target : str or None
        The name of the target, if it is known.
    """

    name: str
    measure: str
    model: float
    constant: float
    difference: float
    standard_error: float
    is_as_good: bool
    target: str | None = None

    def sentence(self) -> str:
        """That the model is no better, in words; empty if it is."""
        if not self.is_as_good:
            return ""
        named = self.name.replace("_", " ")
        of = "" if self.target is None else f" of {self.target!r}"
        both = _both(self.measure, self.constant, self.model)
        return f"The model is no better than the {named}{of} on these rows: {both}. No column improves the prediction."


def _both(measure: str, other: float, model: float) -> str:
    if measure == "accuracy":
        return f"its accuracy is {percent(other, 1)}, that of the model {percent(model, 1)}"
    return f"its RMSE is {number(other)}, that of the model {number(model)}"


def compare_with_linear(case: Evaluation, answers: dict[str, Answers]) -> LinearComparison | None:
    """The comparison, if a linear model could be fitted."""
    name = next((name for name in LINEAR if name in answers), None)
    return None if name is None else LinearComparison(name, *_compared(case, answers, name))


def compare_with_constant(case: Evaluation, answers: dict[str, Answers]) -> ConstantComparison:
    """The comparison with the most common class or the mean."""
    name = next(name for name in CONSTANT if name in answers)
    target = None if case.table_model is None else case.table_model.target_
    return ConstantComparison(name, *_compared(case, answers, name), target=target)


def _compared(case: Evaluation, answers: dict[str, Answers], name: str) -> tuple[str, float, float, float, float, bool]:
    """The measure, its value for both, the difference of losses and its error, and whether the other is as good."""
    model, other = (_losses(case, answers[each]) for each in ("model", name))
    found = [_excess(other[each], model[each], case.weight) for each in model if each in other]
    of_model, of_other = (float(np.average(each["first"], weights=case.weight)) for each in (model, other))
    if case.classes is None:
        measure, of_model, of_other = "rmse", float(np.sqrt(of_model)), float(np.sqrt(of_other))
    else:
        measure, of_model, of_other = "accuracy", 1 - of_model, 1 - of_other
    return measure, of_model, of_other, *found[0], all(difference <= error for difference, error in found)


def _excess(loss: Vector, than: Vector, weight: Vector) -> tuple[float, float]:
    difference = loss - than
    excess = float(np.average(difference, weights=weight))
    return excess, standard_error(difference - excess, weight)


def _losses(case: Evaluation, given: Answers) -> dict[str, Any]:
    """By row: what models are compared by, and the log loss if there are probabilities."""
    if case.classes is None:
        return {"first": (case.target - given.predicted) ** 2}
    found = {"first": (given.predicted != case.target).astype(np.float64)}
    if given.probability is not None:
        found["log_loss"] = log_losses(case, given.probability)
    return found


def log_losses(case: Evaluation, probability: Any) -> Vector:
    """The log loss of each row."""
    assert case.classes is not None
    chance = probability[np.arange(len(case.target)), np.searchsorted(case.classes, case.target)]
    losses: Vector = -np.log(np.clip(chance, np.finfo(chance.dtype).eps, 1)).astype(np.float64)
    return losses
