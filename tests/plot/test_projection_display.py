from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from benchmarks.data import make_subspace_batches
from picture_check import assert_readable, coarse
from sklearn.datasets import load_iris

from planewise import RECIPClassifier
from planewise.plot import ProjectionDisplay
from planewise.plot.view_data import Axis, ratio_at


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    X, y = data.data, data.target_names[data.target]
    left = np.delete(np.arange(150), [0, 70, 133])
    return X, y, left, RECIPClassifier(random_state=0).fit(X[left], y[left]), data.feature_names


@pytest.fixture(scope="module")
def batches():
    X, y = make_subspace_batches(3, batch_size=300, random_state=0)
    return X, y, RECIPClassifier(random_state=0).fit(X[:700], y[:700])


def test_the_star_and_its_neighbours_are_where_the_explanation_says(iris):
    X, y, left, model, names = iris
    explanation = model.explain(X[[70]], feature_names=names)[0]
    display = ProjectionDisplay.from_explanation(explanation, X[left], y[left]).plot()
    view, data = display.views[0], explanation.data()
    columns = data["view"]["columns"]
    for at, axis in enumerate(view.axes):
        assert axis.values(view.one.at[[at]])[0] == pytest.approx(X[70, columns[at]], abs=1e-5)
        near = [neighbour["values"][names[columns[at]]] for neighbour in data["neighbours"]["against"]]
        np.testing.assert_allclose(axis.values(view.one.opposing[:, at]), near, atol=1e-5)
    drawn = {artist.get_gid(): artist for artist in display.axes_[0].collections}
    np.testing.assert_allclose(drawn["query"].get_offsets()[0], view.one.at)
    np.testing.assert_allclose(drawn["against"].get_offsets(), view.one.opposing)


def test_distances_in_the_picture_are_the_models(iris):
    X, y, left, model, names = iris
    explanation = model.explain(X[[133]], feature_names=names)[0]
    view = ProjectionDisplay.from_explanation(explanation, X[left], y[left]).views[0]
    assert not any(axis.tails for axis in view.axes)
    near = explanation.data()["neighbours"]
    own = np.linalg.norm(view.one.supporting[-1] - view.one.at)
    other = np.linalg.norm(view.one.opposing[-1] - view.one.at)
    assert own == pytest.approx(near["for"][-1]["distance"], abs=1e-4)
    assert other == pytest.approx(near["against"][-1]["distance"], abs=1e-4)


@pytest.mark.parametrize("estimate", ["counts", "distances"])
@pytest.mark.parametrize("dimension", [1, 2])
def test_the_shaded_ratio_is_that_of_the_model(estimate, dimension):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    columns = tuple(range(dimension))
    model = RECIPClassifier(estimate=estimate, projections=[columns], random_state=0).fit(X, y)
    view = ProjectionDisplay.from_explanation(model.explain(X[:1] + 0.01)[0], X, y, resolution=12).views[0]
    queries = np.zeros((12, 2))
    queries[:, 0] = view.axes[0].values(view.grid_x)
    if dimension == 2:
        queries[:, 1] = view.axes[1].values(view.grid_y[[5]])[0]
    for place, explanation in enumerate(model.explain(queries)):
        label = ["a", "b", "c"].index(explanation.prediction)
        assert view.ratio[5, place].argmin() == label
        assert view.ratio[5, place, label] == pytest.approx(explanation.ratio, rel=2e-3)


@pytest.mark.parametrize("estimate", ["counts", "distances"])
@pytest.mark.parametrize("weighted", [True, False])
def test_what_is_shaded_is_what_the_model_decides(estimate, weighted):
    """Equal rows, weights and missing values count as in the model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "a", "b")
    X[(y == "a") & (rng.random(200) < 0.3), 1] = np.nan
    often = rng.integers(1, 5, 200)
    X, y = np.repeat(X, often, axis=0), np.repeat(y, often)
    weight = np.where(y == "a", 5.0, 1.0) if weighted else None
    model = RECIPClassifier(estimate=estimate, projections=[(0, 1)], random_state=0).fit(X, y, sample_weight=weight)
    explanation = model.explain([[0.1, 0.2]])[0]
    view = ProjectionDisplay.from_explanation(explanation, X, y, resolution=25).views[0]
    grid = np.meshgrid(*(axis.values(at) for axis, at in zip(view.axes, (view.grid_x, view.grid_y), strict=True)))
    decided = model.predict(np.column_stack([part.ravel() for part in grid])).reshape(25, 25)
    assert np.mean(model.classes_[view.ratio.argmin(axis=2)] == decided) > 0.99
    ratio = model.explain([[grid[0][9, 9], grid[1][9, 9]]])[0].ratio
    assert view.ratio[9, 9].min() == pytest.approx(ratio, rel=2e-3)


@pytest.mark.parametrize("k", [1, 3])
def test_the_ratio_is_that_of_a_plain_search(k):
    rng = np.random.default_rng(0)
    rows, label, points = rng.normal(size=(60, 2)), rng.integers(3, size=60), rng.normal(size=(10, 2))
    got = ratio_at(points, rows, label, 3, k, 0.7)
    for p, point in enumerate(points):
        distance = np.linalg.norm(rows - point, axis=1)
        for c in range(3):
            own, other = np.sort(distance[label == c])[k - 1], np.sort(distance[label != c])[k - 1]
            assert got[p, c] == pytest.approx((own / other) ** 0.7)


def test_a_class_with_too_few_rows_is_not_judged():
    rows, label = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1])
    ratio = ratio_at(np.array([[0.4]]), rows, label, 2, 2, 1.0)
    assert np.isinf(ratio).all()


def test_many_queries_are_in_the_view_that_decided_them_right_and_wrong(batches):
    X, y, model = batches
    display = ProjectionDisplay.from_estimator(model, X[:700], y[:700], X[700:], y[700:], n_views=3).plot()
    assert sum(len(view.queries) for view in display.views) == 200
    assert sum(view.share for view in display.views) == pytest.approx(1)
    shares = [view.share for view in display.views]
    assert shares == sorted(shares, reverse=True)
    right = np.concatenate([view.right for view in display.views])
    assert right.mean() == pytest.approx(model.score(X[700:], y[700:]))
    for ax, view in zip(display.axes_, display.views, strict=True):
        drawn = {artist.get_gid(): artist for artist in ax.collections}
        np.testing.assert_allclose(drawn["right"].get_offsets(), view.queries[view.right])
        np.testing.assert_allclose(drawn["wrong"].get_offsets(), view.queries[~view.right])
    assert_readable(display.figure_)


def test_long_tails_are_drawn_in_and_numbers_stay_the_users():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.exp(3 * rng.normal(size=400)), rng.normal(size=400)])
    y = (X[:, 0] > 1) != (X[:, 1] > 0)
    model = RECIPClassifier(random_state=0, projections=[(0, 1)]).fit(X, y)
    display = ProjectionDisplay.from_explanation(model.explain(X[:1] * 1.01)[0], X, y).plot()
    long, short = display.views[0].axes
    assert long.tails and not short.tails
    values = X[:5, 0]
    np.testing.assert_allclose(long.values(long.places(values)), values)
    data = model.explain(X[:1] * 1.01)[0].data()
    scaled = long.scaled(long.places(values))
    np.testing.assert_allclose(
        scaled, (values - data["view"]["scaling"][0]["centre"]) / data["view"]["scaling"][0]["spread"]
    )
    assert_readable(display.figure_)


def test_views_of_one_and_of_three_features_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "high", "low")
    for views in ([(0,)], [(0, 1, 2)]):
        model = RECIPClassifier(random_state=0, projections=views, max_dim=3).fit(X, y)
        display = ProjectionDisplay.from_explanation(model.explain(X[:1] + 0.01)[0], X, y).plot()
        assert len(display.views[0].axes) == min(2, len(views[0]))
        assert (display.views[0].ratio is None) == (len(views[0]) == 3)
        assert_readable(display.figure_)
        plt.close("all")


def test_categories_have_their_places():
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue", "green"])[rng.integers(3, size=200)]
    X = pd.DataFrame({"size": rng.normal(size=200), "colour": pd.Categorical(colour)})
    y = (colour == "red") != (X["size"] > 0)
    model = RECIPClassifier(random_state=0, projections=[("size", "colour")]).fit(X, y)
    display = ProjectionDisplay.from_explanation(model.explain(X[:1])[0], X, y).plot()
    assert display.views[0].axes[1].categories == ("blue", "green", "red")
    assert [label.get_text() for label in display.axes_[0].get_yticklabels()] == ["blue", "green", "red"]
    assert_readable(display.figure_)


@pytest.mark.parametrize("size", [(3, 2.8), (7, 4)])
def test_it_is_readable_at_any_size(iris, size):
    X, y, left, model, names = iris
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    explanation = model.explain(X[[70]], feature_names=names, units={names[0]: "measured by hand"})[0]
    ProjectionDisplay.from_explanation(explanation, X[left], y[left]).plot(ax)
    assert_readable(figure)


def test_the_picture_changes_with_the_query_and_not_with_the_type(iris):
    X, y, left, model, _ = iris

    def picture(row, font="DejaVu Sans"):
        with plt.rc_context({"font.family": font}):
            figure, ax = plt.subplots(figsize=(4, 4))
            ProjectionDisplay.from_explanation(model.explain(X[[row]])[0], X[left], y[left]).plot(ax, with_key=False)
            return coarse(figure)

    again = picture(70, "DejaVu Serif")
    assert np.abs(picture(70) - again).max() < 5
    assert np.abs(picture(0) - again).max() > 15


def test_ticks_lie_at_their_values():
    axis = Axis("a", 0, {"kind": "numbers", "centre": 10.0, "spread": 2.0})
    at, words = axis.ticks(-2.0, 2.0, 4)
    np.testing.assert_allclose(10 + 2 * at, [float(word.replace("−", "-")) for word in words])
    stretched = Axis("a", 0, {"kind": "numbers", "centre": 10.0, "spread": 2.0}, tails=True)
    at, words = stretched.ticks(-1.0, 5.0, 4)
    assert len(at) >= 3
    np.testing.assert_allclose(
        stretched.values(at), [float(word.replace("−", "-").replace(",", "")) for word in words], rtol=0.01
    )


def test_errors_name_what_is_wrong(iris):
    X, y, left, model, _ = iris
    explanation = model.explain(X[:1])[0]
    with pytest.raises(ValueError, match="y has 3 values for 147 rows"):
        ProjectionDisplay.from_explanation(explanation, X[left], y[:3])
    with pytest.raises(ValueError, match="'rose', which the model was not fitted on"):
        ProjectionDisplay.from_explanation(explanation, X[left], np.full(147, "rose"))
    display = ProjectionDisplay.from_explanation(explanation, X[left], y[left])
    with pytest.raises(ValueError, match="'view' and 'near'; got 'far'"):
        display.plot(panels=["far"])
    many = ProjectionDisplay.from_estimator(model, X[left], y[left], X[:5])
    with pytest.raises(ValueError, match="shows one query"):
        many.plot(panels=["near"])
    with pytest.raises(ValueError, match="No view could judge"):
        ProjectionDisplay.from_explanation(model.explain(np.full((1, 4), np.nan))[0], X[left], y[left])
