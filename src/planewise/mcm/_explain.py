"""Why machines answer as they do: which vectors a row is near to, or what each column added."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from planewise._input import is_table, precise_rows, prediction_rows
from planewise._tables import rows_as_given
from planewise.mcm._describe import describe_exact, describe_large, telling_columns
from planewise.mcm._feature_maps import FourierMap
from planewise.words import Contributions, Description, Limits, Reason, Start, Vector, Vectors, feature_names

MAX_COLUMNS = 6  # by which vectors are shown; as data they are whole
Numbers = NDArray[np.float64]


class ExplainsExactMachine:
    """A mixin for machines that keep training rows as support vectors, and for linear ones."""

    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its answer: the support vectors near it; without a kernel, what each column added.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Or, for a precomputed kernel, the kernel values with all training rows.

        Returns
        -------
        reasons : list of planewise.words.Vectors or planewise.words.Contributions
            One per row.
        """
        check_is_fitted(self)
        machine: Any = getattr(self, "best_estimator_", self)
        rows, answers = precise_rows(self, X, reset=False), self.predict(X)  # type: ignore[attr-defined]
        if hasattr(machine, "coef_"):
            return [
                _linear(machine, feature_names(self), *each)
                for each in zip(rows_as_given(X), rows, answers, strict=True)
            ]
        if getattr(machine, "kernel", None) == "precomputed":  # rows hold kernel values, and vectors have no columns
            kept = _Kept(["row of the kernel"], machine.support_[:, None].astype(np.float64), np.arange(1))
            return [
                _near(machine, kept, {}, row[machine.support_], answer)
                for row, answer in zip(rows, answers, strict=True)
            ]
        vectors = machine._scaling(machine.support_vectors_)
        kept = _Kept(feature_names(self), machine.support_vectors_, telling_columns(vectors, MAX_COLUMNS))
        nearness = _exact_nearness(machine, machine._scaling(rows), vectors)
        return [
            _near(machine, kept, dict(zip(kept.names, row.tolist(), strict=True)), near, answer)
            for row, near, answer in zip(rows, nearness, answers, strict=True)
        ]

    def _describe(self, about: Description, limits: Limits) -> None:
        describe_exact(self, about, limits)


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
        kept = _Kept(names, self.support_vectors_, telling, are_rows=False)
        return [
            _near(self, kept, dict(zip(names, row.tolist(), strict=True)), near, answer)
            for row, near, answer in zip(rows, nearness, answers, strict=True)
        ]

    def _describe(self, about: Description, limits: Limits) -> None:
        describe_large(self, about, limits)


# ------------------------------------------------------------------------------------------------------- vectors
class _Kept:
    """Support vectors or prototypes in the user's units, and the columns to show them by."""

    def __init__(self, names: list[str], values: Numbers, telling: Any, are_rows: bool = True) -> None:
        self.names, self.values, self.telling = names, values, [names[j] for j in telling]
        self.are_rows = are_rows  # of the fit; prototypes have been moved


def _exact_nearness(machine: Any, scaled: Numbers, vectors: Numbers) -> Numbers:
    settings = getattr(machine, "_trained_settings", None)
    kernel: Any = machine._kernel if settings is None else settings.kernel
    nearness = kernel(scaled, vectors) if len(vectors) else np.zeros((len(scaled), 0))
    factor = getattr(machine, "_factor", None)
    return nearness if factor is None else nearness * np.asarray(factor(scaled))[:, None]


def _near(machine: Any, kept: _Kept, row: dict[str, float], nearness: Numbers, answer: Any) -> Vectors:
    """The vectors of the score that decides, told by their values: their numbers are not those of the user's rows."""
    signs = _signs(machine, answer)
    weights, intercept = signs @ machine.dual_coef_, float(signs @ machine.intercept_)
    order = np.argsort(-np.abs(weights * nearness), kind="stable")
    order = order[weights[order] != 0]  # the others are vectors of other classes
    own = np.array([row.get(name, np.nan) for name in kept.names])
    same = (kept.values == own).all(axis=1) & kept.are_rows
    classes = getattr(machine, "classes_", ())
    return Vectors(
        answer=answer,
        of=answer if len(classes) else None,
        intercept=intercept,
        vectors=[
            Vector(
                float(weights[j]),
                float(nearness[j]),
                dict(zip(kept.names, map(float, kept.values[j]), strict=True)),
                bool(same[j]),
            )
            for j in order
        ],
        n_vectors=len(kept.values),
        row=row,
        telling=kept.telling,
        n_classes=len(classes),
        duels=_by_pairs(machine),
    )


def _signs(machine: Any, answer: Any) -> Numbers:
    """How the scores of the machine's outputs make the one that decides: that of the class the row gets."""
    classes = getattr(machine, "classes_", None)
    if classes is None:
        return np.ones(1)
    place, n_classes = int(np.flatnonzero(classes == answer)[0]), len(classes)
    if n_classes <= 2:
        return np.array([1.0 if place == 1 else -1.0])
    if not _by_pairs(machine):
        return np.eye(n_classes)[place]
    return np.array([(a == place) * 1.0 - (b == place) * 1.0 for a, b in combinations(range(n_classes), 2)])


def _by_pairs(machine: Any) -> bool:
    settings = getattr(machine, "_trained_settings", None)
    return settings is not None and settings.multi_class == "ovo" and len(machine.classes_) > 2


# ------------------------------------------------------------------------------------------------------- columns
def _linear(machine: Any, names: list[str], values: Any, row: Numbers, answer: Any) -> Contributions:
    """Without a kernel every column adds to the score, starting from that of a row of mean values."""
    centre = machine._scaling.mean

    def parts(label: Any) -> Numbers:
        signs = _signs(machine, label)
        slopes = signs @ machine.coef_
        return np.append(slopes * (row - centre), float(signs @ machine.intercept_) + slopes @ centre)

    own, start = parts(answer), None
    classes = getattr(machine, "classes_", None)
    if classes is not None:
        every = np.array([parts(each) for each in classes]) / (2 if len(classes) == 2 else 1)  # two share one score
        place = int(np.flatnonzero(classes == answer)[0])
        start = Start.of("the average score", classes, place, every[:, -1], every[:, :-1].sum(axis=1))
    return Contributions.of_columns(
        names,
        values,
        own[:-1],
        answer=answer,
        what="the score",
        of=None if classes is None else answer,
        average=float(own[-1]),
        total=float(own.sum()),
        start=start,
    )


def _without_columns(
    machine: Any, names: Sequence[str], frame: Any, values: Any, row: NDArray[np.float32], answer: Any
) -> Contributions:
    """Waves have no vectors: by how much the score would be smaller if a column had its mean value."""
    instead = np.repeat(row[None], len(row) + 1, axis=0)
    np.fill_diagonal(instead[1:], machine._standardisation.mean)
    asked = instead if frame is None else frame({name: instead[:, j] for j, name in enumerate(names)})
    scores = np.asarray(machine.decision_function(asked)).reshape(len(instead), -1) @ _signs(machine, answer)
    return Contributions.of_columns(
        names,
        values,
        scores[0] - scores[1:],
        answer=answer,
        what="the score",
        of=answer,
        average=None,
        total=float(scores[0]),
        only_class=len(machine.classes_) == 1,
    )
