"""Why the large-scale machine answers as it does, and what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise.data.problem import unshifted_rows
from planewise.data.tables import rows_as_given
from planewise.data.values import Columns
from planewise.explain.describe import Description, Limits
from planewise.explain.reasons import Reason
from planewise.machines.columns import shown_values
from planewise.machines.explain import (
    MAX_COLUMNS,
    Kept,
    Linear,
    Numbers,
    by_vectors,
    describe_vectors,
    kernel_in_words,
    telling_columns,
)
from planewise.machines.maps import KernelMap, PrototypeMap


class ExplainsLargeMachine:
    """A mixin for machines whose prototypes are learned."""

    classes_: NDArray[Any]
    dual_coef_: Numbers
    intercept_: Numbers
    support_vectors_: Numbers
    conformal_: Any
    _model: Any
    _scaling: Any

    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its class: the prototypes near it or, for a linear machine, what each column added.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        reasons : list of planewise.explain.Vectors or planewise.explain.Contributions
            One per row.
        """
        check_is_fitted(self)
        rows, answers = unshifted_rows(self, X, reset=False), self.predict(X)  # type: ignore[attr-defined]
        feature_map, columns = self._model.feature_map, Columns.of(self)
        names, given = columns.names, map(columns.row, rows_as_given(X))
        linear = _linear(self)
        if linear is not None:
            exact = self._scaling.preparation(rows).astype(np.float64)
            return [linear.explain(names, *each) for each in zip(given, exact, answers, strict=True)]
        standard = self._scaling(rows)
        nearness = feature_map.forward(standard).features.astype(np.float64) * feature_map.unit
        if self.conformal_ is not None:
            nearness = nearness * np.asarray(self.conformal_(standard))[:, None]
        telling = telling_columns(feature_map.prototypes, MAX_COLUMNS, self._scaling.preparation)
        vectors = self.support_vectors_
        kept = Kept(names, vectors, shown_values(self, vectors), telling, are_rows=False)
        return [
            by_vectors(self, kept, row, dict(zip(names, own, strict=True)), near, answer)
            for row, own, near, answer in zip(rows, shown_values(self, rows), nearness, answers, strict=True)
        ]

    def _describe(self, about: Description, limits: Limits) -> None:
        _describe(self, about, limits)


def _linear(machine: Any) -> Linear | None:
    """The weights by column of a machine with a linear kernel; None if it has another one."""
    feature_map, standard = machine._model.feature_map, machine._scaling
    if not isinstance(feature_map, KernelMap) or feature_map.kernel.name != "linear":
        return None
    if machine.conformal_ is not None or len(machine.classes_) == 1:
        return None
    slopes = machine.dual_coef_ @ feature_map.prototypes / standard.spread
    centre = standard.mean.astype(np.float64)
    return Linear(machine, slopes, machine.intercept_ - slopes @ centre, centre, standard.preparation)


def _describe(machine: Any, about: Description, limits: Limits) -> None:
    feature_map, standard = machine._model.feature_map, machine._scaling
    prototypes = isinstance(feature_map, PrototypeMap)
    kernel = "exp(−Σ s·(x − v)²), s one number per column" if prototypes else kernel_in_words(feature_map.kernel)
    scaled = bool(standard.mean.any() or (standard.spread != 1).any())
    columns = ", on standardised columns" + (", long tails compressed" if standard.tails is not None else "")
    describe_vectors(machine, about, limits, kernel + (columns if scaled else ""), feature_map.prototypes)
    if machine.conformal_ is not None:
        about.facts.append(("conformal factor", f"{len(machine.conformal_.cores)} cores"))
