"""What fit says about held-out rows, what the model file keeps of it, and intervals in predict."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_mistakes import mistake

import planewise as pw


def test_classes_have_a_confusion_and_a_calibration(csv, run):
    ask = ["fit", csv, "--target", "class", "--model", "tree", "--drop", "price"]
    told = json.loads(run(*ask, "--json").stdout)
    assert told["confusion"]["classes"] == ["cheap", "dear"]
    assert np.sum(told["confusion"]["counts"]) == told["rows"]["held_out"] == 48
    right = np.trace(told["confusion"]["counts"]) / 48
    assert right == pytest.approx(told["quality"]["model"]["accuracy"]["value"])
    assert sum(group["rows"] for group in told["calibration"]["groups"]) == 48
    assert 0 <= told["calibration"]["expected_calibration_error"] <= 1
    assert told["intervals"] is None
    shown = run(*ask).stdout
    for words in ("confusion", "true class", "calibration", "predicted probability", "percentage points apart"):
        assert words in shown, words


def test_many_classes_are_listed_by_their_most_frequent_mistakes(run):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    label = [f"k{int(k)}" for k in np.clip((x + rng.normal(size=600) * 0.4) * 4 + 9, 0, 18)]
    pl.DataFrame({"x": x, "z": rng.normal(size=600), "label": label}).write_csv("many.csv")
    shown = run("fit", "many.csv", "--target", "label", "--model", "tree").stdout
    assert "most frequent mistakes" in shown and "predicted as" in shown and "pairs more, with" in shown


def test_a_linear_model_that_is_as_good_is_named(run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X @ [3.0, 1.0, -2.0] + rng.normal(size=300)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}).write_csv("straight.csv")
    ask = ["fit", "straight.csv", "--target", "y", "--model", "tree", "--out", "m.planewise"]
    assert "A ridge regression is better on these rows: its RMSE is" in run(*ask).stdout
    told = json.loads(run(*ask, "--force", "--json").stdout)
    assert told["linear"]["is_as_good"] and told["linear"]["words"].startswith("A ridge regression is better")
    assert pw.load("m.planewise").record_["linear_is_as_good"] is True


def test_numbers_have_intervals_in_fit_predict_and_describe(csv, run, towns, fitted):
    path = fitted("tree", "price")
    done = run("predict", path, csv, "--interval", "0.8", "--keep", "id", "--out", "p.csv")
    assert done.exit_code == 0, done.stderr
    answers = pl.read_csv("p.csv")
    assert answers.columns == ["id", "prediction", "lower", "upper"]
    bounds = pw.load(path).predict_interval(towns, 0.8)
    np.testing.assert_allclose(answers.select("lower", "upper").to_numpy(), bounds)
    described = run("describe", path).stdout
    assert "At least 9 of 10 held-out rows lie within ±" in described
    told = json.loads(run("describe", path, "--json").stdout)
    assert told["intervals"]["n_rows"] == 48 and told["intervals"]["max_coverage"] == pytest.approx(48 / 49)
    half = (lambda b: (b[:, 1] - b[:, 0]) / 2)(pw.load(path).predict_interval(towns, 0.9))
    assert half == pytest.approx(told["intervals"]["half_width"])


def test_intervals_that_cannot_be_are_refused_by_name(csv, run, towns, fitted):
    mistake(run("predict", fitted("tree"), csv, "--interval", "0.9"), "--interval: This model predicts classes")
    path = fitted("tree", "price")
    mistake(run("predict", path, csv, "--interval", "0.99"), "coverage=0.99 needs more held-out rows than the 48")
    mistake(run("predict", path, csv, "--interval", "90"), "--interval: coverage must be between 0 and 1")
    towns.with_columns(lower=1).write_csv("lower.csv")
    ask = ["predict", path, "lower.csv", "--keep", "lower", "--interval", "0.9"]
    mistake(run(*ask), "--keep 'lower': the predictions have a column of this name")
    old = pw.load(path)
    old.held_out_errors_ = None
    pw.save(old, "old.planewise")
    mistake(run("predict", "old.planewise", csv, "--interval", "0.9"), "its errors on held-out rows are not known")


def test_the_model_keeps_what_is_known_about_its_fit(csv, run, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    ask = ["fit", tmp_path / csv, "--target", "price", "--model", "tree", "--seed", "5", "--out", "m.planewise"]
    told = json.loads(run(*ask, "--json").stdout)
    record = pw.load("m.planewise").record_
    assert told["record"] == record
    assert record["quality"] == told["quality"]
    assert record["files"] == ["towns.csv"]  # no folder, which may be private
    assert (record["date"], record["planewise"], record["seed"]) == ("2023-11-14T22:13:20Z", pw.__version__, 5)
    assert record["rows"] == {"read": 240, "with_target": 240, "fitted": 192, "held_out": 48}
    assert record["split"] == {"kind": "random", "column": None, "share": 0.2}
    described = json.loads(run("describe", "m.planewise", "--json").stdout)
    assert described["record"] == record
    shown = run("describe", "m.planewise", "--html", "m.html").stdout
    for words in (
        "fitted   2023-11-14 22:13:20 UTC by planewise",
        "from towns.csv, seed 5",
        "rows     192 of 240 rows for training, 48 held out (at random)",
        "quality on 48 held-out rows, measured by fit",
        "ridge regression",
    ):
        assert words in shown, words
    page = Path("m.html").read_text(encoding="utf-8")
    assert "Quality on held-out rows, measured by fit" in page and "2023-11-14 22:13:20 UTC" in page


def test_the_model_keeps_how_its_table_was_written(run):
    rng = np.random.default_rng(0)
    days = [f"{k % 28 + 1:02}.{k % 12 + 1:02}.2024" for k in range(60)]
    numbers = [f"{a:.2f};{3 * a:.2f}".replace(".", ",") for a in rng.normal(5, 1, 60)]
    text = "\n".join(["tag;a;y", *map(";".join, zip(days, numbers, strict=True))])
    Path("german.csv").write_text(text, encoding="utf-8")
    done = run("fit", "german.csv", "--target", "y", "--model", "tree", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    reading = pw.load("m.planewise").record_["reading"]
    assert reading["date_formats"] == {"tag": "%d.%m.%Y"} and reading["decimals"] == {"a": ",", "y": ","}
    Path("later.csv").write_text("tag;a\n01.02.2024;5,00\n", encoding="utf-8")  # the day first, as the model remembers
    done = run("predict", "m.planewise", "later.csv", "--interval", "0.5")
    assert done.exit_code == 0 and done.stdout.startswith("prediction,lower,upper\n"), done.stderr


def test_a_date_that_is_none_is_refused(csv, run, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    done = run("fit", csv, "--target", "price", "--model", "tree", "--out", "m.planewise")
    mistake(done, "SOURCE_DATE_EPOCH must be a number of seconds since 1970; got 'yesterday'.")
    assert not Path("m.planewise").exists()


def test_a_model_without_a_record_is_described_as_before(towns, run):
    model = pw.table.TableModel("tree", random_state=0).fit(towns.drop("note"), "class")
    pw.save(model, "m.planewise")
    told = json.loads(run("describe", "m.planewise", "--json").stdout)
    assert told["record"] is None and told["intervals"] is None
    assert "fitted   " not in run("describe", "m.planewise").stdout
