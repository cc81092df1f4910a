"""Raw arrays, one after another: their types are from a short list, their sizes are known before any is made."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.store.errors import require

Array = NDArray[Any]

# All little-endian.
DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64"),
    )
}
MOST_DIMENSIONS = 4


class ArrayWriter:
    """Collects arrays; `add` gives the number by which the JSON text refers to one."""

    def __init__(self) -> None:
        self.described: list[dict[str, Any]] = []
        self._parts: list[bytes] = []

    def add(self, array: Array) -> int:
        """Keep the array's values, type and shape."""
        name = array.dtype.name
        if name not in DTYPES:
            raise ValueError(f"arrays of {array.dtype} values cannot be kept in a model file")
        self.described.append({"dtype": name, "shape": list(array.shape)})
        self._parts.append(np.ascontiguousarray(array, dtype=DTYPES[name]).tobytes())
        return len(self.described) - 1

    def add_small(self, array: Array) -> int:
        """The same in the smallest type that holds every value; whoever reads it knows the type it had."""
        return self.add(_smallest(array))

    def content(self) -> bytes:
        """All values, one array's after another's."""
        return b"".join(self._parts)


class ArrayReader:
    """Hands out the arrays of a file, each once."""

    def __init__(self, described: Any, content: bytes) -> None:
        require(isinstance(described, list), "does not list its arrays")
        self._arrays: list[Array | None] = []
        at = 0
        for number, each in enumerate(described):
            dtype, shape = _described(number, each)
            n_bytes = dtype.itemsize * prod(shape)
            require(at + n_bytes <= len(content), f"promises more values for array {number} than it holds")
            flat = np.frombuffer(content, dtype, prod(shape), at)
            if dtype.kind == "b":
                flat = flat.view(np.uint8)
                require((flat <= 1).all(), f"has an array {number} of booleans that are neither 0 nor 1")
                flat = flat.view(np.bool_)
            self._arrays.append(flat.astype(dtype.newbyteorder("="), copy=True).reshape(shape))
            at += n_bytes
        require(at == len(content), "holds more values than its arrays have")

    def take(self, number: Any) -> Array:
        """The array of that number, which belongs to one place only: two could not be changed apart."""
        require(type(number) is int and 0 <= number < len(self._arrays), "refers to an array that it does not hold")
        array = self._arrays[number]
        require(array is not None, f"refers to array {number} from two places")
        assert array is not None
        self._arrays[number] = None
        return array

    def require_all_taken(self) -> None:
        """An error if an array belongs to nothing."""
        require(all(array is None for array in self._arrays), "holds arrays that belong to no part of the model")


def _described(number: int, each: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    require(isinstance(each, dict) and set(each) == {"dtype", "shape"}, f"has an invalid description of array {number}")
    name, shape = each["dtype"], each["shape"]
    require(isinstance(name, str) and name in DTYPES, f"has an array {number} of an unknown type")
    require(
        isinstance(shape, list)
        and len(shape) <= MOST_DIMENSIONS
        and all(type(size) is int and size >= 0 for size in shape)
        and prod(max(1, size) for size in shape) < 2**50,
        f"has an array {number} of an impossible shape",
    )
    return DTYPES[name], tuple(shape)


def _smallest(array: Array) -> Array:
    if array.dtype == np.float64:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            short = array.astype(np.float32)
        return short if short.astype(np.float64).tobytes() == array.tobytes() else array
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    return array.astype(np.promote_types(np.min_scalar_type(array.min()), np.min_scalar_type(array.max())))
