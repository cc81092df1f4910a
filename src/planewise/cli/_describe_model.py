"""What a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planewise.cli._mistakes import refuse_existing
from planewise.cli._show import say, show_json, show_table, size_in_words
from planewise.io import load
from planewise.io._container import read
from planewise.table import TableModel
from planewise.words import number

_SIZES = {
    "n_planes_": "planes",
    "n_iter_": "rounds",
    "depth_": "levels",
    "n_stored_numbers_": "numbers",
    "support_vectors_": "vectors",
    "n_features_": "features kept",
}


def describe_model(model: Path, html: Path | None, force: bool, as_json: bool) -> None:
    """What `planewise describe` does; its options are described there."""
    if html is not None:
        refuse_existing(html, force, model)
    loaded = load(model)
    if html is not None:
        from planewise.report import report

        report(loaded, path=html)
    answer = _answer(loaded, model)
    if as_json:
        show_json(answer)
    else:
        _show(answer)


def _answer(model: Any, path: Path) -> dict[str, Any]:
    estimator = model.estimator_ if isinstance(model, TableModel) else model
    classes = getattr(estimator, "classes_", None)
    names = getattr(estimator, "feature_names_in_", None)
    worth = getattr(estimator, "feature_importances_", None)
    leading = {}
    if worth is not None:
        for j in worth.argsort()[::-1][:10]:
            if worth[j] > 0:
                leading[str(j) if names is None else str(names[j])] = float(worth[j])
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "versions": read(path).document["versions"],
        "estimator": type(estimator).__name__,
        "target": model.target_ if isinstance(model, TableModel) else None,
        "task": "classification" if classes is not None else "regression" if hasattr(model, "predict") else None,
        "classes": None if classes is None else classes.tolist(),
        "n_columns": int(model.n_features_in_),
        "columns": _columns(model),
        "left out": [{"name": each.name, "why": each.why} for each in getattr(model, "left_out_", [])],
        "size": _sizes(estimator),
        "parameters": _changed(estimator),
        "leading features": leading,
    }


def _columns(model: Any) -> list[dict[str, Any]]:
    if isinstance(model, TableModel):
        return [{"name": c.name, "kind": c.kind, "categories": list(c.categories)} for c in model.columns_]
    return [{"name": str(name)} for name in getattr(model, "feature_names_in_", [])]


def _sizes(estimator: Any) -> dict[str, int]:
    """What there is to count in the model."""
    found = {}
    if hasattr(estimator, "forest_"):
        found["trees"] = estimator.forest_.n_trees
    for attribute, word in _SIZES.items():
        value = getattr(estimator, attribute, None)
        if attribute == "support_vectors_":
            value = None if value is None else len(value)
        if isinstance(value, int):
            found[word] = value
    return found


def _changed(estimator: Any) -> dict[str, Any]:
    """The parameters that are not the defaults."""
    defaults = type(estimator)().get_params(deep=False)
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if repr(value) != repr(defaults[name]) and name != "n_jobs"
    }


def _show(answer: dict[str, Any]) -> None:
    sizes = ", ".join(f"{count:,} {word}" for word, count in answer["size"].items())
    say(f"model    {answer['estimator']}" + (f": {sizes}" if sizes else ""))
    if answer["task"]:
        target = f"{answer['target']} " if answer["target"] else ""
        classes = answer["classes"]
        what = "numbers" if classes is None else "classes: " + ", ".join(str(label) for label in classes[:20])
        say(f"predicts {target}({what})")
    say(f"file     {answer['file']}, {size_in_words(answer['bytes'])}")
    say("written  by " + ", ".join(f"{name} {version}" for name, version in answer["versions"].items()))
    if answer["parameters"]:
        say("with     " + ", ".join(f"{name}={value!r}" for name, value in answer["parameters"].items()))
    shown = answer["columns"][:50]
    if shown and "kind" in shown[0]:
        rows = [[column["name"], column["kind"], ", ".join(column["categories"][:8])] for column in shown]
        show_table(f"{answer['n_columns']} columns", ["column", "kind", "categories"], rows, left=(0, 1, 2))
    elif shown:
        say(f"columns  {answer['n_columns']}: " + ", ".join(column["name"] for column in shown))
    else:
        say(f"columns  {answer['n_columns']}, without names")
    for each in answer["left out"]:
        say(f"left out {each['name']}: {each['why']}")
    if answer["leading features"]:
        show_table(
            "leading features",
            ["column", "share"],
            [[name, f"{number(100 * worth)} %"] for name, worth in answer["leading features"].items()],
        )
