"""
=============================
How a node of a tree is split
=============================

Propose directions, measure the rows along them, choose planes, route the rows to the cells, and grow on.
"""

import matplotlib.pyplot as plt
import numpy as np

from planewise import SLMClassifier
from planewise.plot import PartitionDisplay

COLOURS = ["#0072b2", "#d55e00"]
CANDIDATES = [(1, 0), (0, 1), (1, 1), (2, -1), (1, -2), (3, 1)]
N_BINS = 16


def rows(random_state=2):
    """Two classes that two oblique planes separate, with a little noise."""
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-2, 2, size=(500, 2))
    inside = (X[:, 0] + X[:, 1] > -0.3) & (2 * X[:, 0] - X[:, 1] < 1.2)
    return X, np.where(rng.random(500) < 0.03, ~inside, inside).astype(int)


def scatter(ax, X, y, title):
    for k, (marker, colour) in enumerate(zip("o^", COLOURS, strict=True)):
        ax.scatter(*X[y == k].T, s=9, marker=marker, color=colour, linewidths=0)
    ax.set(xlim=(-2, 2), ylim=(-2, 2), xticks=[], yticks=[])
    ax.set_title(title, fontsize=10)


def gains(score, y):
    """Edges of the bins along a direction, the rows of each class in them, and the gain of a cut at each inner edge."""
    edges = np.linspace(score.min(), score.max(), N_BINS + 1)
    counts = np.array([np.histogram(score[y == k], edges)[0] for k in (0, 1)])
    below = counts.cumsum(axis=1)[:, :-1]
    above = counts.sum(axis=1, keepdims=True) - below
    total = loss(counts.sum(axis=1, keepdims=True))[0]
    return edges, counts, (total - loss(below) - loss(above)) / len(y)


def loss(counts):
    """Entropy of the classes, times the number of rows."""
    n = counts.sum(axis=0)
    share = np.divide(counts, n, out=np.zeros(counts.shape), where=n > 0)
    return -(n * share * np.log(np.where(share > 0, share, 1))).sum(axis=0)


def propose(ax, X, y):
    scatter(ax, X, y, "1. propose: directions to try")
    for a in CANDIDATES:
        along = np.array(a) / np.hypot(*a)
        ax.annotate("", 1.8 * along, -1.8 * along, arrowprops={"arrowstyle": "->", "lw": 1.3, "color": "#222"})


def best_candidate(X, y):
    return max(CANDIDATES, key=lambda a: gains(X @ np.array(a), y)[2].max())


def measure(ax, X, y):
    """The histogram along the candidate that will win."""
    a, b = best_candidate(X, y)
    edges, counts, _ = gains(X @ np.array([a, b]), y)
    ax.bar(edges[:-1], counts[0], np.diff(edges), align="edge", color=COLOURS[0], edgecolor="white", linewidth=0.5)
    ax.bar(edges[:-1], counts[1], np.diff(edges), counts[0], align="edge", color=COLOURS[1], edgecolor="white", lw=0.5)
    ax.set_title("2. measure: rows in 16 bins, for each", fontsize=10)
    ax.set(xlabel=f"{a}·first {'−' if b < 0 else '+'} {abs(b)}·second", ylabel="rows")


def choose(ax, X, y):
    best = best_candidate(X, y)
    for a in CANDIDATES:
        edges, _, gain = gains(X @ np.array(a), y)
        place = (edges[1:-1] - edges[0]) / (edges[-1] - edges[0])
        ax.plot(place, gain, color="#b03060" if a == best else "#999", lw=2.2 if a == best else 1)
        if a == best:
            ax.plot(place[gain.argmax()], gain.max(), "o", color="#b03060", ms=8)
    ax.set_title("3. choose: the cut that gains most", fontsize=10)
    ax.set(xlabel="threshold, from the first bin to the last", ylabel="gain", xticks=[])


def cells(ax, X, y, depth, title):
    tree = SLMClassifier(max_depth=depth, random_state=0).fit(X, y)
    names = {"feature_names": ["first", "second"], "class_names": ["no", "yes"]}
    PartitionDisplay.from_estimator(tree, X, y, **names).plot(ax)
    ax.set_title(title, fontsize=10)
    ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
    if legend := ax.get_legend():
        legend.remove()


# %%
# The data, then the five steps.
X, y = rows()
figure, axes = plt.subplots(2, 3, figsize=(9, 5.8), layout="constrained")
scatter(axes[0, 0], X, y, "the rows of a node, two classes")
propose(axes[0, 1], X, y)
measure(axes[0, 2], X, y)
choose(axes[1, 0], X, y)
cells(axes[1, 1], X, y, 1, "4. route: rows go to the cells")
cells(axes[1, 2], X, y, None, "5. grow: split the cells again")
plt.show()
