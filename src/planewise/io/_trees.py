"""Trees and forests as flat arrays: how they are kept. What native code relies on is checked by the core itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._categories import Categories
from planewise.io._arrays import ArrayReader, ArrayWriter
from planewise.io._errors import ModelFileError, require
from planewise.io._kinds import Integer, Kind, Numbers, unpack_parts
from planewise.slm.fitted import Forest

DEEPEST_TREE = 10_000


@dataclass(frozen=True)
class Starts:
    """Where lists in one long array begin, kept as the lengths of these lists: most fit into a byte."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return arrays.add_small(np.diff(value))

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        lengths = Numbers("int64").unpack(packed, arrays, where)
        require((lengths >= 0).all(), f"has a {where} that goes back")
        ends = np.cumsum(np.minimum(lengths, 2**31))
        require(len(ends) == 0 or int(ends[-1]) < 2**31, f"has a {where} beyond what it points into")
        return np.concatenate([[0], ends]).astype(np.int32)


_SHARED: dict[str, Kind] = {
    "plane_start": Starts(),
    "child_start": Starts(),
    "children": Numbers("int32"),
    "n_samples": Numbers("int64"),
    "term_start": Starts(),
    "threshold": Numbers("float32"),
    "missing_right": Numbers("uint8"),
    "plane_gain": Numbers("float64"),
    "term_feature": Numbers("int32"),
    "term_coefficient": Numbers("int32"),
    "term_weight": Numbers("float32"),
    "set_start": Starts(),
    "set_category": Numbers("int32"),
}
TREE_ARRAYS: dict[str, Kind] = _SHARED | {
    "weight": Numbers("float64"),
    "impurity": Numbers("float64"),
    "gain": Numbers("float64"),
    "value": Numbers("float64", ndim=2),
}
FOREST_ARRAYS: dict[str, Kind] = _SHARED | {
    "node_start": Starts(),
    "value": Numbers("float32", ndim=2),
    "n_outputs": Integer(1, 2**31 - 1),
}


@dataclass(frozen=True)
class Trees:
    """A `Forest` with these arrays; parents and levels are found again from the children."""

    arrays: dict[str, Kind]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {name: kind.pack(getattr(value, name), arrays) for name, kind in self.arrays.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Forest:
        parts = unpack_parts(self.arrays, packed, arrays, where)
        try:
            forest = Forest.from_arrays(**parts)
        except ValueError as error:
            raise ModelFileError(f"has {where} with {error}") from error
        require(forest.max_depth <= DEEPEST_TREE, f"has {where} with more than {DEEPEST_TREE} levels")
        return forest


def check_columns(trees: Forest, n_features: int, categories: Categories, n_statistics: int, where: str) -> None:
    """The columns and categories that planes refer to; columns of target statistics come last."""
    counts = [len(categories[column]) if column in categories else 0 for column in range(n_features)]
    counts += [0] * n_statistics
    try:
        trees.check_columns(counts)
    except ValueError as error:
        raise ModelFileError(f"has {where} with {error}") from error
