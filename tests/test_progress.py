from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from planewise import _progress
from planewise._progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until moved."""
    now = [100.0]
    # Not time.monotonic itself: event loops in other threads sleep for hours if they look at it meanwhile.
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_the_last_step_is_drawn_full_and_the_line_is_ended(clock):
    stream = io.StringIO()
    with Progress(3, "boosting", stream=stream) as bar:
        for _ in range(3):
            bar.step("loss 0.5")
    assert stream.getvalue().split("\r")[-1] == f"boosting [{'#' * 24}] 3/3  loss 0.5  0 s left \n"


def test_steps_in_quick_succession_are_not_drawn(clock):
    stream = io.StringIO()
    with Progress(100, "boosting", stream=stream) as bar:
        for _ in range(50):
            bar.step()
        assert stream.getvalue().count("\r") == 1
        clock[0] += 0.2
        bar.step()
        assert stream.getvalue().count("\r") == 2


def test_the_time_left_follows_from_the_time_so_far(clock):
    stream = io.StringIO()
    with Progress(10, "boosting", stream=stream) as bar:
        clock[0] += 3
        bar.step()
    assert "1/10" in stream.getvalue()
    assert "27 s left" in stream.getvalue()


@pytest.mark.parametrize(("shown", "steps"), [(False, 5), (True, 0)])
def test_nothing_is_written_when_hidden_or_without_a_step(shown, steps):
    stream = io.StringIO()
    with Progress(5, "boosting", shown=shown, stream=stream) as bar:
        for _ in range(steps):
            bar.step()
    assert bar.done == steps
    assert stream.getvalue() == ""


def test_an_error_inside_ends_the_line_and_goes_on():
    stream = io.StringIO()

    def fail():
        with Progress(5, "boosting", stream=stream) as bar:
            bar.step()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert stream.getvalue().endswith("\n")
