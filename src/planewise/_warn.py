"""Warnings that point to the user's line, however deep in the library they arise."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

_HOME = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as of the first line outside planewise."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(_HOME):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
