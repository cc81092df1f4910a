"""planewise fit: learn a column of a table, say what was found and how good the model is."""

from __future__ import annotations

import time
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, show_json, show_leading, show_table, size_in_words, working

if TYPE_CHECKING:
    from planewise.cli._choose import Choice
    from planewise.evaluate import Quality
    from planewise.table import TableModel


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
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    model: Annotated[
        Family,
        typer.Option(help="Family of models; auto cross-validates all and takes the smallest among the best."),
    ] = Family.auto,
    out: Annotated[
        Path | None, typer.Option(help="Model file to write, such as m.planewise.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Parameter of the estimator, name=value; may be repeated.", show_default=False),
    ] = None,
    task: Annotated[Task, typer.Option(help="Predict classes or numbers; auto decides by the target.")] = Task.auto,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to ignore; may be repeated.", show_default=False)
    ] = None,
    test_size: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Share of the rows to hold out for measuring quality.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    dask: Annotated[
        str | None,
        typer.Option(
            help="Fit on a Dask cluster: address of its scheduler, such as host:8786. The workers read the table "
            "(CSV or Parquet); all rows are used for training.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Fit a model that predicts a column of a table, and measure it on held-out rows.

    Examples:
      planewise fit wine.csv --target quality --out wine.planewise

      planewise fit wine.csv --target quality --model slm --set max_depth=4 --set max_planes=2
    """
    from planewise.cli._choose import choose_family, file_size, sample_rows, split_rows
    from planewise.cli._tables import read_table
    from planewise.evaluate import evaluate, leading_features, quality
    from planewise.io import save
    from planewise.table import max_rows, require_columns, task_of

    if out is not None:
        refuse_existing(out, force, table)
    if target in (drop or ()):
        raise MistakeError(f"{target!r} is the target; it cannot be dropped.")
    if dask is not None:
        from planewise.cli._fit_dask import fit_on_cluster

        what = str(model), str(task), settings or [], drop or []
        return fit_on_cluster(table, target, dask, *what, seed=seed, out=out, as_json=as_json)
    with working(f"reading {table.name}", as_json):
        rows = read_table(table)
    dropped = drop or []
    require_columns([target, *dropped], rows.columns)
    if model == "auto" and settings:
        raise MistakeError(
            "--set applies to one kind of model: choose the kind with --model slm, forest, boost, mcm or recip."
        )
    n_read = rows.height
    numbers = rows[target].is_not_null().arg_true().to_numpy()  # of the file's rows, as --row counts them
    rows = rows.drop(dropped)[numbers]
    kind = task_of(rows[target]) if task == "auto" else str(task)
    learned, held_out = split_rows(rows, target, kind, test_size, seed)
    choice = choose_family(rows[learned], target, kind, seed, as_json) if model == "auto" else None
    family, n_training = str(model) if choice is None else choice.family, len(learned)
    limit = max_rows(family, kind)
    if limit is not None and n_training > limit:
        learned = learned[sample_rows(rows[learned], target, kind, limit, seed)]
    train, test = rows[learned], rows[held_out]
    parameters = _parameters(train[target], family, kind, settings or [], guessed=task == "auto")
    fitted, seconds = _fitted(train, target, numbers[learned], family, kind, parameters, seed, as_json)
    with working("measuring quality", as_json):
        found = quality(evaluate(fitted, test), train)
        leading = leading_features(fitted, test)
    if out is not None:
        save(fitted, out)
    answer = _found_in(fitted, rows) | _chosen(choice) | {
        "rows": {
            "read": n_read,
            "with_target": rows.height,
            "fitted": train.height,
            "held_out": test.height,
            "not_used": n_training - train.height,
            "per_tree": (fitted.settings or {}).get("max_samples"),
        },
        "quality": found.data(),
        "leading_features": leading,
        "bytes": out.stat().st_size if out is not None else file_size(fitted),
        "seconds": seconds,
        "file": None if out is None else str(out),
    }  # fmt: skip
    if as_json:
        show_json(answer)
    else:
        _show(answer, found, choice)


def _parameters(target: Any, family: str, task: str, settings: list[str], guessed: bool) -> dict[str, Any]:
    """What --set says; if it is for numbers but the target was guessed to be classes, the error says what to do."""
    from planewise.slm.fitted import REGRESSION_LOSSES

    may_be_numbers = guessed and task == "classification" and target.dtype.is_numeric()
    instead = f"{target.name!r} was taken as classes; add --task regression to predict it as a number."
    try:
        parsed = read_settings(family, task, len(target), settings)
    except ValueError as error:
        if may_be_numbers and _are_for_numbers(family, len(target), settings):
            raise MistakeError(f"{error} {instead}") from None
        raise
    if may_be_numbers and parsed.get("loss") in REGRESSION_LOSSES:
        raise MistakeError(f"--set loss={parsed['loss']} is for numbers. {instead}")
    return parsed


def _are_for_numbers(family: str, n_rows: int, settings: list[str]) -> bool:
    try:
        read_settings(family, "regression", n_rows, settings)
    except ValueError:
        return False
    return True


def read_settings(family: str, task: str, n_rows: int, settings: list[str]) -> dict[str, Any]:
    """Parameters of the estimator, which checks them."""
    from planewise.table import estimator_class, read_setting

    cls, parsed = estimator_class(family, task, n_rows), {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise MistakeError(f"--set takes name=value, such as max_depth=4; got {setting!r}.")
        parsed[name.strip()] = read_setting(cls, name.strip(), text)
    if isinstance(parsed.get("alpha"), list):
        raise MistakeError(
            "--set alpha: planewise fit measures one prediction per row, so it takes one quantile level. Give one, or "
            "fit SLMBoostRegressor in Python and save it; planewise predict then writes one column per level."
        )
    return parsed


def _fitted(
    train: Any, target: str, numbers: Any, family: str, task: str, settings: dict[str, Any], seed: int, quiet: bool
) -> tuple[TableModel, float]:
    """The fitted model, and the seconds that the fit took."""
    from planewise.table import FAMILIES, TableModel, for_many_rows

    model = TableModel(family, task, for_many_rows(family, settings, train.height), seed)
    with working(f"fitting {FAMILIES[family]} on {train.height} rows", quiet):
        start = time.perf_counter()
        model.fit(train, target, numbers)
        return model, time.perf_counter() - start


def _found_in(model: TableModel, rows: Any) -> dict[str, Any]:
    """What the table was taken for, and what was fitted to it."""
    from planewise.table import COLUMN_KINDS

    columns = [
        {
            "name": each.name,
            "kind": COLUMN_KINDS[each.kind].adjective,
            "missing": rows[each.name].null_count() / rows.height,
        }
        for each in model.columns_
    ]
    return {
        "target": model.target_,
        "task": model.task_,
        "classes": model.classes_.tolist() if model.task_ == "classification" else None,
        "columns": columns,
        "left_out": [{"name": each.name, "why": each.why} for each in model.left_out_],
        "model": model.family,
        "estimator": type(model.estimator_).__name__,
    }


def _chosen(choice: Choice | None) -> dict[str, Any]:
    if choice is None:
        return {"why": None, "compared": None}
    compared = [
        {
            "model": trial.family,
            choice.measure: trial.mean,
            "standard_error": trial.error,
            "bytes": trial.n_bytes,
            "seconds": trial.seconds,
        }
        for trial in choice.trials
    ]
    return {"why": choice.why, "compared": compared}


def _show(answer: dict[str, Any], found: Quality, choice: Choice | None) -> None:
    from planewise.evaluate import MEASURES
    from planewise.table import FAMILIES

    _show_table_found(answer)
    if choice is not None:
        trials = [
            [each.family, f"{each.mean:.4f}", f"{each.error:.4f}", size_in_words(each.n_bytes), f"{each.seconds:.1f} s"]
            for each in choice.trials
        ]
        show_table("cross-validation", ["model", MEASURES[choice.measure], "± error", "size", "time"], trials)
        say(f"chosen   {choice.family}: {choice.why}")
    show_table(f"quality on {answer['rows']['held_out']} held-out rows", *found.table())
    say(found.note)
    show_leading(answer["leading_features"])
    say(
        "",
        f"model    {FAMILIES[answer['model']]} ({answer['estimator']}), {size_in_words(answer['bytes'])}, fitted in "
        f"{answer['seconds']:.2f} s",
        f"file     {answer['file']}" if answer["file"] else "file     none; --out m.planewise saves the model",
    )


def _show_table_found(answer: dict[str, Any]) -> None:
    """What the table was taken for."""
    from planewise.table import COLUMN_KINDS

    rows, columns = answer["rows"], answer["columns"]
    what = f"{len(answer['classes'])} classes" if answer["classes"] else "numbers"
    say(f"target   {answer['target']}: {what} ({answer['task']})")
    without = rows["read"] - rows["with_target"]
    say(
        f"rows     {rows['fitted']} for training, {rows['held_out']} held out"
        + (f"; {without} left out because the target is missing" if without else "")
        + (f"; {rows['not_used']} not used, because {answer['model']} learns from a sample" if rows["not_used"] else "")
        + (f"; each tree draws {rows['per_tree']} of them" if rows["per_tree"] else "")
    )
    counts = Counter(column["kind"] for column in columns)
    kinds = [kind.adjective for kind in COLUMN_KINDS.values() if kind.adjective in counts]
    say(f"columns  {len(columns)}: " + ", ".join(f"{counts[kind]} {kind}" for kind in kinds))
    gaps = [column for column in columns if column["missing"] > 0]
    if gaps:
        say("missing  " + ", ".join(f"{column['name']} {100 * column['missing']:.2g} %" for column in gaps[:12]))
    for each in answer["left_out"]:
        say(f"left out {each['name']}: {each['why']}")
