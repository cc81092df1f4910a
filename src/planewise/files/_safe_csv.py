"""Text cells that a spreadsheet would run as formulas, made harmless in CSV and TSV files, and read back."""

from __future__ import annotations

from typing import Any

import polars as pl

# The first sign of a formula, also behind what spreadsheets skip or do not show; full-width signs are those of Asian
# keyboards.
_FORMULA = r"""^[\s\p{Cc}\p{Cf}"']*[=+\-@＝＋－＠]"""
_NUMBER = r"^\s*[+\-]+[\d\s.,'’%‰€$£¥]*([eE][+\-]?\d+)?\s*$"  # such as -3.5: there is nothing to run in it
# Where a program may begin another cell: spreadsheets of many countries split at semicolons, whatever a file is split
# at; quotes are then not where they expect them, so that tabs and line ends count too.
_ENDS = r"[;\t\r\n]"
_PARTS = r"[;\t\r\n]|[^;\t\r\n]+"


def safe_cells(table: pl.DataFrame) -> pl.DataFrame:
    """A table in whose text and names no formula begins: such a cell gets an apostrophe in front, as OWASP advises.

    The same is done behind semicolons, tabs and line ends inside a cell.

    >>> safe_cells(pl.DataFrame({"label": ["=1+1", "-3.5", "fine"]}))["label"].to_list()
    ["'=1+1", '-3.5', 'fine']
    """
    return _changed(table, lambda cell: pl.when(_is_formula(cell)).then("'" + cell).otherwise(cell))


def exact_cells(table: pl.DataFrame) -> pl.DataFrame:
    """The table that `safe_cells` was given: what it puts in front of a cell is taken away, and nothing else.

    A ValueError if two columns would have the same name then: such a table was not made by `safe_cells`.

    >>> exact_cells(pl.DataFrame({"label": ["'=1+1", "'fine'"]}))["label"].to_list()
    ['=1+1', "'fine'"]
    """

    def exact(cell: pl.Expr) -> pl.Expr:
        rest = cell.str.slice(1)
        return pl.when(cell.str.starts_with("'") & _is_formula(rest)).then(rest).otherwise(cell)

    return _changed(table, exact)


def _is_formula(cell: pl.Expr) -> pl.Expr:
    return cell.str.contains(_FORMULA) & ~cell.str.contains(_NUMBER)


def _changed(table: pl.DataFrame, change: Any) -> pl.DataFrame:
    """The table with all texts and names changed in the same way."""
    text = [name for name, dtype in table.schema.items() if dtype in (pl.String, pl.Categorical, pl.Enum)]
    found = table.with_columns(_in_parts(table[name].cast(pl.String), change) for name in text)
    names = _in_parts(pl.Series(table.columns, dtype=pl.String), change).to_list()
    _refuse_twins(table.columns, names)
    found.columns = names
    return found


def _in_parts(cells: pl.Series, change: Any) -> pl.Series:
    """Cells whose parts are changed, each as a cell of its own; most cells are one part, which is faster."""
    cell = pl.col("cells")
    if cells.str.contains(_ENDS).any():
        changed = cell.str.extract_all(_PARTS).list.eval(change(pl.element())).list.join("")
    else:
        changed = change(cell)
    return cells.to_frame("cells").select(changed.alias("cells")).to_series().alias(cells.name)


def _refuse_twins(before: list[str], after: list[str]) -> None:
    """An error if two names became one."""
    first: dict[str, str] = {}
    for name, changed in zip(before, after, strict=True):
        if (twin := first.setdefault(changed, name)) != name:
            raise ValueError(
                f"The columns {twin!r} and {name!r} have the same name without the apostrophe that planewise puts "
                "before formulas in text files: rename one of them, or use a Parquet file."
            )
