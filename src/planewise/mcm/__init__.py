"""Minimal complexity machines: kernel machines with few support vectors, and kernels fitted to the classes."""

from planewise.mcm._conformal import ConformalKernel
from planewise.mcm.exact import MCMClassifier, MCMClassifierCV, MCMRegressor, MCMRegressorCV
from planewise.mcm.large import LargeScaleMCMClassifier

__all__ = [
    "ConformalKernel",
    "LargeScaleMCMClassifier",
    "MCMClassifier",
    "MCMClassifierCV",
    "MCMRegressor",
    "MCMRegressorCV",
]
