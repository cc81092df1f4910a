"""Tables that mean harm: in every place where a report shows data, nothing runs and nothing breaks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from made_pages import wine

import planewise
from planewise.report import html, report
from planewise.report.case import case_parts

HUGE = 10_000_000
HOSTILE = {
    "script": "<script>window.ran = 1</script>",
    "end of style": "</style></title><script>window.ran = 1</script>",
    "image": "<img src=x onerror='window.ran = 1'><svg onload='window.ran = 1'>",
    "attribute": '"\' onmouseover=\'window.ran = 1\' onfocus="window.ran = 1" autofocus tabindex=1 x="',
    "address": "javascript:window.ran=1",
    "end of table": "</td></tr></table></pre></div></main></body></html><h1>taken over</h1>",
    "entity": "&lt;script&gt;window.ran=1&lt;/script&gt; &#x202e; &amp;",
    "controls": "bell \x07 nul \x00 escape \x1b[31m c1 \x85\x9f end",
    "half letters": "half \ud800 other \udc00 half",
    "turned": "\u202eturned round\u2066 and \u200f\u061c more",
    "right to left": "שלום عليكم",
    "emoji": "👩‍👩‍👧 🏳️‍🌈 🇺🇳",
    "piled": "a" + "\u0301\u0489\u20dd" * 500,
    "broad": "﷽𒐫" * 60,
    "lines": "one\r\ntwo\u2028three\u2029four\vfive",
    "mathematics": r"$\frac{1}{0}$ $x_$ \alpha %s {0} {{7*7}}",
    "wrong encoding": "Ã¼ber ï»¿ \ufeff \ufffe \uffff",
    "no spaces": "x" * 5000,
    "huge": "<b>" * (HUGE // 3),
}
FAMILIES = {
    "tree": planewise.SLMClassifier(random_state=0),
    "forest": planewise.SLMForestClassifier(n_estimators=4, random_state=0),
    "boosting": planewise.SLMBoostClassifier(n_estimators=4, random_state=0),
    "machine": planewise.MCMClassifier(probability=True, random_state=0),
    "large machine": planewise.LargeScaleMCMClassifier(n_components=10, max_iter=5, random_state=0),
    "views": planewise.RECIPClassifier(max_projections=3, random_state=0),
}
WITH_CATEGORIES = ("tree", "forest", "boosting", "views")
WORDS = list(HOSTILE.values())


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    """What is tested is not how sharp they are."""
    monkeypatch.setattr(html, "DPI", 50)


def hostile_rows(family: str, turn: int):
    """Thirteen columns with hostile names, one of them of hostile categories, and hostile classes.

    `turn` brings every word to every place as it goes from 0 to 2.
    """
    X, y = wine()
    words = WORDS[7 * turn :] + WORDS[: 7 * turn]
    frame = pd.DataFrame(X.to_numpy(), columns=pd.Index(words[:13], dtype=object))
    if family in WITH_CATEGORIES:
        places = pd.qcut(X["flavanoids"].to_numpy(), len(words), labels=False)
        frame[words[6]] = pd.Categorical.from_codes(places, categories=pd.Index(words, dtype=object))
    names = np.array(
        words[-3:] if turn else [HOSTILE["huge"], HOSTILE["script"], HOSTILE["half letters"]], dtype=object
    )
    return frame, names[np.unique(y, return_inverse=True)[1]], words[0]


@pytest.fixture
def unharmed(open_page, too_broad):
    """A page in which nothing ran, nothing stands where it should not, and nothing is broader than a phone."""

    def check(path):
        assert path.stat().st_size < 5_000_000
        page = open_page(path, 390)
        page.mouse.move(100, 300)
        page.keyboard.press("Tab")
        assert page.evaluate("window.ran") is None
        assert page.evaluate("document.querySelectorAll('h1').length") == 1
        assert (
            page.evaluate("document.querySelectorAll('b, [onload], [onerror], [onmouseover], [onfocus]').length") == 0
        )
        assert page.evaluate("[...document.body.children].every(each => each.tagName === 'MAIN')")
        assert page.evaluate("document.querySelector('main').lastElementChild.tagName") == "FOOTER"
        assert too_broad(page) == 0
        return page

    return check


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_report_of_hostile_values(family, turn, unharmed, tmp_path):
    X, y, title = hostile_rows(family, turn)
    model = FAMILIES[family].fit(X[::2], y[::2])
    report(model, X[1::2], y[1::2], tmp_path / "page.html", title=title)
    page = unharmed(tmp_path / "page.html")
    text = page.evaluate("document.body.innerText")
    assert "\u202e" not in text and "\x00" not in text
    if turn == 0:  # shown as what it is
        assert HOSTILE["script"] in text and r"half \ud800 other \udc00 half" in text


def test_a_plain_page_and_explanations_with_hostile_units(unharmed, tmp_path):
    X, y, title = hostile_rows("views", 1)
    report(FAMILIES["tree"].fit(X[::2], y[::2]), path=tmp_path / "plain.html", title=title)
    unharmed(tmp_path / "plain.html")
    numbers = X.drop(columns=X.columns[6])
    model = planewise.RECIPClassifier(max_projections=3, random_state=0).fit(numbers[::2], y[::2])
    units = dict(zip(numbers.columns, reversed(WORDS), strict=False))
    shown = [part for each in model.explain(numbers[1::30], units=units) for part in case_parts(each)]
    body = [html.heading("Explanations", level=1), *shown, html.footer("words")]
    (tmp_path / "explained.html").write_text(html.page(title, body), encoding="utf-8")
    unharmed(tmp_path / "explained.html")
