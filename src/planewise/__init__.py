"""Small models you can see through, for tables."""

from planewise.slm import (
    DiscriminantFeatureTest,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

__version__ = "0.1.0"

__all__ = [
    "DiscriminantFeatureTest",
    "SLMBoostClassifier",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
    "__version__",
]
