"""Kinds of fitted attributes: how each is written as JSON and arrays, and read again with its own checks.

What one attribute has to do with another is checked by the declarations of the estimators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from planewise.data.categories import LONGEST_TEXT, MOST_CATEGORIES, text_array
from planewise.store.arrays import ArrayReader, ArrayWriter
from planewise.store.errors import require
from planewise.store.values import CategoryError, NotPlainError, pack_value, unpack_value

MOST_FEATURES = 10_000_000


class Kind(Protocol):
    """What a declaration asks of a kind; `where` is the attribute's name, for errors."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        """The value as JSON, its arrays handed to the writer."""

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        """The value again."""


@dataclass(frozen=True)
class Integer:
    """A whole number within limits."""

    low: int = 0
    high: int = 2**63 - 1

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        if not self.low <= int(value) <= self.high:
            raise ValueError(f"{value} is not from {self.low} to {self.high}, which files can hold")
        return int(value)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> int:
        require(type(packed) is int and self.low <= packed <= self.high, f"has a {where} that is not allowed")
        return int(packed)


@dataclass(frozen=True)
class Number:
    """A floating-point number; `finite` ones only, unless told otherwise."""

    low: float = -math.inf
    finite: bool = True

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return pack_value(float(value), arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> float:
        value = unpack_value(packed, arrays)
        require(isinstance(value, float), f"has a {where} that is not a number")
        require(math.isfinite(value) or not self.finite, f"has a {where} that is not finite")
        require(not value < self.low, f"has a {where} that is not allowed")
        return float(value)


@dataclass(frozen=True)
class Word:
    """One of a few words."""

    choices: tuple[str, ...]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        if not isinstance(value, str):
            raise NotPlainError(f"the function {getattr(value, '__name__', value)}")
        return value

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> str:
        require(isinstance(packed, str) and packed in self.choices, f"has a {where} that planewise does not know")
        return str(packed)


@dataclass(frozen=True)
class Truth:
    """True or False."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return bool(value)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> bool:
        require(isinstance(packed, bool), f"has a {where} that is neither true nor false")
        return bool(packed)


@dataclass(frozen=True)
class Numbers:
    """An array of one type and number of dimensions; kept in the smallest type that holds its values."""

    dtype: str
    ndim: int = 1

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return arrays.add_small(np.asarray(value, dtype=self.dtype))

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        stored, dtype = arrays.take(packed), np.dtype(self.dtype)
        require(stored.ndim == self.ndim, f"has a {where} of the wrong shape")
        if dtype.kind in "iu":
            require(stored.dtype.kind in "iu", f"has a {where} of the wrong type")
            held = np.iinfo(dtype)
            require(
                stored.size == 0 or (int(stored.min()) >= held.min and int(stored.max()) <= held.max),
                f"has a {where} with numbers that are too large",
            )
        else:
            kinds = "b" if dtype.kind == "b" else "f"
            require(
                stored.dtype.kind in kinds and stored.dtype.itemsize <= dtype.itemsize,
                f"has a {where} of the wrong type",
            )
        return np.ascontiguousarray(stored, dtype=dtype)


@dataclass(frozen=True)
class Plain:
    """Any plain value: lists, dictionaries, numbers, words, arrays."""

    type: type | tuple[type, ...] = object

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return pack_value(value, arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        value = unpack_value(packed, arrays)
        require(isinstance(value, self.type), f"has a {where} of the wrong type")
        return value


@dataclass(frozen=True)
class Maybe:
    """A value or None."""

    kind: Kind

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return None if value is None else self.kind.pack(value, arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        return None if packed is None else self.kind.unpack(packed, arrays, where)


@dataclass(frozen=True)
class Several:
    """A list of values of one kind; or a tuple, of so many."""

    kind: Kind
    as_tuple: bool = False
    length: int | None = None

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return [self.kind.pack(each, arrays) for each in value]

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        require(isinstance(packed, list), f"has a {where} that is not a list")
        values = [self.kind.unpack(each, arrays, where) for each in packed]
        require(self.length is None or len(values) == self.length, f"has a {where} of the wrong length")
        return tuple(values) if self.as_tuple else values


@dataclass(frozen=True)
class Record:
    """An object made by its class (or a function) of its attributes with these names."""

    make: Callable[..., Any]
    parts: Mapping[str, Kind]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {name: kind.pack(getattr(value, name), arrays) for name, kind in self.parts.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        return self.make(**unpack_parts(self.parts, packed, arrays, where))


@dataclass(frozen=True)
class OneKindOf:
    """An object of one of several classes, each with its record."""

    records: Mapping[str, tuple[type, Kind]]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        for name, (cls, kind) in self.records.items():
            if type(value) is cls:
                return {name: kind.pack(value, arrays)}
        raise NotPlainError(f"a {type(value).__name__}")

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        require(isinstance(packed, dict) and len(packed) == 1, f"has a {where} of an unknown kind")
        ((name, content),) = packed.items()
        require(name in self.records, f"has a {where} of an unknown kind")
        return self.records[name][1].unpack(content, arrays, where)


def unpack_parts(parts: Mapping[str, Kind], packed: Any, arrays: ArrayReader, where: str) -> dict[str, Any]:
    """The values of all parts, none missing and none too many."""
    require(isinstance(packed, dict) and set(packed) == set(parts), f"has a {where} with missing or unknown parts")
    return {name: kind.unpack(packed[name], arrays, f"{where}.{name}") for name, kind in parts.items()}


@dataclass(frozen=True)
class Labels:
    """At most so many sorted values of one type, as classes and categories are: numbers, booleans or strings."""

    most: int = 2**31 - 1

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        kind = {"U": "str", "O": "object"}.get(value.dtype.kind, value.dtype.name)
        if kind not in _LABEL_TYPES:
            raise NotPlainError(f"labels of {value.dtype} values")
        values = value.tolist()
        if any(type(each) not in _LABEL_TYPES[kind] for each in values):
            odd = next(each for each in values if type(each) not in _LABEL_TYPES[kind])
            raise NotPlainError(f"the label {odd!r}, a {type(odd).__name__}")
        return {"dtype": kind, "values": [pack_value(each, arrays) for each in values]}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        require(isinstance(packed, dict) and set(packed) == {"dtype", "values"}, f"has {where} that are not labels")
        kind, values = packed["dtype"], packed["values"]
        require(isinstance(kind, str) and kind in _LABEL_TYPES, f"has {where} of an unknown type")
        require(isinstance(values, list) and len(values) <= self.most, f"has {where} that are not a list of labels")
        values = [unpack_value(each, arrays) for each in values]
        require(all(type(each) in _LABEL_TYPES[kind] for each in values), f"has {where} of mixed types")
        return _sorted_array(values, kind, where)


_LABEL_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    **{f"{sign}int{bits}": (int,) for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": (float,),
    "float64": (float,),
    "str": (str,),
    "object": (str, int, float, bool),
}


def _sorted_array(values: list[Any], kind: str, where: str) -> Any:
    if "int" in kind:
        held = np.iinfo(kind)
        require(all(held.min <= each <= held.max for each in values), f"has {where} that are too large")
    try:
        ascending = all(a < b for a, b in pairwise(values))
    except TypeError:
        ascending = False
    require(ascending, f"has {where} that are not in order")
    if kind == "object":
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out
    if kind == "float32":
        held_floats = np.finfo(np.float32)
        require(all(abs(each) <= held_floats.max for each in values), f"has {where} that are too large")
    return text_array(values) if kind == "str" else np.array(values, dtype=kind)


class Names:
    """Names of columns, as scikit-learn keeps them."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        names = value.tolist()
        if any(type(name) is not str or len(name) > LONGEST_TEXT for name in names):
            raise NotPlainError(f"a column name of more than {LONGEST_TEXT} characters")
        return [pack_value(name, arrays) for name in names]

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        require(
            isinstance(packed, list) and all(isinstance(name, str) and len(name) <= LONGEST_TEXT for name in packed),
            f"has {where} that are not names",
        )
        names = np.empty(len(packed), dtype=object)
        names[:] = packed
        return names


class Categories:
    """The categories of each categorical column, by its number."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        packed = []
        for column, known in value.items():
            try:
                packed.append([int(column), Labels(MOST_CATEGORIES).pack(known, arrays)])
            except NotPlainError as error:
                raise CategoryError(int(column), str(error)) from None
        return packed

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> dict[int, Any]:
        return ByColumn(Labels(MOST_CATEGORIES)).unpack(packed, arrays, where)


@dataclass(frozen=True)
class ByColumn:
    """A value of one kind for some of the columns, by their numbers."""

    kind: Kind

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return [[int(column), self.kind.pack(each, arrays)] for column, each in value.items()]

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> dict[int, Any]:
        require(
            isinstance(packed, list)
            and all(isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int for pair in packed),
            f"has invalid {where}",
        )
        out = {column: self.kind.unpack(each, arrays, where) for column, each in packed}
        require(len(out) == len(packed), f"has {where} with a column twice")
        return out
