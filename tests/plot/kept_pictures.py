"""One picture of every display from fixed data, as blocks of colour that are kept to compare with.

After a change of looks that is meant, look at the pictures (`--look FOLDER` writes them) and keep them anew:

    python tests/plot/kept_pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from picture_check import coarse
from sklearn.datasets import load_iris

from planewise import AdditiveClassifier, RECIPClassifier, SLMClassifier, SLMRegressor
from planewise.plot import PartitionDisplay, ProjectionDisplay, TreeDisplay, ViewsDisplay, style

KEPT = Path(__file__).parent / "golden" / "pictures.npz"
BLOCKS = 36
X, y = load_iris(return_X_y=True)


def tree(ax):
    TreeDisplay.from_estimator(SLMClassifier(random_state=0).fit(X, y)).plot(ax, with_key=False)


def tree_of_numbers(ax):
    TreeDisplay.from_estimator(SLMRegressor(random_state=0, max_depth=2).fit(X[:, :3], X[:, 3])).plot(
        ax, with_key=False
    )


def partition(ax):
    model = SLMClassifier(random_state=0).fit(X[:, 2:], y)
    PartitionDisplay.from_estimator(model, X[:, 2:], y, resolution=60).plot(ax, with_key=False)


def one_projection(ax):
    model = RECIPClassifier(projections=[(2, 3)], random_state=0).fit(X[::2], y[::2])
    ProjectionDisplay.from_explanation(model.explain(X[71:72])[0], X[::2], y[::2]).plot(ax, with_key=False)


def many_projections(ax):
    model = RECIPClassifier(projections=[(2, 3)], random_state=0).fit(X[::2], y[::2])
    ProjectionDisplay.from_estimator(model, X[::2], y[::2], X[1::2], y[1::2]).plot(ax, with_key=False)


def views(ax):
    model = AdditiveClassifier(projections=[(0, 1), (2, 3), (2,)], random_state=0).fit(X[::2], y[::2])
    ViewsDisplay.from_estimator(model, case=model.explain(X[71:72])[0]).plot(ax, with_key=False)


PICTURES = {
    each.__name__: each
    for each in (
        tree, tree_of_numbers, partition, one_projection, many_projections, views,
    )
}  # fmt: skip


def drawn(name, font="DejaVu Sans"):
    """A picture's figure; nothing in it is arranged by the size of its type: a tree's boxes count letters instead."""
    by_letters = mock.patch.object(style, "_width", lambda text, size, family: 0.6 * size * len(text) / 72)
    with by_letters, plt.style.context("default"), plt.rc_context({"font.family": font}):
        if name == "views":
            figure, ax = plt.subplots(1, 3, figsize=(7, 2.6))
        elif name == "one_projection":
            figure, ax = plt.subplots(1, 2, figsize=(7, 3.6))
        else:
            figure, ax = plt.subplots(figsize=(5, 4))
        PICTURES[name](ax)
        figure.canvas.draw()
    return figure


def blocks(figure):
    """What is kept of a figure."""
    return coarse(figure, BLOCKS).round().astype(np.uint8)


if __name__ == "__main__":
    mpl.use("Agg")
    if len(sys.argv) == 3 and sys.argv[1] == "--look":
        for name in PICTURES:
            drawn(name).savefig(Path(sys.argv[2]) / f"{name}.png", dpi=90)
    else:
        np.savez_compressed(KEPT, **{name: blocks(drawn(name)) for name in PICTURES})
