"""The watch over pages sees what it is there to see."""

from __future__ import annotations

import sys

import pytest
from chromium import what_is_missing

GOOD = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title></head><body><main><h1>t</h1>{}'


@pytest.fixture
def written(tmp_path):
    def write(body):
        (tmp_path / "page.html").write_text(GOOD.format(body), encoding="utf-8")
        return tmp_path / "page.html"

    return write


def forget(open_page):
    """A page that did wrong on purpose is not judged again at the end."""
    for page in list(open_page.records):
        open_page.records.pop(page)


def test_a_plain_page_is_quiet(open_page, axe, pdf, too_broad, written):
    page = open_page(written('<p>words</p><img alt="dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'), 390)
    assert axe(page) == [] and too_broad(page) == 0
    assert len(pdf(page)) > 500
    assert page.evaluate("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [390, False]
    record = open_page.record(page)
    assert record.requests[0] == record.home and record.left == []
    record.check()


def test_dark_is_dark(open_page, written):
    page = open_page(written(""), dark=True)
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<script>console.error('no')</script>", "console"),
        ("<script>missing.thing</script>", "errors of scripts"),
        ("<script>alert('here')</script>", "dialogs"),
        ("<script>fetch('https://planewise.invalid/x').catch(() => 0)</script>", "(console|requests that left)"),
        ('<img alt="x" src="other.png">', "(console|requests that left)"),
    ],
)
def test_wrongs_are_noticed(open_page, written, body, complaint):
    page = open_page(written(body))
    page.wait_for_timeout(100)
    record = open_page.record(page)
    with pytest.raises(AssertionError, match=complaint):
        record.check()
    if "left" in complaint:
        assert len(record.left) == 1
    forget(open_page)


def test_axe_and_breadth_complain(open_page, axe, too_broad, written):
    page = open_page(written('<p style="color: #ddd; background: #fff; width: 800px">pale</p>'), 390)
    assert any("color-contrast" in each for each in axe(page))
    assert too_broad(page) > 300


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setenv("PLANEWISE_CHROMIUM", "no-such-program")
    assert "PLANEWISE_CHROMIUM is 'no-such-program'" in what_is_missing()
    monkeypatch.delenv("PLANEWISE_CHROMIUM")
    monkeypatch.setenv("PATH", "")
    assert "apt-get install chromium" in what_is_missing()
    monkeypatch.setitem(sys.modules, "playwright", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install --group browser" in what_is_missing()
