"""Forms of a set that differ from the published file because a paper repaired it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._columns import TARGET, Columns, is_text, take_rows


def repair(columns: Columns, name: str, variant: str) -> Columns:
    """Return the set as the paper `variant` used it."""
    return VARIANTS[name][variant](columns)


def check(name: str, variant: str | None) -> None:
    """Refuse a variant that does not exist, naming those that do."""
    known = list(VARIANTS.get(name, {}))
    if variant is not None and variant not in known:
        options = f"one of {known} or None" if known else "None, the only form of this set"
        raise ValueError(f"variant of {name!r} must be {options}, got {variant!r}.")


def _without_impossible_zeros(columns: Columns) -> Columns:
    # Glucose, pressure, skin fold, insulin and body mass: by place, as only the order of the
    # columns is the same in every copy of the Pima set.
    measured = [column for name, column in columns.items() if name != TARGET][1:6]
    return take_rows(columns, np.all([column != 0 for column in measured], axis=0))


def _without_constant_columns(columns: Columns) -> Columns:
    return {name: column for name, column in columns.items() if name == TARGET or is_text(column) or np.ptp(column) > 0}


VARIANTS: dict[str, dict[str, Callable[[Columns], Columns]]] = {
    "pima_diabetes": {"slm": _without_impossible_zeros},
    "ionosphere": {"slm": _without_constant_columns},
}
