"""The page on reliability names tests and commands that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "tools" / "reliability.py").is_file():
    pytest.skip("the page is in the checkout", allow_module_level=True)
sys.path.insert(0, str(ROOT / "tools"))

from reliability import PAGE, named_tests  # noqa: E402


def test_every_test_that_the_page_names_is_there():
    named = named_tests()
    assert len(named) > 20
    for each in named:
        file, _, function = each.partition("::")
        assert (ROOT / file).is_file(), file
        assert not function or f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), each


def test_every_command_that_the_page_names_is_a_target():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = set(re.findall(r"`make ([\w-]+)", PAGE.read_text(encoding="utf-8")))
    assert {"fuzz", "soak", "chaos", "race"} <= named <= targets
