"""Why a case has its answer: one sentence, doubts, and what is drawn or listed below; the pieces are the reports'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from planewise.app._ties import Ties, ties
from planewise.app._vectors import differing_columns, vectors_listed
from planewise.report import html
from planewise.report.views import ShownView, TrainingRows, block, views_of, views_switch
from planewise.table import TableModel
from planewise.words import (
    SAME_VALUES,
    Contributions,
    Path,
    Reason,
    Vectors,
    View,
    number,
    percent,
    ties_in_words,
    value_in_words,
    weight_in_words,
)

MAX_VIEWS = 4
MAX_POINTS = 800  # of training rows in a picture: pages stay light, and the next case comes at once
MAX_NAMED = 3  # columns in a sentence
COVERAGE = 0.9  # of the interval of a predicted number


@dataclass(frozen=True)
class Why:
    """An answer with its reasons; `body` is HTML that holds nothing unescaped."""

    answer: Any
    sentence: str
    body: str
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    telling: list[str] = field(default_factory=list)  # columns, the most telling first
    odds: list[tuple[Any, float]] = field(default_factory=list)  # classes with their probabilities, the likeliest first
    interval: tuple[float, float] | None = None  # of a predicted number


class Explainer:
    """Says why, for one model; what is the same for all cases is worked out once."""

    def __init__(self, model: TableModel) -> None:
        self.model = model
        self._training: TrainingRows | None = None

    def __call__(self, one: Any, moved_from: Any = None) -> Why:
        """The reasons for the row in a table of one; `moved_from` is the row before its values were changed."""
        return replace(self._reasons(one, moved_from), odds=self._odds(one), interval=self._interval(one))

    def _odds(self, one: Any) -> list[tuple[Any, float]]:
        if self.model.task_ == "regression" or not hasattr(self.model.estimator_, "predict_proba"):
            return []
        found = zip(self.model.classes_.tolist(), self.model.predict_proba(one)[0].tolist(), strict=True)
        return sorted(found, key=lambda pair: -pair[1])

    def _interval(self, one: Any) -> tuple[float, float] | None:
        if self.model.task_ != "regression" or not hasattr(self.model, "predict_interval"):
            return None
        low, high = self.model.predict_interval(one, COVERAGE)[0]
        return float(low), float(high)

    def _reasons(self, one: Any, moved_from: Any) -> Why:
        reason = self.model.explain(one)[0]
        if isinstance(reason, View):
            return self._view(reason, one, moved_from)
        if isinstance(reason, Vectors):
            return self._vectors(reason, one)
        if isinstance(reason, Contributions):
            return self._contributions(reason, one)
        body = _heading(reason) + html.reason(reason)
        telling = self._in_questions(reason) if isinstance(reason, Path) else []
        return Why(reason.prediction, reason.sentence(), body, telling=telling)

    def _in_questions(self, reason: Path) -> list[str]:
        """The columns that the questions on a path name, in their order."""
        names = [column.name for column in self.model.columns_]
        found = [name for step in reason.steps for name in names if name == step.column or name in step.plane]
        return list(dict.fromkeys(found))

    @property
    def training(self) -> TrainingRows:
        """Of a model with views."""
        if self._training is None:
            self._training = TrainingRows.of(self.model.estimator_)
        return self._training

    def _view(self, reason: View, one: Any, moved_from: Any) -> Why:
        views = views_of(reason, MAX_VIEWS)
        data = views[0].data if views else reason.data()
        before = None if moved_from is None else self.model.read(moved_from).row(0, named=True)
        drawn = block(self._drawn(views, before)) if views else ""
        added = reason.views_table()
        drawn += "" if added is None else html.section(added)
        notes = [SAME_VALUES] if data["same_values_in_fit"] else []
        if data["skipped"]:
            lacking = sorted({name for each in data["skipped"] for name in each["missing"]})
            notes.insert(0, f"Views with {_listed_names(lacking)} were skipped: the case has no value there.")
        telling = [name for view in views for name in view.data["view"]["features"]]
        if data.get("estimate") == "score":  # views are added up, and no neighbours are counted
            sentence = reason.answer_sentence()  # doubts have a place of their own
        else:
            by_lot = data["view"] is not None and data["task"] == "regression"
            tied = ties(data, self.training, self.model.read(one)) if by_lot else None
            sentence = view_sentence(data, tied)
        return Why(reason.prediction, sentence, drawn, list(data["reasons"]), notes, list(dict.fromkeys(telling)))

    def _drawn(self, views: list[ShownView], before: dict[str, Any] | None) -> str:
        return views_switch(views, self.training, ident="view", moved_from=before, most_points=MAX_POINTS)

    def _vectors(self, reason: Vectors, one: Any) -> Why:
        body = f"<h2>The vectors that decide</h2>{vectors_listed(reason)}"
        notes = [SAME_VALUES] if reason.same_values_in_fit else []
        telling = self._columns(differing_columns(reason))
        return Why(reason.prediction, reason.sentence(self._sure(reason, one)), body, [], notes, telling)

    def _contributions(self, reason: Contributions, one: Any) -> Why:
        bars = f'<div class="contributions">{html.reason(reason)}</div>'
        body = f"{_heading(reason)}{bars}"
        telling = self._columns([each.column for each in reason.parts])
        return Why(reason.prediction, reason.sentence(self._sure(reason, one)), body, [], [], telling)

    def _columns(self, features: list[str]) -> list[str]:
        return list(dict.fromkeys(self.model.column_of(name) for name in features))

    def _sure(self, reason: Reason, one: Any) -> str:
        """The probability of the answer, in brackets, where there is one."""
        if self.model.task_ == "regression" or not hasattr(self.model.estimator_, "predict_proba"):
            return ""
        place = self.model.classes_.tolist().index(reason.prediction)
        return f" ({percent(self.model.predict_proba(one)[0][place], 0)})"


def view_sentence(data: Mapping[str, Any], tied: Ties | None = None) -> str:
    """Such as "spam, because 9 of the 10 nearest in (capital length, your) are spam.".

    `tied` says how many rows are as near as the last one in the mean of a predicted number: which count is chance.
    """
    answer = value_in_words(data["prediction"])
    if data["view"] is None:
        return f"{answer}: {data['reasons'][0]}."
    named = ", ".join(
        f"{name} [{unit}]" if unit else str(name)
        for name, unit in zip(data["view"]["features"], data["view"]["units"], strict=True)
    )
    if data["task"] == "regression":
        return (
            f"{answer}, because this is the mean of the {len(data['neighbours'])} nearest in ({named})"
            f"{'' if tied is None else f' (of {tied.n_rows} equally near rows {tied.n_counted} are counted)'}; "
            f"rows around it were predicted with an error of about {number(data['expected_error'], 3)}."
        )
    if data["estimate"] == "counts":
        n_for, n_against = data["counts"]["n_for"], data["counts"]["n_against"]
        why = f"{n_for} of the {n_for + n_against} nearest in ({named}) are {answer}"
        why += ties_in_words(data) + weight_in_words(data)
    else:
        near, far = data["neighbours"]["for"], data["neighbours"]["against"]
        own, other = near[-1]["distance"], far[-1]["distance"]
        why = f"in ({named}) {answer} is {number(own, 3)} away and anything else {number(other, 3)}"
    return f"{answer}, because {why}."


def _heading(reason: Reason) -> str:
    return f"<h2>{html.said(reason.table().heading, most=2000)}</h2>"


def _listed_names(names: list[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED} more"
