"""Files that hold a pipeline of scikit-learn: described, or refused with a remedy."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import planewise as pw
from planewise.export import to_c, to_text
from planewise.io import model_at_end


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50, 10, 80), "town": rng.choice(["Ulm", "Bonn"], 80)})
    table.to_csv("people.csv", index=False)
    return table


@pytest.fixture
def pipeline(table):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    words = OneHotEncoder(sparse_output=False)
    columns = ColumnTransformer([("numbers", numbers, ["age"]), ("words", words, ["town"]), ("none", words, [])])
    made = make_pipeline(columns, pw.SLMClassifier(random_state=0)).fit(table, table["age"] > 50)
    pw.save(made, "people.planewise")
    return made


def test_a_pipeline_is_described_with_its_steps(pipeline, run):
    done = run("describe", "people.planewise")
    assert done.exit_code == 0, done.stderr
    for line in (
        "model    SLMClassifier",
        "step     columntransformer: ColumnTransformer",
        "step       numbers: Pipeline of age",
        "step         standardscaler: StandardScaler",
        "step       words: OneHotEncoder of town",
        "step       none: OneHotEncoder of no columns",
        "columns  2: age, town",
        "numbers__age",
    ):
        assert line in done.stdout


def test_the_steps_are_in_the_json(pipeline, run):
    answer = json.loads(run("describe", "people.planewise", "--json").stdout)
    columns, model = answer["steps"]
    assert columns["steps"][1] == {"name": "words", "kind": "OneHotEncoder", "columns": ["town"]}
    assert model == {"name": "slmclassifier", "kind": "SLMClassifier"}
    assert next(iter(answer["leading_features"])) == "numbers__age"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["predict", "people.planewise", "people.csv"], "does not know how to read the columns of a table file"),
        (["explain", "people.planewise", "people.csv"], "planewise.load(file).predict(frame)"),
        (["export", "people.planewise", "--to", "text"], "cannot be exported as a whole. Save the model at its end"),
        (["export", "people.planewise", "--to", "c", "--out", "m.h"], "planewise.io.model_at_end(loaded)"),
        (["describe", "people.planewise", "--html", "m.html"], "cannot be described on a page as a whole"),
    ],
)
def test_commands_that_need_a_model_alone_say_what_to_do(command, words, pipeline, run):
    done = run(*command)
    assert done.exit_code == 2
    assert words in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_the_model_at_the_end_can_be_exported(pipeline, run):
    pw.save(model_at_end(pw.load("people.planewise")), "end.planewise")
    assert run("export", "end.planewise", "--to", "c", "--out", "m.h").exit_code == 0


def test_a_transformed_target_is_not_exported(table):
    model = TransformedTargetRegressor(pw.SLMRegressor(random_state=0), func=np.log1p, inverse_func=np.expm1)
    model.fit(table[["age"]], table["age"] ** 2)
    for export in (to_text, lambda model: to_c(model, name="m")):
        with pytest.raises(TypeError, match="A TransformedTargetRegressor cannot be exported or described as a whole"):
            export(model)
