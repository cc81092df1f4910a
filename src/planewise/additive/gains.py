"""How much a view could explain of what is left: binned columns, and the gains of all views at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from planewise import _core

Floats = NDArray[np.float64]
View = tuple[int, ...]
N_BINS = 8
MOST_CATEGORIES = 31  # that have a bin of their own; the others share one
PRIOR_ROWS = 2.0  # Hessian that is added to every cell, in units of the mean row


class BinnedColumns:
    """The columns of a table in bins with about equal weight, and their normal scores; NaN has a bin of its own.

    Categories keep their own bins, except for rare ones, which share one.
    """

    def __init__(self, rows: NDArray[np.float32], weight: Floats, category_counts: Sequence[int]) -> None:
        n_rows, n_columns = rows.shape
        self.bin = np.zeros((n_columns, n_rows), np.uint8)
        self.place = np.full((n_columns, n_rows), np.nan, np.float32)
        self.weight = weight
        self.numeric = [not (category_counts and category_counts[j]) for j in range(n_columns)]
        self.missing, self.bins = [], []
        for j, numeric in enumerate(self.numeric):
            column, known = rows[:, j], ~np.isnan(rows[:, j])
            found = self._of_numbers(j, column, known) if numeric else self._of_categories(j, column, known)
            self.bin[j, ~known] = found
            self.missing.append(not known.all())
            self.bins.append(max(1, found + (not known.all())))

    def _of_numbers(self, j: int, column: NDArray[np.float32], known: NDArray[np.bool_]) -> int:
        values, place = np.unique(column[known], return_inverse=True)
        if len(values) == 0:
            return 0
        weight = np.bincount(place, weights=self.weight[known])
        below = (np.cumsum(weight) - weight / 2) / weight.sum()  # middle ranks: equal values stay together
        self.place[j, known] = ndtri(below)[place]
        filled, bins = np.unique(np.minimum(below * N_BINS, N_BINS - 1).astype(np.intp), return_inverse=True)
        self.bin[j, known] = bins[place]
        return len(filled)

    def _of_categories(self, j: int, column: NDArray[np.float32], known: NDArray[np.bool_]) -> int:
        codes = column[known].astype(np.intp)
        weight = np.bincount(codes, weights=self.weight[known])
        order = np.argsort(-weight, kind="stable")
        bins = np.empty(len(weight), np.intp)
        bins[order] = np.minimum(np.arange(len(weight)), MOST_CATEGORIES)
        self.bin[j, known] = bins[codes]
        return int(bins[codes].max(initial=-1)) + 1

    @property
    def informative(self) -> list[int]:
        """The columns with more than one value."""
        return [j for j, bins in enumerate(self.bins) if bins > 1]

    def gains(self, gradient: Floats, hessian: Floats, views: Sequence[View], n_threads: int) -> Floats:
        """What each view gains beyond chance; derivatives are rows x outputs, with the rows' weights in them."""
        noise = (gradient**2 / self.weight[:, None]).sum(axis=0) / np.maximum(hessian.sum(axis=0), 1e-300)
        first, second = (np.array([view[at] for view in views], np.int32) for at in (0, -1))
        found = _core.view_gains(
            self.bin,
            self.place,
            self.weight,
            self.bins,
            [int(each) for each in self.numeric],
            [int(each) for each in self.missing],
            np.ascontiguousarray(gradient.T),
            np.ascontiguousarray(hessian.T),
            noise.tolist(),
            PRIOR_ROWS * float(hessian.sum() / hessian.shape[1] / self.weight.sum()),
            first,
            second,
            n_threads,
        )
        # In few digits: rows given twice or with a weight of two must not differ by how their sums are rounded.
        largest = float(np.abs(found).max(initial=0.0))
        return np.round(found / largest, 9) if largest > 0 else found
