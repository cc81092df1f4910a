"""How well a model does on given rows, beside simple models."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from planewise._text import counted, number, one_line, percent
from planewise.data.categories import as_label_array
from planewise.data.tables import n_rows
from planewise.evaluate.baselines import Answers, baselines
from planewise.evaluate.evaluation import Evaluation, case_of, require_evaluation
from planewise.evaluate.measures import Measured, area, explained, mean, mean_of_shares, root_mean, share
from planewise.evaluate.verdict import (
    CONSTANT,
    LINEAR,
    ConstantComparison,
    LinearComparison,
    compare_with_constant,
    compare_with_linear,
    log_losses,
)

MEASURES = {  # in the order they are shown; the first of a task is the one that models are compared by
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "roc_auc": "ROC AUC",
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "MAE",
}
SHARES = ("accuracy", "balanced_accuracy")  # shown in per cent


@dataclass(frozen=True, repr=False)
class Quality:
    """The measures of a model beside those of simple models, on the same rows.

    Attributes
    ----------
    found : dict of dict of Measured
        By model ("model" first, then the simple ones) and by measure, see ``MEASURES``.
    note : str
        What was measured, and what the simple models were fitted on.
    linear : LinearComparison or None
        Whether the linear model is as good; None if there is none.
    constant : ConstantComparison or None
        Whether the most common class or the mean is as good; None if the quality comes from a record.
    """

    found: dict[str, dict[str, Measured]]
    note: str
    linear: LinearComparison | None = None
    constant: ConstantComparison | None = None

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """What the record of a fit keeps of it."""
        found = {
            name: {measure: Measured(**each) for measure, each in measures.items() if measure in MEASURES}
            for name, measures in record["quality"].items()
        }
        note = "95% confidence intervals in brackets."
        constant, linear = (next((each for each in names if each in found), None) for names in (CONSTANT, LINEAR))
        if constant is not None and _is_worse(found["model"], found[constant]):
            note += f" On these rows, this model is no better than the {constant.replace('_', ' ')}."
        elif record["linear_is_as_good"] and linear is not None:
            note += f" On these rows, a {linear.replace('_', ' ')} is as good as this model."
        return cls(found, note)

    def sentences(self) -> list[str]:
        """What simple models say about the model: that the mean is as good, or that a linear model is."""
        is_useless = self.constant is not None and self.constant.is_as_good
        told = [self.constant.sentence()] if self.constant is not None and is_useless else []
        if self.linear is not None and (self.linear.is_better if is_useless else self.linear.is_as_good):
            told.append(self.linear.sentence())
        return told

    def data(self) -> dict[str, dict[str, dict[str, float]]]:
        """For programs: by model and measure the ``value`` and the bounds of its interval, ``low`` and ``high``."""
        return {name: {measure: asdict(each) for measure, each in found.items()} for name, found in self.found.items()}

    def table(self) -> tuple[list[str], list[list[str]]]:
        """For people: a header, and one row per measure with a column per model."""
        rows = [
            [
                MEASURES[measure],
                *(in_words(measure, each[measure]) if measure in each else "" for each in self.found.values()),
            ]
            for measure in self.found["model"]
        ]
        return ["measure", *(name.replace("_", " ") for name in self.found)], rows

    def __repr__(self) -> str:
        first = next(iter(self.found["model"]))
        names = ", ".join(name.replace("_", " ") for name in list(self.found)[1:])
        return one_line(self, f"{MEASURES[first]} {in_words(first, self.found['model'][first])}, beside {names}")


def quality(case: Evaluation, X_train: Any = None, y_train: Any = None) -> Quality:
    """Measure a model and, on the same rows, the most common class or the mean and a linear model.

    With training rows, the simple models are fitted on them, as the model itself was. Without, the linear model is
    fitted on the given rows in five folds, each of which is judged by the fit on the others.

    Parameters
    ----------
    case : Evaluation
        What :func:`evaluate` returns.
    X_train, y_train : rows and targets, default=None
        What the model was fitted on, both or neither. For a TableModel, X_train is the training table; without y_train,
        the target column is read from there.
    """
    require_evaluation(case, "quality")
    X_train, y_train = _training_rows(case, X_train, y_train)
    answers = {"model": Answers(case.predicted, case.probability), **baselines(case, X_train, y_train)}
    found = {name: _measures(case, each) for name, each in answers.items()}
    note = _note(case, list(answers)[1:], y_train is not None)
    return Quality(found, note, compare_with_linear(case, answers), compare_with_constant(case, answers))


def _is_worse(model: dict[str, Measured], constant: dict[str, Measured]) -> bool:
    """Whether a constant is at least as good in all that models are compared by."""
    both = model.keys() & constant.keys()  # a file can hold any record
    at_most = [constant[name].value <= model[name].value for name in ("rmse", "log_loss") if name in both]
    at_least = [constant["accuracy"].value >= model["accuracy"].value] if "accuracy" in both else []
    compared = [*at_most, *at_least]
    return bool(compared) and all(compared)


def _training_rows(case: Evaluation, X_train: Any, y_train: Any) -> tuple[Any, NDArray[Any] | None]:
    """As the estimator takes them."""
    model = case.table_model
    if X_train is not None and model is not None:
        _, X_train, y_train, *_ = case_of(model, X_train, y_train)
    if (X_train is None) != (y_train is None):
        missing, given = ("X_train", "y_train") if X_train is None else ("y_train", "X_train")
        raise ValueError(f"{missing} is missing: training rows and their targets go together; got {given} alone.")
    if X_train is None:
        return None, None
    targets, length = as_label_array(y_train), n_rows(X_train)
    if targets.shape != (length,):
        raise ValueError(
            f"y_train must have one target for each of the {length} rows of X_train; got shape {targets.shape}."
        )
    return X_train, targets


def _note(case: Evaluation, simple: list[str], on_training_rows: bool) -> str:
    weighted = ", weighted" if np.ptp(case.weight) > 0 else ""
    note = [
        f"Measured on {counted(np.count_nonzero(case.weight), 'row')}{weighted}; 95% confidence intervals in brackets."
    ]
    if case.n_without_target:
        were = "was" if case.n_without_target == 1 else "were"
        note.append(f"{counted(case.n_without_target, 'row')} without a target {were} left out.")
    if case.classes is not None:
        note.append("Balanced accuracy is the mean of the classes' recalls.")
    constant, *linear = (name.replace("_", " ") for name in simple)
    if on_training_rows:
        both = f" and the {linear[0]} were" if linear else " was"
        note.append(f"The {constant}{both} fitted on the training rows.")
    else:
        note.append(f"The {constant} is that of these rows.")
        note += [
            f"The {name} was fitted on these rows in five folds: no row is judged by a fit on it." for name in linear
        ]
    return " ".join(note)


def measures(case: Evaluation) -> dict[str, Measured]:
    """All measures of a model's predictions, by the keys of ``MEASURES``."""
    require_evaluation(case, "measures")
    return _measures(case, Answers(case.predicted, case.probability))


def in_words(measure: str, found: Measured) -> str:
    """Such as "93.8% (83.2 to 97.9)", or "0.1234 (0.09 to 0.157)"."""
    if found.low == found.high:  # by definition, as the AUC of a constant
        return number(found.value)
    if measure in SHARES:
        return f"{percent(found.value, 1)} ({100 * found.low:.1f} to {100 * found.high:.1f})"
    return f"{number(found.value)} ({number(found.low, 3)} to {number(found.high, 3)})"


def _measures(case: Evaluation, given: Answers) -> dict[str, Measured]:
    return _of_numbers(case, given.predicted) if case.classes is None else _of_classes(case, given)


def _of_numbers(case: Evaluation, predicted: NDArray[Any]) -> dict[str, Measured]:
    error, found = case.target - predicted, {}
    if np.ptp(case.target[case.weight > 0]) > 0:
        found["r2"] = explained(case.target, predicted, case.weight)
    found["rmse"] = root_mean(error**2, case.weight)
    found["mae"] = mean(np.abs(error), case.weight)
    return found


def _of_classes(case: Evaluation, given: Answers) -> dict[str, Measured]:
    hit, classes = given.predicted == case.target, case.classes
    assert classes is not None
    places = [(case.target == label) & (case.weight > 0) for label in classes]
    recalls = [share(hit[here], case.weight[here]) for here in places if here.any()]
    found = {
        "accuracy": share(hit, case.weight),
        "balanced_accuracy": mean_of_shares(recalls),
    }
    if given.probability is not None:
        found["log_loss"] = mean(log_losses(case, given.probability), case.weight)
        if len(classes) == 2 and len(recalls) == 2:
            found["roc_auc"] = area(given.probability[:, 1], places[1], case.weight)
    return found
