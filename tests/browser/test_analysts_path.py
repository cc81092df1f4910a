"""The analyst's path from a table to a better model, in a real browser: by keyboard alone, and by mouse on a phone."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score
from test_review_page import cases, home, model_files, records, said, start  # noqa: F401 (fixtures)
from typer.testing import CliRunner

from planewise.cli._app import app

N_CASES = 30


def command(*args):
    done = CliRunner().invoke(app, [str(each) for each in args], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


class Keyboard:
    """Only keys."""

    def __init__(self, page):
        self.page = page

    def go_to(self, words):
        """Press Tab until what is focused says this."""
        for _ in range(150):
            self.page.keyboard.press("Tab")
            at = "document.activeElement"
            if words in self.page.evaluate(f"{at}.matches('a, button') ? {at}.innerText : ''"):
                return
        raise AssertionError(f"{words!r} cannot be reached with the Tab key")

    def follow(self, words):
        self.go_to(words)
        self.page.keyboard.press("Enter")

    def name(self, name):
        for _ in range(40):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("document.activeElement.id") == "name":
                break
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")

    def accept(self):
        self.page.keyboard.press("a")

    def override(self, note=""):
        if note:
            self.page.keyboard.press("n")
            self.page.keyboard.type(note)
            self.page.keyboard.press("Escape")
        self.page.keyboard.press("o")
        self.page.keyboard.press(self.page.locator("#override [data-key]").first.get_attribute("data-key"))

    def undo(self):
        self.page.keyboard.press("u")

    def list(self):
        self.page.keyboard.press("l")

    def first_in_list(self):
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("ArrowUp")
        self.page.keyboard.press("Enter")


class Mouse(Keyboard):
    """Clicks, and keys for what is written."""

    def follow(self, words):
        self.page.locator("a, button").filter(has_text=words).first.click()

    def name(self, name):
        self.page.locator("#name").fill(name)
        self.page.locator("form.name button").click()

    def accept(self):
        self.page.locator("#accept").click()

    def override(self, note=""):
        self.page.locator("#note").fill(note)
        self.page.locator("#override > summary").click()
        self.page.locator("#override button").first.click()

    def undo(self):
        self.page.locator("#undo button").click()

    def list(self):
        self.page.locator("#list").click()

    def first_in_list(self):
        self.page.locator("a.open-case").first.click()


def progress(page, n_reviewed):
    from playwright.sync_api import expect

    expect(page.locator(".progress")).to_contain_text(f"{n_reviewed} of {N_CASES} reviewed", timeout=20_000)


def decide_all(page, hand, n_done, every):
    """Go through all cases; every so many are overridden."""
    for k in range(n_done, N_CASES):
        page.wait_for_selector("#accept")
        if k % every == 0:
            hand.override(note="a closer look" if k == every else "")
        else:
            hand.accept()
        progress(page, k + 1)


@pytest.mark.parametrize(
    ("by", "width", "dark"), [(Keyboard, 1280, False), (Mouse, 390, True)], ids=["keyboard", "mouse-on-a-phone"]
)
def test_from_a_table_to_a_better_model(start, records, open_page, axe, too_broad, tmp_path, by, width, dark):  # noqa: F811
    folder = tmp_path
    cases(300, 1).write_csv(folder / "mails.csv")
    new = cases(N_CASES, 5).drop("kind").with_columns(pl.Series("code", ["007", "42", "NA"] * 10))
    new.write_csv(folder / "new.csv")
    model, table = folder / "m.planewise", folder / "new.csv"
    command("fit", folder / "mails.csv", "--target", "kind", "--model", "boost", "--out", model)
    assert "SLMBoostClassifier" in command("describe", model)
    assert "because" in command("explain", model, table, "--row", 0)

    def judged():
        assert axe(page) == [] and too_broad(page) == 0

    server = start(files=[str(model), str(table)], who=None)
    page = open_page(home(server), width, dark=dark)
    hand = by(page)
    judged()
    hand.name("Ada")
    progress(page, 0)

    hand.list()
    page.wait_for_selector("a.open-case")
    hand.follow("probability")
    page.wait_for_selector("th[aria-sort=ascending]")
    judged()
    hand.first_in_list()
    page.wait_for_selector("#accept")
    hand.override(note="not that one")
    progress(page, 1)
    hand.undo()
    said(page, "Your note is back in the field")
    assert page.locator("#note").input_value() == "not that one"
    judged()
    hand.accept()  # with the note
    progress(page, 1)
    assert [each["note"] for each in records()] == ["not that one", "", "not that one"]

    hand.follow("Accept many")
    page.wait_for_selector("form.rule")
    hand.follow("Preview")
    page.wait_for_selector("#accept-all")
    judged()
    n_clear = int(page.locator("#accept-all input[name=n_cases]").get_attribute("value"))
    hand.follow("Accept all" if n_clear > 1 else "Accept 1")
    progress(page, 1 + n_clear)
    assert len({each["batch"]["rule"] for each in records()[3:]}) == 1
    hand.undo()
    progress(page, 1)

    hand.follow("One by one")
    decide_all(page, hand, 1, every=7)
    assert "All cases are reviewed" in page.locator("#case").inner_text()
    judged()
    server.kill()

    server = start(files=[str(model), str(table)], who=None, port=int(server.address.rpartition(":")[2]))
    page.reload()
    progress(page, N_CASES)
    assert "Reviewer: Ada" in page.locator(".where").inner_text()
    hand.follow("change")
    page.wait_for_selector("#name")
    hand.name("Bob")
    progress(page, 0)
    decide_all(page, hand, 0, every=5)

    hand.follow("Agreement")
    page.wait_for_selector(".pair table")
    judged()
    labels = {who: {} for who in ("Ada", "Bob")}
    for each in records():
        if each["decision"] in ("accept", "override"):
            labels[each["who"]][each["row"]] = each["label"]
    pairs = [(labels["Ada"][row], labels["Bob"][row]) for row in range(N_CASES)]
    kappa = cohen_kappa_score(*zip(*pairs, strict=True))
    shown = page.locator(".pair dd strong").first.inner_text()
    assert float(shown) == pytest.approx(kappa, abs=1e-3) and 0 < kappa < 1
    n_apart = sum(one != other for one, other in pairs)
    assert page.locator(".pair a.open-case").count() == n_apart > 0

    hand.follow("Export")
    page.wait_for_selector("form.rule")
    judged()
    with page.expect_download() as coming:
        hand.follow("Download")
    coming.value.save_as(folder / "reviewed.csv")
    exported = pl.read_csv(folder / "reviewed.csv", infer_schema=False)
    assert exported.height == 2 * N_CASES
    assert exported.filter(pl.col("review_who") == "Bob")["code"].to_list() == new["code"].to_list()
    server.kill()

    def refitted(*more):
        call = ["fit", folder / "mails.csv", "--target", "kind", "--model", "boost", "--json", "--corrections"]
        told = command(*call, folder / "answers.jsonl", *more)
        return json.loads(re.search(r"\{.*\}", told, re.S).group())["corrections"]

    both, one = refitted(), refitted("--corrections-by", "Ada")
    assert (both["n_rows_added"], both["n_disputed"]) == (N_CASES - n_apart, n_apart)
    assert one["n_rows_added"] == N_CASES and one["n_overridden"] == 4
    assert one["n_overridden_right_with"] >= one["n_overridden_right_without"]
