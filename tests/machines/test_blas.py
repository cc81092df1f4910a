"""Machines leave the number of BLAS threads as they found it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_info, threadpool_limits

from planewise import (
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
)
from planewise.machines import blas as _blas
from planewise.machines.blas import one_blas_thread
from planewise.machines.kernels import Kernel

LONG = 60  # seconds that a thread waits for another before it gives up


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


pytestmark = pytest.mark.skipif(not blas_threads(), reason="threadpoolctl does not know this BLAS")


def set_blas_threads(n_threads: int) -> None:
    """By a thread that ends: newer versions of threadpoolctl let no other thread change OpenBLAS before."""
    in_threads(lambda: threadpool_limits(n_threads, user_api="blas"))


def in_threads(*tasks) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture(autouse=True)
def two_threads():
    """As on a machine with two cores, wherever this runs; whatever a test does, the next one begins like this."""
    before = max(blas_threads())
    set_blas_threads(2)
    yield
    set_blas_threads(before)


def test_fits_that_overlap_in_two_threads_leave_blas_as_it_was(monkeypatch):
    X, y = make_moons(60, noise=0.2, random_state=0)
    first_is_inside, second_is_inside, first_is_done = threading.Event(), threading.Event(), threading.Event()

    def values(kernel, A, B):
        if kernel.gamma == 0.5:
            first_is_inside.set()
            assert second_is_inside.wait(LONG)
        else:
            second_is_inside.set()
            assert first_is_done.wait(LONG)
        return rbf_kernel(A, B, gamma=0.5)

    monkeypatch.setattr(Kernel, "__call__", values)

    def first():
        MCMClassifier(gamma=0.5).fit(X, y)
        first_is_done.set()

    def second():
        assert first_is_inside.wait(LONG)
        MCMClassifier(gamma=0.6).fit(X, y)

    in_threads(first, second)
    assert blas_threads() == {2}


def test_blas_stays_at_one_thread_until_the_last_thread_is_done():
    def come_and_go():
        with one_blas_thread():
            pass

    with one_blas_thread():
        in_threads(come_and_go)
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_a_limit_of_the_users_own_holds_after_a_fit_inside_it(monkeypatch):
    monkeypatch.setattr(Kernel, "__call__", limited_kernel)
    with threadpool_limits(3, user_api="blas"):
        MCMClassifier().fit(*make_moons(60, noise=0.2, random_state=0))
        assert blas_threads() == {3}
    assert blas_threads() == {2}


def limited_kernel(kernel, A, B):
    assert blas_threads() == {1}
    return rbf_kernel(A, B, gamma=0.5)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_moment_leaves_blas_as_it_was():
    def interrupt(number, frame):
        raise KeyboardInterrupt

    n_interrupted, before = 0, signal.signal(signal.SIGALRM, interrupt)
    try:
        for moment in np.random.default_rng(0).uniform(1e-5, 4e-4, 400):
            try:
                signal.setitimer(signal.ITIMER_REAL, moment)
                for _ in range(20):
                    with one_blas_thread(), one_blas_thread():
                        pass
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                n_interrupted += 1
            assert blas_threads() == {2}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert n_interrupted > 100


class LimitedByThread:
    """A library whose limits hold for one thread, as those of OpenMP do."""

    threading_layer = "openmp"

    def __init__(self):
        self._own = threading.local()

    @property
    def num_threads(self):
        return getattr(self._own, "limit", 4)

    def set_num_threads(self, limit):
        self._own.limit = limit


def test_limits_that_hold_for_one_thread_are_set_in_each(monkeypatch):
    library, found = LimitedByThread(), []
    monkeypatch.setattr(_blas, "_libraries", lambda: [library])

    def come_and_go():
        with one_blas_thread():
            found.append(library.num_threads)
        found.append(library.num_threads)

    with one_blas_thread():
        in_threads(come_and_go)
        found.append(library.num_threads)
    assert found == [1, 4, 1] and library.num_threads == 4


def test_a_fit_that_fails_leaves_blas_as_it_was(monkeypatch):
    def broken(kernel, A, B):
        raise ArithmeticError("broken")

    monkeypatch.setattr(Kernel, "__call__", broken)
    with pytest.raises(ArithmeticError):
        MCMClassifier().fit(*make_moons(60, noise=0.2, random_state=0))
    assert blas_threads() == {2}


@pytest.mark.parametrize(
    "machine",
    [
        MCMRegressor(),
        MCMClassifierCV(Cs=[100.0], mus=[1.0], cv=2, n_repeats=1, random_state=0),
        MCMRegressorCV(Cs=[100.0], mus=[1.0], cv=2, n_repeats=1, random_state=0),
        LargeScaleMCMClassifier(n_components=8, max_iter=2, random_state=0),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_every_machine_leaves_blas_as_it_was(machine):
    X, y = make_moons(60, noise=0.2, random_state=0)
    machine.fit(X, y).predict(X)
    assert blas_threads() == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("forks_inside", [False, True])
def test_a_forked_process_does_not_keep_the_limit_of_threads_that_it_lacks(forks_inside):
    def tell(pipe):
        before = blas_threads()
        with one_blas_thread():
            inside = blas_threads()
        pipe.send((before, inside, blas_threads()))

    is_inside, is_over = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread():
            is_inside.set()
            is_over.wait(LONG)

    thread = threading.Thread(target=hold)
    thread.start()
    is_inside.wait(LONG)
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=tell, args=(theirs,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a process of several threads forks: the subject here
        if forks_inside:
            with one_blas_thread():
                child.start()
        else:
            child.start()
    found = ours.recv() if ours.poll(LONG) else "nothing"
    is_over.set()
    thread.join()
    child.join()
    assert found == (({1}, {1}, {1}) if forks_inside else ({2}, {1}, {2}))
    assert blas_threads() == {2}
