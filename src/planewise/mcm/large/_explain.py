"""Why the large-scale machine answers as it does, and what it is: prototypes, or Fourier features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._input import unshifted_rows
from planewise._tables import rows_as_given
from planewise.mcm._explain import (
    MAX_COLUMNS,
    Kept,
    Linear,
    Numbers,
    by_vectors,
    describe_vectors,
    kernel_in_words,
    signs_of,
    telling_columns,
)
from planewise.mcm._feature_maps import FourierMap, KernelMap, PrototypeMap
from planewise.mcm._preparation import shown_values
from planewise.words import Columns, Contributions, Description, Limits, Reason, number

ROWS_AT_ONCE = 50_000  # that are scored


class ExplainsLargeMachine:
    """A mixin for machines whose prototypes are learned, or that have waves instead."""

    classes_: NDArray[Any]
    dual_coef_: Numbers
    intercept_: Numbers
    support_vectors_: Numbers
    conformal_: Any
    _model: Any
    _scaling: Any

    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its class: the prototypes near it, or what each column added or changes.

        A linear machine tells what each column added; one with Fourier features, how much smaller the score would be if
        a column had its mean value.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        reasons : list of planewise.words.Vectors or planewise.words.Contributions
            One per row.
        """
        check_is_fitted(self)
        rows, answers = unshifted_rows(self, X, reset=False), self.predict(X)  # type: ignore[attr-defined]
        feature_map, columns = self._model.feature_map, Columns.of(self)
        names, given = columns.names, map(columns.row, rows_as_given(X))
        if isinstance(feature_map, FourierMap):
            return [
                _without_columns(self, names, *each) for each in zip(given, _instead(self, rows), answers, strict=True)
            ]
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


def _instead(machine: Any, rows: NDArray[np.float32]) -> Iterator[Numbers]:
    """Of each row its scores, and those it would have if one column after the other had its mean value."""
    n_features, preparation = rows.shape[1], machine._scaling.preparation
    made_of = np.vstack([np.zeros(len(preparation.source), bool), np.arange(n_features)[:, None] == preparation.source])
    step = max(1, ROWS_AT_ONCE // (n_features + 1))
    for first in range(0, len(rows), step):
        some = preparation(rows[first : first + step])
        changed = np.where(made_of, machine._scaling.mean, some[:, None])
        scores = machine._scores_of(changed.reshape(-1, changed.shape[2]), prepared=True)
        yield from scores.reshape(len(some), n_features + 1, -1)


def _without_columns(machine: Any, names: Sequence[str], values: Any, instead: Numbers, answer: Any) -> Contributions:
    """Waves have no vectors: by how much the score would be smaller if a column had its mean value."""
    scores = instead @ signs_of(machine, answer)
    return Contributions.of_columns(
        names,
        values,
        scores[0] - scores[1:],
        prediction=answer,
        what="the score",
        of=answer,
        average=None,
        total=float(scores[0]),
        only_class=len(machine.classes_) == 1,
    )


def _describe(machine: Any, about: Description, limits: Limits) -> None:
    """A machine whose prototypes are learned, or that has Fourier features."""
    feature_map, standard = machine._model.feature_map, machine._scaling
    if isinstance(feature_map, FourierMap):
        about.facts.append(("Fourier features", str(len(feature_map.arrays[0]))))
        about.facts.append(("starts from", ", ".join(number(each) for each in machine.intercept_)))
        return
    prototypes = isinstance(feature_map, PrototypeMap)
    kernel = "exp(−Σ s·(x − v)²), s one number per column" if prototypes else kernel_in_words(feature_map.kernel)
    scaled = bool(standard.mean.any() or (standard.spread != 1).any())
    columns = ", on standardised columns" + (", long tails compressed" if standard.tails is not None else "")
    describe_vectors(machine, about, limits, kernel + (columns if scaled else ""), feature_map.prototypes)
    if machine.conformal_ is not None:
        about.facts.append(("conformal factor", f"{len(machine.conformal_.cores)} cores"))
