"""Explanations are true: what they say can be found again from the training table alone."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from planewise import RECIPClassifier
from planewise.explain import ProjectionExplanation


def coordinate(value, scaling):
    """By the numbers of the explanation."""
    scaled = (value - scaling["centre"]) / scaling["spread"]
    if "tail_factor" in scaling:
        scaled = (np.arcsinh(scaling["tail_factor"] * scaled) - scaling["tail_centre"]) / scaling["tail_spread"]
    return scaled


def distances(X, query, view):
    """From a query to all rows of a data frame, in one view; NaN where a value is missing."""
    total = np.zeros(len(X))
    for name, scaling in zip(view["features"], view["scaling"], strict=True):
        column, value = X[name].to_numpy(), query[name]
        if scaling["kind"] == "categories":
            total += np.where([v != value for v in column], scaling["gap"], 0.0) ** 2
        elif value is None:
            total += np.nan
        else:
            column = column.astype(np.float32).astype(float)
            total += (coordinate(column, scaling) - coordinate(np.float32(value), scaling)) ** 2
    return np.sqrt(total)


def table(seed, n=80, *, missing=True):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "length": random.normal(size=n),
            "grade": random.integers(0, 4, n) / 2,
            "heavy": np.exp(2 * random.normal(size=n)),
            "colour": pd.Categorical(random.choice(["red", "green", "blue"], n)),
        }
    )
    y = np.where((X["length"] > 0) ^ (X["grade"] > 0.5), "yes", "no")
    if random.random() < 0.5:
        y = np.where((X["colour"] == "red") & (random.random(n) < 0.8), "maybe", y)
    if missing:
        for name in ("length", "heavy"):
            X.loc[random.random(n) < 0.1, name] = np.nan
    repeats = random.integers(0, n, n // 4)  # rows that come twice
    return pd.concat([X, X.iloc[repeats]], ignore_index=True), np.concatenate([y, y[repeats]])


def merged(X, y):
    """The first of equal rows, and which rows are which."""
    keys = [
        (*("nan" if v != v else v for v in row), label) for row, label in zip(X.to_numpy().tolist(), y, strict=True)
    ]
    members = {}
    for row, key in enumerate(keys):
        members.setdefault(key, []).append(row)
    return list(members.values())


def counted_again(data, far, mine):
    """The weights of both sides from the rows listed, which are all rows up to the k-th distance."""
    sides, counts = data["neighbours"], data["counts"]
    listed = [*sides["for"], *sides["against"]]
    distance = np.array([neighbour["distance"] for neighbour in listed])
    last = np.sort(distance)[data["k"] - 1]
    near, tied = distance < last * (1 - 1e-5), np.abs(distance - last) <= last * 1e-5
    assert (near | tied).all()
    share = (data["k"] - near.sum()) / tied.sum()
    assert np.allclose([neighbour["share"] for neighbour in listed], np.where(near, 1, share))
    for side, label in (("for", mine), ("against", ~mine)):  # no row is left out, up to rounding
        n_rows = counts[f"n_{side}"]
        assert n_rows == len(sides[side])
        assert (label & (far < last - 1e-4)).sum() <= n_rows <= (label & (far < last + 1e-4)).sum()
    assert counts["n_tied"] == (0 if share == 1 else tied.sum()) and np.isclose(counts["tied_share"], share)
    assert counts["n_tied_for"] == (0 if share == 1 else tied[: len(sides["for"])].sum())
    weight = [sum(each["weight"] * each["share"] for each in sides[side]) for side in ("for", "against")]
    assert np.allclose(weight, [counts["weight_for"], counts["weight_against"]])
    return weight


@settings(max_examples=25)
@given(
    st.integers(0, 2**31),
    st.sampled_from(["counts", "distances"]),
    st.sampled_from([1, 3, 6]),
    st.sampled_from(["arcsinh", "standard", None]),
    st.sampled_from(["select", "vote"]),
)
def test_every_explanation_is_found_again_by_brute_force(seed, estimate, k, scaling, decide):
    X, y = table(seed)
    model = RECIPClassifier(
        estimate=estimate, k=k, scaling=scaling, decide=decide, max_projections=3, selection="greedy", random_state=0
    )
    queries, _ = table(seed + 1, 12)
    predicted = model.fit(X, y).predict(queries)
    probability = model.predict_proba(queries)
    rows = merged(X, y)
    first = [group[0] for group in rows]
    labels = y[first]
    for query, explanation in enumerate(model.explain(queries)):
        data = json.loads(json.dumps(explanation.data()))
        assert data["prediction"] == predicted[query]
        assert np.isclose(data["probability"], probability[query].max())
        if data["view"] is None:
            assert len(data["skipped"]) == len(model.projections_) and data["undecided"]
            continue
        far = distances(X.iloc[first], data["query"], data["view"])
        mine = labels == data["prediction"]
        sides = data["neighbours"]
        for neighbour in sides["for"] + sides["against"]:
            group = next(group for group in rows if group[0] in neighbour["rows"])
            assert sorted(group) == sorted(neighbour["rows"]) and neighbour["weight"] == len(group)
            assert np.isclose(far[rows.index(group)], neighbour["distance"], rtol=1e-4, atol=1e-5)
            assert (neighbour["label"] == data["prediction"]) == (neighbour in sides["for"])
        if estimate == "distances":
            own, other = (np.sort(far[side & ~np.isnan(far)])[k - 1] for side in (mine, ~mine))
            assert np.isclose(own, sides["for"][-1]["distance"], rtol=1e-4, atol=1e-5)
            assert np.isclose(other, sides["against"][-1]["distance"], rtol=1e-4, atol=1e-5)
            ratio = 1.0 if own == other == 0 else 1e7 if other < 1e-6 else min((own / other) ** data["power"], 1e7)
            assert other < 1e-4 or np.isclose(ratio, data["ratio"], rtol=1e-2, atol=1e-3)
        else:
            weight = counted_again(data, far, mine)
            odds = (weight[1] + data["prior_weight"] * (1 - data["share"])) / (
                weight[0] + data["prior_weight"] * data["share"]
            )
            assert np.isclose(odds ** data["power"], data["ratio"])
        if decide == "select":  # no view has a smaller ratio, for any class
            ratios = [other["ratio"] for other in data["runner_ups"]]
            assert all(data["ratio"] <= ratio for ratio in ratios) and ratios == sorted(ratios)
            assert data["against"] is None or data["against"]["ratio"] >= data["ratio"]
        assert len(data["runner_ups"]) + len(data["skipped"]) + 1 <= len(model.projections_)
        assert data["undecided"] == bool(data["reasons"])


def test_text_names_the_view_the_units_and_the_neighbours():
    X, y = table(0, missing=False)
    model = RECIPClassifier(projections=[("length", "grade")], k=5).fit(X, y)
    text = model.explain(X[:1], units={"length": "mm"})[0].to_text()
    assert "length [mm] × grade" in text and "of its 5 nearest rows" in text and text.count(".") >= 1
    published = RECIPClassifier(projections=[("length", "grade")], estimate="distances", k=2).fit(X, y)
    assert "2nd nearest" in published.explain(X[:1])[0].to_text()
    assert isinstance(published.explain(X[:1])[0], ProjectionExplanation)


def test_the_sentence_tells_of_rows_that_are_equally_far():
    X = np.array([[0.0]] * 3 + [[1.0]] * 8 + [[9.0]] * 30)
    X = np.column_stack([X[:, 0], np.arange(41)])  # no two rows are equal
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1] + [1] * 30)
    model = RECIPClassifier(projections=[(0,)], k=5).fit(X, y)
    near, at_a_tie = model.explain([[0.0, 0.0], [1.0, 0.0]])
    words = (
        "0 with probability 0.60: 5 of its 11 nearest rows in the view x0 are of this class (the last 8 are equally "
    )
    assert near.to_text().startswith(words + "far and together count as 2 rows), with 70% of the weight, which gives")
    assert near.data()["counts"] == {
        "n_for": 5, "n_against": 6, "n_tied": 8, "n_tied_for": 2, "tied_share": 0.25, "weight_for": 3.5,
        "weight_against": 1.5,
    }  # fmt: skip
    assert "6 of its 8 nearest rows" in at_a_tie.to_text()
    assert "(all are equally far and together count as 5 rows), which gives" in at_a_tie.to_text()


def test_of_many_equally_far_rows_some_are_listed_and_all_are_counted():
    X = np.column_stack([np.zeros(1000), np.arange(1000)])
    X[900:, 0] = 1
    y = np.arange(1000) % 4 == 0
    data = RECIPClassifier(projections=[(0,)], k=20).fit(X, y).explain([[0.0, 0.0]])[0].data()
    assert [len(data["neighbours"][side]) for side in ("for", "against")] == [100, 100]
    assert (data["counts"]["n_for"], data["counts"]["n_against"], data["counts"]["n_tied"]) == (675, 225, 900)
    assert np.allclose([data["counts"]["weight_for"], data["counts"]["weight_against"]], [15, 5])
    assert data["view_probability"] == pytest.approx((15 + data["share"]) / 21)


def test_a_case_between_the_classes_is_undecided_and_one_inside_is_not():
    X = np.linspace(0, 1, 100)[:, None]
    model = RECIPClassifier(k=10).fit(X, X[:, 0] > 0.5)
    border, inside = model.explain([[0.5], [0.1]])
    assert border.undecided and "equally strong" in border.reasons[0] and "undecided" in border.to_text()
    assert not inside.undecided and inside.reasons == [] and "undecided" not in inside.to_text()


def test_the_sentence_says_how_the_count_becomes_the_probability():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(400, 2))
    model = RECIPClassifier(projections=[(0,), (1,)], k=10).fit(X, X.sum(axis=1) > 0)
    for explanation in model.explain([[-0.9, 0.9], [0.9, 0.9]]):
        data = explanation.data()
        n_for, n_against = (len(data["neighbours"][side]) for side in ("for", "against"))
        shrunk = (n_for + data["prior_weight"] * data["share"]) / (n_for + n_against + data["prior_weight"])
        assert data["view_probability"] == pytest.approx(shrunk)
        assert f"which gives {shrunk:.2f} when shrunk" in explanation.sentence()
        weighed = f"weighed against the best view for the other class, it is {data['probability']:.2f}"
        assert (weighed in explanation.sentence()) == (f"{shrunk:.2f}" != f"{data['probability']:.2f}")
        assert "ratio" not in explanation.sentence()
    alone = RECIPClassifier(projections=[(0,)], k=10).fit(X, X.sum(axis=1) > 0).explain([[0.9, 0.9]])[0].data()
    assert alone["view_probability"] == pytest.approx(alone["probability"])


def test_the_view_against_is_not_the_one_that_decided():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(300, 3))
    label = X[:, 0] > 0
    found = RECIPClassifier(projections=[(0,), (0, 1), (0, 2)]).fit(X, label).explain(X[:40])
    with_one = [explanation for explanation in found if explanation.against is not None]
    assert 0 < len(with_one) < 40
    for explanation in with_one:
        assert explanation.against["n_for"] > 0
        assert explanation.against["columns"] != explanation.view["columns"]
        n_nearest = explanation.against["n_for"] + explanation.against["n_against"]
        assert n_nearest == explanation.k
    between = RECIPClassifier(projections=[(0, 1)]).fit(X, label).explain([[0.0, 0.0, 0.0]])[0]
    assert len(between.data()["neighbours"]["against"]) > 0
    assert between.against is None  # the model has no other view


def test_views_that_disagree_make_a_case_undecided():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(400, 2))
    model = RECIPClassifier(projections=[(0,), (1,)], k=10).fit(X, X.sum(axis=1) > 0)
    explanation = model.explain([[-0.9, 0.9]])[0]
    assert explanation.undecided and "speaks for" in explanation.to_text()
    assert explanation.against["label"] != explanation.prediction


def test_views_with_a_missing_value_are_skipped_and_named():
    X, y = table(3, missing=False)
    model = RECIPClassifier(projections=[("length",), ("grade",)]).fit(X, y)
    query = X[:1].copy()
    query["length"] = np.nan
    explanation = model.explain(query)[0]
    assert explanation.view["features"] == ["grade"]
    assert explanation.skipped[0]["missing"] == ["length"] and "1 of 2 views lack" in explanation.to_text()
    query["grade"] = np.nan
    nothing = model.explain(query)[0]
    assert nothing.view is None and nothing.undecided and "no view" in nothing.to_text()
    labels, counts = np.unique(y, return_counts=True)
    assert nothing.prediction == labels[counts.argmax()]
    assert np.isclose(nothing.probability, counts.max() / counts.sum())


def test_wrong_units_and_names_are_refused():
    X, y = table(4, missing=False)
    model = RECIPClassifier(projections=[("length",)]).fit(X, y)
    with pytest.raises(ValueError, match="units names 'breadth'"):
        model.explain(X[:1], units={"breadth": "mm"})
    with pytest.raises(ValueError, match="units must be"):
        model.explain(X[:1], units=["mm"])
    with pytest.raises(ValueError, match="feature_names has 1"):
        model.explain(X[:1], feature_names=["a"])


def test_an_explanation_does_not_change_when_its_data_are():
    X, y = table(5, missing=False)
    explanation = RECIPClassifier(projections=[("length",)]).fit(X, y).explain(X[:1])[0]
    explanation.data()["prediction"] = "other"
    assert explanation.data()["prediction"] == explanation.prediction != "other"
    assert "prediction" in dir(explanation) and not hasattr(explanation, "colour")


def test_row_numbers_that_do_not_fit_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        RECIPClassifier().renumber_rows(np.arange(150))
    model = RECIPClassifier(projections=[(0, 1)]).fit(X, y)
    for numbers, words in [
        (np.arange(10), r"the last that counts is row 149; got an array of shape \(10,\)"),
        (np.zeros((150, 2), int), r"got an array of shape \(150, 2\)"),
        (np.arange(150.0), "whole numbers; got an array of type float64"),
        (np.arange(150) - 1, "0 or more; got -1"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.renumber_rows(numbers)
    model.renumber_rows(np.arange(150)[::-1] + 1000)
    assert model.fitted_rows().row_number.min() >= 1000
