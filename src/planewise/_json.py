"""Values as JSON can write them."""

from __future__ import annotations

import math
from datetime import date
from typing import Any


def plain(value: Any) -> Any:
    """The same with lists, dicts and numbers of Python; None for what JSON has no number for, dates as ISO 8601."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return plain(value.tolist())
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
