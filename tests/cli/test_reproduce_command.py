"""``planewise reproduce`` finds the checkout, or says that it needs one."""

from __future__ import annotations

from pathlib import Path

from planewise.cli import _reproduce

CHECKOUT = Path(__file__).resolve().parents[2]


def test_in_a_checkout_it_lists_what_there_is(run, monkeypatch):
    monkeypatch.chdir(CHECKOUT / "docs")
    done = run("reproduce")
    assert done.exit_code == 0 and "slm-table-1 " in done.stdout and "planewise reproduce slm-table-1" in done.stdout


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


def test_help_is_the_runners(run, monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    done = run("reproduce", "--help")
    assert done.exit_code == 0 and "--quick" in done.stdout and "--jobs" in done.stdout


def test_without_a_checkout_it_says_how_to_get_one(run, monkeypatch, tmp_path):
    monkeypatch.setattr(_reproduce, "__file__", str(tmp_path / "site-packages" / "_reproduce.py"))
    done = run("reproduce", "slm-table-1")
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("planewise: the papers' tables are run by benchmarks/reproduce")
    assert "git clone" in done.stderr
