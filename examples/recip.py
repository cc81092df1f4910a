"""
================================
Rows in the projections of RECIP
================================

Rows in the projections in which they were classified, with correct and wrong predictions: Figure 1 of the RECIP paper.

The data are like the synthetic data of the paper: two batches of rows, each of which can be classified in its own pair
of features. If ``PLANEWISE_DATA`` names a folder with the papers' data sets, this uses the spam data of the paper.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from planewise import RECIPClassifier
from planewise.plot import ProjectionDisplay

if os.environ.get("PLANEWISE_DATA"):
    from benchmarks.data import load  # in a clone

    data = load("spambase")
    X, y, names = data.data, np.where(data.target == data.target.max(), "spam", "not spam"), list(data.feature_names)
    keep = {"max_projections": 6}
else:
    rng = np.random.default_rng(1)
    X, y, known = rng.uniform(size=(1300, 7)), np.empty(1300, dtype=int), [(0, 1), (2, 3)]
    for rows, pair in zip((slice(650), slice(650, 1300)), known, strict=True):
        y[rows] = np.logical_xor(*(X[rows, pair] > 0.5).T)
        X[rows, pair] += 1
    y, names = np.array(["no", "yes"])[y], [f"feature {j}" for j in range(X.shape[1])]
    keep = {}
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
model = RECIPClassifier(random_state=0, **keep).fit(X_train, y_train)
print(f"{len(model.projections_)} projections, accuracy {model.score(X_test, y_test):.1%} on test rows")
ProjectionDisplay.from_estimator(
    model, X_train, y_train, X_test, y_test, n_views=2, max_queries=200, feature_names=names
).plot()
plt.show()
