"""The kernel of a fitted estimator, before and after its optimisation, for pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._input import precise_rows

Numbers = NDArray[np.float64]
KernelFunction = Callable[[Numbers, Numbers], Numbers]


@dataclass(frozen=True)
class FittedKernel:
    """What a fitted machine or kernel knows: its scaling, the kernel before and after optimisation, and the cores."""

    scale: Callable[[Any], Numbers]  # a table of the user
    scale_numbers: Callable[[Numbers], Numbers]  # rows as the model keeps them
    before: KernelFunction
    after: KernelFunction | None
    cores: Numbers  # scaled
    separability: tuple[float, float] | None


def fitted_kernel(estimator: Any) -> FittedKernel:
    """Of an MCM classifier or a ConformalKernel."""
    if hasattr(estimator, "_standardisation") and hasattr(estimator, "X_fit_"):
        kernel, factor, ready = estimator._kernel, estimator._factor, estimator._ready
        plain = ready
    elif hasattr(estimator, "_trained_settings"):
        settings, factor = estimator._trained_settings, estimator._factor
        if settings.kernel is None:
            raise ValueError(
                f"The kernel {estimator.kernel!r} is not a function of rows, so it has no components; fit "
                "with a kernel such as 'rbf'."
            )
        kernel = settings.kernel

        def ready(X: Any) -> Numbers:
            return estimator._scaling(precise_rows(estimator, X, reset=False))

        plain = estimator._scaling

    else:
        raise TypeError(
            f"{type(estimator).__name__} has no kernel; pass a fitted MCMClassifier, MCMClassifierCV or "
            "ConformalKernel."
        )
    if factor is None:
        return FittedKernel(ready, plain, kernel, None, np.empty((0, 0)), None)

    def after(one: Numbers, other: Numbers) -> Numbers:
        return factor(one)[:, None] * kernel(one, other) * factor(other)

    known = (factor.separability(0.0), factor.separability(factor.shrinkage))
    return FittedKernel(ready, plain, kernel, after, np.asarray(factor.cores, dtype=np.float64), known)
