"""Numbers as people read them."""

from __future__ import annotations

import math
from typing import Any

MINUS = "−"
SMALLEST_EXPONENT, LARGEST_EXPONENT = -4, 6  # outside, a number is written with its exponent


def number(value: Any, digits: int = 4) -> str:
    """A number with so many significant digits, without an exponent where that is short.

    Digits before the decimal point are never rounded away, and from five of them on they are in groups of three.

    >>> number(1234.5), number(123456.7), number(0.00123), number(-2.0), number(1e9), number(2.34567, 3)
    ('1234', '123,457', '0.00123', '−2', '1e9', '2.35')
    """
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value).replace("-", MINUS)
    size = int(f"{value:.16e}".split("e")[1])  # before rounding: 9,999,500 has seven digits
    if SMALLEST_EXPONENT <= size <= LARGEST_EXPONENT:
        text = f"{value:{',' if size >= 4 else ''}.{max(digits - 1 - size, 0)}f}"
        return _without_zeros(text).replace("-", MINUS)
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{_without_zeros(mantissa)}e{int(exponent)}".replace("-", MINUS)


def number_to(value: Any, step: float) -> str:
    """A number with all its digits down to a step, for numbers that differ by little.

    >>> number_to(1_700_000_300.5, 0.1), number_to(1_700_000_300.5, 1)
    ('1,700,000,300.5', '1,700,000,300')
    """
    decimals = max(0, -math.floor(math.log10(step)))
    return _without_zeros(f"{float(value):,.{decimals}f}").replace("-", MINUS)


def step_from(origin: float, value: float, digits: int) -> float:
    """The step to which a number must be written so that its distance from an origin has this many digits."""
    finest, apart = math.ulp(value), abs(value - origin)
    return max(finest, 10.0 ** (math.floor(math.log10(apart)) - digits + 1)) if apart > 0 else finest


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(value: Any, digits: int = 4) -> str:
    """A number with its sign, also a plus; zero has no sign."""
    return ("+" if value > 0 else "") + number(value, digits)


def percent(share: Any, decimals: int | None = None) -> str:
    """A share in per cent: with so many decimals, or with one where it is small.

    >>> percent(0.97), percent(0.031), percent(0), percent(0.97123, 1)
    ('97 %', '3.1 %', '0 %', '97.1 %')
    """
    share = float(share)
    if decimals is None:
        decimals = 0 if share >= 0.1 else 1
    return "0 %" if share == 0 else f"{100 * share:.{decimals}f} %"


def count(value: Any) -> str:
    """A number of rows."""
    return f"{value:,.0f}"


def counted(value: Any, thing: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(2000, "row"), counted(3, "leaf"), counted(3, "category")
    ('1 row', '2,000 rows', '3 leaves', '3 categories')
    """
    endings = {"leaf": "leaves", "category": "categories"}
    many = next((thing.removesuffix(one) + more for one, more in endings.items() if thing.endswith(one)), f"{thing}s")
    return f"{count(value)} {thing if value == 1 else many}"
