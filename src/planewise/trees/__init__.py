"""Trees of oblique planes, their forests and boosting (SLM, SLR)."""

from planewise.trees.arrays import Forest
from planewise.trees.boost_classifier import SLMBoostClassifier
from planewise.trees.boost_regressor import SLMBoostRegressor
from planewise.trees.feature_test import DiscriminantFeatureTest
from planewise.trees.forest import SLMForestClassifier, SLMForestRegressor
from planewise.trees.ranking import SLMBoostRanker
from planewise.trees.tree import SLMClassifier, SLMRegressor

__all__ = [
    "DiscriminantFeatureTest",
    "Forest",
    "SLMBoostClassifier",
    "SLMBoostRanker",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
]
