"""Compact, readable models for tabular data, with the scikit-learn API and a compiled core."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planewise.additive import AdditiveClassifier, AdditiveRegressor
    from planewise.machines import (
        ConformalKernel,
        LargeScaleMCMClassifier,
        MCMClassifier,
        MCMClassifierCV,
        MCMRegressor,
        MCMRegressorCV,
    )
    from planewise.recip import RECIPClassifier
    from planewise.store import load, save
    from planewise.trees import (
        DiscriminantFeatureTest,
        SLMBoostClassifier,
        SLMBoostRanker,
        SLMBoostRegressor,
        SLMClassifier,
        SLMForestClassifier,
        SLMForestRegressor,
        SLMRegressor,
    )

__version__ = "0.1.0"

__all__ = [
    "AdditiveClassifier",
    "AdditiveRegressor",
    "ConformalKernel",
    "DiscriminantFeatureTest",
    "LargeScaleMCMClassifier",
    "MCMClassifier",
    "MCMClassifierCV",
    "MCMRegressor",
    "MCMRegressorCV",
    "RECIPClassifier",
    "SLMBoostClassifier",
    "SLMBoostRanker",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
    "__version__",
    "load",
    "save",
]

_ROOMS = (
    *("additive", "dask", "data", "evaluate", "explain", "export", "machines"),
    *("plot", "published", "recip", "report", "store", "table", "trees"),
)


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: scikit-learn takes a second to import, and `planewise --help` needs none."""
    if name in _ROOMS:
        try:
            return import_module(f"planewise.{name}")
        except ImportError as error:  # hasattr, help() and completion go on after an AttributeError alone
            raise AttributeError(f"planewise.{name} cannot be imported: {error}") from error
    if name not in __all__:
        raise AttributeError(f"module 'planewise' has no attribute {name!r}")
    value = getattr(import_module(f"planewise.{_room_of(name)}"), name)
    globals()[name] = value
    return value


def _room_of(name: str) -> str:
    """Return the room that defines a public name."""
    if name in ("load", "save"):
        return "store"
    if name.startswith(("SLM", "Discriminant")):
        return "trees"
    if name.startswith("Additive"):
        return "additive"
    return "recip" if name.startswith("RECIP") else "machines"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
