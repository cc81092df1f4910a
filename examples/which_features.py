"""
==================================
Which features matter on their own
==================================

Features sorted by the loss of the best split on each of them, and the elbow of that curve.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from planewise import DiscriminantFeatureTest
from planewise.plot import FeatureTestDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
test = DiscriminantFeatureTest(task="classification").fit(X, y)
FeatureTestDisplay.from_estimator(test).plot()
plt.show()
