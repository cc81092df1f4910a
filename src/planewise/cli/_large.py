"""Tables that would take too much of the memory: a sample tells what is in them, all rows are read from files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from planewise._memory import available_memory
from planewise.cli._mistakes import MistakeError
from planewise.cli._tables import check_interrupted
from planewise.files import InputTable, joined
from planewise.table import TREES, Column, TableModel, kind_of, read_as

SHARE = 0.25  # of the memory available: a larger table is read from files
SAMPLE_ROWS = 100_000

_KEY, _ROW = "planewise: key", "planewise: row"


class Sample(NamedTuple):
    """The rows of a table that have a target: all of them, or some drawn at random, in its order."""

    rows: pl.DataFrame
    numbers: NDArray[np.intp]  # of the file's rows, as --row counts them
    n_read: int
    n_with_target: int
    why: str = ""  # these are not all


def read_sample(table: InputTable, target: str, seed: int, check: Callable[[str], None]) -> Sample:
    """All rows, or, if these would take too much of the memory, a sample; `check` hears the reason first."""
    why = why_too_large(table)
    if why:
        check(why)
        return draw_sample(table, target, seed)._replace(why=why)
    rows = table.read()
    numbers = rows[target].is_not_null().arg_true().to_numpy()
    return Sample(rows[numbers], numbers, rows.height, len(numbers))


def why_too_large(table: InputTable) -> str:
    """A sentence if the table would take more than its share of the memory available; else nothing."""
    available, needed = available_memory(), table.size()
    if available is None or needed <= SHARE * available:
        return ""
    return (
        f"the table would take about {_gigabytes(needed)}, more than a quarter of the {_gigabytes(available)} of "
        "memory available"
    )


def _gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.3g} GB"


def draw_sample(table: InputTable, target: str, seed: int) -> Sample:
    """Rows with a target, all equally likely; the table is read once, a chunk at a time."""
    rng, at, n_known, limit = np.random.default_rng(seed), 0, 0, 1.0
    kept: list[pl.DataFrame] = []
    for chunk in table.chunks(None, table.columns):
        check_interrupted()
        numbered = chunk.with_columns(
            pl.Series(_KEY, rng.random(chunk.height)), pl.Series(_ROW, np.arange(at, at + chunk.height))
        )
        at += chunk.height
        known = numbered.filter(numbered[target].is_not_null())
        n_known += known.height
        kept.append(known.filter(pl.col(_KEY) < limit))
        if sum(each.height for each in kept) > 2 * SAMPLE_ROWS:
            kept = [_smallest(kept)]
            limit = float(kept[0][_KEY].max())  # type: ignore[arg-type]
    if not n_known:
        raise MistakeError(f"{table.given[0]!r} has no rows with a value of {target!r}.")
    rows = _smallest(kept).sort(_ROW)
    numbers = rows[_ROW].to_numpy()
    return Sample(table.typed(rows.drop(_KEY, _ROW)), numbers, at, n_known)


def _smallest(kept: list[pl.DataFrame]) -> pl.DataFrame:
    rows = joined(kept)
    return rows.bottom_k(SAMPLE_ROWS, by=_KEY) if rows.height > SAMPLE_ROWS else rows


def require_tree(family: str, why: str) -> None:
    """An error if a family cannot learn from a table that is too large for the memory."""
    if family not in (*TREES, "auto", "explainable"):
        raise MistakeError(
            f"--model {family} needs all rows in memory, but {why}; use --model slm, forest or boost, or a table with "
            "fewer rows."
        )


def fit_from_files(
    model: TableModel,
    table: InputTable,
    sample: pl.DataFrame,
    left_out: NDArray[np.intp],
    target: str,
    folder: Path | None,
) -> None:
    """Fit a model on all rows of a table but some, by their numbers; a sample tells which columns to use."""
    model.look_at(sample, target)
    kinds = [*model.columns_, *_target_column(sample[target])]
    dtype = sample[target].dtype
    model.fit_parts(lambda: _training_parts(table, kinds, dtype, left_out, target), target, folder=folder)


def _target_column(target: pl.Series) -> list[Column]:
    """How the target is read from text files."""
    return [Column(target.name, "number")] if kind_of(target.dtype) == "number" else []


def _training_parts(
    table: InputTable, kinds: list[Column], target_type: Any, left_out: NDArray[np.intp], target: str
) -> Iterator[pl.DataFrame]:
    at, names = 0, list(dict.fromkeys([*(column.name for column in kinds), target]))
    for chunk in table.chunks(kinds, names):
        check_interrupted()
        here = ~np.isin(np.arange(at, at + chunk.height), left_out)
        at += chunk.height
        part = chunk.filter(pl.Series(here) & chunk[target].is_not_null())
        yield part.with_columns(read_as(part[target], target_type))
