"""One sentence about contributions: true, the largest always named, what hardly matters never put first."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planewise as pw
from planewise.explain.contributions import HARDLY, MAX_NAMED, Part, Start, class_why, number_why


def columns(**added):
    parts = [Part(name, f"v{name}", value) for name, value in added.items()]
    return sorted(parts, key=lambda each: -abs(each.added))


def test_an_average_that_decides_is_said_first_and_what_hardly_matters_not_at_all():
    parts = columns(education=-1.2, hours=-0.7, race=0.04)
    start = Start("the average score", "<=50K", 2.4, 0.04 - 1.2 - 0.7)
    assert class_why(parts, 1.0, start) == (
        ": the average score alone gives this prediction; against it: education is veducation and hours is vhours"
    )
    assert class_why(columns(education=-1.2, age=0.5), 1.0, start) == (
        ": the average score alone gives this prediction, and age is vage adds to it; "
        "against it: education is veducation"
    )


def test_a_large_contribution_against_the_answer_is_named_as_such():
    start = Start("the average score", ">50K", 0.3, 0.5)
    assert class_why(columns(age=0.9, sex=0.8, education=-1.2), 1.0, start) == (
        ", mostly because age is vage and sex is vsex; against it: education is veducation"
    )
    assert class_why(columns(age=-0.9, education=1.2, sex=-0.8), -1.0, start) == (
        ", mostly because age is vage and sex is vsex; against it: education is veducation"
    )


def test_an_average_against_the_answer_is_an_objection():
    start = Start("the average score", "<=50K", -1.0, 2.0)
    assert class_why(columns(age=2.0), 1.0, start) == (
        ", mostly because age is vage; against it: the average score (which favours <=50K)"
    )


def test_many_small_columns_that_outweigh_a_large_one_are_named():
    small = {f"c{k}": 0.09 for k in range(20)}
    why = class_why(columns(big=-1.0, **small), 1.0, Start("the average score", "b", -0.5, 0.8))
    assert why == (
        ", mostly because c0 is vc0, c1 is vc1 and c2 is vc2; against it: the average score "
        "(which favours b) and big is vbig"
    )


def test_of_several_classes_the_second_of_both_may_be_the_first_of_the_sum():
    why = class_why(columns(age=0.5, town=-0.2), 1.0, Start("the average score", "b", -0.2, -0.1))
    assert why == (
        ", though neither the average score nor the columns say so alone; for it: age is vage; against it: the average "
        "score (which favours b) and town is vtown"
    )


def test_a_number_is_above_below_or_at_the_average():
    parts = columns(size=-3.0, town=1.0, noise=0.01)
    assert number_why(parts, 10.0, -1.99, False) == (
        ", below the average of 10, mostly because size is vsize; raising it: town is vtown"
    )
    assert number_why(columns(size=2.0, town=-2.0), 10.0, 0.0, False) == (
        ", at the average of 10; raising it: size is vsize; lowering it: town is vtown"
    )
    assert number_why(columns(size=0.0), 0.0, 0.0, True) == ", because no column moves it away from the usual 1"


def test_long_names_and_values_do_not_push_others_out_of_sight():
    parts = [Part("c" * 500, "v" * 500, 2.0), *columns(age=-1.5)]
    why = class_why(parts, 1.0, Start("the average score", "b", -1.0, 0.5))
    assert len(why) < 400 and "age is vage" in why


@pytest.mark.parametrize("kind", [pw.SLMBoostClassifier, pw.SLMForestClassifier])
def test_the_only_class_is_said_to_be_so(kind):
    X = np.arange(40.0).reshape(20, 2)
    found = kind(n_estimators=2).fit(X, np.full(20, "dear")).explain(X[:1])
    assert found[0].sentence() == "dear, the only class among the training rows."


amounts = st.floats(-5, 5, allow_nan=False).map(lambda value: round(value, 3))


@settings(max_examples=200)
@given(st.lists(amounts, min_size=1, max_size=8), amounts, amounts, st.sampled_from([1.0, -1.0]))
def test_the_largest_contribution_is_always_named_and_small_ones_only_where_nothing_else_speaks(
    added, lead, together, sign
):
    parts = columns(**{f"c{k}": value for k, value in enumerate(added)})
    largest = abs(parts[0].added)
    for why in (
        class_why(parts, sign, Start("the average score", "b", lead, together)),
        class_why(parts, sign, None),
        number_why(parts, 1.0, sum(added), False),
    ):
        named = re.findall(r"(c\d) is v\1", why)
        assert len(named) == len(set(named)) <= 2 * MAX_NAMED
        assert largest == 0 or parts[0].column in named
        small = [each for each in parts if each.column in named and abs(each.added) < HARDLY * largest]
        if small:
            side = why.partition("mostly because ")[2].partition(";")[0]
            assert all(f"{each.column} is" in side for each in small)
