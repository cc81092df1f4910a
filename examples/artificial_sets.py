"""
==========================
Circle and ring, new moons
==========================

Training rows, test rows and predictions of one tree on three artificial data sets: Figure 4 of the SLM paper.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_moons
from sklearn.model_selection import train_test_split

from planewise import SLMClassifier
from planewise.plot import PartitionDisplay

(left, y_left), (right, y_right) = (make_moons(1000, noise=0.2, random_state=seed) for seed in (0, 1))
SETS = {
    "circle and ring": make_circles(1000, noise=0.2, factor=0.5, random_state=0),
    "2 new moons": make_moons(1000, noise=0.3, random_state=0),
    "4 new moons": (np.concatenate([left, right + np.array([3.5, 0])]), np.concatenate([y_left, y_right + 2])),
}
figure, axes = plt.subplots(3, 3, figsize=(9, 8.4), dpi=90, layout="constrained")
for column, (name, (X, y)) in enumerate(SETS.items()):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    tree = SLMClassifier(random_state=0).fit(X_train, y_train)
    PartitionDisplay.from_estimator(tree, X_train, y_train, X_test=X_test, y_test=y_test).plot(
        axes[:, column], with_key=False
    )
    axes[0, column].set_title(f"{name}\ntraining rows", fontsize=9)
    axes[2, column].set_title(
        f"predicted by {tree.n_planes_} planes: {tree.score(X_test, y_test):.1%} right", fontsize=9
    )
    for ax in axes[:, column]:
        ax.tick_params(labelleft=True)
        ax.set_ylabel("x1", fontsize=8)
plt.show()
