"""The main job on data that is there already, beside scikit-learn."""

from __future__ import annotations

import pickle
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import typer
from sklearn import ensemble, neighbors, tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

import planewise as pw
from planewise._atomic import replacing
from planewise.cli._demo_page import HEADER, HOW_TIMED, cells_picture, page, without_a_screen
from planewise.cli._mistakes import refuse_existing
from planewise.cli._polars import pl
from planewise.cli._show import say
from planewise.datasets import make_friedman, make_new_moons
from planewise.words import Reason, plane_in_words, read_plane


def _scaled(machine: Any) -> Any:
    return make_pipeline(StandardScaler(), machine)


def _bundled(load: Any) -> tuple[Any, Any, list[str]]:
    bunch = load()
    return bunch.data, bunch.target, list(bunch.feature_names)


SETS: dict[str, Any] = {
    "new moons": lambda: (*make_new_moons(random_state=0), ["east", "north"]),
    "wine": lambda: _bundled(load_wine),
    "breast cancer": lambda: _bundled(load_breast_cancer),
    "Friedman 1": lambda: (*make_friedman(1, random_state=0), [f"x{j}" for j in range(10)]),
    "diabetes": lambda: _bundled(load_diabetes),
}
REGRESSION = {"Friedman 1", "diabetes"}
# Ours and scikit-learn's: (for classes, for numbers).
FAMILIES: dict[str, Any] = {
    "one tree": (
        (pw.SLMClassifier, pw.SLMRegressor),
        (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor),
    ),
    "forest": (
        (pw.SLMForestClassifier, pw.SLMForestRegressor),
        (ensemble.RandomForestClassifier, ensemble.RandomForestRegressor),
    ),
    "boosting": (
        (pw.SLMBoostClassifier, pw.SLMBoostRegressor),
        (ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor),
    ),
    "kernel": (
        (pw.MCMClassifier, lambda random_state: pw.MCMRegressor()),
        (lambda random_state: _scaled(SVC()), lambda random_state: _scaled(SVR())),
    ),
    "views": (
        (pw.RECIPClassifier, pw.RECIPRegressor),
        (
            lambda random_state: _scaled(neighbors.KNeighborsClassifier()),
            lambda random_state: _scaled(neighbors.KNeighborsRegressor()),
        ),
    ),
}
TURNS = 3
ENOUGH = 1000.0  # milliseconds spent on a pair, after which it has no further turn
WIDTHS = [14, 10, 10, 10, 13, 10, 10, 8, 8]


def run_demo(out: Path | None, force: bool) -> None:
    """What `planewise demo` does; its options are described there."""
    own = Path("planewise-demo.html")  # made anew each time
    refuse_existing(own if out is None else out, force or out is None)
    out = own if out is None else out
    plt = without_a_screen()
    rows: list[list[str]] = []
    words: list[str] = []
    why, machine = None, ""
    _print_row(HEADER)
    for name in SETS:
        for family in FAMILIES:
            row, model = compare(name, family)
            rows.append(row)
            _print_row(row)
            *_, names = parts = split(name)
            if (name, family) == ("wine", "one tree"):
                words = planes_in_words(model, names)
            if (name, family) == ("breast cancer", "kernel"):
                machine = f"For {name} the machine keeps {len(model.support_)} of {len(parts[0])} rows."
            if (name, family) == ("diabetes", "boosting"):
                why = why_this_number(*parts)
    cells = cells_picture(*split("new moons"))
    with replacing(out) as file:
        file.write(page(rows, words, machine, cells, why).encode())
    plt.close(cells)
    say("", HOW_TIMED, f"report: {out}")


def _print_row(cells: list[str]) -> None:
    typer.echo("".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip())


def split(name: str) -> tuple[Any, Any, Any, Any, list[str]]:
    """Rows to learn from and rows held out, and the names of the columns."""
    X, y, names = SETS[name]()
    strata = None if name in REGRESSION else y
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=strata)
    return train, test, y_train, y_test, names


def compare(name: str, family: str) -> tuple[list[str], Any]:
    """One row of the table: held-out quality, size and time of both; and our fitted model."""
    train, test, y_train, y_test, _ = split(name)
    regression = name in REGRESSION
    makers = [partial(pair[regression], random_state=0) for pair in FAMILIES[family]]
    models, times = fit_in_turns(makers, train, y_train)
    row = [name, family, "RMSE" if regression else "accuracy"]
    row += [_quality(model, test, y_test, regression) for model in models]
    row += [f"{len(zlib.compress(pickle.dumps(model))) / 1000:.1f} kB" for model in models]
    row += [f"{milliseconds:.0f} ms" for milliseconds in times]
    return row, models[0]


def fit_in_turns(makers: Sequence[Callable[[], Any]], X: Any, y: Any) -> tuple[list[Any], list[float]]:
    """A model of each maker, fitted, and the median of its times in milliseconds.

    All have one thread: threads of two libraries that wait for each other's cores would be what is measured. They take
    turns, so that what else the machine does meets all of them.
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


def _quality(model: Any, X: Any, y: Any, regression: bool) -> str:
    if regression:
        return f"{np.sqrt(np.mean((model.predict(X) - y) ** 2)):.3g}"
    return f"{100 * model.score(X, y):.1f} %"


def why_this_number(train: Any, test: Any, y_train: Any, y_test: Any, names: list[str]) -> Reason:
    """What each column added to boosting's answer for the first row held out."""
    model = pw.SLMBoostRegressor(random_state=0).fit(pl.DataFrame(train, schema=names), y_train)
    return model.explain(pl.DataFrame(test[:1], schema=names))[0]


def planes_in_words(model: Any, names: list[str], most: int = 6) -> list[str]:
    """The first planes as the user's own units see them."""
    return [plane_in_words(read_plane(model.tree_, plane), names) for plane in range(min(most, model.tree_.n_planes))]
