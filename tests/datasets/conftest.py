from __future__ import annotations

import csv
import urllib.request
from pathlib import Path

import pytest

from planewise.datasets import _sources


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Every test starts with no data directory, an empty cache and no network."""

    def refuse(*args, **kwargs):
        raise AssertionError("a test tried to use the network")

    monkeypatch.delenv("PLANEWISE_DATA", raising=False)
    monkeypatch.setenv("PLANEWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_sources, "fetch_openml", refuse)
    monkeypatch.setattr(_sources, "fetch_california_housing", refuse)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)


@pytest.fixture
def cache(tmp_path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def data_home(tmp_path):
    """Return a function that writes tables to a data directory and returns its path."""
    polars = pytest.importorskip("polars")

    def write(**tables) -> Path:
        home = tmp_path / "home"
        home.mkdir()
        with (home / "index.csv").open("w", newline="", encoding="utf-8") as lines:
            writer = csv.writer(lines)
            writer.writerow(["name", "file", "rows"])
            for name, table in tables.items():
                frame = polars.DataFrame(table)
                frame.write_parquet(home / f"{name}_v1.parquet")
                writer.writerow([name, f"{name}_v1.parquet", len(frame)])
        return home

    return write
