"""``planewise reproduce`` runs the code of its own checkout or of a named one, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clean_shell import run_python, small_files
from planewise.cli import _reproduce

CHECKOUT = Path(__file__).resolve().parents[2]
in_checkout = pytest.mark.skipif(
    not Path(_reproduce.__file__).resolve().is_relative_to(CHECKOUT / "src"),
    reason="the installed package is tested, which is not in a checkout",
)


@in_checkout
def test_in_a_checkout_it_lists_what_there_is(run, monkeypatch):
    monkeypatch.chdir(CHECKOUT / "docs")
    done = run("reproduce")
    assert done.exit_code == 0 and "slm-table-1 " in done.stdout and "planewise reproduce slm-table-1" in done.stdout


@in_checkout
def test_options_and_exit_codes_are_those_of_the_runner(run, monkeypatch, tmp_path):
    monkeypatch.chdir(CHECKOUT)
    done = run("reproduce", "mcm-table-1", "--show", "--cells", tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == 0 and "MCM, Table 1" in done.stdout and "0 of 26 cells finished" in done.stdout
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".md", ".json", ".html"}
    for words, named in ((["slm-table-9"], "there is no 'slm-table-9'"), (["--nothing"], "--nothing")):
        wrong = run("reproduce", *words)
        assert wrong.exit_code == 2 and wrong.stdout == ""
        assert wrong.stderr.startswith("planewise reproduce: ") and named in wrong.stderr
        assert wrong.stderr.count("\n") == 1


@in_checkout
def test_help_is_the_runners(run, monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    done = run("reproduce", "--help")
    assert done.exit_code == 0 and "--quick" in done.stdout and "--jobs" in done.stdout


INSTALLED = "from planewise.cli import _reproduce; _reproduce.__file__ = {file!r}\n"
MAIN = "from planewise.cli import main; main()"


@pytest.fixture
def planted(tmp_path):
    """A folder with somebody's benchmarks/reproduce, which leaves a file when it is imported."""
    package = tmp_path / "planted" / "benchmarks" / "reproduce"
    package.mkdir(parents=True)
    for init in (package.parent, package):
        (init / "__init__.py").touch()
    (package / "__main__.py").write_text(
        f"open({str(tmp_path / 'was-run')!r}, 'w').close()\ndef main(args, command):\n    print('planted', args)\n"
        "    return 0\n"
    )
    return package.parents[1]


def reproduce(folder, *args, installed=True):
    """The command in a new interpreter, in that folder; `installed`: the package is not in a checkout."""
    file = folder / ".venv" / "lib" / "python3" / "site-packages" / "planewise" / "cli" / "_reproduce.py"
    code = (INSTALLED.format(file=str(file)) if installed else "") + MAIN
    return subprocess.run([sys.executable, "-c", code, "reproduce", *args], cwd=folder, capture_output=True, text=True)


def test_code_around_the_working_directory_is_not_run(planted, tmp_path):
    inside = planted / "deep" / "inside"
    inside.mkdir(parents=True)
    refused = reproduce(inside)
    assert refused.returncode == 2 and refused.stdout == ""
    assert not (tmp_path / "was-run").exists()


@in_checkout
def test_a_checkout_runs_its_own_code_wherever_it_is_called(planted, tmp_path):
    own = reproduce(planted, installed=False)
    assert own.returncode == 0 and "slm-table-1 " in own.stdout
    assert not (tmp_path / "was-run").exists()


def test_code_of_a_named_checkout_is_run(planted):
    done = reproduce(planted.parent, "a-table", "--quick", "--checkout", "planted")
    assert done.stdout == "planted ['a-table', '--quick']\n"


def test_a_named_folder_that_is_no_checkout_is_a_mistake(run, tmp_path):
    done = run("reproduce", "--checkout", tmp_path)
    assert done.exit_code == 2
    assert f"--checkout: {str(tmp_path)!r} is not a planewise checkout: it has no benchmarks/reproduce" in done.stderr


def test_without_a_checkout_it_says_how_to_get_one(run, monkeypatch, tmp_path):
    monkeypatch.setattr(_reproduce, "__file__", str(tmp_path / "site-packages" / "planewise" / "cli" / "_reproduce.py"))
    done = run("reproduce", "slm-table-1")
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("planewise: this needs benchmarks/reproduce")
    assert "clone the planewise repository" in done.stderr and "--checkout" in done.stderr


@in_checkout
@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
def test_on_a_full_disk_the_tables_of_before_stay_whole(tmp_path):
    show = ["reproduce", "mcm-table-1", "--show", "--cells", str(tmp_path), "--out", str(tmp_path / "out")]
    assert run_python("-c", MAIN, *show).returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    full = run_python("-c", small_files(100) + MAIN, *show)
    assert full.returncode == 2 and full.stderr == "planewise: there is no space left; existing files are unchanged.\n"
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
