"""Every kind of page in the browser: broad and narrow, light and dark, and printed."""

from __future__ import annotations

import pytest
from made_pages import (
    COMMANDS,
    REPORTS,
    make_command_page,
    make_explanations,
    make_plain_page,
    make_report,
    make_summaries,
)

from planewise.cli import demo as _demo

WIDTHS = (1280, 390)
# What scrolls sideways must show it by a shadow or words, be named, and be reached by keyboard.
SCROLLS_UNSEEN = """[...document.querySelectorAll('main *, .planewise-view *')].filter(each => {
    const look = getComputedStyle(each);
    if (each.scrollWidth <= each.clientWidth + 1 || !['auto', 'scroll'].includes(look.overflowX)) return false;
    const words = each.querySelector(':scope > figcaption');
    const hint = words && getComputedStyle(words, '::before').content.includes('Scroll');
    const shadow = look.backgroundImage.includes('gradient') && each.getAttribute('aria-label');
    return each.tabIndex < 0 || !(shadow || hint);
}).map(each => each.outerHTML.slice(0, 120))"""


@pytest.fixture
def judged(open_page, axe, pdf, too_broad):
    """A file is opened in all ways; the page of the last is returned."""

    def judge(path):
        for width in WIDTHS:
            for dark in (False, True):
                page = open_page(path, width, dark=dark)
                assert too_broad(page) == 0, f"{width} pixels"
                assert axe(page) == [], f"{width} pixels, {'dark' if dark else 'light'}"
                assert page.evaluate(SCROLLS_UNSEEN) == [], f"{width} pixels"
        assert len(pdf(page)) > 2000
        return page

    return judge


@pytest.mark.parametrize("name", REPORTS)
def test_a_report(name, judged, tmp_path):
    path = make_report(name, tmp_path)
    assert path.stat().st_size < 5_000_000
    page = judged(path)
    model = REPORTS[name][1]
    assert page.title() == type(getattr(model, "estimator_", model)).__name__  # a table's model has one
    sizes = page.evaluate("[...document.images].map(each => [each.complete, each.naturalWidth])")
    assert all(complete and width > 300 for complete, width in sizes)
    assert sizes or name in ("large machine", "ten classes of a machine")  # without probabilities, nothing is drawn


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_s_page(name, judged, tmp_path, monkeypatch):
    if name == "demo":  # as many fits as its page needs
        monkeypatch.setattr(_demo, "SETS", ("new moons", "wine", "diabetes"))
        monkeypatch.setattr(_demo, "FAMILIES", ("one tree", "boosting"))
    judged(make_command_page(name, tmp_path))


@pytest.mark.parametrize("make", [make_explanations, make_summaries, make_plain_page])
def test_other_pages(make, judged, tmp_path):
    judged(make(tmp_path))


def test_pictures_are_on_white_on_a_dark_page_too(open_page, tmp_path):
    page = open_page(make_report("tree", tmp_path), dark=True)
    assert (
        page.evaluate("getComputedStyle(document.querySelector('figure img')).backgroundColor") == "rgb(255, 255, 255)"
    )
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_nothing_is_cut_off_in_print(open_page, tmp_path):
    for name in ("ten classes of a machine", "sixty columns"):
        page = open_page(make_report(name, tmp_path), 680)  # about what A4 leaves between its margins
        page.emulate_media(media="print")
        beyond = """[...document.querySelectorAll('table, pre, img, p, h2, h3')]
            .map(each => each.getBoundingClientRect().right - innerWidth).filter(excess => excess > 0)"""
        assert page.evaluate(beyond) == [], name
