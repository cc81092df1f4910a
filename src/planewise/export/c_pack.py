"""Trees as one stream of bytes, one record per node: as small as a few lines of C can read.

A record is its planes, one after another, then a table of where to go. A plane is

    head        bits 0-3: number of terms (15: it follows in two bytes); bit 4: missing values go right; bit 5: a plane
                on categories; bit 6: another plane follows; bit 7, on the last plane: entries have two bytes (or three)
    threshold   float32 in four bytes (compact: its upper three), or its number among the shared ones
    terms       feature and coefficient in one number, or the number of a pair (feature, weight)

and a plane on categories has, after its head (bit 0: members go right, bit 1: others go right), the feature, the
number of bytes of the set, and the set, one bit per category. An entry has the kind in its lowest bit: 0 the distance
in bytes from this record to the next one, 1 the number of the value.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.trees.arrays import Forest

MORE_TERMS = 15
MISSING_RIGHT, BY_CATEGORY, MORE_PLANES, WIDE_ENTRIES = 16, 32, 64, 128
MEMBERS_RIGHT, OTHERS_RIGHT = 1, 2


@dataclass(frozen=True)
class Terms:
    """How a term is written: as coefficient and feature, or as the number of a pair."""

    width: int  # bytes
    codes: NDArray[np.int64]  # a term each; 0 for those of planes on categories
    most: int = 0  # largest coefficient; 0: pairs
    scale: NDArray[np.float32] | None = None  # a column: what a coefficient is multiplied with, or
    divides: bool = False  # divided by
    pair_feature: NDArray[np.int64] | None = None
    pair_weight: NDArray[np.float32] | None = None
    n_bytes: int = 0  # of stream and tables


@dataclass(frozen=True)
class Packed:
    """The stream and what is needed to read it."""

    stream: bytes
    roots: list[int]
    first_value: list[int]  # the number of each tree's value 0; all zero if trees share values
    values: NDArray[Any]  # rows that entries count
    thresholds: NDArray[np.float32] | None  # shared ones; None: they are in the stream
    threshold_bytes: int  # of one in the stream
    terms: Terms
    wide: int  # bytes of a wide entry; 0: there is none
    set_bytes: int  # bytes of the feature and of the size of a set
    has_sets: bool
    has_many_terms: bool


def pack(forest: Forest, values: NDArray[Any], n_features: int, compact: bool = False) -> Packed:
    """The smallest of the ways to write these trees; `values` are the rows by node, rounded as they will be kept."""
    if compact:
        forest = forest.with_arrays(threshold=_shortened(forest.threshold))
    terms = smallest_terms(forest, n_features)
    thresholds = shared_thresholds(forest)
    threshold_bytes = 3 if compact else 4
    planes = plane_records(forest, terms, thresholds, n_features, threshold_bytes)
    ways = [_Layout(forest, values, planes, threshold_bytes, shared) for shared in (True, False)]
    layout = min(ways, key=lambda way: way.n_bytes)
    counts = np.diff(forest.term_start)
    return Packed(
        stream=bytes(layout.stream),
        roots=layout.roots,
        first_value=layout.first_value,
        values=np.array(layout.rows).reshape(len(layout.rows), -1),
        thresholds=thresholds,
        threshold_bytes=threshold_bytes,
        terms=terms,
        wide=layout.wide if layout.has_wide else 0,
        set_bytes=_set_bytes(forest, n_features),
        has_sets=len(forest.set_category) > 0,
        has_many_terms=bool((counts >= MORE_TERMS).any()),
    )


def smallest_terms(forest: Forest, n_features: int) -> Terms:
    """Coefficients with one scale per column, if these give the exact weights, or pairs: whatever takes fewer bytes."""
    on_numbers = np.repeat(np.diff(forest.set_start) == 0, np.diff(forest.term_start))
    pairs = _pairs(forest, on_numbers)
    coefficients = _coefficients(forest, on_numbers, n_features)
    return pairs if coefficients is None or pairs.n_bytes < coefficients.n_bytes else coefficients


def _pairs(forest: Forest, on_numbers: NDArray[np.bool_]) -> Terms:
    weight_bits = forest.term_weight.astype(np.float32).view(np.uint32).astype(np.int64)
    key = (forest.term_feature.astype(np.int64) << 32 | weight_bits)[on_numbers]
    distinct, number = np.unique(key, return_inverse=True)
    codes = np.zeros(len(on_numbers), np.int64)
    codes[on_numbers] = number
    width = _width(max(len(distinct) - 1, 0))
    return Terms(
        width=width,
        codes=codes,
        pair_feature=distinct >> 32,
        pair_weight=(distinct & 0xFFFFFFFF).astype(np.uint32).view(np.float32),
        n_bytes=len(distinct) * (4 + _width(int((distinct >> 32).max(initial=0)))) + len(key) * width,
    )


def _coefficients(forest: Forest, on_numbers: NDArray[np.bool_], n_features: int) -> Terms | None:
    """None where a weight is not its coefficient by one scale: trees grown on other rows by a warm start."""
    feature = forest.term_feature[on_numbers]
    coefficient = forest.term_coefficient[on_numbers].astype(np.int64)
    weight = forest.term_weight[on_numbers].astype(np.float32)
    most = int(np.abs(coefficient).max(initial=1))
    if most > 127 or (coefficient == 0).any():
        return None
    found = _scales(feature, coefficient, weight, n_features)
    if found is None:
        return None
    codes = np.zeros(len(on_numbers), np.int64)
    # Zero is left out: -most .. -1, 1 .. most are the numbers 0 .. 2 most - 1.
    codes[on_numbers] = feature.astype(np.int64) * 2 * most + coefficient + most - (coefficient > 0)
    width = _width(n_features * 2 * most - 1)
    size = n_features * 4 + len(feature) * width
    return Terms(width=width, codes=codes, most=most, scale=found[0], divides=found[1], n_bytes=size)


def _scales(
    feature: NDArray[Any], coefficient: NDArray[np.int64], weight: NDArray[np.float32], n_features: int
) -> tuple[NDArray[np.float32], bool] | None:
    """One number per column that gives every weight exactly; by multiplication if possible, else by division."""
    number = coefficient.astype(np.float32)
    for divides in (False, True):
        scale, exact = np.ones(n_features, np.float32), True
        for j in np.unique(feature):
            a, w = number[feature == j], weight[feature == j]
            near = a[0] / w[0] if divides else w[0] / a[0]
            tried = [near, *_neighbours(near)]
            good = [c for c in tried if np.array_equal(a / c if divides else a * c, w)]
            if not good:
                exact = False
                break
            scale[j] = good[0]
        if exact:
            return scale, divides
    return None


def _neighbours(value: np.float32) -> list[np.float32]:
    """The floats around a value, nearest first."""
    out, up, down = [], value, value
    for _ in range(3):
        up, down = np.nextafter(up, np.float32(np.inf)), np.nextafter(down, np.float32(-np.inf))
        out += [up, down]
    return out


def _shortened(threshold: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rounded to the floats whose last byte is zero: by at most 2^-17 of their size."""
    largest = np.uint32(0x7F7FFF00).view(np.float32)  # infinities stay beyond it
    bits = np.clip(threshold.astype(np.float32), -largest, largest).view(np.uint32).astype(np.uint64)
    return ((bits + 0x80) & 0xFFFFFF00).astype(np.uint32).view(np.float32)


def shared_thresholds(forest: Forest) -> NDArray[np.float32] | None:
    """The distinct thresholds, if numbers of them are shorter than themselves; None if not."""
    used = forest.threshold[np.diff(forest.set_start) == 0]
    distinct = np.unique(used)
    saves = len(distinct) * 4 + len(used) * _width(max(len(distinct) - 1, 0)) < len(used) * 3
    return distinct.astype(np.float32) if saves else None


def plane_records(
    forest: Forest, terms: Terms, thresholds: NDArray[np.float32] | None, n_features: int, threshold_bytes: int
) -> list[bytes]:
    """The bytes of every plane, without the bits that depend on its place in a node."""
    set_bytes = _set_bytes(forest, n_features)
    records = []
    for k in range(forest.n_planes):
        head = MISSING_RIGHT if forest.missing_right[k] else 0
        first, last = int(forest.term_start[k]), int(forest.term_start[k + 1])
        members = forest.set_category[forest.set_start[k] : forest.set_start[k + 1]]
        if len(members):
            weight, threshold = forest.term_weight[first], forest.threshold[k]
            head |= BY_CATEGORY | (MEMBERS_RIGHT if weight >= threshold else 0)
            head |= OTHERS_RIGHT if np.float32(0) >= threshold else 0
            bits = np.zeros(int(members.max()) // 8 + 1, np.uint8)
            np.bitwise_or.at(bits, members // 8, (1 << members % 8).astype(np.uint8))
            feature = int(forest.term_feature[first])
            where = feature.to_bytes(set_bytes, "little") + len(bits).to_bytes(set_bytes, "little")
            records.append(bytes([head]) + where + bits.tobytes())
            continue
        count = last - first
        record = bytes([head | min(count, MORE_TERMS)])
        record += count.to_bytes(2, "little") if count >= MORE_TERMS else b""
        if thresholds is None:
            record += np.float32(forest.threshold[k]).astype("<f4").tobytes()[4 - threshold_bytes :]
        else:
            place = int(np.searchsorted(thresholds, forest.threshold[k]))
            record += place.to_bytes(_width(len(thresholds) - 1), "little")
        for code in terms.codes[first:last]:
            record += int(code).to_bytes(terms.width, "little")
        records.append(record)
    return records


def _set_bytes(forest: Forest, n_features: int) -> int:
    return 1 if n_features <= 256 and int(forest.set_category.max(initial=0)) // 8 + 1 <= 255 else 2


def _width(largest: int) -> int:
    return 1 if largest < 2**8 else 2 if largest < 2**16 else 3


class _Layout:
    """Where every record goes, and which entry is how wide."""

    def __init__(
        self, forest: Forest, values: NDArray[Any], planes: list[bytes], threshold_bytes: int, shared: bool
    ) -> None:
        self.forest, self.values, self.planes, self.threshold_bytes = forest, values, planes, threshold_bytes
        self.rows: list[Any] = []
        self.has_wide = False
        self.first_value: list[int] = []
        number = self._numbers(shared)
        for wide in (2, 3):
            self.wide = wide
            self.stream = bytearray()
            self.roots: list[int] = []
            if self._lay(number):
                break
        else:
            raise ValueError("A tree is too large for a C header; prune it, or export the model to ONNX.")
        tree_bytes = 0 if forest.n_trees == 1 else (2 if len(self.stream) < 2**16 else 4)
        tree_bytes += 0 if shared or forest.n_trees == 1 else (2 if len(self.rows) < 2**16 else 4)
        self.n_bytes = (
            len(self.stream) + len(self.rows) * values.shape[1] * values.itemsize + forest.n_trees * tree_bytes
        )

    def _numbers(self, shared: bool) -> NDArray[np.int64]:
        """The number of each node's value: over all trees, or over its own; the most frequent first."""
        forest = self.forest
        number = np.full(forest.n_nodes, -1, np.int64)
        spans = [(0, forest.n_nodes)] if shared else list(zip(forest.node_start, forest.node_start[1:], strict=False))
        used = self._value_is_used()
        for first, last in spans:
            nodes = [node for node in range(first, last) if used[node]]
            keys = {node: self.values[node].tobytes() for node in nodes}
            order = {key: place for place, (key, _) in enumerate(Counter(keys.values()).most_common())}
            base, rows = len(self.rows), [None] * len(order)
            for node in nodes:
                rows[order[keys[node]]] = self.values[node]
                number[node] = order[keys[node]]
            self.rows += rows
            self.first_value += [base] * (forest.n_trees if shared else 1)
        return number

    def _value_is_used(self) -> NDArray[np.bool_]:
        """Whether rows can end in a node: leaves, and nodes with a cell that no training row fell into."""
        forest = self.forest
        node = np.repeat(np.arange(forest.n_nodes), np.diff(forest.child_start))
        root = np.repeat(forest.node_start[:-1], np.diff(forest.node_start))
        used = np.zeros(forest.n_nodes, dtype=bool)
        used[node[forest.children + root[node] == node]] = True
        return used

    def _lay(self, number: NDArray[np.int64]) -> bool:
        forest = self.forest
        for tree in range(forest.n_trees):
            self.roots.append(len(self.stream))
            first, last = int(forest.node_start[tree]), int(forest.node_start[tree + 1])
            below: dict[int, bytes] = {}  # records with all that follows them; children come after their parents
            for node in range(last - 1, first - 1, -1):
                if forest.plane_start[node] == forest.plane_start[node + 1] and node != first:
                    continue
                record = self._record(node, first, number, below)
                if record is None:
                    return False
                below[node] = record
            self.stream += below[first]
        return True

    def _record(self, node: int, root: int, number: NDArray[np.int64], below: dict[int, bytes]) -> bytes | None:
        """A node and the records below it, or None if an entry is too wide."""
        forest = self.forest
        planes = self.planes[forest.plane_start[node] : forest.plane_start[node + 1]]
        goes_to = [
            root + int(child) for child in forest.children[forest.child_start[node] : forest.child_start[node + 1]]
        ]
        if not planes:  # a tree without any: an empty plane, whose sides are the same
            planes, goes_to = [bytes([0]) + self._any_threshold()], [node, node]
        inner = sorted({child for child in goes_to if child in below}, key=lambda child: (len(below[child]), child))
        head = b"".join(bytes([p[0] | MORE_PLANES]) + p[1:] for p in planes[:-1])
        for width, mark in ((1, 0), (self.wide, WIDE_ENTRIES)):
            start = len(head) + len(planes[-1]) + width * len(goes_to)
            place = {}
            for child in inner:
                place[child], start = start, start + len(below[child])
            entries = [place[child] << 1 if child in place else int(number[child]) << 1 | 1 for child in goes_to]
            if max(entries) < 256**width:
                self.has_wide |= width > 1
                table = b"".join(entry.to_bytes(width, "little") for entry in entries)
                own = head + bytes([planes[-1][0] | mark]) + planes[-1][1:] + table
                return own + b"".join(below.pop(child) for child in inner)
        return None

    def _any_threshold(self) -> bytes:
        thresholds = shared_thresholds(self.forest)
        return bytes(self.threshold_bytes if thresholds is None else _width(len(thresholds) - 1))
