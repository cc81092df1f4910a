"""Fitted estimators in two plain forms, which all exports share: an ensemble of trees, and a kernel machine."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import singledispatch
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from planewise._text import feature_names, number, shorten
from planewise.additive.classifier import AdditiveClassifier
from planewise.additive.regressor import AdditiveRegressor
from planewise.data.categories import Categories
from planewise.explain.describe import WITHOUT_OFFSET, fitted_model, fitted_with_offset
from planewise.machines.classifier import MCMClassifier
from planewise.machines.columns import Preparation
from planewise.machines.large import LargeScaleMCMClassifier
from planewise.machines.plain import PlainMachine, plain_machine
from planewise.machines.regressor import MCMRegressor
from planewise.machines.regressor_search import MCMRegressorCV
from planewise.machines.search import MCMClassifierCV
from planewise.trees.arrays import Forest, start_and_link
from planewise.trees.boost_classifier import SLMBoostClassifier
from planewise.trees.boost_regressor import SLMBoostRegressor
from planewise.trees.forest import SLMForestClassifier, SLMForestRegressor
from planewise.trees.ranking import SLMBoostRanker
from planewise.trees.target_statistics import Statistics, n_tree_columns
from planewise.trees.tree import SLMClassifier, SLMRegressor

Floats = NDArray[np.float64]
TREE_MODELS = (
    *(SLMClassifier, SLMRegressor, SLMForestClassifier, SLMForestRegressor),
    *(SLMBoostClassifier, SLMBoostRegressor, SLMBoostRanker, AdditiveClassifier, AdditiveRegressor),
)
MACHINES = (MCMClassifier, MCMClassifierCV, MCMRegressor, MCMRegressorCV, LargeScaleMCMClassifier)
FINEST = 1e-3  # of a column's spread: how far the float input of an export may move a value
CATEGORIES_LISTED = 20


@dataclass(frozen=True)
class TreeEnsemble:
    """Raw scores are base + (sum of the trees' values) / divisor; the link turns them into predictions."""

    kind: str  # the estimator's name
    forest: Forest
    base: Floats
    divisor: int
    # "constant": there is one class; "probability": scores are probabilities; "logistic", "softmax"; "identity", "exp".
    link: str
    classes: NDArray[Any] | None  # None for numbers
    n_features: int
    feature_names: list[str]
    categories: Categories
    units: dict[int, str] = field(default_factory=dict)  # by column, where its numbers stand for something else
    statistics: Statistics = field(default_factory=dict)  # by column, what trees read beside its categories
    origins: dict[int, float] = field(default_factory=dict)  # by column, what is subtracted before it is a float
    remark: str = ""  # what a user has to know about the predictions

    @property
    def input_type(self) -> str:
        """Of a row: float, or double where a column needs its origin subtracted first."""
        return "double" if self.origins else "float"

    @property
    def n_columns(self) -> int:
        """How many columns the trees read."""
        return n_tree_columns(self.n_features, self.statistics)

    @property
    def n_outputs(self) -> int:
        return len(self.base)

    @property
    def input_names(self) -> list[str]:
        """The columns of a row, in order."""
        return self.feature_names


@dataclass(frozen=True)
class Reading:
    """How the columns of a table become what a machine takes: gaps are filled, each category is a column of 0 and 1."""

    names: list[str]  # of the table's columns
    categories: Categories  # by column, sorted: a row holds their places, as for trees
    source: NDArray[np.int64]  # by feature of the machine: the column it is made of
    category: NDArray[np.int64]  # by feature: the place of the category that makes it 1; NUMBER or MISSING for others
    usual: Floats  # by feature: the number in place of a missing one

    @classmethod
    def by(cls, machine: Any, preparation: Preparation) -> Reading:
        """The one that a machine does itself."""
        categories = dict(getattr(machine, "categories_", {}))
        return cls(feature_names(machine), categories, preparation.source, preparation.level, preparation.fill)


@dataclass(frozen=True)
class KernelMachine(PlainMachine):
    """A machine, and how the rows of a table become what it takes."""

    reading: Reading | None = None  # None: rows hold what the kernel takes, and no gaps
    units: dict[int, str] = field(default_factory=dict)
    input_type: ClassVar[str] = "float"
    remark: ClassVar[str] = ""

    @property
    def input_names(self) -> list[str]:
        """The columns of a row, in order."""
        return self.feature_names if self.reading is None else self.reading.names

    @property
    def categories(self) -> Categories:
        """By column of a row, as for trees."""
        return {} if self.reading is None else self.reading.categories


PlainModel = TreeEnsemble | KernelMachine


@singledispatch
def plain_model(model: Any, form: str) -> PlainModel:
    """What the export to `form` needs of a fitted estimator; an error that says what can be done where it cannot."""
    if (found := fitted_model(model)) is not model:
        return plain_model(found, form)
    if isinstance(model, TREE_MODELS):
        return tree_ensemble(model)
    if isinstance(model, MACHINES):
        plain = plain_machine(model, form)
        reading = None if plain.preparation.is_plain else Reading.by(model, plain.preparation)
        known = {each.name: getattr(plain, each.name) for each in fields(plain)}
        machine = KernelMachine(**known, reading=reading)
        if not isinstance(model, LargeScaleMCMClassifier) or model.feature_origins_:  # others read floats in Python too
            _refuse_what_floats_blur(machine, form)
        return machine
    names = ", ".join(each.__name__ for each in (*TREE_MODELS, *MACHINES))
    raise TypeError(
        f"{type(model).__name__} cannot be exported to {form}; these can, also in a TableModel: {names}. to_text "
        "takes any estimator of planewise."
    )


def input_lines(model: Any, form: str) -> list[str]:
    """What the exported C or ONNX model reads, in words: it knows only numbers.

    The order of the columns, the numbers that stand for categories and dates, and whether values may be missing.
    """
    plain = plain_model(model, form)
    names = [shorten(name) for name in plain.input_names]
    lines = [f"columns in this order: {', '.join(names)}"]
    for place, known in plain.categories.items():
        listed = ", ".join(f"{k} is {shorten(value)}" for k, value in enumerate(known.tolist()[:CATEGORIES_LISTED]))
        more = f" and {len(known) - CATEGORIES_LISTED} more, in the file" if len(known) > CATEGORIES_LISTED else ""
        lines.append(f"{names[place]}: {listed}{more}")
    lines += [f"{names[place]}: {unit}" for place, unit in plain.units.items()]
    if plain.input_type == "double":
        lines.append("values are double, not float")
    if plain.remark:
        lines.append(plain.remark)
    takes_gaps = isinstance(plain, TreeEnsemble) or plain.reading is not None
    return [*lines, "missing values are NaN" if takes_gaps else "missing values are not allowed"]


def tree_ensemble(model: Any) -> TreeEnsemble:
    """A fitted tree, forest or boosting."""
    classes = getattr(model, "classes_", None)
    base, link = start_and_link(model)
    forest, divisor = _as_forest(model.tree_, classes) if hasattr(model, "tree_") else model.forest_, 1
    if isinstance(model, (SLMForestClassifier, SLMForestRegressor)):
        divisor = forest.n_trees
        if getattr(model, "voting", "soft") == "hard":
            forest = forest.as_votes()
    if classes is not None and len(classes) == 1:
        forest, link, divisor, base = Forest.empty(), "constant", 1, np.zeros(1)
    if link == "probability":
        base = np.zeros(forest.n_outputs)
    return TreeEnsemble(
        kind=type(model).__name__,
        forest=forest,
        base=base,
        divisor=divisor,
        link=link,
        classes=classes,
        n_features=model.n_features_in_,
        feature_names=feature_names(model),
        categories=getattr(model, "categories_", {}),
        statistics=getattr(model, "target_statistics_", {}),
        origins=model.feature_origins_,
        remark=WITHOUT_OFFSET if fitted_with_offset(model) else "",
    )


def _as_forest(tree: Forest, classes: NDArray[Any] | None) -> Forest:
    """One tree as a forest; for two classes the probability of the second is enough."""
    value = tree.value[:, -1:] if classes is not None and len(classes) == 2 else tree.value
    return tree.with_arrays(value=value)


def _refuse_what_floats_blur(machine: KernelMachine, form: str) -> None:
    """An error if the float input of an export would move rows that the machine distinguishes by their doubles."""
    size = np.abs(machine.mean)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond float are another error, of the literals
        nearest = size.astype(np.float32)
        step = np.spacing(nearest).astype(np.float64)
        # Spread 1 is that of constants: only whether a float has their value counts.
        moved = np.where(machine.spread == 1, np.abs(nearest - size), step)
        blurred = np.flatnonzero(np.isfinite(nearest) & (moved > FINEST * machine.spread))
    if len(blurred):
        j = blurred[0]
        raise ValueError(
            f"The machine cannot be exported to {form}: the values of its column {machine.feature_names[j]!r} are "
            f"spread by {number(machine.spread[j])} around {number(machine.mean[j])}, where the float input of C and "
            f"ONNX has steps of {number(step[j], 3)} and cannot distinguish them; subtract a constant from the column "
            "before fitting: a time can be given as hours since a start date."
        )
