"""Fits, predictions and files leave no memory and no open file behind."""

from __future__ import annotations

import ctypes
import gc
import io
import os
import sys

import numpy as np
import pytest

import planewise as pw

X = np.random.default_rng(0).normal(size=(120, 4))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
MODELS = {
    "tree": pw.SLMClassifier(random_state=0),
    "forest": pw.SLMForestClassifier(n_estimators=6, random_state=0),
    "boosting": pw.SLMBoostClassifier(n_estimators=6, random_state=0),
    "additive": pw.AdditiveRegressor(n_estimators=6, max_views=2, cv=2, random_state=0),
    "kernel": pw.MCMClassifier(kernel="rbf"),
    "recip": pw.RECIPClassifier(),
}
N_CALLS = 50
FIELDS = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]


class MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]


def held() -> np.ndarray:
    """Return the bytes that malloc has given out, Python's own blocks, and the number of open files."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = MallocInfo
    gc.collect()
    info = mallinfo()
    return np.array([info.uordblks + info.hblkhd, sys.getallocatedblocks(), len(os.listdir("/proc/self/fd"))])


def growth(action) -> np.ndarray:
    """Return the least growth of three series of calls: what leaks grows in each of them, what is noise does not."""
    for _ in range(N_CALLS):
        action()
    series = []
    for _ in range(3):
        before = held()
        for _ in range(N_CALLS):
            action()
        series.append(held() - before)
    return np.min(series, axis=0)


def has_leak(grown: np.ndarray) -> bool:
    """Return whether each call left at least the smallest block of either allocator, or any call an open file."""
    n_bytes, n_blocks, n_files = grown
    return n_bytes >= 32 * N_CALLS or n_blocks >= N_CALLS or n_files > 0


has_mallinfo = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")
needs_glibc = pytest.mark.skipif(not has_mallinfo, reason="glibc tells what malloc holds")


@needs_glibc
@pytest.mark.parametrize("name", MODELS)
def test_fits_predictions_and_files_leave_nothing_behind(name):
    def use():
        file = io.BytesIO()
        pw.save(MODELS[name].fit(X, y), file)
        file.seek(0)
        pw.load(file).predict(X)

    assert not has_leak(growth(use))


@needs_glibc
def test_a_leak_of_the_smallest_block_is_found():
    malloc = ctypes.CDLL(None).malloc
    assert has_leak(growth(lambda: malloc(1)))
