"""planewise describe: what a model file contains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from planewise._text import counted, first_of
from planewise.cli.output import (
    is_stdout,
    print_page,
    say,
    show_json,
    show_leading,
    show_table,
    size_in_words,
)
from planewise.cli.results import describe_intervals
from planewise.cli.tables import refuse_existing
from planewise.data.columns import COLUMN_KINDS
from planewise.evaluate.importance import leading_features
from planewise.evaluate.quality import Quality
from planewise.explain.describe import OFFSET_NOT_STORED, RANKS, changed_parameters, fitted_with_offset, ranks_queries
from planewise.report.page import report
from planewise.store.file import load, versions
from planewise.table.model import TableModel
from planewise.table.record import interval_in_words, record_in_words

_SIZES = {
    "n_planes_": "planes",
    "n_iter_": "rounds",
    "depth_": "levels",
    "n_stored_numbers_": "stored numbers",
    "support_vectors_": "support vectors",
    "n_features_": "selected features",
}


def describe(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    html: Annotated[
        Path | None, typer.Option(help="HTML page to write as well; - prints it instead.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --html file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Describe a model file: its target and columns, size, parameters, leading features, and what is known of its fit.

    Examples:
      planewise describe wine.planewise

      planewise describe wine.planewise --html wine.html
    """
    if html is not None:
        refuse_existing(html, force, model)
    loaded = load(model)
    if html is not None:
        if is_stdout(html):
            return print_page(report(loaded), as_json)
        report(loaded, path=html)
    answer = _answer(loaded, model)
    if as_json:
        show_json(answer)
    else:
        _show(answer, loaded)


def _answer(model: Any, path: Path) -> dict[str, Any]:
    table_model = isinstance(model, TableModel)
    estimator = model.estimator_ if table_model else model
    classes = getattr(estimator, "classes_", None)
    if table_model:
        columns = [
            {"name": c.name, "kind": COLUMN_KINDS[c.kind].adjective, "categories": sorted(c.categories)}
            for c in model.columns_
        ]
    else:
        columns = [{"name": str(name)} for name in getattr(model, "feature_names_in_", [])]
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "versions": versions(path),
        "model": model.family if table_model else None,
        "estimator": type(estimator).__name__,
        "target": model.target_ if table_model else None,
        "task": _task(estimator),
        "classes": None if classes is None else classes.tolist(),
        "has_offset": fitted_with_offset(estimator),
        "n_columns": getattr(model, "n_features_in_", None),
        "columns": columns,
        "left_out": [{"name": each.name, "why": each.why} for each in getattr(model, "left_out_", [])],
        "size": _sizes(estimator),
        "parameters": _changed(estimator),
        "leading_features": leading_features(model),
        "record": model.record_ if table_model else None,
        "intervals": describe_intervals(model) if table_model else None,
    }


def _show_fit(model: Any) -> None:
    """When and from what the model was fitted, and how wide its intervals are, if it knows."""
    for name, words in [] if model.record_ is None else record_in_words(model.record_):
        say(f"{name:<8} {words}")
    if interval := interval_in_words(model):
        say(f"interval {interval}")


def _show_quality(record: dict[str, Any]) -> None:
    """The quality that was measured when the model was fitted."""
    found = Quality.of_record(record)
    show_table(f"quality on {record['rows']['held_out']} held-out rows, measured by fit", *found.table())
    say(found.note)


def _task(estimator: Any) -> str | None:
    if hasattr(estimator, "classes_"):
        return "classification"
    if ranks_queries(estimator):
        return "ranking"
    return "regression" if hasattr(estimator, "predict") else None


def _sizes(estimator: Any) -> dict[str, int]:
    """What there is to count in the model."""
    found = {}
    if hasattr(estimator, "forest_"):
        found["trees"] = estimator.forest_.n_trees
    if hasattr(estimator, "projections_"):
        found["views"] = len(estimator.projections_)
    for attribute, name in _SIZES.items():
        value = getattr(estimator, attribute, None)
        if attribute == "support_vectors_":
            value = None if value is None else len(value)
        if isinstance(value, int):
            found[name.replace(" ", "_")] = value
    return found


def _changed(estimator: Any) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    values = estimator.get_params()
    return {name: values[name] for name, _ in changed_parameters(estimator).rows if name != "n_jobs"}


def _listed(names: list[str], most: int) -> str:
    """The first names, with quotes around those that contain a comma."""
    return first_of([repr(name) if "," in name else name for name in names], most)


def _show(answer: dict[str, Any], model: Any) -> None:
    sizes = ", ".join(
        counted(value, name.replace("_", " ").removesuffix("s")) for name, value in answer["size"].items()
    )
    say(f"model    {answer['estimator']}" + (f": {sizes}" if sizes else ""))
    if answer["task"]:
        target = f"{answer['target']} " if answer["target"] else ""
        classes = answer["classes"]
        what = "numbers" if classes is None else "classes: " + _listed([str(label) for label in classes], 20)
        if answer["task"] == "ranking":
            what = RANKS
        say(f"predicts {target}({what})")
    if answer["has_offset"]:
        say(f"offset   {OFFSET_NOT_STORED}")
    say(f"file     {answer['file']}, {size_in_words(answer['bytes'])}")
    if answer["model"] is not None:
        _show_fit(model)
    say("written  by " + ", ".join(f"{name} {version}" for name, version in answer["versions"].items()))
    if answer["parameters"]:
        say("with     " + ", ".join(f"{name}={value!r}" for name, value in answer["parameters"].items()))
    shown = answer["columns"][:50]
    if shown and "kind" in shown[0]:
        rows = [[column["name"], column["kind"], _listed(column["categories"], 8)] for column in shown]
        left = len(answer["columns"]) - len(shown)
        title = f"{answer['n_columns']} columns" + (f", {left} of them not shown" if left else "")
        show_table(title, ["column", "kind", "categories"], rows, left=(0, 1, 2))
    elif shown:
        say(f"columns  {answer['n_columns']}: " + _listed([column["name"] for column in answer["columns"]], 50))
    elif answer["n_columns"] is not None:
        say(f"columns  {answer['n_columns']}, without names")
    for each in answer["left_out"]:
        say(f"left out {each['name']}: {each['why']}")
    show_leading(answer["leading_features"])
    if answer["record"] is not None and answer["record"]["quality"] is not None:
        _show_quality(answer["record"])
