"""Sums of a few functions of one or two columns: models that are a page of pictures."""

from planewise.views._classifier import SLMViewsClassifier
from planewise.views._regressor import SLMViewsRegressor

__all__ = ["SLMViewsClassifier", "SLMViewsRegressor"]
