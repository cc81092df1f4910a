"""planewise fit: learn a column of a table, say what was found and how good the model is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from planewise.cli.choose import Choice, choose_family, file_size, fit_split, sample_rows
from planewise.cli.output import say, show_json, show_table, size_in_words, stage
from planewise.cli.results import Results, columns_found, measure, show_columns, show_every_column
from planewise.cli.split import Split
from planewise.cli.tables import reads_table, refuse_existing
from planewise.data.columns import require_columns
from planewise.data.files.tables import InputTable
from planewise.evaluate.quality import MEASURES
from planewise.store.file import save
from planewise.table.families import (
    FAMILIES,
    estimator_class,
    for_many_rows,
    max_rows,
    read_setting,
)
from planewise.table.model import TableModel, task_of
from planewise.table.record import date_of_record, interval_in_words, new_record
from planewise.trees.losses import REGRESSION_LOSSES


class Family(StrEnum):
    """The values of --model."""

    auto = "auto"
    explainable = "explainable"
    tree = "tree"
    forest = "forest"
    boosting = "boosting"
    kernel = "kernel"
    additive = "additive"
    recip = "recip"


CHOSEN = ("auto", "explainable")  # by cross-validation, from several families


class Task(StrEnum):
    """The values of --task."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


@reads_table
def fit(
    table: InputTable,
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    model: Annotated[
        Family,
        typer.Option(
            help="Family of models. auto cross-validates all; among the best, it prefers one that a person can read "
            "(tree, then additive), else the smallest. explainable compares tree and additive only."
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
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to read as text, such as codes written as numbers; may be repeated.", show_default=False
        ),
    ] = None,
    every_column: Annotated[
        bool, typer.Option("--show-columns", help="Show how each column is read, and why.")
    ] = False,
    test_size: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Fraction of rows held out to measure quality.")
    ] = 0.2,
    group: Annotated[
        str | None,
        typer.Option(
            help="Column of groups, such as patients: all rows of a group are either held out or used for training.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Column of dates or numbers: the latest rows are held out.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --out file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Fit a model that predicts a column of a table, and measure it on held-out rows.

    Examples:
      planewise fit wine.csv --target quality --out wine.planewise

      planewise fit wine.csv --target quality --model tree --set max_depth=4 --set max_planes=2

      planewise fit wine.csv --target quality --model explainable

      planewise fit visits.csv --target outcome --group patient --out visits.planewise
    """
    date_of_record()  # an error if the environment sets it to something else: later, the fit would be lost
    split = Split.of(group, time, test_size, seed)
    _check_options(table, target, drop or [], model, settings, out, force, split)
    table.read_as_text(category or [])
    with stage(f"reading {table.name}", as_json):
        rows = table.read()
    n_read = rows.height
    numbers = rows[target].is_not_null().arg_true().to_numpy()  # of the file's rows, as --row counts them
    rows = rows[numbers]
    split.check_values(rows, lambda row: table.line(int(numbers[row])))
    kind = task_of(rows[target]) if task == "auto" else str(task)
    learned, held_out, n_of_new_classes = split.held_out(rows, target, kind)
    choice = None
    if model in CHOSEN:
        choice = choose_family(rows[learned], target, kind, split, as_json, wanted=str(model))
    family = str(model) if choice is None else choice.family
    n_training, limit = len(learned), max_rows(family, kind)
    if limit is not None and n_training > limit:
        learned = learned[sample_rows(rows[learned], target, kind, limit, seed)]
    train, test = rows[learned], rows[held_out]
    parameters = _parameters(train[target], family, kind, settings or [], guessed=task == "auto")
    fitted = TableModel(family, kind, for_many_rows(family, parameters, train.height), seed)
    start = perf_counter()
    with stage(f"fitting {FAMILIES[family]} on {train.height} rows", as_json, listen=True):
        fit_split(fitted, train, target, split, numbers[learned])
    seconds = perf_counter() - start
    with stage("measuring quality", as_json):
        results = measure(fitted, train, test)
    n_rows = {"read": n_read, "with_target": rows.height, "fitted": train.height, "held_out": test.height}
    linear = results.quality.linear
    fitted.record_ = new_record(
        [file.name for file in table.files],
        seed,
        rows=n_rows,
        split=split.data(),
        quality=results.quality.data(),
        linear_is_as_good=None if linear is None else linear.is_as_good,
        reading=table.remembered(),
    )
    if out is not None:
        save(fitted, out)
    n_rows_besides = {
        "not_used": n_training - train.height,
        "of_new_classes": n_of_new_classes,
        "per_tree": (fitted.settings or {}).get("max_samples"),
    }
    answer = {
        "target": target,
        "task": fitted.task_,
        "classes": fitted.classes_.tolist() if fitted.task_ == "classification" else None,
        **columns_found(fitted, rows, table),
        "model": family,
        "estimator": type(fitted.estimator_).__name__,
        **_chosen(choice),
        **results.data(),
        "rows": n_rows | n_rows_besides,
        "split": split.data() | {"words": split.in_words(rows, held_out)},
        "record": fitted.record_,
        "bytes": out.stat().st_size if out is not None else file_size(fitted),
        "seconds": seconds,
        "file": None if out is None else str(out),
    }
    if as_json:
        show_json(answer)
    else:
        _show(answer, results, choice, interval_in_words(fitted), every_column)


def _check_options(
    table: InputTable,
    target: str,
    dropped: list[str],
    model: str,
    settings: list[str] | None,
    out: Path | None,
    force: bool,
    split: Split,
) -> None:
    """Raise if options do not go together or with the table; it is then read without the columns to drop."""
    if out is not None:
        refuse_existing(out, force, *table.paths)
    require_columns([target, *dropped], table.columns)
    split.check_column(target, table.columns)
    if target in dropped:
        raise ValueError(f"{target!r} is the target; it cannot be dropped.")
    table.leave_out([name for name in dropped if name != split.column])
    if model in CHOSEN and settings:
        raise ValueError(
            "--set applies to one kind of model: choose the kind with --model tree, forest, boosting, additive, kernel "
            "or recip."
        )


def _parameters(target: Any, family: str, task: str, settings: list[str], guessed: bool) -> dict[str, Any]:
    """Read --set; if it is for numbers but the target was guessed to be classes, the error says what to do."""
    may_be_numbers = guessed and task == "classification" and target.dtype.is_numeric()
    instead = f"{target.name!r} was taken as classes; add --task regression to predict it as a number."
    try:
        parsed = _read_settings(family, task, len(target), settings)
    except ValueError as error:
        if may_be_numbers and _are_for_numbers(family, len(target), settings):
            raise ValueError(f"{error} {instead}") from None
        raise
    if may_be_numbers and parsed.get("loss") in REGRESSION_LOSSES:
        raise ValueError(f"--set loss={parsed['loss']} is for numbers. {instead}")
    return parsed


def _are_for_numbers(family: str, n_rows: int, settings: list[str]) -> bool:
    try:
        _read_settings(family, "regression", n_rows, settings)
    except ValueError:
        return False
    return True


def _read_settings(family: str, task: str, n_rows: int, settings: list[str]) -> dict[str, Any]:
    """Return parameters of the estimator, which checks them."""
    cls, parsed = estimator_class(family, task, n_rows), {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"--set takes name=value, such as max_depth=4; got {setting!r}.")
        parsed[name.strip()] = read_setting(cls, name.strip(), text)
    return parsed


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


def _show(answer: dict[str, Any], results: Results, choice: Choice | None, interval: str, every_column: bool) -> None:
    """Print the answer for people."""
    rows = answer["rows"]
    if answer["reading"]["in_words"]:
        say(f"table    {answer['reading']['name']}: {answer['reading']['in_words']}")
    what = f"{len(answer['classes'])} classes" if answer["classes"] else "numbers"
    say(f"target   {answer['target']}: {what} ({answer['task']})")
    without = rows["read"] - rows["with_target"]
    say(
        f"rows     {rows['fitted']} for training, {rows['held_out']} held out"
        + (f" ({answer['split']['words']})" if answer["split"]["column"] else "")
        + (f"; {rows['of_new_classes']} left out, of classes without training rows" if rows["of_new_classes"] else "")
        + (f"; {without} left out because the target is missing" if without else "")
        + (f"; {rows['not_used']} not used, because {answer['model']} learns from a sample" if rows["not_used"] else "")
        + (f"; each tree draws {rows['per_tree']} of them" if rows["per_tree"] else "")
    )
    (show_every_column if every_column else show_columns)(answer)
    if choice is not None:
        trials = [
            [each.family, f"{each.mean:.4f}", f"{each.error:.4f}", size_in_words(each.n_bytes), f"{each.seconds:.1f} s"]
            for each in choice.trials
        ]
        show_table("cross-validation", ["model", MEASURES[choice.measure], "± error", "size", "time"], trials)
        say(f"chosen   {choice.family}: {choice.why}")
    results.show(rows["held_out"], interval)
    say(
        "",
        f"model    {FAMILIES[answer['model']]} ({answer['estimator']}), {size_in_words(answer['bytes'])}, fitted in "
        f"{answer['seconds']:.2f} s",
        f"file     {answer['file']}" if answer["file"] else "file     none; --out m.planewise saves the model",
    )
