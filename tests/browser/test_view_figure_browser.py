"""Views under the hands: words under the mouse, a row picked in one place and shown in all, views switched."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from made_pages import REPORTS, fitted_and_rest, make_explanations, make_summaries
from planewise.report._view_scene import TrainingRows
from planewise.report.views import ShownView, block, views_of, views_switch

from planewise import RECIPClassifier
from planewise.report import html

FREE_ROWS = """plot => {  // training rows that no mark lies over: where they are on the screen, and their numbers
    const crowd = plot.querySelector('.pw-rows');
    const rows = crowd.dataset.rows.split(';').map(line => line.split(','));
    const found = rows.map(([x, y, , row]) => {
        const at = new DOMPoint(Number(x), Number(y)).matrixTransform(crowd.getScreenCTM());
        return [at.x, at.y, row];
    });
    const apart = (a, b) => a === b || Math.hypot(a[0] - b[0], a[1] - b[1]) > 4;
    const free = ([x, y]) => !document.elementFromPoint(x, y)?.closest('.pw-mark, .pw-case');
    return found.filter(one => free(one) && found.every(other => apart(one, other)));
}"""
GLOBALS = """() => {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow));
    return Object.getOwnPropertyNames(window).filter(name => !usual.has(name) && !/^\\d+$|playwright/.test(name));
}"""


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A page with one case in several views, and its explanation."""
    model, X, _ = fitted_and_rest("views")
    explanation = next(each for each in model.explain(X) if len(views_of(each)) > 2)
    path = tmp_path_factory.mktemp("case") / "page.html"
    shown = block(views_switch(views_of(explanation), TrainingRows.of(model), ident="case"))
    path.write_text(html.page("Case", [html.heading("Case", level=1), shown]), encoding="utf-8")
    return path, explanation


def _shown_panels(page):
    return [each.is_visible() for each in page.locator(".pw-panel").all()]


def _mark(page, row):
    return page.locator(f".pw-panel:visible .pw-mark[tabindex][data-row='{row}']")


def _nearest(explanation):
    near = [each for side in explanation.neighbours.values() for each in side]
    return min(near, key=lambda each: each["distance"])["rows"][0]


def test_a_mark_under_the_mouse_says_what_it_is(open_page, case):
    path, explanation = case
    page = open_page(path)
    row = _nearest(explanation)
    _mark(page, row).locator(".pw-badge").hover()
    tip = page.locator(".pw-tip:visible")
    assert tip.inner_text().startswith(f"1. training row {row}: ")
    assert all(name in tip.inner_text() for name in explanation.view["features"])
    page.mouse.move(2, 2)
    assert tip.count() == 0


def test_a_category_is_said_to_be_what_it_is(open_page, tmp_path):
    """A missing one and one of too many to be named are not the first one; nor is one that is called None missing."""
    rng = np.random.default_rng(0)
    words = ["None", *(f"kind {place:03}" for place in range(230))]  # 200 of them are named in the page
    X = pd.DataFrame({"east": rng.normal(size=300), "north": rng.normal(size=300)})
    X["kind"] = pd.Categorical.from_codes([*range(231), *[-1] * 69], words)
    model = RECIPClassifier(projections=[(0, 1, 2)], max_dim=3, random_state=0).fit(
        X, np.where(X["east"] > 0, "a", "b")
    )
    path = tmp_path / "page.html"
    path.write_text(model.explain(X[:1])[0]._repr_html_(), encoding="utf-8")
    page = open_page(path)
    told = {}
    for left, top, row in page.locator(".pw-plot").first.evaluate(FREE_ROWS):
        page.mouse.move(left, top)
        told[int(row)] = page.locator(".pw-tip:visible").inner_text().rpartition("kind: ")[2]
    for row, word in told.items():
        wanted = words[row] if row < 200 else "another category" if row < 231 else "missing"
        assert word == wanted, row
    assert {"another category", "missing"} < {*told.values()}


def test_picking_a_mark_shows_its_line_and_the_other_way_round(open_page, case):
    path, explanation = case
    page = open_page(path)
    row = _nearest(explanation)
    line, mark = page.locator(f".pw-panel:visible tr[data-row='{row}']"), _mark(page, row)
    mark.locator(".pw-badge").click()
    assert "pw-picked" in line.get_attribute("class") and mark.get_attribute("aria-pressed") == "true"
    mark.locator(".pw-badge").click()  # again: no longer
    assert page.locator(".pw-picked").count() == 0
    line.locator("td").first.click()
    assert "pw-picked" in mark.get_attribute("class")
    other = page.locator(".pw-panel:visible .pw-pick").nth(2)
    other.click()
    assert other.get_attribute("aria-pressed") == "true" and "pw-picked" not in line.get_attribute("class")


def test_a_training_row_is_named_and_ringed_in_every_view(open_page, case):
    page = open_page(case[0])
    left, top, row = page.locator(".pw-panel:visible .pw-plot").first.evaluate(FREE_ROWS)[0]
    page.mouse.move(left, top)
    assert page.locator(".pw-tip:visible").inner_text().startswith(f"training row {row}: ")
    page.mouse.click(left, top)
    for label in page.locator(".pw-tabs label").all():
        label.click()
        assert page.locator(".pw-panel:visible").locator(f".pw-ring, .pw-mark[data-row='{row}']").count() >= 1
    page.locator(".pw-tabs label").first.click()
    page.locator(".pw-panel:visible .pw-plot").first.scroll_into_view_if_needed()
    page.keyboard.press("Escape")
    assert page.locator(".pw-ring").count() == 0


def test_keys_do_what_the_mouse_does(open_page, case):
    path, _ = case
    page = open_page(path)
    page.locator("#case-0").focus()
    page.keyboard.press("ArrowRight")
    assert _shown_panels(page)[:2] == [False, True]
    mark = page.locator(".pw-panel:visible .pw-mark[tabindex]").first
    mark.focus()
    assert page.locator(".pw-tip:visible").count() == 1
    page.keyboard.press("Enter")
    assert mark.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    assert page.locator(".pw-picked").count() == 0 and page.locator(".pw-tip:visible").count() == 0


def test_views_are_switched_without_the_script_too(open_page, case):
    path, explanation = case
    page = open_page(path, java_script_enabled=False)
    count = len(views_of(explanation))
    for place in range(count):
        page.locator(".pw-tabs label").nth(place).click()
        assert _shown_panels(page) == [at == place for at in range(count)]


def test_the_group_of_views_holds_only_what_chooses_them(open_page, case):
    path, explanation = case
    page = open_page(path)
    group = page.get_by_role("radiogroup", name="Views of this case")
    assert group.get_by_role("radio").count() == len(views_of(explanation))
    assert group.evaluate("each => [...new Set([...each.children].map(child => child.tagName))]") == ["INPUT", "LABEL"]
    group.locator("label").nth(1).click()
    frames = "each => [...each.querySelectorAll('label')].map(label => getComputedStyle(label).boxShadow !== 'none')"
    assert group.evaluate(frames)[:3] == [False, True, False]  # the one chosen is marked


def test_what_comes_later_answers_as_well(open_page, case):
    """A page that puts in pieces after it was loaded, as htmx does, has nothing to do for them."""
    page = open_page(case[0])
    page.evaluate("""() => { const view = document.querySelector('.planewise-view');
        const copy = view.cloneNode(true); view.replaceWith(copy); }""")
    page.locator(".pw-panel:visible .pw-pick").first.click()
    assert page.locator(".pw-picked").count() > 1


def test_outputs_of_a_notebook_keep_to_themselves(open_page, tmp_path):
    page = open_page(make_explanations(tmp_path))
    views = page.locator(".planewise-view").all()
    views[0].locator(".pw-pick:visible").first.click()
    assert views[0].locator(".pw-picked").count() > 0
    assert all(view.locator(".pw-picked").count() == 0 for view in views[1:])
    views[1].locator(".pw-tabs label").nth(1).click()
    assert [view.locator(".pw-panel").first.is_visible() for view in views[:2]] == [True, False]
    assert page.evaluate(GLOBALS) == []


def test_a_line_of_equal_rows_is_tied_to_their_cell(open_page, tmp_path):
    model, X, _ = fitted_and_rest("views of categories")
    known = X[X["purpose"].notna()]
    explanation = model.explain(known[:1])[0]
    path = tmp_path / "page.html"
    data = [ShownView("deciding", explanation.data_in((0, 1)))]
    shown = block(views_switch(data, TrainingRows.of(model), ident="case"))
    path.write_text(html.page("Case", [html.heading("Case", level=1), shown]), encoding="utf-8")
    page = open_page(path)
    page.locator(".pw-pick").first.click()
    assert page.locator(".pw-here .pw-hold.pw-picked").count() == 1
    page.locator(".pw-here .pw-cell").click()
    assert page.locator(".pw-picked").count() == 0


def test_a_tree_says_its_planes(open_page, tmp_path):
    assert type(REPORTS["tree"][1]).__name__ == "SLMClassifier"
    page = open_page(make_summaries(tmp_path))
    page.locator(".pw-tree .pw-open").first.hover()
    assert "training rows" in page.locator(".pw-tip:visible").inner_text()


def test_nothing_in_the_data_runs(open_page, tmp_path):
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</svg><script>alert(3)</script>"]
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=names)
    y = np.where(X[names[0]] > 0, "<img src=x onerror=alert(4)>", "javascript:alert(5)")
    model = RECIPClassifier(projections=[(0, 1), (0, 2)], random_state=0).fit(X, y)
    explanation = model.explain(X[:1])[0]
    path = tmp_path / "page.html"
    path.write_text(explanation._repr_html_(), encoding="utf-8")  # without a policy that would help
    page = open_page(path)
    for mark in page.locator(".pw-panel:visible .pw-mark[tabindex]").all()[:4]:
        mark.focus()
        assert "<script>alert(1)</script>" in page.locator(".pw-tip:visible").inner_text()
    for left, top, _ in page.locator(".pw-panel:visible .pw-plot").first.evaluate(FREE_ROWS)[:5]:
        page.mouse.move(left, top)
        assert "<script>alert(1)</script>" in page.locator(".pw-tip:visible").inner_text()
