"""planewise fit: learn a column of a table, say what was found and how good the model is."""

from __future__ import annotations

import time
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import TABLE_HELP, say, show_json, show_leading, show_table, size_in_words, working

if TYPE_CHECKING:
    from planewise.cli._choose import Choice
    from planewise.cli._large import Sample
    from planewise.evaluate import Quality
    from planewise.table import TableModel


class Family(StrEnum):
    """What --model may be."""

    auto = "auto"
    explainable = "explainable"
    slm = "slm"
    forest = "forest"
    boost = "boost"
    mcm = "mcm"
    views = "views"
    recip = "recip"


CHOSEN = ("auto", "explainable")  # by cross-validation, from several families


class Task(StrEnum):
    """What --task may be."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def fit(
    table: Annotated[Path, typer.Argument(help=TABLE_HELP, show_default=False)],
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    model: Annotated[
        Family,
        typer.Option(
            help="Family of models. auto cross-validates all; among the best, it prefers one that a person can read "
            "(slm, then views), else the smallest. explainable compares slm and views only."
        ),
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
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the rows of a table that would take more than a quarter of the memory available.",
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

      planewise fit wine.csv --target quality --model explainable

      planewise fit "trips/*.parquet" --target fare --model boost --folder /scratch
    """
    from planewise.cli._choose import choose_family, file_size, sample_rows, split_rows
    from planewise.cli._fit_dask import fit_on_cluster
    from planewise.cli._large import fit_from_files
    from planewise.evaluate import evaluate, leading_features, quality
    from planewise.io import save
    from planewise.table import FAMILIES, max_rows, task_of

    dropped = drop or []
    if dask is not None:
        what = str(model), str(task), settings or [], dropped
        return fit_on_cluster(table, target, dask, *what, seed=seed, out=out, force=force, as_json=as_json)
    _check_options(table, target, dropped, model, settings, out, force)
    sample = _read(table, target, model, folder, seed, as_json)
    rows, numbers = sample.rows.drop(dropped), sample.numbers
    kind = task_of(rows[target]) if task == "auto" else str(task)
    learned, held_out = split_rows(rows, target, kind, test_size, seed)
    choice = None
    if model in CHOSEN:
        of, large = str(model), bool(sample.why)
        choice = choose_family(rows[learned], target, kind, seed, as_json, wanted=of, from_files=large)
    family, n_training = str(model) if choice is None else choice.family, sample.n_with_target - len(held_out)
    limit = max_rows(family, kind)
    if limit is not None and n_training > limit:
        learned = learned[sample_rows(rows[learned], target, kind, limit, seed)]
    train, test = rows[learned], rows[held_out]
    n_fitted = n_training if sample.why else train.height
    parameters = _parameters(train[target], family, kind, settings or [], guessed=task == "auto")
    fitted = _new_model(family, kind, parameters, n_fitted, seed)
    start = time.perf_counter()
    with working(f"fitting {FAMILIES[family]} on {n_fitted} rows", as_json):
        if sample.why:
            fit_from_files(fitted, table, train, numbers[held_out], target, folder)
        else:
            fitted.fit(train, target, numbers[learned])
    seconds = time.perf_counter() - start
    with working("measuring quality", as_json):
        found = quality(evaluate(fitted, test), train)
        leading = leading_features(fitted, test)
    if out is not None:
        save(fitted, out)
    answer = _found_in(fitted, rows) | _chosen(choice) | {
        "rows": {
            "read": sample.n_read,
            "with_target": sample.n_with_target,
            "fitted": n_fitted,
            "held_out": test.height,
            "not_used": n_training - n_fitted,
            "per_tree": (fitted.settings or {}).get("max_samples"),
        },
        "out_of_core": {"why": sample.why, "n_rows_in_sample": rows.height} if sample.why else None,
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


def _check_options(
    table: Path, target: str, dropped: list[str], model: str, settings: list[str] | None, out: Path | None, force: bool
) -> None:
    """An error if options do not go together or with the table."""
    from planewise.cli._tables import column_names, table_files
    from planewise.table import require_columns

    if out is not None:
        refuse_existing(out, force, *table_files(table))
    require_columns([target, *dropped], column_names(table))
    if target in dropped:
        raise MistakeError(f"{target!r} is the target; it cannot be dropped.")
    if model in CHOSEN and settings:
        raise MistakeError(
            "--set applies to one kind of model: choose the kind with --model slm, forest, boost, mcm, views or recip."
        )


def _read(table: Path, target: str, model: str, folder: Path | None, seed: int, quiet: bool) -> Sample:
    """The rows with a target: all, or a sample of a table that is too large for the memory."""
    from planewise.cli._large import read_sample, require_tree

    if folder is not None and not folder.is_dir():
        raise MistakeError(f"--folder: there is no folder {str(folder)!r}.")
    with working(f"reading {table.name}", quiet):
        return read_sample(table, target, seed, lambda why: require_tree(model, why))


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


def _new_model(family: str, task: str, settings: dict[str, Any], n_rows: int, seed: int) -> TableModel:
    from planewise.table import TableModel, for_many_rows

    return TableModel(family, task, for_many_rows(family, settings, n_rows), seed)


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
    if answer["out_of_core"]:
        say(
            f"memory   {answer['out_of_core']['why']}: rows are read from a file, and a sample of "
            f"{answer['out_of_core']['n_rows_in_sample']} rows tells what the columns are"
        )
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
