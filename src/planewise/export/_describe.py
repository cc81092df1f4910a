"""What a fitted model is, in sections that text and HTML both show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.export._models import MACHINES, TREE_MODELS, fitted, kernel_machine, tree_ensemble
from planewise.export._rules import tree_rules
from planewise.table import TAKE_GAPS, TableModel
from planewise.words import (
    Description,
    Limits,
    TableSection,
    TextSection,
    feature_names,
    linear_sum,
    number,
    percent,
    shorten,
    signed,
)

KERNELS = {
    "rbf": "exp(−{gamma}·|x − v|²)",
    "laplacian": "exp(−{gamma}·Σ|x − v|)",
    "poly": "({gamma}·x·v + {coef0}) to the power of {degree}",
    "sigmoid": "tanh({gamma}·x·v + {coef0})",
    "product": "x·v",
}


def describe(model: Any, limits: Limits) -> Description:
    """What there is to say about a fitted estimator of planewise."""
    model = fitted(model)
    if isinstance(model, TableModel):
        return _of_a_table(model, describe(model.estimator_, limits))
    if not type(model).__module__.startswith("planewise."):
        raise TypeError(f"{type(model).__name__} is no estimator of planewise, and only those can be described.")
    about = Description(type(model).__name__, _facts(model))
    if isinstance(model, TREE_MODELS):
        _trees(model, about, limits)
    elif isinstance(model, MACHINES):
        _machine(model, about, limits)
    elif (special := BY_NAME.get(type(model).__name__)) is not None:
        special(model, about, limits)
    about.sections.append(_parameters(model))
    return about


def _of_a_table(model: TableModel, about: Description) -> Description:
    """Its estimator, and how the columns of the table become what that takes."""
    fills = model.family not in TAKE_GAPS
    rows = []
    for column in model.columns_:
        gap = "" if not fills else "no category" if column.kind == "category" else number(column.usual)
        rows.append([column.name, column.kind, *([gap] if fills else [])])
    note = "Booleans are read as 0 and 1, dates as days since 1970-01-01."
    note = note if any(column.kind in ("truth", "date") for column in model.columns_) else ""
    columns = ["column", "kind", *(["missing is read as"] if fills else [])]
    made = int(model.estimator_.n_features_in_)
    read = str(len(rows)) if made == len(rows) else f"{len(rows)}, from which {made} are made"
    about.facts[:1] = [("target", model.target_), ("columns", read)]
    about.sections.insert(-1, TableSection("Columns", columns, rows, note))
    return about


def _facts(model: Any) -> list[tuple[str, str]]:
    facts = [("columns", str(model.n_features_in_))]
    classes = getattr(model, "classes_", None)
    if classes is not None:
        shown = ", ".join(shorten(each) for each in classes[:10].tolist()) + (", …" if len(classes) > 10 else "")
        facts.append(("classes", f"{len(classes)}: {shown}"))
    return facts


def _parameters(model: Any) -> TableSection:
    default = type(model)().get_params()
    rows = [[name, repr(value)] for name, value in model.get_params().items() if repr(value) != repr(default[name])]
    note = "All parameters have their defaults." if not rows else "The others have their defaults."
    return TableSection("Parameters", ["parameter", "value"], rows, note)


def _trees(model: Any, about: Description, limits: Limits) -> None:
    plain = tree_ensemble(model)
    if getattr(model, "voting", "soft") == "hard":  # the mix in the leaves says more than their votes
        plain = replace(plain, forest=model.forest_)
    forest = plain.forest
    about.facts += [
        ("trees", str(forest.n_trees)),
        ("planes", str(forest.n_planes)),
        ("leaves", str(forest.n_leaves)),
    ]
    stored = model.n_stored_numbers_ if hasattr(model, "n_stored_numbers_") else forest.stored_numbers()
    about.facts.append(("numbers stored", str(stored)))
    if plain.base.any():
        about.facts.append(("starts from", ", ".join(number(each) for each in plain.base)))
    if forest.n_planes:
        about.sections.append(_importances(model, limits))
    for tree in range(min(forest.n_trees, limits.max_trees)):
        heading = "Rules" if forest.n_trees == 1 else f"Tree {tree + 1} of {forest.n_trees}"
        about.sections.append(TextSection(heading, tree_rules(plain, tree, limits.max_depth, limits.max_nodes)))


def _importances(model: Any, limits: Limits) -> TableSection:
    share, names = model.feature_importances_, feature_names(model)
    order = np.argsort(-share, kind="stable")
    shown = [j for j in order if share[j] > 0][: limits.max_columns]
    left = int((share > 0).sum()) - len(shown)
    note = f"… and {left} more" if left > 0 else ""
    rows = [[names[j], percent(share[j])] for j in shown]
    return TableSection("Importances", ["column", "share"], rows, note, [float(share[j]) for j in shown])


def _machine(model: Any, about: Description, limits: Limits) -> None:
    if getattr(model, "kernel", None) == "precomputed" or callable(getattr(model, "kernel", None)):
        about.facts.append(("support vectors", str(len(model.dual_coef_[0]))))
        about.facts.append(("kernel", "given as a matrix" if model.kernel == "precomputed" else "a Python function"))
        return
    plain = kernel_machine(model, "text")
    names = plain.feature_names
    machines = _machine_names(plain)
    if plain.kernel == "linear":
        weights = plain.coefficients / plain.spread
        intercept = plain.intercept - weights @ plain.mean
        lines = []
        for which, row, constant in zip(machines, weights, intercept, strict=True):
            size = np.abs(row * plain.spread)
            used = np.flatnonzero(size > 1e-12 * max(1.0, size.max()))  # the rest is rounding
            total = linear_sum(row[used], [names[j] for j in used])
            sign = "−" if constant < 0 else "+"
            text = f"{total} {sign} {number(abs(constant))}" if total else number(constant)
            lines.append(f"{which} = {text}")
        about.facts.append(("weights", str(int(np.count_nonzero(weights)))))
        about.sections.append(TextSection("Scores", lines))
        return
    if plain.kernel == "fourier":
        about.facts.append(("Fourier features", str(len(plain.vectors))))
        about.facts.append(("starts from", ", ".join(number(each) for each in plain.intercept)))
        return
    about.facts.append(("vectors", str(len(plain.vectors))))
    about.facts.append(("numbers stored", str(plain.vectors.size + plain.coefficients.size + plain.intercept.size)))
    formula = KERNELS[plain.kernel].format(gamma=number(plain.gamma), coef0=number(plain.coef0), degree=plain.degree)
    if plain.metric is not None:
        formula = "exp(−Σ s·(x − v)²), s a number a column"
    scaled = bool(plain.mean.any() or (plain.spread != 1).any())
    columns = ", on standardised columns" + (", long tails drawn in" if plain.tails is not None else "")
    about.facts.append(("kernel", formula + (columns if scaled else "")))
    if plain.factor is not None:
        about.facts.append(("conformal factor", f"{len(plain.factor.cores)} cores"))
    about.sections.append(_vectors(model, plain, machines, limits))


def _machine_names(plain: Any) -> list[str]:
    """What each machine's score speaks for."""
    if plain.classes is None:
        return ["prediction"]
    classes = [str(each) for each in plain.classes.tolist()]
    if len(plain.intercept) == 1:
        return [f"score of {classes[-1]}"]
    if plain.multi_class == "ovo":
        return [f"{a} against {b}" for k, a in enumerate(classes) for b in classes[k + 1 :]]
    return [f"score of {each}" for each in classes]


def _vectors(model: Any, plain: Any, machines: list[str], limits: Limits) -> TableSection:
    """The vectors in the user's units with their weights, the weightiest first."""
    units = np.asarray(model.support_vectors_)
    weight = plain.coefficients
    order = np.argsort(-np.abs(weight).max(axis=0, initial=0), kind="stable")[: limits.max_vectors]
    telling = telling_columns(plain.vectors, limits.max_columns)
    rows = [[signed(each) for each in weight[:, v]] + [number(units[v, j]) for j in telling] for v in order]
    notes = [f"Intercept: {', '.join(number(each) for each in plain.intercept)}."]
    if len(order) < len(units):
        notes.append(f"… and {len(units) - len(order)} more vectors.")
    if len(telling) < plain.n_features:
        notes.append(f"The {len(telling)} columns of {plain.n_features} in which they differ most.")
    columns = [f"weight: {each.removeprefix('score of ')}" for each in machines] + [
        plain.feature_names[j] for j in telling
    ]
    return TableSection("Vectors", columns, rows, " ".join(notes))


def telling_columns(vectors: Any, most: int) -> NDArray[np.intp]:
    """The columns in which scaled vectors differ most, in their order; a few far values do not count."""
    if len(vectors) == 0:
        return np.arange(0)
    spread = np.abs(vectors - np.median(vectors, axis=0)).mean(axis=0)
    return np.sort(np.argsort(-spread, kind="stable")[:most])


def _views(model: Any, about: Description, limits: Limits) -> None:
    """RECIP: the views that decide, the most used first."""
    names = [" × ".join(str(each) for each in view) for view in model.projection_names_]
    about.facts.append(("views", str(len(names))))
    columns, rows = ["view"], [[name] for name in names]
    for title, attribute in (("decides", "projection_support_"), ("entropy", "projection_entropy_")):
        values = getattr(model, attribute, None)
        if values is not None and len(values) == len(names):
            columns.append(title)
            for row, value in zip(rows, values, strict=True):
                row.append(percent(value) if title == "decides" else number(value))
    about.sections.append(TableSection("Views", columns, rows))


# By name: the family need not be there for the others to be described.
BY_NAME: dict[str, Callable[[Any, Description, Limits], None]] = {"RECIPClassifier": _views, "RECIPRegressor": _views}
