"""Bars diverge from a line at zero, and what is not drawn is said."""

from __future__ import annotations

import re

import numpy as np
import pytest

from planewise import AdditiveClassifier, SLMBoostClassifier, SLMBoostRegressor
from planewise.explain import Contributions
from planewise.explain.contributions import Part
from planewise.report import html


def drawn(markup):
    """The line at zero and the pieces of a bar: (zero, [(left, right), ...])."""
    zero = float(re.search(r'class="zero"[^>]* d="M([\d.]+) 0', markup)[1])
    pieces = re.findall(r'<rect class="(\w+)"[^>]* x="([\d.]+)"[^>]* width="([\d.]+)"', markup)
    return zero, [(side, float(x), float(x) + float(width)) for side, x, width in pieces]


def test_bars_diverge_from_one_line():
    bars = [drawn(each) for each in html.bars([2.0, -1.0, 0.0])]
    zero = bars[0][0]
    assert zero == pytest.approx(html.BAR / 3, abs=0.1) and all(each[0] == zero for each in bars)
    assert bars[0][1] == [("for", pytest.approx(zero), pytest.approx(html.BAR, abs=0.1))]
    assert bars[1][1] == [("against", 0.0, pytest.approx(zero, abs=0.1))]
    assert bars[2][1][0][1:] == (zero, zero)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_start_far_beyond_the_parts_is_drawn_shorter_and_says_so(sign):
    start, part, end = html.bars([sign * 600.0, 2.0, sign * 602.0], ends=[0, 2])
    assert "drawn shorter" in start and "drawn shorter" in end and "drawn shorter" not in part
    assert len(drawn(start)[1]) == 2 and len(drawn(part)[1]) == 1
    assert drawn(part)[1][0][2] - drawn(part)[1][0][1] > html.BAR / 3
    assert "drawn shorter" not in "".join(html.bars([3.0, 2.0, 5.0], ends=[0, 2]))


def test_bars_of_nothing_and_of_zeros_can_be_drawn():
    assert html.bars([]) == [] and len(html.bars([0.0, 0.0], ends=[0])) == 2
    assert [len(drawn(each)[1]) for each in html.bars([-5.0], ends=[0])] == [1]


def contributions(n, **known):
    parts = [Part(f"c{k}", float(k), 1.0 / (k + 1) * (-1) ** k) for k in range(n)]
    total = 0.5 + sum(each.added for each in parts)
    return Contributions(prediction="a", what="the score", of="a", parts=parts, average=0.5, total=total, **known)


def test_the_start_the_columns_left_out_and_the_total_are_rows_that_add_up():
    table = contributions(20).table()
    assert table.rows[0] == ["on average", "", "0.5"] and table.ends == [0, len(table.rows) - 1]
    assert table.rows[-2][0] == "8 more columns" and len(table.rows) == 12 + 3
    assert table.weights[-1] == pytest.approx(sum(table.weights[:-1]))
    assert table.rows[-1][0] == "this row"
    assert "more column" not in str(contributions(12).table().rows)
    assert "+ speaks for a, − against it." in table.note


def test_the_sign_is_explained_where_the_score_is_that_of_the_other_class():
    found = contributions(2, towards=-1.0)
    other = Contributions(**{**vars(found), "of": "b"}).table()
    assert other.note == "+ speaks for b, − for a."


@pytest.mark.parametrize("make", [SLMBoostClassifier, SLMBoostRegressor])
def test_the_rows_of_models_add_up(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    y = X @ rng.normal(size=20)
    model = make(n_estimators=10, random_state=0).fit(X, y > 0 if make is SLMBoostClassifier else y)
    for reason in model.explain(X[:5]):
        table = reason.table()
        assert sum(table.weights[:-1]) == pytest.approx(table.weights[-1]) == pytest.approx(reason.total)
        assert table.rows[-2][0] == f"{20 - 12} more columns"


def test_views_that_are_added_up_have_bars_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    model = AdditiveClassifier(projections=[(0, 1), (2, 3)], n_estimators=5, random_state=0).fit(X, X[:, 0] > 0)
    table = model.explain(X[:1])[0].views_table()
    assert table.columns == ["view", "adds"] and [row[0] for row in table.rows][::3] == ["start", "this row"]
    assert sum(table.weights[:-1]) == pytest.approx(table.weights[-1])
    assert html.section(table).count("<rect") >= 4


def test_tables_that_scroll_can_be_focused_and_have_a_name():
    page = html.table(["a"], [["1"]], label="Vectors <1>")
    assert 'tabindex="0" role="region" aria-label="Vectors &lt;1&gt;"' in page
    assert 'tabindex="0" role="region" aria-label="Rules"' in html.lines(["x"], "Rules")


def test_numbers_and_dates_are_not_broken_into_lines():
    page = html.table(["a"], [["−0.0282"], ["+1.2e−9"], ["2024-03-09 12:00"], ["12.5%"], ["a word"], ["w" * 50]])
    assert page.count('class="number"') == 4 and page.count('class="long"') == 1
