"""Round dates along an axis."""

from __future__ import annotations

import numpy as np
import pytest

from planewise.data.values import Booleans, Dates
from planewise.plot.date_ticks import ticks_of_kind
from planewise.plot.view_data import Axis

FIRST = 19791.3  # on 2024-03-09


@pytest.mark.parametrize("clock", [None, "", "Europe/Berlin"])
@pytest.mark.parametrize("span", [0.001, 0.02, 0.3, 1.0, 6.0, 45.0, 200.0, 800.0, 5000.0, 60000.0])
def test_ticks_are_few_different_and_inside(clock, span):
    for most in (3, 6):
        at, words = ticks_of_kind(Dates(clock=clock), FIRST, FIRST + span, most)
        assert 1 <= len(at) <= most and len(set(words)) == len(words) == len(at)
        assert (at >= FIRST - 1e-9).all() and (at <= FIRST + span + 1e-9).all()
        if span >= 6.0:
            assert len(at) >= 2


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (3.0, ["2024-03-10", "2024-03-11", "2024-03-12"]),
        (100.0, ["2024-04", "2024-05", "2024-06"]),
        (3000.0, ["2026", "2028", "2030", "2032"]),
    ],
)
def test_ticks_are_days_months_or_years(span, words):
    assert ticks_of_kind(Dates(), FIRST, FIRST + span, 5)[1] == words


def test_ticks_of_booleans_are_their_two_values():
    assert ticks_of_kind(Booleans(), -0.1, 1.1, 5)[1] == ["false", "true"]
    assert ticks_of_kind(Booleans(), 0.5, 1.1, 5)[1] == ["true"]


def test_dates_are_drawn_where_their_numbers_are():
    scaling = Dates().scaling({"kind": "standard", "centre": 19791.0, "spread": 10.0})
    axis = Axis("admitted", 0, scaling)
    np.testing.assert_allclose(axis.places(["2024-03-09", 19801.0, None]), [0.0, 1.0, np.nan])
    np.testing.assert_allclose(axis.values(np.array([0.0, 1.0])), [19791.0, 19801.0])
    at, words = axis.ticks(-1.0, 1.0, 5)
    assert words == ["2024-02-29", "2024-03-07", "2024-03-14"] and at == pytest.approx([-0.9, -0.2, 0.5])
    assert axis.in_words("2024-03-09") == "2024-03-09" and axis.in_words(None) == "missing"
