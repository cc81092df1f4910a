"""A part of `make same-bytes`: conditions that need no build, and few families."""

from __future__ import annotations

import functools
import importlib.util
import platform
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools" / "same_bytes.py"


@pytest.fixture(scope="module")
def same_bytes():
    spec = importlib.util.spec_from_file_location("same_bytes", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["same_bytes"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["same_bytes"]


@pytest.fixture(scope="module")
def usual(same_bytes):
    """The digests of one thread, by what the names of families hold."""
    return functools.cache(lambda only: same_bytes.under(same_bytes.Condition("one thread"), only))


@pytest.mark.parametrize("only", ["boosting, numbers", "machine, conformal"])
def test_threads_and_the_seed_of_hashes_change_no_byte(same_bytes, usual, only):
    environment = {"PYTHONHASHSEED": "1", "OPENBLAS_NUM_THREADS": "2"}
    other = same_bytes.Condition("others", environment, n_jobs=3)
    found = same_bytes.under(other, only)
    assert other.differences(usual(only), found) == ([], [])
    assert other.without_threads(found) == []


@pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="the variables are those of Linux on x86-64"
)
@pytest.mark.parametrize("only", ["boosting, c", "RECIP of classes"])
def test_other_libraries_on_other_processors_change_no_file_class_number_or_score(same_bytes, usual, only):
    environment = {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": list(same_bytes.numpy_features().values() or [""])[-1],
    }
    other = same_bytes.Condition("another processor", environment, is_processor=True)
    broken, _ = other.differences(usual(only), same_bytes.under(other, only))
    assert broken == []


def test_a_difference_counts_only_where_the_same_is_promised(same_bytes):
    one = same_bytes.Found("a", "b", "c", 0.0)
    before = {"tree": one, "machine": one}
    now = {"tree": one._replace(exponentials="d"), "machine": one._replace(file="d")}
    threads, processor = same_bytes.Condition("threads"), same_bytes.Condition("processor", is_processor=True)
    assert threads.differences(before, now) == (["tree (exponentials)", "machine (file)"], [])
    assert processor.differences(before, now) == ([], ["tree (exponentials)", "machine (file)"])
    for what in ("file", "answers"):
        other = before | {"tree": one._replace(**{what: "d"})}
        assert processor.differences(before, other) == ([f"tree ({what})"], [])


def test_a_family_that_starts_no_threads_is_named(same_bytes):
    idle, busy = (same_bytes.Found("a", "b", "c", seconds) for seconds in (1e-5, 1e-2))
    found = {"tree": idle, "forest": busy, "machine": idle}
    assert same_bytes.Condition("threads", n_jobs=2).without_threads(found) == ["tree"]
    assert same_bytes.Condition("one thread").without_threads(found) == []


def test_tables_too_small_for_threads_are_noticed(same_bytes, monkeypatch):
    monkeypatch.setattr(same_bytes, "N_ROWS", 700)
    fit = same_bytes.families()["boosting, numbers"]
    # The least of several: threads that are not of the fit, such as those of pytest's workers, seldom have work to do.
    assert min(same_bytes.seconds_of_others(fit, 3)[2] for _ in range(5)) < same_bytes.LEAST_SECONDS


def test_probabilities_and_counts_are_told_from_scores(same_bytes):
    fits = same_bytes.families()
    nothing = same_bytes.hashlib.sha256().hexdigest()
    _, answers, exponentials = same_bytes.digests(*fits["boosting, counts"](1))
    assert answers == nothing != exponentials
    _, answers, exponentials = same_bytes.digests(*fits["boosting, numbers"](1))
    assert answers != nothing == exponentials


@pytest.mark.parametrize(("option", "kind"), [("--conditions", "condition"), ("--only", "family")])
def test_names_that_mean_nothing_are_refused(same_bytes, monkeypatch, capsys, option, kind):
    monkeypatch.setattr(sys, "argv", ["same_bytes.py", "--no-builds", option, "2 treads"])
    with pytest.raises(SystemExit, match="2"):
        same_bytes.main()
    assert f"no {kind} is called '2 treads'; there are: " in capsys.readouterr().err


def test_no_condition_repeats_the_usual_one(same_bytes):
    usual = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    for each in same_bytes.conditions():
        changed = {name: value for name, value in each.environment.items() if usual.get(name) != value}
        assert changed or each.n_jobs > 1 or each.arguments or each.compiler, each.name
