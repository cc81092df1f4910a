"""Trees of hyperplanes: SLM and SLR."""

from planewise.slm._boost_classifier import SLMBoostClassifier
from planewise.slm._boost_regressor import SLMBoostRegressor
from planewise.slm._feature_test import DiscriminantFeatureTest
from planewise.slm._forest import SLMForestClassifier, SLMForestRegressor
from planewise.slm._ranker import SLMBoostRanker
from planewise.slm._tree import SLMClassifier, SLMRegressor

__all__ = [
    "DiscriminantFeatureTest",
    "SLMBoostClassifier",
    "SLMBoostRanker",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
]
