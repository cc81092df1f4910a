"""What the service answers: the same as the model in Python and as the commands."""

from __future__ import annotations

import json

import polars as pl
import pytest

from planewise.table import TableModel

FAMILIES = ["slm", "forest", "boost", "mcm", "views", "recip"]


def as_json(table, model):
    """The rows of a table as JSON has them."""
    names = [column.name for column in model.columns_]
    rows = table.select(names).with_columns(pl.col("sold").dt.to_string("%Y-%m-%d"))
    return rows.to_dicts()


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_are_those_of_the_model_to_the_last_bit(family, models, houses, ask):
    model = models(family)
    rows = as_json(houses, model)
    rows[5]["town"] = "a town that nobody knows"
    table = houses.with_columns(pl.Series("town", [each["town"] for each in rows]))
    answers = ask({"rows": rows}, family).json()["answers"]
    assert [each["prediction"] for each in answers] == model.predict(table).tolist()
    assert [list(each["probability"].values()) for each in answers] == model.predict_proba(table).tolist()
    assert list(answers[0]["probability"]) == model.classes_.tolist()
    one = [ask({"rows": [each]}, family).json()["answers"][0] for each in rows[:9]]
    assert one == answers[:9]


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_are_those_of_the_model_to_the_last_bit(family, models, houses, ask):
    model = models(family, "price")
    done = ask({"rows": as_json(houses, model)}, family, "price").json()
    assert [each["prediction"] for each in done["answers"]] == model.predict(houses).tolist()
    assert done["target"] == "price" and done["answers"][0].keys() == {"prediction"}


@pytest.mark.parametrize("family", FAMILIES)
def test_reasons_are_those_of_explain(family, models, houses, ask):
    model = models(family)
    answers = ask({"rows": as_json(houses.head(4), model), "reasons": True}, family).json()["answers"]
    wanted = model.explain(houses.head(4))
    assert [each["sentence"] for each in answers] == [why.sentence() for why in wanted]
    assert [each["explanation"].keys() for each in answers] == [why.data().keys() for why in wanted]


def test_columns_in_place_of_rows(models, houses, ask):
    rows = as_json(houses, models())
    columns = {name: [each[name] for each in rows] for name in rows[0]}
    assert ask({"columns": columns}).json() == ask({"rows": rows}).json()


def test_dates_and_booleans_are_read_as_in_tables(ask, row):
    def predicted(**changed):
        return ask({"rows": [row | changed]}, "boost").json()["answers"][0]["probability"]["dear"]

    assert predicted(new=1) == predicted(new="TRUE") == predicted(new=True)
    assert predicted(sold="2021-02-03T00:00") == predicted(sold="2021-02-03 02:00:00+02:00") == predicted()


def test_columns_that_the_fit_left_out_may_be_there(ask, row, models):
    assert models().left_out_[0].name == "id"
    assert ask({"rows": [row | {"id": 7, "class": "dear"}]}).json() == ask({"rows": [row]}).json()


def test_probabilities_can_be_left_out(ask, row):
    assert ask({"rows": [row], "probabilities": False}).json()["answers"][0].keys() == {"prediction"}
    done = ask({"rows": [row], "probabilities": True}, "slm", "price")
    assert (done.status_code, done.json()) == (422, {"error": '"probabilities": this model has no probabilities.'})


def test_intervals_if_the_model_has_them(ask, row, models, monkeypatch):
    done = ask({"rows": [row], "interval": 0.9}, "slm", "price")
    if not hasattr(models("slm", "price"), "predict_interval"):
        assert (done.status_code, done.json()) == (
            422,
            {"error": '"interval": this model has no prediction intervals.'},
        )
    import numpy as np

    def interval(model, table, coverage):
        assert table.height == 1 and coverage == 0.8
        return np.array([[1.5, np.inf]])

    monkeypatch.setattr(type(models("slm", "price")), "predict_interval", interval, raising=False)
    done = ask({"rows": [row], "interval": 0.8}, "slm", "price")
    assert done.json()["answers"][0]["interval"] == [1.5, None]
    done = ask({"rows": [row], "interval": 1}, "slm", "price")
    assert (
        done.status_code == 422 and "a coverage between 0 and 1, such as 0.9; got a number, 1" in done.json()["error"]
    )


def test_what_the_model_is(client):
    about = client().get("/model").json()
    assert about["target"] == "class" and about["classes"] == ["cheap", "dear"] and about["task"] == "classification"
    assert [each["name"] for each in about["columns"]] == ["size", "town", "new", "sold"]
    assert about["columns"][1] == {"name": "town", "kind": "categorical", "categories": ["Bonn", "Köln", "Ulm"]}
    assert about["ignored_columns"] == ["class", "id"]


def test_an_estimator_that_was_fitted_on_a_data_frame(houses, service):
    from planewise import SLMRegressor

    model = SLMRegressor(random_state=0).fit(houses.select("size", "id").to_pandas(), houses["price"].to_numpy())
    answer = (
        service(model).post("/predict", json={"rows": [{"size": 40.5, "id": 3}]}).json()["answers"][0]["prediction"]
    )
    assert answer == model.predict(pl.DataFrame({"size": [40.5], "id": [3.0]}).to_pandas())[0]
    with pytest.raises(ValueError, match="without column names"):
        service(SLMRegressor(random_state=0).fit([[1.0], [2.0]] * 9, [1.0, 2.0] * 9))


def test_the_document_and_the_page_are_made_from_the_columns(client, row):
    client = client()
    document = client.get("/openapi.json").json()
    described = document["components"]["schemas"]["Row"]
    assert described["required"] == list(row) and described["additionalProperties"] is False
    assert described["properties"]["size"]["type"] == ["number", "boolean", "null"]
    example = document["components"]["schemas"]["Request"]["example"]
    assert client.post("/predict", json=example).status_code == 200
    page = client.get("/docs").text
    assert "Bonn, Köln, Ulm" in page and "<script" not in page and "http-equiv" in page
    assert "https://" not in page  # nothing is loaded from elsewhere
    assert client.get("/", follow_redirects=False).headers["location"] == "docs"
    for path, methods in document["paths"].items():
        assert client.get(path).status_code == (200 if "get" in methods else 405)


def test_metrics_count_requests_rows_and_errors(client, row):
    client = client()
    client.post("/predict", json={"rows": [row] * 3})
    client.post("/predict", json={"rows": []})
    client.get("/nowhere/<b>")
    lines = client.get("/metrics").text.splitlines()
    assert 'planewise_requests_total{path="/predict",status="200"} 1' in lines
    assert 'planewise_requests_total{path="/predict",status="422"} 1' in lines
    assert 'planewise_requests_total{path="other",status="404"} 1' in lines
    assert {"planewise_rows_total 3", "planewise_errors_total 2", "planewise_predict_seconds_count 2"} <= set(lines)
    assert 'planewise_predict_seconds_bucket{le="+Inf"} 2' in lines


def test_the_answer_is_json_of_ascii(ask, row, models):
    done = ask({"rows": [row], "reasons": True})
    assert done.headers["content-type"] == "application/json" and done.content.isascii()
    assert json.loads(done.content) == done.json()


def test_labels_of_any_kind_are_written_as_json(service):
    labels = ['100 % "sure"', "%r", "ü\n"]
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0] * 20, "y": labels * 20})
    for target in (table["y"], pl.Series("y", [0, 1, 2] * 20), pl.Series("y", [True, False, True] * 20)):
        model = TableModel("slm", random_state=0).fit(table.with_columns(target), "y")
        for more in ({}, {"reasons": True}):
            done = service(model).post("/predict", json={"rows": [{"x": 1.0}], **more}).json()["answers"][0]
            assert done["prediction"] == target[0] and type(done["prediction"]) is type(target[0])
            assert list(done["probability"]) == [str(each) for each in model.classes_.tolist()]
