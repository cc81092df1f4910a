"""What is done again and again does not pile up: a short version of `make soak`, and its own eye for leaks."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not (TOOLS / "soak.py").exists(), reason="reads /proc; the tools are in the repository"
)


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import soak

    monkeypatch.setattr(soak, "WARM_UP_CALLS", 100)
    return soak


@pytest.mark.parametrize("name", ["tree", "boosting-numbers", "feature-test"])
def test_fits_and_predictions_leave_nothing_behind(soak, name):
    from small_models import MAKERS, answer, fit

    assert soak.repeated(name, lambda: answer(fit(MAKERS[name]())), 120).wrong() == []


def test_a_leak_of_python_objects_is_found(soak):
    kept = []
    found = soak.repeated("a leak", lambda: kept.append({len(kept): 0}), 2_000).wrong()
    assert any("Python objects grew" in words for words in found)


def test_a_leak_of_memory_is_found(soak):
    kept = []
    found = soak.repeated("a leak", lambda: kept.append(bytes(5_000)), 2_000).wrong()
    assert any(words.startswith("the heap grew") for words in found)


def test_a_leak_of_the_smallest_block_of_malloc_is_found(soak):
    malloc = ctypes.CDLL(None).malloc
    found = soak.repeated("a leak", lambda: malloc(1), 1_000).wrong()  # 32 bytes per call, never freed
    assert any(words.startswith("the heap grew") for words in found)


def test_a_leak_of_memory_outside_the_heap_is_found(soak):
    kept = []

    def leak():
        kept.append(mmap.mmap(-1, 1 << 14))
        kept[-1][::4096] = b"abcd"  # pages that nobody writes to take no memory

    found = soak.repeated("a leak", leak, 600).wrong()
    for each in kept:
        each.close()
    assert any(words.startswith("memory grew") for words in found)


def test_files_that_stay_open_are_found(soak):
    kept = []
    try:
        found = soak.repeated("files", lambda: kept.append(os.open(__file__, os.O_RDONLY)), 60).wrong()
    finally:
        for handle in kept:
            os.close(handle)
    assert any("more open files" in words for words in found)
