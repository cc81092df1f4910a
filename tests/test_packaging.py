"""The version and the names of the authors are the same wherever they are written."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

import yaml

import planewise as pw

ROOT = Path(__file__).resolve().parents[1]


def test_the_version_is_written_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"]
    assert importlib.metadata.version("planewise") == pw.__version__


def test_the_citation_names_the_holders_of_the_licence():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert [author["name"].lower() for author in citation["authors"]] == ["the planewise developers"]
    assert "the planewise developers" in (ROOT / "LICENSE").read_text(encoding="utf-8")
