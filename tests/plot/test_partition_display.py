from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from benchmarks.data import make_new_moons
from hypothesis import given, settings
from hypothesis import strategies as st
from picture_check import assert_readable, coarse
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from planewise import (
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMRegressor,
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise.data.tables import rows_like
from planewise.plot import PartitionDisplay
from planewise.plot.cuts import split


@pytest.fixture(scope="module")
def moons():
    X, y = make_new_moons(random_state=0)
    return X, y, SLMClassifier(random_state=0).fit(X[:600], y[:600])


def area(corners):
    x, y = corners.T
    return 0.5 * abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))


def test_the_cells_are_those_of_the_tree(moons):
    X, y, tree = moons
    display = PartitionDisplay.from_estimator(tree, X[:600], y[:600])
    middles = np.array([cell.corners.mean(axis=0) for cell in display.cells])
    np.testing.assert_array_equal(tree.apply(middles), [cell.node for cell in display.cells])


def test_the_cells_fill_the_picture_and_do_not_overlap(moons):
    X, y, tree = moons
    display = PartitionDisplay.from_estimator(tree, X[:600], y[:600])
    whole = np.ptp(display.grid_x) * np.ptp(display.grid_y)
    assert sum(area(cell.corners) for cell in display.cells) == pytest.approx(whole)


def test_the_lines_separate_the_sides_of_their_planes(moons):
    X, y, tree = moons
    display = PartitionDisplay.from_estimator(tree, X[:600], y[:600])
    assert len(display.cuts) >= tree.n_planes_
    for cut in display.cuts:
        plane = display.tree.planes[cut.node][cut.plane]
        normal = np.zeros(2)
        normal[list(plane.features)] = plane.weights
        middle = (np.array(cut.start) + cut.end) / 2
        np.testing.assert_allclose(np.array([cut.start, cut.end]) @ normal, plane.threshold, atol=1e-6)
        step = 1e-4 * normal / np.linalg.norm(normal)
        node = display.tree.path_to(int(tree.apply(np.array([middle + step], np.float32))[0]))
        assert cut.node in node
        sides = np.array([middle - step, middle + step]) @ normal >= plane.threshold
        assert sides.tolist() == [False, True]


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_polygons_and_predictions_agree_in_any_slice(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    tree = SLMClassifier(random_state=seed, noise_margin=0, max_planes=int(rng.integers(1, 4))).fit(X, y)
    display = PartitionDisplay.from_estimator(tree, X, y, features=(1, 0), at=rng.normal(size=4), resolution=20)
    check_nodes_of_cells(tree, display)


@pytest.mark.parametrize("missing_class", [0, 1])
def test_a_slice_at_a_missing_value_has_the_cells_of_rows_without_it(missing_class):
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[::3, 2] = np.nan
    y = np.where(np.isnan(X[:, 2]) & (X[:, 0] > -1), missing_class, X[:, 0] + X[:, 2] > 0).astype(int)
    tree = SLMClassifier(random_state=0).fit(X, y)
    display = PartitionDisplay.from_estimator(tree, X, y, features=(1, 0), at=[0, 0, np.nan], resolution=20)
    check_nodes_of_cells(tree, display)


def check_nodes_of_cells(tree, display):
    for cell in display.cells:
        middle = np.array(display.still, dtype=float)
        middle[[1, 0]] = cell.corners.mean(axis=0)
        if area(cell.corners) > 1e-6:
            assert tree.apply(middle[None])[0] == cell.node


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=3))
def test_splitting_a_polygon_keeps_its_area(line):
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    a, b, c = line
    if abs(a) + abs(b) > 1e-3:
        below, above, border = split(square, a, b, c)
        assert sum(area(part) for part in (below, above) if len(part)) == pytest.approx(1)
        if border is not None:
            np.testing.assert_allclose(np.array(border) @ [a, b], c, atol=1e-9 * (1 + abs(c)))


def test_the_grid_holds_the_predictions_with_the_others_at_their_medians():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    display = PartitionDisplay.from_estimator(model, X, y, features=("hue", "proline"), resolution=15)
    row = X.median().to_frame().T
    row["hue"], row["proline"] = display.grid_x[3], display.grid_y[11]
    assert display.response[11, 3] == list(model.classes_).index(model.predict(row)[0])
    assert display.names == ["hue", "proline"]


@pytest.mark.parametrize(
    "model",
    [
        SLMClassifier(random_state=0),
        SLMForestClassifier(n_estimators=3, random_state=0),
        SLMBoostClassifier(n_estimators=3, random_state=0),
        MCMClassifier(),
        LargeScaleMCMClassifier(random_state=0),
        DecisionTreeClassifier(random_state=0),
        SVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_classifier_has_its_picture(model, paint):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model.fit(X[::2], names[::2])
    display = PartitionDisplay.from_estimator(
        model, X[::2], names[::2], X_test=X[1::2], y_test=names[1::2], features=(2, 3), resolution=30
    )
    np.testing.assert_array_equal(np.array(display.classes)[display.test.predicted], model.predict(X[1::2]))
    assert_readable(display.plot().figure_)


@pytest.mark.parametrize(
    "model",
    [
        SLMRegressor(random_state=0),
        SLMForestRegressor(n_estimators=3, random_state=0),
        SLMBoostRegressor(n_estimators=3, random_state=0),
        MCMRegressor(),
        RandomForestRegressor(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_regressor_has_its_picture(model):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X, y = X[:150], y[:150]
    display = PartitionDisplay.from_estimator(model.fit(X, y), X, y, features=("bmi", "s5"), resolution=30)
    assert display.classes is None and display.response.dtype == float
    assert_readable(display.plot().figure_)


def test_the_three_panels_show_truth_truth_and_prediction(moons):
    X, y, tree = moons
    display = PartitionDisplay.from_estimator(
        tree, X[:600], y[:600], X_test=X[600:], y_test=y[600:], class_names=["upper", "lower"]
    )
    display.plot()
    assert [ax.get_title() for ax in display.axes_] == ["training rows", "new rows: truth", "new rows: predicted"]
    shown = [{each.get_gid(): each for each in ax.collections} for ax in display.axes_]
    np.testing.assert_array_equal(shown[0]["class 1"].get_offsets(), X[:600][y[:600] == 1])
    np.testing.assert_array_equal(shown[1]["class 0"].get_offsets(), X[600:][y[600:] == 0])
    predicted = tree.predict(X[600:])
    np.testing.assert_array_equal(shown[2]["class 0"].get_offsets(), X[600:][predicted == 0])
    np.testing.assert_array_equal(shown[2]["mistakes"].get_offsets(), X[600:][predicted != y[600:]])


def test_classes_differ_by_colour_and_by_marker(moons):
    X, y, tree = moons
    display = PartitionDisplay.from_estimator(tree, X, y).plot()
    first, second = (
        each
        for each in display.axes_[0].collections
        if each.get_gid() is not None and each.get_gid().startswith("class")
    )
    assert not np.allclose(first.get_facecolor(), second.get_facecolor())
    assert first.get_paths()[0].vertices.shape != second.get_paths()[0].vertices.shape


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_tables_with_categories_hold_the_usual_one(table):
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue", "blue"])[rng.integers(3, size=300)]
    numbers = {"a": rng.normal(size=300), "b": rng.integers(0, 9, size=300)}
    X = table(numbers | {"colour": colour})
    X = (
        X.astype({"colour": "category"})
        if table is pd.DataFrame
        else X.with_columns(pl.col("colour").cast(pl.Categorical))
    )
    y = np.where((colour == "red") == (numbers["a"] > 0), "yes", "no")
    model = SLMClassifier(random_state=0).fit(X, y)
    display = PartitionDisplay.from_estimator(model, X, y, resolution=25)
    assert display.still[2] == "blue"
    truth = np.where(display.grid_x < 0, "yes", "no")
    got = np.array(display.classes)[display.response]
    assert (got == truth).mean() > 0.9
    for cell in display.cells:
        if area(cell.corners) > 1e-6:
            x, up = cell.corners.mean(axis=0)
            row = rows_like(X, display.still, {0: [x], 1: [up]})
            assert model.apply(row)[0] == cell.node


def test_rows_with_missing_values_are_left_out(paint):
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = (X[:, 0] > 0).astype(int)
    X[::7, 1] = np.nan
    display = PartitionDisplay.from_estimator(SLMClassifier(random_state=0).fit(X, y), X, y).plot()
    drawn = sum(len(each.get_offsets()) for each in display.axes_[0].collections if each.get_gid())
    assert drawn == int(np.isfinite(X).all(axis=1).sum())


@pytest.mark.parametrize("size", [(3, 2.6), (7, 4)])
def test_it_is_readable_at_any_size(moons, size):
    X, y, tree = moons
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    PartitionDisplay.from_estimator(
        tree,
        X,
        y,
        feature_names=["a rather long name of a column, east", "north"],
        class_names=["upper moon", "lower moon"],
    ).plot(ax)
    assert_readable(figure)


def test_the_picture_changes_with_the_model_and_not_with_the_type(moons):
    X, y, tree = moons

    def picture(model, font="DejaVu Sans"):
        with plt.rc_context({"font.family": font}):
            figure, ax = plt.subplots(figsize=(4, 4))
            PartitionDisplay.from_estimator(model, X, y, resolution=50).plot(ax)
            return coarse(figure)

    again = picture(tree, "DejaVu Serif")
    assert np.abs(picture(tree) - again).max() < 5
    other = SLMClassifier(random_state=0, max_depth=1, max_planes=1).fit(X, y)
    assert np.abs(picture(other) - again).max() > 20


def test_errors_name_what_is_wrong(moons):
    X, y, tree = moons
    with pytest.raises(ValueError, match="no feature named 'height'"):
        PartitionDisplay.from_estimator(tree, X, y, features=("height", 1))
    with pytest.raises(ValueError, match="two different features"):
        PartitionDisplay.from_estimator(tree, X, y, features=(1, 1))
    with pytest.raises(ValueError, match="no feature number 7"):
        PartitionDisplay.from_estimator(tree, X, y, features=(0, 7))
    with pytest.raises(ValueError, match="contains the class 2"):
        PartitionDisplay.from_estimator(tree, X, y + 1)
    with pytest.raises(ValueError, match="y has 3 values for 1000 rows"):
        PartitionDisplay.from_estimator(tree, X, y[:3])
    with pytest.raises(ValueError, match="one row of 2 values"):
        PartitionDisplay.from_estimator(tree, X, y, at=[1])
    display = PartitionDisplay.from_estimator(tree, X, y, resolution=10)
    with pytest.raises(ValueError, match="needs new rows"):
        display.plot(panels=["test"])
    with pytest.raises(ValueError, match="panels may hold"):
        display.plot(panels=["fancy"])
    with pytest.raises(ValueError, match="ax holds 2 axes"):
        display.plot(plt.subplots(1, 2)[1])
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "word": pd.Categorical(["x", "y", "x"])})
    model = SLMClassifier().fit(table, [0, 1, 0])
    with pytest.raises(ValueError, match="'word' does not hold numbers"):
        PartitionDisplay.from_estimator(model, table)
