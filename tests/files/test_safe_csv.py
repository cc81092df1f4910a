"""No text of ours is run as a formula by a spreadsheet."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planewise.files import safe_cells

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    " =1+1",
    "'=1+1",
    '"=1+1',
    "＝1+1",
    "＋1+1",
    "－1+1",
    "＠A",
    *(f"{skipped}=1+1" for skipped in "\ufeff\u200b\0\x0b\x0c\x85\u2003\u202f\u202e\xad"),
]
FINE = ["-3.5", "+4", "-1e-5", "-1.234,5", "- 5 %", "-", "--", "", "a=b", "'quoted'", "Köln", "1-2", "+49 30 1234"]
cells = st.lists(st.text(st.sampled_from("=+-@'\" \t\r\n;\ufeff＝1.a"), max_size=8) | st.none(), min_size=1)


def table(texts):
    return pl.DataFrame({"x": texts}, schema={"x": pl.String})


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text):
    assert safe_cells(table([text]))["x"].to_list() == ["'" + text]


@pytest.mark.parametrize("text", FINE)
def test_numbers_and_other_text_stay(text):
    assert safe_cells(table([text]))["x"].to_list() == [text]


@pytest.mark.parametrize("end", [";", "\t", "\n", "\r", "\r\n"])
def test_no_formula_begins_behind_another_separator_or_a_line_end(end):
    """Spreadsheets of many countries split at semicolons; then a line end in quotes may end the row as well."""
    assert safe_cells(table([f"x{end}=2+5{end}-3{end} @A{end}y=1"]))["x"].to_list() == [
        f"x{end}'=2+5{end}-3{end}' @A{end}y=1"
    ]


def test_names_are_safe_and_numbers_stay_numbers():
    found = safe_cells(pl.DataFrame({"=a": [-1.5], "b": pl.Series(["=x"], dtype=pl.Categorical)}))
    assert found.write_csv() == "'=a,b\n-1.5,'=x\n"


@given(cells)
def test_different_cells_stay_different(texts):
    assert safe_cells(table(texts))["x"].n_unique() == len(set(texts))


@given(cells)
def test_no_part_of_a_cell_begins_with_a_sign(texts):
    for cell in safe_cells(table(texts))["x"].drop_nulls():
        for part in re.split("[;\t\r\n]", cell):
            bare = part.lstrip(' "\ufeff')
            assert not bare.startswith(("=", "@", "＝")) and not re.match(r"[+-].*[a=@;]", bare), cell
