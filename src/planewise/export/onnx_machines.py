"""Minimal complexity machines in ONNX: kernel values by matrix products, in double."""

from __future__ import annotations

import numpy as np

from planewise.data.scaling import TAIL_FACTOR
from planewise.export.machine_scores import pairs
from planewise.export.models import Floats, KernelMachine, Reading
from planewise.export.onnx_graph import Graph
from planewise.machines.columns import MISSING
from planewise.machines.plain import Bumps


def machine_scores(graph: Graph, model: KernelMachine) -> str:
    """Scores by class (one column for two classes), or the number."""
    given = graph.cast("X", "DOUBLE")
    given = given if model.reading is None else _read(graph, model.reading, given)
    rows = graph.add("Sub", given, graph.constant(model.mean))
    z = graph.add("Div", rows, graph.constant(model.spread))
    if model.tails is not None:
        drawn_in = _arcsinh(graph, graph.add("Mul", z, graph.constant(TAIL_FACTOR)))
        centred = graph.add("Sub", drawn_in, graph.constant(model.tails[0]))
        z = graph.add("Div", centred, graph.constant(model.tails[1]))
    if model.kernel == "linear":
        score = graph.add("MatMul", z, graph.constant(model.coefficients.T))
    elif len(model.vectors) == 0:
        score = graph.add("MatMul", z, graph.constant(np.zeros((model.n_features, len(model.intercept)))))
    else:
        score = graph.add("MatMul", _kernel_values(graph, model, z), graph.constant(model.coefficients.T))
    if model.factor is not None:
        score = graph.add("Mul", score, _factor(graph, model.factor, z))
    score = graph.add("Add", score, graph.constant(model.intercept))
    if model.classes is None or model.kind == "LargeScaleMCMClassifier":
        return score
    # Rows on the margins of two machines have the same score by both: predict rounds to see that.
    digits = graph.constant(1e12)
    score = graph.add("Div", graph.add("Round", graph.add("Mul", score, digits)), digits)
    duels = model.multi_class == "ovo" and len(model.classes) > 2
    return _votes(graph, score, len(model.classes)) if duels else score


def _read(graph: Graph, reading: Reading, rows: str) -> str:
    """The columns of a machine from those of a table: numbers without gaps, and 1 where a category is the one."""
    values = graph.add("Gather", rows, graph.constant(reading.source, np.int64), axis=1)
    gaps = graph.add("IsNaN", values)
    read = graph.add("Where", gaps, graph.constant(reading.usual), values)
    if (reading.category >= 0).any():
        is_one = graph.cast(graph.add("Equal", values, graph.constant(reading.category)), "DOUBLE")
        read = graph.add("Where", graph.constant(reading.category >= 0, np.bool_), is_one, read)
    if (reading.category == MISSING).any():
        is_missing = graph.constant(reading.category == MISSING, np.bool_)
        read = graph.add("Where", is_missing, graph.cast(gaps, "DOUBLE"), read)
    return read


def _arcsinh(graph: Graph, z: str) -> str:
    """sign(z) log(|z| + sqrt(z^2 + 1)); onnxruntime has Asinh for float only."""
    size = graph.add("Abs", z)
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", z, z), graph.constant(1)))
    return graph.add("Mul", graph.add("Sign", z), graph.add("Log", graph.add("Add", size, root)))


def _kernel_values(graph: Graph, model: KernelMachine, z: str) -> str:
    vectors = model.vectors
    if model.kernel == "rbf":
        root = None if model.metric is None else np.sqrt(model.metric)
        scaled = z if root is None else graph.add("Mul", z, graph.constant(root))
        return _gaussian(graph, scaled, vectors if root is None else vectors * root, model.gamma)
    product = graph.add("MatMul", z, graph.constant(vectors.T))
    if model.kernel == "product":
        return product
    inner = graph.add("Add", graph.add("Mul", product, graph.constant(model.gamma)), graph.constant(model.coef0))
    return graph.add("Pow", inner, graph.constant(model.degree))  # "poly"


def _gaussian(graph: Graph, z: str, centres: Floats, gamma: float) -> str:
    """exp(-gamma |z - c|^2), distances by one matrix product."""
    product = graph.add("MatMul", z, graph.constant(-2 * centres.T))
    own = graph.add("ReduceSum", graph.add("Mul", z, z), graph.constant([1], np.int64), keepdims=1)
    squares = graph.add("Add", graph.add("Add", product, own), graph.constant((centres**2).sum(axis=1)))
    apart = graph.add("Max", squares, graph.constant(0))
    return graph.add("Exp", graph.add("Mul", apart, graph.constant(-gamma)))


def _factor(graph: Graph, bumps: Bumps, z: str) -> str:
    if len(bumps.cores) == 0:
        return graph.constant(1 - bumps.shrinkage + bumps.shrinkage * bumps.constant)
    values = _gaussian(graph, z, bumps.cores, bumps.gamma)
    r = graph.add("MatMul", values, graph.constant(bumps.shrinkage * bumps.coef[:, None]))
    return graph.add("Add", r, graph.constant(1 - bumps.shrinkage + bumps.shrinkage * bumps.constant))


def _votes(graph: Graph, score: str, n_classes: int) -> str:
    """Won duels by class, with squeezed margins that break ties."""
    duels = pairs(n_classes)
    first, second = np.zeros((2, len(duels), n_classes))
    for machine, (a, b) in enumerate(duels):
        first[machine, a] = second[machine, b] = 1
    won = graph.cast(graph.add("GreaterOrEqual", score, graph.constant(0)), "DOUBLE")
    votes = graph.add("MatMul", won, graph.constant(first - second))
    votes = graph.add("Add", votes, graph.constant(second.sum(axis=0)))
    margins = graph.add("MatMul", score, graph.constant(first - second))
    below = graph.add("Mul", graph.add("Add", graph.add("Abs", margins), graph.constant(1)), graph.constant(3))
    return graph.add("Add", votes, graph.add("Div", margins, below))
