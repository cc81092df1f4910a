"""planewise beside other packages. ``make test-toolchain`` installs them; a package that is missing there is an error.

Every test in this folder carries the mark `toolchain`. Without ``-m toolchain`` the folder is not even imported.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "store"))  # the catalogue of fitted models


def pytest_ignore_collect(collection_path, config):
    return None if config.getoption("markexpr") == "toolchain" else True


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.toolchain)


@pytest.fixture(autouse=True)
def no_windows(monkeypatch, tmp_path):
    """Files go to a folder of their own, pictures go nowhere, and none stays open."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
