"""Rows of JSON as the numbers that a model reads, by the same rules as tables; anything else is refused by its place.

Rows become one NumPy array without a data frame in between, which for a few rows would take most of the time.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date
from difflib import get_close_matches
from typing import Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from planewise.serve._errors import RefusedError
from planewise.table import COLUMN_KINDS, Column, TableModel, read_words

Values = list[Any]  # of one row, in the order of the model's columns
_NUMBERS = {int, float, bool, type(None)}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_FIRST_DAY = date(1970, 1, 1).toordinal()
_NEEDED = {
    "number": "a number or null",
    "truth": "true, false or null",
    "date": 'a date such as "2024-03-09" or null',
    "category": "text or null",
}
_JSON_TYPES = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}


class Rows:
    """The rows of one request: the values as they were given, and as numbers, with categories as their places."""

    def __init__(self, columns: Sequence[Column], given: list[Values], numbers: NDArray[np.float64]) -> None:
        self._columns, self._given, self.numbers = columns, given, numbers

    def __len__(self) -> int:
        return len(self._given)

    def table(self) -> pl.DataFrame:
        """The same as a data frame."""
        return pl.DataFrame([self._series(place, column) for place, column in enumerate(self._columns)])

    def _series(self, place: int, column: Column) -> pl.Series:
        if column.kind not in ("number", "truth"):
            return pl.Series(column.name, [values[place] for values in self._given], pl.String)
        numbers = pl.Series(column.name, self.numbers[:, place], nan_to_null=True)
        return numbers.cast(pl.Boolean) if column.kind == "truth" else numbers


class RowReader:
    """Reads the rows of requests to one model."""

    def __init__(self, model: TableModel) -> None:
        self.columns = model.columns_
        self.names = [column.name for column in model.columns_]
        self._known = set(self.names)
        self.ignored = {model.target_, *(each.name for each in model.left_out_)} - self._known
        categories = getattr(model.estimator_, "categories_", {})
        read = {"truth": lambda _: _truth, "date": lambda _: _days, "category": _category}
        self._others: list[tuple[int, Callable[[Any], Any]]] = [
            (place, read[column.kind](categories.get(place, ())))
            for place, column in enumerate(model.columns_)
            if column.kind != "number"
        ]

    def rows(self, rows: Any) -> Rows:
        """From a list of objects, one per row."""
        if type(rows) is not list:
            raise RefusedError(422, f'"rows" must be a list of objects, one per row; got {in_words(rows)}.')
        return self.checked([self._values(row, place) for place, row in enumerate(rows)])

    def columns_of(self, columns: Any) -> Rows:
        """From an object with one list of values per column."""
        if type(columns) is not dict:
            raise RefusedError(422, f'"columns" must be an object with one list per column; got {in_words(columns)}.')
        self._require_names(columns, None)
        lists = [columns[name] for name in self.names]
        for name, values in zip(self.names, lists, strict=True):
            if type(values) is not list:
                raise RefusedError(422, f"column {name!r}: needs a list; got {in_words(values)}.", column=name)
            if len(values) != len(lists[0]):
                raise RefusedError(
                    422,
                    f"column {name!r} has {len(values)} values, but column {self.names[0]!r} has {len(lists[0])}.",
                    column=name,
                )
        return self.checked([list(values) for values in zip(*lists, strict=True)])

    def _values(self, row: Any, place: int) -> Values:
        if type(row) is not dict:
            raise RefusedError(
                422, f'row {place}: must be an object such as {{"name": value}}; got {in_words(row)}.', row=place
            )
        try:
            values = [row[name] for name in self.names]
        except KeyError:
            self._require_names(row, place)
            raise
        if len(row) > len(values):
            self._require_names(row, place)
        return values

    def _require_names(self, given: dict[str, Any], row: int | None) -> None:
        """An error that names the first column that is missing or unknown."""
        where = "" if row is None else f"row {row}: "
        for name in self.names:
            if name not in given:
                raise RefusedError(
                    422, f"{where}the column {name!r} is missing; give null for a missing value.", row=row, column=name
                )
        for name in given:
            if name not in self._known and name not in self.ignored:
                near = get_close_matches(name, self.names, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "; GET /model lists the columns."
                raise RefusedError(
                    422, f"{where}the model has no column {shortened(name)}{hint}", row=row, column=_cut(name)
                )

    def checked(self, given: list[Values]) -> Rows:
        """Rows of values in the order of the columns, with the numbers that the model reads."""
        if not given:
            raise RefusedError(422, "there are no rows.")
        listed = []
        for row, values in enumerate(given):
            numbers = values
            if self._others:
                numbers = values.copy()
                for place, read in self._others:
                    try:
                        numbers[place] = read(values[place])
                    except ValueError:
                        self._refuse(row, place, values[place])
            if not _NUMBERS.issuperset(map(type, numbers)):
                place = next(place for place, each in enumerate(numbers) if type(each) not in _NUMBERS)
                self._refuse(row, place, values[place])
            listed.append(numbers)
        try:
            found = np.array(listed, dtype=np.float64)
        except OverflowError:
            self._refuse_infinite(listed)
        if np.isinf(found).any():
            self._refuse_infinite(listed)
        return Rows(self.columns, given, found)

    def _refuse(self, row: int, place: int, value: Any) -> NoReturn:
        column = self.columns[place]
        raise RefusedError(
            422,
            f"row {row}, column {column.name!r}: needs {_NEEDED[column.kind]}; got {in_words(value)}.",
            row=row,
            column=column.name,
        )

    def _refuse_infinite(self, rows: list[Values]) -> NoReturn:
        for row, values in enumerate(rows):
            for place, value in enumerate(values):
                try:
                    infinite = value is not None and math.isinf(value)
                except OverflowError:
                    infinite = True
                if infinite:
                    name = self.names[place]
                    raise RefusedError(
                        422, f"row {row}, column {name!r}: the number is too large.", row=row, column=name
                    )
        raise AssertionError("no number is too large")


def _category(known: Iterable[str]) -> Callable[[Any], float]:
    """The number of a category among those of the fit, NaN if missing, one past the last if it was not seen."""
    number = {name: float(place) for place, name in enumerate(known)}
    unseen = float(len(number))

    def read(value: Any) -> float:
        if type(value) is str:
            found = number.get(value)
            if found is None:
                value.encode()  # half of a surrogate pair is not text
                return unseen
            return found
        if value is None:
            return math.nan
        raise ValueError(value)

    return read


def _truth(value: Any) -> float | None:
    if value is None or type(value) is bool:
        return value
    if type(value) is str:
        return _from_text(value, "truth")
    if type(value) in (int, float) and value in (0, 1):
        return float(value)
    raise ValueError(value)


def _days(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) is not str:
        raise ValueError(value)
    if _DAY.fullmatch(value):
        with suppress(ValueError):
            return float(date.fromisoformat(value).toordinal() - _FIRST_DAY)
    return _from_text(value, "date")


def _from_text(value: str, kind: str) -> float:
    value.encode()
    read = read_words(pl.Series([value], dtype=pl.String), kind)[0]
    if read is None:
        raise ValueError(value)
    return float(read)


def in_words(value: Any) -> str:
    """What a value of JSON is, short enough for a message."""
    if value is None:
        return "null"
    if type(value) in (list, dict):
        return _JSON_TYPES[type(value)]
    if type(value) is float and math.isinf(value):
        return "a number that is too large"
    return f"{_JSON_TYPES[type(value)]}, {shortened(value)}"


def shortened(value: Any) -> str:
    """A value as JSON writes it, at most 60 characters of it."""
    try:
        text = json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())
    except ValueError:  # an integer of more digits than Python writes
        return "of too many digits"
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def needed(kind: str) -> str:
    """What JSON must hold for a column of this kind."""
    return _NEEDED[kind]


assert _NEEDED.keys() == COLUMN_KINDS.keys()
