"""Kinds of parameters and fitted attributes that scikit-learn's transformers have and planewise's estimators do not."""

from __future__ import annotations

import math
import warnings
from collections import UserList
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._labels import text_array
from planewise.io._arrays import DTYPES, ArrayReader, ArrayWriter
from planewise.io._errors import ModelFileError, require
from planewise.io._kinds import Numbers
from planewise.io._values import NotPlainError, pack_value, unpack_value

MOST_SPLINES = 1000  # of a column: scikit-learn keeps the square of this number


@dataclass(frozen=True)
class Floats:
    """An array of float32 or float64 as it is, and in its order in memory: sums of products depend on both."""

    ndim: int = 1

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        if value.dtype.name not in ("float32", "float64"):
            raise NotPlainError(f"an array of {value.dtype} values")
        if value.ndim != 2 or value.flags.c_contiguous or value.strides[0] != value.itemsize:
            return arrays.add(value)
        # A single row of a matrix that is kept by columns: its values are not next to each other.
        return {"by_columns" if len(value) > 1 else "apart": arrays.add(value.T)}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        order = next(iter(packed)) if isinstance(packed, dict) and len(packed) == 1 and self.ndim == 2 else None
        stored = arrays.take(packed[order] if order in ("by_columns", "apart") else packed)
        require(stored.ndim == self.ndim, f"has a {where} of the wrong shape")
        require(stored.dtype.kind == "f", f"has a {where} of the wrong type")
        if order == "apart":
            require(stored.shape[1] == 1, f"has a {where} of the wrong shape")
            return np.repeat(stored, 2, axis=1).T[:1]
        return stored if order is None else stored.T


class Type:
    """A type of NumPy: as a class, a dtype, or by its name."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        form = "name" if isinstance(value, str) else "class" if isinstance(value, type) else "dtype"
        try:
            name = np.dtype(value).name
        except TypeError:
            name = ""
        if name not in DTYPES and name != "object":
            raise NotPlainError(f"the type {value!r}")
        return {form: name}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        require(isinstance(packed, dict) and len(packed) == 1, f"has a {where} that is not a type")
        ((form, name),) = packed.items()
        known = isinstance(name, str) and (name in DTYPES or name == "object")
        require(known and form in ("name", "class", "dtype"), f"has a {where} that is an unknown type")
        dtype = np.dtype(name)
        return {"name": name, "class": dtype.type if name != "object" else object, "dtype": dtype}[form]


@dataclass(frozen=True)
class Function:
    """One of these functions, kept by its name."""

    functions: Mapping[str, Callable[..., Any]]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        for name, function in self.functions.items():
            if value is function:
                return name
        own = getattr(value, "__name__", type(value).__name__)
        raise NotPlainError(f"the function {own}, and a file can refer only to {', '.join(sorted(self.functions))}")

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        require(isinstance(packed, str) and packed in self.functions, f"has a {where} that planewise does not know")
        return self.functions[packed]


_SCALARS = (str, int, float, bool, type(None))


class Scalars:
    """An array of one dimension with numbers of any type, or with texts, numbers, booleans and None."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        if value.dtype.name in DTYPES:
            return arrays.add(value)
        if value.dtype.kind not in "UO":
            raise NotPlainError(f"an array of {value.dtype} values")
        values = [pack_value(each, arrays) for each in value.tolist()]
        return {"object" if value.dtype.kind == "O" else "str": values}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        if not isinstance(packed, dict):
            array = arrays.take(packed)
            require(array.ndim == 1, f"has a {where} of the wrong shape")
            return array
        require(len(packed) == 1, f"has a {where} of an unknown kind")
        ((kind, content),) = packed.items()
        require(kind in ("object", "str") and isinstance(content, list), f"has a {where} of an unknown kind")
        values = [unpack_value(each, arrays) for each in content]
        require(
            all(type(each) in (_SCALARS if kind == "object" else (str,)) for each in values),
            f"has a {where} with values of an unknown kind",
        )
        if kind == "str":
            return text_array(values)
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out


class EncodedCategories(Scalars):
    """The categories of one column: each once, numbers sorted, a missing value last."""

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        known = super().unpack(packed, arrays, where)
        require(len(known) >= 1, f"has {where} without a category")
        if known.dtype.kind in "biuf":
            in_order = known[:-1] < known[1:]
            if known.dtype.kind == "f" and len(known) >= 2 and np.isnan(known[-1]):
                in_order = in_order[:-1]
            require(bool(in_order.all()), f"has {where} that are not in order")
        else:
            present = [each for each in known.tolist() if each == each]
            once = len(set(present)) == len(present) and len(known) - len(present) <= 1
            require(once, f"has {where} with a category twice")
        return known


class OrNone:
    """An array of whole numbers from 0, some of which may be None."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return [None if each is None else int(each) for each in value]

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        allowed = isinstance(packed, list) and all(
            each is None or (type(each) is int and 0 <= each < 2**31) for each in packed
        )
        require(allowed, f"has a {where} that is not allowed")
        out = np.empty(len(packed), dtype=object)
        out[:] = packed
        return out


class Edges:
    """Borders of bins, one array of rising numbers for each column, in an array of objects."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return [Floats().pack(each, arrays) for each in value]

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        require(isinstance(packed, list), f"has a {where} that is not a list")
        out = np.empty(len(packed), dtype=object)
        for k, each in enumerate(packed):
            out[k] = Floats().unpack(each, arrays, where)
            rising = len(out[k]) >= 2 and bool((np.diff(out[k]) >= 0).all())
            require(rising, f"has a {where} that is not in order")
        return out


class Splines:
    """The splines of all columns, by their knots; coefficients and degree follow from the parameters."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        if len(value[0].c) > MOST_SPLINES:
            raise NotPlainError(f"more than {MOST_SPLINES} splines for a column")
        return Numbers("float64", ndim=2).pack(np.array([each.t for each in value]), arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        knots = Numbers("float64", ndim=2).unpack(packed, arrays, where)
        require(len(knots) >= 1 and knots.shape[1] <= 2 * MOST_SPLINES, f"has a {where} of the wrong shape")
        return knots


def made_splines(knots: Any, degree: int, extrapolation: str) -> list[Any]:
    """What `SplineTransformer` keeps, from the knots of each column."""
    from scipy.interpolate import BSpline  # slow to import, and seldom needed

    periodic = extrapolation == "periodic"
    n_splines = knots.shape[1] - degree - 1 - (degree if periodic else 0)
    require(n_splines >= 1 and degree <= MOST_SPLINES, "has bsplines_ with too few knots")
    require(bool(np.isfinite(knots).all() and (np.diff(knots) >= 0).all()), "has bsplines_ with knots out of order")
    coefficients = np.eye(n_splines)
    if periodic:
        require(degree <= n_splines, "has bsplines_ with too few knots")
        coefficients = np.concatenate((coefficients, coefficients[:degree]))
    continued = extrapolation in ("periodic", "continue")
    try:
        return [BSpline(each, coefficients, degree, extrapolate=continued) for each in knots]
    except ValueError as error:
        raise ModelFileError(f"has bsplines_ that are not allowed ({error})") from error


class SampleCount:
    """A number of rows, or one for each column."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {"each": arrays.add(value)} if isinstance(value, np.ndarray) else pack_value(value, arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        if isinstance(packed, dict) and set(packed) == {"each"}:
            each = arrays.take(packed["each"])
            require(each.dtype.kind in "iuf" and each.ndim == 1, f"has a {where} of the wrong type")
            return each
        require(
            type(packed) in (int, float) and math.isfinite(packed) and packed >= 0, f"has a {where} that is not allowed"
        )
        return packed


class Weights:
    """A number by name."""

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return [[str(name), pack_value(weight, arrays)] for name, weight in value.items()]

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        pairs = isinstance(packed, list) and all(
            isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in packed
        )
        require(pairs, f"has {where} that are not weights")
        out = {name: unpack_value(weight, arrays) for name, weight in packed}
        fine = all(type(weight) in (int, float) for weight in out.values()) and len(out) == len(packed)
        require(fine, f"has {where} that are not weights")
        return out


class Selection:
    """Which columns of a table: a name or number, several, a mask, or a slice.

    A function that chooses columns is not kept; a fitted estimator knows what it chose.
    """

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        if isinstance(value, slice):
            return {"slice": [pack_value(each, arrays) for each in (value.start, value.stop, value.step)]}
        value = without_warning(value)
        if hasattr(value, "to_numpy"):  # an index or series of pandas
            value = value.to_numpy().tolist()
        return pack_value(list(value) if isinstance(value, tuple) else value, arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        if isinstance(packed, dict) and set(packed) == {"slice"}:
            ends = packed["slice"]
            known = isinstance(ends, list) and len(ends) == 3
            known = known and all(type(each) in (str, int, type(None)) for each in ends)
            require(known and ends[2] != 0 and type(ends[2]) is not str, f"has {where} that select no columns")
            return slice(*ends)
        value = unpack_value(packed, arrays)
        require(not isinstance(value, np.ndarray) or value.ndim == 1, f"has {where} that select no columns")
        several = _listed(value)
        alike = any(all(type(each) is kind for each in several) for kind in (str, int, bool))
        require(alike, f"has {where} that select no columns")
        return value


def without_warning(columns: Any) -> Any:
    """The same columns; scikit-learn 1.6 warns whoever looks at its list of remaining ones."""
    if not isinstance(columns, UserList):
        return columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return list(columns.data)


def _listed(columns: Any) -> list[Any]:
    if isinstance(columns, np.ndarray):
        values: list[Any] = columns.tolist()
        return values
    return columns if isinstance(columns, list) else [columns]


def selected(columns: Any, names: list[str] | None, n_columns: int) -> list[int]:
    """The numbers of the selected columns; a `ModelFileError` if there are no such columns."""
    places = {name: place for place, name in enumerate(names or [])}

    def place(each: Any) -> int:
        known = each in places if isinstance(each, str) else -n_columns <= each < n_columns
        require(known, "selects a column that the table does not have")
        return places[each] if isinstance(each, str) else int(each) % n_columns

    if isinstance(columns, slice):
        words = any(isinstance(each, str) for each in (columns.start, columns.stop))
        if not words:
            return list(range(n_columns)[columns])
        ends = [None if each is None else place(each) for each in (columns.start, columns.stop)]
        return list(range(n_columns)[slice(ends[0], None if ends[1] is None else ends[1] + 1, columns.step)])
    several = _listed(columns)
    if several and type(several[0]) is bool:
        fits = len(several) == n_columns and not isinstance(columns, bool)
        require(fits, "has a mask of columns of the wrong length")
        return [place for place, chosen in enumerate(several) if chosen]
    return [place(each) for each in several]
