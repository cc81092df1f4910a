"""Why a row gets its prediction: a path, contributions, vectors or a view. Families make these, outputs show them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from planewise._text import MINUS, counted, number, number_to, one_line, percent, signed
from planewise.data.values import entry_in_words, label_in_words, plain_data, value_in_words
from planewise.explain.contributions import CategoryStatistic, Part, Start, class_why, number_why
from planewise.explain.describe import TableSection

LONGEST_REASON = 400  # letters, where it is shown as a ``repr``
MAX_ROWS = 12  # of a table; as data everything is there
SAME_VALUES = (
    "A training row has the same values in all columns that the model uses: if it is this very row, it is its own "
    "nearest one."
)


class Reason(ABC):
    """Why one row gets its prediction: :meth:`data` for programs, :meth:`to_text` for people.

    Attributes
    ----------
    prediction : object
        The class or the number predicted for the row.
    """

    prediction: Any
    text_columns: ClassVar[tuple[int, ...]] = (0,)  # of the table; the others hold numbers

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and dicts, ready for JSON; its "kind" says which reason it is."""

    @abstractmethod
    def sentence(self) -> str:
        """Return the prediction, and why, in one sentence."""

    @abstractmethod
    def table(self) -> TableSection:
        """The details; of many rows the first ones."""

    def to_text(self) -> str:
        """The sentence, and the details below it."""
        return f"{self.sentence()}\n\n{self.table().to_text()}"

    def with_values(self, value: Callable[[str], Any]) -> Self:
        """The same with the user's own values of the columns, where each value belongs to one column."""
        return self

    @property
    def prediction_in_words(self) -> str:
        """Long labels are shortened."""
        return label_in_words(self.prediction)

    def __repr__(self) -> str:
        return one_line(self, self.sentence(), LONGEST_REASON)


# -------------------------------------------------------------------------------------------------------- one tree
@dataclass(frozen=True)
class Step:
    """A plane on the way from the root to a leaf, and where the row lies."""

    depth: int
    plane: str  # what lies on its right side, in words
    value: Any  # of the row, in the scale of those words; a category by its name; None if it is missing
    right: bool
    column: str | None = None  # the one that the plane looks at; None if there are several
    step: float | None = None  # the last digit in which to write the value; None: four digits do

    @property
    def value_in_words(self) -> str:
        """The value as the table shows it."""
        if self.step is not None and isinstance(self.value, (float, np.floating)) and math.isfinite(self.value):
            return number_to(self.value, self.step)
        return value_in_words(self.value, 4)

    @property
    def side(self) -> str:
        """Whether the words are true of the row."""
        return "yes" if self.right else "no"


@dataclass(frozen=True, repr=False)
class Path(Reason):
    """The planes on the way down one tree, with the row's side of each, and the leaf it ends in.

    Attributes
    ----------
    prediction : object
        The class or the number predicted for the row.
    steps : list of Step
        The questions on the way, from the root down. A node that asks several has one step for each.
    node : int
        The node where the row ends, as in ``apply``.
    depth : int
        The level of that node in the tree; the root has 0.
    n_samples : int
        Training rows of that node.
    value : list of float
        Its class probabilities, or the predicted number.
    """

    prediction: Any
    steps: Sequence[Step]
    node: int
    depth: int
    n_samples: int
    value: Sequence[float]

    text_columns: ClassVar[tuple[int, ...]] = (0, 1, 3)

    def with_values(self, value: Callable[[str], Any]) -> Self:
        steps = [step if step.column is None else replace(step, value=value(step.column)) for step in self.steps]
        return replace(self, steps=steps)

    def data(self) -> dict[str, Any]:
        steps = [
            {
                "depth": step.depth,
                "plane": step.plane,
                "column": step.column,
                "value": step.value,
                "side": step.side,
            }
            for step in self.steps
        ]
        leaf = {"node": self.node, "depth": self.depth, "n_samples": self.n_samples, "value": list(self.value)}
        return plain_data({"kind": "path", "prediction": self.prediction, "steps": steps, "leaf": leaf})

    def sentence(self) -> str:
        if not self.steps:
            return f"{self.prediction_in_words}: the tree has a single leaf, so every row gets the same prediction."
        questions = "one question leads" if len(self.steps) == 1 else f"{len(self.steps)} questions lead"
        share = "" if len(self.value) == 1 else f", where its probability is {percent(max(self.value), 0)}"
        rows = counted(self.n_samples, "training row")
        return f"{self.prediction_in_words}, because {questions} to a leaf of {rows}{share}."

    def table(self) -> TableSection:
        rows = [[str(step.depth), step.plane, step.value_in_words, step.side] for step in self.steps]
        end = self.prediction_in_words
        if len(self.value) > 1:
            end += f", {percent(max(self.value), 0)}"
        rows.append([str(self.depth), f"ends in a leaf of {counted(self.n_samples, 'training row')}", "", end])
        return TableSection("The path down the tree", ["depth", "question", "value", "answer"], rows)


# ------------------------------------------------------------------------------------------------ sums over columns
@dataclass(frozen=True, repr=False)
class Contributions(Reason):
    """What each column added to a score, a probability or a predicted number.

    Attributes
    ----------
    what : str
        What is added up, such as "the score"; ``of`` is the class that has this score, None for numbers.
    parts : list of Part
        Columns with the row's values and what each added, the largest first.
    average : float
        The average over the training rows, to which the columns add.
    total : float
        The score, probability or number of the row.
    towards : float
        1 if positive contributions support the prediction, −1 if they are against it.
    """

    prediction: Any
    what: str
    of: Any
    parts: Sequence[Part]
    average: float
    total: float
    towards: float = 1.0
    start: Start | None = None
    logarithm: bool = False
    only_class: bool = False

    @classmethod
    def of_columns(
        cls,
        names: Sequence[str],
        values: Sequence[Any],
        added: Iterable[float],
        statistics: Mapping[int, CategoryStatistic] | None = None,
        **known: Any,
    ) -> Self:
        """From one number per column; `statistics` are those of the row's categories, by column."""
        parts = [
            Part(*each, (statistics or {}).get(column))
            for column, each in enumerate(zip(names, values, map(float, added), strict=True))
        ]
        return cls(parts=sorted(parts, key=lambda each: -abs(each.added)), **known)

    def with_values(self, value: Callable[[str], Any]) -> Self:
        return replace(self, parts=[replace(each, value=value(each.column)) for each in self.parts])

    def data(self) -> dict[str, Any]:
        parts = [each.data() for each in self.parts]
        return plain_data(
            {
                "kind": "contributions",
                "prediction": self.prediction,
                "what": self.what,
                "of": self.of,
                "average": self.average,
                "total": self.total,
                "parts": parts,
            }
        )

    def sentence(self) -> str:
        return f"{self.prediction_in_words}{self._why()}."

    def _why(self) -> str:
        if self.only_class:
            return ", the only class among the training rows"
        if self.of is None:
            return number_why(self.parts, self.average, self.total - self.average, self.logarithm)
        return class_why(self.parts, self.towards, self.start)

    def table(self) -> TableSection:
        what = self.what if self.of is None else f"{self.what} of {label_in_words(self.of)}"
        title = f"What each column added to {what}: {number(self.average)} on average, {number(self.total)} here"
        shown, others = self.parts[:MAX_ROWS], self.parts[MAX_ROWS:]
        lines = [(each.column, each.value_in_words(), each.added) for each in shown]
        notes = self._direction()
        if others:
            lines.append((counted(len(others), "more column"), "", sum(each.added for each in others)))
        # What rounding leaves of a probability's range goes to no column.
        ends = ("on average", "", self.average), ("this row", "", self.total)
        return _parts_table(title, ["column", "value", "added"], lines, notes, ends)

    def _direction(self) -> list[str]:
        """Which class each sign speaks for."""
        if self.of is None or self.only_class:
            return []
        against = f"for {self.prediction_in_words}" if self.towards < 0 else "against it"
        return [f"+ speaks for {label_in_words(self.of)}, {MINUS} {against}."]


Line = tuple[str, str, float]  # a name, a value, and what is added


def _parts_table(
    title: str, columns: list[str], parts: Sequence[Line], notes: Sequence[str], ends: tuple[Line, Line]
) -> TableSection:
    """Make a table of the parts of a sum between its start and its end."""
    lines = [ends[0], *parts, ends[1]]
    places = [0, len(lines) - 1]
    rows = [[name, value, (number if at in places else signed)(added)] for at, (name, value, added) in enumerate(lines)]
    return TableSection(title, columns, rows, " ".join(notes), [added for *_, added in lines], places)


# ------------------------------------------------------------------------------------------------- kernel machines
@dataclass(frozen=True, repr=False)
class Vector:
    """A support vector or prototype, and what it adds to the score."""

    weight: float
    nearness: float  # the kernel value
    values: Mapping[str, Any]  # by column: numbers, categories by their names, None where missing
    same_values: bool = False  # as the row that is explained

    @property
    def added(self) -> float:
        return self.weight * self.nearness

    def __repr__(self) -> str:
        facts = f"weight {number(self.weight)}, nearness {number(self.nearness)}, {counted(len(self.values), 'column')}"
        return one_line(self, facts)


@dataclass(frozen=True, repr=False)
class Vectors(Reason):
    """The vectors of a kernel machine and what each adds to the score of the predicted class.

    Attributes
    ----------
    of : object
        The class whose score it is; None for numbers.
    intercept : float
        Where the sum starts; ``score`` is where it ends.
    vectors : list of Vector
        Those that bear on this score, the largest contribution first; ``n_vectors`` is how many the machine has.
    row : dict
        The row's own values by the machine's columns.
    telling : list of str
        The columns in which the vectors differ most.
    n_classes : int
        0 for numbers.
    duels : bool
        Whether the classes are compared in pairs, and the score is a sum over pairs.
    """

    prediction: Any
    of: Any
    intercept: float
    vectors: Sequence[Vector]
    n_vectors: int
    row: Mapping[str, Any] = field(default_factory=dict)
    telling: Sequence[str] = ()
    n_classes: int = 0
    duels: bool = False

    text_columns: ClassVar[tuple[int, ...]] = (3,)

    @property
    def score(self) -> float:
        return self.intercept + sum(each.added for each in self.vectors)

    @property
    def same_values_in_fit(self) -> bool:
        """Whether a vector has the values of the row."""
        return any(each.same_values for each in self.vectors)

    def data(self) -> dict[str, Any]:
        vectors = [
            {
                "weight": each.weight,
                "nearness": each.nearness,
                "added": each.added,
                "values": dict(each.values),
                "same_values": each.same_values,
            }
            for each in self.vectors
        ]
        return plain_data(
            {
                "kind": "vectors",
                "prediction": self.prediction,
                "of": self.of,
                "intercept": self.intercept,
                "score": self.score,
                "same_values_in_fit": self.same_values_in_fit,
                "vectors": vectors,
            }
        )

    def sentence(self) -> str:
        words, score = self.prediction_in_words, number(self.score, 3)
        if self.of is None:
            added = signed(self.score - self.intercept, 3)
            vectors = f"{counted(len(self.vectors), 'vector')} add{'s' if len(self.vectors) == 1 else ''}"
            return f"{words}, because {vectors} {added} to {number(self.intercept)}."
        for_it = sum(each.added for each in self.vectors if each.added > 0)
        against = -sum(each.added for each in self.vectors if each.added < 0)
        if self.n_classes <= 2:
            what = f"its score is {score}, {'above 0' if round(self.score, 12) > 0 else 'not below 0'}"
        elif self.duels:
            what = f"no other class wins more duels (its scores in them add up to {score})"
        else:
            what = f"its score is {score}, the highest of the classes' scores"
        return (
            f"{words}, because {what}: nearby vectors contribute {number(for_it, 3)} in favour of {words} and "
            f"{number(against, 3)} against it, starting from {number(self.intercept, 3)}."
        )

    def table(self) -> TableSection:
        of = "" if self.of is None else f" of {label_in_words(self.of)}"
        title = (
            f"What {len(self.vectors)} of {counted(self.n_vectors, 'vector')} add to the score{of}: "
            f"from {number(self.intercept)} to {number(self.score)}"
        )
        shown = self.vectors[:MAX_ROWS]
        rows = [["", "", number(self.intercept), "start"]]
        rows += [
            [
                signed(each.weight),
                number(each.nearness),
                signed(each.added),
                ", ".join(f"{name} {entry_in_words(each.values[name])}" for name in self.telling),
            ]
            for each in shown
        ]
        weights = [self.intercept, *(each.added for each in shown)]
        if others := self.vectors[MAX_ROWS:]:
            weights.append(sum(each.added for each in others))
            rows.append(["", "", signed(weights[-1]), counted(len(others), "more vector")])
        rows.append(["", "", number(self.score), "this row"])
        weights.append(self.score)
        notes = [SAME_VALUES] if self.same_values_in_fit else []
        n_columns = len(self.vectors[0].values) if self.vectors else 0
        if len(self.telling) < n_columns:
            notes.append(f"Shown are the {len(self.telling)} of {n_columns} columns in which the vectors differ most.")
        columns = ["weight", "nearness", "added", "vector"]
        return TableSection(title, columns, rows, " ".join(notes), weights, [0, len(rows) - 1])


# ---------------------------------------------------------------------------------------------------- views (RECIP)
class View(Reason):
    """The view of few features in which a row was decided; RECIP's ``ProjectionExplanation`` is one."""

    same_values_in_fit: bool

    def table(self) -> TableSection:
        note = SAME_VALUES if self.same_values_in_fit else ""
        is_sum = self.data().get("estimate") == "score"
        return TableSection(
            "The leading view" if is_sum else "The view that decides", ["in words"], [[self.sentence()]], note
        )

    def views_table(self) -> TableSection | None:
        """What each view adds to the score, where views are added up; else None."""
        data = self.data()
        if data.get("estimate") != "score" or not data["contributions"]:
            return None
        rival = data.get("versus")
        of = "" if rival is None else f" to the score of {label_in_words(data['prediction'])}"
        of += "" if rival is None else f" against {label_in_words(rival)}"
        views = sorted(data["contributions"], key=lambda each: -abs(each["score"]))
        lines = [(" × ".join(each["features"]), "", each["score"]) for each in views[:MAX_ROWS]]
        if others := views[MAX_ROWS:]:
            lines.append((counted(len(others), "more view"), "", sum(each["score"] for each in others)))
        logarithms = "These are logarithms: the prediction is the exponential of the sum."
        notes = [logarithms] if data.get("link") == "log" else []
        ends = ("start", "", data["base"]), ("this row", "", data["total"])
        table = _parts_table(f"What each view adds{of}", ["view", "", "adds"], lines, notes, ends)
        return replace(table, columns=["view", "adds"], rows=[[name, added] for name, _, added in table.rows])

    def to_text(self) -> str:
        """One sentence, which says so where the case is not clear."""
        return self.sentence()


def weight_in_words(data: Mapping[str, Any]) -> str:
    """How much of the neighbours' weight those of a class have, if their number does not say it; else nothing.

    Rows that are there several times need no words: their weight is their number.
    """
    counts, near = data["counts"], data["neighbours"]
    if not counts["n_tied"] and all(each["weight"] == len(each["rows"]) for side in near.values() for each in side):
        return ""
    share = percent(counts["weight_for"] / (counts["weight_for"] + counts["weight_against"]))
    number_says = percent(counts["n_for"] / (counts["n_for"] + counts["n_against"]))
    return "" if share == number_says else f", with {share} of the weight"


def ties_in_words(data: Mapping[str, Any]) -> str:
    """How many of the nearest rows are equally far and share places, in brackets; nothing if none do."""
    counts = data["counts"]
    n_tied, n_nearest = counts["n_tied"], counts["n_for"] + counts["n_against"]
    if n_tied == 0:
        return ""
    which = "all" if n_tied == n_nearest else f"the last {n_tied}"
    return f" ({which} are equally far and together count as {counted(data['k'] - n_nearest + n_tied, 'row')})"
