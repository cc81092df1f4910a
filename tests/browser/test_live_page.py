"""The live example of the site: the core as WebAssembly gives the tree that Python gives, and the page shows it."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from planewise import SLMClassifier

STATIC = Path(__file__).resolve().parents[2] / "docs" / "_static"
STALE = "the core has changed: run `make live` and commit docs/_static/live_core.js"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=STATIC))
    Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}/live.html"
    server.shutdown()
    server.server_close()


@pytest.fixture
def live(open_page, address):
    def opened(width=1280, **settings):
        page = open_page(address, width, **settings)
        page.wait_for_function("window.planewiseLive")
        return page

    return opened


def points_of(X, y):
    return [{"x": float(a), "y": float(b), "label": int(label)} for (a, b), label in zip(X, y, strict=True)]


def fitted(page, X, y, max_planes=2, max_depth=0):
    return page.evaluate(
        "([points, planes, depth]) => planewiseLive.fit(points, planes, depth)",
        [points_of(X, y), max_planes, max_depth],
    )


def table(kind, n):
    random = np.random.default_rng(n)
    X = random.random((n, 2)).astype(np.float32)
    x, y = X.T
    label = {
        "diagonal": x + 0.7 * y + random.normal(0, 0.05, n) > 0.9,
        "crossing": (x + y > 1) ^ (x > y),
        "ring": (x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.1,
        "noise": random.random(n) < 0.5,
        "ties": (np.round(x * 4) + np.round(y * 4)) % 2 == 0,
    }[kind]
    if kind == "ties":
        X = np.round(X * 4) / np.float32(4)
    return X, label.astype(int)


@pytest.mark.parametrize("kind", ["diagonal", "crossing", "ring", "noise", "ties"])
def test_the_tree_in_the_browser_is_pythons_tree(live, kind):
    page = live()
    for n, max_planes, max_depth in [(6, 2, 0), (150, 2, 0), (150, 1, 2), (1500, 3, 3), (5000, 2, 0)]:
        X, y = table(kind, n)
        there = fitted(page, X, y, max_planes, max_depth)
        here = SLMClassifier(random_state=0, max_planes=max_planes, max_depth=max_depth or None).fit(X, y)
        assert there["leaf"] == here.apply(X).tolist(), STALE
        for name in sorted(set(there) - {"leaf"}):
            assert there[name] == getattr(here.tree_, name).ravel().tolist(), f"{name}: {STALE}"


def test_regions_are_drawn_where_python_predicts_them(live):
    X, y = table("crossing", 600)
    regions = live().evaluate(
        "(points) => planewiseLive.pictureOf(planewiseLive.fit(points, 2, 0)).regions", points_of(X, y)
    )
    model = SLMClassifier(random_state=0).fit(X, y)
    inside = [
        (region["node"], np.mean(region["polygon"], axis=0)) for region in regions if area(region["polygon"]) > 1e-6
    ]
    assert len(inside) > 4
    assert [node for node, _ in inside] == model.apply(np.array([middle for _, middle in inside])).tolist()
    assert sum(area(region["polygon"]) for region in regions) == pytest.approx(1)


def area(polygon):
    x, y = np.transpose(polygon)
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def test_every_point_changes_the_answer(live):
    page = live()
    status, canvas = page.get_by_role("status"), page.locator("canvas")
    assert "of 200 points lie in a region of their class" in status.inner_text()
    page.get_by_role("button", name="Clear").click()
    assert status.inner_text() == "Add points of both classes."
    side = canvas.bounding_box()["width"]
    for label, x in [("first class", 0.1), ("second class", 0.7)]:
        page.get_by_label(label).check()
        for k in range(12):
            canvas.click(position={"x": side * (x + 0.015 * k), "y": side * (0.1 + 0.065 * k)})
    assert status.inner_text().startswith("1 plane, depth 1, 2 leaves. 24 of 24 points lie in a region of their class.")
    assert page.locator(".planes li").count() == 1
    page.get_by_role("button", name="Undo").click()
    assert "of 23 points" in status.inner_text()


def test_the_keyboard_is_enough(live):
    page = live()
    page.get_by_role("button", name="Clear").focus()
    page.keyboard.press("Enter")
    page.locator("canvas").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    assert "of 2 points" in page.get_by_role("status").inner_text()
    assert page.get_by_label("second class").is_checked()


def test_parameters_of_the_tree_count(live):
    page = live()
    page.get_by_label("max_depth").select_option("1")
    page.get_by_label("max_planes").select_option("1")
    assert page.get_by_role("status").inner_text().startswith("1 plane, depth 1, 2 leaves.")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_suits_its_reader(live, axe, too_broad, width, dark):
    page = live(width, dark=dark)
    assert axe(page) == [] and too_broad(page) == 0
    square = page.locator("canvas").bounding_box()
    assert square["width"] == pytest.approx(square["height"])


def test_a_tap_adds_a_point(live):
    page = live(390, has_touch=True)
    page.locator("canvas").tap(position={"x": 60, "y": 60})
    assert "of 201 points" in page.get_by_role("status").inner_text()
