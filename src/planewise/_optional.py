"""Packages that only a part of planewise needs, and the errors for missing ones."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any


def needs(what: str, package: str, extra: str | None) -> str:
    """The sentence that names a missing package, and the extra that brings it, if one does."""
    if extra is None:
        return f"{what} needs {package}, which is not installed: pip install {package}."
    return (
        f"{what} needs {package}, which is not installed: install planewise with its extra {extra!r} "
        f"(in a checkout: pip install '.[{extra}]')."
    )


def require(what: str, module: str, extra: str | None = None) -> Any:
    """The module, or an error that says how to get it; one that is there and broken says so itself."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (package, module):
            raise
        raise ModuleNotFoundError(needs(what, package, extra), name=package) from None


_HOME = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as of the first line outside planewise."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(_HOME):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
