"""Inputs that the fuzzer found worth keeping still end as they may: in a documented error or an answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
if not (ROOT / "tools" / "fuzz").is_dir():
    pytest.skip("the fuzzer is in the checkout", allow_module_level=True)
sys.path.insert(0, str(ROOT / "tools" / "fuzz"))

from target import CORPUS, NAMES, kept, target  # noqa: E402


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_kept_inputs_end_as_they_may(name):
    inputs = kept(name)
    assert inputs
    for place, content in inputs.items():
        assert target(name).case(content) in target(name).OUTCOMES, place


def test_kept_inputs_are_small():
    assert sum(path.stat().st_size for path in CORPUS.glob("*.zip")) < 300_000
