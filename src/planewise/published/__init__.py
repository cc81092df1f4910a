"""The systems of the three papers with exactly the settings of the papers, nothing of ours switched on.

Each function returns an estimator that is not fitted yet, with parameters named by the symbols of its paper. The
docstrings name every choice that the paper leaves open. `docs/published.md` lists, equation by equation, where the code
is and what differs.
"""

from planewise.published._mcm import ls_mcm, ls_mcm_conformal, mcm, mcm_conformal, mcm_conformal_search, mcm_search
from planewise.published._recip import recip, recip_known, recip_lasso, recip_robust_lasso, recip_voting
from planewise.published._slm import (
    slm_boost_classifier,
    slm_classifier,
    slm_forest_classifier,
    slr_boost_regressor,
    slr_forest_regressor,
    slr_regressor,
)

__all__ = [
    "ls_mcm",
    "ls_mcm_conformal",
    "mcm",
    "mcm_conformal",
    "mcm_conformal_search",
    "mcm_search",
    "recip",
    "recip_known",
    "recip_lasso",
    "recip_robust_lasso",
    "recip_voting",
    "slm_boost_classifier",
    "slm_classifier",
    "slm_forest_classifier",
    "slr_boost_regressor",
    "slr_forest_regressor",
    "slr_regressor",
]
