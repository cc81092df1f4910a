"""What a command fitted answers in C and ONNX as predict does: gaps, categories, booleans and dates included."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.export.c_tokens import strings
from tests.export.compiled import c_answers, needs_compiler

MODELS = {
    "tree": [],
    "forest": ["--set", "n_estimators=5"],
    "boosting": ["--set", "n_estimators=5"],
    "kernel": ["--set", "mus=1", "--set", "gammas=0.2"],
    "kernel on many rows": ["--set", "max_iter=3", "--set", "n_components=10"],
}
EPOCH = np.datetime64("1970-01-01")


@pytest.fixture(scope="module")
def flats():
    """Every kind of column with gaps, words that are no C, and more categories than a machine tells apart."""
    rng = np.random.default_rng(0)
    n = 400
    size, town, new = rng.normal(50, 10, n).round(1), rng.choice(["Bonn", "Köln", 'U"l\\m*/'], n), rng.random(n) < 0.4
    days = rng.integers(15_000, 20_000, n)
    street = rng.choice([f"street {k}" for k in range(70)], n)
    price = size * 2 + 30 * (town == "Köln") + 15 * new + days / 200 + rng.normal(0, 4, n)
    gaps = rng.random((n, 5)) < 0.15

    def with_gaps(values, j):
        return [None if gap else value for gap, value in zip(gaps[:, j], values.tolist(), strict=True)]

    return pl.DataFrame(
        {
            "size": with_gaps(size, 0),
            "town": with_gaps(town, 1),
            "new": with_gaps(new, 2),
            "built": with_gaps(EPOCH + days, 3),
            "street": with_gaps(street, 4),
            "rooms": rng.integers(1, 6, n),
            "price": price.round(2),
            "class": np.digitize(price, np.quantile(price, [0.3, 0.7])),
        }
    )


def asked(flats):
    """Rows with gaps also where the fit had none, with towns not seen in the fit, and one with nothing at all."""
    rows = flats.drop("price", "class")
    rows = rows.with_columns(
        pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise(pl.col("rooms")).alias("rooms"),
        pl.when(pl.int_range(pl.len()) % 11 == 0).then(pl.lit("Jena")).otherwise(pl.col("town")).alias("town"),
    )
    return pl.concat([rows, pl.DataFrame({name: [None] for name in rows.columns}, schema=rows.schema)])


def as_floats(rows, names, categories):
    """Rows as the exports take them: categories by their places, booleans as 0 and 1, dates as days since 1970."""
    out = np.empty((rows.height, len(names)), np.float32)
    for j, name in enumerate(names):
        values = rows[name].to_list()
        if name in categories:
            place = {word: k for k, word in enumerate(categories[name])}
            values = [None if each is None else place.get(each, 1.5) for each in values]
        elif rows[name].dtype == pl.Date:
            values = [None if each is None else (np.datetime64(each) - EPOCH).astype(int) for each in values]
        out[:, j] = [np.nan if each is None else float(each) for each in values]
    return out


def from_header(header):
    """The columns and categories that a header names."""
    names = [name.split(":")[0] for name in re.findall(r"^ \*     x\[\d+\]  (.*)$", header, flags=re.M)]
    tables = re.findall(r"model_categories_(\d+)\[\d+\] = \{(.*?)\};", header, flags=re.S)
    return names, {names[int(j)]: [word.decode() for word in strings(body)] for j, body in tables}


@needs_compiler
@pytest.mark.parametrize(
    ("model", "target"), [*((each, "class") for each in MODELS), ("boosting", "price"), ("kernel", "price")]
)
def test_c_and_onnx_answer_as_predict_does(model, target, flats, run):
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    table = pl.concat([flats] * 10) if model == "kernel on many rows" else flats  # beyond 3,000 rows, another estimator
    table.write_csv("flats.csv")
    how = ["--set", "kernel=rbf"] if (model, target) == ("kernel", "price") else MODELS[model]
    other = "price" if target == "class" else "class"
    family = model.split()[0]
    done = run("fit", "flats.csv", "--target", target, "--drop", other, "--model", family, "--out", "m.planewise", *how)
    assert done.exit_code == 0, done.stderr
    for to, out in (("c", "m.h"), ("onnx", "m.onnx")):
        done = run("export", "m.planewise", "--to", to, "--out", out)
        assert done.exit_code == 0, done.stderr
    assert "columns in this order: size, town, new, built, street, rooms" in done.stdout
    assert "0 is Bonn, 1 is Köln" in done.stdout and "built: days since 1970-01-01" in done.stdout

    rows = asked(flats)
    rows.write_csv("asked.csv")
    proba = ["--proba"] if target == "class" else []
    assert run("predict", "m.planewise", "asked.csv", "--out", "answers.parquet", *proba).exit_code == 0
    answers = pl.read_parquet("answers.parquet")
    expected = answers["prediction"].to_numpy()

    header = Path("m.h").read_text(encoding="utf-8")
    given = as_floats(rows, *from_header(header))
    made = onnx.load("m.onnx")
    about = {each.key: json.loads(each.value) for each in made.metadata_props}
    np.testing.assert_array_equal(given, as_floats(rows, about["feature_names"], about["categories"]))
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    by_onnx = session.run(None, {"X": given})
    if target == "price":
        near = {"rtol": 1e-5, "atol": 1e-5 * np.ptp(expected)}
        np.testing.assert_allclose(c_answers(header, given, None), expected, **near)
        np.testing.assert_allclose(by_onnx[0][:, 0], expected, **near)
        return
    probability = answers.drop("prediction").to_numpy()
    label, by_c = c_answers(header, given, 3)
    np.testing.assert_allclose(by_c, probability, atol=2e-5)
    np.testing.assert_allclose(by_onnx[1], probability, atol=2e-5)
    top = np.sort(probability, axis=1)
    sure = top[:, 2] - top[:, 1] > 1e-4  # equal scores of two classes are told apart by their last digits only
    assert sure.mean() > 0.95
    np.testing.assert_array_equal(label[sure], expected[sure])
    np.testing.assert_array_equal(by_onnx[0][sure], expected[sure])
