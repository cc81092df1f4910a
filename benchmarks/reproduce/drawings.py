"""Figures of the papers that nothing in the library draws: the coefficients of SLM and the kernels of MCM."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.linalg import eigh
from sklearn.model_selection import train_test_split

from benchmarks.data import load
from planewise import MCMClassifier

from .pictures import save
from .results import Results

INK, PALE = "#222222", "#d9d9d9"


def draw_envelope(results: Results, path: Path, data_home: str | None) -> None:
    """Draw Figure 2 of the SLM paper: the envelope of the coefficients, and one direction within it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n_features, n_selected, max_coef, coef_decay, rank_decay = 10, 5, 10, 0.5, 0.3
    rng = np.random.default_rng(7)
    rank = np.arange(n_features)
    chance = np.exp(-rank_decay * rank) / np.exp(-rank_decay * rank).sum()
    selected = rng.choice(n_features, n_selected, replace=False, p=chance)
    bounds = np.floor(max_coef * np.exp(-coef_decay * rank) + 1e-9).astype(int)
    coefficients = rng.integers(-bounds, bounds + 1)[selected]

    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    smooth = np.linspace(0, n_features - 1, 200)
    for sign in (1, -1):
        envelope = sign * max_coef * np.exp(-coef_decay * smooth)
        ax.plot(smooth, envelope, "--", color="grey", label="envelope" if sign > 0 else None)
    dots = np.array([(d, value) for d in rank for value in range(-bounds[d], bounds[d] + 1)])
    dark = np.isin(dots[:, 0], selected)
    ax.scatter(*dots[dark].T, s=14, color=INK, zorder=3, label="may be drawn")
    ax.scatter(*dots[~dark].T, s=14, color=PALE, zorder=2, label="not selected")
    ax.scatter(
        selected, coefficients, s=90, facecolors="none", edgecolors="C1", linewidths=1.5, zorder=4, label="drawn"
    )
    ax.bar(rank, 2 * max_coef * chance / chance.max(), bottom=-max_coef, width=0.5, color="C0", alpha=0.15, zorder=0,
           label="chance of selection")  # fmt: skip
    ax.set(yticks=range(-10, 11, 5), xticks=rank, xticklabels=[f"$a'_{{{d + 1}}}$" for d in rank], ylabel="coefficient")
    ax.set(xlabel="features, by the loss of their best split", ylim=(-max_coef - 0.5, max_coef + 0.5))
    figure.legend(loc="outside upper center", ncols=5, fontsize="small", frameon=False)
    save(figure, path)


def draw_kernels(results: Results, path: Path, data_home: str | None) -> None:
    """Draw Figure 2 of the MCM paper: rows by the leading components of the data and of the kernel before and after.

    The paper penalises the sum of the slacks, planewise their mean: C = 2 is 2 n here. A small mu makes the machine
    sparse: without it, every row would be a support vector.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    home = data_home or os.environ.get("PLANEWISE_DATA")
    data = load("glass", data_home=home) if home else load("wine")
    pair = ["build wind float", "build wind non-float"] if home else np.unique(data.target)[:2].tolist()
    chosen = np.isin(data.target, pair)
    X, y = np.asarray(data.data, dtype=float)[chosen], np.asarray(data.target)[chosen]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    machine = MCMClassifier(
        C=2 * len(y), mu=0.01, gamma=0.002, relaxation=1.0, conformal="signed", gamma_conformal=0.0078,
        scaling="standard",
    ).fit(X, y)  # fmt: skip
    rows, rows_test = machine._scaling(X), machine._scaling(X_test)
    kernel, factor = machine._trained_settings.kernel, machine._factor

    def optimised(one, other):
        return factor(one)[:, None] * kernel(one, other) * factor(other)

    spaces = {
        "the data": (lambda one, other: one @ other.T, 1.0),
        f"the kernel ({factor.separability(0.0):.3g})": (kernel, 0.5),
        f"the kernel, optimised ({factor.separability(1.0):.3g})": (optimised, 0.5),
    }
    figure, axes = plt.subplots(3, 2, figsize=(6.6, 7.4), sharex="row", sharey="row", layout="constrained")
    for (title, (space, power)), both in zip(spaces.items(), axes, strict=True):
        place = components(space, rows, power)
        parts = (rows, y, "training"), (rows_test, y_test, "test")
        for ax, (shown, labels, what) in zip(both, parts, strict=True):
            for label, marker in zip(pair, "o^", strict=True):
                ax.scatter(*place(shown[labels == label]).T, s=12, marker=marker, alpha=0.8, label=label)
            ax.set_title(f"{title}: {what} rows", fontsize="small")
            ax.ticklabel_format(scilimits=(-2, 3))
        vectors, cores = place(rows[machine.support_]), place(factor.cores)
        rings = {"s": 40, "facecolors": "none", "edgecolors": INK}
        both[0].scatter(*vectors.T, **rings, label=f"support vectors ({len(vectors)})")
        both[0].scatter(*cores.T, s=20, marker="x", color="C3", label=f"cores ({len(cores)})")
    handles, words = axes[0, 0].get_legend_handles_labels()
    handles.append(plt.Line2D([], [], linestyle=""))
    words.append("(scatter between the classes / within them)")
    figure.legend(handles, words, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    save(figure, path)


def components(kernel, rows, power):
    """Return the function of rows that gives their two leading components, by steps A.1 and A.2 of the appendix.

    Eigenvectors of the centred kernel matrix are divided by this power of their eigenvalues.
    """
    matrix = kernel(rows, rows)
    means, size = matrix.mean(axis=0), len(rows)
    centred = matrix - means - means[:, None] + means.mean()
    values, vectors = eigh(centred, subset_by_index=(size - 2, size - 1))
    directions = vectors[:, ::-1] / values[::-1] ** power
    directions *= np.sign(directions[np.abs(directions).argmax(axis=0), [0, 1]])

    def place(new):
        found = kernel(new, rows)
        return (found - means - found.mean(axis=1)[:, None] + means.mean()) @ directions

    return place
