"""planewise fit: learn a column of a table, say what was found and how good the model is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planewise.cli._everywhere import is_quiet
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._reading import reads_table
from planewise.cli._show import say, show_json, show_table, size_in_words
from planewise.cli._stages import stage

if TYPE_CHECKING:
    from planewise.cli._choose import Choice
    from planewise.cli._large import Sample
    from planewise.cli._results import Results
    from planewise.cli._split import Split
    from planewise.files import InputTable
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


@reads_table
def fit(
    table: InputTable,
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
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to read as text, such as codes written as numbers; may be repeated.", show_default=False
        ),
    ] = None,
    show_columns: Annotated[
        bool, typer.Option("--show-columns", help="Say for every column what it was taken for, and why.")
    ] = False,
    test_size: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Share of the rows to hold out for measuring quality.")
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
    corrections: Annotated[
        list[Path] | None,
        typer.Option(
            help="Answers file of planewise review, or an exported review: its decisions replace labels, or add rows "
            "to the training rows. May be repeated.",
            show_default=False,
        ),
    ] = None,
    corrections_by: Annotated[
        str | None,
        typer.Option(
            help="Use the decisions of this reviewer only; by default those of all, without cases they disagree about.",
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

      planewise fit visits.csv --target outcome --group patient --out visits.planewise

      planewise fit "trips/*.parquet" --target fare --model boost --folder /scratch

      planewise fit mails.csv --target kind --corrections new.answers.jsonl
    """
    from planewise.cli._choose import file_size, fit_split, sample_rows
    from planewise.cli._corrections import Lesson
    from planewise.cli._fit_dask import fit_on_cluster
    from planewise.cli._large import fit_from_files
    from planewise.cli._results import measure
    from planewise.cli._split import Split
    from planewise.io import save
    from planewise.table import FAMILIES, max_rows, task_of

    dropped, split = drop or [], Split.of(group, time, test_size, seed)
    lesson = Lesson(corrections or [], corrections_by, target, dask, split)
    if dask is not None:
        what = str(model), str(task), settings or [], dropped
        split.refuse("--dask", "all rows are used for training")
        return fit_on_cluster(table, target, dask, *what, seed=seed, out=out, force=force, as_json=as_json)
    _check_options(table, target, dropped, model, settings, out, force, split)
    sample = _read(table, target, model, folder, split, as_json, as_text=category or [])
    rows, numbers = sample.rows, sample.numbers
    lesson.read(table, sample.why, sample.n_read, rows)
    kind = task_of(rows[target]) if task == "auto" else str(task)
    learned, held_out, n_of_new_classes = split.held_out(rows, target, kind)
    choice = _choose(rows[learned], target, kind, split, str(model), sample.why, as_json)
    family = str(model) if choice is None else choice.family
    n_training = sample.n_with_target - len(held_out) - n_of_new_classes
    limit = max_rows(family, kind)
    if limit is not None and n_training > limit:
        learned = learned[sample_rows(rows[learned], target, kind, limit, seed)]
    train, train_numbers = lesson.taught(rows, numbers, learned, held_out)
    test, n_fitted = rows[held_out], n_training if sample.why else train.height
    parameters = _parameters(train[target], family, kind, settings or [], guessed=task == "auto")
    fitted = _new_model(family, kind, parameters, n_fitted, seed)
    start = perf_counter()
    with stage(f"fitting {FAMILIES[family]} on {n_fitted} rows", as_json, listen=True):
        if sample.why:
            fit_from_files(fitted, table, train, numbers[held_out], target, folder)
        else:
            fit_split(fitted, train, target, split, train_numbers)
    seconds = perf_counter() - start
    with stage("measuring quality", as_json):
        results = measure(fitted, train, test)
        changed = lesson.changes(fitted, test)
    n_rows = {"read": sample.n_read, "with_target": sample.n_with_target, "fitted": n_fitted, "held_out": test.height}
    _record(fitted, table, n_rows, split, results)
    if out is not None:
        save(fitted, out)
    answer = _found_in(fitted, rows, table) | _chosen(choice) | results.data() | {
        "rows": n_rows | _rows_besides(fitted, n_training - n_fitted + lesson.n_added, n_of_new_classes),
        "split": split.data() | {"words": split.in_words(rows, held_out)},
        "out_of_core": {"why": sample.why, "n_rows_in_sample": rows.height} if sample.why else None,
        "record": fitted.record_,
        "corrections": changed,
        "bytes": out.stat().st_size if out is not None else file_size(fitted),
        "seconds": seconds,
        "file": None if out is None else str(out),
    }  # fmt: skip
    results.log(answer)
    if as_json:
        show_json(answer)
    else:
        _show(answer, fitted, results, choice, show_columns)


def _rows_besides(model: TableModel, n_not_used: int, n_of_new_classes: int) -> dict[str, Any]:
    return {
        "not_used": n_not_used,
        "of_new_classes": n_of_new_classes,
        "per_tree": (model.settings or {}).get("max_samples"),
    }


def _record(model: TableModel, table: InputTable, n_rows: dict[str, int], split: Split, results: Results) -> None:
    """Let the model keep what is known about its fit."""
    from planewise.table import new_record

    linear = results.quality.linear
    model.record_ = new_record(
        [file.name for file in table.files],
        split.seed,
        rows=n_rows,
        split=split.data(),
        quality=results.quality.data(),
        linear_is_as_good=None if linear is None else linear.is_as_good,
        reading=table.remembered(),
    )


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
    """An error if options do not go together or with the table; it is then read without the columns to drop."""
    from planewise.table import date_of_record, require_columns

    date_of_record()  # an error if it is set to none; later, the fit would be lost
    if out is not None:
        refuse_existing(out, force, *table.paths)
    require_columns([target, *dropped], table.columns)
    split.check_column(target, table.columns)
    if target in dropped:
        raise MistakeError(f"{target!r} is the target; it cannot be dropped.")
    table.leave_out([name for name in dropped if name != split.column])
    if model in CHOSEN and settings:
        raise MistakeError(
            "--set applies to one kind of model: choose the kind with --model slm, forest, boost, mcm, views or recip."
        )


def _read(
    table: InputTable, target: str, model: str, folder: Path | None, split: Split, quiet: bool, as_text: list[str]
) -> Sample:
    """The rows with a target: all, or a sample of a table that is too large for the memory."""
    from planewise.cli._large import read_sample, require_tree

    def check(why: str) -> None:
        require_tree(model, why)
        split.require_memory(why)

    if folder is not None and not folder.is_dir():
        raise MistakeError(f"--folder: there is no folder {str(folder)!r}.")
    table.read_as_text(as_text)
    with stage(f"reading {table.name}", quiet):
        sample = read_sample(table, target, split.seed, check)
    split.check_values(sample.rows, lambda row: table.line(int(sample.numbers[row])))
    return sample


def _choose(rows: Any, target: str, task: str, split: Split, model: str, why: str, quiet: bool) -> Choice | None:
    """The family by cross-validation on training rows; None if one was asked for."""
    from planewise.cli._choose import choose_family

    if model not in CHOSEN:
        return None
    return choose_family(rows, target, task, split, quiet, wanted=model, from_files=bool(why))


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
    return parsed


def _new_model(family: str, task: str, settings: dict[str, Any], n_rows: int, seed: int) -> TableModel:
    from planewise.table import TableModel, for_many_rows

    return TableModel(family, task, for_many_rows(family, settings, n_rows), seed)


def _found_in(model: TableModel, rows: Any, table: InputTable) -> dict[str, Any]:
    """What the table was taken for, and what was fitted to it."""
    from planewise.cli._columns import columns_found

    return {
        "target": model.target_,
        "task": model.task_,
        "classes": model.classes_.tolist() if model.task_ == "classification" else None,
        **columns_found(model, rows, table),
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


def _show(
    answer: dict[str, Any], model: TableModel, results: Results, choice: Choice | None, every_column: bool
) -> None:
    """For people; with --quiet only the quality, and only if there is no file that keeps it."""
    from planewise.evaluate import MEASURES
    from planewise.table import FAMILIES, interval_in_words

    if is_quiet():
        if answer["file"] is None:
            results.show_quality(answer["rows"]["held_out"])
        return
    _show_table_found(answer, every_column)
    if choice is not None:
        trials = [
            [each.family, f"{each.mean:.4f}", f"{each.error:.4f}", size_in_words(each.n_bytes), f"{each.seconds:.1f} s"]
            for each in choice.trials
        ]
        show_table("cross-validation", ["model", MEASURES[choice.measure], "± error", "size", "time"], trials)
        say(f"chosen   {choice.family}: {choice.why}")
    results.show(answer["rows"]["held_out"], interval_in_words(model))
    if answer["corrections"] is not None:
        from planewise.cli._corrections import show_changes

        show_changes(answer["corrections"], answer["rows"]["held_out"])
    say(
        "",
        f"model    {FAMILIES[answer['model']]} ({answer['estimator']}), {size_in_words(answer['bytes'])}, fitted in "
        f"{answer['seconds']:.2f} s",
        f"file     {answer['file']}" if answer["file"] else "file     none; --out m.planewise saves the model",
    )


def _show_table_found(answer: dict[str, Any], every_column: bool) -> None:
    """What the table was taken for."""
    from planewise.cli._columns import show_columns_found

    rows = answer["rows"]
    if answer["reading"]["in_words"]:
        say(f"table    {answer['reading']['name']}: {answer['reading']['in_words']}")
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
        + (f" ({answer['split']['words']})" if answer["split"]["column"] else "")
        + (f"; {rows['of_new_classes']} left out, of classes without training rows" if rows["of_new_classes"] else "")
        + (f"; {without} left out because the target is missing" if without else "")
        + (f"; {rows['not_used']} not used, because {answer['model']} learns from a sample" if rows["not_used"] else "")
        + (f"; each tree draws {rows['per_tree']} of them" if rows["per_tree"] else "")
    )
    show_columns_found(answer, every_column)
