"""Prediction intervals for numbers, from errors on rows that were not used in fit (split conformal prediction)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from planewise._text import counted, one_line, percent

MAX_KEPT = 500  # errors that a model keeps


@dataclass(frozen=True, repr=False)
class HeldOutErrors:
    """Absolute errors of predictions on held-out rows, by their rank; of many rows, some ranks only.

    Attributes
    ----------
    n_rows : int
        Number of held-out rows.
    ranks : array of int
        Ascending ranks from 1, the smallest error, to `n_rows`, the largest.
    errors : array of float
        The errors of these ranks.
    """

    n_rows: int
    ranks: NDArray[np.int64]
    errors: NDArray[np.float64]

    @classmethod
    def of(cls, errors: NDArray[np.float64]) -> Self:
        """Keep all errors of up to 500 rows; of more, the largest 100 and every so many of the others."""
        ordered, n_rows = np.sort(np.abs(errors)), len(errors)
        ranks = np.arange(1, n_rows + 1)
        if n_rows > MAX_KEPT:
            largest = MAX_KEPT // 5
            some = np.linspace(1, n_rows - largest, MAX_KEPT - largest).round().astype(np.int64)
            ranks = np.concatenate([some, ranks[-largest:]])
        kept = ordered[ranks - 1]
        short = kept.astype(np.float32)  # half the bytes; rounded up, so that intervals are never too narrow
        up = np.where(short < kept, np.nextafter(short, np.float32(np.inf)), short).astype(np.float64)
        return cls(n_rows, ranks.astype(np.int64), np.where(np.isfinite(up), up, kept))

    @property
    def max_coverage(self) -> float:
        """The largest coverage that so many rows can promise."""
        return self.n_rows / (self.n_rows + 1)

    def half_width(self, coverage: float) -> float:
        """How far intervals of this coverage reach to either side of the prediction.

        This is the error of rank ceil((n + 1) * coverage) of n. For a new row that is drawn like the held-out ones, the
        interval then holds the target with at least this probability.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must be between 0 and 1, such as 0.9; got {coverage!r}.")
        rank = int(np.ceil(round((self.n_rows + 1) * coverage, 9)))  # 0.9 * 10 is 9, not a little more
        if rank > self.n_rows:
            raise ValueError(
                f"coverage={coverage} needs more held-out rows than the {self.n_rows} of this model, which allow up to "
                f"{np.floor(1e4 * self.max_coverage) / 1e4}; ask for less, or fit again with more held-out rows."
            )
        return float(self.errors[np.searchsorted(self.ranks, rank)])  # the next rank that was kept

    def around(self, predicted: NDArray[np.float64], coverage: float) -> NDArray[np.float64]:
        """Lower and upper bounds, an array of shape (n_rows, 2)."""
        half = self.half_width(coverage)
        return np.column_stack([predicted - half, predicted + half])

    def __repr__(self) -> str:
        return one_line(self, f"{counted(self.n_rows, 'row')}, coverage up to {percent(self.max_coverage, 1)}")


def require_intervals(model: Any) -> bool:
    """AttributeError that says why a model has no prediction intervals, if it has none."""
    if model.task_ == "classification":
        raise AttributeError("This model predicts classes: it has probabilities (predict_proba), not intervals.")
    if model.held_out_errors_ is None:
        raise AttributeError(
            "This model has no prediction intervals, because its errors on held-out rows are not known: call "
            "learn_intervals with rows that it has not seen, or fit it with planewise fit."
        )
    return True
