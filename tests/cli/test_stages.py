"""Progress of a fit: an estimate only where something is known, and the same model with and without it."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.console import Console

import planewise as pw
from planewise._progress import Progress, heard_by, is_heard
from planewise.cli import _stages
from planewise.cli._stages import Estimate, duration, stage


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(_stages.time, "monotonic", made)
    return made


def test_nothing_is_estimated_while_nothing_is_known():
    estimate = Estimate(clock := Clock())
    clock.now = 30.0
    assert estimate.left() is None and estimate.in_words() == "30 s"
    estimate.hear(3, None)
    assert estimate.left() is None


def test_what_is_left_follows_from_what_is_done():
    estimate = Estimate(clock := Clock())
    clock.now = 10.0
    estimate.hear(25, 100)
    assert estimate.left() == pytest.approx(30.0)
    assert estimate.in_words() == "25 of 100, 10 s, about 30 s left"
    clock.now = 14.0
    assert estimate.left() == pytest.approx(26.0)


def test_too_short_a_time_says_nothing():
    estimate = Estimate(clock := Clock())
    clock.now = 0.5
    estimate.hear(1, 100)
    assert estimate.left() is None


def test_further_work_is_estimated_by_itself():
    estimate = Estimate(clock := Clock())
    clock.now = 100.0
    estimate.hear(100, 100)
    clock.now = 103.0
    estimate.hear(1, 3)
    assert estimate.left() == pytest.approx(6.0)
    assert estimate.in_words().startswith("1 of 3, 103 s") or "2 min" in estimate.in_words()


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (99, "99 s"), (120, "2 min"), (7200, "2.0 h")])
def test_durations_are_short(seconds, words):
    assert duration(seconds) == words


def test_without_a_terminal_lines_are_sparse(capsys, clock):
    with stage("fitting") as told:
        for done in range(1, 101):
            clock.now += 0.5
            told(done, 100)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fitting ..."
    assert lines[1] == "fitting: 20 of 100, 10 s, about 40 s left"
    assert len(lines) == 5  # the last piece needs no line


def test_a_terminal_gets_a_bar_that_is_removed(monkeypatch):
    stream = io.StringIO()
    made = Console(file=stream, force_terminal=True, width=100)
    monkeypatch.setattr("rich.console.Console", lambda stderr: made)
    with stage("fitting [b]odd[/b] names") as told:
        told(1, 4)
    shown = stream.getvalue()
    assert "fitting [b]odd[/b] names" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "1 of 4" in shown and shown.rstrip().endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K"))


def test_quiet_says_nothing_and_estimators_are_not_asked(capsys):
    with stage("fitting", quiet=True, listen=True) as told:
        assert not is_heard()
        told(1, 2)
    assert capsys.readouterr().err == ""


def test_a_listener_hears_every_piece_and_only_inside():
    heard = []
    with heard_by(lambda done, total: heard.append((done, total))):
        assert is_heard()
        with Progress(5, "work", first=2, shown=False) as bar:
            bar.step()
            bar.step()
    assert heard == [(1, 3), (2, 3)] and not is_heard()
    with Progress(5, "work", shown=False) as bar:
        bar.step()
    assert len(heard) == 2


@pytest.mark.parametrize(
    ("make", "n_heard"),
    [
        (lambda: pw.SLMBoostClassifier(n_estimators=12, random_state=0), 12),
        (lambda: pw.SLMForestClassifier(n_estimators=12, random_state=0), 12),
        (lambda: pw.SLMViewsClassifier(n_estimators=5, cv=2, random_state=0), 7),
    ],
)
def test_a_model_is_the_same_when_somebody_listens(make, n_heard, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] > 0
    heard = []
    with heard_by(lambda done, total: heard.append((done, total))):
        listened = make().fit(X, y)
    assert heard == [(k + 1, n_heard) for k in range(n_heard)]
    pw.save(listened, tmp_path / "a")
    pw.save(make().fit(X, y), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_fit_tells_its_stages_and_json_nothing(csv, run):
    ask = ["fit", csv, "--target", "class", "--drop", "price", "--model", "explainable"]
    stages = [line.removesuffix(" ...") for line in run(*ask).stderr.splitlines()]
    assert stages[:3] == [
        "reading towns.csv",
        "cross-validating slm (1 of 2) on 192 rows",
        "cross-validating views (2 of 2) on 192 rows",
    ]
    assert stages[-1] == "measuring quality"
    assert run(*ask, "--json").stderr == ""
