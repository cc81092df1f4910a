"""Explanations of numbers: the neighbours whose mean is predicted, and how well such rows were predicted before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.recip._explanation import Wording
from planewise.recip._rows import FloatArray, Table, Vector
from planewise.words import number

AS_GOOD = 1.25  # a view whose expected error is at most so many times the least
APART = 2.0  # views disagree if their answers differ by so many expected errors


@dataclass(frozen=True)
class NumberBatch:
    """Queries with their neighbours, and each view's prediction and expected error: (views, queries)."""

    wording: Wording
    values: Table
    rows: NDArray[np.int32]  # (views, queries, k)
    distance: FloatArray
    answer: Vector
    expected: Vector
    view: NDArray[np.intp]
    prediction: Vector

    @property
    def model(self) -> Any:
        """As it was when it explained."""
        return self.wording.estimator

    def describe(self, query: int) -> dict[str, Any]:
        """All that is known of one query's answer."""
        view = int(self.view[query])
        data = self._answered(query, float(self.prediction[query]))
        if view >= 0:
            data |= self._judged(query, view)
            data["runner_ups"] = self._runner_ups(query, view)
        data["reasons"] = self._reasons(data)
        data["undecided"] = bool(data["reasons"])
        return data

    def describe_in(self, query: int, view: int, label: Any = None) -> dict[str, Any]:
        """The same query in another view."""
        if label is not None:
            raise ValueError(f"label applies only to classifiers; leave it out (got {label!r}).")
        if not np.isfinite(self.expected[view, query]):
            words = self.wording.in_words(self.wording.view(view))
            raise ValueError(f"The view {words} cannot judge this case: it lacks a value.")
        return self._answered(query, float(self.answer[view, query])) | self._judged(query, view)

    def _answered(self, query: int, prediction: float) -> dict[str, Any]:
        """What does not depend on a view."""
        return {
            "kind": "view",
            "task": "regression",
            "query": self.wording.all_values(self.values[query]),
            "prediction": prediction,
            "expected_error": None,
            "k": int(self.wording.estimator.k_),
            "view": None,
            "neighbours": [],
            "runner_ups": [],
            "skipped": self.wording.skipped(self.values[query]),
            "same_values_in_fit": self.wording.same_values_in_fit(self.values[query]),
            "reasons": [],
            "undecided": False,
        }

    def _judged(self, query: int, view: int) -> dict[str, Any]:
        return {
            "view": self.wording.view(view),
            "expected_error": float(self.expected[view, query]),
            "neighbours": self._neighbours(view, query),
        }

    def _neighbours(self, view: int, query: int) -> list[dict[str, Any]]:
        rows = self.wording.estimator._rows
        return [
            {
                "rows": rows.originals(int(row)),
                "target": float(rows.target[row]),
                "weight": float(rows.weight[row]),
                "distance": float(distance),
                "values": self.wording.values(view, rows.values[row]),
            }
            for row, distance in zip(self.rows[view, query], self.distance[view, query], strict=True)
            if row >= 0
        ]

    def _runner_ups(self, query: int, decided: int) -> list[dict[str, Any]]:
        """What every other view would answer, the least expected error first."""
        out = [
            self.wording.view(view)
            | {
                "prediction": float(self.answer[view, query]),
                "expected_error": float(self.expected[view, query]),
            }
            for view in range(len(self.answer))
            if view != decided and np.isfinite(self.expected[view, query])
        ]
        return sorted(out, key=lambda other: other["expected_error"])

    def _reasons(self, data: dict[str, Any]) -> list[str]:
        if data["view"] is None:
            return ["no view can judge it, so the mean of all rows is predicted"]
        error = data["expected_error"]
        for other in data["runner_ups"]:
            apart = abs(other["prediction"] - data["prediction"])
            if other["expected_error"] <= AS_GOOD * error and apart > APART * error:
                return [f"{self.wording.in_words(other)} is about as good and says {number(other['prediction'])}"]
        return []

    def sentence(self, data: dict[str, Any]) -> str:
        """The explanation in words."""
        answer = number(data["prediction"])
        if data["view"] is None:
            return f"{answer}: undecided, {data['reasons'][0]}."
        targets = ", ".join(number(neighbour["target"]) for neighbour in data["neighbours"])
        text = (
            f"{answer}, the mean of its nearest rows in the view {self.wording.in_words(data['view'])} ({targets}); "
            f"rows around it were predicted with an error of about {number(data['expected_error'], 3)}"
        )
        if data["skipped"]:
            text += f"; {len(data['skipped'])} of {len(self.answer)} views lack a value of this case"
        if data["undecided"]:
            text += "; undecided: " + " and ".join(data["reasons"])
        return text + "."
