"""Learn a column of a table, and say what was found and how good it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from planewise.cli._choose import Choice, choose_family, file_size
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._quality import baselines, leading_features, quality_of
from planewise.cli._read import read_table
from planewise.cli._show import say, show_json, show_table, size_in_words, working
from planewise.io import save
from planewise.table import TableModel
from planewise.table._columns import require_columns
from planewise.table._families import IN_WORDS, estimator_class, for_many_rows, most_rows, read_setting
from planewise.table._model import target_values, task_of
from planewise.words import number

Indices = NDArray[np.intp]


def fit_table(
    table: Path,
    target: str,
    model: str,
    out: Path | None,
    settings: list[str],
    task: str,
    drop: list[str],
    test_size: float,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    """What `planewise fit` does; its options are described there."""
    if out is not None:
        refuse_existing(out, force, table)
    with working(f"reading {table.name}", as_json):
        rows = read_table(table)
    require_columns([target, *drop], rows.columns)
    if target in drop:
        raise MistakeError(f"{target!r} is the target; it cannot be dropped too.")
    n_read = rows.height
    numbers = np.flatnonzero(rows[target].is_not_null().to_numpy())  # of the file's rows, as --row counts them
    rows = rows.drop(drop)[numbers]
    kind = task_of(rows[target]) if task == "auto" else task
    learned, held_out = _split(rows, target, kind, test_size, seed)
    train, test = rows[learned], rows[held_out]
    choice = None
    if model == "auto":
        if settings:
            raise MistakeError("--set belongs to one family: name it with --model slm, forest, boost, mcm or recip.")
        choice = choose_family(train, target, kind, seed, as_json)
    family = model if choice is None else choice.family
    n_to_learn_from, most = train.height, most_rows(family, kind)
    if most is not None and train.height > most:
        learned = learned[_some_rows(train, target, kind, most, seed)]
        train = rows[learned]
    parsed = _parsed(settings, estimator_class(family, kind, train.height))
    fitted = TableModel(family, kind, for_many_rows(family, parsed, train.height), seed)
    with working(f"fitting {IN_WORDS[family]} on {train.height} rows", as_json):
        start = time.perf_counter()
        fitted.fit(train, target, numbers[learned])
        seconds = time.perf_counter() - start
    with working("measuring it beside simple models", as_json):
        reached = {family: quality_of(fitted, test)} | baselines(fitted, train, test)
        leading = leading_features(fitted, test)
    if out is not None:
        save(fitted, out)
    n_bytes = out.stat().st_size if out is not None else file_size(fitted)
    answer = _answer(fitted, rows, n_read, train, test, choice, reached, leading, n_bytes, seconds, out)
    answer["rows"]["not used"] = n_to_learn_from - train.height
    answer["rows"]["a tree"] = (fitted.settings or {}).get("max_samples")
    if as_json:
        show_json(answer)
    else:
        _show(answer, fitted, choice)


def _split(rows: Any, target: str, task: str, share: float, seed: int) -> tuple[Indices, Indices]:
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
    return train, test


def _some_rows(train: Any, target: str, task: str, most: int, seed: int) -> Indices:
    """A sample of the rows in their order, with at least one of every class."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(train.height)
    if task == "classification":
        first = np.unique(target_values(train[target], task)[chosen], return_index=True)[1]
        chosen = np.concatenate([chosen[first], np.delete(chosen, first)])
    return np.sort(chosen[:most])


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
        + (f"; {rows['not used']} not used: {model.family} learns from a sample" if rows["not used"] else "")
        + (f"; every tree draws {rows['a tree']} of them" if rows["a tree"] else "")
    )
    say(f"columns  {len(columns)}: {counts}")
    gaps = [column for column in columns if column["missing"] > 0]
    if gaps:
        say("missing  " + ", ".join(f"{column['name']} {100 * column['missing']:.2g} %" for column in gaps[:12]))
    for each in answer["left out"]:
        say(f"left out {each['name']}: {each['why']}")
    if choice is not None:
        show_table(
            "cross-validation",
            ["model", choice.measure, "± error", "size", "time"],
            [
                [t.family, f"{t.mean:.4f}", f"{t.error:.4f}", size_in_words(t.n_bytes), f"{t.seconds:.1f} s"]
                for t in choice.trials
            ],
        )
        say(f"chosen   {choice.family}: {choice.why}")
    measures = list(answer["quality"][model.family])
    show_table(
        f"quality on {rows['held out']} held-out rows",
        ["model", *measures],
        [
            [name, *(number(found[measure]) if measure in found else "" for measure in measures)]
            for name, found in answer["quality"].items()
        ],
    )
    if answer["leading features"]:
        show_table(
            "leading features",
            ["column", "share"],
            [[name, f"{100 * worth:.1f} %"] for name, worth in answer["leading features"].items()],
        )
    say(
        "",
        f"model    {IN_WORDS[model.family]} ({answer['estimator']}), {size_in_words(answer['bytes'])}, fitted in "
        f"{answer['seconds']:.2f} s",
    )
    say(f"file     {answer['file']}" if answer["file"] else "file     none: --out m.planewise keeps the model")
