"""One way to write a plane, for text, reports and pictures: which term comes first, and what it is divided by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class NormalForm:
    """A plane divided so that its largest weight is one: "at least", or "at most" if it was turned round."""

    order: tuple[int, ...]  # of the terms: the first has a plus sign
    weights: tuple[float, ...]  # in that order
    threshold: float
    divisor: float  # by which a row's sum is divided, too
    turned: bool


def normal_form(weights: Iterable[Any], threshold: Any) -> NormalForm:
    """Terms with a plus sign first, the largest weight one, and no plane with minus signs alone.

    >>> form = normal_form([-2.0, 4.0], 6.0)
    >>> form.order, form.weights, form.threshold, form.turned
    ((1, 0), (1.0, -0.5), 1.5, False)
    >>> normal_form([-2.0], 3.0).threshold, normal_form([-2.0], 3.0).turned
    (-1.5, True)
    """
    plain = [float(weight) for weight in weights]
    turned = max(plain) <= 0
    divisor = max(map(abs, plain)) * (-1.0 if turned else 1.0)
    divided = [weight / divisor for weight in plain]
    order = tuple(sorted(range(len(plain)), key=lambda term: divided[term] < 0))
    return NormalForm(order, tuple(divided[term] for term in order), float(threshold) / divisor, divisor, turned)
