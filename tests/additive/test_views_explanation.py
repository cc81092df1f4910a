"""Explanations of sums of views, recomputed from their data."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from planewise import AdditiveClassifier, AdditiveRegressor
from planewise.plot import ViewsDisplay
from planewise.plot.surfaces import STEPS, contour

QUICK = {"n_estimators": 20, "cv": 3, "max_views": 4, "random_state": 0}


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(1),
            "kind": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "place": pd.Categorical(rng.choice(["north", "south"], n)),
            "size": rng.gamma(2, 3, n).round(2),
        }
    )
    frame.loc[::7, "age"] = np.nan
    score = (frame.kind == "b").to_numpy() * 1.5 + frame["size"].to_numpy() / 4 + (frame.place == "north").to_numpy()
    return frame, score + 0.5 * rng.normal(size=n)


@pytest.fixture(scope="module", params=["two", "three", "numbers", "log link"])
def case(request):
    frame, score = table()
    if request.param in ("numbers", "log link"):
        loss = "gamma" if request.param == "log link" else "auto"
        target = np.exp(score / 2) if loss == "gamma" else score
        return AdditiveRegressor(loss=loss, **QUICK).fit(frame[100:], target[100:]), frame[:100]
    edges = [2.0] if request.param == "two" else [1.5, 3.0]
    y = np.array(["low", "middle", "high"])[np.digitize(score, edges)]
    return AdditiveClassifier(**QUICK).fit(frame[100:], y[100:]), frame[:100]


def test_the_data_add_up_to_the_prediction(case):
    model, rows = case
    answers = model.predict(rows)
    for each, answer in zip(model.explain(rows), answers, strict=True):
        data = each.data()
        assert json.loads(json.dumps(data)) == data
        contributions = [one["score"] for one in data["contributions"]]
        assert data["base"] + sum(contributions) == pytest.approx(data["total"], abs=1e-9)
        assert data["score"] + data["others"] + data["base"] == pytest.approx(data["total"], abs=1e-9)
        assert data["score"] in contributions
        if data["task"] == "regression":
            predicted = np.exp(data["total"]) if data["link"] == "log" else data["total"]
            assert predicted == pytest.approx(answer) == pytest.approx(data["prediction"])
            assert abs(data["score"]) == max(map(abs, contributions))
        else:
            assert data["prediction"] == answer
            assert data["score"] == max(contributions)
            assert data["total"] >= 0
            share = {one["label"]: one["probability"] for one in data["probabilities"]}
            ratio = share[data["prediction"]] / share[data["versus"]]
            assert np.log(ratio) == pytest.approx(data["total"], abs=1e-6)


def test_the_leading_view_alone(case):
    model, rows = case
    scores = model.view_score(rows)
    for query, each in enumerate(model.explain(rows)):
        data = each.data()
        place = model.projections_.index(tuple(data["view"]["columns"]))
        alone = model.view_base_ + scores[query, place]
        if data["task"] == "regression":
            assert data["alone"] == pytest.approx(float(np.exp(alone[0]) if data["link"] == "log" else alone[0]))
            continue
        chances = np.array([1 - expit(alone[0]), expit(alone[0])]) if alone.size == 1 else softmax(alone)
        assert data["alone"] == model.classes_[chances.argmax()]
        assert data["alone_probability"] == pytest.approx(chances[list(model.classes_).index(data["prediction"])])


def test_the_rows_near_it_by_brute_force(case):
    model, rows = case
    kept = model.fitted_rows()
    for each in model.explain(rows[:20]):
        data = each.data()
        square = np.zeros(len(kept.target))
        for name, column, scaling in zip(
            *(data["view"][part] for part in ("features", "columns", "scaling")), strict=True
        ):
            own, values = data["query"][name], kept.values[:, column]
            gaps = np.array([value is None for value in values])
            if scaling["kind"] == "categories":
                step = np.where(values == own, 0.0, np.sqrt(2))
            else:
                known = np.array([np.nan if value is None else value for value in values])
                step = (known - (np.nan if own is None else own)) / scaling["spread"]
            missing = np.where(gaps == (own is None), 0.0, np.sqrt(2))
            square += np.where(gaps | (own is None), missing, step) ** 2
        near = data["neighbours"]
        near = near if isinstance(near, list) else near["for"] + near["against"]
        found = sorted(one["distance"] for one in near)
        assert_allclose(found, np.sqrt(np.sort(square)[: len(found)]), atol=1e-5)
        assert len(found) >= 10
        if len(found) < len(square):  # the next one is farther than the last
            assert np.sqrt(np.sort(square)[len(found)]) > found[-1] - 1e-5
        for one in near:
            at = list(kept.row_number).index(one["rows"][0])
            assert one.get("label", one.get("target")) == kept.target[at]


def test_undecided_cases_say_why(case):
    model, rows = case
    every = model.explain(rows)
    for each in every:
        data = each.data()
        assert data["undecided"] == bool(data["reasons"])
        if data["task"] == "classification" and data["total"] < np.log(1.5):
            assert "about as likely" in each.to_text()
        if data["task"] == "classification" and data["alone"] != data["prediction"]:
            assert "the leading view alone says" in each.to_text()
        against = data["against"]
        others = [one["score"] for one in data["contributions"] if one["columns"] != data["view"]["columns"]]
        if against is not None:
            way = 1 if data["task"] == "classification" else np.sign(data["score"])
            assert way * against["score"] == min(way * one for one in others) < 0


def test_missing_values_are_named():
    frame, score = table()
    model = AdditiveClassifier(projections=[("age", "size"), "kind"], **QUICK).fit(frame, score > 2)
    one = frame[7:8]
    assert one["age"].isna().all()
    text = model.explain(one)[0].to_text()
    assert "; age is missing" in text


def test_unseen_categories_are_named():
    frame, score = table()
    model = AdditiveClassifier(projections=["kind", "size"], **QUICK).fit(frame, score > 2)
    one = frame[1:2].assign(kind=pd.Categorical(["new"]))
    assert "; kind has a category not seen in fit" in model.explain(one)[0].to_text()


def test_equal_names_are_refused():
    frame, score = table()
    model = AdditiveRegressor(**QUICK).fit(frame, score)
    with pytest.raises(ValueError, match="feature_names must differ from each other; 'a' is there twice"):
        model.explain(frame[:1], feature_names=["a", "a", "b", "c"])


def test_a_constant_is_changed_by_no_view():
    frame, _ = table()
    model = AdditiveRegressor(**QUICK).fit(frame, np.full(len(frame), 5.0))
    assert model.explain(frame[:1])[0].to_text().startswith("5: no view changes it")


def test_where_no_view_speaks_for_the_prediction_the_start_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] + X[:, 1] + rng.logistic(size=600) > 3.5, "rare", "usual")
    model = AdditiveClassifier(**QUICK).fit(X, y)
    found = [each for each in model.explain(X) if each.score <= 0]
    assert found
    for each in found:
        text = each.to_text()
        assert "no view speaks for it against" in text and "but scores start at +" in text
        assert "alone, this view" not in text


def test_names_and_units_are_the_users():
    frame, score = table()
    model = AdditiveRegressor(projections=[("age", "size")], **QUICK).fit(frame, score)
    names = ["Age", "Kind", "Place", "Size"]
    each = model.explain(frame[:1], feature_names=names, units={"Size": "m"})[0]
    assert each.view["features"] == ["Age", "Size"]
    assert "Age × Size [m]" in each.to_text()


def test_without_kept_rows_no_rows_are_shown():
    frame, score = table()
    model = AdditiveClassifier(keep_rows=0, **QUICK).fit(frame, score > 2)
    each = model.explain(frame[:1])[0]
    assert each.neighbours == {"for": [], "against": []}
    assert "speaks for it most" in each.to_text()
    assert each._repr_html_()


# ------------------------------------------------------------------------------------------------------- the border
def test_the_border_is_where_the_whole_model_changes_its_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=300) > 0
    model = AdditiveClassifier(projections=[(0, 1), (1, 2)], **QUICK).fit(X[50:], y[50:])
    drawn = 0
    for query, each in enumerate(model.explain(X[:10])):
        data = each.data()
        (plane,) = ViewsDisplay.from_estimator(model, case=each, n_views=1).panels
        border = plane.border
        x, y_places = (np.linspace(*ends, STEPS + 1) for ends in plane.ranges)
        grid = np.column_stack([part.ravel() for part in np.meshgrid(x, y_places)])
        rows = np.repeat(X[query : query + 1], len(grid), axis=0)
        for at, axis in enumerate(plane.axes):
            rows[:, axis.column] = axis.values(grid[:, at])
        same = (model.predict(rows) == data["prediction"]).reshape(len(y_places), len(x))
        changes = (same[1:] != same[:-1]).sum() + (same[:, 1:] != same[:, :-1]).sum()
        assert (changes > 0) == (len(border) > 0)
        assert {axis.column for axis in plane.axes} == set(data["view"]["columns"])
        for ends in border:  # every piece lies in a cell of the grid whose corners differ
            column, row = (
                int(np.searchsorted(places, at) - 1)
                for places, at in zip((x, y_places), ends.mean(axis=0), strict=True)
            )
            corners = same[row : row + 2, column : column + 2]
            assert corners.any() and not corners.all()
        drawn += len(border)
    assert drawn > 100


def test_a_contour_separates_the_signs():
    x, y = np.linspace(-1, 1, 21), np.linspace(-2, 2, 31)
    circle = contour(x, y, 0.5 - x[None] ** 2 - (y[:, None] / 2) ** 2)
    assert_allclose(circle[..., 0] ** 2 + (circle[..., 1] / 2) ** 2, 0.5, atol=0.01)
    assert contour(x, y, np.ones((31, 21))).shape == (0, 2, 2)


def test_a_view_as_a_surface_is_its_score(case):
    model, rows = case
    whole = model.decision_function(rows) if hasattr(model, "classes_") else None
    for place, view in enumerate(model.projections_):
        values = [rows.iloc[:, column].tolist() for column in view]
        values = [[None if value != value else value for value in column] for column in values]
        own, nothing = model.view_surface(place, values)
        assert nothing is None
        assert_allclose(own.squeeze(), model.view_score(rows, view), atol=1e-6)
    if whole is not None:
        used = sorted({column for view in model.projections_ for column in view})
        query = [None if value != value else value for value in rows.iloc[0, used].tolist()]
        view = model.projections_[0]
        found = model.view_surface(0, [[query[used.index(column)]] for column in view], query)[1]
        assert_allclose(found.squeeze(), whole[0], atol=1e-6)
