"""Tables on their way into commands: pipes, packed files, several files; what was understood is said."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from test_mistakes import mistake

import planewise as pw
from clean_shell import clean_environment


@pytest.fixture
def german(towns):
    """As Excel writes it in Germany."""
    text = towns.select("size", "town", "rooms", "class").write_csv(separator=";", decimal_comma=True)
    Path("towns.csv").write_bytes(("Homes of 2024;;;\n" + text).encode("cp1252"))
    return "towns.csv"


def shell(command, data=b""):
    """What a shell says and prints, in a clean environment; "planewise" is the command."""
    planewise = f"{sys.executable} -m planewise"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", re.sub(r"(^|[ (])planewise ", rf"\1{planewise} ", command)],
        input=data,
        capture_output=True,
        env=clean_environment(),
    )


def test_a_table_of_another_dialect_from_fit_to_explain(run, german, towns):
    done = run("fit", german, "--target", "class", "--model", "tree", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    said = "towns.csv: semicolon-separated, decimal comma, encoding cp1252, 1 line above the header skipped"
    assert f"table    {said}\n" in done.stdout
    plain = towns.select("size", "town", "rooms", "class")
    plain.write_csv("plain.csv")
    done = run("predict", "m.planewise", german, "--proba")
    assert done.exit_code == 0 and done.stderr == f"planewise: {said}.\n"
    assert done.stdout == run("predict", "m.planewise", "plain.csv", "--proba").stdout
    whys = [
        json.loads(run("explain", "m.planewise", name, "--row", 5, "--json").stdout) for name in (german, "plain.csv")
    ]
    assert whys[0] == whys[1]


def test_options_say_how_a_table_is_written(run):
    Path("t.txt").write_text("% made\na|b|y\n" + "".join(f"{k},5|{'u' if k % 7 else 'x'}|{k % 2}\n" for k in range(60)))
    options = ["--separator", "bar", "--decimal", ",", "--comment", "%", "--missing", "x", "--encoding", "latin-1"]
    done = run("fit", "t.txt", "--target", "y", "--model", "tree", "--json", "--header", *options)
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["reading"]["separator"] == "|" and answer["reading"]["encoding"] == "latin-1"
    columns = {each["name"]: each for each in answer["columns"]}
    assert columns["b"]["missing"] == pytest.approx(9 / 60) and columns["a"]["decimal"] == ","
    mistake(run("fit", "t.txt", "--target", "y", "--decimal", ";"), "decimal must be '.' or ','")
    mistake(
        run("fit", "t.txt", "--target", "y", "--date-format", "day"), "--date-format takes a format such as %d.%m.%Y"
    )


def test_every_column_is_accounted_for(run, towns):
    towns.with_columns(pl.col("price").map_elements(lambda v: f"{v:.2f} €", pl.String)).write_csv("t.csv")
    done = run("fit", "t.csv", "--target", "class", "--model", "tree", "--json")
    answer = json.loads(done.stdout)
    named = {each["name"] for each in answer["columns"] + answer["left_out"]} | {answer["target"]}
    assert named == set(towns.columns)
    assert all(each["why"] for each in answer["left_out"]) and all(each["kind"] for each in answer["columns"])
    done = run("fit", "t.csv", "--target", "class", "--model", "tree", "--show-columns")
    for name in towns.columns:
        assert f"\n{name} " in done.stdout
    assert "in €" in done.stdout and "has the same value in every row" in done.stdout


def test_one_odd_value_is_refused_by_fit_and_named_by_predict(run, towns):
    values = [*towns["price"].to_list()[:-1], "tbd"]
    towns.with_columns(pl.Series("price", [str(each) for each in values])).write_csv("odd.csv")
    words = "239 of 240 values of 'price' are numbers; 'tbd' in line"
    mistake(run("fit", "odd.csv", "--target", "class"), words, "--missing tbd reads it as missing", "--drop price")
    fit = ["fit", "odd.csv", "--target", "class", "--model", "tree", "--out", "m.planewise"]
    assert run(*fit, "--drop", "price").exit_code == 0
    assert run(*fit, "--force", "--missing", "tbd").exit_code == 0
    assert run("predict", "m.planewise", "odd.csv").exit_code == 0  # the model remembers the word


def test_categories_written_as_numbers(run):
    rows = "".join(f"{k % 5:03},{k % 5 % 2}\n" for k in range(100))
    Path("t.csv").write_text("code,y\n" + rows)
    done = run("fit", "t.csv", "--target", "y", "--model", "tree", "--category", "code", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    model = pw.load("m.planewise")
    assert model.columns_[0].kind == "category" and set(model.columns_[0].categories) == {f"00{k}" for k in range(5)}
    assert run("predict", "m.planewise", "t.csv").stdout.split()[1:] == [str(k % 5 % 2) for k in range(100)]
    mistake(run("fit", "t.csv", "--target", "y", "--category", "cod"), "no column 'cod'; did you mean 'code'?")


def test_pipes_and_packed_files(run, fitted, csv):
    model = fitted("tree")
    expected = run("predict", model, csv).stdout.encode()
    data = Path(csv).read_bytes()
    Path("towns.csv.gz").write_bytes(gzip.compress(data))
    for command in (
        f"cat {csv} | planewise predict {model} -",
        f"planewise predict {model} /dev/stdin < {csv}",
        f"planewise predict {model} towns.csv.gz",
        f"gzip -dc towns.csv.gz | planewise predict {model} - | cat",
        f"planewise predict {model} <(cat {csv})",
    ):
        done = shell(command)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, b""), command
    done = shell(f"cat {csv} | planewise fit - --target class --model tree --json --out s.planewise")
    assert done.returncode == 0 and json.loads(done.stdout)["reading"]["name"] == "the standard input"


def test_several_files_as_arguments(run, fitted, towns):
    model = fitted("tree")
    towns[:100].write_csv("a.csv")
    towns[100:].write_csv("b.csv")
    assert run("predict", model, "a.csv", "b.csv").stdout == run("predict", model, "towns.csv").stdout
    one, other = (run("explain", model, *names, "--row", 150).stdout for names in (["a.csv", "b.csv"], ["towns.csv"]))
    assert one.startswith("row 150, counted from 0 (line 102 of 'b.csv')\n")
    assert one.splitlines()[1:] == other.splitlines()[1:]
    mistake(run("predict", model, "a.csv", "c.csv"), "'c.csv': No such file")


def test_kept_columns_are_as_written(run):
    rows = "".join(f"{k:03};{k},50;0{1 + k % 9}.02.2024;{k % 2}\n" for k in range(60))
    Path("t.csv").write_text("code;amount;day;y\n" + rows)
    assert run("fit", "t.csv", "--target", "y", "--model", "tree", "--out", "m.planewise").exit_code == 0
    keep = ["--keep", "code", "--keep", "amount", "--keep", "day"]
    lines = run("predict", "m.planewise", "t.csv", *keep).stdout.splitlines()
    assert lines[0] == "code,amount,day,prediction" and lines[8].startswith('007,"7,50",08.02.2024,')
