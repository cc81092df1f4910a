from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from clean_shell import enter_clean_shell
from planewise.cli import main


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Every test runs in a folder of its own, in a terminal of usual width."""
    monkeypatch.chdir(tmp_path)
    enter_clean_shell(monkeypatch, COLUMNS="120")


@pytest.fixture(scope="session")
def towns():
    """Numbers with gaps, words, booleans, an identifier, free text, a constant, and a target of words."""
    rng = np.random.default_rng(0)
    n = 240
    size, town = rng.normal(50, 10, n).round(2), rng.choice(["Bonn", "Köln", "Ulm"], n)
    new = rng.random(n) < 0.4
    price = size * 2 + 30 * (town == "Köln") + 15 * new + rng.normal(0, 4, n)
    return pl.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "size": [None if k % 13 == 0 else value for k, value in enumerate(size.tolist())],
            "town": [None if k % 29 == 0 else value for k, value in enumerate(town.tolist())],
            "new": new,
            "rooms": rng.integers(1, 6, n),
            "note": [f'line {k}, with a comma and a "quote"\nand a break' for k in range(n)],
            "country": ["DE"] * n,
            "price": price.round(2),
            "class": np.where(price > 120, "dear", "cheap"),
        }
    )


@pytest.fixture
def csv(towns):
    towns.write_csv("towns.csv")
    return "towns.csv"


@pytest.fixture
def run():
    """Run the command; the result has ``exit_code``, ``stdout`` and ``stderr``."""

    def call(*args):
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]), pytest.raises(SystemExit) as end:
            main([str(arg) for arg in args])
        for stream in streams:
            stream.flush()
        stdout, stderr = (stream.buffer.getvalue().decode() for stream in streams)
        return SimpleNamespace(exit_code=end.value.code or 0, stdout=stdout, stderr=stderr, output=stdout + stderr)

    return call


@pytest.fixture(scope="session")
def models():
    """The model files of all tests, by what was asked: each is fitted once."""
    return {}


@pytest.fixture
def fitted(csv, run, models):
    """A function that fits and returns the model's file."""

    def fit(family="tree", target="class", *more):
        path = f"{family}.planewise"
        if (family, target, more) in models:
            Path(path).write_bytes(models[family, target, more])
            return path
        done = run(
            "fit",
            csv,
            "--target",
            target,
            "--model",
            family,
            "--out",
            path,
            "--drop",
            "price" if target == "class" else "class",
            *more,
        )
        assert done.exit_code == 0, done.stderr
        models[family, target, more] = Path(path).read_bytes()
        return path

    return fit
