"""The steps of a scikit-learn pipeline in a model file, as ``planewise describe`` lists them."""

from __future__ import annotations

from typing import Any


def steps_of(model: Any) -> list[dict[str, Any]]:
    """Name and kind of each step of a pipeline, with the steps or parts inside it; empty for other models."""
    inside = _inside(model)
    return [
        {"name": name, "kind": each if each is None or isinstance(each, str) else type(each).__name__}
        | ({"columns": columns} if columns is not None else {})
        | ({"steps": steps_of(each)} if _inside(each) else {})
        for name, each, columns in inside
    ]


def step_lines(steps: list[dict[str, Any]], depth: int = 0) -> list[str]:
    """One line per step, those inside another one further to the right."""
    lines = []
    for step in steps:
        columns = step.get("columns")
        of = "" if columns is None else f" of {', '.join(columns)}" if columns else " of no columns"
        lines.append(f"{'  ' * depth}{step['name']}: {step['kind'] or 'passthrough'}{of}")
        lines += step_lines(step.get("steps", []), depth + 1)
    return lines


def with_step_names(importance: dict[str, float], model: Any) -> dict[str, float]:
    """The same by the names that the steps before the last one give their columns, where the model has only numbers."""
    steps = getattr(model, "steps", [])
    if len(steps) < 2 or hasattr(steps[-1][1], "feature_names_in_"):
        return importance
    try:
        names = model[:-1].get_feature_names_out()
    except (AttributeError, ValueError):  # a function without names
        return importance
    return {str(names[int(place)]): share for place, share in importance.items()}


def _inside(model: Any) -> list[tuple[str, Any, list[str] | None]]:
    if hasattr(model, "steps"):
        return [(name, each, None) for name, each in model.steps]
    if hasattr(model, "transformer_list"):
        return [(name, each, None) for name, each in model.transformer_list]
    if hasattr(model, "transformers_"):
        return [(name, each, _columns(model, name)) for name, each, _ in model.transformers_]
    if hasattr(model, "regressor_"):
        return [("transformer", model.transformer_, None), ("regressor", model.regressor_, None)]
    return []


def _columns(model: Any, part: str) -> list[str]:
    """The columns that a part of a ColumnTransformer gets."""
    names = getattr(model, "feature_names_in_", None)
    return [str(k if names is None else names[k]) for k in model._transformer_to_input_indices[part]]
