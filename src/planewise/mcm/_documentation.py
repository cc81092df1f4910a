"""The text of the parameters and attributes that the exact machines share, written once."""

from __future__ import annotations

import inspect
from typing import TypeVar

T = TypeVar("T")

_PARTS = {
    "kernel_parameters": """\
    kernel : {"rbf", "laplacian", "poly", "sigmoid", "linear", "precomputed"} or callable, default=<kernel>
        k. "linear" solves for the weights of the features themselves (eqs 4-7) and has no support vectors;
        "precomputed" takes the square kernel matrix as X (and, to predict, the rows' kernel values with all training
        rows); a function gets two tables of scaled rows and returns the matrix of their kernel values.""",
    "shape_parameters": """\
    degree : int, default=<degree>
        Power of the "poly" kernel.
    coef0 : float, default=<coef0>
        Constant of the "poly" and "sigmoid" kernels.""",
    "relaxation_parameter": """\
    relaxation : float, default=<relaxation>
        The support vectors being chosen at `mu`, their coefficients are found again at `relaxation` times `mu`, less
        drawn to zero: fewer vectors then give the same accuracy. 1: no second step (published).""",
    "closing_parameters": """\
    scale : {True, "standard", False}, default=<scale>
        True: standardise the columns of X inside and draw in their long tails, as a logarithm would (by arcsinh);
        "standard": standardise only, as a linear machine always does; False: take X as it is. Support vectors are in
        the units of X anyway.
    tol : float, default=<tol>
        A column may be priced above `mu` by this share of it when the solver stops.
    max_iter : int, default=<max_iter>
        Most simplex steps of a machine; what is reached then is kept, with a warning that tells the gap.""",
    "class_parameters": """\
    class_weight : dict, "balanced" or None, default=<class_weight>
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    multi_class : {"ovr", "ovo"}, default=<multi_class>
        More than two classes: one machine a class against the rest, or one a pair.""",
    "attributes": """\
    support_ : array of shape (n_support,)
        Rows of X that are support vectors, sorted; those of all machines together. Empty for a linear machine.
    support_vectors_ : array of shape (n_support, n_features)
        Those rows, in the units of X; of shape (0, 0) for a precomputed kernel.
    dual_coef_ : array of shape (n_machines, n_support)
        lambda: what each support vector adds, in f = sum lambda_j k(x_j, x) + b on scaled rows.
    intercept_ : array of shape (n_machines,)
        b; for a linear machine in the units of X.
    coef_ : array of shape (n_machines, n_features)
        w in the units of X, only for a linear machine.""",
    "proof_attributes": """\
    h_ : array of shape (n_machines,)
        h: the bound on the machine's complexity that was minimised; the largest of 1 and all y f. Of the machine as it
        is; the objective and the gap are of the program that chose the vectors, where there is a second step.
    objective_ : array of shape (n_machines,)
        The value of the program.
    gap_ : array of shape (n_machines,)
        What is left between it and the bound that the dual proves, relative to it.
    n_iter_ : array of shape (n_machines,)
        Simplex steps taken.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.""",
    "references": """\
    .. [1] Jayadeva, "Learning a hyperplane classifier by minimizing an exact bound on the VC dimension",
       Neurocomputing 149, 2015. Its preprint asks commercial users to turn to its authors' institute, IIT Delhi.""",
}


def document_machine(cls: type[T]) -> type[T]:
    """Fill the shared parts into a class docstring, with the class's own defaults."""
    text = cls.__doc__ or ""
    for name, part in _PARTS.items():
        text = text.replace("    {" + name + "}", part)
    for name, parameter in inspect.signature(cls).parameters.items():
        default = parameter.default
        text = text.replace(f"<{name}>", f'"{default}"' if isinstance(default, str) else repr(default))
    cls.__doc__ = text
    return cls
