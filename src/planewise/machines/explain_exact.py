"""Why exact machines answer as they do, and what they are: support vectors, or weights by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from planewise._text import feature_names, number
from planewise.data.tables import rows_as_given
from planewise.data.values import Columns
from planewise.explain.describe import Description, Limits, TextSection
from planewise.explain.planes import linear_sum
from planewise.explain.reasons import Reason
from planewise.machines.columns import machine_rows, shown_values
from planewise.machines.explain import (
    MAX_COLUMNS,
    Kept,
    Linear,
    Numbers,
    by_vectors,
    describe_vectors,
    kernel_in_words,
    outputs_of,
    telling_columns,
)


class ExplainsExactMachine:
    """A mixin for machines that keep training rows as support vectors, and for linear ones."""

    def explain(self, X: Any) -> list[Reason]:
        """Why each row gets its prediction: the support vectors near it; without a kernel, what each column added.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Or, for a precomputed kernel, the kernel values with all training rows.

        Returns
        -------
        reasons : list of planewise.explain.Vectors or planewise.explain.Contributions
            One per row.
        """
        check_is_fitted(self)
        machine: Any = getattr(self, "best_estimator_", self)
        rows, answers = machine_rows(self, X, reset=False), self.predict(X)  # type: ignore[attr-defined]
        if hasattr(machine, "coef_"):
            scaling = machine._scaling
            linear = Linear(machine, machine.coef_, machine.intercept_, scaling.mean, scaling.preparation)
            prepared = scaling.preparation(rows)
            columns = Columns.of(self)
            given = map(columns.row, rows_as_given(X))
            return [linear.explain(columns.names, *each) for each in zip(given, prepared, answers, strict=True)]
        if getattr(machine, "kernel", None) == "precomputed":  # rows hold kernel values, and vectors have no columns
            numbers = machine.support_[:, None].astype(np.float64)
            kept = Kept(["row of the kernel"], numbers, numbers.tolist(), np.arange(1), are_rows=False)
            return [
                by_vectors(machine, kept, row, {}, row[machine.support_], answer)
                for row, answer in zip(rows, answers, strict=True)
            ]
        vectors = machine._scaling(machine.support_vectors_)
        telling = telling_columns(vectors, MAX_COLUMNS, machine._scaling.preparation)
        shown = shown_values(machine, machine.support_vectors_)
        kept = Kept(feature_names(self), machine.support_vectors_, shown, telling)
        nearness = _exact_nearness(machine, machine._scaling(rows), vectors)
        return [
            by_vectors(machine, kept, row, dict(zip(kept.names, own, strict=True)), near, answer)
            for row, own, near, answer in zip(rows, shown_values(machine, rows), nearness, answers, strict=True)
        ]

    def _describe(self, about: Description, limits: Limits) -> None:
        _describe(self, about, limits)


def _exact_nearness(machine: Any, scaled: Numbers, vectors: Numbers) -> Numbers:
    settings = getattr(machine, "_trained_settings", None)
    kernel: Any = machine._kernel if settings is None else settings.kernel
    nearness = kernel(scaled, vectors) if len(vectors) else np.zeros((len(scaled), 0))
    factor = getattr(machine, "_factor", None)
    return nearness if factor is None else nearness * np.asarray(factor(scaled))[:, None]


def _describe(machine: Any, about: Description, limits: Limits) -> None:
    """A machine that keeps training rows as vectors, or a linear one."""
    if not hasattr(machine, "dual_coef_"):
        about.facts.append(("machine", "not there: the search was fitted with refit=False"))
        return
    settings = getattr(machine, "_trained_settings", None)
    kernel: Any = machine._kernel if settings is None else settings.kernel
    if hasattr(machine, "coef_"):
        _weights(machine, about)
        return
    if kernel is None:
        about.facts.append(("support vectors", str(len(machine.dual_coef_[0]))))
        about.facts.append(("kernel", "a matrix of kernel values"))
        return
    scaling = machine._scaling
    scaled = bool(scaling.mean.any() or (scaling.spread != 1).any())
    columns = ", on standardised columns" + (", long tails compressed" if scaling.tails is not None else "")
    describe_vectors(
        machine, about, limits, kernel_in_words(kernel) + (columns if scaled else ""), scaling(machine.support_vectors_)
    )
    if getattr(machine, "_factor", None) is not None:
        about.facts.append(("conformal factor", f"{len(machine._factor.cores)} cores"))


def _weights(machine: Any, about: Description) -> None:
    """Scores of a linear machine as sums over columns."""
    names, starts = machine._scaling.preparation.terms(Columns.of(machine))
    lines = []
    for which, row, constant in zip(outputs_of(machine), machine.coef_, machine.intercept_, strict=True):
        size = np.abs(row * machine._scaling.spread)
        used = np.flatnonzero(size > 1e-12 * max(1.0, size.max()))  # the rest is rounding
        total, constant = linear_sum(row[used], [names[j] for j in used]), float(constant + row @ starts)
        sign = "−" if constant < 0 else "+"
        lines.append(f"{which} = {f'{total} {sign} {number(abs(constant))}' if total else number(constant)}")
    about.facts.append(("weights", str(int(np.count_nonzero(machine.coef_)))))
    about.sections.append(TextSection("Scores", lines))
