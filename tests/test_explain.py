"""Every estimator says why: one object per row, whose numbers are those of the model."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import planewise as pw
from planewise.data.values import plain_data
from planewise.explain import Contributions, Path, Reason, Vectors, View
from planewise.table import TableModel

X, y = load_iris(return_X_y=True)
NAMED = np.array(["setosa", "versicolor", "virginica"])[y]
TWO = y != 0
NUMBERS = load_diabetes(return_X_y=True)
SMALL = {"random_state": 0}

CLASSIFIERS = {
    "tree": (pw.SLMClassifier(**SMALL), Path),
    "forest": (pw.SLMForestClassifier(n_estimators=5, **SMALL), Contributions),
    "votes": (pw.SLMForestClassifier(n_estimators=5, voting="hard", **SMALL), Contributions),
    "boosting": (pw.SLMBoostClassifier(n_estimators=5, **SMALL), Contributions),
    "machine": (pw.MCMClassifier(multi_class="ovr"), Vectors),
    "pairs": (pw.MCMClassifier(multi_class="ovo"), Vectors),
    "conformal machine": (pw.MCMClassifier(conformal="shrunk", multi_class="ovr", **SMALL), Vectors),
    "printed factor": (pw.MCMClassifier(conformal="printed"), Vectors),
    "linear machine": (pw.MCMClassifier(kernel="linear", multi_class="ovr"), Contributions),
    "search": (pw.MCMClassifierCV([10.0], [1.0], [0.1], cv=2, multi_class="ovr", **SMALL), Vectors),
    "large machine": (pw.LargeScaleMCMClassifier(**SMALL), Vectors),
    "large linear machine": (pw.LargeScaleMCMClassifier(kernel="linear", **SMALL), Contributions),
    "views": (pw.RECIPClassifier(**SMALL), View),
}
REGRESSORS = {
    "tree": (pw.SLMRegressor(max_depth=4, **SMALL), Path),
    "forest": (pw.SLMForestRegressor(n_estimators=5, **SMALL), Contributions),
    "boosting": (pw.SLMBoostRegressor(n_estimators=5, **SMALL), Contributions),
    "counts": (pw.SLMBoostRegressor(n_estimators=5, loss="poisson", **SMALL), Contributions),
    "machine": (pw.MCMRegressor(C=10.0), Vectors),
    "linear machine": (pw.MCMRegressor(kernel="linear"), Contributions),
    "search": (pw.MCMRegressorCV(gammas=[0.1], mus=[0.01], cv=2, **SMALL), Vectors),
}


def fitted(name, target="several"):
    if target == "numbers":
        model, kind = REGRESSORS[name]
        rows, values = NUMBERS
        return model.fit(rows[:150], values[:150]), kind, rows[150:170]
    model, kind = CLASSIFIERS[name]
    if target == "two":
        return model.fit(X[TWO][::2], NAMED[TWO][::2]), kind, X[TWO][1::8]
    return model.fit(X[::2], NAMED[::2]), kind, X[1::8]


CASES = [
    *((name, target) for name in CLASSIFIERS for target in ("several", "two")),
    *((name, "numbers") for name in REGRESSORS),
]


@pytest.mark.parametrize(("name", "target"), CASES)
def test_there_is_one_reason_per_row_and_it_is_for_what_is_predicted(name, target):
    model, kind, rows = fitted(name, target)
    found = model.explain(rows)
    assert len(found) == len(rows)
    for reason, answer in zip(found, model.predict(rows), strict=True):
        assert isinstance(reason, kind) and isinstance(reason, Reason)
        assert reason.prediction == answer


@pytest.mark.parametrize(("name", "target"), CASES)
def test_reasons_are_ready_for_json_and_readable(name, target):
    model, _, rows = fitted(name, target)
    for reason in model.explain(rows)[:3]:
        data = json.loads(json.dumps(reason.data(), allow_nan=False))
        assert all(re.fullmatch("[a-z0-9_]+", key) for key in data)
        assert data["prediction"] == reason.prediction
        text = reason.to_text()
        assert text.startswith((str(reason.prediction)[:4], repr(reason.prediction)[:4], "−"))
        assert not re.search(r"\b_\w|np\.|nan|None|array\(", text) and reason.sentence().endswith(".")
        assert repr(reason).startswith(f"<{type(reason).__name__}: ")


@pytest.mark.parametrize("target", ["several", "two", "numbers"])
def test_a_path_ends_in_the_leaf_of_apply_and_its_sides_lead_there(target):
    model, _, rows = fitted("tree", target)
    for path, leaf in zip(model.explain(rows), model.apply(rows), strict=True):
        assert path.node == leaf and path.n_samples == model.tree_.n_samples[leaf]
        assert list(path.value) == model.tree_.value[leaf].tolist()
        assert path.depth == model.tree_.depth[leaf]
        assert [step.depth for step in path.steps] == sorted(step.depth for step in path.steps)


def test_what_a_path_says_of_a_value_is_true():
    model, _, rows = fitted("tree")
    for path in model.explain(rows):
        for step in path.steps:
            relation, threshold = re.search(r"([≥≤]) (\S+)", step.plane).groups()
            threshold = float(threshold.replace("−", "-"))
            if abs(step.value - threshold) > 1e-4:
                assert step.right == (step.value >= threshold if relation == "≥" else step.value <= threshold)


def test_paths_name_categories_and_missing_values():
    table = pd.DataFrame({"town": ["Ulm", "Jena"] * 30, "age": np.arange(60.0) % 7})
    model = pw.SLMClassifier(max_planes=1, categorical_features=["town"], random_state=0).fit(table, table["town"])
    asked = pd.DataFrame({"town": ["Ulm", None, "Bonn"], "age": [1.0, 2.0, 3.0]})
    found = model.explain(asked)
    assert [path.steps[0].value for path in found] == ["Ulm", None, "another category"]
    assert [path.node for path in found] == model.apply(asked).tolist()
    assert "missing" in found[1].to_text()


def mean_probability(model, rows):
    """What the trees of a forest say on average, whatever they vote for."""
    soft = pw.SLMForestClassifier(**model.get_params() | {"voting": "soft"})
    return soft.fit(X[TWO][::2] if len(model.classes_) == 2 else X[::2], labels_of(model)).predict_proba(rows)


def labels_of(model):
    return NAMED[TWO][::2] if len(model.classes_) == 2 else NAMED[::2]


ADDED_UP = ("forest", "votes", "boosting", "counts", "linear machine", "large linear machine")


@pytest.mark.parametrize(("name", "target"), [case for case in CASES if case[0] in ADDED_UP])
def test_contributions_add_up_to_the_decision_value(name, target):
    model, _, rows = fitted(name, target)
    for row, reason in zip(rows, model.explain(rows), strict=True):
        asked = row[None]
        assert reason.average + sum(each.added for each in reason.parts) == pytest.approx(reason.total)
        if target == "numbers":
            answer = float(model.predict(asked)[0])
            expected = np.log(answer) if name == "counts" else answer
        elif name == "forest":
            expected = model.predict_proba(asked)[0, model.classes_ == reason.of][0]
        elif name == "votes":
            expected = mean_probability(model, asked)[0, model.classes_ == reason.of][0]
            assert reason.what == "the trees' mean probability" and reason.what in reason.to_text()
        else:
            scores = model.decision_function(asked)[0]
            several = target == "several"
            expected = scores[model.classes_ == reason.of][0] if several else scores
            if not several and reason.of == model.classes_[0]:
                expected = -expected
        assert reason.total == pytest.approx(expected, rel=1e-4, abs=1e-5)
        assert [abs(each.added) for each in reason.parts] == sorted((abs(e.added) for e in reason.parts), reverse=True)
        assert {each.column: each.value for each in reason.parts} == {f"x{j}": value for j, value in enumerate(row)}


@pytest.mark.parametrize(
    ("name", "target"),
    [case for case in CASES if case[0] in ("machine", "conformal machine", "search", "large machine")],
)
def test_what_vectors_add_and_the_intercept_are_the_score(name, target):
    model, _, rows = fitted(name, target)
    for row, reason in zip(rows, model.explain(rows), strict=True):
        if target == "numbers":
            expected = model.predict(row[None])[0]
        else:
            scores = model.decision_function(row[None])[0]
            if target == "several":
                expected = scores[model.classes_ == reason.of][0]
            else:
                expected = scores if reason.of == model.classes_[1] else -scores
        assert reason.score == pytest.approx(expected, rel=1e-3, abs=1e-4)
        assert reason.score == pytest.approx(reason.intercept + sum(each.added for each in reason.vectors))
        assert dict(reason.row) == pytest.approx({f"x{j}": value for j, value in enumerate(row)}, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_against_the_mean_probability_are_said_to_decide(n_classes):
    rng = np.random.default_rng(0)
    rows, label = rng.normal(size=(300, 4)), rng.integers(n_classes, size=300)
    model = pw.SLMForestClassifier(n_estimators=5, voting="hard", max_depth=3, **SMALL).fit(rows, label)
    outvoted = 0
    for reason, parts in zip(model.explain(rows), model.predict_contributions(rows), strict=True):
        sums = parts.sum(axis=-1)
        mean = np.array([1 - sums, sums]) if n_classes == 2 else sums
        words = reason.sentence()
        ahead = mean[reason.prediction] - np.delete(mean, reason.prediction).max()
        if abs(ahead) > 1e-4:
            assert ("the trees' votes decide" in words) == (ahead < 0)
        if "the trees' votes decide" in words:
            outvoted += 1
            assert f"though their mean probability is larger for {mean.argmax()}" in words
    assert outvoted > 3


def test_a_precomputed_kernel_is_explained_by_the_numbers_of_its_rows():
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = pw.MCMClassifier(kernel="precomputed", multi_class="ovr").fit(kernel, NAMED)
    reason = model.explain(kernel[:1])[0]
    assert {each.values["row of the kernel"] for each in reason.vectors} <= set(model.support_.tolist())
    assert reason.score == pytest.approx(model.decision_function(kernel[:1])[0, model.classes_ == reason.of][0])


def test_a_training_row_is_said_to_be_one():
    machine, views = pw.MCMClassifier().fit(X, NAMED), pw.RECIPClassifier(random_state=0).fit(X, NAMED)
    own = machine.explain(machine.support_vectors_[:1])[0]
    other = machine.explain(machine.support_vectors_[:1] + 0.01)[0]
    assert own.same_values_in_fit and not other.same_values_in_fit
    assert "same values" in own.table().note and "same values" not in other.table().note
    assert views.explain(X[:1])[0].data()["same_values_in_fit"]
    assert not views.explain(X[:1] + 0.01)[0].data()["same_values_in_fit"]


@pytest.mark.parametrize(("name", "target"), [("tree", "several"), ("forest", "several"), ("large machine", "several")])
def test_an_estimator_that_is_not_fitted_explains_nothing(name, target):
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        clone(CLASSIFIERS[name][0]).explain(X)


@pytest.mark.parametrize("family", ["tree", "forest", "boosting", "kernel", "recip"])
def test_a_model_of_a_table_explains_with_the_values_of_the_table(family):
    rng = np.random.default_rng(0)
    rows = pl.DataFrame(
        {
            "town": rng.choice(["Ulm", "Jena"], 80).tolist(),
            "since": pl.Series(np.datetime64("2020-01-01") + rng.integers(0, 900, 80).astype("timedelta64[D]")),
            "age": rng.integers(18, 80, 80),
        }
    ).with_columns(pl.when(pl.col("age") + 20 * (pl.col("town") == "Ulm") > 55).then(1).otherwise(0).alias("yes"))
    model = TableModel(family, random_state=0).fit(rows, "yes")
    asked = rows.head(4).drop("yes")
    found = model.explain(asked)
    assert len(found) == 4
    for reason, row, answer in zip(found, asked.iter_rows(named=True), model.predict(asked), strict=True):
        assert reason.prediction == answer
        data = reason.data()
        json.dumps(data, allow_nan=False)
        own = {name: str(value) if name == "since" else value for name, value in row.items()}
        if isinstance(reason, Contributions):
            assert {each["column"]: each["value"] for each in data["parts"]} == own
        elif isinstance(reason, Path):
            alone = [step for step in data["steps"] if step["column"] is not None]
            assert all(step["value"] == own[step["column"]] for step in alone)
        elif isinstance(reason, Vectors):
            assert dict(reason.row) == row
            assert all(each["values"]["since"][:2] == "20" for each in data["vectors"])
        else:
            assert isinstance(reason, View) and data["query"]
            assert all(value == own[name] for name, value in data["query"].items())


@pytest.mark.parametrize("kind", ["date", "moment", "truth"])
def test_a_path_through_dates_and_booleans_is_told_in_their_terms(kind):
    rng = np.random.default_rng(0)
    if kind == "truth":
        column = pl.Series("day", rng.random(80) < 0.5)
        yes = column.to_numpy()
    else:
        days = np.datetime64("2020-01-01") + rng.integers(0, 900, 80).astype("timedelta64[D]")
        hours = rng.integers(0, 24, 80) if kind == "moment" else np.zeros(80, int)
        yes = days > np.datetime64("2021-03-04")
        column = pl.Series("day", days if kind == "date" else days.astype("M8[us]") + hours.astype("timedelta64[h]"))
    table = pl.DataFrame([column, pl.Series("yes", yes)])
    model = TableModel("tree", random_state=0).fit(table, "yes")
    for reason, value in zip(model.explain(table), column.to_list(), strict=True):
        steps = [step for step in reason.steps if step.column == "day"]
        assert steps and all(step.value == value and type(step.value) is type(value) for step in steps)
        for step in steps:
            if kind == "truth":
                assert step.plane.removesuffix(" or missing") in ("day is true", "day is false")
                assert step.right == (value is step.plane.startswith("day is true"))
                continue
            relation, threshold = re.fullmatch(r"day ([≥≤]) (\d{4}-\d\d-\d\d.*?)(?: or missing)?", step.plane).groups()
            cut = type(value).fromisoformat(threshold)
            assert step.right == (value >= cut if relation == "≥" else value <= cut)
        assert str(value).removesuffix(":00").lower() in reason.to_text() and "18," not in reason.to_text()
    as_text = table.with_columns(column.cast(pl.String))  # as in a CSV file
    assert [each.to_text() for each in model.explain(as_text)] == [each.to_text() for each in model.explain(table)]


def test_a_path_states_the_numbers_of_a_row_as_they_were_given():
    rows = np.random.default_rng(0).random((60, 1)).round(2)
    model = pw.SLMRegressor(max_depth=3, random_state=0).fit(rows, rows[:, 0])
    for row, path in zip(rows, model.explain(rows), strict=True):
        assert [step.value for step in path.steps] == [row[0]] * len(path.steps)
        assert all(step["column"] == "x0" for step in path.data()["steps"])


def test_the_columns_that_a_machine_makes_of_a_category_are_one_part():
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"town": rng.choice(["Ulm", "Jena"], 60).tolist(), "age": rng.integers(18, 80, 60)})
    rows = rows.with_columns((pl.col("age") > 40).alias("old"))
    model = TableModel("kernel", settings={"kernel": "linear", "Cs": [1.0], "mus": [1.0], "cv": 2}, random_state=0)
    reason = model.fit(rows, "old").explain(rows.head(1))[0]
    assert {each.column: each.value for each in reason.parts} == {"town": rows["town"][0], "age": rows["age"][0]}


@pytest.mark.parametrize(("name", "target"), CASES)
def test_programs_read_the_same_names_in_attributes_and_in_data(name, target):
    model, _, rows = fitted(name, target)
    reason = model.explain(rows)[0]
    data = reason.data()
    named = {key: value for key, value in data.items() if key not in ("kind", "leaf")} | data.get("leaf", {})
    for key, value in named.items():
        own = getattr(reason, key)
        if key in ("steps", "parts", "vectors"):
            for each, told in zip(own, value, strict=True):
                assert all(getattr(each, inner) == told[inner] for inner in told)
        else:
            assert plain_data(own) == value


def test_the_table_and_the_sentence_write_a_label_the_same_way():
    for model in (pw.SLMBoostClassifier(n_estimators=3, **SMALL), pw.MCMClassifier(), pw.SLMClassifier(**SMALL)):
        reason = model.fit(X, y.astype(float)).explain(X[:1])[0]
        assert reason.sentence().startswith("0,") or reason.sentence().startswith("0:")
        assert "0.0" not in reason.table().heading and reason.table().rows[-1][-1] != "0.0, 100%"


def test_a_table_of_reasons_adds_up_even_if_not_all_rows_fit():
    X, y = load_breast_cancer(return_X_y=True)
    added = pw.SLMBoostClassifier(n_estimators=20, random_state=0).fit(X, y).explain(X[:1])[0]
    vectors = pw.MCMClassifier(C=1e4, mu=0.01, random_state=0).fit(X, y).explain(X[:1])[0]
    assert len(added.parts) > 12 and len(vectors.vectors) > 12
    assert added.table().rows[-2][0] == f"{len(added.parts) - 12} more columns"
    assert vectors.table().rows[-2][-1] == f"{len(vectors.vectors) - 12} more vectors"
    for table, start, total in (
        (added.table(), added.average, added.total),
        (vectors.table(), vectors.intercept, vectors.score),
    ):
        assert table.weights[0] == start and table.weights[-1] == total
        assert sum(table.weights[:-1]) == pytest.approx(total)
    assert len(vectors.table().weights) == len(vectors.table().rows)


def test_a_probability_that_contributions_add_up_to_is_never_outside_0_and_1():
    X, y = load_breast_cancer(return_X_y=True)
    totals = [each.total for each in pw.SLMForestClassifier(n_estimators=20, random_state=0).fit(X, y).explain(X)]
    assert min(totals) == 0 and max(totals) <= 1
