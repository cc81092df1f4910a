"""A row to explain is named by its number or by its identifier, which is compared as it is written."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def fitted(run):
    """A model of a table whose identifiers have leading zeros, and this table; `more` are further columns."""

    def fit(**more):
        rng = np.random.default_rng(0)
        n = 60
        age = rng.normal(50, 10, n).round(1)
        table = pl.DataFrame(
            {
                "patient": [f"{41000 + 7 * k:06d}" for k in range(n)],
                "age": age,
                "dose": rng.normal(5, 1, n).round(3),
                "state": np.where(age > 50, "ill", "well"),
                **{name: make(n) for name, make in more.items()},
            }
        )
        table.write_csv("t.csv")
        drop = [f"--drop={name}" for name in ("patient", *more)]
        done = run("fit", "t.csv", "--target", "state", "--model", "tree", "--out", "m.planewise", "--force", *drop)
        assert done.exit_code == 0, done.stderr
        return table

    return fit


def test_the_identifier_is_found_as_it_is_written(fitted, run):
    fitted()
    by_row = json.loads(run("explain", "m.planewise", "t.csv", "--row", "2", "--json").stdout)
    by_id = json.loads(run("explain", "m.planewise", "t.csv", "--id", "041014", "--json").stdout)
    assert by_id["row"] == 2 and (by_id["id_column"], by_id["id"]) == ("patient", "041014")
    assert (by_row["id_column"], by_row["id"]) == (None, None)
    assert by_row["explanation"] == by_id["explanation"]


def test_the_numbering_is_stated(fitted, run):
    fitted()
    assert run("explain", "m.planewise", "t.csv", "--row", "2").stdout.startswith(
        "row 2, counted from 0 (line 4 of the file)\n"
    )
    shown = run("explain", "m.planewise", "t.csv", "--id", "041014", "--html", "why.html").stdout
    assert shown.startswith("patient 041014: row 2, counted from 0 (line 4 of the file)\n")
    with open("why.html", encoding="utf-8") as file:
        page = file.read()
    assert "<h1>patient 041014: state is" in page and "Row 2, counted from 0 (line 4 of the file)." in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "name the row to explain: --row NUMBER, or --id VALUE."),
        (["--row", "2", "--id", "041014"], "--row and --id both name the row to explain; give one of them."),
        (["--row", "-1"], "rows are counted from 0; got --row -1."),
        (["--row", "2", "--id-column", "patient"], "--id-column names the column of --id; add --id VALUE."),
        (["--id", "41014"], "no row of t.csv has the patient '41014'; did you mean '041014'?"),
        (["--id", "999"], "no row of t.csv has the patient '999'."),
        (["--id", "1", "--id-column", "pattient"], "did you mean 'patient'?"),
        (["--id", "ill", "--id-column", "state"], "have the state 'ill': rows"),
    ],
)
def test_mistakes_are_told_in_one_line(fitted, run, options, words):
    fitted()
    done = run("explain", "m.planewise", "t.csv", *options)
    assert done.exit_code == 2 and done.stdout == ""
    assert words in done.stderr and done.stderr.count("\n") == 1


def test_of_several_identifiers_one_must_be_chosen_unless_its_name_says_so(fitted, run):
    def codes(n):
        return [f"x{k}" for k in range(n)]

    fitted(code=codes, note=lambda n: [f"seen on day {k}" for k in range(n)])
    done = run("explain", "m.planewise", "t.csv", "--id", "x3")
    assert done.exit_code == 2
    assert "'patient' and 'code' look like identifiers; choose one by --id-column." in done.stderr
    assert run("explain", "m.planewise", "t.csv", "--id", "x3", "--id-column", "code").exit_code == 0
    fitted(case_id=codes)
    assert run("explain", "m.planewise", "t.csv", "--id", "x3").stdout.startswith("case_id x3: row 3,")


def test_an_identifier_that_the_model_reads_is_found_too(fitted, run):
    fitted()
    done = run("fit", "t.csv", "--target", "state", "--model", "tree", "--out", "all.planewise")
    assert "patient" in json.loads(run("describe", "all.planewise", "--json").stdout)["columns"][0]["name"], done.stdout
    assert run("explain", "all.planewise", "t.csv", "--id", "041014").stdout.startswith("patient 041014: row 2,")


def test_without_an_identifier_the_columns_that_could_be_one_are_listed(fitted, run):
    table = fitted().drop("patient")
    table.with_columns(exact=pl.int_range(60) / 7).write_csv("t.csv")
    done = run("explain", "m.planewise", "t.csv", "--id", "3")
    assert (
        done.exit_code == 2
        and "no column looks like an identifier; name it by --id-column, or use --row." in done.stderr
    )
    assert "'exact'" in done.stderr


def test_whole_numbers_of_a_parquet_file_are_identifiers(fitted, run):
    table = fitted()
    table.with_columns(patient=pl.col("patient").cast(pl.Int64)).write_parquet("t.parquet")
    assert run("explain", "m.planewise", "t.parquet", "--id", "41014").stdout.startswith(
        "patient 41014: row 2, counted from 0\n"
    )
    assert "did you mean '41014'?" in run("explain", "m.planewise", "t.parquet", "--id", "041014").stderr


def test_the_line_is_that_of_the_file_also_behind_quoted_line_breaks(fitted, run):
    table = fitted()
    table.with_columns(note=pl.lit("two\nlines")).write_csv("t.csv")
    assert "(line 6 of the file)" in run("explain", "m.planewise", "t.csv", "--row", "2").stdout
