"""Writing a table into a memory-mapped file, one part after the other, each read once.

What a part alone cannot tell is put right at the end: numbers of categories are those of first appearance until all
categories are known, and columns that may need an origin are kept as they are in files of their own.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise._categories import encode
from planewise._columns import coded, numbers_in
from planewise._float32 import LARGEST, RESOLVED, fill
from planewise._frames import column_at, refuse_patterns
from planewise._input import is_table
from planewise._labels import as_label_array
from planewise._mapped import FloatArray, write_block
from planewise._progress import Progress
from planewise._tables import take
from planewise.parts._survey import (
    ColumnSurvey,
    Number,
    PartSurvey,
    Survey,
    in_words,
    is_inexact,
    naming,
    read_part,
    survey_of,
    survey_part,
)
from planewise.parts._table import SpooledTable, looked_up

Spooled = tuple[SpooledTable, NDArray[Any]] | tuple[SpooledTable, NDArray[Any], NDArray[np.float64]]


class Part(NamedTuple):
    """Some rows of a table."""

    number: Number
    frame: Any
    first: int = 0  # the number of its first row, in what it is called by


class Roles(NamedTuple):
    """What the columns of a table are for."""

    target: str
    weight: str | None
    columns: list[str] | None
    categorical_features: Any

    def named(self) -> list[str] | None:
        """All columns that are needed; None for all that there are."""
        if self.columns is None:
            return None
        return [*self.columns, self.target, *([] if self.weight is None else [self.weight])]

    def features(self, names: list[str]) -> list[str]:
        """The columns to learn from; ValueError if one is not there."""
        needed = self.named() or [self.target, *([] if self.weight is None else [self.weight])]
        for name in needed:
            if name not in names:
                raise ValueError(f"there is no column {name!r}; the columns are {', '.join(map(repr, names[:10]))}.")
        others = (self.target, self.weight)
        return [name for name in (names if self.columns is None else self.columns) if name not in others]


def spool(
    parts: Iterable[Part],
    roles: Roles,
    folder: str | PathLike[str] | None,
    verbose: int,
    total: int | None = None,
) -> Spooled:
    """Read all parts once; the table in a file, its target and perhaps its weights."""
    with _own_folder(folder) as own:
        writer = _Writer(own, roles.categorical_features)
        targets: list[NDArray[Any]] = []
        weights: list[NDArray[np.float64]] = []
        with Progress(total, "spooling", shown=verbose > 0) as bar:
            for part in parts:
                read = _read(part, roles)
                writer.add(read.features, part.number)
                targets.append(read.target)
                weights.append(read.weight)
                bar.step(f"{writer.n_rows:,} rows")
        table = SpooledTable(writer.path, writer.finish())
    y = _joined_targets([each for each in targets if len(each)])
    return (table, y) if roles.weight is None else (table, y, np.concatenate(weights))


@contextmanager
def _own_folder(given: str | PathLike[str] | None) -> Iterator[Path]:
    """A new folder, which is deleted if something goes wrong."""
    if given is not None and not Path(given).is_dir():
        raise FileNotFoundError(f"There is no folder {str(given)!r} to write the rows into.")
    own = Path(tempfile.mkdtemp(prefix="planewise-", dir=given))
    try:
        yield own
    except BaseException:
        shutil.rmtree(own, ignore_errors=True)
        raise


# ---------------------------------------------------------------------------------------------- targets and weights
class _Read(NamedTuple):
    features: Any
    target: NDArray[Any]
    weight: NDArray[np.float64]


def _read(part: Part, roles: Roles) -> _Read:
    """A part as features, targets and weights; without the rows that weigh nothing."""
    if not is_table(part.frame):
        raise TypeError(
            f"{in_words(part.number)}: a data frame is needed (pandas, polars, Arrow); got {type(part.frame).__name__}."
        )
    frame = nw.from_native(part.frame, eager_only=True)
    names = [str(name) for name in frame.columns]
    with naming(part.number):
        if nw.dependencies.is_polars_dataframe(part.frame):
            refuse_patterns(names)
        features = roles.features(names)
        weight = np.ones(len(frame)) if roles.weight is None else _weights(frame, names, roles.weight, part.first)
        counts = weight > 0
        native = frame.to_native()
        if not counts.all():
            native = take(native, np.flatnonzero(counts))
        kept = nw.from_native(native, eager_only=True)
        target = _targets(column_at(kept, names.index(roles.target)), np.flatnonzero(counts) + part.first)
    place = {name: k for k, name in enumerate(names)}
    return _Read(kept[:, [place[name] for name in features]].to_native(), target, weight[counts])


def _weights(frame: Any, names: list[str], name: str, first: int) -> NDArray[np.float64]:
    column = column_at(frame, names.index(name))
    weight = numbers_in(column, np.float64)
    if weight is None:
        raise ValueError(f"the column {name!r} of weights does not contain numbers.")
    wrong = np.flatnonzero(~((weight >= 0) & np.isfinite(weight)))
    if len(wrong):
        raise ValueError(
            f"the weight {name!r} must be a number of at least 0; row {first + wrong[0]} has {weight[wrong[0]]}."
        )
    return weight


def _targets(column: nw.Series[Any], numbers: NDArray[np.intp]) -> NDArray[Any]:
    """The target of each row: numbers as they are, others as text."""
    missing = column.is_null().to_numpy()
    values = np.asarray(column.to_numpy()) if column.dtype.is_numeric() or column.dtype == nw.Boolean else None
    if values is not None and values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    if missing.any():
        row = numbers[np.flatnonzero(missing)[0]]
        raise ValueError(f"the target {column.name!r} is missing in row {row}; leave such rows out.")
    if values is not None and values.dtype.kind in "biuf":
        return values
    if not len(column):
        return np.empty(0)
    found = coded(column)
    return as_label_array(found.distinct.tolist())[found.place]


def _joined_targets(targets: list[NDArray[Any]]) -> NDArray[Any]:
    if len({each.dtype.kind in "biuf" for each in targets}) > 1:
        raise ValueError("The target holds numbers in some parts and text in others; give it the same type in all.")
    return np.concatenate(targets)


# -------------------------------------------------------------------------------------------------------------- rows
@dataclass
class _Side:
    """The values of a column that float32 may not hold, as they are, 8 bytes each."""

    path: Path
    kinds: dict[int, np.dtype[Any]] = field(default_factory=dict)  # by number of the part; others are not here


class _Writer:
    """Writes the rows of parts, and puts right at the end what no part could know."""

    def __init__(self, folder: Path, categorical_features: Any) -> None:
        self.folder, self.path = folder, folder / "rows.float32"
        self.categorical_features = categorical_features
        self.known = PartSurvey(0, 0)
        self.sizes: list[int] = []  # rows of each part
        self.numbers: dict[int, dict[Any, int]] = {}  # by column, categories in the order in which they appeared
        self.sides: dict[int, _Side] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return sum(self.sizes)

    def add(self, part: Any, number: Number) -> None:
        """One more part."""
        found = survey_part(part, self.categorical_features, number)
        if not found.n_rows:
            return
        self.known = self.known.joined(found)
        own = survey_of(found)
        rows = np.array(read_part(part, replace(own, origins={})), order="C")
        for j, values in own.categories.items():
            number_of = self.numbers.setdefault(j, {})
            codes = [number_of.setdefault(value, len(number_of)) for value in values.tolist()]
            rows[:, j] = looked_up(rows[:, j], np.array(codes, dtype=np.float32))
        self._keep_as_they_are(part, found)
        with self.path.open("ab") as file:
            write_block(file, rows, self.folder)
        self.sizes.append(found.n_rows)

    def _keep_as_they_are(self, part: Any, found: PartSurvey) -> None:
        """Write the columns whose reading is in doubt into files of their own."""
        frame = nw.from_native(part, eager_only=True)
        for j, column in enumerate(found.columns):
            begins = j not in self.sides
            if not _is_in_doubt(self.known.columns[j], column) or (begins and column.dtype in RESOLVED):
                continue
            values = _exact(column_at(frame, j), column.dtype)
            if begins and not _is_rounded(values):
                continue
            side = self.sides.setdefault(j, _Side(self.folder / f"column-{j}"))
            side.kinds[len(self.sizes)] = values.dtype
            with side.path.open("ab") as file:
                write_block(file, values, self.folder)

    def finish(self) -> Survey:
        """Put right what is written; what is known of the table as a whole."""
        survey = survey_of(self.known)
        tables = self._tables(survey)
        exact = {
            j: side
            for j, side in self.sides.items()
            if j in survey.origins or any(kind != survey.dtypes[j] for kind in side.kinds.values())
        }
        for j in survey.origins.keys() - exact.keys():
            exact[j] = _Side(self.folder / f"column-{j}")
        if tables or exact:
            self._rewrite(survey, tables, exact)
        for side in self.sides.values():
            side.path.unlink()
        return survey

    def _tables(self, survey: Survey) -> dict[int, FloatArray]:
        """By column, the final number of each category by its number so far, where they differ."""
        found = {}
        for j, number_of in self.numbers.items():
            seen = list(number_of)
            values = np.empty(len(seen), dtype=survey.categories[j].dtype)
            values[:] = seen
            table = encode(values, survey.categories[j], str(self.known.name_of(j)))
            if not np.array_equal(table, np.arange(len(seen))):
                found[j] = table
        return found

    def _rewrite(self, survey: Survey, tables: dict[int, FloatArray], exact: dict[int, _Side]) -> None:
        mapped: Any = np.memmap(self.path, np.float32, "r+", shape=(survey.n_rows, survey.n_columns))
        places = dict.fromkeys(exact, 0)
        begin = 0
        for number, size in enumerate(self.sizes):
            block = mapped[begin : begin + size]
            begin += size
            for j, table in tables.items():
                block[:, j] = looked_up(block[:, j], table)
            for j, side in exact.items():
                kind = side.kinds.get(number)
                if kind is None:
                    values = np.array(block[:, j])
                else:
                    values = np.fromfile(side.path, kind, size, offset=places[j])
                    places[j] += 8 * size
                origins = {0: survey.origins[j]} if j in survey.origins else {}
                fill(block, [j], values.astype(survey.dtypes[j])[:, None], origins)
        mapped.flush()


def _is_in_doubt(whole: ColumnSurvey, part: ColumnSurvey) -> bool:
    """Whether float32 may not be how a column is read in the end."""
    if part.kind != "numbers" or part.floats is None:
        return False
    is_long = part.whole is not None and part.whole.low is not None and is_inexact(part.whole)
    return is_long or not (whole.floats is not None and whole.floats.is_settled)


def _exact(column: nw.Series[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A column as 8 bytes per value, none of them rounded."""
    values = numbers_in(column, dtype)
    assert values is not None
    if dtype.kind == "u":
        return values.astype(np.uint64)
    return values.astype(np.int64 if dtype.kind in "bi" else np.float64)


def _is_rounded(values: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = values.astype(np.float32)
        if values.dtype.kind == "f":
            return bool(((rounded != values) & (np.abs(values) <= LARGEST)).any())
        return bool((np.abs(values.astype(np.float64)) > 2.0**24).any())
