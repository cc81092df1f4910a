"""The demo's pictures and its page of HTML."""

from __future__ import annotations

from typing import Any

from sklearn.tree import DecisionTreeClassifier

from planewise.plot import PartitionDisplay
from planewise.plot.style import new_axes, require_matplotlib
from planewise.report import html
from planewise.slm import SLMClassifier
from planewise.words import Reason

HEADER = ["data", "model", "measure", "planewise", "scikit-learn", "size", "size", "fit", "fit"]
HOW_TIMED = "Fit times: median of three fits (fewer if slow), on one thread each, planewise and scikit-learn in turns."


def without_a_screen() -> Any:
    """Matplotlib that opens no window."""
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
        title += f", {100 * model.score(test, y_test):.1f} % right on new rows"
        shown.plot(ax, title=title, with_key=ax is axes[0])
    return axes[0].get_figure()


def page(rows: list[list[str]], words: list[str], machine: str, cells: Any, why: Reason | None) -> str:
    """The whole page."""
    title = "planewise: small models you can see through"
    body = [
        html.heading(title, level=1),
        html.paragraph(
            "Trees, forests and boosting with planes beside scikit-learn's decision tree, random forest and histogram "
            "boosting, kernel machines with few vectors beside its SVMs, and views of two features a case beside its "
            "nearest neighbours, all with their defaults, on 40 % held-out rows. Sizes are compressed pickles; in each "
            f"pair the first is planewise. {HOW_TIMED}"
        ),
        html.table(HEADER, rows),
        html.heading("What it sees"),
        html.paragraph("Every line is a plane of one tree; a node whose planes cross has up to four children."),
        html.figure("Cells and planes of both trees on the new moons.", cells),
        html.heading("What it says"),
        html.paragraph("The first planes of the tree for wine, in the data's own units:"),
        html.lines(words),
        *([html.heading("Which rows decide"), html.paragraph(machine)] if machine else []),
        *([html.heading("Why this number"), *_why(why)] if why is not None else []),
        html.footer("planewise demo"),
    ]
    return html.page("planewise demo", body)


def _why(reasons: Reason) -> list[str]:
    return [
        html.paragraph("Boosting's prediction for one held-out patient of diabetes; the parts add up."),
        html.paragraph(reasons.sentence()),
        html.paragraph(f"{reasons.table().heading}:"),
        html.reason(reasons),
    ]
