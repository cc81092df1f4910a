"""What contributions add up to, in one sentence: the start of the sum, then what is for and against the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from planewise._text import joined, number, shorten
from planewise.data.values import label_in_words, value_in_words

MAX_NAMED = 3  # columns on each side
ROUNDING = 1e-6  # of a sum
HARDLY = 0.1  # of the largest contribution: what adds less is not named beside it


@dataclass(frozen=True)
class CategoryStatistic:
    """The number that a model reads in place of a row's category."""

    name: str  # such as "share of 'yes'"
    value: float
    is_new: bool = False  # whether the category did not occur in fit, and the number is that of all rows

    def in_words(self) -> str:
        """Such as "share of 'yes' 0.43"."""
        words = f"{shorten(self.name)} {number(self.value)}"
        return f"new category, {words} in all rows" if self.is_new else words


@dataclass(frozen=True)
class Part:
    """What one column added."""

    column: str
    value: Any  # of the row
    added: float
    statistic: CategoryStatistic | None = None

    def in_words(self) -> str:
        """Such as "age is 22"."""
        return f"{shorten(self.column)} is {shorten(value_in_words(self.value))}{self._statistic_in_words()}"

    def value_in_words(self) -> str:
        """Such as "Berlin (share of 'yes' 0.43)"."""
        return value_in_words(self.value) + self._statistic_in_words()

    def _statistic_in_words(self) -> str:
        return "" if self.statistic is None else f" ({self.statistic.in_words()})"

    def data(self) -> dict[str, Any]:
        """Column, value and what it added."""
        found = {"column": self.column, "value": self.value, "added": self.added}
        if self.statistic is not None:
            found["target_statistic"] = {"name": self.statistic.name, "value": self.statistic.value}
        return found


@dataclass(frozen=True)
class Start:
    """What the columns add to, the average over the training rows, and how it bears on the predicted class."""

    words: str  # such as "the average score"
    favours: Any  # the class that it alone would give
    lead: float  # by how much it supports the prediction; negative if it opposes it
    columns: float  # the same of all columns together
    outvoted: str = ""  # what decided instead, where another class has the larger sum

    @classmethod
    def of(
        cls,
        words: str,
        classes: Sequence[Any],
        place: int,
        averages: Any,
        columns: Any,
        decided_by: tuple[str, str] | None = None,
    ) -> Self:
        """From the average and the columns' sum of each class: by how much the predicted one leads the best other.

        `decided_by` is what chooses the class if it is not the largest sum, and what the sums are: ("the trees' votes",
        "their mean probability").
        """
        sums = np.asarray(averages) + columns
        lead, added, ahead = (float(each[place] - max(np.delete(each, place))) for each in (averages, columns, sums))
        outvoted = ""
        if decided_by is not None and ahead < -ROUNDING * np.abs(sums).max():
            winner = label_in_words(classes[int(np.argmax(sums))])
            outvoted = f"{decided_by[0]} decide, though {decided_by[1]} is larger for {winner}"
        return cls(words, classes[int(np.argmax(averages))], lead, added, outvoted)


def class_why(parts: Sequence[Part], sign: float, start: Start | None) -> str:
    """Why a class, as it follows the class: ", mostly because age is 22; against it: education is Doctorate".

    The largest of the `parts` come first; those of this `sign` support the prediction. The start is a reason like any
    other. It comes first where it decides, or is more than any column; the largest contribution is always named, on
    whichever side it is.
    """
    for_it, against = _sides(parts, sign)
    if start is not None and start.outvoted:
        pro, contra = _telling(for_it, parts), _telling(against, parts)
        return f": {start.outvoted}{_listed('for it', pro)}{_listed('against it', contra)}"
    if start is not None and start.lead > 0 and (start.columns <= 0 or start.lead >= _largest(for_it)):
        added = _telling(for_it, parts)
        more = f", and {joined(added)} {'adds' if len(added) == 1 else 'add'} to it" if added else ""
        return f": {start.words} alone gives this prediction{more}{_listed('against it', _telling(against, parts))}"
    objections = _telling(against, parts)
    if start is not None and start.lead < 0 and -start.lead >= HARDLY * _largest(parts):
        objections.insert(0, f"{start.words} (which favours {label_in_words(start.favours)})")
    if for_it and (start is None or start.columns > 0):
        named = _telling(for_it, parts) or [each.in_words() for each in for_it[:MAX_NAMED]]
        return f", mostly because {joined(named)}{_listed('against it', objections)}"
    alone = "no column speaks for it" if start is None else f"neither {start.words} nor the columns say so alone"
    return f", though {alone}{_listed('for it', _telling(for_it, parts))}{_listed('against it', objections)}"


def number_why(parts: Sequence[Part], average: float, moved: float, logarithm: bool) -> str:
    """Why a number, as it follows the number: ", above the average of 90, mostly because size is 60".

    Contributions to a logarithm start from no average, but from what is usual.
    """
    usual = f"the usual {number(math.exp(average))}" if logarithm else f"the average of {number(average)}"
    raising, lowering = _sides(parts, 1.0)
    if not raising and not lowering:
        return f", because no column moves it away from {usual}"
    if moved == 0:
        up, down = _telling(raising, parts), _telling(lowering, parts)
        return f", at {usual}{_listed('raising it', up)}{_listed('lowering it', down)}"
    with_it, other = (raising, lowering) if moved > 0 else (lowering, raising)
    named = _telling(with_it, parts) or [each.in_words() for each in with_it[:MAX_NAMED]]
    others = _listed("lowering it" if moved > 0 else "raising it", _telling(other, parts))
    return f", {'above' if moved > 0 else 'below'} {usual}, mostly because {joined(named)}{others}"


def _sides(parts: Sequence[Part], sign: float) -> tuple[list[Part], list[Part]]:
    return [each for each in parts if each.added * sign > 0], [each for each in parts if each.added * sign < 0]


def _largest(parts: Sequence[Part]) -> float:
    return max((abs(each.added) for each in parts), default=0.0)


def _telling(side: Sequence[Part], parts: Sequence[Part]) -> list[str]:
    """Those of a side that are worth a word beside the largest of all."""
    return [each.in_words() for each in side[:MAX_NAMED] if abs(each.added) >= HARDLY * _largest(parts)]


def _listed(heading: str, named: list[str]) -> str:
    return f"; {heading}: {joined(named)}" if named else ""
