"""Plain values, as parameters and results hold them: numbers, words, lists, dictionaries and arrays of numbers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from planewise.data.categories import LONGEST_TEXT
from planewise.store.arrays import DTYPES, ArrayReader, ArrayWriter
from planewise.store.errors import ModelFileError, require

DEEPEST = 8
LARGEST_INTEGER = 2**64
_ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class NotPlainError(TypeError):
    """A value that no file can hold without running code; its words name the kind of value."""


class CategoryError(NotPlainError):
    """Such a value among the categories of a column."""

    def __init__(self, column: int, words: str) -> None:
        super().__init__(words)
        self.column = column


def pack_value(value: Any, arrays: ArrayWriter, depth: int = 0) -> Any:
    """The value as JSON, NumPy's scalars as Python's."""
    if depth > DEEPEST:
        raise NotPlainError("lists nested too deeply for a file")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if type(value) is int:
        return _held(value)
    if type(value) is str:
        return _short(value)
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) in (list, tuple):
        packed = [pack_value(each, arrays, depth + 1) for each in value]
        return packed if type(value) is list else {"tuple": packed}
    if type(value) in (set, frozenset):
        members = sorted((pack_value(each, arrays, depth + 1) for each in value), key=json.dumps)
        return {type(value).__name__: members}
    if type(value) is dict:
        pairs = [[pack_value(part, arrays, depth + 1) for part in pair] for pair in value.items()]
        return {"dict": pairs}
    if type(value) is np.ndarray and value.dtype.name in DTYPES:
        return {"array": arrays.add(value)}
    if type(value) is np.ndarray and value.dtype.kind in "UO" and value.ndim == 1:
        return {"words": [pack_value(each, arrays, depth + 1) for each in value.tolist()]}
    raise NotPlainError(_kind_of(value))


def unpack_value(packed: Any, arrays: ArrayReader, depth: int = 0) -> Any:
    """The value that `pack_value` made this JSON of."""
    require(depth <= DEEPEST, "has lists nested too deeply for a planewise file")
    if packed is None or isinstance(packed, (bool, float)):
        return packed
    if isinstance(packed, int):
        require(abs(packed) < LARGEST_INTEGER, "has a whole number that is too large")
        return packed
    if isinstance(packed, str):
        require(len(packed) <= LONGEST_TEXT, "has a text that is too long")
        return packed
    if isinstance(packed, list):
        return [unpack_value(each, arrays, depth + 1) for each in packed]
    require(isinstance(packed, dict) and len(packed) == 1, "has a value of an unknown kind")
    ((kind, content),) = packed.items()
    if kind == "float":
        require(isinstance(content, str) and content in _ODD_FLOATS, "has an invalid number")
        return _ODD_FLOATS[content]
    if kind == "array":
        return arrays.take(content)
    known = ("tuple", "dict", "words", "set", "frozenset")
    require(kind in known and isinstance(content, list), "has a value of an unknown kind")
    if kind == "dict":
        return _dictionary(content, arrays, depth)
    values = [unpack_value(each, arrays, depth + 1) for each in content]
    if kind == "tuple":
        return tuple(values)
    if kind in ("set", "frozenset"):
        return _set(kind, values)
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _set(kind: str, values: list[Any]) -> set[Any] | frozenset[Any]:
    try:
        out = set(values) if kind == "set" else frozenset(values)
    except TypeError as error:
        raise ModelFileError("has a set with an invalid member") from error
    require(len(out) == len(values), "has a set with a member twice")
    return out


def _dictionary(content: list[Any], arrays: ArrayReader, depth: int) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for pair in content:
        require(isinstance(pair, list) and len(pair) == 2, "has an invalid dictionary")
        key, value = (unpack_value(part, arrays, depth + 1) for part in pair)
        try:
            out[key] = value
        except TypeError as error:
            raise ModelFileError("has a dictionary with an invalid key") from error
    require(len(out) == len(content), "has a dictionary with a key twice")
    return out


def _held(value: int) -> int:
    if abs(value) >= LARGEST_INTEGER:
        raise NotPlainError("a whole number of more than 64 bits")
    return value


def _short(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise NotPlainError(f"a text of more than {LONGEST_TEXT} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotPlainError("a text that is not valid Unicode") from None
    return text


def _kind_of(value: Any) -> str:
    if callable(value):
        return f"the function {getattr(value, '__name__', type(value).__name__)}"
    return f"a {type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")
