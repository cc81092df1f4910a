"""Minimal complexity machines: kernel machines with few support vectors, and kernels fitted to the classes."""

from planewise.mcm._classifier import MCMClassifier
from planewise.mcm._conformal import ConformalKernel
from planewise.mcm._large_scale import LargeScaleMCMClassifier
from planewise.mcm._regressor import MCMRegressor
from planewise.mcm._search import MCMClassifierCV

__all__ = ["ConformalKernel", "LargeScaleMCMClassifier", "MCMClassifier", "MCMClassifierCV", "MCMRegressor"]
