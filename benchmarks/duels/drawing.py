"""What pictures and reports cost: each display by the number of rows, a report of 100,000 rows part by part.

    python benchmarks/duels/drawing.py [--out results.json] [--repeats 3]

A display's cost is that of asking the model and arranging (`from_...`) and of drawing at 150 dots an inch, the best of
the repeats. The report is of boosting on rows x 30 numbers with three classes; its parts are timed one after another in
one run. How long the page takes to open is what the browser says of itself (the load event, and the largest contentful
paint), where Chromium and the group `browser` are installed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import planewise
from planewise import plot
from planewise.report import _report, report

SIZES = (1_000, 10_000, 100_000)
ROWS, COLUMNS = 100_000, 30
# Functions of a report's file, and the part they belong to.
PARTS = {
    "evaluate": "predictions", "quality": "quality", "calibration": "quality", "worst_rows": "mistakes",
    "describe": "description",
}  # fmt: skip


def rows(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * (X[:, min(2, n_columns - 1)] > 0) + 0.7 * rng.normal(size=n_rows)
    return X, np.digitize(score, [-0.6, 0.6])


def displays(n_rows: int) -> dict:
    """Each display, to be made from models fitted to at most 2000 rows and shown n_rows."""
    X, y = rows(n_rows, 6)
    few, target = X[:2000], y[:2000]
    tree = planewise.SLMClassifier(random_state=0).fit(few, target)
    forest = planewise.SLMForestClassifier(n_estimators=20, random_state=0).fit(few, target)
    machine = planewise.MCMClassifier(random_state=0).fit(few[:500], target[:500])
    views = planewise.RECIPClassifier(max_projections=4, random_state=0).fit(few, target)
    plane = planewise.SLMClassifier(random_state=0).fit(few[:, :2], target)
    test = planewise.DiscriminantFeatureTest().fit(X, y)
    return {
        "TreeDisplay": lambda: plot.TreeDisplay.from_estimator(tree),
        "PartitionDisplay, a tree": lambda: plot.PartitionDisplay.from_estimator(plane, X[:, :2], y),
        "PartitionDisplay, a forest": lambda: plot.PartitionDisplay.from_estimator(forest, X, y),
        "SelectionDisplay": lambda: plot.SelectionDisplay.from_estimator(tree, X, y),
        "FeatureTestDisplay": lambda: plot.FeatureTestDisplay.from_estimator(test),
        "ConvergenceDisplay": lambda: plot.ConvergenceDisplay.from_estimators({"forest": forest}, X, y),
        "EmbeddingDisplay": lambda: plot.EmbeddingDisplay.from_estimator(machine, X, y),
        "SparsityDisplay": lambda: plot.SparsityDisplay.from_estimators({"tree": tree, "forest": forest}, X, y),
        "ProjectionDisplay, one": lambda: plot.ProjectionDisplay.from_explanation(
            views.explain(X[-1:])[0], few, target
        ),
        "ProjectionDisplay, many": lambda: plot.ProjectionDisplay.from_estimator(views, few, target, X, y),
    }


def cost(make: object, repeats: int) -> dict[str, float]:
    best = {"make": np.inf, "draw": np.inf}
    for _ in range(repeats):
        tick = time.perf_counter()
        display = make()
        tock = time.perf_counter()
        display.plot().figure_.savefig(io.BytesIO(), dpi=150)
        best = {
            "make": min(best["make"], tock - tick), "draw": min(best["draw"], time.perf_counter() - tock)
        }  # fmt: skip
        plt.close("all")
    return {part: round(seconds, 3) for part, seconds in best.items()}


def timed_report(path: Path) -> dict:
    X, y = rows(ROWS, COLUMNS)
    model = planewise.SLMBoostClassifier(n_estimators=100, random_state=0).fit(X[:50_000], y[:50_000])
    spent: dict[str, float] = defaultdict(float)

    def watched(function, part):
        def run(*args, **settings):
            tick = time.perf_counter()
            try:
                return function(*args, **settings)
            finally:
                spent[part] += time.perf_counter() - tick

        return run

    kept = {name: getattr(_report, name) for name in PARTS}
    for name, part in PARTS.items():
        setattr(_report, name, watched(kept[name], part))
    tick = time.perf_counter()
    try:
        report(model, X, y, path)
    finally:
        for name, function in kept.items():
            setattr(_report, name, function)
    total = time.perf_counter() - tick
    spent["pictures and writing"] = total - sum(spent.values())
    return {
        "rows": ROWS, "columns": COLUMNS, "bytes": path.stat().st_size, "seconds": round(total, 2),
        "parts": {part: round(seconds, 2) for part, seconds in spent.items()},
    }  # fmt: skip


PAINT = """() => new Promise(done => {
  const largest = new PerformanceObserver(list => done(list.getEntries().at(-1).startTime));
  largest.observe({type: 'largest-contentful-paint', buffered: true});
  setTimeout(() => done(null), 3000);
})"""


def opened(path: Path, repeats: int) -> dict | None:
    """Milliseconds until the page has loaded and painted, the median of several visits."""
    chromium = os.environ.get("PLANEWISE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    loads, paints = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(repeats):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.resolve().as_uri(), wait_until="load")
            loads.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart"))
            paints.append(page.evaluate(PAINT))
            page.close()
        browser.close()
    return {"load": round(float(np.median(loads))), "largest contentful paint": round(float(np.median(paints)))}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    mpl.use("Agg")
    found: dict = {"displays": {}}
    for n_rows in SIZES:
        for name, make in displays(n_rows).items():
            found["displays"].setdefault(name, {})[str(n_rows)] = cost(make, asked.repeats)
            print(f"{n_rows:>7} {name:<28} {found['displays'][name][str(n_rows)]}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        found["report"] = timed_report(path)
        found["report"]["opened, ms"] = opened(path, 5)
    print(json.dumps(found["report"], indent=1))
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
