"""The commands in a platform's scripts: pipes, JSON, exit codes, encodings."""

from __future__ import annotations

import csv as csv_files
import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from test_hard_ends import needs_posix
from test_mistakes import mistake

from clean_shell import clean_environment, run_python

MAIN = "from planewise.cli import main; main()"


def command(*args, env=None, **how):
    """The command in a process of its own; the result has ``returncode``, and bytes in ``stdout`` and ``stderr``."""
    call = [sys.executable, "-c", MAIN, *map(str, args)]
    return subprocess.run(call, capture_output=True, check=False, timeout=300, env=env or clean_environment(), **how)


@pytest.fixture
def long_names(run, towns):
    """A model and a table with letters that few encodings have."""
    table = towns.select("size", "new", pl.col("town").str.replace("Ulm", "Łódź −→"), "class")
    table.write_csv("long.csv")
    done = run("fit", "long.csv", "--target", "class", "--model", "tree", "--out", "long.planewise")
    assert done.exit_code == 0, done.stderr
    return "long.planewise"


def test_a_pipe_from_fit_to_predict(towns):
    """What a nightly job does: fit, ask for the quality, predict, and check every exit code."""
    towns.write_csv("towns.csv")
    fit = command(
        "fit", "towns.csv", "--target", "class", "--drop", "price", "--model", "tree", "--out", "m.planewise", "--json"
    )
    assert fit.returncode == 0 and json.loads(fit.stdout)["quality"] and fit.stderr == b""
    predict = command("predict", "m.planewise", "towns.csv", "--keep", "id", "--out", "-")
    rows = list(csv_files.DictReader(io.StringIO(predict.stdout.decode())))
    assert predict.returncode == 0 and len(rows) == 240 and set(rows[0]) == {"id", "prediction"}
    assert command("predict", "m.planewise", "towns.csv", "--keep", "id").stdout == predict.stdout
    assert command("predict", "m.planewise", "nowhere.csv").returncode == 2


def test_a_dash_prints_what_would_be_in_the_file(run, fitted, csv):
    model = fitted("tree")
    for to in ("c", "html", "text"):
        assert run("export", model, "--to", to, "--out", "file", "--force").exit_code == 0
        done = run("export", model, "--to", to, "--out", "-")
        assert done.stdout == Path("file").read_text(encoding="utf-8")
    assert "columns in this order" in run("export", model, "--to", "c", "--out", "-").stderr
    assert run("export", model, "--to", "onnx", "--out", "file", "--force").exit_code == 0
    assert command("export", model, "--to", "onnx", "--out", "-").stdout == Path("file").read_bytes()
    for command_line in (["describe", model], ["explain", model, csv, "--row", 3]):
        run(*command_line, "--html", "page.html", "--force")
        assert run(*command_line, "--html", "-").stdout == Path("page.html").read_text(encoding="utf-8")
        mistake(run(*command_line, "--html", "-", "--json"), "--json and --html - would both print; choose one.")
    mistake(run("predict", model, csv, "--out", "-", "--json"), "--json requires --out FILE.")
    mistake(run("export", model, "--to", "c", "--out", "-", "--json"), "--json requires --out FILE.")
    assert not Path("-").exists()


ENCODINGS = [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]


@pytest.mark.parametrize("setting", ENCODINGS, ids=["cp1252", "ascii"])
def test_no_character_makes_a_command_fail(setting, long_names):
    env, encoding = clean_environment(**setting), "cp1252" if "PYTHONIOENCODING" in setting else "ascii"
    commands = [
        ["describe", long_names],
        ["explain", long_names, "long.csv", "--row", "3"],
        ["export", long_names, "--to", "text"],
        ["fit", "long.csv", "--target", "class", "--model", "boosting"],
        ["--help"],
    ]
    for args in commands:
        done = command(*args, env=env)
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode(encoding)
        assert "?" not in text.replace("why?", "")
        if args[0] == "describe":
            assert "\\u0141" in text
    done = command("describe", "Łódź", env=env)
    assert done.returncode == 2 and done.stderr.decode(encoding).count("\n") == 1


@pytest.mark.parametrize("setting", ENCODINGS, ids=["cp1252", "ascii"])
def test_what_programs_read_loses_nothing(setting, long_names):
    env = clean_environment(**setting)
    done = command("describe", long_names, "--json", env=env)
    assert done.stdout.isascii() and "Łódź −→" in json.loads(done.stdout)["columns"][2]["categories"]
    done = command("predict", long_names, "long.csv", "--keep", "town", env=env)
    assert done.stdout == command("predict", long_names, "long.csv", "--keep", "town").stdout
    assert "Łódź −→" in done.stdout.decode("utf-8")


def test_utf8_consoles_get_json_as_it_is(long_names):
    assert "Łódź −→" in command("describe", long_names, "--json").stdout.decode()


@needs_posix
def test_a_home_that_is_read_only_or_missing_is_not_needed(fitted, csv, tmp_path):
    (tmp_path / "home").mkdir(mode=0o555)
    model = fitted("tree")
    for home in (str(tmp_path / "home"), "/nowhere"):
        done = command("predict", model, csv, "--out", "p.csv", "--force", env=clean_environment(HOME=home))
        assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "home").iterdir())


def test_errors_of_a_command_are_one_line_with_its_exit_code(csv, fitted):
    model = fitted("tree")
    done = run_python("-c", MAIN, "explain", model, csv, "--row", "9999")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
