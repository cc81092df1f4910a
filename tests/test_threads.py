"""Threads of Python use one model at the same time, with the same answers as one thread; also without the GIL."""

from __future__ import annotations

import sys
import sysconfig
import threading

import numpy as np
import pytest

import planewise as pw

N_THREADS = 8
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
MODELS = [
    pw.SLMClassifier(random_state=0),
    pw.SLMForestClassifier(n_estimators=10, random_state=0),
    pw.SLMBoostClassifier(n_estimators=10, random_state=0),
    pw.SLMViewsClassifier(n_estimators=5, max_views=2, random_state=0),
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


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has the GIL")
def test_importing_the_core_does_not_bring_the_gil_back():
    assert not sys._is_gil_enabled()
    assert pw.SLMClassifier().fit(X, y).score(X, y) > 0.9
    assert not sys._is_gil_enabled()
