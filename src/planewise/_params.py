"""Declared limits of parameters, checked in one place: every wrong value gets the same kind of error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np


class Limit(NamedTuple):
    """What a parameter may be: a test and the words for it."""

    allows: Callable[[Any], bool]
    words: str


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def integer(low: int, high: int | None = None, *, none: bool = False) -> Limit:
    """An integer from `low` to `high`, or None where that means something."""

    def allows(value: Any) -> bool:
        if value is None:
            return none
        return _is_integer(value) and value >= low and (high is None or value <= high)

    words = f"an integer of {low} or more" if high is None else f"an integer from {low} to {high}"
    return Limit(allows, words + (" or None" if none else ""))


def real(low: float, high: float | None = None, *, open_low: bool = False) -> Limit:
    """A finite number from `low` (left out when `open_low`) to `high`."""

    def allows(value: Any) -> bool:
        if not _is_real(value) or value < low or (open_low and value == low):
            return False
        return high is None or value <= high

    least = f"above {low}" if open_low else f"of {low} or more"
    return Limit(allows, f"a number {least}" + ("" if high is None else f" and at most {high}"))


def one_of(*choices: str) -> Limit:
    """One of a few words."""
    return Limit(
        lambda value: isinstance(value, str) and value in choices,
        " or ".join(repr(choice) for choice in choices),
    )


def boolean() -> Limit:
    return Limit(lambda value: isinstance(value, (bool, np.bool_)), "True or False")


def threads() -> Limit:
    """What ``n_jobs`` may be."""
    return Limit(
        lambda value: value is None or (_is_integer(value) and value != 0),
        "an integer other than 0 (1 is one thread, -1 all cores) or None",
    )


def seed() -> Limit:
    """What ``random_state`` may be."""

    def allows(value: Any) -> bool:
        if value is None or isinstance(value, np.random.RandomState):
            return True
        return _is_integer(value) and 0 <= value < 2**32

    return Limit(allows, "an integer from 0 to 4294967295, a numpy.random.RandomState or None")


def class_weights(*words: str) -> Limit:
    """What ``class_weight`` may be; `words` are those it knows, "balanced" if none are given."""
    known = one_of(*(words or ("balanced",)))

    def allows(value: Any) -> bool:
        if isinstance(value, Mapping):
            return all(_is_real(weight) and weight >= 0 for weight in value.values())
        return value is None or known.allows(value)

    return Limit(allows, f"a dict with a weight of 0 or more for each class, {known.words} or None")


def or_sequence(limit: Limit) -> Limit:
    """What `limit` allows, or a non-empty list or tuple of such values."""

    def allows(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return len(value) > 0 and all(limit.allows(each) for each in value)
        return limit.allows(value)

    return Limit(allows, f"{limit.words}, or a list of such")


def either(*limits: Limit) -> Limit:
    return Limit(
        lambda value: any(limit.allows(value) for limit in limits),
        ", or ".join(limit.words for limit in limits),
    )


def keep_parameters(estimator: Any, given: Mapping[str, Any]) -> None:
    """Keep what ``__init__`` got, unchanged: the only line of its body is ``keep_parameters(self, locals())``."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError that names the first parameter outside the ``parameter_limits`` of the estimator's class."""
    limits: Mapping[str, Limit] = type(estimator).parameter_limits
    for name, limit in limits.items():
        value = getattr(estimator, name)
        if not limit.allows(value):
            raise ValueError(
                f"The parameter {name!r} of {type(estimator).__name__} must be {limit.words}; got {value!r}."
            )
