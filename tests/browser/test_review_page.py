"""A person reviews cases in a real browser: by keyboard, through a crash, at two widths, in both schemes."""

from __future__ import annotations

import http.server
import json
import re
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import polars as pl
import pytest

import planewise
from planewise.table import TableModel

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def cases(n=80, seed=0):
    import numpy as np

    rng = np.random.default_rng(seed)
    east, north = rng.normal(0, 1, n).round(3), rng.normal(0, 1, n).round(3)
    noise = rng.normal(0, 0.4, n)
    kind = np.where(east * north + noise > 0.6, "spam", np.where(east + noise > 0, "ham", "news"))
    words = rng.choice(["<b>bold</b>", "plain"], n)
    return pl.DataFrame(
        {
            "key": [f"M-{k:03d}" for k in range(n)],
            "east": east,
            "north": north,
            "word": words,
            "width": rng.random(n).round(3),
            "kind": kind,
        }
    )


FAMILIES = {
    "recip": {"k": 9},
    "boost": {"n_estimators": 20},
    "mcm": {"Cs": [10.0], "gammas": [0.1], "mus": [1.0], "cv": 2},
    "slm": {"max_depth": 3},
}


@pytest.fixture(scope="session")
def model_files(tmp_path_factory):
    """A function: the files of a model and its cases."""
    made = {}

    def files(family):
        if family not in made:
            folder = tmp_path_factory.mktemp(family)
            fitted = TableModel(family, settings=FAMILIES[family], random_state=0).fit(
                cases(300, 1).drop("key"), "kind"
            )
            planewise.save(fitted, folder / "model.planewise")
            cases().drop("kind").write_csv(folder / "cases.csv")
            made[family] = [str(folder / "model.planewise"), str(folder / "cases.csv")]
        return made[family]

    return files


@pytest.fixture
def start(model_files, tmp_path):
    """A function that starts `planewise review` as a process; all are killed at the end."""
    from benchmarks.review.crash import Server

    running = []

    def begin(family="recip", port=0, files=None, who="Ada"):
        more = ["--answers", str(tmp_path / "answers.jsonl"), "--id-column", "key", "--port", str(port)]
        server = Server([*(files or model_files(family)), *more], who)
        running.append(server)
        return server

    yield begin
    for server in running:
        if server.process.is_alive():
            server.kill()


@pytest.fixture
def records(tmp_path):
    def read():
        return [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()[1:]]

    return read


def home(server):
    return f"{server.address}/?token={'t' * 20}"


def said(page, words):
    from playwright.sync_api import expect

    expect(page.locator("#said")).to_contain_text(words, timeout=20_000)


def title(page):
    return page.locator("#case > span").first.inner_text()


def at_case(page, name):
    from playwright.sync_api import expect

    expect(page.locator("#case")).to_contain_text(name, timeout=20_000)


@pytest.fixture
def other_port():
    """Another server on this machine, as another user of it may run: its address, and the headers it was sent."""
    sent = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append((self.path, dict(self.headers)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_): ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", sent
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_on_another_port_is_sent_neither_the_cookie_nor_the_path(start, open_page, other_port):
    page, (other, sent) = open_page(home(start("boost"))), other_port
    own = urlsplit(page.url).path.split("/")[1]
    assert len(page.context.cookies()) == 1 and page.context.cookies()[0]["path"] == f"/{own}/"
    page.context.unroute_all()
    page.evaluate("address => { window.location = address }", f"{other}/case/0")  # a link, as a person may follow it
    page.wait_for_url(f"{other}/**")
    page.goto(f"{other}/")
    assert len(sent) >= 2
    for path, headers in sent:
        assert own not in path and "cookie" not in {name.lower() for name in headers}
        assert own not in str(headers)
    page.go_back()
    page.go_back()
    page.reload()  # and still the review is there
    assert page.locator("#accept").is_visible()
    open_page.record(page).requests.clear()


def test_the_file_that_a_browser_is_given_leads_in_and_its_code_is_void_then(browser, model_files, tmp_path):
    from tests.app.reviewing import serving

    from planewise.app import create_app
    from planewise.app.server import RedirectFile

    model, table = model_files("slm")
    app = create_app(planewise.load(model), pl.read_csv(table), answers=tmp_path / "answers.jsonl", who="Ada")
    way, page = RedirectFile(), browser.new_page()
    with serving(app) as port:
        server, code = f"http://127.0.0.1:{port}", app.state.keys.hand_out(way.remove)
        file = way.lead_to(f"{server}/?code={code}")
        page.goto(file)
        page.wait_for_selector("#accept")
        assert code not in page.url and app.state.token not in page.url
        assert not Path(url2pathname(urlsplit(file).path)).parent.exists()
        page.reload()
        assert page.locator("#accept").is_visible()
        page.goto(f"{server}/?code={code}")
        assert "planewise review printed" in page.locator("body").inner_text()
        page.goto(f"{server}/?token={app.state.token}")
        assert page.locator("#accept").is_visible()
        page.context.close()


def test_three_cases_by_keyboard_override_note_undo_what_if_reload_and_filter(start, open_page, records):
    page = open_page(home(start("recip")))
    assert "token" not in page.url
    names = []
    for _ in range(3):
        names.append(title(page))
        page.keyboard.press("a")
        said(page, f"{names[-1].split(' ')[1]} accepted")
    assert [each["decision"] for each in records()] == ["accept"] * 3 and len(set(names)) == 3

    fourth = title(page)
    page.keyboard.press("o")
    other = page.locator("#override button").first
    key, words = other.get_attribute("data-key"), other.inner_text().split()[0]
    page.keyboard.press(key)
    said(page, f"is {words}, not")
    assert records()[3]["decision"] == "override" and records()[3]["label"] == words

    fifth = title(page)
    page.keyboard.press("n")
    page.keyboard.type("a and u and o are only letters here")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    said(page, "a note on")
    assert title(page) == fifth and records()[4]["note"] == "a and u and o are only letters here"

    page.keyboard.press("u")
    said(page, "Undone: a note")
    page.keyboard.press("u")
    said(page, "Undone:")
    at_case(page, fourth)
    assert [each["decision"] for each in records()[5:]] == ["undo", "undo"]

    page.keyboard.press("w")
    field = page.locator("#what-if input[type=number]").first
    field.fill("2.9")
    field.press("Enter")
    page.wait_for_selector(".moved")
    assert page.locator("#reasons .pw-ghost").count() and "Nothing is saved" in page.locator(".moved").inner_text()
    assert len(records()) == 7
    page.keyboard.press("Escape")

    page.reload()
    at_case(page, fourth)
    assert page.locator(".moved").count() == 0 and "3 of 80 reviewed" in page.locator(".progress").inner_text()

    page.get_by_role("link", name="accepted", exact=False).first.click()
    at_case(page, names[0])
    page.keyboard.press("j")
    at_case(page, names[1])
    page.keyboard.press("ArrowRight")
    at_case(page, names[2])
    page.keyboard.press("k")
    at_case(page, names[1])
    page.keyboard.press("/")
    page.keyboard.type("M-077")
    page.keyboard.press("Enter")
    at_case(page, "M-077")


def test_a_server_killed_and_started_again_goes_on_and_the_export_has_it_all(
    start, open_page, records, model_files, tmp_path
):
    server = start("recip")
    page = open_page(home(server))
    name = title(page)
    page.keyboard.press("a")
    said(page, "accepted")
    page.wait_for_selector("#note")
    page.locator("#note").fill("written before the crash")
    server.kill()
    record = open_page.record(page)
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    said(page, "The server does not respond")
    assert page.locator("#note").input_value() == "written before the crash"
    assert all("ERR_CONNECTION_REFUSED" in each or each.startswith("htmx:") for each in record.console_errors)
    record.console_errors.clear()
    again = start("recip", port=int(server.address.rpartition(":")[2]))
    page.keyboard.press("a")  # the page is as it was, with its key
    said(page, "accepted")
    assert "2 of 80 reviewed" in page.locator(".progress").inner_text()
    assert [each["note"] for each in records()] == ["", "written before the crash"]
    again.kill()

    from typer.testing import CliRunner

    from planewise.cli._app import app

    call = ["review", *model_files("recip"), "--answers", str(tmp_path / "answers.jsonl"), "--id-column", "key",
            "--export", str(tmp_path / "labels.csv")]  # fmt: skip
    done = CliRunner().invoke(app, call, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    labels = pl.read_csv(tmp_path / "labels.csv")
    assert labels.height == 2 and name.split(" ")[1] in labels["key"].to_list() and "review_label" in labels.columns


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("family", ["recip", "boost", "mcm", "slm"])
def test_pages_are_accessible_and_fit(start, open_page, axe, too_broad, family, width, dark):
    page = open_page(home(start(family)), width, dark=dark)
    assert axe(page) == [] and too_broad(page) == 0
    page.keyboard.press("o")
    page.keyboard.press("w")
    page.locator("#values summary").click()
    assert axe(page) == [] and too_broad(page) == 0
    page.keyboard.press("Escape")
    base = page.url.split("/case")[0]
    for path in ("/queue?show=all&sort=probability", "/accept?class=1&least=0.6", "/agreement", "/export", "/name"):
        page.goto(base + path)
        assert axe(page) == [] and too_broad(page) == 0, path
    page.locator(".by-class summary").click()
    assert axe(page) == [] and too_broad(page) == 0


def test_everything_can_be_reached_and_seen_with_the_tab_key(start, open_page):
    page = open_page(home(start("recip")))
    seen = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        where = page.evaluate(
            """() => { const at = document.activeElement, style = getComputedStyle(at);
            if (at === document.body) return ['', true];
            return [at.id || at.name || at.className.baseVal || at.textContent.trim().slice(0, 20),
                    style.outlineStyle !== 'none' || !!at.closest('.planewise-view') || at.matches('input')]; }"""
        )
        assert where[1], f"no outline at {where[0]}"
        seen.add(where[0])
    assert {"accept", "note", "save-note", "show-keys", "find", "after"} <= seen
    page.locator("#case").focus()
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()


def test_neighbours_are_tied_to_their_table_after_a_case_was_swapped_in(start, open_page):
    from playwright.sync_api import expect

    page = open_page(home(start("recip")))
    first = title(page)
    page.keyboard.press("j")
    expect(page.locator("#case")).not_to_contain_text(first, timeout=20_000)
    mark = page.locator(".pw-mark[tabindex]").first
    row = mark.get_attribute("data-row")
    mark.focus()
    page.keyboard.press("Enter")
    assert page.locator(f"tr.pw-picked[data-row='{row}']").count() >= 1


def test_keys_wait_for_the_page_that_is_on_its_way(start, open_page, records):
    """The next case is asked for and slow to come: what is pressed meanwhile decides nothing."""
    page, held = open_page(home(start("boost"))), []
    first = title(page)
    page.route(re.compile(r"/case/\d+\?"), lambda route: held.append(route))
    page.keyboard.press("j")
    page.wait_for_function("() => document.querySelector('.htmx-request') !== null")
    page.keyboard.press("a")
    page.wait_for_timeout(300)
    for route in held:
        route.continue_()
    page.unroute_all()
    page.wait_for_function("name => !document.querySelector('#case').innerText.includes(name)", arg=first)
    assert len(held) == 1 and records() == []
    page.keyboard.press("a")
    said(page, "accepted")
    assert len(records()) == 1


def test_a_note_that_was_not_saved_is_there_again(start, open_page, records):
    page = open_page(home(start("boost")))
    first = title(page)
    page.locator("#note").fill("half a thought")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.wait_for_function("name => !document.querySelector('#case').innerText.includes(name)", arg=first)
    assert page.locator("#note").input_value() == ""
    page.keyboard.press("k")
    at_case(page, first)
    assert page.locator("#note").input_value() == "half a thought"
    page.reload()
    assert page.locator("#note").input_value() == "half a thought"
    page.locator("#save-note").click()
    said(page, "a note on")
    assert page.locator("#note").input_value() == "" and records()[0]["note"] == "half a thought"


def test_an_error_of_the_server_is_not_called_unsaved(start, open_page):
    page = open_page(home(start("boost")))
    page.route("**/decide", lambda route: route.fulfill(status=502, body="<p>gateway</p>", content_type="text/html"))
    page.keyboard.press("a")
    said(page, "(502). Reload the page to see what is saved.")
    open_page.record(page).console_errors.clear()


def test_without_scripts_the_page_still_works(start, open_page, records):
    page = open_page(home(start("boost")), java_script_enabled=False)
    page.locator("#accept").click()
    assert "Saved" in page.locator("#said").inner_text() and len(records()) == 1
    page.locator("#what-if > summary").click()
    page.get_by_role("button", name="Show the prediction").click()
    assert "Nothing is saved" in page.locator(".moved").inner_text()
    page.locator("#undo button").click()
    assert "Undone" in page.locator("#said").inner_text()
