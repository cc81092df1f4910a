"""Why a model gives a row the answer it gives: a path, contributions, or vectors; the same form for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._input import is_table, precise_rows, prediction_rows
from planewise._planes import normal_form
from planewise.export._describe import telling_columns
from planewise.export._models import feature_names
from planewise.export._words import number, plane_in_words, short, signed, value_in_words
from planewise.mcm import LargeScaleMCMClassifier, MCMClassifier, MCMClassifierCV, MCMRegressor
from planewise.mcm.fitted import FourierMap
from planewise.report._contribution_words import Start, class_why, number_why
from planewise.slm import SLMClassifier, SLMRegressor
from planewise.table import TableModel

MOST_SHOWN = 12
MOST_COLUMNS = 6  # of a vector, in words; as data it is whole
SAME_VALUES = (
    "A row of the fit has the same values in all columns that the model looks at: if it is this very row, it is its "
    "own nearest one."
)


@dataclass
class Reasons:
    """What led to the answer for one row."""

    title: str
    header: list[str]
    rows: list[list[str]]  # as people read them
    data: list[dict[str, Any]]  # as programs do
    weights: list[float] = field(default_factory=list)  # of the rows, for bars
    left: tuple[int, ...] = (0,)  # columns of words
    note: str = ""  # what to mind in reading them
    of: Any = None  # the class whose score is spoken of; None: there is none
    answer: Any = None
    why: str = ""  # what follows the answer in a sentence, where columns add up to it

    def sentence(self, sure: str = "") -> str:
        """The answer, how sure it is, and why; nothing where columns do not add up to it."""
        return f"{short(value_in_words(self.answer), 200)}{sure}{self.why}." if self.why else ""

    @property
    def heading(self) -> str:
        """The title with a capital letter."""
        return self.title[:1].upper() + self.title[1:]


def reasons_for(model: TableModel, table: Any) -> Reasons:
    """The reasons for a table model's answer to the one row of this table."""
    return reasons(model.estimator_, model.read(table), lambda name: _value(table, name))


def reasons(estimator: Any, X: Any, value: Callable[[str], Any]) -> Reasons:
    """The reasons for an estimator's answer to the one row of X; `value` says what the user has in a column."""
    if isinstance(estimator, (SLMClassifier, SLMRegressor)):
        return _path(estimator, X)
    if hasattr(estimator, "predict_contributions"):
        return _contributions(estimator, X, value)
    if isinstance(estimator, (MCMClassifier, MCMClassifierCV, MCMRegressor)):
        return _exact_machine(estimator, X, value)
    if isinstance(estimator, LargeScaleMCMClassifier):
        return _large_machine(estimator, X, value)
    if hasattr(estimator, "explain"):
        return _view(estimator, X)
    raise ValueError(f"{type(estimator).__name__} has no reasons to give.")


# -------------------------------------------------------------------------------------------------------- one tree
def _path(estimator: Any, X: Any) -> Reasons:
    """The planes on the way from the root, with the row's side of each."""
    tree, row = estimator.tree_, prediction_rows(estimator, X)[0]
    names, classes = feature_names(estimator), getattr(estimator, "classes_", None)
    shown, data, node = [], [], 0
    while True:
        code, planes = 0, range(tree.plane_start[node], tree.plane_start[node + 1])
        for k, plane in enumerate(planes):
            words = plane_in_words(tree, plane, names, estimator.categories_)
            here = _side(tree, plane, row)
            code |= here.right << k
            answer = "yes" if here.right else "no"
            has = _category(tree, plane, here, estimator.categories_)
            shown.append([str(tree.depth[node]), words, has, answer])
            data.append({"level": int(tree.depth[node]), "plane": words, "value": here.value, "side": answer})
        child = int(tree.children[tree.child_start[node] + code])
        if child == node:
            break
        node = child
    value = tree.value[node]
    end = number(float(value[0])) if classes is None else f"{classes[value.argmax()]}, {100 * value.max():.0f} %"
    shown.append([str(tree.depth[node]), f"ends in a leaf of {tree.n_samples[node]} training rows", "", end])
    data.append({"level": int(tree.depth[node]), "rows": int(tree.n_samples[node]), "value": value.tolist()})
    return Reasons("the way down the tree", ["level", "question", "value", "answer"], shown, data, left=(0, 1, 3))


def _category(tree: Any, plane: int, here: _Side, categories: Any) -> str:
    """The row's category by its name, where the plane asks for one; a category that the fit did not see has none."""
    known = categories.get(int(tree.term_feature[tree.term_start[plane]]))
    if known is None or np.isnan(here.value):
        return here.words
    return str(known[int(here.value)]) if 0 <= here.value < len(known) else "another one"


@dataclass
class _Side:
    """What a row has where a plane looks, in the words' own scale, and whether that is the plane's right side."""

    words: str
    value: float  # of a category its number
    right: int


def _side(tree: Any, plane: int, row: Any) -> _Side:
    terms = range(tree.term_start[plane], tree.term_start[plane + 1])
    members = tree.set_category[tree.set_start[plane] : tree.set_start[plane + 1]]
    columns, weights = tree.term_feature[terms.start : terms.stop], tree.term_weight[terms.start : terms.stop]
    total: Any = np.float32(0)
    if len(members):
        code = row[columns[0]]
        inside = np.nan if np.isnan(code) else float(np.isin(code, members))
        total, shown = float(weights[0]) * inside, float(code)
    else:
        for place, (weight, column) in enumerate(zip(weights, columns, strict=True)):  # as the core adds them up
            product = weight * row[column]
            total = product if place == 0 else total + product
        shown = float(total) / normal_form(weights, 0.0).divisor
    missing = bool(np.isnan(total))
    right = int(tree.missing_right[plane]) if missing else int(total >= tree.threshold[plane])
    return _Side("missing" if missing else number(shown), shown, right)


# ------------------------------------------------------------------------------------------------ forests, boosting
def _contributions(estimator: Any, X: Any, value: Callable[[str], Any]) -> Reasons:
    parts, answer = estimator.predict_contributions(X)[0], estimator.predict(X)[0]
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        logarithm = getattr(estimator, "loss", "") == "poisson"  # contributions add up to it
        what = "the logarithm of the prediction" if logarithm else "the prediction"
        return _number_added_up(what, estimator, value, parts, answer, logarithm)
    shares = type(estimator).__name__ == "SLMForestClassifier"
    what = "probability" if shares else "score"
    if len(classes) == 1:
        given = _added_up(f"the {what}", estimator, value, parts, answer, answer)
        given.why = ", the only class among the training rows"
        return given
    place = int(np.flatnonzero(classes == answer)[0])
    if parts.ndim == 1:  # of the second of two classes
        halves = np.array([-0.5, 0.5])
        averages, columns = halves * (parts[-1] - 0.5 * shares), halves * parts[:-1].sum()
        of, sign = classes[1], 1.0 if place else -1.0
    else:
        averages, columns = parts[:, -1], parts[:, :-1].sum(axis=1)
        parts, of, sign = parts[place], answer, 1.0
    given = _added_up(f"the {what}", estimator, value, parts, answer, of)
    given.why = class_why(given.data[1:], sign, _start(f"the average {what}", classes, place, averages, columns))
    return given


def _start(words: str, classes: Any, place: int, averages: Any, columns: Any) -> Start:
    """By how much the answered class is ahead of the best other one, on average and by what the columns add."""
    ahead = [float(each[place] - np.delete(each, place).max()) for each in (averages, columns)]
    return Start(words, classes[int(np.argmax(averages))], ahead[0], ahead[1])


def _number_added_up(
    what: str, estimator: Any, value: Callable[[str], Any], parts: Any, answer: Any, logarithm: bool = False
) -> Reasons:
    given = _added_up(what, estimator, value, parts, answer)
    about, *columns = given.data
    given.why = number_why(columns, about["average"], about["sum"] - about["average"], logarithm)
    return given


def _added_up(
    what: str, estimator: Any, value: Callable[[str], Any], parts: Any, answer: Any, of: Any = None
) -> Reasons:
    """Contributions of columns, and last what they are added to."""
    average, total = float(parts[-1]), float(np.sum(parts))
    to = what if of is None else f"{what} of {of}"
    title = f"what each column added to {to}: {number(average)} on average, {number(total)} here"
    return _by_column(title, estimator, value, parts[:-1], {"average": average, "sum": total}, of, answer)


def _by_column(
    title: str,
    estimator: Any,
    value: Callable[[str], Any],
    parts: NDArray[np.float64],
    about: dict[str, Any],
    of: Any,
    answer: Any,
) -> Reasons:
    order = np.argsort(-np.abs(parts), kind="stable")
    names = feature_names(estimator)
    values = [value(name) for name in names]
    data = [{"column": names[j], "value": values[j], "added": float(parts[j])} for j in order]
    shown = [[names[j], value_in_words(values[j]), signed(parts[j])] for j in order[:MOST_SHOWN]]
    weights = [float(parts[j]) for j in order[:MOST_SHOWN]]
    return Reasons(title, ["column", "value", "added"], shown, [about, *data], weights, of=of, answer=answer)


def _value(table: Any, name: str) -> Any:
    """What the row has in a column; of a column "town=Ulm", which a machine reads, what it has in "town"."""
    return table[name][0] if name in table.columns else table[name.rpartition("=")[0]][0]


# ---------------------------------------------------------------------------------------------------------- views
def _view(estimator: Any, X: Any) -> Reasons:
    """The view that decided the row, in a sentence; all that is known of it as data."""
    explanation = estimator.explain(X)[0]
    data = explanation.data()
    data["same values in the fit"] = same_values_in_fit(estimator, X)
    note = SAME_VALUES if data["same values in the fit"] else ""
    return Reasons("the view that decides", ["in words"], [[explanation.to_text()]], [data], note=note)


def same_values_in_fit(estimator: Any, X: Any) -> bool:
    """Whether a row of RECIP's fit has the values of the one row of X in all columns of its views."""
    row, known = estimator._query_values(X)[0], estimator._rows.values
    return bool(((known == row) | (np.isnan(known) & np.isnan(row))).all(axis=1).any())


# ------------------------------------------------------------------------------------------------------- machines
def _exact_machine(estimator: Any, X: Any, value: Callable[[str], Any]) -> Reasons:
    machine = getattr(estimator, "best_estimator_", estimator)
    row = precise_rows(estimator, X, reset=False)
    answer = estimator.predict(X)[0]
    weights, bias, of = _towards(machine, answer, machine.dual_coef_)
    label = answer if of else None
    if hasattr(machine, "coef_"):
        return _straight_machine(estimator, machine, row[0], answer, value)
    if getattr(machine, "kernel", None) == "precomputed":  # the row holds kernel values, and vectors have no columns
        numbers, nowhere = machine.support_[:, None], np.zeros(len(machine.support_), dtype=bool)
        found = _Vectors(["row of the kernel"], numbers, np.zeros(1, dtype=np.intp), nowhere)
        return _vectors(found, weights, row[0][machine.support_], bias, label)
    names = feature_names(estimator)
    kernel: Any = machine._kernel if isinstance(machine, MCMRegressor) else machine._trained_settings.kernel
    scaled, vectors = machine._scaling(row), machine._scaling(machine.support_vectors_)
    closeness = kernel(scaled, vectors)[0] if len(vectors) else np.zeros(0)
    factor = getattr(machine, "_factor", None)
    if factor is not None:
        closeness = closeness * factor(scaled)[0]
    same = (machine.support_vectors_ == row).all(axis=1)
    return _vectors(
        _Vectors(names, machine.support_vectors_, telling_columns(vectors, MOST_COLUMNS), same),
        weights,
        closeness,
        bias,
        label,
    )


def _straight_machine(estimator: Any, machine: Any, row: Any, answer: Any, value: Callable[[str], Any]) -> Reasons:
    """Without a kernel every column adds to the score, from that of a row of mean values on."""
    centre = machine._scaling.mean

    def parts(label: Any) -> NDArray[np.float64]:
        slopes, bias, _ = _towards(machine, label, machine.coef_)
        return np.append(slopes * (row - centre), bias + slopes @ centre)

    if isinstance(machine, MCMRegressor):
        return _number_added_up("the score", estimator, value, parts(answer), answer)
    classes = machine.classes_
    place, every = int(np.flatnonzero(classes == answer)[0]), np.array([parts(each) for each in classes])
    given = _added_up("the score", estimator, value, every[place], answer, answer)
    scores = every / 2 if len(classes) == 2 else every  # two classes share one score
    start = _start("the average score", classes, place, scores[:, -1], scores[:, :-1].sum(axis=1))
    given.why = class_why(given.data[1:], 1.0, start)
    return given


def _towards(machine: Any, label: Any, coefficients: Any) -> tuple[NDArray[np.float64], float, str]:
    """Coefficients and intercept of the score that decides: towards the class the row gets."""
    if isinstance(machine, MCMRegressor):
        return coefficients[0], float(machine.intercept_[0]), ""
    place, n_classes = int(np.flatnonzero(machine.classes_ == label)[0]), len(machine.classes_)
    if n_classes == 2:
        signs = np.array([1.0 if place == 1 else -1.0])
    elif machine._trained_settings.multi_class == "ovr":
        signs = np.eye(n_classes)[place]
    else:
        signs = np.array([(a == place) * 1.0 - (b == place) * 1.0 for a, b in combinations(range(n_classes), 2)])
    return signs @ coefficients, float(signs @ machine.intercept_), f" of {label}"


@dataclass
class _Vectors:
    """Support vectors or prototypes in the user's units."""

    names: list[str]
    values: Any
    telling: NDArray[np.intp]  # the columns to show them by
    same: Any  # which of them have the values of the row that is explained


def _vectors(found: _Vectors, weights: Any, closeness: Any, bias: float, label: Any) -> Reasons:
    """The vectors by what they add; told by their values, for their numbers would not be those of the table's rows."""
    of = "" if label is None else f" of {label}"
    names, vectors, same = found.names, found.values, found.same
    added = weights * closeness
    order = np.argsort(-np.abs(added), kind="stable")
    order = order[weights[order] != 0]  # the others are vectors of other classes
    data: list[dict[str, Any]] = [{"intercept": bias, "score": bias + float(added.sum())}]
    shown = []
    for j in order[:MOST_SHOWN]:
        values = ", ".join(f"{names[column]} {number(float(vectors[j, column]))}" for column in found.telling)
        shown.append([signed(weights[j]), number(closeness[j]), signed(added[j]), values])
    for j in order:
        data.append(
            {
                "weight": float(weights[j]),
                "kernel": float(closeness[j]),
                "added": float(added[j]),
                "vector": dict(zip(names, map(float, vectors[j]), strict=True)),
                "same values": bool(same[j]),
            }
        )
    score = number(bias + float(added.sum()))
    title = f"what {len(order)} of {len(vectors)} vectors add to the score{of}: from {number(bias)} to {score}"
    header = ["weight", "nearness", "added", "vector"]
    bars = [float(added[j]) for j in order[:MOST_SHOWN]]
    notes = [SAME_VALUES] if same[order].any() else []
    if len(found.telling) < len(names):
        notes.append(f"Vectors are told by the {len(found.telling)} columns of {len(names)} in which they differ most.")
    return Reasons(title, header, shown, data, bars, left=(3,), note=" ".join(notes), of=label)


def _large_machine(estimator: Any, X: Any, value: Callable[[str], Any]) -> Reasons:
    row = prediction_rows(estimator, X)
    label = estimator.predict(X)[0]
    place, n_classes = int(np.flatnonzero(estimator.classes_ == label)[0]), len(estimator.classes_)
    output, sign = (0, 1.0 if place == 1 else -1.0) if n_classes <= 2 else (place, 1.0)
    inner = estimator._model
    if isinstance(inner.feature_map, FourierMap):
        return _by_usual_values(estimator, X, row, output, sign, label, value)
    standard = estimator._standardisation(row)
    closeness = inner.feature_map.forward(standard).features[0].astype(np.float64) * inner.feature_map.unit
    if estimator.conformal_ is not None:
        closeness = closeness * estimator.conformal_(standard)[0]
    weights = sign * estimator.dual_coef_[output]
    bias = sign * float(estimator.intercept_[output])
    nowhere = np.zeros(len(weights), dtype=bool)  # prototypes are moved: none is a row of the fit
    prototypes = estimator.support_vectors_
    telling = telling_columns(estimator._standardisation(prototypes), MOST_COLUMNS)
    found = _Vectors(feature_names(estimator), prototypes, telling, nowhere)
    return _vectors(found, weights, closeness, bias, label)


def _by_usual_values(
    estimator: Any, X: Any, row: Any, output: int, sign: float, label: Any, value: Callable[[str], Any]
) -> Reasons:
    """Waves have no vectors: by how much the score would be smaller if a column had its mean value."""
    instead = np.repeat(row, row.shape[1] + 1, axis=0)
    np.fill_diagonal(instead[1:], estimator._standardisation.mean)
    asked: Any = instead
    if is_table(X):
        asked = type(X)({name: instead[:, j] for j, name in enumerate(estimator.feature_names_in_)})
    scores = sign * np.asarray(estimator.decision_function(asked)).reshape(len(instead), -1)[:, output]
    title = f"by how much the score of {label}, {number(float(scores[0]))}, would be less with a column at its mean"
    given = _by_column(title, estimator, value, scores[0] - scores[1:], {"score": float(scores[0])}, label, label)
    given.why = class_why(given.data[1:], 1.0, None)
    return given
