"""planewise in the tools around scikit-learn: SHAP, Optuna, skops and MLflow.

Each package is imported when it is first used, and none of them is needed to import this module.
"""

from planewise.tools._optuna import OptunaPruning
from planewise.tools._shap import shap_explanation
from planewise.tools._skops import SKOPS_TRUSTED_TYPES

__all__ = ["SKOPS_TRUSTED_TYPES", "OptunaPruning", "shap_explanation"]
