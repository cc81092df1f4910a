"""Trees of hyperplanes: SLM and SLR."""

from planewise.slm._boost import SLMBoostClassifier, SLMBoostRegressor
from planewise.slm._feature_test import DiscriminantFeatureTest
from planewise.slm._forest import SLMForestClassifier, SLMForestRegressor
from planewise.slm._tree import SLMClassifier, SLMRegressor

__all__ = [
    "DiscriminantFeatureTest",
    "SLMBoostClassifier",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
]
