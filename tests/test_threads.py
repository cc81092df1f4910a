"""Threads of Python use one model at the same time, with the same answers as one thread; also without the GIL."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading

import numpy as np
import pytest

import planewise as pw
from clean_shell import run_python

N_THREADS = 8
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
MODELS = [
    pw.SLMClassifier(random_state=0),
    pw.SLMForestClassifier(n_estimators=10, random_state=0),
    pw.SLMBoostClassifier(n_estimators=10, random_state=0),
    pw.AdditiveClassifier(n_estimators=5, max_views=2, random_state=0),
    pw.MCMClassifier(kernel="rbf"),
    pw.RECIPClassifier(),
]


def scores(model) -> np.ndarray:
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


def at_once(task) -> list:
    """What each thread gets when all begin together; an error of any is raised here."""
    begin, answers = threading.Barrier(N_THREADS), [None] * N_THREADS

    def work(number: int) -> None:
        begin.wait()
        try:
            answers[number] = task()
        except Exception as error:
            answers[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_one_model_predicts_in_many_threads(model):
    expected = scores(model.fit(X, y))
    model.fit(X, y)  # what the first prediction prepares is not yet there
    for answer in at_once(lambda: scores(model)):
        np.testing.assert_array_equal(answer, expected)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_many_threads_fit_the_same_model_on_the_same_rows(model):
    kind, parameters = type(model), model.get_params()
    first, *others = at_once(lambda: scores(kind(**parameters).fit(X, y)))
    for other in others:
        np.testing.assert_array_equal(other, first)


# Large enough for threads of the core to start, of which forked processes have none.
FORKS_WHILE_FITTING = """
import os, threading, warnings
import numpy as np
import planewise as pw

warnings.simplefilter("ignore")  # newer Pythons warn of forks
X = np.random.default_rng(0).normal(size=(5_000, 4))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
models = [
    pw.SLMClassifier(random_state=0, n_jobs=2),
    pw.SLMForestClassifier(n_estimators=6, random_state=0, n_jobs=2),
    pw.SLMBoostClassifier(n_estimators=6, random_state=0, n_jobs=2),
]
expected = [model.fit(X, y).predict_proba(X).tobytes() for model in models]
ended = threading.Event()

def fit_again():
    while not ended.is_set():
        for model, proba in zip(models, expected):
            assert type(model)(**model.get_params()).fit(X, y).predict_proba(X).tobytes() == proba

fitting = threading.Thread(target=fit_again)
fitting.start()
for k in range(12):
    child = os.fork()
    if child == 0:
        model = models[k % 3]
        same = model.predict_proba(X).tobytes() == expected[k % 3]
        same &= type(model)(**model.get_params()).fit(X, y).predict_proba(X).tobytes() == expected[k % 3]
        os._exit(not same)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, k
ended.set()
fitting.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork") or "libtsan" in os.environ.get("LD_PRELOAD", ""), reason="forks")
def test_a_process_that_was_forked_during_a_fit_fits_the_same_model():
    done = run_python("-c", FORKS_WHILE_FITTING, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has the GIL")
def test_importing_the_core_does_not_bring_the_gil_back():
    assert not sys._is_gil_enabled()
    assert pw.SLMClassifier().fit(X, y).score(X, y) > 0.9
    assert not sys._is_gil_enabled()
