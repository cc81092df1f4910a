"""planewise demo: every family on bundled data, beside scikit-learn's models of the same kind."""

from __future__ import annotations

import pickle
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import polars as pl
import typer
from sklearn import ensemble, neighbors, svm, tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_friedman1, make_moons
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import planewise as pw
from planewise._atomic import write_whole
from planewise.cli.output import say
from planewise.cli.tables import refuse_existing
from planewise.data.values import Columns
from planewise.evaluate.evaluation import evaluate
from planewise.evaluate.quality import MEASURES, in_words, measures
from planewise.explain.planes import plane_in_words, read_plane
from planewise.explain.reasons import Reason
from planewise.plot.partition import PartitionDisplay
from planewise.plot.style import new_axes, require_matplotlib
from planewise.report import html

HOW_MEASURED = "Quality is measured on 40% held-out rows, with 95% confidence intervals in brackets."
HOW_TIMED = "Fit times: median of three fits (fewer if slow), on one thread each, planewise and scikit-learn in turns."
HEADER = ["data", "model", "measure", "planewise", "scikit-learn", "our size", "their size", "our fit", "their fit"]
WIDTHS = [15, 10, 10, 24, 24, 10, 11, 9, 9]
SETS = ("new moons", "wine", "breast cancer", "Friedman 1", "diabetes")
REGRESSION = ("Friedman 1", "diabetes")
FAMILIES = ("one tree", "forest", "boosting", "kernel", "additive", "near rows")
TURNS = 3
ENOUGH = 1000.0  # milliseconds spent on a pair, after which it is not fitted again


def demo(
    out: Annotated[
        Path | None, typer.Option(help="HTML page to write; by default planewise-demo.html, which is replaced.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
) -> None:
    """Compare every family with scikit-learn on bundled data: quality, size and time, in a table and a page.

    Example:
      planewise demo --out demo.html
    """
    own = Path("planewise-demo.html")  # made anew each time
    refuse_existing(own if out is None else out, force or out is None)
    out = own if out is None else out
    plt = without_a_screen()
    rows: list[list[str]] = []
    words: list[str] = []
    why, machine = None, ""
    _print_row(HEADER)
    for name in SETS:
        train, test, y_train, _, names = split(name)
        for family in FAMILIES:
            if family == "near rows" and name in REGRESSION:  # RECIP predicts classes only
                continue
            row, model = compare(name, family)
            rows.append(row)
            _print_row(row)
            if (name, family) == ("wine", "one tree"):
                words = planes_in_words(model, names)
            if (name, family) == ("breast cancer", "kernel"):
                machine = f"For {name} the machine keeps {len(model.support_)} of {len(train)} training rows."
            if (name, family) == ("diabetes", "boosting"):
                why = why_this_number(train, y_train, test, names)
    cells = cells_picture(*split("new moons"))
    write_whole(out, page(HEADER, rows, words, machine, cells, why))
    plt.close(cells)
    say("", HOW_MEASURED, HOW_TIMED, f"report: {out}")


def _print_row(cells: list[str]) -> None:
    typer.echo("".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip())


def split(name: str) -> tuple[Any, Any, Any, Any, list[str]]:
    """Training rows and held-out rows of a data set, their targets, and the names of the columns."""
    names: list[str]
    if name == "new moons":
        (X, y), names = make_moons(1000, noise=0.3, random_state=0), ["east", "north"]
    elif name == "Friedman 1":
        (X, y), names = make_friedman1(1000, random_state=0), [f"x{j}" for j in range(10)]
    else:
        bunch = {"wine": load_wine, "breast cancer": load_breast_cancer, "diabetes": load_diabetes}[name]()
        X, y, names = bunch.data, bunch.target, list(bunch.feature_names)
    strata = None if name in REGRESSION else y
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=strata)
    return train, test, y_train, y_test, names


def makers(family: str, regression: bool) -> list[Callable[[], Any]]:
    """What makes our model of a family, and scikit-learn's."""

    def scaled(machine: type) -> Callable[[], Any]:
        return lambda: make_pipeline(StandardScaler(), machine())

    kind = "Regressor" if regression else "Classifier"
    seeded = {
        "one tree": (f"SLM{kind}", getattr(tree, f"DecisionTree{kind}")),
        "forest": (f"SLMForest{kind}", getattr(ensemble, f"RandomForest{kind}")),
        "boosting": (f"SLMBoost{kind}", getattr(ensemble, f"HistGradientBoosting{kind}")),
    }
    if family in seeded:
        name, theirs = seeded[family]
        return [partial(getattr(pw, name), random_state=0), partial(theirs, random_state=0)]
    if family == "additive":  # theirs sums functions of two columns as well
        pairwise = partial(getattr(ensemble, f"HistGradientBoosting{kind}"), interaction_cst="pairwise")
        return [partial(getattr(pw, f"Additive{kind}"), random_state=0), partial(pairwise, random_state=0)]
    if family == "kernel":
        ours = pw.MCMRegressor if regression else partial(pw.MCMClassifier, random_state=0)
        return [ours, scaled(svm.SVR if regression else svm.SVC)]
    return [partial(pw.RECIPClassifier, random_state=0), scaled(neighbors.KNeighborsClassifier)]


def compare(name: str, family: str) -> tuple[list[str], Any]:
    """One row of the table, with quality on held-out rows, size and time of both models; and our fitted model."""
    train, test, y_train, y_test, _ = split(name)
    regression = name in REGRESSION
    models, times = fit_in_turns(makers(family, regression), train, y_train)
    measure = "rmse" if regression else "accuracy"
    row = [name, family, MEASURES[measure]]
    row += [in_words(measure, measures(evaluate(model, test, y_test))[measure]) for model in models]
    row += [f"{len(zlib.compress(pickle.dumps(model))) / 1000:.1f} kB" for model in models]
    row += [f"{milliseconds:.0f} ms" for milliseconds in times]
    return row, models[0]


def fit_in_turns(makers: Sequence[Callable[[], Any]], X: Any, y: Any) -> tuple[list[Any], list[float]]:
    """A fitted model of each maker, and the median of its times in milliseconds.

    All have one thread: otherwise threads of the two libraries would wait for each other's cores. They take turns, so
    that other work of the machine affects all of them.
    """
    models: list[Any] = []
    times: list[list[float]] = [[] for _ in makers]
    with threadpool_limits(limits=1):
        for _ in range(TURNS):
            models = [_on_one_thread(make()) for make in makers]
            for model, taken in zip(models, times, strict=True):
                tick = time.perf_counter()
                model.fit(X, y)
                taken.append(1000 * (time.perf_counter() - tick))
            if sum(map(sum, times)) > ENOUGH:
                break
    return models, [median(taken) for taken in times]


def _on_one_thread(model: Any) -> Any:
    return model.set_params(n_jobs=1) if "n_jobs" in model.get_params(deep=False) else model


def why_this_number(train: Any, y_train: Any, test: Any, names: list[str]) -> Reason:
    """What each column added to boosting's prediction for the first held-out row."""
    model = pw.SLMBoostRegressor(random_state=0).fit(pl.DataFrame(train, schema=names), y_train)
    return model.explain(pl.DataFrame(test[:1], schema=names))[0]


def without_a_screen() -> Any:
    """Matplotlib without windows."""
    plt = require_matplotlib()
    plt.switch_backend("Agg")
    return plt


def cells_picture(train: Any, test: Any, y_train: Any, y_test: Any, names: list[str]) -> Any:
    """The cells of one SLM tree and of one decision tree in the plane of two columns."""
    ours = pw.SLMClassifier(random_state=0).fit(train, y_train)
    theirs = tree.DecisionTreeClassifier(random_state=0).fit(train, y_train)
    splits = int((theirs.tree_.children_left >= 0).sum())
    axes = new_axes(1, 2, size=(8, 3.9))[0]
    for ax, model, title in (
        (axes[0], ours, f"planewise: {ours.n_planes_} planes"),
        (axes[1], theirs, f"decision tree: {splits} splits"),
    ):
        shown = PartitionDisplay.from_estimator(model, train, y_train, feature_names=names)
        title += f", {100 * model.score(test, y_test):.1f}% accuracy"
        shown.plot(ax, title=title, with_key=ax is axes[0])
    return axes[0].get_figure()


def planes_in_words(model: Any, names: list[str], limit: int = 6) -> list[str]:
    """The first planes of a tree, in the units of the data."""
    shown = range(min(limit, model.tree_.n_planes))
    return [plane_in_words(read_plane(model.tree_, plane, model.feature_origins_), Columns(names)) for plane in shown]


def page(
    header: list[str], rows: list[list[str]], words: list[str], machine: str, cells: Any, why: Reason | None
) -> str:
    """The whole page."""
    title = "planewise: compact, readable models for tabular data"
    body = [
        html.heading(title, level=1),
        html.paragraph(
            "Each family of planewise is compared with scikit-learn's models of the same kind: decision tree, random "
            "forest, histogram gradient boosting, SVM, histogram gradient boosting of pairs of columns "
            '(interaction_cst="pairwise", beside "additive") and nearest neighbours (beside RECIP, "near rows"). Other '
            "parameters have their defaults. "
            f"{HOW_MEASURED} Sizes are those of compressed pickles. In each pair of columns planewise is the first. "
            f"{HOW_TIMED}"
        ),
        html.table(header, rows),
        html.heading("What a tree looks like"),
        html.paragraph("Every line is a plane of one tree. A node whose planes cross has up to four children."),
        html.figure("How the two trees divide the data set new moons.", cells),
        html.heading("A tree in words"),
        html.paragraph("The first planes of the tree for wine, in the units of the data:"),
        html.lines(words),
        *([html.heading("A machine with few vectors"), html.paragraph(machine)] if machine else []),
        *([html.heading("Why this prediction"), *_why(why)] if why is not None else []),
        html.footer("planewise demo"),
    ]
    return html.page("planewise demo", body)


def _why(reasons: Reason) -> list[str]:
    return [
        html.paragraph(
            "Boosting's prediction for one held-out patient of the diabetes data; the contributions add up to it."
        ),
        html.paragraph(reasons.sentence()),
        html.paragraph(f"{reasons.table().heading}:"),
        html.reason(reasons),
    ]
