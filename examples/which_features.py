"""
==================================
Which features matter on their own
==================================

Features sorted by the loss of the best split on each of them, and the elbow of that curve.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from planewise import DiscriminantFeatureTest

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
test = DiscriminantFeatureTest(task="classification").fit(X, y)

figure, ax = plt.subplots(figsize=(5.2, 5.5), layout="constrained")
ax.barh(test.feature_names_in_[test.order_], test.scores_[test.order_])
ax.axhline(test.elbow_ - 0.5, color="black", linestyle="--", label=f"elbow after {test.elbow_} features")
ax.set_xlabel(f"{test.criterion} after the best split")
ax.tick_params(axis="y", labelsize=8)
ax.invert_yaxis()
ax.legend(loc="upper right")
plt.show()
