"""How `planewise demo` takes times: neither library may disturb the other, and no single fit decides."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from threadpoolctl import threadpool_info

pytest.importorskip("matplotlib")

from planewise.cli import demo as _demo


class Fake:
    """A model that notes its fit and takes the next of the given times by the clock."""

    def __init__(self, name, fits, clock, times, n_jobs=2):
        self.name, self.fits, self.clock, self.times, self.n_jobs = name, fits, clock, times, n_jobs

    def get_params(self, deep=True):
        return {"n_jobs": self.n_jobs}

    def set_params(self, n_jobs):
        self.n_jobs = n_jobs
        return self

    def fit(self, X, y):
        threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
        self.fits.append((self.name, self.n_jobs, threads))
        self.clock[0] += self.times.pop(0)
        return self


@pytest.fixture
def measured(monkeypatch):
    """Fits two fakes that take so many seconds each; returns the fits in order and the times told."""
    clock = [100.0]
    monkeypatch.setattr(_demo, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    def run(ours, theirs):
        fits, left = [], {"ours": list(ours), "theirs": list(theirs)}
        makers = [lambda name=name: Fake(name, fits, clock, left[name]) for name in left]
        models, times = _demo.fit_in_turns(makers, None, None)
        assert [model.name for model in models] == ["ours", "theirs"]
        return fits, times

    return run


def test_both_fit_in_turns_on_one_thread_each(measured):
    fits, _ = measured([0.01] * 3, [0.02] * 3)
    assert fits == [("ours", 1, 1), ("theirs", 1, 1)] * 3


def test_the_time_told_is_the_median(measured):
    _, times = measured([0.3, 0.01, 0.02], [0.03, 0.05, 0.04])
    assert times == pytest.approx([20, 40])


def test_a_slow_pair_is_fitted_once_only(measured):
    fits, times = measured([2.0], [0.1])
    assert len(fits) == 2
    assert times == pytest.approx([2000, 100])


def test_scikit_learns_boosting_has_one_thread_too(monkeypatch):
    seen = []
    theirs = _demo.makers("boosting", regression=False)[1].func
    monkeypatch.setattr(
        theirs, "fit", lambda self, X, y: seen.append({pool["num_threads"] for pool in threadpool_info()}) or self
    )
    _demo.fit_in_turns([lambda: theirs(random_state=0)], None, None)
    assert seen == [{1}] * 3
