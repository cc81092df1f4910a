"""The demo's pictures and its page of HTML."""

from __future__ import annotations

from typing import Any

from sklearn.tree import DecisionTreeClassifier

from planewise.plot import PartitionDisplay
from planewise.plot.style import new_axes, require_matplotlib
from planewise.report import html
from planewise.slm import SLMClassifier
from planewise.words import Columns, Reason, plane_in_words, read_plane

HOW_MEASURED = "Quality is measured on 40 % held-out rows, with 95 % confidence intervals in brackets."
HOW_TIMED = "Fit times: median of three fits (fewer if slow), on one thread each, planewise and scikit-learn in turns."


def without_a_screen() -> Any:
    """Matplotlib without windows."""
    plt = require_matplotlib()
    plt.switch_backend("Agg")
    return plt


def cells_picture(train: Any, test: Any, y_train: Any, y_test: Any, names: list[str]) -> Any:
    """The cells of one SLM tree and of one decision tree in the plane of two columns."""
    ours = SLMClassifier(random_state=0).fit(train, y_train)
    theirs = DecisionTreeClassifier(random_state=0).fit(train, y_train)
    splits = int((theirs.tree_.children_left >= 0).sum())
    axes = new_axes(1, 2, size=(8, 3.9))[0]
    for ax, model, title in (
        (axes[0], ours, f"planewise: {ours.n_planes_} planes"),
        (axes[1], theirs, f"decision tree: {splits} splits"),
    ):
        shown = PartitionDisplay.from_estimator(model, train, y_train, feature_names=names)
        title += f", {100 * model.score(test, y_test):.1f} % accuracy"
        shown.plot(ax, title=title, with_key=ax is axes[0])
    return axes[0].get_figure()


def planes_in_words(model: Any, names: list[str], limit: int = 6) -> list[str]:
    """The first planes of a tree, in the units of the data."""
    shown = range(min(limit, model.tree_.n_planes))
    return [plane_in_words(read_plane(model.tree_, plane, model.feature_origins_), Columns(names)) for plane in shown]


def page(
    header: list[str], rows: list[list[str]], words: list[str], machine: str, cells: Any, why: Reason | None
) -> str:
    """The whole page."""
    title = "planewise: small models you can see through"
    body = [
        html.heading(title, level=1),
        html.paragraph(
            "Each family of planewise is compared with scikit-learn's models of the same kind: decision tree, random "
            "forest, histogram gradient boosting, SVM, histogram gradient boosting of pairs of columns "
            '(interaction_cst="pairwise", beside "views") and, for classes, nearest neighbours (beside RECIP, '
            '"near rows"). Other parameters have their defaults. '
            f"{HOW_MEASURED} Sizes are those of compressed pickles. In each pair of columns planewise is the first. "
            f"{HOW_TIMED}"
        ),
        html.table(header, rows),
        html.heading("What a tree looks like"),
        html.paragraph("Every line is a plane of one tree. A node whose planes cross has up to four children."),
        html.figure("How the two trees divide the data set new moons.", cells),
        html.heading("A tree in words"),
        html.paragraph("The first planes of the tree for wine, in the units of the data:"),
        html.lines(words),
        *([html.heading("A machine with few vectors"), html.paragraph(machine)] if machine else []),
        *([html.heading("Why this prediction"), *_why(why)] if why is not None else []),
        html.footer("planewise demo"),
    ]
    return html.page("planewise demo", body)


def _why(reasons: Reason) -> list[str]:
    return [
        html.paragraph(
            "Boosting's prediction for one held-out patient of the diabetes data; the contributions add up to it."
        ),
        html.paragraph(reasons.sentence()),
        html.paragraph(f"{reasons.table().heading}:"),
        html.reason(reasons),
    ]
