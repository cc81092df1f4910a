"""Every display where tables are as odd as tables get: few rows, many rows, many classes, hostile names."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from picture_check import assert_readable
from sklearn.dummy import DummyClassifier, DummyRegressor

from clean_shell import run_python
from planewise import RECIPClassifier, SLMClassifier, SLMForestClassifier, SLMRegressor
from planewise.plot import PartitionDisplay, ProjectionDisplay, TreeDisplay

HOSTILE = [
    "price in $ and cost in $",
    "<script>alert(1)</script>",
    r"\frac{1}{0}$x_$",
    "_hidden",
    "naïve Größe Ωμέγα привет",
    "שלום مرحبا",
    "a very long name that goes on and on, as column names of surveys do, until nobody reads them any more",
    "line\nbreak\tand \x00 \x1b[31m",
    "100% & {braces} #hash ^caret ~tilde",
    "",
]


def every_display(X, y, names, class_names):
    """All displays of one table of two classes."""
    tree = SLMClassifier(random_state=0, noise_margin=0).fit(X, y)
    views = RECIPClassifier(random_state=0).fit(X, y)
    told = {"feature_names": names, "class_names": class_names}
    shown = {"class_names": class_names}
    yield TreeDisplay.from_estimator(tree, row=X[:1], **told)
    yield PartitionDisplay.from_estimator(
        tree, X, y, X_test=X, y_test=y, resolution=20, units={name: "$/<b>" for name in names}, **told
    )
    explanation = views.explain(X[:1], feature_names=names, units=["$"] * len(names))[0]
    yield ProjectionDisplay.from_explanation(explanation, X, y, **shown)
    yield ProjectionDisplay.from_estimator(views, X, y, X[:9], y[:9], feature_names=names, **shown)


def test_hostile_names_are_shown_as_they_are_and_run_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, len(HOSTILE)))
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    for display in every_display(X, y, HOSTILE, ["<script>alert(2)</script>", "_$under$"]):
        figure = display.plot().figure_
        out = io.BytesIO()
        figure.savefig(out, format="svg")
        root = ElementTree.fromstring(out.getvalue())
        assert not [element for element in root.iter() if element.tag.endswith("script")]
        assert b"alert(2)</script>" not in out.getvalue()
        plt.close("all")


def test_dollars_and_underscores_reach_the_picture():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    tree = SLMClassifier(random_state=0).fit(X, y)
    display = PartitionDisplay.from_estimator(
        tree, X, y, feature_names=["a $x$ b", "_c"], class_names=["_first", "$second$"], resolution=20
    ).plot()
    assert display.axes_[0].get_xlabel() == r"a \$x\$ b"  # which matplotlib shows as: a $x$ b
    legend = display.axes_[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["_first", r"\$second\$"]


def test_hostile_class_labels_and_categories_come_from_the_data_itself(paint):
    rng = np.random.default_rng(0)
    word = np.array(["<script>", "$x$", "_y"])[rng.integers(3, size=90)]
    X = pd.DataFrame({"$a$": rng.normal(size=90), "b": rng.normal(size=90), "<i>": pd.Categorical(word)})
    y = np.where(word == "$x$", "</text><script>", "_$")
    tree = SLMClassifier(random_state=0).fit(X, y)
    for display in (TreeDisplay.from_estimator(tree), PartitionDisplay.from_estimator(tree, X, y, resolution=20)):
        paint(display.plot().figure_)


def test_twenty_six_classes():
    rng = np.random.default_rng(0)
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    X = rng.normal(size=(780, 4)) + 0.2 * np.arange(780)[:, None] // 30
    y = np.repeat(letters, 30)
    tree = SLMClassifier(random_state=0).fit(X, y)
    displays = [
        TreeDisplay.from_estimator(tree, row=X[:1]),
        PartitionDisplay.from_estimator(tree, X, y, X_test=X[::3], y_test=y[::3], resolution=30),
    ]
    views = RECIPClassifier(random_state=0, max_projections=3).fit(X, y)
    displays.append(ProjectionDisplay.from_explanation(views.explain(X[:1])[0], X, y))
    for display in displays:
        assert_readable(display.plot().figure_)
        plt.close("all")


def test_every_class_has_its_own_look():
    from planewise.plot.style import colour, marker

    assert len({(colour(number), marker(number)) for number in range(100)}) == 100


def test_three_rows():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array(["a", "b", "a"])
    tree = SLMClassifier(random_state=0).fit(X, y)
    views = RECIPClassifier(random_state=0).fit(X, y)
    for display in (
        TreeDisplay.from_estimator(tree, row=X[:1]),
        PartitionDisplay.from_estimator(tree, X, y, X_test=X, y_test=y, resolution=10),
        ProjectionDisplay.from_explanation(views.explain(X[:1] + 0.1)[0], X, y),
        ProjectionDisplay.from_estimator(views, X, y, X, y),
    ):
        assert_readable(display.plot().figure_)
        plt.close("all")


def test_one_class_or_one_value_left(paint):
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.full(20, "only")
    for model in (
        SLMClassifier().fit(X, y),
        SLMForestClassifier(n_estimators=2).fit(X, y),
        DummyClassifier().fit(X, y),
    ):
        display = PartitionDisplay.from_estimator(model, X, y, resolution=10)
        assert set(display.response.ravel()) == {0}
        assert_readable(display.plot().figure_)
    for model in (SLMRegressor().fit(X, np.ones(20)), DummyRegressor().fit(X, np.ones(20))):
        paint(PartitionDisplay.from_estimator(model, X, np.ones(20), resolution=10).plot().figure_)
    TreeDisplay.from_estimator(SLMForestClassifier(n_estimators=2).fit(X, y), tree=1).plot()


def test_a_hundred_thousand_rows_are_drawn_by_density():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    y[:40] = 2  # a class that a sample must not lose
    tree = SLMClassifier(random_state=0).fit(X[:5000], y[:5000])
    display = PartitionDisplay.from_estimator(tree, X, y, X_test=X, y_test=y, resolution=50).plot()
    for ax in display.axes_:
        points = {artist.get_gid(): len(artist.get_offsets()) for artist in ax.collections if artist.get_gid()}
        assert sum(count for gid, count in points.items() if gid.startswith("class")) < 1000
        assert len(ax.images) == 1
    assert "class 2" in {artist.get_gid() for artist in display.axes_[0].collections}
    assert_readable(display.figure_)

    recip = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X[:1000], y[:1000])
    explanation = recip.explain(X[:1], feature_names=["a", "b"], units={"a": "mm"})[0]
    display = ProjectionDisplay.from_explanation(explanation, X, y).plot()
    assert display.axes_[0].get_xlabel() == "a (mm)"
    assert sum(len(artist.get_offsets()) for artist in display.axes_[0].collections) < 1000


def test_density_has_the_colour_of_the_rows_beneath():
    from planewise.plot.points import density_image

    x = np.concatenate([np.zeros(500), np.ones(20)])
    rgb = np.concatenate([np.tile([1.0, 0, 0], (500, 1)), np.tile([0, 0, 1.0], (20, 1))])
    image, extent = density_image(x, x, rgb)
    assert extent == (0, 1, 0, 1)
    assert image[0, 0].tolist()[:3] == [1, 0, 0] and image[-1, -1].tolist()[:3] == [0, 0, 1]
    assert image[0, 0, 3] > image[-1, -1, 3] > 0 and image[40, 10, 3] == 0


def test_three_hundred_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    y = (X[:, 7] - X[:, 250] > 0).astype(int)
    tree = SLMClassifier(random_state=0).fit(X, y)
    views = RECIPClassifier(random_state=0, projections=[(7, 250)]).fit(X, y)
    names = [f"measurement number {j} of a long series" for j in range(300)]
    for display in (
        TreeDisplay.from_estimator(tree, feature_names=names),
        PartitionDisplay.from_estimator(tree, X, y, features=(7, 250), feature_names=names, resolution=20),
        ProjectionDisplay.from_estimator(views, X, y, X[:20], y[:20], feature_names=names),
    ):
        assert_readable(display.plot().figure_)
        plt.close("all")


def test_matplotlib_is_asked_for_only_when_something_is_drawn():
    code = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
from planewise import SLMClassifier
from planewise.plot import PartitionDisplay, TreeDisplay
X = np.random.default_rng(0).normal(size=(50, 2)); y = (X[:, 0] > 0).astype(int)
tree = SLMClassifier(random_state=0).fit(X, y)
print(len(PartitionDisplay.from_estimator(tree, X, y, resolution=10).cells) > 0)
try:
    TreeDisplay.from_estimator(tree).plot()
except ImportError as error:
    print(error)
"""
    done = run_python("-c", code)
    assert done.stdout.splitlines() == [
        "True",
        "planewise.plot needs matplotlib, which is not installed: install planewise with its extra 'plot' "
        "(in a checkout: pip install '.[plot]').",
    ], done.stderr
