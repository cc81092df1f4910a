"""Numbers say what they are, text is shown and never obeyed, and words stand on nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planewise._text import name_in_lines, number, percent, shorten, shown, signed, tidy
from planewise.data.values import plain_data, value_in_words


def read(text):
    return float(text.replace("−", "-").replace(",", ""))


@given(st.floats(-1e12, 1e12).filter(lambda value: abs(value) > 1e-12), st.integers(2, 6))
def test_a_number_is_read_back_to_its_digits(value, digits):
    assert read(number(value, digits)) == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))
    assert read(signed(value, digits)) == read(number(value, digits)) and signed(value, digits)[0] in "+−"


@given(st.integers(1, 9_999_999))
def test_whole_numbers_of_up_to_seven_digits_lose_none(value):
    assert read(number(value, 3)) == value


def test_years_have_no_separator_and_what_is_no_number_is_said():
    assert number(2015.5, 6) == "2015.5" and number(12345.6, 6) == "12,345.6"
    assert [number(each) for each in (0.0, -0.0, float("nan"), float("-inf"))] == ["0", "0", "nan", "−inf"]
    assert [percent(each) for each in (0, 0.0004, 0.5, 1)] == ["0%", "0.0%", "50%", "100%"]
    assert [value_in_words(each) for each in (None, float("nan"), 3, 2.5, "a  b")] == [
        *("missing", "missing", "3", "2.5", "a  b")
    ]


@given(st.text())
def test_text_of_any_kind_is_one_line_that_nothing_obeys(text):
    line = tidy(text)
    assert len(line.splitlines()) <= 1 and shown(line) == line
    assert len(shorten(text, 12)) <= 12
    line.encode()


def test_data_of_any_kind_is_ready_for_json():
    given = {
        "array": np.array([1.5, np.nan]),
        "scalar": np.int64(3),
        "day": date(2024, 3, 9),
        1: (np.bool_(True), float("inf"), "text", None),
        "other": complex(1, 2),
    }
    data = plain_data(given)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data == {
        **{"array": [1.5, None], "scalar": 3, "day": "2024-03-09"},
        **{"1": [True, None, "text", None], "other": "(1+2j)"},
    }


def test_words_load_no_family_no_learner_and_no_drawing():
    code = "import sys, planewise.explain; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    heavy = {
        "sklearn",
        "scipy",
        "pandas",
        "polars",
        "matplotlib",
        "planewise.trees",
        "planewise.machines",
        "planewise.recip",
    }
    assert not heavy & set(loaded)


@given(st.text(st.sampled_from("ab cd-/_ é"), max_size=60), st.integers(1, 20))
def test_a_name_in_lines_is_whole_and_fits(name, most):
    lines = name_in_lines(name, lambda line: len(line) <= most)
    assert "".join("".join(lines).split()) == "".join(name.split())
    assert all(len(line) <= most for line in lines)


def test_a_name_is_broken_where_it_may_be():
    def broken(name):
        return name_in_lines(name, lambda line: len(line) <= 10)

    assert broken("no credits/all paid") == ["no", "credits/", "all paid"]
    assert broken("domestic_appliances") == ["domestic_", "appliances"]
    assert broken("start-up or extension") == ["start-up", "or", "extension"]
    assert broken("Donaudampfschifffahrt") == ["Donaudampf", "schifffahr", "t"]
    assert len("".join(name_in_lines("x" * 99, lambda line: len(line) <= 10))) == 60
