"""Explanations of classes: the two sides of a query in the view that decided it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._text import number
from planewise.explain.reasons import ties_in_words, weight_in_words
from planewise.recip.decision import Decisions, Ratios, by_view
from planewise.recip.estimates import Counts, Near, Sides
from planewise.recip.explain_values import Wording, plain
from planewise.recip.rows import Table

NEAR_ONE = 0.8  # a ratio above says that both sides are about equally near
CLEAR_ODDS = 2.0  # the best view against must be so many times weaker
MOST_TIES_LISTED = 100  # of each side; on columns of few values, thousands of rows may be equally far


@dataclass(frozen=True)
class ClassBatch:
    """Queries with their neighbours and decisions."""

    wording: Wording
    values: Table
    sides: Sides
    ratios: Ratios
    decisions: Decisions

    @cached_property
    def choice_by_view(self) -> NDArray[np.intp]:
        return by_view(self.ratios)

    @property
    def model(self) -> Any:
        """As it was when it explained."""
        return self.wording.estimator

    def describe(self, query: int) -> dict[str, Any]:
        """All that is known of one query's answer."""
        label, view = int(self.decisions.label[query]), int(self.decisions.view[query])
        data = self._answered(query, label)
        data["against"] = self._against(query, view, label)
        if view >= 0:
            data |= self._judged(query, view, label)
            data["runner_ups"] = self._runner_ups(query, view)
        data["reasons"] = self._reasons(data)
        data["undecided"] = bool(data["reasons"])
        return data

    def _answered(self, query: int, label: int) -> dict[str, Any]:
        """What does not depend on a view."""
        estimator = self.wording.estimator
        probability = self.decisions.probability[query]
        return {
            "kind": "view",
            "task": "classification",
            "query": self.wording.all_values(self.values[query]),
            "prediction": plain(estimator.classes_[label]),
            "probability": float(probability[label]),
            "probabilities": [
                {"label": plain(name), "probability": float(p)}
                for name, p in zip(estimator.classes_, probability, strict=True)
            ],
            "k": int(estimator.k_),
            "estimate": "counts" if isinstance(estimator._estimate, Counts) else "distances",
            "view": None,
            "ratio": None,
            "neighbours": {"for": [], "against": []},
            "runner_ups": [],
            "against": None,
            "skipped": self.wording.skipped(self.values[query]),
            "same_values_in_fit": self.wording.same_values_in_fit(self.values[query]),
            "decide": estimator._decide,
            "reasons": [],
            "undecided": False,
        }

    def _judged(self, query: int, view: int, label: int) -> dict[str, Any]:
        """What a view says for a class."""
        estimator = self.wording.estimator
        near, far = self.sides.of_class(view, query, label)
        data: dict[str, Any] = {
            "view": self.wording.view(view),
            "power": float(estimator._estimate.power(self.ratios.dimension[view])),
            "ratio": float(self.ratios.ratio[view, query, label]),
            "neighbours": {"for": self._side(view, near), "against": self._side(view, far)},
        }
        if isinstance(estimator._estimate, Counts):
            data["prior_weight"] = float(estimator._estimate.prior_weight)
            data["share"] = float(estimator._prior[label])
            data["counts"] = self._counts(near, far)
            data["view_probability"] = 1 / (1 + data["ratio"] ** (1 / data["power"]))
        return data

    def _counts(self, near: Near, far: Near) -> dict[str, Any]:
        """How many rows are counted on either side, and what they weigh; rows that are equally far share places."""
        weight = self.wording.estimator._rows.weight
        shared = np.concatenate([near.share, far.share])
        return {
            "n_for": len(near.rows),
            "n_against": len(far.rows),
            "n_tied": int(np.count_nonzero(shared < 1)),
            "n_tied_for": int(np.count_nonzero(near.share < 1)),
            "tied_share": float(shared.min(initial=1.0)),
            "weight_for": float(near.share @ weight[near.rows]),
            "weight_against": float(far.share @ weight[far.rows]),
        }

    def _side(self, view: int, near: Near) -> list[dict[str, Any]]:
        """Neighbours as the user knows them; of those that share places, the first ones."""
        n_listed = int(np.count_nonzero(near.share == 1)) + MOST_TIES_LISTED
        rows, classes = self.wording.estimator._rows, self.wording.estimator.classes_
        return [
            {
                "rows": rows.originals(int(row)),
                "label": plain(classes[rows.target[row]]),
                "weight": float(rows.weight[row]),
                "share": float(share),
                "distance": float(distance),
                "values": self.wording.values(view, rows.values[row]),
            }
            for distance, row, share in islice(zip(*near, strict=True), n_listed)
        ]

    def _runner_ups(self, query: int, decided: int) -> list[dict[str, Any]]:
        """What every other view would answer, the clearest first."""
        classes = self.wording.estimator.classes_
        out = []
        for view, label in enumerate(self.choice_by_view[:, query]):
            ratio = self.ratios.ratio[view, query, label]
            if view != decided and np.isfinite(ratio):
                out.append(self.wording.view(view) | {"label": plain(classes[label]), "ratio": float(ratio)})
        return sorted(out, key=lambda other: other["ratio"])

    def _against(self, query: int, decided: int, label: int) -> dict[str, Any] | None:
        """The view and class with the least ratio among the other views and classes, if any row speaks for it."""
        ratio = self.ratios.ratio[:, query].copy()
        ratio[:, label] = np.inf
        if decided >= 0:
            ratio[decided] = np.inf
        view, other = np.unravel_index(int(ratio.argmin()), ratio.shape)
        if not np.isfinite(ratio[view, other]):
            return None
        name = plain(self.wording.estimator.classes_[other])
        near, far = self.sides.of_class(int(view), query, int(other))
        if len(near.rows) == 0:  # its class is nowhere near
            return None
        counted = {"n_for": len(near.rows), "n_against": len(far.rows)}
        return self.wording.view(int(view)) | {"label": name, "ratio": float(ratio[view, other])} | counted

    def _reasons(self, data: dict[str, Any]) -> list[str]:
        if data["view"] is None:
            rows = self.wording.estimator._rows
            counted = np.array_equal(rows.weight, np.diff(rows.origin_start))
            usual = "most common class" if counted else "class of the largest weight"
            return [f"no view can judge it, so the {usual} is predicted"]
        reasons = []
        by_counts = data["estimate"] == "counts"
        if data["ratio"] > NEAR_ONE:
            reasons.append("both sides are about equally strong" if by_counts else "both sides are about equally near")
        against = data["against"]
        if against is not None and against["ratio"] < 1 and against["ratio"] < CLEAR_ODDS * data["ratio"]:
            n_for, n_nearest = against["n_for"], against["n_for"] + against["n_against"]
            how_many = f" ({n_for} of the {n_nearest} nearest rows)" if by_counts else ""
            reasons.append(f"{self.wording.in_words(against)} speaks for {against['label']!r}{how_many}")
        return reasons

    def sentence(self, data: dict[str, Any]) -> str:
        """The explanation in words."""
        answer = f"{data['prediction']!r} with probability {data['probability']:.2f}"
        if data["view"] is None:
            return f"{answer}: undecided, {data['reasons'][0]}."
        view, sides = self.wording.in_words(data["view"]), data["neighbours"]
        if data["estimate"] == "counts":
            n_for, n_against = data["counts"]["n_for"], data["counts"]["n_against"]
            text = f"{answer}: {n_for} of its {n_for + n_against} nearest rows in the view {view} are of this class"
            text += ties_in_words(data) + weight_in_words(data) + self._shrunk(data)
        else:
            kth = "nearest" if data["k"] == 1 else f"{_ordinal(data['k'])} nearest"
            own, other = (number(sides[side][-1]["distance"], 3) for side in ("for", "against"))
            text = f"{answer}: in the view {view} the {kth} row of its class is {own} away, the {kth} other row {other}"
        if data["skipped"]:
            text += f"; {len(data['skipped'])} of {len(self.ratios.dimension)} views lack a value of this case"
        if data["undecided"]:
            text += "; undecided: " + " and ".join(data["reasons"])
        return text + "."

    def _shrunk(self, data: dict[str, Any]) -> str:
        """How the count becomes the probability."""
        alone, whole = f"{data['view_probability']:.2f}", f"{data['probability']:.2f}"
        text = f", which gives {alone} when shrunk towards the class's share of all rows"
        if alone == whole:
            return text
        if data["decide"] == "vote":
            return f"{text}; {whole} is the share of the views that vote for it"
        others = "the other class" if len(data["probabilities"]) == 2 else "each other class"
        return f"{text}; weighed against the best view for {others}, it is {whole}"


def _ordinal(number: int) -> str:
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
