"""scikit-learn's own checks of all exact machines."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from planewise import MCMClassifier, MCMClassifierCV, MCMRegressor, MCMRegressorCV


@parametrize_with_checks(
    [
        MCMClassifier(),
        MCMClassifier(kernel="linear", multi_class="ovo", probability=True),
        MCMClassifierCV(gammas=[0.1, 1.0], cv=3),
        MCMRegressor(),
        MCMRegressor(kernel="linear"),
        MCMRegressor(relaxation=0.3),
        MCMRegressorCV(gammas=[0.1, 1.0], cv=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
