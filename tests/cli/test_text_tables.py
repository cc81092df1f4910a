"""Text tables as people have them: lines that do not fit, blank lines, names that come twice, dates, booleans."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_mistakes import mistake

import planewise as pw
from planewise.data import InputTable


def text(header="a,b,y\n", n=40):
    rng = np.random.default_rng(3)
    rows = [f"{a:.3f},{b:.3f},{'uv'[int(a + b > 0)]}\n" for a, b in rng.normal(size=(n, 2))]
    return header, rows


def write(name, header, rows):
    Path(name).write_text(header + "".join(rows), encoding="utf-8", newline="")
    return name


@pytest.fixture
def model(run):
    table = write("good.csv", *text())
    done = run("fit", table, "--target", "y", "--model", "tree", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    return "m.planewise"


@pytest.mark.parametrize("size", [40, 16 << 20])
@pytest.mark.parametrize(("bad", "there"), [("1.0,2.0,u,4\n", "4 fields"), ("1.0\n", "1 field,"), ("1.0,2.0\n", "2 ")])
def test_a_line_with_another_number_of_fields_is_named(run, model, monkeypatch, bad, there, size):
    monkeypatch.setattr("planewise.data.files.lines.CHUNK_BYTES", size)
    header, rows = text()
    rows[3] = '1.0,2.0,"u\nand, more"\n'  # two lines of the file
    bad = write("bad.csv", header, [*rows[:20], bad, *rows[20:]])
    words = f"line 23 has {there}"  # the header, twenty rows, one of them of two lines
    mistake(run("predict", model, bad, "--out", "p.csv"), words, "but the header has 3")
    mistake(run("fit", bad, "--target", "y"), words)
    mistake(run("explain", model, bad, "--row", "39"), words)
    assert not Path("p.csv").exists()


def test_quotes_inside_fields_are_no_reason_to_refuse(run, model):
    header, rows = text()
    table = write("q.csv", header, [*rows, '1.0,2.0,5" by 6" wide\n'])
    done = run("predict", model, table)
    assert done.exit_code == 0 and done.stdout.count("\n") == 42, done.stderr


def test_what_fit_reads_predict_reads_too(run):
    header, rows = text('\n\r\n"a\nlong",b,y\n')
    table = write("t.csv", header, [*rows[:5], "\n", *rows[5:], "\r\n", "\n"])
    done = run("fit", table, "--target", "y", "--model", "tree", "--out", "m.planewise", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["rows"]["read"] == 40  # a blank line is no row
    assert [column["name"] for column in answer["columns"]] == ["a\nlong", "b"]
    done = run("predict", "m.planewise", table)
    assert done.exit_code == 0 and done.stdout.count("\n") == 41, done.stderr
    mistake(run("fit", write("u.csv", header, [*rows[:5], "1\n"]), "--target", "y"), "line 10 has 1 field,")


def test_an_empty_line_of_one_column_is_a_missing_value():
    Path("one.csv").write_text("a\n1\n\n2\n")
    assert InputTable(["one.csv"]).read()["a"].to_list() == [1, None, 2]
    assert pl.concat(InputTable(["one.csv"]).chunks(None, ["a"]))["a"].to_list() == ["1", None, "2"]


def test_names_that_come_twice(run, model):
    header, rows = text("a,a,y\n")
    table = write("t.csv", header, rows)
    for done in (run("fit", table, "--target", "y"), run("predict", model, table)):
        mistake(done, "'t.csv' has the duplicate column name 'a'.")


def test_a_separator_that_is_not_that_of_the_table(run, model):
    header, rows = text()
    table = write("t.csv", header.replace(",", ";"), [row.replace(",", ";") for row in rows])
    words = "only one column, 'a;b;y', with --separator comma: are its fields separated by semicolons?"
    for done in (
        run("fit", table, "--target", "y", "--separator", ","),
        run("predict", model, table, "--separator", "comma"),
    ):
        mistake(done, words)


@pytest.fixture
def days():
    """What happens depends on the day; with times of day, gaps, and booleans."""
    first = datetime.date(2023, 12, 1)
    day = [first + datetime.timedelta(days=3 * k) for k in range(80)]
    return pl.DataFrame(
        {
            "day": [None if k % 9 == 0 else each.isoformat() for k, each in enumerate(day)],
            "time": [f"{each} 0{k % 10}:30" for k, each in enumerate(day)],
            "wet": [k % 3 == 0 for k in range(80)],
            "not a day": [f"2024-13-{k % 4:02}" for k in range(80)],
            "y": ["early" if k < 40 else "late" for k in range(80)],
        }
    )


def test_dates_are_read_as_days(run, days):
    days.write_csv("days.csv")
    read = InputTable(["days.csv"]).read()
    assert read.dtypes == [pl.Date, pl.Datetime("us"), pl.Boolean, pl.String, pl.String]
    assert read["time"][1] == datetime.datetime(2023, 12, 4, 1, 30)
    assert run("fit", "days.csv", "--target", "y", "--model", "tree", "--out", "m.planewise").exit_code == 0
    model = pw.load("m.planewise")
    assert [column.kind for column in model.columns_] == ["date", "date", "truth", "category"]
    expected = model.predict(read).tolist()
    assert model.predict(days).tolist() == expected  # text too
    done = run("predict", "m.planewise", "days.csv", "--keep", "day", "--out", "p.csv")
    assert done.exit_code == 0, done.stderr
    answers = pl.read_csv("p.csv")
    assert answers["prediction"].to_list() == expected
    assert (answers["prediction"] == days["y"]).mean() > 0.95  # which categories could not reach on days not seen
    assert answers["day"].to_list() == days["day"].to_list()
    assert run("explain", "m.planewise", "days.csv", "--row", "1", "--json").exit_code == 0


def test_a_text_that_is_no_date(run, days, monkeypatch):
    days.write_csv("days.csv")
    run("fit", "days.csv", "--target", "y", "--model", "tree", "--out", "m.planewise")
    bad = days.with_columns(pl.when(pl.int_range(80) == 61).then(pl.lit("May")).otherwise("day").alias("day"))
    bad.write_csv("bad.csv")
    monkeypatch.setattr("planewise.data.files.lines.CHUNK_BYTES", 300)
    words = "Column 'day' holds the text 'May' in row 61 (line 63), but held dates"
    mistake(run("predict", "m.planewise", "bad.csv"), words)


def test_truth_values_may_be_0_and_1(run, days, monkeypatch):
    days.write_csv("days.csv")
    run("fit", "days.csv", "--target", "y", "--model", "forest", "--set", "n_estimators=5", "--out", "m.planewise")
    days.with_columns(pl.col("wet").cast(int)).write_csv("numbers.csv")
    assert run("predict", "m.planewise", "numbers.csv").stdout == run("predict", "m.planewise", "days.csv").stdout
    monkeypatch.setattr("planewise.data.files.lines.CHUNK_BYTES", 300)
    bad = pl.when(pl.int_range(80) == 50).then(pl.lit("maybe")).otherwise(pl.col("wet").cast(str)).alias("wet")
    days.with_columns(bad).write_csv("bad.csv")
    done = run("predict", "m.planewise", "bad.csv")
    mistake(done, "Column 'wet' holds the text 'maybe' in row 50 (line 52), but held booleans when")


def test_moments_that_say_how_far_they_are_ahead_of_utc(run, days):
    ahead = ["+02:00", "-0530", "Z", "+01", ""]
    clock = days.with_columns(pl.Series("time", [f"{day}{ahead[k % 5]}" for k, day in enumerate(days["time"])]))
    clock.write_csv("clock.csv")
    read = InputTable(["clock.csv"]).read()
    assert read["time"][:5].to_list() == [
        datetime.datetime(2023, 11, 30, 22, 30),
        datetime.datetime(2023, 12, 4, 7, 0),
        datetime.datetime(2023, 12, 7, 2, 30),
        datetime.datetime(2023, 12, 10, 2, 30),
        datetime.datetime(2023, 12, 13, 4, 30),
    ]
    done = run("fit", "clock.csv", "--target", "y", "--model", "tree", "--drop", "day", "--out", "m.planewise")
    assert done.exit_code == 0
    answers = run("predict", "m.planewise", "clock.csv").stdout.split()[1:]
    assert answers == pw.load("m.planewise").predict(read).tolist()
    clock.with_columns(pl.lit("2024-03-09T10:00+24:00").alias("time")).write_csv("bad.csv")
    mistake(run("predict", "m.planewise", "bad.csv"), "Column 'time' holds the text '2024-03-09T10:00+24:00' in row 0")
