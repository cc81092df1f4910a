"""Categories in matplotlib's pictures of views: whole names, and rows counted in cells."""

from __future__ import annotations

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from picture_check import assert_readable

from planewise import RECIPClassifier
from planewise.data.values import Booleans
from planewise.plot import ProjectionDisplay
from planewise.plot.cells import cell_grid
from planewise.plot.view_data import Axis, axes_of

HISTORY = ["delayed payment previously", "existing paid", "critical/other existing credit", "no credits/all paid"]
PURPOSE = [
    "radio/television and other entertainment",
    "car (new)",
    "domestic_appliances",
    "price in $ and $",
    "repairs",
]


def made_credits(n_rows=400, purposes=PURPOSE):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"history": rng.choice(HISTORY, n_rows), "purpose": rng.choice(purposes, n_rows)})
    y = np.where(np.isin(X["history"], HISTORY[1:3]) ^ (rng.random(n_rows) < 0.2), "good", "bad")
    return X.astype("category").assign(amount=rng.normal(size=n_rows)), y


def shown(X, y, views):
    fitted = RECIPClassifier(projections=views, max_dim=3, random_state=0).fit(X, y)
    return ProjectionDisplay.from_explanation(fitted.explain(X[:1])[0], X, y)


def names_of(labels):
    return ["".join(label.get_text().split()).replace("\\$", "$") for label in labels]


def test_cells_count_rows_and_what_is_missing():
    axes = [Axis("a", 0, {"kind": "categories"}, ("x", "y")), Axis("b", 1, {"kind": "categories"}, ("p", "q", "r"))]
    rows = np.repeat(np.arange(4), [1, 2, 3, 4])
    words = np.array([["x", "y", "y", None], ["p", "q", "q", "r"]], dtype=object)
    values = list(words[:, rows])
    grid = cell_grid(axes, values, np.array([0, 1, 0, 1])[rows], 2)
    assert grid.lines == ["x", "y", "missing"] and grid.columns == ["p", "q", "r"]
    assert grid.n_rows.tolist() == [[1, 0, 0], [0, 5, 0], [0, 0, 4]]
    assert grid.by_class[1, 1].tolist() == [3, 2] and grid.mean is None
    assert grid.place_of({0: "y", 1: "q"}) == (1, 1) and grid.place_of({0: None, 1: "q"}) == (2, 1)
    assert grid.place_of({0: "z", 1: "q"}) is None and grid.place_of({0: "x", 1: None}) is None
    numbers = cell_grid(axes, values, np.array([1.0, 2.0, 4.0, 8.0])[rows], 0)
    assert numbers.mean[1, 1] == 3.2 and np.isnan(numbers.mean[0, 1])


def test_many_categories_leave_a_lane_for_the_others():
    axis = Axis("a", 0, {"kind": "categories", "gap": 2.0}, tuple("abcdefgh"))
    kept = axis.with_lanes(Counter("aaabbbbccdefgh"), ["h", None, "new"], most=4)
    assert kept.lanes == ["a", "b", "h", "… and 5 more"]
    assert kept.places(["a", "h", "c", "g"]).tolist() == [0, 4, 6, 6]
    assert np.isnan(kept.places(["new", None])).all()


@pytest.mark.parametrize("views", [[(0, 1)], [(0,)], [(0, 1, 2)]])
def test_categories_are_cells(views):
    X, y = made_credits()
    display = shown(X, y, views).plot()
    view = display.views[0]
    assert len(display.axes_) == 1 and view.grid.n_rows.sum() == 400
    line, column = view.one.cell
    own = {view.grid.lines[line], view.grid.columns[column]}
    assert X["history"][0] in own and (len(views[0]) == 1 or X["purpose"][0] in own)
    told = [text.get_text() for text in display.axes_[0].texts if text.get_gid() == "badge"]
    assert sorted(told) == sorted(f"{n} nearest" for n in view.one.cells_near.values())
    assert_readable(display.figure_)


def test_names_of_cells_are_whole():
    display = shown(*made_credits(), [(0, 1)]).plot()
    ax = display.axes_[0]
    assert names_of(ax.get_yticklabels()) == ["".join(name.split()) for name in sorted(PURPOSE)]
    assert names_of(ax.get_xticklabels()) == ["".join(name.split()) for name in sorted(HISTORY)]


@pytest.mark.parametrize("size", [(5, 3.5), (9, 4)])
def test_cells_fit_axes_of_any_size(size):
    _, axes = plt.subplots(1, 2, figsize=size, layout="constrained")
    display = shown(*made_credits(), [(0, 1)]).plot(axes)
    close_up = display.axes_[1]
    line, column = display.views[0].one.cell
    assert close_up.get_xlim()[0] <= column <= close_up.get_xlim()[1]
    assert close_up.get_ylim()[1] <= line <= close_up.get_ylim()[0]


def test_a_category_beside_a_number_goes_up_the_side():
    purposes = [f"{place:02}/the_number of a purpose-with-a-long-name" for place in range(30)]
    X, y = made_credits(n_rows=900, purposes=purposes)
    display = shown(X, y, [(1, 2)]).plot()
    ax = display.axes_[0]
    assert ax.get_xlabel() == "amount" and ax.get_ylabel() == "purpose" and display.views[0].grid is None
    names = names_of(ax.get_yticklabels())
    assert len(names) == 12 and names[-1] == "…and19more" and "".join(X["purpose"][0].split()) in names
    assert_readable(display.figure_)


def test_many_queries_are_counted_in_cells():
    X, y = made_credits()
    model = RECIPClassifier(projections=[(0, 1)], random_state=0).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, X[:90], y[:90]).plot()
    view = display.views[0]
    told = [text.get_text() for text in display.axes_[0].texts if text.get_gid() == "badge"]
    assert sum(int(words.split()[0]) for words in told) == 90
    wrong = sum(int(words.split(", ")[1].split()[0]) for words in told if "wrong" in words)
    assert wrong == int((model.predict(X[:90]) != y[:90]).sum())
    assert sorted(told) == sorted(view.cells_asked.values())
    assert not display.axes_[0].collections or all(each.get_gid() is None for each in display.axes_[0].collections)
    assert_readable(display.figure_)


def test_booleans_are_drawn_in_lanes_as_far_apart_as_the_model_measures():
    scaling = Booleans().scaling({"kind": "standard", "centre": 0.3, "spread": 0.4})
    (axis,) = axes_of({"features": ["new"], "columns": [0], "units": [None], "scaling": [scaling]}, np.array([[True]]))
    assert axis.categories == ("false", "true") and axis.gap == pytest.approx(1 / 0.4)
    assert axis.places([False, True, 0.0, 1.0, "true"]) == pytest.approx([0, 2.5, 0, 2.5, 2.5])
    assert axis.ticks(-1.0, 3.0, 5)[1] == ["false", "true"]
