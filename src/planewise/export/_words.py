"""Numbers, planes and leaves in words, in the user's units and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._categories import is_missing
from planewise._planes import normal_form
from planewise.slm.fitted import Forest

CATEGORIES_SHOWN, CLASSES_SHOWN = 8, 5


def number(value: Any, digits: int = 4) -> str:
    """A number with a proper minus sign, no more digits than asked for."""
    return f"{float(value):.{digits}g}".replace("-", "−")


def signed(value: Any, digits: int = 4) -> str:
    """A number with its sign, a plus too; zero has none."""
    return ("+" if value > 0 else "") + number(value, digits)


def linear_sum(weights: Sequence[Any] | NDArray[Any], names: Sequence[str]) -> str:
    """Such as 0.8·alcohol − 0.3·ash."""
    out = ""
    for weight, name in zip(weights, names, strict=True):
        size = abs(float(weight))
        term = name if f"{size:.4g}" == "1" else f"{number(size)}·{name}"
        sign = "−" if weight < 0 else "+"
        out += (f"{sign}{term}" if sign == "−" else term) if not out else f" {sign} {term}"
    return out


def plane_in_words(planes: Forest, plane: int, names: list[str], categories: dict[int, NDArray[Any]]) -> str:
    """What lies on the right side of a plane, in its normal form."""
    terms = slice(*planes.term_start[plane : plane + 2])
    features, weights = planes.term_feature[terms], planes.term_weight[terms].astype(np.float64)
    threshold = float(planes.threshold[plane])
    missing = " or missing" if planes.missing_right[plane] else ""
    members = planes.set_category[slice(*planes.set_start[plane : plane + 2])]
    if len(members):
        word = "in" if weights[0] >= threshold else "not in"
        known = [str(value) for value in categories[int(features[0])][members].tolist()]
        shown = ", ".join(known[:CATEGORIES_SHOWN]) + (", …" if len(known) > CATEGORIES_SHOWN else "")
        return f"{names[features[0]]} {word} {{{shown}}}{missing}"
    form = normal_form(weights, threshold)
    left = linear_sum(form.weights, [names[features[term]] for term in form.order])
    return f"{left} {'≤' if form.turned else '≥'} {number(form.threshold, 6)}{missing}"


def cell_in_words(codes: Sequence[int], letters: str) -> str:
    """Which sides of its node's planes a cell lies on: "yes"/"no" of one plane, letters of several."""
    bits = [tuple(code >> k & 1 for k in range(len(letters))) for code in codes]
    if len(letters) == 1:
        return "yes" if bits[0][0] else "no"
    fixed = [k for k in range(len(letters)) if len({each[k] for each in bits}) == 1]
    if 2 ** (len(letters) - len(fixed)) == len(bits):  # the cells are all that these sides allow
        return " and ".join(_side(letters[k], bits[0][k]) for k in fixed) or "always"
    return " or ".join(f"({' and '.join(_side(*each) for each in zip(letters, one, strict=True))})" for one in bits)


def _side(letter: str, bit: int) -> str:
    return letter if bit else f"not {letter}"


def short(label: Any, most: int = 80) -> str:
    """A label among others, none of which may push the others out of sight."""
    text = str(label)
    return text if len(text) <= most else text[: most - 1] + "…"


def value_in_words(value: Any) -> str:
    """What a row has in a column: a number with as many digits as people read, and words as they are."""
    if is_missing(value):
        return "missing"
    return number(value, 6) if isinstance(value, (float, np.floating)) else str(value)


def class_in_words(label: Any) -> str:
    """A label, told apart from the numbers around it."""
    return str(label) if isinstance(label, str) else f"class {label}"


def mix_in_words(share: NDArray[Any], classes: NDArray[Any]) -> str:
    """Such as setosa 97 % (virginica 3 %)."""
    order = np.argsort(-share, kind="stable")
    parts = [f"{class_in_words(classes[k])} {percent(share[k])}" for k in order if share[k] >= 0.005 or k == order[0]]
    others = ", ".join(parts[1:CLASSES_SHOWN]) + (", …" if len(parts) > CLASSES_SHOWN else "")
    return parts[0] + (f" ({others})" if others else "")


def percent(share: Any) -> str:
    """A share in per cent."""
    return f"{100 * float(share):.0f} %" if share >= 0.1 or share == 0 else f"{100 * float(share):.1f} %"
