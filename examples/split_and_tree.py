"""
======================
Two planes, four cells
======================

Two planes divide the space into four cells, and the tree of that split: Figure 1 of the SLM paper.
"""

import matplotlib.pyplot as plt
import numpy as np

from planewise import SLMClassifier
from planewise.plot import PartitionDisplay, TreeDisplay

X = np.random.default_rng(3).uniform(-1, 1, size=(400, 2))
above, right = X[:, 1] > 0.6 * X[:, 0], X[:, 1] > -1.2 * X[:, 0]
y = np.array(["south", "west", "east", "north"])[above + 2 * right]
X[:, 0], X[:, 1] = 20 + 8 * X[:, 0], 60 + 25 * X[:, 1]
tree = SLMClassifier(max_planes=2, max_depth=1, random_state=0).fit(X, y)

names = ["temperature", "humidity"]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.7), layout="constrained", width_ratios=[1, 1.15])
PartitionDisplay.from_estimator(tree, X, y, feature_names=names, units={"temperature": "°C", "humidity": "%"}).plot(
    axes[0], title="(a) the space, cut by two planes"
)
TreeDisplay.from_estimator(tree, feature_names=names, row=X[:1]).plot(axes[1], title="(b) its tree")
plt.show()
