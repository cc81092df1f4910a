"""Text cells that a spreadsheet would run as formulas, made harmless in CSV and TSV files."""

from __future__ import annotations

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
    text = [name for name, dtype in table.schema.items() if dtype in (pl.String, pl.Categorical, pl.Enum)]
    safe = table.with_columns(_safe(table[name].cast(pl.String)) for name in text)
    safe.columns = _safe(pl.Series(table.columns, dtype=pl.String)).to_list()
    return safe


def _safe(cells: pl.Series) -> pl.Series:
    """Put apostrophes before formulas; most cells have no further parts, which is faster."""
    cell = pl.col("cells")
    if cells.str.contains(_ENDS).any():
        safe = cell.str.extract_all(_PARTS).list.eval(_with_apostrophe(pl.element())).list.join("")
    else:
        safe = _with_apostrophe(cell)
    return cells.to_frame("cells").select(safe.alias("cells")).to_series().alias(cells.name)


def _with_apostrophe(cell: pl.Expr) -> pl.Expr:
    is_formula = cell.str.contains(_FORMULA) & ~cell.str.contains(_NUMBER)
    return pl.when(is_formula).then("'" + cell).otherwise(cell)
