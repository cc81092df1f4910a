"""scikit-learn's own checks of RECIP."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from planewise import RECIPClassifier, RECIPRegressor


@parametrize_with_checks(
    [
        RECIPClassifier(),
        RECIPClassifier(estimate="distances", selection="recip", decide="vote"),
        RECIPClassifier(3, max_projections=2, include_all_features=True, scaling="arcsinh"),
        RECIPRegressor(),
        RECIPRegressor(lam=3.0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
