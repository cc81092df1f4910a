"""scikit-learn's own checks of RECIP."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from planewise import RECIPClassifier


@parametrize_with_checks(
    [
        RECIPClassifier(),
        RECIPClassifier(estimate="distances", selection="recip", decide="vote"),
        RECIPClassifier(3, max_projections=2, include_all_features=True, scaling="arcsinh"),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_class_weight_classifiers": "distances do not depend on weights: class_weight is refused by name"}
        if getattr(estimator, "estimate", None) == "distances"
        else {}
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
