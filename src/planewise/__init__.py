"""Small models you can see through, for tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planewise.io import load, save
    from planewise.mcm import (
        ConformalKernel,
        LargeScaleMCMClassifier,
        MCMClassifier,
        MCMClassifierCV,
        MCMRegressor,
        MCMRegressorCV,
    )
    from planewise.recip import ProjectionExplanation, RECIPClassifier
    from planewise.slm import (
        DiscriminantFeatureTest,
        SLMBoostClassifier,
        SLMBoostRanker,
        SLMBoostRegressor,
        SLMClassifier,
        SLMForestClassifier,
        SLMForestRegressor,
        SLMRegressor,
    )
    from planewise.views import SLMViewsClassifier, SLMViewsRegressor

__version__ = "0.1.0"

__all__ = [
    "ConformalKernel",
    "DiscriminantFeatureTest",
    "LargeScaleMCMClassifier",
    "MCMClassifier",
    "MCMClassifierCV",
    "MCMRegressor",
    "MCMRegressorCV",
    "ProjectionExplanation",
    "RECIPClassifier",
    "SLMBoostClassifier",
    "SLMBoostRanker",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
    "SLMViewsClassifier",
    "SLMViewsRegressor",
    "__version__",
    "load",
    "save",
]

_PARTS = (
    "dask",
    "evaluate",
    "export",
    "files",
    "io",
    "mcm",
    "parts",
    "plot",
    "published",
    "recip",
    "report",
    "slm",
    "table",
    "views",
    "words",
)


def __getattr__(name: str) -> Any:
    """Bring a name in when it is first asked for: scikit-learn is slow to start, and `planewise --help` needs none."""
    if name in _PARTS:
        try:
            return import_module(f"planewise.{name}")
        except ImportError as error:  # hasattr, help() and completion go on after an AttributeError alone
            raise AttributeError(f"planewise.{name} cannot be loaded: {error}") from error
    if name not in __all__:
        raise AttributeError(f"module 'planewise' has no attribute {name!r}")
    found = getattr(import_module(f"planewise.{_home(name)}"), name)
    globals()[name] = found
    return found


def _home(name: str) -> str:
    """The part of the library that a public name is from."""
    if name in ("load", "save"):
        return "io"
    if name.startswith("SLMViews"):
        return "views"
    if name.startswith(("SLM", "Discriminant")):
        return "slm"
    return "recip" if name.startswith(("RECIP", "Projection")) else "mcm"


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_PARTS])
