"""Fits, predictions and files leave no memory and no open file behind."""

from __future__ import annotations

import ctypes
import gc
import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import planewise as pw
from clean_shell import clean_environment, run_python

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
SMALLEST_BLOCK = 32  # bytes, of malloc, which reuses some that were freed
N_CALLS = 50
N_PREPARING = 500  # calls in which Python itself still fills its caches
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


def leaks(action) -> bool:
    """Return whether calls keep leaving memory or open files behind; caches that still fill up come to an end."""
    for _ in range(N_PREPARING):
        action()
    return all(grows(action) for _ in range(5))


def grows(action) -> bool:
    """Return whether the median of nine series of calls grew."""
    series = []
    for _ in range(9):
        before = held()
        for _ in range(N_CALLS):
            action()
        series.append(held() - before)
    n_bytes, n_blocks, n_files = np.median(series, axis=0)
    return bool(n_bytes >= SMALLEST_BLOCK * N_CALLS / 2 or n_blocks >= N_CALLS or n_files > 0)


# In a process of its own: threads of other tests would allocate in between.
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc what malloc holds")
@pytest.mark.parametrize("name", MODELS)
def test_fits_predictions_and_files_leave_nothing_behind(name):
    done = run_python(__file__, name, env=clean_environment(PYTHONPATH=str(Path(__file__).parent)))
    assert (done.returncode, done.stdout) == (0, "no leak\n"), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc what malloc holds")
def test_a_leak_of_the_smallest_block_is_found():
    done = run_python(__file__, "malloc", env=clean_environment(PYTHONPATH=str(Path(__file__).parent)))
    assert (done.returncode, done.stdout) == (0, "leak\n"), done.stderr


def use(name: str) -> None:
    """Fit a model, save it, load it and predict; "malloc" leaks a block."""
    if name == "malloc":
        ctypes.CDLL(None).malloc(1)
        return
    file = io.BytesIO()
    pw.save(MODELS[name].fit(X, y), file)
    file.seek(0)
    pw.load(file).predict(X)


if __name__ == "__main__":
    print("leak" if leaks(lambda: use(sys.argv[1])) else "no leak")
