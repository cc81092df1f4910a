"""The sets that scikit-learn carries along, which need neither a directory nor a network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.utils import Bunch

from ._columns import TARGET, Columns

BUNDLED: dict[str, Callable[[], Bunch]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer_wdbc": load_breast_cancer,
    # The paper's errors are in the units of the unscaled set.
    "diabetes_sklearn": partial(load_diabetes, scaled=False),
}


def from_scikit_learn(name: str) -> Columns | None:
    """Return the bundled set `name`, or None if scikit-learn does not carry it."""
    return bunch_to_columns(BUNDLED[name]()) if name in BUNDLED else None


def bunch_to_columns(bunch: Bunch) -> Columns:
    """Turn scikit-learn's matrix and class codes into named columns and class names."""
    columns = {str(name): np.array(values) for name, values in zip(bunch.feature_names, bunch.data.T, strict=True)}
    classification = np.issubdtype(bunch.target.dtype, np.integer)
    target = bunch.target_names[bunch.target] if classification else bunch.target
    columns[TARGET] = target.astype(object) if classification else np.array(target)
    return columns
