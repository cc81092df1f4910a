"""planewise fit: learn a column of a table, and say what was found and how good it is."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.model_selection import train_test_split

from planewise.cli._choose import Choice, choose_family, file_size
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._quality import baselines, leading_features, quality_of
from planewise.cli._read import read_table
from planewise.cli._show import number, say, show_json, show_table, size_in_words, working
from planewise.io import save
from planewise.table import TableModel
from planewise.table._columns import require_columns
from planewise.table._families import IN_WORDS, estimator_class, read_setting
from planewise.table._model import target_values, task_of


class Family(StrEnum):
    """What --model may be."""

    auto = "auto"
    slm = "slm"
    forest = "forest"
    boost = "boost"
    mcm = "mcm"
    recip = "recip"


class Task(StrEnum):
    """What --task may be."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def fit(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Arrow file.", show_default=False)],
    target: Annotated[str, typer.Option(help="The column to predict.", show_default=False)],
    model: Annotated[
        Family, typer.Option(help="The family; auto cross-validates all and takes the smallest good one.")
    ] = Family.auto,
    out: Annotated[
        Path | None, typer.Option(help="Where the model goes, such as m.planewise.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the estimator, name=value; may be repeated.", show_default=False),
    ] = None,
    task: Annotated[Task, typer.Option(help="Classes or numbers; auto looks at the target.")] = Task.auto,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column not to learn from; may be repeated.", show_default=False)
    ] = None,
    test_size: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Share of the rows that quality is measured on.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of all that is random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON text for programs.")] = False,
) -> None:
    """Learn a column of a table: find out what its columns are, fit, and measure on rows that were held out.

    Examples:
      planewise fit wine.csv --target quality --out wine.planewise

      planewise fit wine.csv --target quality --model slm --set max_depth=4 --set max_planes=2
    """
    if out is not None:
        refuse_existing(out, force)
    with working(f"reading {table.name}", as_json):
        rows = read_table(table)
    require_columns([target, *(drop or [])], rows.columns)
    if target in (drop or []):
        raise MistakeError(f"{target!r} is the target; it cannot be dropped too.")
    n_read = rows.height
    rows = rows.drop(drop or []).filter(rows[target].is_not_null())
    kind = task_of(rows[target]) if task is Task.auto else str(task)
    train, test = _split(rows, target, kind, test_size, seed)
    choice = None
    if model is Family.auto:
        if settings:
            raise MistakeError("--set belongs to one family: name it with --model slm, forest, boost, mcm or recip.")
        choice = choose_family(train, target, kind, seed, as_json)
    family = str(model) if choice is None else choice.family
    fitted = TableModel(family, kind, _parsed(settings or [], estimator_class(family, kind, train.height)), seed)
    with working(f"fitting {IN_WORDS[family]} on {train.height} rows", as_json):
        start = time.perf_counter()
        fitted.fit(train, target)
        seconds = time.perf_counter() - start
    with working("measuring it beside simple models", as_json):
        reached = {family: quality_of(fitted, test)} | baselines(fitted, train, test)
        leading = leading_features(fitted, test)
    if out is not None:
        save(fitted, out)
    n_bytes = out.stat().st_size if out is not None else file_size(fitted)
    answer = _answer(fitted, rows, n_read, train, test, choice, reached, leading, n_bytes, seconds, out)
    if as_json:
        show_json(answer)
    else:
        _show(answer, fitted, choice)


def _split(rows: Any, target: str, task: str, share: float, seed: int) -> tuple[Any, Any]:
    if rows.height < 10:
        raise MistakeError(f"the table has {rows.height} rows with a {target!r}; at least 10 are needed.")
    y = target_values(rows[target], task)
    strata = None
    if task == "classification":
        counts = np.unique(y, return_counts=True)[1]
        if counts.min() >= 2 and len(counts) <= share * len(y):
            strata = y
    train, test = train_test_split(np.arange(len(y)), test_size=share, random_state=seed, stratify=strata)
    train.sort()
    test.sort()
    if task == "classification":
        unseen = ~np.isin(y[test], np.unique(y[train]))
        train, test = np.concatenate([train, test[unseen]]), test[~unseen]  # classes of one row cannot be measured
    return rows[train], rows[test]


def _parsed(settings: list[str], cls: type) -> dict[str, Any]:
    parsed = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise MistakeError(f"--set takes name=value, such as max_depth=4; got {setting!r}.")
        parsed[name.strip()] = read_setting(cls, name.strip(), text)
    return parsed


def _answer(
    model: TableModel,
    rows: Any,
    n_read: int,
    train: Any,
    test: Any,
    choice: Choice | None,
    reached: dict[str, dict[str, float]],
    leading: list[tuple[str, float]],
    n_bytes: int,
    seconds: float,
    out: Path | None,
) -> dict[str, Any]:
    missing = {column.name: float(rows[column.name].null_count() / rows.height) for column in model.columns_}
    return {
        "target": model.target_,
        "task": model.task_,
        "classes": model.classes_.tolist() if model.task_ == "classification" else None,
        "rows": {"read": n_read, "with a target": rows.height, "fitted": train.height, "held out": test.height},
        "columns": [
            {"name": column.name, "kind": column.kind, "missing": missing[column.name]} for column in model.columns_
        ],
        "left out": [{"name": each.name, "why": each.why} for each in model.left_out_],
        "model": model.family,
        "estimator": type(model.estimator_).__name__,
        "why": None if choice is None else choice.why,
        "compared": None
        if choice is None
        else [
            {
                "model": t.family,
                choice.measure: t.mean,
                "standard error": t.error,
                "bytes": t.n_bytes,
                "seconds": t.seconds,
            }
            for t in choice.trials
        ],
        "quality": reached,
        "bytes": n_bytes,
        "seconds": seconds,
        "leading features": dict(leading),
        "file": None if out is None else str(out),
    }


def _show(answer: dict[str, Any], model: TableModel, choice: Choice | None) -> None:
    rows, columns = answer["rows"], answer["columns"]
    kinds = {
        kind: sum(column["kind"] == kind for column in columns) for kind in ("number", "truth", "date", "category")
    }
    names = {"number": "numbers", "truth": "truth values", "date": "dates", "category": "categories"}
    counts = ", ".join(f"{count} {names[kind]}" for kind, count in kinds.items() if count)
    what = f"{len(answer['classes'])} classes" if answer["classes"] else "numbers"
    say(f"target   {answer['target']}: {what} ({answer['task']})")
    without = rows["read"] - rows["with a target"]
    say(
        f"rows     {rows['fitted']} to learn from, {rows['held out']} held out"
        + (f"; {without} without a target left out" if without else "")
    )
    say(f"columns  {len(columns)}: {counts}")
    gaps = [column for column in columns if column["missing"] > 0]
    if gaps:
        say("missing  " + ", ".join(f"{column['name']} {100 * column['missing']:.2g} %" for column in gaps[:12]))
    for each in answer["left out"]:
        say(f"left out {each['name']}: {each['why']}")
    if choice is not None:
        show_table(
            "\ncross-validation",
            ["model", choice.measure, "± error", "size", "time"],
            [
                [t.family, f"{t.mean:.4f}", f"{t.error:.4f}", size_in_words(t.n_bytes), f"{t.seconds:.1f} s"]
                for t in choice.trials
            ],
        )
        say(f"chosen   {choice.family}: {choice.why}")
    measures = list(answer["quality"][model.family])
    show_table(
        f"\nquality on {rows['held out']} held-out rows",
        ["model", *measures],
        [
            [name, *(number(found[measure]) if measure in found else "" for measure in measures)]
            for name, found in answer["quality"].items()
        ],
    )
    if answer["leading features"]:
        show_table(
            "\nleading features",
            ["column", "share"],
            [[name, f"{100 * worth:.1f} %"] for name, worth in answer["leading features"].items()],
        )
    say(
        f"\nmodel    {IN_WORDS[model.family]} ({answer['estimator']}), {size_in_words(answer['bytes'])}, fitted in "
        f"{answer['seconds']:.2f} s"
    )
    say(f"file     {answer['file']}" if answer["file"] else "file     none: --out m.planewise keeps the model")
