"""What the answers of all machines are explained and described by: vectors, and the score that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._text import feature_names, number, signed
from planewise.data.values import entry_in_words
from planewise.explain.contributions import Start
from planewise.explain.describe import Description, Limits, TableSection
from planewise.explain.reasons import Contributions, Vector, Vectors
from planewise.machines.columns import Preparation, shown_values

MAX_COLUMNS = 6  # by which vectors are shown; as data they are whole
Numbers = NDArray[np.float64]
KERNELS = {
    "linear": "x·v",
    "rbf": "exp(−{gamma}·|x − v|²)",
    "poly": "({gamma}·x·v + {coef0}) to the power of {degree}",
}


class Kept:
    """Support vectors or prototypes in the user's columns, and the columns to show them by."""

    def __init__(
        self, names: Sequence[str], values: Numbers, shown: list[list[Any]], telling: Any, are_rows: bool = True
    ) -> None:
        """`shown` are the values as people read them: categories by their names."""
        self.names, self.values, self.shown, self.telling = names, values, shown, [names[j] for j in telling]
        self.are_rows = are_rows  # of the fit; prototypes have been moved

    def same_as(self, row: Numbers) -> NDArray[np.bool_]:
        """Which of the vectors are this row of X; missing values equal one another."""
        if not self.are_rows or len(row) != self.values.shape[1]:
            return np.zeros(len(self.values), dtype=bool)
        return ((self.values == row) | (np.isnan(self.values) & np.isnan(row))).all(axis=1)


def by_vectors(
    machine: Any, kept: Kept, row: Numbers, shown: dict[str, Any], nearness: Numbers, answer: Any
) -> Vectors:
    """The vectors of the score that decides, told by their values: their numbers are not those of the user's rows.

    `shown` are the values of the row by column, as people read them.
    """
    signs = signs_of(machine, answer)
    weights, intercept = signs @ machine.dual_coef_, float(signs @ machine.intercept_)
    order = np.argsort(-np.abs(weights * nearness), kind="stable")
    order = order[weights[order] != 0]  # the others are vectors of other classes
    same = kept.same_as(row)
    classes = getattr(machine, "classes_", ())
    return Vectors(
        prediction=answer,
        of=answer if len(classes) else None,
        intercept=intercept,
        vectors=[
            Vector(
                float(weights[j]),
                float(nearness[j]),
                dict(zip(kept.names, kept.shown[j], strict=True)),
                bool(same[j]),
            )
            for j in order
        ],
        n_vectors=len(kept.values),
        row=shown,
        telling=kept.telling,
        n_classes=len(classes),
        duels=by_pairs(machine),
    )


@dataclass(frozen=True)
class Linear:
    """A machine without a kernel: every column adds to the score, starting from that of a row of mean values."""

    machine: Any
    slopes: Numbers  # (n_outputs, n_prepared_features), in the user's units
    intercept: Numbers
    centre: Numbers
    preparation: Preparation

    def explain(self, names: Sequence[str], values: Any, row: Numbers, answer: Any) -> Contributions:
        """What each column added to the score that decides; `row` is prepared."""
        own, start = self._parts(row, answer), None
        classes = getattr(self.machine, "classes_", None)
        if classes is not None:
            two = 2 if len(classes) == 2 else 1  # two classes share one score
            every = np.array([self._parts(row, each) for each in classes]) / two
            place = int(np.flatnonzero(classes == answer)[0])
            duels = ("the duels won", "the sum of the scores in them") if by_pairs(self.machine) else None
            start = Start.of("the average score", classes, place, every[:, -1], every[:, :-1].sum(axis=1), duels)
        return Contributions.of_columns(
            names,
            values,
            own[:-1],
            prediction=answer,
            what="the score",
            of=None if classes is None else answer,
            average=float(own[-1]),
            total=float(own.sum()),
            start=start,
        )

    def _parts(self, row: Numbers, label: Any) -> Numbers:
        """What the columns add to the score of a class, and the average at the end."""
        signs = signs_of(self.machine, label)
        slopes = signs @ self.slopes
        added = self.preparation.by_column(slopes * (row - self.centre))
        return np.append(added, float(signs @ self.intercept) + slopes @ self.centre)


def signs_of(machine: Any, answer: Any) -> Numbers:
    """How the scores of the machine's outputs make the one that decides: that of the class the row gets."""
    classes = getattr(machine, "classes_", None)
    if classes is None:
        return np.ones(1)
    place, n_classes = int(np.flatnonzero(classes == answer)[0]), len(classes)
    if n_classes <= 2:
        return np.array([1.0 if place == 1 else -1.0])
    if not by_pairs(machine):
        return np.eye(n_classes)[place]
    return np.array([(a == place) * 1.0 - (b == place) * 1.0 for a, b in combinations(range(n_classes), 2)])


def by_pairs(machine: Any) -> bool:
    """Return whether there is one machine per pair of classes."""
    settings = getattr(machine, "_trained_settings", None)
    return settings is not None and settings.multi_class == "ovo" and len(machine.classes_) > 2


def telling_columns(vectors: Any, most: int, preparation: Preparation) -> NDArray[np.intp]:
    """The columns of X in which scaled vectors differ most, in their order; a few far values do not count."""
    if len(vectors) == 0:
        return np.arange(0)
    spread = preparation.by_column(np.abs(vectors - np.median(vectors, axis=0)).mean(axis=0))
    return np.sort(np.argsort(-spread, kind="stable")[:most])


def describe_vectors(machine: Any, about: Description, limits: Limits, kernel: str, scaled: Any) -> None:
    """The vectors in the user's columns with their weights, those of the largest weights first."""
    units, names = np.asarray(machine.support_vectors_), feature_names(machine)
    weight, intercept, outputs = machine.dual_coef_, machine.intercept_, outputs_of(machine)
    shown = shown_values(machine, units)
    about.facts.append(("vectors", str(len(units))))
    about.facts.append(("numbers stored", str(units.size + weight.size + intercept.size)))
    about.facts.append(("kernel", kernel))
    if summed := by_pairs(machine) and len(outputs) > len(machine.classes_):
        signs = np.array([signs_of(machine, each) for each in machine.classes_])
        weight, intercept = signs @ weight, signs @ intercept
        outputs = [str(each) for each in machine.classes_.tolist()]
    order = np.argsort(-np.abs(weight).max(axis=0, initial=0), kind="stable")[: limits.max_vectors]
    telling = telling_columns(scaled, limits.max_columns, machine._scaling.preparation)
    rows = [[signed(each) for each in weight[:, v]] + [entry_in_words(shown[v][j]) for j in telling] for v in order]
    notes = [f"Intercept: {', '.join(number(each) for each in intercept)}."]
    if summed:
        notes.append("Weights and intercepts of a class are sums over its machines against each other class.")
    if len(order) < len(units):
        notes.append(f"… and {len(units) - len(order)} more vectors.")
    if len(telling) < len(names):
        notes.append(f"Shown are the {len(telling)} of {len(names)} columns in which the vectors differ most.")
    columns = [f"weight: {each.removeprefix('score of ')}" for each in outputs]
    columns += [names[j] for j in telling]
    about.sections.append(TableSection("Vectors", columns, rows, " ".join(notes)))


def outputs_of(machine: Any) -> list[str]:
    """What each score of the machine stands for."""
    classes = [str(each) for each in getattr(machine, "classes_", np.array([])).tolist()]
    if not classes:
        return ["prediction"]
    if len(machine.intercept_) == 1:
        return [f"score of {classes[-1]}"]
    settings = getattr(machine, "_trained_settings", None)
    if settings is not None and settings.multi_class == "ovo":
        return [f"{a} against {b}" for k, a in enumerate(classes) for b in classes[k + 1 :]]
    return [f"score of {each}" for each in classes]


def kernel_in_words(kernel: Any) -> str:
    """Return the formula of a kernel with its parameters."""
    return KERNELS[kernel.name].format(gamma=number(kernel.gamma), coef0=number(kernel.coef0), degree=kernel.degree)
