"""One self-contained C99 header for a model."""

from __future__ import annotations

import os
from typing import Any

import planewise
from planewise._atomic import write_whole
from planewise._text import cut
from planewise.export.c_machines import machine_scores
from planewise.export.c_predictions import class_answer, needs_math, number_answer
from planewise.export.c_text import checked_name, comment, values_table
from planewise.export.c_trees import RawScores, tree_scores
from planewise.export.models import KernelMachine, PlainModel, TreeEnsemble, plain_model

LAYOUTS = ("exact", "compact")
NOTHING = RawScores([], "", "float", [])  # what one class needs


def to_c(model: Any, path: str | os.PathLike[str] | None = None, *, name: str = "model", values: str = "exact") -> str:
    """Export a fitted model as one C99 header: constant tables and a few small functions, for microcontrollers.

    No memory is allocated, and nothing of the C library is used but ``math.h`` where exponentials are needed. The
    header compiles without warnings as C99 and as C++; its opening comment states the bytes of its tables and how to
    use it.

    Parameters
    ----------
    model : fitted estimator
        A tree, forest, boosting or sum of views, or a minimal complexity machine whose kernel is not a Python function.
        A search (`MCMClassifierCV`, `MCMRegressorCV`, or one of scikit-learn's) stands for its best estimator. A
        :class:`planewise.table.TableModel` of one of them is exported with the way it reads a table. The header fills
        in missing values and encodes categories where the machine does.
    path : path, default=None
        Where to write the header; an existing file is replaced in one step. None: nowhere.
    name : str, default="model"
        Prefix of all names in the header: ``model_predict`` and so on.
    values : {"exact", "compact"}, default="exact"
        How numbers are stored. "exact": leaf values of trees as float, added up in double, which gives exactly the
        labels of ``predict``; machines in float where that keeps probabilities within 1e-5, else in double. "compact":
        leaf values in two bytes, added up as integers (the comment states the largest change of a score), thresholds
        rounded by less than 1e-5 of their size; machines always in float.

    Returns
    -------
    header : str
        The text of the header.

    Notes
    -----
    Rows are ``float`` arrays in the order of the columns in ``fit``, or ``double`` for trees with ``feature_origins_``.
    NaN is a missing value for trees, for a TableModel and for a machine that was fitted on missing values or
    categories; other machines take none. Trees take infinities as beyond all numbers. Neither is possible under
    ``-ffast-math``. A categorical column holds the number of its category, by its place in ``categories_`` and in
    the header's table; any other number is a category not seen in ``fit``. Of a TableModel, booleans are 0 and 1, and
    dates are days since 1970.

    Names, labels and categories are only text in the header, whatever they contain: comments show characters that mean
    something to a compiler by their code, such as <U+002A>, and strings hold every byte.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> from planewise.export import to_c
    >>> X, y = load_iris(return_X_y=True)
    >>> header = to_c(SLMClassifier(random_state=0).fit(X, y), name="iris")
    >>> "static inline int iris_predict(const float *x)" in header
    True
    """
    name = checked_name(name)
    if values not in LAYOUTS:
        raise ValueError(f"values must be 'exact' or 'compact'; got {values!r}.")
    plain = plain_model(model, "C")
    if isinstance(plain, TreeEnsemble):
        header = _trees(plain, name, compact=values == "compact")
    else:
        header = _machine(plain, name, compact=values == "compact")
    if path is not None:
        write_whole(path, header)
    return header


def _trees(model: TreeEnsemble, name: str, compact: bool) -> str:
    if model.link == "constant":
        answers = class_answer(name, "float", "constant", 1, "", row=model.input_type)
        return _header(model, name, NOTHING, answers, False)
    scores = tree_scores(model, name, compact)
    if model.classes is None:
        answers = number_answer(name, scores.real, model.link, model.input_type)
    else:
        above = "> 0.5f" if model.link == "probability" and scores.real == "float" else "> 0.5"
        above = "> 0" if model.link == "logistic" else above
        answers = class_answer(name, scores.real, model.link, len(model.classes), above, row=model.input_type)
    return _header(model, name, scores, answers, needs_math(model.link))


def _machine(model: KernelMachine, name: str, compact: bool) -> str:
    if model.classes is not None and len(model.classes) == 1:
        return _header(model, name, NOTHING, class_answer(name, "float", "constant", 1, ""), False)
    scores = machine_scores(model, name, compact)
    if model.classes is None:
        answers = number_answer(name, scores.real, "identity")
    else:
        # Rows on the margins of two machines have the same score by both; predict rounds to twelve digits to see that.
        above, tie = (">= 0.0f", " + 4e-6f") if scores.real == "float" else (">= -5e-13", " + 1e-12")
        answers = class_answer(name, scores.real, "logistic", len(model.classes), above, model.slope, tie)
    math = model.kernel not in ("linear", "product", "poly") or model.slope is not None
    return _header(model, name, scores, answers, math or model.factor is not None or model.tails is not None)


def _header(model: PlainModel, name: str, scores: RawScores, answers: str, math: bool) -> str:
    guard = f"PLANEWISE_{name.upper()}_H"
    parts = [
        comment(_opening(model, name, scores, "_predict_proba(" in answers)),
        f"#ifndef {guard}\n#define {guard}\n",
        "#include <stdint.h>\n" + ("#include <math.h>\n" if math else ""),
        f"#define {name.upper()}_N_FEATURES {len(model.input_names)}\n",
    ]
    if model.classes is not None:
        parts[-1] += f"#define {name.upper()}_N_CLASSES {len(model.classes)}\n"
        parts.append(values_table(f"{name}_classes", model.classes, "the label of each class"))
    for column, known in model.categories.items():
        if len(known):
            what = f"the categories of x[{column}], {cut(model.input_names[column])}: it holds their numbers"
            parts.append(values_table(f"{name}_categories_{column}", known, what))
    parts += [part.text for part in scores.tables]
    parts += [scores.code + answers, f"#endif /* {guard} */\n"]
    return "\n".join(part for part in parts if part)


def _opening(model: PlainModel, name: str, scores: RawScores, probabilities: bool) -> list[str]:
    """What it is, its size, its columns and how to use it."""
    n_bytes = sum(part.n_bytes for part in scores.tables)
    lines = [
        f"{model.kind}, written by planewise {planewise.__version__}. Tables: {n_bytes} bytes (labels not counted).",
        *([f"The model was {model.remark}."] if model.remark else []),
        *scores.remarks,
        "Include it in one source file; x are the columns in this order:",
        "",
        *(f"    x[{j}]  {_column(model, j)}" for j in range(len(model.input_names))),
        "",
        f"    {model.input_type} x[{name.upper()}_N_FEATURES] = {{ ... }};",
    ]
    if model.classes is None:
        lines.append(f"    float y = {name}_predict(x);")
    else:
        lines.append(f"    int k = {name}_predict(x);    // the label is {name}_classes[k]")
        if probabilities:
            lines += [f"    float p[{name.upper()}_N_CLASSES];", f"    {name}_predict_proba(x, p);"]
    missing = "NaN is a missing value, unless compiled with -ffast-math; infinities are not allowed."
    if isinstance(model, TreeEnsemble):
        missing = "NaN is a missing value and infinities are beyond all numbers, unless compiled with -ffast-math."
        missing += " Where the processor multiplies and adds in one step, -ffp-contract=off rounds as predict does."
    elif model.reading is None:
        missing = "Missing values and infinities are not allowed."
    lines += ["", missing]
    if model.categories:
        lines.append("A categorical column holds the number of the category; a number beyond is a new category.")
    return lines


def _column(model: PlainModel, j: int) -> str:
    """A column's name, and what its numbers stand for."""
    name = cut(model.input_names[j])
    return f"{name}: {model.units[j]}" if j in model.units else name
