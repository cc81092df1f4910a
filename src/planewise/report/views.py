"""What stands around a view's picture: the numbered rows as a table, and the other views to switch to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from planewise.plot.style import colour
from planewise.plot.views import value_in_view
from planewise.report._view_grid import by_answer, folded, n_rows_of
from planewise.report._view_scene import Neighbour, TrainingRows
from planewise.report._view_shapes import class_form
from planewise.report._view_svg import MAX_POINTS, check_ident, view_figure
from planewise.report.html import said
from planewise.words import class_names, count, counted, number, shorten, signed, value_in_words

__all__ = [
    "MAX_POINTS",
    "ShownView",
    "TrainingRows",
    "block",
    "neighbours_table",
    "views_of",
    "views_of_case",
    "views_switch",
]
MOST_VIEWS = 8  # view.css has rules for so many
POINTS_ON_A_PAGE = 500  # of a picture, where a page may have many


def block(*parts: str) -> str:
    """Parts of one case: what is picked in one of them is shown in the others."""
    return '<div class="planewise-view">\n' + "\n".join(parts) + "\n</div>"


@dataclass(frozen=True)
class ShownView:
    """A view of a case, and what it is among the others."""

    role: str  # "deciding", "runner-up" or "against"
    data: dict[str, Any]

    def title(self, names: Mapping[Any, str] | None = None) -> str:
        """Such as "petal length × petal width: virginica, 19 of 20 nearest rows"."""
        features = " × ".join(shorten(name, 30) for name in self.data["view"]["features"])
        if self.data.get("estimate") == "score":
            return f"{features}: {self._score_in_words(names)}"
        label = self.data["prediction"]
        name = label if names is None else names[label]
        if self.data["estimate"] == "counts":
            n_for, n_against = (self.data["counts"][side] for side in ("n_for", "n_against"))
            return f"{features}: {shorten(name, 30)}, {n_for} of {n_for + n_against} nearest rows"
        near, far = (self.data["neighbours"][side] for side in ("for", "against"))
        own, other = (number(side[-1]["distance"], 3) for side in (near, far))
        return f"{features}: {shorten(name, 30)}, {own} away, others {other}"

    def _score_in_words(self, names: Mapping[Any, str] | None) -> str:
        """What a view adds to the sum."""
        score = self.data["score"]
        if self.data["task"] == "regression":
            return f"times {number(exp(score), 3)}" if self.data["link"] == "log" else signed(score)
        label = self.data["prediction" if score >= 0 else "versus"]
        return f"{signed(abs(score), 3)} for {shorten(label if names is None else names[label], 30)}"


ROLES = {"deciding": "Deciding view", "runner-up": "Runner-up", "against": "Best view against"}


def views_of(explanation: Any, most: int = 4) -> list[ShownView]:
    """The view that decided, the best one against, and the clearest of the others; empty if none could judge.

    Parameters
    ----------
    explanation : ProjectionExplanation
    most : int, default=4
        Up to 8.
    """
    if not 1 <= most <= MOST_VIEWS:
        raise ValueError(f"most must be from 1 to {MOST_VIEWS}; got {most!r}.")
    data = explanation.data()
    if data["view"] is None:
        return []
    against = data.get("against")
    found = [ShownView("deciding", data)]
    for other in data["runner_ups"]:
        if len(found) == most - (against is not None and most > 1):
            break
        if against is None or (other["columns"], other.get("label")) != (against["columns"], against.get("label")):
            found.append(ShownView("runner-up", explanation.data_in(other["columns"], other.get("label"))))
    if against is not None and most > 1:
        found.append(ShownView("against", explanation.data_in(against["columns"], against.get("label"))))
    return found


def views_of_case(explanation: Any, training: TrainingRows, *, ident: str, most_points: int = POINTS_ON_A_PAGE) -> str:
    """The views of one case, drawn, to be switched between; nothing if none could judge it."""
    views = views_of(explanation)
    if not views:
        return ""
    return block(views_switch(views, training, ident=ident, most_points=most_points))


def views_switch(
    views: Sequence[ShownView],
    rows: Any,
    target: Any = None,
    *,
    ident: str,
    classes: Sequence[Any] | Mapping[Any, Any] | None = None,
    moved_from: Mapping[str, Any] | None = None,
    most_points: int = MAX_POINTS,
) -> str:
    """Views of one case, one shown at a time, each with its numbered rows; it works without the script too.

    Parameters are those of :func:`view_figure`; `views` comes from :func:`views_of`.
    """
    check_ident(ident)
    if not views:
        return '<p class="pw-note">No view can judge this case.</p>'
    if len(views) > MOST_VIEWS:
        raise ValueError(f"views may hold up to {MOST_VIEWS}; got {len(views)}.")
    training = rows if isinstance(rows, TrainingRows) else TrainingRows(rows, target)
    names = _names(views[0].data, classes)
    panels, tabs = [], []
    for at, view in enumerate(views):
        own = f"{ident}-{at}"
        drawn = view_figure(
            view.data,
            training,
            ident=f"{own}-figure",
            classes=classes,
            moved_from=moved_from,
            most_points=most_points,
        )
        listed = neighbours_table(view.data, ident=f"{own}-rows", classes=classes)
        panels.append(f'<div class="pw-panel">\n{drawn}\n{listed}\n</div>\n')
        checked = " checked" if at == 0 else ""
        title = f'<strong>{ROLES[view.role]}</strong> <span dir="auto">{said(view.title(names))}</span>'
        tabs.append(f'<input type="radio" name="{ident}" id="{own}"{checked}><label for="{own}">{title}</label>\n')
    if len(views) == 1:
        return "".join(panels)
    return (
        f'<div class="pw-switch">\n<div class="pw-tabs" role="radiogroup" aria-label="Views of this case">\n'
        f'{"".join(tabs)}</div>\n<div class="pw-shown">\n{"".join(panels)}</div>\n</div>'
    )


def neighbours_table(
    data: Mapping[str, Any],
    *,
    ident: str,
    classes: Sequence[Any] | Mapping[Any, Any] | None = None,
) -> str:
    """The rows that decided, numbered as in the picture, below the case itself.

    Parameters
    ----------
    data : dict
        What ``data()`` or ``data_in()`` of a ProjectionExplanation gives.
    ident : str
        An id for the table, unlike any other on the page.
    classes : list or mapping, default=None
        Names of the classes in their order, or {label: name}.
    """
    check_ident(ident)
    if data["view"] is None:
        return ""
    features, names = data["view"]["features"], _names(data, classes)
    numbers = data["task"] == "regression"
    units = [f" ({unit})" if unit else "" for unit in data["view"]["units"]]
    titles = [f"{shorten(name, 60)}{unit}" for name, unit in zip(features, units, strict=True)]
    columns = ["nearest", "training row (from 0)", "value" if numbers else "class", "distance", *titles]
    head = "".join(f'<th scope="col" dir="auto">{said(each)}</th>' for each in columns)
    answer = value_in_words(data["prediction"], 4) if numbers else names[data["prediction"]]
    own = ["", answer, "", *_cells(data["query"], data["view"])]
    lines = ['<tr class="pw-own"><th scope="row">this case</th>' + _tds(own) + "</tr>\n"]
    for order, near in enumerate(folded(data), 1):
        each = near[0]
        who, answer = _several(near, names) if len(near) > 1 else _single(each, names)
        cells = f'<td>{said(who)}</td><td dir="auto">{answer}</td>'
        cells += _tds([number(each.distance, 3), *_cells(each.values, data["view"])])
        lines.append(
            f'<tr class="pw-{each.side}" data-row="{each.key}"><th scope="row"><button type="button" class="pw-pick" '
            f'aria-pressed="false" data-row="{each.key}">{order}</button></th>{cells}</tr>\n'
        )
    return (
        f'<div class="pw-wide" tabindex="0" role="region" aria-label="The nearest rows">\n<table id="{ident}">\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table></div>"
    )


def _names(data: Mapping[str, Any], classes: Any) -> dict[Any, str]:
    labels = [each["label"] for each in data.get("probabilities", [])]
    return dict(zip(labels, class_names(labels, classes), strict=True)) if labels else {}


def _single(each: Neighbour, names: Mapping[Any, str]) -> tuple[str, str]:
    """What a neighbour is called, and its class or number as markup."""
    return each.names(), _class_cell(each.answer, names) if names else said(value_in_words(each.answer, 4))


def _several(near: Sequence[Neighbour], names: Mapping[Any, str]) -> tuple[str, str]:
    """The same of neighbours with the same values: how many rows, and how many of each class or their numbers."""
    who = counted(n_rows_of(near), "row")
    if not names:
        answers = [float(each.answer) for each in near]
        mean = sum(len(each.rows or [0]) * own for each, own in zip(near, answers, strict=True)) / n_rows_of(near)
        return who, said(f"mean {number(mean)}, {number(min(answers))} to {number(max(answers))}")
    labels = list(names)
    counts = by_answer(near, labels)
    return who, ", ".join(_class_cell(labels[place], names, f"{count(n)} ") for place, n in counts.items() if n)


def _class_cell(label: Any, names: Mapping[Any, str], before: str = "") -> str:
    """A class by its mark and its name."""
    place = list(names).index(label)
    mark = f'<path fill="{colour(place)}" d="{class_form(place, 7, 7, 5)}"/>'
    drawn = f'<svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">{mark}</svg>'
    return f"{drawn}&nbsp;{before}{said(names[label])}"


def _cells(values: Mapping[str, Any], view: Mapping[str, Any]) -> list[str]:
    named = zip(view["features"], view["scaling"], strict=True)
    return [value_in_view(values.get(name), scaling) for name, scaling in named]


def _tds(cells: Sequence[Any]) -> str:
    return "".join(f'<td dir="auto">{said(cell)}</td>' for cell in cells)
