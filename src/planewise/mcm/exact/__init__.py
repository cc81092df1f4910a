"""Machines solved exactly, by linear programming."""

from planewise.mcm.exact._classifier import MCMClassifier
from planewise.mcm.exact._regressor import MCMRegressor
from planewise.mcm.exact._regressor_search import MCMRegressorCV
from planewise.mcm.exact._search import MCMClassifierCV

__all__ = ["MCMClassifier", "MCMClassifierCV", "MCMRegressor", "MCMRegressorCV"]
