"""What minimal complexity machines are, in words: their vectors in the user's units, or weights by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.mcm._feature_maps import FourierMap, PrototypeMap
from planewise.words import Description, Limits, TableSection, TextSection, feature_names, linear_sum, number, signed

KERNELS = {
    "linear": "x·v",
    "rbf": "exp(−{gamma}·|x − v|²)",
    "laplacian": "exp(−{gamma}·Σ|x − v|)",
    "poly": "({gamma}·x·v + {coef0}) to the power of {degree}",
    "sigmoid": "tanh({gamma}·x·v + {coef0})",
}


def describe_exact(machine: Any, about: Description, limits: Limits) -> None:
    """A machine that keeps training rows as vectors, or a linear one."""
    if not hasattr(machine, "dual_coef_"):
        about.facts.append(("machine", "not there: the search was fitted with refit=False"))
        return
    settings = getattr(machine, "_trained_settings", None)
    kernel: Any = machine._kernel if settings is None else settings.kernel
    if hasattr(machine, "coef_"):
        _weights(machine, about)
        return
    if kernel is None or callable(kernel.name):
        about.facts.append(("support vectors", str(len(machine.dual_coef_[0]))))
        about.facts.append(("kernel", "a matrix of kernel values" if kernel is None else "a Python function"))
        return
    scaling = machine._scaling
    scaled = bool(scaling.mean.any() or (scaling.spread != 1).any())
    columns = ", on standardised columns" + (", long tails compressed" if scaling.tails is not None else "")
    _vectors(machine, about, limits, _in_words(kernel) + (columns if scaled else ""), scaling(machine.support_vectors_))
    if getattr(machine, "_factor", None) is not None:
        about.facts.append(("conformal factor", f"{len(machine._factor.cores)} cores"))


def describe_large(machine: Any, about: Description, limits: Limits) -> None:
    """A machine whose prototypes are learned, or that has Fourier features."""
    feature_map, standard = machine._model.feature_map, machine._standardisation
    if isinstance(feature_map, FourierMap):
        about.facts.append(("Fourier features", str(len(feature_map.arrays[0]))))
        about.facts.append(("starts from", ", ".join(number(each) for each in machine.intercept_)))
        return
    prototypes = isinstance(feature_map, PrototypeMap)
    kernel = "exp(−Σ s·(x − v)²), s one number per column" if prototypes else _in_words(feature_map.kernel)
    scaled = bool(standard.mean.any() or (standard.spread != 1).any())
    vectors = standard(machine.support_vectors_)
    _vectors(machine, about, limits, kernel + (", on standardised columns" if scaled else ""), vectors)
    if machine.conformal_ is not None:
        about.facts.append(("conformal factor", f"{len(machine.conformal_.cores)} cores"))


def _in_words(kernel: Any) -> str:
    return KERNELS[kernel.name].format(gamma=number(kernel.gamma), coef0=number(kernel.coef0), degree=kernel.degree)


def _weights(machine: Any, about: Description) -> None:
    """Scores of a linear machine as sums over columns."""
    names, lines = feature_names(machine), []
    for which, row, constant in zip(_outputs(machine), machine.coef_, machine.intercept_, strict=True):
        size = np.abs(row * machine._scaling.spread)
        used = np.flatnonzero(size > 1e-12 * max(1.0, size.max()))  # the rest is rounding
        total = linear_sum(row[used], [names[j] for j in used])
        sign = "−" if constant < 0 else "+"
        lines.append(f"{which} = {f'{total} {sign} {number(abs(constant))}' if total else number(constant)}")
    about.facts.append(("weights", str(int(np.count_nonzero(machine.coef_)))))
    about.sections.append(TextSection("Scores", lines))


def _outputs(machine: Any) -> list[str]:
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


def _vectors(machine: Any, about: Description, limits: Limits, kernel: str, scaled: Any) -> None:
    """The vectors in the user's units with their weights, those of the largest weights first."""
    units, weight, names = np.asarray(machine.support_vectors_), machine.dual_coef_, feature_names(machine)
    about.facts.append(("vectors", str(len(units))))
    about.facts.append(("numbers stored", str(units.size + weight.size + machine.intercept_.size)))
    about.facts.append(("kernel", kernel))
    order = np.argsort(-np.abs(weight).max(axis=0, initial=0), kind="stable")[: limits.max_vectors]
    telling = telling_columns(scaled, limits.max_columns)
    rows = [[signed(each) for each in weight[:, v]] + [number(units[v, j]) for j in telling] for v in order]
    notes = [f"Intercept: {', '.join(number(each) for each in machine.intercept_)}."]
    if len(order) < len(units):
        notes.append(f"… and {len(units) - len(order)} more vectors.")
    if len(telling) < len(names):
        notes.append(f"Only the {len(telling)} of {len(names)} columns in which the vectors differ most.")
    columns = [f"weight: {each.removeprefix('score of ')}" for each in _outputs(machine)]
    columns += [names[j] for j in telling]
    about.sections.append(TableSection("Vectors", columns, rows, " ".join(notes)))


def telling_columns(vectors: Any, most: int) -> NDArray[np.intp]:
    """The columns in which scaled vectors differ most, in their order; a few far values do not count."""
    if len(vectors) == 0:
        return np.arange(0)
    spread = np.abs(vectors - np.median(vectors, axis=0)).mean(axis=0)
    return np.sort(np.argsort(-spread, kind="stable")[:most])
