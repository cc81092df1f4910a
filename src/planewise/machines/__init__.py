"""Sparse kernel machines (MCM) and their conformal kernel."""

from planewise.machines.classifier import MCMClassifier
from planewise.machines.conformal import ConformalKernel
from planewise.machines.large import LargeScaleMCMClassifier
from planewise.machines.regressor import MCMRegressor
from planewise.machines.regressor_search import MCMRegressorCV
from planewise.machines.search import MCMClassifierCV

__all__ = [
    "ConformalKernel",
    "LargeScaleMCMClassifier",
    "MCMClassifier",
    "MCMClassifierCV",
    "MCMRegressor",
    "MCMRegressorCV",
]
