"""Small models you can see through, for tables."""

from planewise.io import load, save
from planewise.mcm import (
    ConformalKernel,
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
)
from planewise.recip import ProjectionExplanation, RECIPClassifier, RECIPRegressor
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
    "ConformalKernel",
    "DiscriminantFeatureTest",
    "LargeScaleMCMClassifier",
    "MCMClassifier",
    "MCMClassifierCV",
    "MCMRegressor",
    "ProjectionExplanation",
    "RECIPClassifier",
    "RECIPRegressor",
    "SLMBoostClassifier",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
    "__version__",
    "load",
    "save",
]
