"""Every kind of page that planewise writes, each made into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from benchmarks.data import make_new_moons
from sklearn.datasets import load_diabetes, load_digits, load_wine, make_classification

import planewise
from planewise.report import report
from planewise.table import TableModel

Rows = tuple[Any, Any]


def wine() -> Rows:
    data = load_wine(as_frame=True)
    return data.data, np.array(["Barolo", "Grignolino", "Barbera"])[data.target]


def moons() -> Rows:
    X, y = make_new_moons(random_state=0)
    return pd.DataFrame(X, columns=["east", "north"]), np.array(["upper", "lower"])[y]


def diabetes() -> Rows:
    data = load_diabetes(as_frame=True, scaled=False)
    return data.data, data.target.to_numpy()


def digits() -> Rows:
    data = load_digits(as_frame=True)
    return data.data[::2], data.target[::2].to_numpy()


def sixty_columns() -> Rows:
    X, y = make_classification(600, 60, n_informative=12, n_classes=3, random_state=0)
    names = [f"the measured quantity number {place} of all" for place in range(60)]
    return pd.DataFrame(X, columns=names), np.array(["low", "middle", "high"])[y]


def mixed() -> Rows:
    """Numbers with gaps, and categories."""
    rng = np.random.default_rng(0)
    town = rng.choice(["Ulm", "Bonn", "Kiel", "Bad Homburg vor der Höhe"], 400)
    frame = pd.DataFrame({"size": rng.normal(size=400), "age": rng.integers(0, 90, 400).astype(float)})
    frame.loc[::9, "size"] = np.nan
    frame["town"] = pd.Categorical(town)
    y = np.where((frame["age"] > 40) ^ (town == "Ulm"), "yes", "no")
    y[::10] = "no"
    return frame, y


def credits() -> Rows:
    """Two columns of categories with long names, and a number."""
    rng = np.random.default_rng(0)
    history = rng.choice(["delayed payment previously", "critical/other existing credit", "all paid"], 400)
    purpose = rng.choice(["radio/television and other entertainment", "car (new)", "domestic_appliances", ""], 400)
    frame = pd.DataFrame({"history": history, "purpose": np.where(purpose == "", None, purpose)}).astype("category")
    frame["amount"] = rng.normal(size=400)
    return frame, np.where((history == "all paid") ^ (rng.random(400) < 0.2), "good", "bad")


REPORTS: dict[str, tuple[Callable[[], Rows], Any]] = {
    "tree": (wine, planewise.SLMClassifier(random_state=0)),
    "forest": (wine, planewise.SLMForestClassifier(n_estimators=20, random_state=0)),
    "boosting": (mixed, planewise.SLMBoostClassifier(n_estimators=20, random_state=0)),
    "machine": (wine, planewise.MCMClassifier(probability=True, random_state=0)),
    "large machine": (
        wine,
        planewise.LargeScaleMCMClassifier(n_components=20, max_iter=30, random_state=0),
    ),
    "views": (wine, planewise.RECIPClassifier(max_projections=4, random_state=0)),
    "views of categories": (
        credits,
        planewise.RECIPClassifier(projections=[(0, 1), (1, 2), (0,)], random_state=0),
    ),
    "views of a table": (mixed, TableModel("recip", random_state=0)),
    "numbers": (diabetes, planewise.SLMBoostRegressor(n_estimators=30, random_state=0)),
    "ten classes": (digits, planewise.SLMForestClassifier(n_estimators=10, random_state=0)),
    "ten classes of a machine": (digits, planewise.MCMClassifier(random_state=0)),
    "sixty columns": (sixty_columns, planewise.SLMClassifier(random_state=0)),
    "sixty columns of views": (sixty_columns, planewise.RECIPClassifier(max_projections=5, random_state=0)),
    "two columns": (moons, planewise.SLMClassifier(random_state=0)),
}


def fitted_and_rest(name: str) -> tuple[Any, Any, Any]:
    """The model of a report, fitted to every other row, and the rest of them."""
    rows, model = REPORTS[name]
    X, y = rows()
    if isinstance(model, TableModel):
        return model.fit(X[::2].assign(answer=y[::2]), "answer"), X[1::2], y[1::2]
    return model.fit(X[::2], y[::2]), X[1::2], y[1::2]


def make_report(name: str, folder: Path) -> Path:
    """A report's file."""
    path = folder / "report.html"
    report(*fitted_and_rest(name), path)
    return path


def _model_file(folder: Path, family: str) -> tuple[str, str]:
    """A table and a model of it, as the commands have them."""
    X, y = wine()
    table = pl.DataFrame({name: X[name].to_numpy() for name in X.columns}).with_columns(kind=pl.Series(y.tolist()))
    table.write_csv(folder / "wine.csv")
    path = folder / "wine.planewise"
    planewise.save(TableModel(family, random_state=0).fit(table, "kind"), path)
    return str(path), str(folder / "wine.csv")


def _describe(folder: Path) -> list[str]:
    model, _ = _model_file(folder, "forest")
    return ["describe", model, "--html", str(folder / "page.html")]


def _explain(family: str) -> Callable[[Path], list[str]]:
    def command(folder: Path) -> list[str]:
        model, table = _model_file(folder, family)
        return ["explain", model, table, "--row", "17", "--html", str(folder / "page.html")]

    return command


def _export(folder: Path) -> list[str]:
    model, _ = _model_file(folder, "kernel")
    return ["export", model, "--to", "html", "--out", str(folder / "page.html")]


def _demo(folder: Path) -> list[str]:
    return ["demo", "--out", str(folder / "page.html")]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "demo": _demo,
    "describe": _describe,
    "explain a tree": _explain("tree"),
    "explain a forest": _explain("forest"),
    "explain a machine": _explain("kernel"),
    "explain a view": _explain("recip"),
    "export": _export,
}


def make_command_page(name: str, folder: Path) -> Path:
    """The file that a command writes."""
    from typer.testing import CliRunner

    from planewise.cli.app import app

    done = CliRunner().invoke(app, COMMANDS[name](folder))
    assert done.exit_code == 0, done.output
    return folder / "page.html"


NOTEBOOK = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Notebook</title>
<meta name="viewport" content="width=device-width">
<style>body { background: #fff; color: #111 }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }</style></head>
<body><main><h1>Notebook</h1>
"""


def make_explanations(folder: Path) -> Path:
    """Explanations as a notebook shows them, one below the other."""
    found = []
    for name in ("views", "sixty columns of views"):
        model, X, _ = fitted_and_rest(name)
        found += [each._repr_html_() for each in model.explain(X.iloc[[0, 40]])]
    path = folder / "page.html"
    path.write_text(NOTEBOOK + "\n".join(found) + "</main></body></html>", encoding="utf-8")
    return path


def make_summaries(folder: Path) -> Path:
    """What follows scikit-learn's diagram of fitted estimators in a notebook."""
    from planewise.report.notebook import summary_html

    found = [summary_html(fitted_and_rest(name)[0]) for name in ("tree", "boosting", "machine", "views", "numbers")]
    path = folder / "page.html"
    path.write_text(NOTEBOOK + "\n".join(found) + "</main></body></html>", encoding="utf-8")
    return path


def make_plain_page(folder: Path) -> Path:
    """What a report says of a model without rows."""
    model, *_ = fitted_and_rest("numbers")
    path = folder / "page.html"
    report(model, path=path, title="Progress of diabetes")
    return path
