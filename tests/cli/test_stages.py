"""Progress of a fit, and the same model with and without it."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.console import Console

import planewise as pw
from planewise._progress import Progress, heard_by, is_heard
from planewise.cli import output as _output
from planewise.cli.output import stage


def test_a_terminal_gets_a_bar_that_is_removed(monkeypatch):
    stream = io.StringIO()
    made = Console(file=stream, force_terminal=True, width=100)
    monkeypatch.setattr(_output, "Console", lambda stderr: made)
    with stage("fitting [b]odd[/b] names", quiet=False) as told:
        told(1, 4)
    shown = stream.getvalue()
    assert "fitting [b]odd[/b] names" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "1/4" in shown and shown.rstrip().endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K"))


def test_without_a_terminal_there_is_one_line_and_estimators_are_not_asked(capsys):
    for quiet in (False, True):
        with stage("fitting", quiet, listen=True) as move:
            assert not is_heard()
            move(1, 2)
        assert capsys.readouterr().err == ("" if quiet else "fitting ...\n")


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
        (lambda: pw.AdditiveClassifier(n_estimators=5, cv=2, random_state=0), 7),
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
        "cross-validating tree (1 of 2) on 192 rows",
        "cross-validating additive (2 of 2) on 192 rows",
    ]
    assert stages[-1] == "measuring quality"
    assert run(*ask, "--json").stderr == ""
