"""One row in the view in which it was predicted: the plot, the nearest training rows, and what each view adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planewise._text import counted, number
from planewise.data.values import value_in_words
from planewise.explain.describe import TableSection
from planewise.plot.view_data import value_in_view
from planewise.report import html
from planewise.report.pictures import figures_closed, picture_of_case

MOST_NEAREST = 12  # training rows that are listed
MOST_NUMBERS = 3  # of equal training rows that are named


def case_parts(explanation: Any, *, level: int = 4, drawn: bool = True) -> list[str]:
    """Return the parts of a page that show an explanation by a view.

    Parameters
    ----------
    explanation : ProjectionExplanation
    level : int, default=4
        Of the headings.
    drawn : bool, default=True
        Whether there is a plot, which needs matplotlib.
    """
    data, parts = explanation.data(), []
    if data["view"] is not None and drawn:
        with figures_closed():
            parts.append(html.figure(*picture_of_case(explanation)))
    tables = [nearest_rows(data), explanation.views_table()]
    return parts + [html.section(each, level) for each in tables if each is not None]


def nearest_rows(data: Mapping[str, Any]) -> TableSection | None:
    """Return the training rows that an explanation's data name as the nearest; None if there are none."""
    near = data["neighbours"]
    if isinstance(near, Mapping):
        near = [*near["for"], *near["against"]]
    if not near:
        return None
    view = data["view"]
    names = [f"{name} ({unit})" if unit else name for name, unit in zip(view["features"], view["units"], strict=True)]

    def line(who: str, answer: Any, distance: str, values: Mapping[str, Any]) -> list[str]:
        known = zip(view["features"], view["scaling"], strict=True)
        own = [value_in_view(values.get(name), scaling) for name, scaling in known]
        return [who, value_in_words(answer, 4), distance, *own]

    rows = [line("this row", data["prediction"], "", data["query"])]
    for each in sorted(near, key=lambda each: each["distance"])[:MOST_NEAREST]:
        numbers = [str(row) for row in each["rows"][:MOST_NUMBERS]]
        if more := len(each["rows"]) - len(numbers):
            numbers.append(f"and {more} more")
        answer = each["label"] if "label" in each else each["target"]
        rows.append(line(", ".join(numbers), answer, number(each["distance"], 3), each["values"]))
    left = len(near) - MOST_NEAREST
    note = f"{counted(left, 'more row')} {'is' if left == 1 else 'are'} not listed." if left > 0 else ""
    kind = "value" if data["task"] == "regression" else "class"
    columns = ["training row (from 0)", kind, "distance", *names]
    return TableSection("The nearest training rows", columns, rows, note, ends=[0])
