"""Views of categories: rows counted in cells, whole names on axes, and neighbours with the same values in one line."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from pages import read
from planewise import RECIPClassifier, SLMViewsRegressor
from planewise.plot import ProjectionDisplay
from planewise.report._view_scene import TrainingRows
from planewise.report._view_svg import view_figure
from planewise.report.views import block, neighbours_table, views_of, views_switch

HISTORY = ["delayed payment previously", "existing paid", "critical/other existing credit", "no credits/all paid"]
PURPOSE = ["radio/television and other entertainment", "car (new)", "domestic_appliances", "<b>repairs</b>", "training"]


def made_credits(n_rows=400, purposes=PURPOSE):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"history": rng.choice(HISTORY, n_rows), "purpose": rng.choice(purposes, n_rows)})
    good = np.isin(X["history"], HISTORY[1:3]) ^ (rng.random(n_rows) < 0.2)
    X = X.astype("category").assign(amount=rng.normal(size=n_rows))
    return X, np.where(good, "good", "bad")


@pytest.fixture(scope="module")
def credits():
    X, y = made_credits()
    model = RECIPClassifier(projections=[(0, 1), (1, 2), (0,), (0, 1, 2)], max_dim=3, random_state=0).fit(X, y)
    return X, y, model, model.explain(X[:1])[0]


def cells(figure):
    return [unescape(words) for words in re.findall(r'class="pw-cell" role="img"[^>]*aria-label="([^"]*)"', figure)]


def squeezed(page):
    """Text without breaks, so that a name in several lines is found."""
    return re.sub(r"\s", "", read(page).text)


def test_every_cell_says_its_rows_of_each_class_in_words(credits):
    X, y, model, each = credits
    figure = view_figure(each.data_in((0, 1)), TrainingRows.of(model), ident="a")
    read(figure)
    told = cells(figure)
    assert len(told) == len(HISTORY) * len(PURPOSE)
    for history in HISTORY:
        for purpose in PURPOSE:
            mine = y[(X["history"] == history) & (X["purpose"] == purpose)]
            words = f"purpose: {purpose}, history: {history}. {len(mine)} training rows: "
            words += " and ".join(f"{np.sum(mine == each)} {each}" for each in ("bad", "good") if each in mine)
            assert any(cell.startswith(words) for cell in told), words
    assert "pw-mark" not in figure and "pw-rows" not in figure


def test_the_case_and_its_nearest_rows_are_stated_in_their_cells(credits):
    X, _, model, each = credits
    data = each.data_in((0, 1))
    figure = view_figure(data, TrainingRows.of(model), ident="a")
    (own,) = [cell for cell in cells(figure) if cell.endswith("This case is here")]
    assert own.startswith(f"purpose: {X['purpose'][0]}, history: {X['history'][0]}. ")
    assert figure.count('class="pw-here"') == 1 == figure.count('class="pw-star" fill="#')
    near = [int(n.replace(",", "")) for n in re.findall(r">([\d,]+) nearest</text>", figure)]
    assert sum(near) == sum(len(one["rows"]) for side in data["neighbours"].values() for one in side)


def test_equal_rows_are_all_counted():
    X, y = made_credits(n_rows=1000)
    model = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X[["history", "purpose"]], y)
    figure = view_figure(model.explain(X[:1][["history", "purpose"]])[0].data(), TrainingRows.of(model), ident="a")
    assert sum(int(re.search(r"(\d+) training rows", cell).group(1)) for cell in cells(figure)) == 1000
    assert "each of them is counted" in figure


def test_neighbours_with_the_same_values_are_one_line(credits):
    _, _, _, each = credits
    data = each.data_in((0,))
    found = read(neighbours_table(data, ident="a")).text
    n_for, n_against = (len(data["neighbours"][side]) for side in ("for", "against"))
    counts = {data["prediction"]: n_for, ({"good", "bad"} - {data["prediction"]}).pop(): n_against}
    assert neighbours_table(data, ident="a").count("<button") == 1
    assert f"{n_for + n_against} rows" in found
    assert all(f"{number} {label}" in found for label, number in counts.items() if number)
    other = each.data_in((1, 2))
    n_other = sum(len(other["neighbours"][side]) for side in ("for", "against"))
    assert neighbours_table(other, ident="a").count("<button") == n_other


def test_lines_of_the_table_are_tied_to_cells(credits):
    _, _, model, each = credits
    for view in ((0, 1), (0,), (0, 1, 2)):
        data = each.data_in(view)
        figure = view_figure(data, TrainingRows.of(model), ident="a")
        lines = re.findall(r'<button[^>]*data-row="(\w+)"', neighbours_table(data, ident="b"))
        assert lines and {*lines} <= {*re.findall(r'class="pw-hold" data-row="(\w+)"', figure)}


def test_a_category_alone_has_a_cell_each(credits):
    _, _, model, each = credits
    figure = view_figure(each.data_in((0,)), TrainingRows.of(model), ident="a")
    assert len(cells(figure)) == len(HISTORY)


def test_missing_values_have_a_line_and_a_column_of_their_own():
    X, y = made_credits()
    X.loc[10::7, "purpose"] = None
    X.loc[10::5, "history"] = None
    model = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X, y)
    told = cells(view_figure(model.explain(X[:1])[0].data(), TrainingRows.of(model), ident="a"))
    assert len(told) == (len(HISTORY) + 1) * (len(PURPOSE) + 1)
    both = (X["purpose"].isna() & X["history"].isna()).sum()
    assert any(cell.startswith(f"purpose: missing, history: missing. {both} training rows") for cell in told)


def test_numbers_have_a_mean_in_each_cell():
    X, y = made_credits()
    target = np.where(y == "good", 10.0, 20.0) + X["amount"].to_numpy()
    model = SLMViewsRegressor(projections=[(0, 1)], n_estimators=5, cv=2, random_state=0).fit(X, target)
    each = model.explain(X[:1])[0]
    told = cells(view_figure(each.data(), TrainingRows.of(model), ident="a"))
    mine = target[(X["history"] == HISTORY[1]) & (X["purpose"] == "training")]
    wanted = f"purpose: training, history: existing paid. {len(mine)} training rows, mean {mine.mean():.2f}"
    assert any(cell.startswith(wanted) for cell in told)
    assert "rowsmean" in read(neighbours_table(each.data(), ident="a")).text


def test_a_change_is_shown_in_the_cell_where_the_case_was(credits):
    X, _, model, each = credits
    moved = each.data_in((0, 1))["query"] | {"history": next(word for word in HISTORY if word != X["history"][0])}
    figure = view_figure(each.data_in((0, 1)), TrainingRows.of(model), ident="a", moved_from=moved)
    (before,) = [cell for cell in cells(figure) if cell.endswith("was here before the change")]
    assert f"history: {moved['history']}" in before and figure.count("pw-ghost") == 1


def test_a_category_never_seen_is_owned_up_to(credits):
    _, _, model, each = credits
    odd = each.data_in((0, 1))
    odd["query"]["purpose"] = "never seen"
    figure = view_figure(odd, TrainingRows.of(model), ident="a")
    assert "cannot be drawn" in figure and 'class="pw-here"' not in figure


def test_neighbours_alone_are_counted_as_such(credits):
    _, _, _, each = credits
    told = cells(view_figure(each.data_in((0, 1)), None, ident="a"))
    assert told and all("training rows" not in cell for cell in told) and any("nearest row" in cell for cell in told)


def test_names_beside_numbers_are_whole_and_more_than_twelve_are_counted():
    purposes = [f"{place:02} is the number of this purpose, which is quite long" for place in range(40)]
    X, y = made_credits(n_rows=2000, purposes=purposes)
    model = RECIPClassifier(projections=[(1, 2), (0, 1)], random_state=0).fit(X, y)
    each = model.explain(X[:1])[0]
    for view in ((1, 2), (0, 1)):
        text = squeezed(view_figure(each.data_in(view), TrainingRows.of(model), ident="a"))
        assert sum(re.sub(r"\s", "", name) in text for name in purposes) == 11
        assert re.sub(r"\s", "", X["purpose"][0]) in text and "…and29more" in text


def test_categories_go_up_the_side_with_room_for_their_names(credits):
    _, _, model, each = credits
    figure = view_figure(each.data_in((1, 2)), TrainingRows.of(model), ident="a")
    text = squeezed(figure)
    assert all(re.sub(r"\s", "", name) in text for name in PURPOSE)
    first = figure.split("</svg>")[0]
    places = re.findall(r'<text x="[\d.]+" y="([\d.]+)" text-anchor="end">', first)
    assert (np.diff(sorted(map(float, places))) >= 12.5).all()


def test_hostile_categories_stay_words():
    names = ["<script>alert(1)</script>", 'a" onload="x', "\u202eevil\x00", "x" * 10**5]
    X, y = made_credits(purposes=names)
    model = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X, y)
    page = block(views_switch(views_of(model.explain(X[:1])[0]), TrainingRows.of(model), ident="a"))
    found = read(page)
    assert "<script" not in page and "\x00" not in page and "\u202e" not in page and len(page) < 100_000
    assert not [name for _, name, _ in found.attributes if name in ("style", "onload")]


def test_pages_and_matplotlib_count_the_same_cells():
    """The model keeps equal rows once, matplotlib's picture gets them all."""
    X, y = made_credits(n_rows=2000, purposes=[f"purpose {place:02}" for place in range(30)])
    model = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X, y)
    each = model.explain(X[:1])[0]
    page, plot = TrainingRows.of(model).plane(each.data()).grid, ProjectionDisplay.from_explanation(each, X, y).views[0]
    assert page.lines == plot.grid.lines and page.columns == plot.grid.columns
    assert (page.by_class == plot.grid.by_class).all() and page.n_rows.sum() == 2000
