"""The demo's pictures and its page of HTML."""

from __future__ import annotations

import base64
import html
import io
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from planewise.datasets import make_new_moons
from planewise.slm import SLMClassifier

HEADER = ["data", "model", "measure", "planewise", "scikit-learn", "size", "size", "fit", "fit"]
COLOURS, MARKERS = ("#0072b2", "#d55e00"), ("o", "^")  # safe for colour-blind eyes; class by marker too


def figures() -> Any:
    """Matplotlib without a screen."""
    try:
        import matplotlib
    except ImportError:
        raise ModuleNotFoundError(
            "the demo's pictures need matplotlib: pip install 'planewise[cli,plot]'", name="matplotlib"
        ) from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def as_address(figure: Any) -> str:
    """A figure as a PNG inside a data address."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130)
    figures().close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def cells_picture() -> str:
    """The cells of one SLM tree and of one decision tree on the new moons."""
    figure, axes = figures().subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    X, y = make_new_moons(random_state=0)
    train, test = slice(0, 600), slice(600, None)
    ours = SLMClassifier(random_state=0).fit(X[train], y[train])
    theirs = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
    splits = int((theirs.tree_.children_left >= 0).sum())
    for axis, model, title in (
        (axes[0], ours, f"planewise: {ours.n_planes_} planes"),
        (axes[1], theirs, f"decision tree: {splits} splits"),
    ):
        _draw_cells(axis, model, X[train], y[train])
        axis.set_title(f"{title}, {100 * model.score(X[test], y[test]):.1f} % right on new rows", fontsize=10)
        axis.set_xlabel("east")
    axes[0].set_ylabel("north")
    return as_address(figure)


def _draw_cells(axis: Any, model: Any, X: Any, y: Any) -> None:
    """Shade by predicted class, outline the leaves, and put the training rows on top."""
    (left, bottom), (right, top) = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    across, up = np.meshgrid(np.linspace(left, right, 400), np.linspace(bottom, top, 400))
    grid = np.c_[across.ravel(), up.ravel()]
    axis.contourf(
        across, up, model.predict(grid).reshape(across.shape), levels=[-0.5, 0.5, 1.5], colors=COLOURS, alpha=0.2
    )
    leaf = np.unique(model.apply(grid), return_inverse=True)[1].reshape(across.shape)
    edges = (np.diff(leaf, axis=0)[:, :-1] != 0) | (np.diff(leaf, axis=1)[:-1] != 0)
    outline = np.ma.masked_equal(edges.astype(float), 0)
    axis.imshow(outline, extent=(left, right, bottom, top), origin="lower", cmap="gray", vmin=1, vmax=2, aspect="auto")
    for label in (0, 1):
        axis.scatter(*X[y == label].T, s=9, c=COLOURS[label], marker=MARKERS[label], alpha=0.8, label=f"class {label}")
    axis.legend(loc="upper right", fontsize=8, framealpha=0.9)


def contributions_picture(model: Any, row: Any, names: list[str]) -> str:
    """What each feature added to one prediction."""
    *given, usual = model.predict_contributions(row[None])[0]
    parts = np.array(given)
    order = np.argsort(np.abs(parts))
    figure, axis = figures().subplots(figsize=(9, 3.6), layout="constrained")
    axis.barh([names[j] for j in order], parts[order], color=np.where(parts[order] > 0, "#0072B2", "#D55E00"))
    axis.axvline(0, color="#444", linewidth=0.8)
    axis.set_xlabel(f"added to the mean of {usual:.0f}; together {usual + parts.sum():.0f}")
    return as_address(figure)


def page(rows: list[list[str]], words: list[str], machine: str, cells_image: str, contributions_image: str) -> str:
    """The whole page."""
    cells = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in HEADER)
    planes = "\n".join(f"<li><code>{html.escape(line)}</code></li>" for line in words)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>planewise demo</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }}
th:nth-child(4), td:nth-child(4) {{ font-weight: 600; }}
img {{ max-width: 100%; }}
</style></head><body>
<h1>planewise: small models you can see through</h1>
<p>Trees, forests and boosting with planes beside scikit-learn's decision tree, random forest and histogram boosting,
kernel machines with few vectors beside its SVMs, and views of two features a case beside its nearest neighbours, all
with their defaults, on 40 % held-out rows. Sizes are
compressed pickles; in each pair the first is planewise.</p>
<table><thead><tr>{head}</tr></thead><tbody>
{cells}
</tbody></table>
<h2>What it sees</h2>
<p>Every line is a plane of one tree; where planes of one node cross, it has up to four children.</p>
<img src="{cells_image}" alt="Cells and planes of both trees on the new moons">
<h2>What it says</h2>
<p>The first planes of the tree for <em>wine</em>, in the data's own units:</p>
<ul>
{planes}
</ul>
<h2>Which rows decide</h2>
<p>{machine}</p>
<h2>Why this number</h2>
<p>What each feature added to boosting's prediction for one held-out patient of <em>diabetes</em>; the parts add up.</p>
<img src="{contributions_image}" alt="Contributions of the features to one prediction">
</body></html>
"""
