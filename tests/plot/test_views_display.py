"""The page of all views: what is in its panels."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from planewise import AdditiveClassifier, AdditiveRegressor, RECIPClassifier
from planewise.plot import ViewsDisplay

QUICK = {"n_estimators": 10, "cv": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def _no_window():
    mpl.use("Agg")
    yield
    plt.close("all")


def categories(n=900, many=3, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(rng.choice([f"a{k}" for k in range(many)], n)),
            "b": pd.Categorical(rng.choice(["x", "y", "z"], n)),
            "c": rng.normal(size=n),
        }
    )
    return frame, ((frame.a == "a1") ^ (frame.b == "x")).to_numpy()


def test_cells_count_all_kept_rows():
    X, y = categories()
    model = AdditiveClassifier(projections=[("a", "b")], **QUICK).fit(X, y)
    panel = ViewsDisplay.from_estimator(model).panels[0]
    for x, first in enumerate(["a0", "a1", "a2"]):
        for z, second in enumerate(["x", "y", "z"]):
            mine = y[(X.a == first) & (X.b == second)]
            assert panel.cells[x, z].tolist() == [int((~mine).sum()), int(mine.sum())]


def test_the_score_of_a_panel_is_that_of_the_view():
    X, y = categories()
    model = AdditiveClassifier(projections=[("a", "b"), ("a", "c"), ("c",)], **QUICK).fit(X, y)
    case = model.explain(X[:1])[0]
    display = ViewsDisplay.from_estimator(model, case=case).plot()
    for place, panel in enumerate(display.panels):
        assert_allclose(panel.case_score, np.atleast_1d(model.view_score(X[:1], place)[0]), atol=1e-6)
        assert panel.name == " × ".join(model.projection_names_[place])
    assert sum(panel.share for panel in display.panels) == pytest.approx(1)
    stars = [line for ax in display.axes_ for line in ax.lines if line.get_marker() == "*"]
    assert len(stars) == 3


def test_of_many_categories_the_most_frequent_are_drawn():
    X, y = categories(many=40)
    model = AdditiveClassifier(projections=[("a", "b"), ("a", "c"), ("a",)], **QUICK).fit(X, y)
    display = ViewsDisplay.from_estimator(model).plot()
    for ax, panel in zip(display.axes_, display.panels, strict=True):
        assert len(panel.axes[0].drawn) == 11
        assert len(ax.get_xticks()) == 11
        assert panel.n_missing > 0


def test_numbers_have_a_scale():
    X, _ = categories()
    model = AdditiveRegressor(projections=[("a", "c"), ("c",)], **QUICK).fit(X, X.c**2)
    display = ViewsDisplay.from_estimator(model, case=model.explain(X[:1])[0]).plot()
    assert display.class_names is None
    assert all(panel.border is None for panel in display.panels)


def test_other_models_are_refused_by_name():
    X, y = categories()
    recip = RECIPClassifier(projections=[("a", "c")]).fit(X, y)
    with pytest.raises(ValueError, match=r"got RECIPClassifier\. ProjectionDisplay draws"):
        ViewsDisplay.from_estimator(recip)
    with pytest.raises(ValueError, match="no view to draw"):
        ViewsDisplay.from_estimator(AdditiveClassifier().fit(X, ["one"] * len(X)))
    model = AdditiveClassifier(keep_rows=0, projections=[("a", "c")], **QUICK).fit(X, y)
    ViewsDisplay.from_estimator(model).plot()
