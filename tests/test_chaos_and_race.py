"""Kills, forks and signals: short versions of `make chaos` and `make race`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clean_shell import run_python

TOOLS = Path(__file__).resolve().parent.parent / "tools"
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not (TOOLS / "chaos.py").exists(),
    reason="forks and kills processes; the tools are in the repository",
)


def tool(*args: str) -> subprocess.CompletedProcess:
    return run_python(str(TOOLS / args[0]), *args[1:], timeout=300)


@pytest.mark.parametrize("trial", ["save", "review"])
def test_nothing_is_lost(trial):
    pytest.importorskip("uvicorn")
    done = tool("chaos.py", "--moments", "2", "--only", trial)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("Nothing was lost.\n")


@pytest.mark.parametrize("trial", ["threads", "fork", "pool", "terminate"])
def test_forks_and_signals_in_the_midst_of_fits(trial):
    done = tool("race.py", "--rounds", "1", "--only", trial)
    assert done.returncode == 0, done.stdout + done.stderr


def broken_chaos(change: str, *args: str) -> str:
    """What chaos.py prints with something changed in it, which it must find."""
    code = f"""
import os, sys; sys.path.insert(0, {str(TOOLS)!r}); sys.argv = ["chaos.py", *{args!r}]
import chaos
{change}
sys.exit(chaos.main())
"""
    done = run_python("-c", code, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_losses_and_trials_that_die_or_do_too_little_are_counted_and_fail():
    change = """
chaos.TRIALS["save"] = lambda trial: iter([(0.15, "whole"), (0.95, chaos.LOST + "half a file")])
chaos.TRIALS["predict"] = lambda trial: os._exit(0)
chaos.TRIALS["serve"] = lambda trial: iter([(0.5, "whole")])
"""
    said = broken_chaos(change, "--only", "save", "--only", "predict", "--only", "serve", "--moments", "2")
    assert "       1    .   1   .   .   .   .   .   .   .   .  whole\n" in said
    assert "       1    .   .   .   .   .   .   .   .   .   1  LOST: half a file\n" in said
    assert "LOST: the trial died with exit code 0\n" in said
    assert "LOST: 1 outcomes instead of 2\n" in said
    assert said.endswith("4 LOST\n")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("small_models.ROWS = 120; race.threads(1)", "tree: a fit with n_jobs=3 starts no threads"),
        ("race.LATENCY = 0.0; race.interrupt(1)", "tree: interrupted"),
        ("small_models.fit = None; race.shutdown(1)", "no longer fitting: forest"),
    ],
)
def test_trials_that_try_nothing_or_find_something_fail(change, words):
    code = f"import sys; sys.path.insert(0, {str(TOOLS)!r}); import race, small_models; {change}"
    done = run_python("-c", code, timeout=300)
    assert done.returncode == 1 and f"AssertionError: {words}" in done.stderr
