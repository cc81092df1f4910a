"""What the exact machines share: limits of their parameters, settings of a fit, and checks of kernels and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._params import class_weights, integer, one_of, real, seed, threads
from planewise.data.categories import categorical_limit
from planewise.data.problem import ClassProblem, Problem, class_problem
from planewise.data.scaling import scaling_limit
from planewise.machines.columns import machine_rows
from planewise.machines.kernels import KERNEL_NAMES, Kernel, Matrix

# Cross-validated on the training parts of thirteen develop sets, against 1: 0.2 points more of accuracy (seven sets
# better, four worse), with 0.78 to 0.93 of the vectors.
RELAXATION = 0.3
MOST_ROWS = 50_000
SECONDS_PER_KERNEL_VALUE = 1e-8
ROUNDS_EXPECTED = 30
COLUMNS_EXPECTED = 300

SHARED_LIMITS = {
    "kernel": one_of(*KERNEL_NAMES, "precomputed"),
    "degree": integer(1),
    "coef0": real(-1e300),
    "slack": one_of("mean", "sum"),
    "categorical_features": categorical_limit(),
    "scaling": scaling_limit("arcsinh", "standard", "robust"),
    "tol": real(0, 1e-2),
    "max_iter": integer(1),
}
CLASS_LIMITS = SHARED_LIMITS | {
    "relaxation": real(0, 1),
    "conformal": one_of("none", "signed", "shrunk", "printed"),
    "class_weight": class_weights(),
    "multi_class": one_of("ovr", "ovo"),
    "n_jobs": threads(),
    "random_state": seed(),
}


class TakesKernelMatrix:
    """A mixin: X is a kernel matrix if the kernel is "precomputed", and scikit-learn cuts it both ways."""

    kernel: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.allow_nan = self.kernel != "precomputed"
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class Settings:
    """What stays the same along a path of costs."""

    kernel: Kernel | None  # None: the columns are those of X (a linear machine, or a kernel given as a matrix)
    n_classes: int
    precomputed: bool = False
    multi_class: str = "ovr"
    relaxation: float = 1.0
    tol: float = 1e-8
    max_iter: int = 100_000
    n_jobs: int = 1
    slack: str = "mean"  # what C multiplies: the mean of the slacks, or their sum
    rho: float = 0.0
    printed: bool = False  # a conformal factor by the equations as they are printed

    @property
    def linear(self) -> bool:
        return self.kernel is None and not self.precomputed


def settings_of(classifier: Any, gamma: float, n_jobs: int) -> Settings:
    """Of a classifier or a search, from its parameters and classes."""
    return Settings(
        None if has_no_function(classifier) else Kernel(classifier.kernel, gamma, classifier.degree, classifier.coef0),
        n_classes=len(classifier.classes_),
        precomputed=classifier.kernel == "precomputed",
        multi_class=classifier.multi_class,
        relaxation=classifier.relaxation,
        tol=classifier.tol,
        max_iter=classifier.max_iter,
        n_jobs=n_jobs,
        slack=classifier.slack,
        printed=classifier.conformal == "printed",
    )


def has_no_function(machine: Any) -> bool:
    """Whether the machine's columns are those of X, and not values of a kernel function."""
    return machine.kernel in ("linear", "precomputed")


def scaling_for(machine: Any) -> str | None:
    """What ``scaling`` means for the machine's kernel: planes need plain units, and a kernel matrix is what it is."""
    if machine.kernel == "precomputed":
        return None
    scaling: str | None = machine.scaling
    return "standard" if machine.kernel == "linear" and scaling == "arcsinh" else scaling


def read_classes(classifier: Any, X: Any, y: Any, sample_weight: Any) -> ClassProblem:
    """The rows, labels and weights of a fit; sets ``classes_``, and what ``fit`` learns of columns."""
    problem = class_problem(
        classifier, X, y, sample_weight, class_weight=classifier.class_weight, read=machine_rows, min_classes=2
    )
    check_kernel(classifier, problem, "LargeScaleMCMClassifier, ")
    if has_no_function(classifier) and classifier.conformal != "none":
        raise ValueError(
            f"conformal={classifier.conformal!r} requires a kernel function; kernel={classifier.kernel!r} has none. "
            "Use another kernel, such as 'rbf'."
        )
    classifier.classes_ = problem.classes
    return problem


def check_kernel(machine: Any, problem: Problem, instead: str) -> None:
    """An error if X is not the kernel matrix it should be, or has more rows than an exact kernel machine can take."""
    if machine.kernel == "precomputed":
        _require_kernel_matrix(problem.table)
    elif machine.kernel != "linear":
        _refuse_too_many_rows(type(machine).__name__, len(problem.rows), instead)


def _require_kernel_matrix(K: Matrix) -> None:
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"With kernel='precomputed' X must be the square matrix of the training rows' kernel values; got shape "
            f"{K.shape}."
        )
    difference = np.abs(K - K.T).max()
    if difference > 1e-6 * np.abs(K).max():  # what float32 leaves of symmetry
        raise ValueError(
            f"With kernel='precomputed' X must be symmetric; entries differ from those across the diagonal by up to "
            f"{difference:.3g}. Is it the kernel of training rows with other rows?"
        )


def _refuse_too_many_rows(name: str, n_rows: int, instead: str) -> None:
    if n_rows <= MOST_ROWS:
        return
    memory = 8 * n_rows * COLUMNS_EXPECTED / 1e9
    minutes = ROUNDS_EXPECTED * SECONDS_PER_KERNEL_VALUE * n_rows**2 / 60
    raise ValueError(
        f"X has {n_rows:,} rows, and {name} is exact for at most {MOST_ROWS:,}: about {minutes:,.0f} minutes of kernel "
        f"values and {memory:.1f} GB of columns would be needed ({8 * n_rows**2 / 1e9:,.0f} GB for the whole kernel "
        f"matrix). Use {instead}kernel='linear', or a sample of the rows."
    )
