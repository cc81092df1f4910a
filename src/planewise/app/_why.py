"""Why a case has its answer: one sentence, doubts, and what is drawn or listed below; the pieces are the reports'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planewise.app._review import in_words
from planewise.app._ties import Ties, ties
from planewise.app._vectors import telling_columns, vectors_listed, vectors_sentence
from planewise.report import _page
from planewise.report._reasons import SAME_VALUES, Reasons, reasons_for, same_values_in_fit
from planewise.report._sections import reasons_shown
from planewise.report._view_parts import ShownView, block, views_of, views_switch
from planewise.report._view_scene import TrainingRows
from planewise.table import TableModel
from planewise.words import number

MOST_VIEWS = 4
MOST_POINTS = 800  # of training rows in a picture: pages stay light, and the next case comes at once
MOST_NAMED = 3  # columns in a sentence


@dataclass(frozen=True)
class Why:
    """An answer with its reasons; `body` is HTML that holds nothing unescaped."""

    answer: Any
    sentence: str
    body: str
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    telling: list[str] = field(default_factory=list)  # columns, the most telling first


class Explainer:
    """Says why, for one model; what is the same for all cases is worked out once."""

    def __init__(self, model: TableModel) -> None:
        self.model = model
        self.views = hasattr(model.estimator_, "projections_")
        self.training = TrainingRows.of(model.estimator_) if self.views else None
        self._n_classes = 0 if model.task_ == "regression" else len(model.classes_)
        self._duels = getattr(model.estimator_, "multi_class", "ovr") == "ovo"

    def __call__(self, one: Any, moved_from: Any = None) -> Why:
        """The reasons for the row in a table of one; `moved_from` is the row before its values were changed."""
        return self._view(one, moved_from) if self.views else self._listed(one)

    # ------------------------------------------------------------------------------------------------------- views
    def _view(self, one: Any, moved_from: Any) -> Why:
        rows = self.model.read(one)
        explanation = self.model.estimator_.explain(rows)[0]
        views = views_of(explanation, MOST_VIEWS)
        data = views[0].data if views else explanation.data()
        before = None if moved_from is None else self.model.read(moved_from).row(0, named=True)
        drawn = block(self._drawn(views, before)) if views else ""
        answer = data["label"] if data["kind"] == "class" else data["prediction"]
        notes = [SAME_VALUES] if same_values_in_fit(self.model.estimator_, rows) else []
        if data["skipped"]:
            lacking = sorted({name for each in data["skipped"] for name in each["missing"]})
            notes.insert(0, f"Views with {_listed_names(lacking)} were skipped: the case has no value there.")
        telling = [name for view in views for name in view.data["view"]["features"]]
        sentence = view_sentence(data, self._ties(data, rows))
        return Why(answer, sentence, drawn, list(data["reasons"]), notes, list(dict.fromkeys(telling)))

    def _ties(self, data: Mapping[str, Any], rows: Any) -> Ties | None:
        """Of the deciding view, if there is one."""
        return None if data["view"] is None or self.training is None else ties(data, self.training, rows)

    def _drawn(self, views: list[ShownView], before: dict[str, Any] | None) -> str:
        return views_switch(views, self.training, ident="view", moved_from=before, most_points=MOST_POINTS)

    # ------------------------------------------------------------------------------------ trees, machines
    def _listed(self, one: Any) -> Why:
        given = reasons_for(self.model, one)
        answer = self.model.predict(one).tolist()[0]
        share = self._share(one, answer)
        notes = [given.note] if given.note else []
        heading = f"<h2>{_page.said(given.heading, most=2000)}</h2>"
        if given.header[0] == "weight":
            own = self.model.read(one).row(0, named=True)
            notes = [SAME_VALUES] if any(each["same values"] for each in given.data[1:]) else []
            telling = [name if name in one.columns else name.rpartition("=")[0] for name in telling_columns(given)]
            body = f"<h2>The vectors that decide</h2>{vectors_listed(given, own)}"
            sentence = vectors_sentence(given, answer, share, self._n_classes, self._duels)
            return Why(answer, sentence, body, [], notes, list(dict.fromkeys(telling)))
        if given.header[0] == "column":
            telling = [each["column"].rpartition("=")[0] or each["column"] for each in given.data[1:]]
            body = f'{heading}{_towards(given, self.model)}<div class="contributions">{reasons_shown(given)}</div>'
            sentence = given.sentence("" if share is None else f" ({100 * share:.0f} %)")
            return Why(answer, sentence, body, [], notes, list(dict.fromkeys(telling)))
        return Why(answer, _path_sentence(given, answer), heading + reasons_shown(given), [], notes)

    def _share(self, one: Any, answer: Any) -> float | None:
        if self.model.task_ == "regression" or not hasattr(self.model.estimator_, "predict_proba"):
            return None
        classes = self.model.classes_.tolist()
        return float(self.model.predict_proba(one)[0][classes.index(answer)])


def view_sentence(data: Mapping[str, Any], tied: Ties | None = None) -> str:
    """Such as "spam, because 9 of the 10 nearest in (capital length, your) are spam; ratio 0.12".

    Where more rows are as near as the last that is counted, their number is told: which of them count is chance.
    """
    answer = in_words(data["label"] if data["kind"] == "class" else data["prediction"])
    if data["view"] is None:
        return f"{answer}: {data['reasons'][0]}."
    named = ", ".join(
        f"{name} [{unit}]" if unit else str(name)
        for name, unit in zip(data["view"]["features"], data["view"]["units"], strict=True)
    )
    if data["kind"] == "number":
        return (
            f"{answer}, because this is the mean of the {len(data['neighbours'])} nearest in ({named})"
            f"{'' if tied is None else f' (of {tied.n_rows} equally near rows {tied.n_counted} are counted)'}; "
            f"rows around it were answered with an error of about {number(data['expected_error'], 3)}"
        )
    near, far = data["neighbours"]["for"], data["neighbours"]["against"]
    if data["estimate"] == "counts":
        why = f"{len(near)} of the {len(near) + len(far)} nearest in ({named}) are {answer}"
        if tied is not None:
            why += f" (of {tied.n_rows} equally near rows {tied.n_for} are {answer})"
    else:
        own, other = near[-1]["distance"], far[-1]["distance"]
        why = f"in ({named}) {answer} is {number(own, 3)} away and anything else {number(other, 3)}"
    return f"{answer}, because {why}; ratio {data['ratio']:.2g}"


def _path_sentence(given: Reasons, answer: Any) -> str:
    end = given.data[-1]
    planes = len(given.data) - 1
    questions = "one question leads" if planes == 1 else f"{planes} questions lead"
    share = "" if len(end["value"]) == 1 else f", {100 * max(end['value']):.0f} % of them {in_words(answer)}"
    return f"{in_words(answer)}, because {questions} to a leaf of {end['rows']} training rows{share}"


def _towards(given: Reasons, model: TableModel) -> str:
    """Which way the bars point, where classes are scored."""
    if given.of is None or model.task_ == "regression":
        return ""
    classes = model.classes_.tolist()
    others = [in_words(each) for each in classes if each != given.of]
    other = others[0] if len(others) == 1 else "other classes"
    return _page.paragraph(f"+ speaks for {in_words(given.of)}, − for {other}.", note=True)


def _listed_names(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"
