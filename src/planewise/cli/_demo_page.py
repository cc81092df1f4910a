"""The demo's pictures and its page of HTML."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from planewise.datasets import make_new_moons
from planewise.report import _page
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


def as_png(figure: Any) -> bytes:
    """A figure as the bytes of a PNG file; the figure is closed."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130)
    figures().close(figure)
    return buffer.getvalue()


def cells_picture() -> bytes:
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
    return as_png(figure)


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


def contributions_picture(model: Any, row: Any, names: list[str]) -> bytes:
    """What each feature added to one prediction."""
    *given, usual = model.predict_contributions(row[None])[0]
    parts = np.array(given)
    order = np.argsort(np.abs(parts))
    figure, axis = figures().subplots(figsize=(9, 3.6), layout="constrained")
    axis.barh([names[j] for j in order], parts[order], color=np.where(parts[order] > 0, "#0072B2", "#D55E00"))
    axis.axvline(0, color="#444", linewidth=0.8)
    axis.set_xlabel(f"added to the mean of {usual:.0f}; together {usual + parts.sum():.0f}")
    return as_png(figure)


def page(rows: list[list[str]], words: list[str], machine: str, cells_image: bytes, contributions_image: bytes) -> str:
    """The whole page."""
    title = "planewise: small models you can see through"
    body = [
        _page.heading(title, level=1),
        _page.paragraph(
            "Trees, forests and boosting with planes beside scikit-learn's decision tree, random forest and histogram "
            "boosting, kernel machines with few vectors beside its SVMs, and views of two features a case beside its "
            "nearest neighbours, all with their defaults, on 40 % held-out rows. Sizes are compressed pickles; in each "
            "pair the first is planewise."
        ),
        _page.table(HEADER, rows),
        _page.heading("What it sees"),
        _page.paragraph("Every line is a plane of one tree; a node whose planes cross has up to four children."),
        _page.figure("Cells and planes of both trees on the new moons.", cells_image),
        _page.heading("What it says"),
        _page.paragraph("The first planes of the tree for wine, in the data's own units:"),
        _page.lines(words),
        _page.heading("Which rows decide"),
        _page.paragraph(machine),
        _page.heading("Why this number"),
        _page.paragraph(
            "What each feature added to boosting's prediction for one held-out patient of diabetes; the parts add up."
        ),
        _page.figure("Contributions of the features to one prediction.", contributions_image),
        _page.footer("planewise demo"),
    ]
    return _page.page("planewise demo", body)
