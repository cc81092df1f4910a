"""Why the large-scale machine answers as it does, and what it is: prototypes, or Fourier features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._input import is_table, prediction_rows
from planewise._tables import rows_as_given
from planewise.mcm._explain import (
    MAX_COLUMNS,
    Kept,
    Numbers,
    by_vectors,
    describe_vectors,
    kernel_in_words,
    signs_of,
    telling_columns,
)
from planewise.mcm._feature_maps import FourierMap, PrototypeMap
from planewise.words import Contributions, Description, Limits, Reason, feature_names, number


class ExplainsLargeMachine:
    """A mixin for machines whose prototypes are learned, or that have waves instead."""

    classes_: NDArray[Any]
    dual_coef_: Numbers
    intercept_: Numbers
    support_vectors_: Numbers
    conformal_: Any
    _model: Any
    _standardisation: Any

    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its class: the prototypes near it; with Fourier features, what each column changes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        reasons : list of planewise.words.Vectors or planewise.words.Contributions
            One per row.
        """
        check_is_fitted(self)
        rows, answers = prediction_rows(self, X), self.predict(X)  # type: ignore[attr-defined]
        feature_map, names = self._model.feature_map, feature_names(self)
        if isinstance(feature_map, FourierMap):
            frame = type(X) if is_table(X) else None
            return [
                _without_columns(self, names, frame, *each)
                for each in zip(rows_as_given(X), rows, answers, strict=True)
            ]
        standard = self._standardisation(rows)
        nearness = feature_map.forward(standard).features.astype(np.float64) * feature_map.unit
        if self.conformal_ is not None:
            nearness = nearness * np.asarray(self.conformal_(standard))[:, None]
        telling = telling_columns(self._standardisation(self.support_vectors_), MAX_COLUMNS)
        kept = Kept(names, self.support_vectors_, telling, are_rows=False)
        return [
            by_vectors(self, kept, dict(zip(names, row.tolist(), strict=True)), near, answer)
            for row, near, answer in zip(rows, nearness, answers, strict=True)
        ]

    def _describe(self, about: Description, limits: Limits) -> None:
        _describe(self, about, limits)


def _without_columns(
    machine: Any, names: Sequence[str], frame: Any, values: Any, row: NDArray[np.float32], answer: Any
) -> Contributions:
    """Waves have no vectors: by how much the score would be smaller if a column had its mean value."""
    instead = np.repeat(row[None], len(row) + 1, axis=0)
    np.fill_diagonal(instead[1:], machine._standardisation.mean)
    asked = instead if frame is None else frame({name: instead[:, j] for j, name in enumerate(names)})
    scores = np.asarray(machine.decision_function(asked)).reshape(len(instead), -1) @ signs_of(machine, answer)
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
    feature_map, standard = machine._model.feature_map, machine._standardisation
    if isinstance(feature_map, FourierMap):
        about.facts.append(("Fourier features", str(len(feature_map.arrays[0]))))
        about.facts.append(("starts from", ", ".join(number(each) for each in machine.intercept_)))
        return
    prototypes = isinstance(feature_map, PrototypeMap)
    kernel = "exp(−Σ s·(x − v)²), s one number per column" if prototypes else kernel_in_words(feature_map.kernel)
    scaled = bool(standard.mean.any() or (standard.spread != 1).any())
    vectors = standard(machine.support_vectors_)
    describe_vectors(machine, about, limits, kernel + (", on standardised columns" if scaled else ""), vectors)
    if machine.conformal_ is not None:
        about.facts.append(("conformal factor", f"{len(machine.conformal_.cores)} cores"))
