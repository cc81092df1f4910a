"""Labels as NumPy arrays whose size is that of the labels, however long one of them is."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

# Characters of a text in an array of fixed width, where each value takes as much memory as the longest one. An array
# with a longer text holds Python objects instead.
WIDEST_TEXT = 256
SMALL_ARRAY = 4096  # bytes; below, texts of any lengths are in an array of fixed width
LONGEST_TEXT = 10_000  # characters of a category, a class or a name that a model file can hold


def as_label_array(values: Any) -> NDArray[Any]:
    """What NumPy makes of labels (a list, a Series, an array); texts are Python objects if one of them is long."""
    if nw.dependencies.is_polars_series(values) and values.dtype == nw.dependencies.get_polars().String:
        values = values.to_list()  # the Series itself would become an array of fixed width
    if isinstance(values, (list, tuple)) and _has_long_text(values):
        return np.array(values, dtype=object)
    array = np.asarray(values)
    return array.astype(object) if array.dtype.kind == "U" and array.itemsize > 4 * WIDEST_TEXT else array


def text_array(texts: list[str]) -> NDArray[Any]:
    """Texts as an array of fixed width, or of Python objects if some are long, or much longer than the others."""
    longest = max(map(len, texts), default=0)
    is_uneven = 4 * longest * len(texts) > 16 * sum(map(len, texts)) + SMALL_ARRAY
    return np.array(texts, dtype=object if longest > WIDEST_TEXT or is_uneven else np.str_)


def _has_long_text(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list, or one of the lists in it, has a text too long for an array of fixed width."""
    for value in values:
        if isinstance(value, str):
            if len(value) > WIDEST_TEXT:
                return True
        elif isinstance(value, (list, tuple)) and _has_long_text(value):
            return True
    return False
