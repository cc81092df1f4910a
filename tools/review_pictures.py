"""Make docs/images/review_*.png: cases of the review page, photographed in Chromium.

``python tools/review_pictures.py --data FOLDER`` needs the data sets spambase and german_credit (see
benchmarks.data) and what ``make test-browser`` installs.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
from benchmarks.data import load
from PIL import Image
from playwright.sync_api import sync_playwright

import planewise
from planewise.table import TableModel

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from chromium import path_of_chromium  # noqa: E402

# By picture: data set, name of the target, rows to learn from, model, width, height, scheme, what is done first.
PICTURES = {
    "review_recip": ("spambase", "kind", 2000, "recip", 1180, 1080, "light", "a"),
    "review_boost": ("german_credit", "risk", 700, "boost", 1100, 760, "light", "a"),
    "review_mcm_dark": ("german_credit", "risk", 700, "mcm", 1100, 760, "dark", "a"),
    "review_phone": ("spambase", "kind", 2000, "recip", 390, 1180, "light", ""),
    "review_list": ("german_credit", "risk", 700, "boost", 1100, 640, "light", "/queue?show=all&sort=decision&down=1"),
    "review_accept": ("german_credit", "risk", 700, "boost", 1100, 610, "light", "/accept?class=1&least=0.9"),
    "review_agreement": ("german_credit", "risk", 700, "boost", 1100, 800, "light", "two reviewers"),
}


def photograph(name: str, data: Path, browser, folder: Path) -> None:
    """Fit, review the other rows, and take the picture."""
    which, target, n_rows, family, width, height, scheme, first = PICTURES[name]
    bunch = load(which, as_frame="polars", data_home=data)
    labels = pl.Series(target, bunch.target).cast(pl.String).replace({"0": "ham", "1": "spam"})
    table = bunch.data.with_columns(labels).sample(fraction=1, shuffle=True, seed=0)
    model = TableModel(family, random_state=0).fit(table.head(n_rows), target)
    file, cases = folder / f"{name}.planewise", folder / f"{name}.csv"
    planewise.save(model, file)
    table.slice(n_rows).drop(target).write_csv(cases)
    command = [sys.executable, "-m", "planewise.cli", "review", file, cases]
    command += ["--no-browser", "--who", "Ada"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as review:
        address = next(word for line in review.stdout for word in line.split() if word.startswith("http://"))
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(address)
        if first.startswith("/"):
            decide(page, 12, every=4)
            page.goto(page.url.partition("/case")[0] + first)
        elif first == "two reviewers":
            compare(page)
        elif first == "a":
            decide(page, 1)
        taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        taken.quantize(96).save(ROOT / "docs" / "images" / f"{name}.png", optimize=True)  # a third of the bytes
        page.close()
        review.terminate()


def decide(page, n_cases: int, every: int = 0) -> None:
    """Go through cases; every so many are overridden."""
    for number in range(n_cases):
        key = "a"
        if every and number % every == 0:
            page.keyboard.press("o")
            key = page.locator("#override [data-key]").first.get_attribute("data-key")
        page.keyboard.press(key)
        page.wait_for_function(
            "words => document.querySelector('.progress').innerText.startsWith(words)", arg=f"{number + 1} of"
        )


def compare(page) -> None:
    """Two reviewers decide the same cases, and the second opens their agreement."""
    decide(page, 30, every=4)
    base = page.url.partition("/case")[0]
    page.goto(f"{base}/name")
    page.locator("#name").fill("Bob")
    page.locator("form.name button").click()
    page.wait_for_selector("#accept")
    decide(page, 30, every=5)
    page.goto(f"{base}/agreement")


def main() -> None:
    """Take all pictures, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(PICTURES)}; by default all")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path_of_chromium(), args=["--no-sandbox"])
        for name in given.names or PICTURES:
            photograph(name, given.data, browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
