"""A model as ONNX."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import planewise
from planewise._atomic import write_whole
from planewise.export.models import KernelMachine, TreeEnsemble, plain_model
from planewise.export.onnx_graph import Graph, onnx_package
from planewise.export.onnx_machines import machine_scores
from planewise.export.onnx_trees import tree_scores


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Export a fitted model as ONNX, for batches of rows; needs the package onnx, from the extra ``export``.

    The input ``X`` is float, of shape (N, n_features); double for trees with ``feature_origins_``. A classifier has the
    outputs ``label`` (N,), of integers or strings as the classes are, and ``probabilities`` (N, n_classes), or
    ``scores`` for a machine without probabilities; a regressor has ``variable`` (N, 1).

    Parameters
    ----------
    model : fitted estimator
        A tree, forest or boosting, or a minimal complexity machine whose kernel is not a Python function. A search
        (`MCMClassifierCV`, `MCMRegressorCV`, or one of scikit-learn's) stands for its best estimator. A
        :class:`planewise.table.TableModel` of one of them is exported with the way it reads a table. The graph fills
        in missing values and encodes categories where the machine does.
    path : path, default=None
        Where to write the model; an existing file is replaced in one step. None: nowhere.

    Returns
    -------
    onnx_model : onnx.ModelProto

    Notes
    -----
    NaN is a missing value for trees, for a TableModel and for a machine that was fitted on missing values or
    categories; other machines take none. Trees take infinities as beyond all numbers. A categorical column holds, as a
    float, the number of its category by its place in ``categories_``; any other number is a category not seen in
    ``fit``. Of a TableModel, booleans are 0 and 1, and dates are days since 1970. The model's metadata has the names of
    the columns, the classes and the categories, in JSON. Opset 21 with ai.onnx.ml 5: onnxruntime from 1.20 on. Scores
    are added up in double.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> from planewise.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> made = to_onnx(SLMClassifier(random_state=0).fit(X, y))
    >>> [output.name for output in made.graph.output]
    ['label', 'probabilities']
    """
    onnx_package()
    plain = plain_model(model, "ONNX")
    graph = Graph()
    if plain.classes is not None and len(plain.classes) == 1:
        _one_class(graph, plain)
    elif isinstance(plain, TreeEnsemble):
        _tree_answers(graph, plain, tree_scores(graph, plain))
    else:
        _machine_answers(graph, plain, machine_scores(graph, plain))
    made = graph.model(plain, planewise.__version__)
    if path is not None:
        write_whole(path, made.SerializeToString())
    return made


def _tree_answers(graph: Graph, model: TreeEnsemble, raw: str) -> None:
    if model.classes is None:
        if model.link == "exp":
            raw = graph.add("Exp", raw)
        graph.number_output("variable", raw, 1)
        return
    if len(model.classes) == 2 and model.link == "probability":
        other = graph.add("Sub", graph.constant(1), raw)
        probability = graph.add("Concat", other, raw, axis=1)
        place = graph.add("ArgMax", probability, axis=1, keepdims=0)
    elif len(model.classes) == 2:
        probability = _logistic(graph, raw, 1.0)
        place = _above_zero(graph, raw, "Greater")
    else:
        probability = raw if model.link == "probability" else graph.add("Softmax", raw, axis=1)
        place = graph.add("ArgMax", raw, axis=1, keepdims=0)
    graph.label(place, model.classes)
    graph.number_output("probabilities", probability, len(model.classes))


def _machine_answers(graph: Graph, model: KernelMachine, scores: str) -> None:
    if model.classes is None:
        graph.number_output("variable", scores, 1)
        return
    two = len(model.classes) == 2
    place = _above_zero(graph, scores, "GreaterOrEqual") if two else graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.label(place, model.classes)
    if model.slope is None:
        graph.number_output("scores", scores, 1 if two else len(model.classes))
        return
    if two:
        probability = _logistic(graph, scores, model.slope)
    else:
        probability = graph.add("Softmax", graph.add("Mul", scores, graph.constant(model.slope)), axis=1)
    graph.number_output("probabilities", probability, len(model.classes))


def _one_class(graph: Graph, model: TreeEnsemble | KernelMachine) -> None:
    assert model.classes is not None
    n_rows = graph.add("Shape", "X", start=0, end=1)
    nothing = graph.constant(0, np.int64)
    graph.label(graph.add("Expand", nothing, n_rows), model.classes)
    shape = graph.add("Concat", n_rows, graph.constant([1], np.int64), axis=0)
    graph.number_output("probabilities", graph.add("Expand", graph.constant(1), shape), 1)


def _logistic(graph: Graph, raw: str, slope: float) -> str:
    """Both classes' probabilities, each with all its digits."""
    sides = graph.add("Mul", raw, graph.constant([[-slope, slope]]))
    return graph.add("Sigmoid", sides)


def _above_zero(graph: Graph, raw: str, comparison: str) -> str:
    above = graph.cast(graph.add(comparison, raw, graph.constant(0)), "INT64")
    return graph.add("Squeeze", above, graph.constant([1], np.int64))
