"""Additive models of functions of one and two columns."""

from planewise.additive.classifier import AdditiveClassifier
from planewise.additive.regressor import AdditiveRegressor

__all__ = ["AdditiveClassifier", "AdditiveRegressor"]
