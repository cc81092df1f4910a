"""
=============================
The cells of a tree of planes
=============================

A tree of planes and a decision tree on the same two features.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier

from planewise import SLMClassifier
from planewise.plot import PartitionDisplay

X, y = make_moons(1000, noise=0.3, random_state=0)
train, test = slice(0, 600), slice(600, None)
ours = SLMClassifier(random_state=0).fit(X[train], y[train])
theirs = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
splits = int((theirs.tree_.children_left >= 0).sum())

# %%
# The title of each plot has the accuracy on new rows.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), dpi=130, layout="constrained", sharey=True)
for ax, model, title in (
    (axes[0], ours, f"planewise: {ours.n_planes_} planes"),
    (axes[1], theirs, f"decision tree: {splits} splits"),
):
    right = 100 * model.score(X[test], y[test])
    PartitionDisplay.from_estimator(
        model,
        X[train],
        y[train],
        feature_names=["first feature", "second feature"],
        class_names=["moon 0", "moon 1"],
    ).plot(ax, title=f"{title}, {right:.1f}% right on new rows")
plt.show()
