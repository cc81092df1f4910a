"""How dates and booleans are written that an estimator reads as numbers."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from planewise.data.values import Booleans, Columns, Dates, as_number, kind_from, value_of_kind
from planewise.explain.planes import Plane, formula, plane_in_words

DAY = 19791.0  # 2024-03-09


@pytest.mark.parametrize(
    ("relation", "threshold", "words"),
    [
        ("≥", DAY - 0.5, "≥ 2024-03-09"),
        ("≥", DAY, "≥ 2024-03-09"),
        ("≤", DAY + 0.5, "≤ 2024-03-09"),
        (">", DAY + 0.5, "> 2024-03-09"),
        ("<", DAY + 0.5, "< 2024-03-10"),
    ],
)
def test_a_threshold_between_days_is_a_day(relation, threshold, words):
    days = np.arange(DAY - 3, DAY + 4)
    assert Dates().relation(relation, threshold) == words
    sign, day = words.split()
    compare = {"≥": np.greater_equal, "≤": np.less_equal, ">": np.greater, "<": np.less}
    same = compare[sign](days, Dates().number(day)) == compare[relation](days, threshold)
    assert same.all()


def test_moments_have_their_minutes_and_zone():
    assert Dates(clock="").relation("≥", DAY + 0.5) == "≥ 2024-03-09 12:00"
    assert Dates(clock="Europe/Berlin").relation("≥", DAY + 0.5) == "≥ 2024-03-09 13:00+01:00"
    for unknown in ("No/Such_Zone", "Europe", "../etc/passwd"):
        assert Dates(clock=unknown).relation("≥", DAY + 0.5) == "≥ 2024-03-09 12:00+00:00"


@pytest.mark.parametrize(
    "value",
    [
        "2024-03-09",
        date(2024, 3, 9),
        datetime(2024, 3, 9),
        datetime(2024, 3, 9, tzinfo=UTC),
        datetime(2024, 3, 9, 1, tzinfo=timezone(timedelta(hours=1))),
        "2024-03-09T01:00:00+01:00",
        DAY,
        np.float64(DAY),
    ],
)
def test_a_date_is_read_in_whatever_way_it_is_given(value):
    assert Dates().number(value) == DAY
    assert str(value_of_kind(Dates(), value)) == "2024-03-09"


def test_missing_values_stay_missing():
    assert np.isnan(as_number(Dates(), None)) and value_of_kind(Dates(), None) is None
    assert np.isnan(as_number(None, None)) and as_number(Booleans(), True) == 1.0


def test_numbers_beyond_the_calendar_stay_numbers():
    assert Dates().value(1e9) == 1e9
    assert Dates().relation("≥", 1e9) == "≥ 1e9"
    assert Dates().scaling({"centre": 1e300, "spread": 1.0})["centre"] == 1e300
    assert plane_in_words(Plane((0, 1), (1.0, 1.0), 2.0), Columns(["a", "b"], kinds={0: Dates(1e300)})).startswith(
        "(days"
    )


@pytest.mark.parametrize(
    ("relation", "words"), [("≥", "is true"), (">", "is true"), ("≤", "is false"), ("<", "is false")]
)
def test_a_threshold_on_a_boolean_is_one_of_its_values(relation, words):
    assert Booleans().relation(relation, 0.5) == words


def test_a_threshold_outside_of_a_boolean_stays_a_number():
    assert Booleans().relation("≥", 1.5) == "≥ 1.5" and Booleans().relation("≥", 0.0) == "≥ 0"
    assert Booleans().value(0.25) == 0.25


def test_planes_of_one_column_have_its_values():
    columns = Columns(["admitted", "smoker"], kinds={0: Dates(DAY), 1: Booleans()})
    assert plane_in_words(Plane((0,), (2.0,), 2 * DAY - 1), columns) == "admitted ≥ 2024-03-09"
    assert plane_in_words(Plane((0,), (-1.0,), -DAY, missing_right=True), columns) == "admitted ≤ 2024-03-09 or missing"
    assert plane_in_words(Plane((1,), (1.0,), 0.5), columns) == "smoker is true"
    assert plane_in_words(Plane((0,), (1.0,), float("inf")), columns) == "admitted ≥ ∞"


def test_planes_of_several_columns_count_days_from_a_date():
    columns = Columns(["admitted", "smoker", "age"], kinds={0: Dates(DAY + 0.3), 1: Booleans()})
    plane = Plane((2, 0, 1), (1.0, 0.5, -2.0), 40 + 0.5 * DAY)
    words = "age + 0.5·(days from 2024-03-09 to admitted) − 2·(smoker is true) ≥ 40"
    assert plane_in_words(Plane(plane.features, (1.0, 0.5, -1.0), plane.threshold), columns) == words.replace(
        "2·(s", "(s"
    )
    far = Plane((2, 0), (1.0, 0.5), 40 + 0.5 * DAY, origins=(0.0, DAY - 100))  # the tree's own origin is not shown
    assert plane_in_words(far, columns) == "age + 0.5·(days from 2024-03-09 to admitted) ≥ 40"
    assert " ".join(formula(far, columns)) == "age + 0.5·(days from 2024-03-09 to admitted) ≥ 40"
    assert max(map(len, formula(far, columns))) < 30


def test_categories_are_named_by_is_or_in():
    columns = Columns(["sex"], {0: ["d", "f", "m"]})
    assert plane_in_words(Plane((0,), (1.0,), 0.0, categories=(1,)), columns) == "sex is f"
    assert plane_in_words(Plane((0,), (1.0,), 0.0, categories=(1,), members_right=False), columns) == "sex is not f"
    assert plane_in_words(Plane((0,), (1.0,), 0.0, categories=(1, 2)), columns) == "sex in {f, m}"


@pytest.mark.parametrize("kind", [Dates(), Dates(clock=""), Dates(clock="Europe/Berlin"), Booleans()])
def test_an_explanations_data_say_which_kind_a_column_has(kind):
    told = kind.scaling({"kind": "standard", "centre": DAY + 0.25, "spread": 3.0})
    assert kind_from(told) == kind
    assert kind.number(told["centre"]) == DAY + 0.25
    assert kind_from({"kind": "standard", "centre": 0.0}) is None
