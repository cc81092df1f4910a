"""The commands in a platform's scripts: pipes, JSON, exit codes, signals, encodings, two processes with one file."""

from __future__ import annotations

import csv as csv_files
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from test_hard_ends import SLOW, needs_posix, start, told
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
    done = run("fit", "long.csv", "--target", "class", "--model", "slm", "--out", "long.planewise")
    assert done.exit_code == 0, done.stderr
    return "long.planewise"


def test_a_pipe_from_fit_to_predict(towns):
    """What a nightly job does: fit, ask for the quality, predict, and check every exit code."""
    towns.write_csv("towns.csv")
    fit = command(
        "fit", "towns.csv", "--target", "class", "--drop", "price", "--model", "slm", "--out", "m.planewise", "--json"
    )
    assert fit.returncode == 0 and json.loads(fit.stdout)["quality"] and fit.stderr == b""
    predict = command("predict", "m.planewise", "towns.csv", "--keep", "id", "--out", "-")
    rows = list(csv_files.DictReader(io.StringIO(predict.stdout.decode())))
    assert predict.returncode == 0 and len(rows) == 240 and set(rows[0]) == {"id", "prediction"}
    assert command("predict", "m.planewise", "towns.csv", "--keep", "id").stdout == predict.stdout
    assert command("predict", "m.planewise", "nowhere.csv").returncode == 2


def test_a_dash_prints_what_would_be_in_the_file(run, fitted, csv):
    model = fitted("slm")
    for to in ("c", "html", "text"):
        assert run("export", model, "--to", to, "--out", "file", "--force").exit_code == 0
        done = run("export", model, "--to", to, "--out", "-", "--quiet")
        assert done.stdout == Path("file").read_text(encoding="utf-8") and done.stderr == ""
    assert "columns in this order" in run("export", model, "--to", "c", "--out", "-").stderr
    assert run("export", model, "--to", "onnx", "--out", "file", "--force").exit_code == 0
    assert command("export", model, "--to", "onnx", "--out", "-").stdout == Path("file").read_bytes()
    for command_line in (["describe", model], ["explain", model, csv, "--row", 3]):
        run(*command_line, "--html", "page.html", "--force")
        assert run(*command_line, "--html", "-").stdout == Path("page.html").read_text(encoding="utf-8")
        mistake(run(*command_line, "--html", "-", "--json"), "--json and --html - would both print; choose one.")
    mistake(run("predict", model, csv, "--out", "-", "--json"), "--json describes the file of --out; give one.")
    mistake(run("export", model, "--to", "c", "--out", "-", "--json"), "--json describes the file of --out; give one.")
    assert not Path("-").exists()


ENCODINGS = [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]


@pytest.mark.parametrize("setting", ENCODINGS, ids=["cp1252", "ascii"])
def test_no_character_makes_a_command_fail(setting, long_names):
    env, encoding = clean_environment(**setting), "cp1252" if "PYTHONIOENCODING" in setting else "ascii"
    commands = [
        ["describe", long_names],
        ["explain", long_names, "long.csv", "--row", "3"],
        ["export", long_names, "--to", "text"],
        ["fit", "long.csv", "--target", "class", "--model", "boost"],
        ["--help"],
    ]
    for args in commands:
        done = command(*args, env=env)
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode(encoding)
        assert "?" not in text.replace("why?", "")
        if args[0] == "describe":
            assert "\\u0141" in text and " -->" in text
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


def begun(process):
    for line in process.stderr:
        if line.startswith(("fitting", "predicting")):
            break
    time.sleep(0.3)


@needs_posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("what", ["fit", "csv", "parquet"])
def test_a_signal_cleans_up_as_ctrl_c_does(what, name, fitted, towns):
    model = fitted("slm")
    pl.concat([towns] * 200).write_csv("many.csv")
    args = ["predict", model, "many.csv", "--out", f"p.{what}", "--force"]
    if what == "fit":
        args = ["fit", "many.csv", "--target", "class", "--model", "boost", "--set", "n_estimators=99999", "--out", "b"]
    else:
        Path(f"p.{what}").write_text("before")
    heard = f"import signal\nsignal.signal(signal.{name}, signal.SIG_DFL)\n"  # also where these tests run behind nohup
    process = start(*args, before=heard + (SLOW if what != "fit" else ""))
    begun(process)
    process.send_signal(getattr(signal, name))
    words = {"SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}[name]
    code = 128 + getattr(signal, name)
    assert told(process, code) == f"planewise: {words}; no half-written file was left."
    assert what == "fit" or Path(f"p.{what}").read_text() == "before"
    assert not Path("b").exists() and not list(Path().glob("*.part")) and not list(Path().glob(".planewise-*"))


# The page is being written when the signal comes.
STUCK = """
import sys, time
import planewise._atomic as atomic
inner = atomic.os.fsync
def stuck(file):
    inner(file)
    sys.stderr.write("predicting\\n")
    time.sleep(60)
atomic.os.fsync = stuck
"""


@needs_posix
@pytest.mark.parametrize("what", ["describe", "explain"])
def test_a_signal_while_a_page_is_written(what, fitted):
    args = [what, fitted("slm"), *(["towns.csv", "--row", "3"] if what == "explain" else []), "--html", "page.html"]
    process = start(*args, before=STUCK)
    begun(process)
    process.send_signal(signal.SIGTERM)
    assert told(process, 143) == "planewise: terminated; no half-written file was left."
    assert not Path("page.html").exists() and not list(Path().glob("*.part"))


@needs_posix
def test_a_signal_is_heard_where_ctrl_c_is_ignored(fitted, towns):
    """As in the background of a script."""
    model = fitted("slm")
    pl.concat([towns] * 200).write_csv("many.csv")
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    process = start("predict", model, "many.csv", "--out", "p.csv", before=ignoring + SLOW)
    begun(process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert told(process, 143) == "planewise: terminated; no half-written file was left."
    assert not Path("p.csv").exists() and not list(Path().glob("*.part"))


@needs_posix
def test_behind_nohup_a_closed_terminal_ends_nothing(fitted, csv):
    before = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
import planewise.cli._tables as tables
inner = tables.write_chunks
def write_chunks(*args):
    os.kill(os.getpid(), signal.SIGHUP)
    inner(*args)
tables.write_chunks = write_chunks
"""
    assert told(start("predict", fitted("slm"), csv, "--out", "p.csv", before=before), 0) == ""
    assert Path("p.csv").exists()


# Both processes have looked whether the file exists before either writes it.
MEET = """
import sys, time
from pathlib import Path
import planewise.io
inner = planewise.io.save
def save(model, path):
    Path(f"here-{sys.argv[-1]}").touch()
    while len(list(Path().glob("here-*"))) < 2:
        time.sleep(0.01)
    inner(model, path)
planewise.io.save = save
"""


@needs_posix
def test_of_two_fits_with_one_file_one_succeeds(csv):
    args = ["fit", csv, "--target", "class", "--model", "slm", "--out", "m.planewise", "--seed"]
    both = [start(*args, seed, before=MEET) for seed in (1, 2)]
    ends = [(process.communicate(timeout=300)[1].splitlines()[-1], process.returncode) for process in both]
    assert sorted(code for _, code in ends) == [0, 2]
    loser = next(words for words, code in ends if code == 2)
    assert loser == (
        "planewise: 'm.planewise' was written by another process in the meantime; it is kept, and nothing was saved "
        "here."
    )
    winner = next(seed for seed, (_, code) in zip((1, 2), ends, strict=True) if code == 0)
    described = json.loads(command("describe", "m.planewise", "--json").stdout)
    assert described["parameters"]["random_state"] == winner
    assert not list(Path().glob("*.part"))


def test_a_file_system_without_links(run, csv, monkeypatch):
    def no_link(*_, **how):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_link)
    args = ["fit", csv, "--target", "class", "--model", "slm", "--out", "m.planewise"]
    assert run(*args).exit_code == 0
    mistake(run(*args), "'m.planewise' already exists; use --force to replace it.")
    before = Path("m.planewise").read_bytes()
    assert run(*args, "--force", "--seed", 3).exit_code == 0 and Path("m.planewise").read_bytes() != before


@needs_posix
def test_a_full_disk_a_closed_output_and_a_reader_that_goes(fitted, csv):
    model = fitted("slm")
    script = f"""
"$@" predict {model} {csv} --out - > /dev/full; echo $?
"$@" predict {model} {csv} --out - >&-; echo $?
"$@" export {model} --to html --out - | head -c 10 > /dev/null; echo ${{PIPESTATUS[0]}}
"""
    if not Path("/dev/full").exists() or not Path("/bin/bash").exists():
        pytest.skip("needs /dev/full and bash")
    call = ["/bin/bash", "-c", script, "bash", sys.executable, "-c", MAIN]
    done = subprocess.run(call, capture_output=True, text=True, env=clean_environment(), check=False, timeout=300)
    codes = done.stdout.split()
    assert codes[:2] == ["2", "2"] and codes[2] in ("0", "141")  # 0: all of it fitted into the pipe
    assert done.stderr.splitlines() == [
        "planewise: there is no space left; the output is incomplete.",
        "planewise: the standard output is closed, so nothing can be printed.",
    ]


@needs_posix
def test_a_home_that_is_read_only_or_missing_is_not_needed(fitted, csv, tmp_path):
    (tmp_path / "home").mkdir(mode=0o555)
    model = fitted("slm")
    for home in (str(tmp_path / "home"), "/nowhere"):
        done = command("predict", model, csv, "--out", "p.csv", "--force", env=clean_environment(HOME=home))
        assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "home").iterdir())


def test_errors_of_a_command_are_one_line_with_its_exit_code(csv, fitted):
    model = fitted("slm")
    done = run_python("-c", MAIN, "explain", model, csv, "--row", "9999")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    done = run_python("-c", MAIN, "explain", model, csv, "--row", "9999", "--debug")
    assert done.returncode != 0 and "Traceback" in done.stderr
