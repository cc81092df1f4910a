"""The cells of one tree of planes beside those of one decision tree, drawn on two features.

python examples/partition.py [partition.png]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from planewise import SLMClassifier
from planewise.datasets import make_new_moons

COLOURS, MARKERS = ("#0072b2", "#d55e00"), ("o", "^")  # safe for colour-blind eyes; class by marker too


def draw_partition(axes):
    """Fit both trees on the new moons and draw each with its held-out accuracy in the title."""
    X, y = make_new_moons(random_state=0)
    train, test = slice(0, 600), slice(600, None)
    ours = SLMClassifier(random_state=0).fit(X[train], y[train])
    theirs = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
    splits = int((theirs.tree_.children_left >= 0).sum())
    for ax, model, title in (
        (axes[0], ours, f"planewise: {ours.n_planes_} planes"),
        (axes[1], theirs, f"decision tree: {splits} splits"),
    ):
        draw_cells(ax, model, X[train], y[train])
        ax.set_title(f"{title}, {100 * model.score(X[test], y[test]):.1f} % right on new rows", fontsize=10)
        ax.set_xlabel("first feature")
    axes[0].set_ylabel("second feature")


def draw_cells(ax, model, X, y):
    """Shade by predicted class, outline the leaves, and put the training rows on top."""
    (left, bottom), (right, top) = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    across, up = np.meshgrid(np.linspace(left, right, 500), np.linspace(bottom, top, 500))
    grid = np.c_[across.ravel(), up.ravel()]
    shade = model.predict(grid).reshape(across.shape)
    leaf = np.unique(model.apply(grid), return_inverse=True)[1].reshape(across.shape)
    ax.contourf(across, up, shade, levels=[-0.5, 0.5, 1.5], colors=COLOURS, alpha=0.2)
    edges = (np.diff(leaf, axis=0)[:, :-1] != 0) | (np.diff(leaf, axis=1)[:-1] != 0)
    outline = np.ma.masked_equal(edges.astype(float), 0)
    ax.imshow(outline, extent=(left, right, bottom, top), origin="lower", cmap="gray", vmin=1, vmax=2, aspect="auto")
    for label in (0, 1):
        chosen = y == label
        ax.scatter(
            *X[chosen].T, s=9, c=COLOURS[label], marker=MARKERS[label], linewidths=0, alpha=0.8, label=f"class {label}"
        )
    ax.legend(loc="upper right", fontsize=8, framealpha=0.9)


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    path = sys.argv[1] if len(sys.argv) > 1 else "partition.png"
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    draw_partition(axes)
    figure.savefig(path, dpi=130)
    print(path)
