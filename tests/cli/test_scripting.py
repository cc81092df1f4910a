"""Options for scripts: --quiet, --log, the file of options, completion, help; and JSON for programs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_mistakes import mistake

from clean_shell import clean_environment, run_python
from planewise.cli import _everywhere
from planewise.cli._app import app

FAMILIES = ["slm", "forest", "boost", "mcm", "views", "recip"]
MAIN = "from planewise.cli import main; main()"


def lines_of_log(path="run.log"):
    """The lines without their time stamps, which must be there."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d ", line) for line in lines)
    return [line.split(" ", 1)[1] for line in lines]


@pytest.mark.parametrize("place", [0, 1, 3])
def test_quiet_may_stand_anywhere_and_leaves_results_and_errors(place, csv, run, fitted):
    model = fitted("slm")

    def quietly(*args):
        return run(*args[:place], "--quiet", *args[place:])

    done = quietly("fit", csv, "--target", "class", "--model", "slm", "--out", "q.planewise")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "") and Path("q.planewise").exists()
    done = quietly("predict", model, csv, "--out", "p.csv")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    done = quietly("export", model, "--to", "c", "--out", "m.h")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert quietly("describe", model, "--json").stdout == run("describe", model, "--json").stdout
    mistake(quietly("describe", "nowhere", "--json"), "there is no file 'nowhere'")
    for each in ("q.planewise", "p.csv", "m.h"):
        Path(each).unlink()


def test_the_log_is_appended_to_and_says_what_was_done(csv, run):
    run("--log", "run.log", "fit", csv, "--target", "class", "--model", "slm", "--out", "m.planewise")
    mistake(run("describe", "nowhere", "--log=run.log"), "there is no file 'nowhere'")
    lines = lines_of_log()
    assert lines[0] == ("info planewise --log run.log fit towns.csv --target class --model slm --out m.planewise")
    assert lines[1] == "info reading towns.csv" and lines[2].startswith("info fitting one tree")
    assert lines[-3:-1] == ["info planewise describe nowhere --log=run.log", "error there is no file 'nowhere'."]
    ends = [line for line in lines if line.startswith("info ended")]
    assert ends[0].startswith("info ended with exit code 0 after") and "exit code 2" in ends[1]


def test_the_log_keeps_what_fit_found(run):
    rows = "".join(f"{k};{k % 7},5;{'ab'[k % 2]};same\n" for k in range(60))
    Path("t.csv").write_text("n;x;kind;where\n" + rows)
    told = run("fit", "t.csv", "--target", "kind", "--model", "slm", "--out", "m.planewise", "--log", "run.log").stdout
    lines = lines_of_log()
    assert any(line.startswith("info read t.csv: ") and "semicolon" in line for line in lines)
    assert any(line.startswith("info left out where: ") for line in lines)
    assert any(line.startswith("info quality on 12 held-out rows: accuracy ") for line in lines)
    for name in ("left out n: ", "left out where: "):
        words = next(line for line in told.splitlines() if line.startswith(name)).partition(" (")[0]
        assert any(line.startswith(f"info {words}") for line in lines)


def test_quiet_prints_the_quality_if_no_file_keeps_it(csv, run):
    done = run("fit", csv, "--target", "class", "--model", "slm", "--quiet")
    assert done.exit_code == 0 and done.stderr == ""
    assert done.stdout.strip().startswith("quality on 48 held-out rows") and "accuracy" in done.stdout
    assert "leading features" not in done.stdout


def test_fit_says_first_that_a_model_is_no_better_than_the_mean(run):
    rng = np.random.default_rng(0)
    pl.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200), "Revenue": rng.normal(size=200)}).write_csv(
        "noise.csv"
    )
    done = run("fit", "noise.csv", "--target", "Revenue", "--model", "slm")
    assert "The model is no better than the mean of 'Revenue' on these rows: its RMSE is " in done.stdout
    assert "ridge regression is as good" not in done.stdout
    found = json.loads(run("fit", "noise.csv", "--target", "Revenue", "--model", "slm", "--json").stdout)["constant"]
    assert found["is_as_good"] and found["words"] in done.stdout


def test_warnings_in_the_log(run, monkeypatch):
    def warn(*_):
        warnings.warn("something\nodd", UserWarning, stacklevel=1)
        raise ValueError("and wrong")

    monkeypatch.setattr("planewise.cli._tables.load_table_model", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = run("predict", "m", "t.csv", "--log", "run.log", "--quiet")
    mistake(done, "and wrong")
    lines = lines_of_log()
    assert lines[0] == "info planewise predict m t.csv --log run.log --quiet"
    assert lines[1:3] == ["warning UserWarning: something odd", "error and wrong"]


def test_a_file_that_is_no_log_is_not_appended_to(csv, run):
    before = Path(csv).read_bytes()
    mistake(run("describe", "m", "--log", csv), "--log 'towns.csv': the file exists and is not a log of planewise.")
    assert Path(csv).read_bytes() == before
    mistake(run("describe", "m", "--log", "no/where.log"), "--log 'no/where.log' cannot be written: No such file")
    mistake(run("describe", "m", "--log"), "--log needs the name of a file.")


@pytest.fixture
def config():
    """A function that writes planewise.toml."""

    def write(text, path="planewise.toml"):
        Path(path).write_text(text, encoding="utf-8")
        return path

    return write


def test_options_come_from_the_file_and_the_command_line_wins(csv, run, config):
    config(
        'seed = 5\n[fit]\ntarget = "class"\nmodel = "slm"\nset = ["max_depth=2", "max_planes=1"]\ndrop = ["price"]\n'
    )
    done = run("fit", csv, "--out", "m.planewise", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["model"] == "slm"
    assert done.stderr == (
        "planewise: planewise.toml: --target class --model slm --set max_depth=2 --set max_planes=1 --drop price "
        "--seed 5\n"
    )
    described = json.loads(run("describe", "m.planewise", "--json").stdout)
    assert described["parameters"] == {"max_depth": 2, "max_planes": 1, "random_state": 5}
    done = run("fit", csv, "--set", "max_depth=3", "--seed", "6", "--out", "n.planewise", "--json", "--quiet")
    assert done.stderr == ""
    described = json.loads(run("describe", "n.planewise", "--json").stdout)
    assert described["parameters"] == {"max_depth": 3, "random_state": 6}


def test_where_the_file_is(fitted, run, config, monkeypatch):
    model = fitted("slm")
    config("json = true\n", "other.toml")
    done = run("describe", model, "--config", "other.toml")
    assert json.loads(done.stdout)["target"] == "class" and done.stderr == "planewise: other.toml: --json\n"
    monkeypatch.setenv("PLANEWISE_CONFIG", "other.toml")
    assert json.loads(run("describe", model).stdout)["target"] == "class"
    config("", "empty.toml")
    assert run("describe", model, "--config", "empty.toml").stdout.startswith("model ")
    monkeypatch.setenv("PLANEWISE_CONFIG", "missing.toml")
    mistake(run("describe", model), "PLANEWISE_CONFIG: there is no file 'missing.toml'.")
    mistake(run("describe", model, "--config", "lost.toml"), "--config: there is no file 'lost.toml'.")


def test_options_of_all_commands_in_the_file(fitted, run, config):
    model = fitted("slm")
    config('quiet = true\nlog = "run.log"\nforce = true\n')
    Path("p.csv").write_text("old")
    done = run("predict", model, "towns.csv", "--out", "p.csv")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert "warning planewise.toml: --force" in lines_of_log()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("test_size = 0.3", "planewise.toml: no command has an option 'test_size'; did you mean 'test-size'?"),
        ("[fit]\nmodle = 'slm'", "planewise.toml: planewise fit has no option 'modle'; did you mean 'model'?"),
        ("[describe]\ntarget = 'x'", "planewise.toml: planewise describe has no option 'target'"),
        ("[fti]\nmodel = 'slm'", "planewise.toml: [fti] is not a command; did you mean [fit]?"),
        ("[fit]\nquiet = true", "planewise.toml: 'quiet' is for all commands: write it above the table [fit]."),
        ("[fit]\nset = 'a=1'", "planewise.toml: 'fit.set' needs a list such as"),
        ("[fit]\nforce = 1", "planewise.toml: 'fit.force' needs true or false; got 1."),
        ("[fit]\nmodel = ['slm']", "planewise.toml: 'fit.model' needs text in quotes or a number; got ['slm']."),
        ("quiet = 'yes'", "planewise.toml: 'quiet' needs true or false; got 'yes'."),
        ("config = 'x'", "planewise.toml: no command has an option 'config'"),
        ("a = ", "planewise.toml is not TOML: Invalid value (at"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_name(text, message, run, config):
    config(text)
    mistake(run("fit", "towns.csv", "--target", "class"), message)
    assert run("--version").exit_code == run("--help").exit_code == 0


def test_a_wrong_value_in_the_file_is_told_with_its_name(csv, run, config):
    config("[fit]\nmodel = 'tree'\n")
    mistake(run("fit", csv, "--target", "class"), "planewise.toml: Invalid value for '--model': 'tree' is not one of")
    done = run("fit", csv, "--target", "class", "--model", "bush")
    mistake(done, "planewise: Invalid value for '--model': 'bush' is not one of")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["fit", "t.csv"], "Missing option '--target'; see planewise fit --help."),
        (
            ["fit", "t.csv", "--target", "y", "--model", "tree"],
            "Invalid value for '--model': 'tree' is not one of 'auto'",
        ),
        (["fit", "t.csv", "--target", "y", "--seed", "x"], "Invalid value for '--seed': "),
        (["fit", "t.csv", "--target", "y", "--test-size", "2"], "Invalid value for '--test-size': "),
        (["fit", "t.csv", "--tagret", "y"], "No such option: --tagret"),
        (["fit", "t.csv", "--target"], "Option '--target' requires an argument"),
        (["describe", "m", "more"], "Got unexpected extra argument"),
        (["predict", "m"], "Missing argument 'table'; see planewise predict --help."),
        (["explian"], "No such command 'explian'"),
        (["--nothing"], "No such option: --nothing"),
        (["--show-completion", "tcsh"], "Invalid value for '--show-completion': 'tcsh' is not one of"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(args, message, run):
    done = run(*args)
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith(f"planewise: {message}") and done.stderr.count("\n") == 1


def test_h_is_help_everywhere_and_flags_are_flags(run):
    names = ["demo", "fit", "predict", "describe", "explain", "export"]
    for name in names:
        short, long = run(name, "-h"), run(name, "--help")
        assert short.exit_code == long.exit_code == 0 and short.stdout == long.stdout
        assert "<bool>" not in long.stdout and "--quiet" in long.stdout
    assert re.search(r"--force +Overwrite the --out file if it exists\.", run("predict", "-h").stdout)
    whole = run("-h").stdout
    assert "Exit codes: 0 success, 2 an error" in whole and "143 terminated" in whole
    assert set(names) == set(re.findall(r"│ (\w+) ", whole))


def keys(value):
    """All keys of a JSON document, but not those of dicts whose keys are names of the user's data."""
    if isinstance(value, list):
        return {key for each in value for key in keys(each)}
    if not isinstance(value, dict):
        return set()
    data = ("probability", "leading_features", "versions", "counts", "categories")
    return set(value) | {key for name, each in value.items() if name not in data for key in keys(each)}


@pytest.mark.parametrize("family", FAMILIES)
def test_keys_of_json_are_snake_case(family, csv, run, fitted):
    model = fitted(family)
    commands = [
        ["describe", model],
        ["explain", model, csv, "--row", 3],
        ["predict", model, csv, "--out", "p.csv"],
        ["export", model, "--to", "text", "--out", "m.txt"],
        ["fit", csv, "--target", "class", "--model", family, "--drop", "price"],
    ]
    for command in commands:
        done = run(*command, "--json")
        assert done.exit_code == 0, done.stderr
        odd = {key for key in keys(json.loads(done.stdout)) if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", key)}
        assert not odd


def test_compact_c(run, fitted):
    model = fitted("boost")
    for more, path in (([], "exact.h"), (["--compact"], "compact.h")):
        assert run("export", model, "--to", "c", "--out", path, *more).exit_code == 0

    def table_bytes(path):
        return int(re.search(r"Tables: (\d+) bytes", Path(path).read_text()).group(1))

    assert table_bytes("compact.h") < table_bytes("exact.h")
    for to in ("onnx", "text", "html"):
        mistake(
            run("export", model, "--to", to, "--compact", "--out", "x"), f"--compact is for --to c, not for --to {to}."
        )


@pytest.mark.skipif(os.name != "posix", reason="shells of POSIX")
class TestCompletion:
    def asked(self, *words):
        """What bash would offer after these words."""
        env = clean_environment(
            _PLANEWISE_COMPLETE="complete_bash", COMP_WORDS="\n".join(["planewise", *words]), COMP_CWORD=str(len(words))
        )
        done = run_python("-c", MAIN, env=env)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return done.stdout.split()

    def test_commands_options_and_values_are_offered(self):
        assert self.asked("ex") == ["explain", "export"]
        assert self.asked("fit", "--t") == ["--target", "--task", "--test-size", "--time"]
        assert {"--quiet", "--log", "--config", "--debug", "--force"} < set(self.asked("predict", "--"))
        assert self.asked("export", "--to", "") == ["c", "onnx", "text", "html"]

    def test_the_script_works_in_a_clean_shell(self, tmp_path):
        bash = Path("/bin/bash")
        if not bash.exists():
            pytest.skip("no bash")
        (tmp_path / "planewise").write_text(f"#!/bin/sh\nexec {sys.executable} -c '{MAIN}' \"$@\"\n")
        (tmp_path / "planewise").chmod(0o755)
        script = (
            'eval "$(planewise --show-completion bash)"; COMP_WORDS=(planewise fit --ta); COMP_CWORD=2; '
            '_planewise_completion planewise; echo "${COMPREPLY[@]}"'
        )
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
        done = subprocess.run([bash, "--norc", "-c", script], capture_output=True, text=True, env=env, check=True)
        assert done.stdout.split() == ["--target", "--task"], done.stderr

    @pytest.mark.parametrize(
        ("shell", "file"),
        [
            ("bash", ".local/share/bash-completion/completions/planewise"),
            ("zsh", ".zfunc/_planewise"),
            ("fish", ".config/fish/completions/planewise.fish"),
        ],
    )
    def test_only_the_file_that_is_told_is_written(self, shell, file, run, tmp_path, monkeypatch):
        home = tmp_path / "home"
        home.mkdir()
        monkeypatch.setenv("HOME", str(home))
        done = run("--install-completion", shell)
        assert done.exit_code == 0 and done.stdout.startswith(f"wrote {home / file}\n")
        assert [path for path in home.rglob("*") if path.is_file()] == [home / file]
        assert (home / file).read_text() == run("--show-completion", shell).stdout

    def test_a_home_that_cannot_be_written(self, run, tmp_path, monkeypatch):
        (tmp_path / "home").write_text("a file")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        done = run("--install-completion", "bash")
        assert done.exit_code == 2 and done.stderr.count("\n") == 1 and "nothing was installed" in done.stderr


def test_every_command_has_the_options_of_all_commands():
    from typer.main import get_command

    for name, command in get_command(app).commands.items():
        taken = {each.name for each in command.params}
        assert not taken & set(_everywhere.ANYWHERE), name
