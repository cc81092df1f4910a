"""Why a row got its prediction from a sum of views: the leading view, what the others add, and the rows near it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from planewise._text import feature_names, joined, number, percent, signed
from planewise.additive.gains import Floats
from planewise.additive.values import Values, by_class
from planewise.data.values import class_in_words
from planewise.explain.neighbours import as_fitted, units_of_features

MOST_NEAR = 10  # rows that are shown beside a case; more if they are equally near
CLOSE_ODDS = 1.5  # a class that is less likely than so many times another is undecided
FAINT = 0.02  # a view whose score is a smaller share of the leading one's is against nothing
STRONG = 0.8  # a view against that is at least this share of the leading one: views disagree


@dataclass(frozen=True)
class ViewsBatch:
    """Rows with the scores of their views."""

    model: Any  # as it was when it explained
    names: list[str]
    units: list[str | None]
    rows: NDArray[np.float32]
    scores: Floats  # rows x views x outputs

    @classmethod
    def of(
        cls, model: Any, rows: NDArray[np.float32], scores: Floats, names: Sequence[str] | None, units: Any
    ) -> ViewsBatch:
        """The batch of a fitted model; names and units are the user's."""
        known = feature_names(model, names)
        if len(set(known)) < len(known):
            twice = next(name for name in known if known.count(name) > 1)
            raise ValueError(f"feature_names must differ from each other; {twice!r} is there twice.")
        return cls(as_fitted(model), known, units_of_features(units, known), rows, scores)

    @property
    def classes(self) -> NDArray[Any] | None:
        classes: NDArray[Any] | None = getattr(self.model, "classes_", None)
        return classes

    @cached_property
    def values(self) -> Values:
        return Values(self.model)

    # ---------------------------------------------------------------------------------------------------- as data
    def describe(self, query: int) -> dict[str, Any]:
        """All that is known of one row's prediction."""
        data = self._answered(query)
        margins = self._margins(query, data)
        if len(margins):
            lead = int(np.argmax(margins if self.classes is not None else np.abs(margins)))
            data |= self._judged(query, lead, data, margins)
            data["runner_ups"] = self._others(lead, data, margins)
            data["against"] = self._against(lead, data, margins)
        data["reasons"] = self._reasons(data)
        data["undecided"] = bool(data["reasons"])
        return data

    def _answered(self, query: int) -> dict[str, Any]:
        """What does not depend on a view."""
        rows = self.rows[query]
        data: dict[str, Any] = {
            "kind": "view",
            "task": "regression" if self.classes is None else "classification",
            "estimate": "score",
            "query": {self.names[j]: self.values.as_given(rows[j], j) for j in self.values.columns},
            "contributions": [],
            "view": None,
            "score": None,
            "neighbours": [] if self.classes is None else {"for": [], "against": []},
            "runner_ups": [],
            "against": None,
            "skipped": [],
            "unseen": [self.names[j] for j in self.values.columns if self.values.is_unseen(rows[j], j)],
            "missing": [self.names[j] for j in self.values.columns if np.isnan(rows[j])],
            "same_values_in_fit": self.values.is_in_fit(rows),
            "n_rows_kept": len(self.model._kept.values),
            "reasons": [],
            "undecided": False,
        }
        whole = self.scores[query].sum(axis=0) + self.model.view_base_
        if self.classes is None:
            return data | self._number(whole)
        return data | self._class(whole)

    def _number(self, whole: Floats) -> dict[str, Any]:
        link = "log" if self.model._loss.link == "exp" else "identity"
        return {
            "prediction": float(self.model._loss.numbers(whole[None])[0]),
            "link": link,
            "base": float(self.model.view_base_[0]),
            "total": float(whole[0]),
        }

    def _class(self, whole: Floats) -> dict[str, Any]:
        classes = self.classes
        assert classes is not None
        every = by_class(whole)
        probability = softmax(every) if len(classes) > 1 else np.ones(1)
        place = int(every.argmax()) if len(classes) > 1 else 0
        data = {
            "prediction": plain(classes[place]),
            "probability": float(probability[place]),
            "probabilities": [
                {"label": plain(name), "probability": float(p)} for name, p in zip(classes, probability, strict=True)
            ],
            "versus": None,
        }
        if len(classes) == 1:
            return data | {"base": 0.0, "total": 0.0}
        rivals = every.copy()
        rivals[place] = -np.inf
        rival = int(rivals.argmax())
        base = by_class(self.model.view_base_)
        return data | {
            "versus": plain(classes[rival]),
            "base": float(base[place] - base[rival]),
            "total": float(every[place] - every[rival]),
        }

    def _margins(self, query: int, data: dict[str, Any]) -> Floats:
        """What each view adds: to the prediction, or to the score of its class against that of its rival."""
        scores, classes = self.scores[query], self.classes
        if classes is None:
            found = scores[:, 0]
        elif len(classes) == 1:
            found = np.zeros(0)
        else:
            every, known = by_class(scores), classes.tolist()
            found = every[:, known.index(data["prediction"])] - every[:, known.index(data["versus"])]
        data["contributions"] = [
            {"features": self._features(place), "columns": list(self.model.projections_[place]), "score": float(each)}
            for place, each in enumerate(found)
        ]
        return found

    def _features(self, place: int) -> list[str]:
        return [self.names[j] for j in self.model.projections_[place]]

    def _view(self, place: int) -> dict[str, Any]:
        return self.values.view(place, self.names, self.units)

    def _judged(self, query: int, place: int, data: dict[str, Any], margins: Floats) -> dict[str, Any]:
        """What one view says, and what the others add to it."""
        score = float(margins[place])
        found: dict[str, Any] = {
            "view": self._view(place),
            "score": score,
            "others": float(data["total"] - data["base"] - score),
            "neighbours": self._near(query, place, data),
        }
        if self.classes is not None:
            alone = by_class(self.scores[query, place] + self.model.view_base_)
            likely = softmax(alone)
            found["alone"] = plain(self.classes[int(alone.argmax())])
            found["alone_probability"] = float(likely[self.classes.tolist().index(data["prediction"])])
        else:
            found["alone"] = float(self.model._loss.numbers(np.array([[data["base"] + score]]))[0])
        return found

    def _near(self, query: int, place: int, data: dict[str, Any]) -> Any:
        """The kept rows that are nearest in a view, by standardised values."""
        columns = self.model.projections_[place]
        distance, order = self.values.nearest(self.rows[query], columns, MOST_NEAR)
        kept = self.model._kept
        found = [
            {
                "rows": [int(kept.number[row])],
                "weight": float(kept.weight[row]),
                "distance": float(each),
                "values": {self.names[j]: self.values.as_given(self.values.column(j)[row], j) for j in columns},
            }
            for each, row in zip(distance, order, strict=True)
        ]
        if self.classes is None:
            return [one | {"target": float(kept.target[row])} for one, row in zip(found, order, strict=True)]
        labels = [plain(self.classes[int(kept.target[row])]) for row in order]
        sides: dict[str, list[Any]] = {"for": [], "against": []}
        for one, label in zip(found, labels, strict=True):
            sides["for" if label == data["prediction"] else "against"].append(one | {"label": label})
        return sides

    def _others(self, lead: int, data: dict[str, Any], margins: Floats) -> list[dict[str, Any]]:
        """The other views, the largest score first."""
        order = np.argsort(-np.abs(margins), kind="stable")
        more = {} if self.classes is None else {"label": data["prediction"]}
        return [
            self._view(place) | more | {"score": float(margins[place])} for place in order.tolist() if place != lead
        ]

    def _against(self, lead: int, data: dict[str, Any], margins: Floats) -> dict[str, Any] | None:
        """The view that speaks most for the rival, or pulls most the other way."""
        way = 1.0 if self.classes is not None else np.sign(margins[lead])
        opposed = np.where(np.arange(len(margins)) == lead, np.inf, way * margins)
        place = int(np.argmin(opposed))
        if not opposed[place] < -FAINT * abs(margins[lead]):
            return None
        more = {} if self.classes is None else {"label": data["prediction"]}
        return self._view(place) | more | {"score": float(margins[place])}

    def _reasons(self, data: dict[str, Any]) -> list[str]:
        """Why a person should look at the case."""
        if data["view"] is None:
            return []
        reasons, against = [], data["against"]
        if self.classes is not None:
            rival = class_in_words(data["versus"])
            if data["total"] < np.log(CLOSE_ODDS):
                rival_has = next(e["probability"] for e in data["probabilities"] if e["label"] == data["versus"])
                reasons.append(f"{rival} is about as likely ({percent(rival_has)})")
            if data["alone"] != data["prediction"]:
                reasons.append(f"the leading view alone says {class_in_words(data['alone'])}")
        if against is not None and abs(against["score"]) >= STRONG * abs(data["score"]):
            view, score = self._in_words(against), against["score"]
            if self.classes is not None:
                towards, score = f"for {class_in_words(data['versus'])}", abs(score)
            else:
                towards = "the other way"
            strongly = "more strongly" if abs(against["score"]) > abs(data["score"]) else "about as strongly"
            reasons.append(f"the view {view} speaks {towards} {strongly} ({signed(score, 3)})")
        return reasons

    def _in_words(self, view: Mapping[str, Any]) -> str:
        named = zip(view["features"], view["units"], strict=True)
        return " × ".join(f"{name} [{unit}]" if unit else name for name, unit in named)

    # ----------------------------------------------------------------------------------------------------- in words
    def sentence(self, data: dict[str, Any]) -> str:
        """The explanation in words."""
        text = self._number_sentence(data) if self.classes is None else self._class_sentence(data)
        if data["unseen"]:
            text += (
                f"; {joined(data['unseen'])} {'has' if len(data['unseen']) == 1 else 'have'} a category not seen in fit"
            )
        if data["missing"]:
            text += f"; {joined(data['missing'])} {'is' if len(data['missing']) == 1 else 'are'} missing"
        if data["undecided"]:
            text += "; undecided: " + " and ".join(data["reasons"])
        return text + "."

    def _class_sentence(self, data: dict[str, Any]) -> str:
        answer = f"{data['prediction']!r} with probability {data['probability']:.2f}"
        if data["view"] is None:
            return f"{answer}: the model knows no other class"
        view, rival = self._in_words(data["view"]), repr(data["versus"])
        if data["score"] <= 0:
            least = f"{view} is least against it, {signed(data['score'], 3)}"
            start = f"but scores start at {signed(data['base'], 3)} for it"
            return f"{answer}: no view speaks for it against {rival} ({least}), {start}"
        start = f"starting from {signed(data['base'], 3)} in score against {rival}"
        text = f"{answer}: {start}, the view {view} speaks for it most ({signed(data['score'], 3)})"
        if len(data["contributions"]) > 1:
            text += f"; the other views together add {signed(data['others'], 3)}"
        if data["alone"] == data["prediction"]:
            return f"{text}; alone, this view already says {data['alone']!r}"
        return text

    def _number_sentence(self, data: dict[str, Any]) -> str:
        answer, start = number(data["prediction"]), self._as_number(data["base"])
        if data["view"] is None:
            return answer
        if not any(each["score"] for each in data["contributions"]):
            return f"{answer}: no view changes it"
        view = self._in_words(data["view"])
        text = f"{answer}: starting from {start}, the view {view} changes it most ({self._step(data, data['score'])})"
        if len(data["contributions"]) > 1:
            text += f"; the other views together: {self._step(data, data['others'])}"
        return text

    def _as_number(self, raw: float) -> str:
        return number(float(self.model._loss.numbers(np.array([[raw]]))[0]))

    def _step(self, data: dict[str, Any], score: float) -> str:
        return f"times {number(float(np.exp(score)), 3)}" if data["link"] == "log" else signed(score, 4)


def plain(value: Any) -> Any:
    """A NumPy scalar as Python's own."""
    return value.item() if isinstance(value, np.generic) else value
