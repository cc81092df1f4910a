"""What breaks off from outside: a full disk, a reader that goes away, Ctrl-C; and files in the wrong place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from test_commands import content_of
from test_mistakes import mistake

from clean_shell import clean_environment, run_python, small_files
from planewise import load

MAIN = "from planewise.cli import main; main()"
needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


def start(*args, before=""):
    """The command in a process of its own, of which only the error stream is read."""
    command = [sys.executable, "-c", before + MAIN, *map(str, args)]
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "env": clean_environment()}
    return subprocess.Popen(command, **how)


# One process for several commands: most of the time of each would be the start of Python and its libraries.
ALL = """
import json, sys
from planewise.cli import main
for command in json.loads(sys.argv[1]):
    sys.argv[1:] = command
    try:
        main()
    except SystemExit as end:
        sys.stderr.write(f"exit code {end.code}\\n")
"""


def run_all(commands, before="", **how):
    """The exit code of each of the commands, and its lines on the error stream but those of progress."""
    done = run_python("-c", before + ALL, json.dumps(commands), capture_output=False, stderr=subprocess.PIPE, **how)
    assert done.returncode == 0, done.stderr
    ends, lines = [], []
    for line in done.stderr.splitlines():
        if line.startswith("exit code "):
            ends.append((int(line.split()[-1]), lines))
            lines = []
        elif not line.endswith("..."):
            lines.append(line)
    return ends


def told(process, code):
    """The one line on the error stream, after this exit code."""
    _, words = process.communicate(timeout=300)
    assert process.returncode == code, words
    lines = [line for line in words.splitlines() if not line.endswith("...")]
    assert len(lines) <= 1, words
    return lines[0] if lines else ""


@pytest.fixture
def many(fitted, towns):
    """A model, and a table of which the answers fill a pipe many times."""
    model = fitted("tree")
    pl.concat([towns] * 200).write_csv("many.csv")
    return model


def test_a_file_that_is_read_is_not_written_to(csv, run, fitted):
    model = fitted("tree")
    before = Path(csv).read_bytes(), Path(model).read_bytes()
    Path("link.csv").symlink_to(csv)
    for out in (csv, "link.csv"):
        mistake(run("predict", model, csv, "--out", out, "--force"), f"{out!r} is an input of this command")
    mistake(run("fit", csv, "--target", "class", "--out", csv, "--force"), "cannot be replaced")
    mistake(run("describe", model, "--html", model, "--force"), "cannot be replaced")
    mistake(run("export", model, "--to", "c", "--out", model, "--force"), "cannot be replaced")
    mistake(run("explain", model, csv, "--row", 0, "--html", model, "--force"), "cannot be replaced")
    assert (Path(csv).read_bytes(), Path(model).read_bytes()) == before


def test_a_folder_for_a_model_and_a_model_for_a_table(csv, run, fitted):
    model = fitted("tree")
    Path("folder").mkdir()
    for command in (["describe", "folder"], ["predict", "folder", csv], ["export", "folder", "--to", "text"]):
        mistake(run(*command), "'folder': Is a directory.")
    mistake(run("predict", model, model), "'tree.planewise' is a model file, not a table.")
    mistake(run("predict", csv, model), "The file 'towns.csv' is not a model file")
    mistake(run("predict", model, csv, "--out", "folder"), "must end in one of")


def test_a_table_of_a_header_alone(run, fitted, towns):
    model = fitted("tree")
    towns.head(0).write_csv("none.csv")
    assert run("predict", model, "none.csv", "--out", "p.csv").exit_code == 0
    assert Path("p.csv").read_text() == "prediction\n"
    assert run("predict", model, "none.csv", "--proba", "--keep", "id").stdout == "id,prediction,p(cheap),p(dear)\n"
    mistake(run("explain", model, "none.csv", "--row", 0), "has 0 rows, counted from 0: there is no row 0.")
    towns.head(0).write_parquet("none.parquet")
    assert run("predict", model, "none.parquet", "--out", "p.parquet").exit_code == 0
    assert pl.read_parquet("p.parquet").schema == {"prediction": pl.String}
    mistake(run("fit", "none.parquet", "--target", "class"), "'none.parquet' has no rows.")


def test_a_mark_of_byte_order_is_no_part_of_the_first_name(run, towns):
    plain = towns.drop("id", "note", "price").write_csv(line_terminator="\r\n").encode()
    Path("plain.csv").write_bytes(plain)
    Path("marked.csv").write_bytes(b"\xef\xbb\xbf" + plain)
    for name in ("plain", "marked"):
        done = run("fit", f"{name}.csv", "--target", "class", "--model", "tree", "--out", f"{name}.planewise")
        assert done.exit_code == 0, done.stderr
    assert content_of(load("plain.planewise")) == content_of(load("marked.planewise"))
    answers = [run("predict", "plain.planewise", f"{name}.csv").stdout for name in ("plain", "marked")]
    assert answers[0] == answers[1] and answers[0].startswith("prediction\n")
    first = run("predict", "plain.planewise", "marked.csv", "--keep", "size").stdout
    assert first.startswith("size,prediction\n")


@needs_posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(csv, run):
    Path("locked").mkdir(mode=0o555)
    done = run("fit", csv, "--target", "class", "--out", "locked/m.planewise")
    mistake(done, "the folder 'locked' is not writable.")


@needs_posix
def test_no_space_left(csv, fitted):
    model = fitted("tree")
    Path("p.csv").write_text("before")
    commands = [
        ["fit", csv, "--target", "class", "--model", "tree", "--out", "new.planewise"],
        ["predict", model, csv, "--out", "p.csv", "--force"],
        ["predict", model, csv, "--out", "p.parquet"],
        ["export", model, "--to", "c", "--out", "m.h"],
    ]
    ends = run_all(commands, before=small_files(100), stdout=subprocess.DEVNULL)
    assert all(code in (1, 2) and len(lines) == 1 and lines[0].startswith("planewise: ") for code, lines in ends), ends
    assert Path("p.csv").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == ["p.csv", "towns.csv", "tree.planewise"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("command", [["describe"], ["predict", "towns.csv"]])
def test_no_space_left_for_what_is_printed(command, csv, fitted):
    name, *more = command
    with open("/dev/full", "w") as full:
        done = run_python(
            "-c", MAIN, name, fitted("tree"), *more, capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 1 and done.stderr == "planewise: No space left on device.\n"


@needs_posix
@pytest.mark.parametrize("command", [["describe"], ["predict", "many.csv"]])
def test_a_reader_that_goes_away(command, many):
    name, *more = command
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stdout:
        done = run_python("-c", MAIN, name, many, *more, capture_output=False, stdout=stdout, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, "")


# Rows without end, so that the command is in the middle of them whenever it is stopped.
SLOW = """
import time
import planewise.data.files.tables as tables
inner = tables.row_blocks
def slowly(*args):
    for block in inner(*args):
        for _ in range(1000):
            yield block
            time.sleep(0.01)
tables.row_blocks = slowly
"""


@needs_posix
@pytest.mark.parametrize("command", ["fit", "csv", "parquet"])
def test_ctrl_c_in_the_middle(command, many):
    args = ["predict", many, "many.csv", "--out", f"p.{command}", "--force"]
    if command == "fit":
        args = [
            "fit",
            "many.csv",
            "--target",
            "class",
            "--model",
            "boosting",
            "--set",
            "n_estimators=99999",
            "--out",
            "b",
        ]
    else:
        Path(f"p.{command}").write_text("before")
    process = start(*args, before=SLOW if command != "fit" else "")
    for line in process.stderr:
        if line.startswith(("fitting", "predicting")):
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    told(process, 130)
    if command != "fit":
        assert Path(f"p.{command}").read_text() == "before"
    assert not Path("b").exists() and not list(Path().glob("*.part"))
