"""Values of columns as the user gave them, as the trees read them, and as pictures measure them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise.additive.gains import Floats
from planewise.data.categories import is_missing
from planewise.data.values import as_number, kinds_of, plain_value

CATEGORY_GAP = float(np.sqrt(2.0))  # between two categories, in standard deviations of a number
UNSEEN = "(a category not seen in fit)"


class Values:
    """Of one fitted model of views."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.columns: list[int] = model._kept.columns

    def column(self, j: int) -> NDArray[np.float32]:
        """Of the kept rows."""
        kept: NDArray[np.float32] = self.model._kept.values
        return kept[:, self.columns.index(j)]

    def as_given(self, value: np.float32, j: int) -> Any:
        """A number, a category by its name, a date or boolean as JSON has it, or None if it is missing."""
        if np.isnan(value):
            return None
        known = self.model.categories_.get(j)
        if known is not None:
            label = known[int(value)] if 0 <= value < len(known) else UNSEEN
            return label.item() if isinstance(label, np.generic) else label
        shortest = float(np.format_float_scientific(value))  # 0.1 rather than 0.10000000149
        return plain_value(kinds_of(self.model).get(j), shortest + self.model.feature_origins_.get(j, 0.0))

    def is_unseen(self, value: np.float32, j: int) -> bool:
        """Whether it is a category that no training row had."""
        known = self.model.categories_.get(j)
        return known is not None and not np.isnan(value) and not 0 <= value < len(known)

    def as_read(self, values: Sequence[Any] | NDArray[Any], j: int) -> NDArray[np.float32]:
        """What trees read: the inverse of `as_given`."""
        known = self.model.categories_.get(j)
        if known is None:
            kind = kinds_of(self.model).get(j)
            raw = np.array([as_number(kind, each) for each in values], np.float64)
            return (raw - self.model.feature_origins_.get(j, 0.0)).astype(np.float32)
        place = {str(label): at for at, label in enumerate(known.tolist())}
        codes = [np.nan if is_missing(each) else place.get(str(each), len(known)) for each in values]
        return np.array(codes, np.float32)

    def scaling(self, j: int) -> dict[str, Any]:
        """How pictures place the values of a column, as JSON knows it."""
        if j in self.model.categories_:
            return {"kind": "categories", "gap": CATEGORY_GAP}
        at = self.columns.index(j)
        kept = self.model._kept
        centre = float(kept.centre[at]) + self.model.feature_origins_.get(j, 0.0)
        known = {"kind": "standard", "centre": centre, "spread": float(kept.spread[at])}
        kind = kinds_of(self.model).get(j)
        return known if kind is None else kind.scaling(known)

    def view(self, place: int, names: Sequence[str], units: Sequence[str | None]) -> dict[str, Any]:
        """A view as explanations have it, by its place; names and units are those of all columns."""
        columns = self.model.projections_[place]
        return {
            "features": [names[j] for j in columns],
            "columns": list(columns),
            "units": [units[j] for j in columns],
            "scaling": [self.scaling(j) for j in columns],
        }

    def is_in_fit(self, row: NDArray[np.float32]) -> bool:
        """Whether a kept row has the same values in all columns that views read."""
        kept = self.model._kept.values
        if not len(kept):
            return False
        own = row[self.columns]
        return bool(((kept == own) | (np.isnan(kept) & np.isnan(own))).all(axis=1).any())

    def nearest(self, row: NDArray[np.float32], columns: Sequence[int], most: int) -> tuple[Floats, NDArray[np.intp]]:
        """The distances and places of the kept rows nearest in some columns, and of all as near as the last."""
        square = np.zeros(len(self.model._kept.values))
        for j in columns:
            own, other = row[j], self.column(j)
            if j in self.model.categories_:
                step = np.where(other == own, 0.0, CATEGORY_GAP)
            else:
                spread = float(self.model._kept.spread[self.columns.index(j)])
                step = (other.astype(np.float64) - float(own)) / spread
            # A missing value is as far from a number as one category from another, and next to other missing ones.
            gaps = np.isnan(other) != np.isnan(own)
            square += np.where(gaps, CATEGORY_GAP, np.where(np.isnan(other), 0.0, step)) ** 2
        order = np.argsort(square, kind="stable")
        if len(order) > most:
            order = order[square[order] <= square[order[most - 1]]]
        return np.sqrt(square[order]), order


def by_class(scores: Floats) -> Floats:
    """Scores of every class: those of two classes are kept as one number, the log-odds of the second."""
    if scores.shape[-1] > 1:
        return scores
    return np.concatenate([np.zeros_like(scores), scores], axis=-1)


class Leading(NamedTuple):
    """By row: what is predicted, and the view that speaks for it most."""

    whole: Floats  # rows x classes: scores of the sum
    first: NDArray[np.intp]  # the class that is predicted
    second: NDArray[np.intp]  # the next one
    lead: NDArray[np.intp]  # the view with the largest margin
    alone: NDArray[np.intp]  # the class that this view alone would predict


def leading(scores: Floats, base: Floats) -> Leading:
    """Scores are rows x views x outputs of a classifier with several classes."""
    scores, base = by_class(scores), by_class(base)
    each, whole = np.arange(len(scores)), scores.sum(axis=1) + base
    first = whole.argmax(axis=1)
    rivals = whole.copy()
    rivals[each, first] = -np.inf
    second = rivals.argmax(axis=1)
    margins = scores[each, :, first] - scores[each, :, second]
    lead = margins.argmax(axis=1)
    return Leading(whole, first, second, lead, (scores[each, lead] + base).argmax(axis=1))
