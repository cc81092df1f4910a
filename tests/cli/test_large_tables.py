"""Tables in several files, and tables that would take too much of the memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_mistakes import mistake

from planewise import load
from planewise.cli import _large
from planewise.files import InputTable, _lines, _tables

NAMES = ["size", "town", "new", "rooms", "day"]


def homes(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    size, town = rng.normal(50, 10, n).round(2), rng.choice(["Bonn", "Köln", "Ulm"], n)
    new = rng.random(n) < 0.4
    price = size * 2 + 30 * (town == "Köln") + 15 * new + rng.normal(0, 4, n)
    return pl.DataFrame(
        {
            "size": [None if k % 13 == 0 else value for k, value in enumerate(size.tolist())],
            "town": town,
            "new": new,
            "rooms": rng.integers(1, 6, n),
            "day": pl.Series(np.arange(n) // 10).cast(pl.Int32).cast(pl.Date),
            "price": [None if k % 50 == 7 else value for k, value in enumerate(price.round(2).tolist())],
            "class": np.where(price > 120, "dear", "cheap"),
            "level": np.digitize(price, [100, 130]),
            "over": price > 120,
        }
    )


def write(table, folder, ending, n_files=3):
    Path(folder).mkdir()
    for number, rows in enumerate(np.array_split(np.arange(table.height), n_files)):
        part = table[rows.tolist()]
        path = Path(folder, f"{number}.{ending}")
        part.write_csv(path) if ending == "csv" else part.write_parquet(path)


def files(folder):
    return sorted(map(str, Path(folder).iterdir()))


@pytest.fixture
def little_memory(monkeypatch):
    """As if 100 kB were available; chunks and samples are small, so that there are several."""
    monkeypatch.setattr(_large, "available_memory", lambda: 100_000)
    monkeypatch.setattr(_large, "SAMPLE_ROWS", 1000)
    monkeypatch.setattr(_tables, "CHUNK_ROWS", 700)
    monkeypatch.setattr(_lines, "CHUNK_BYTES", 20_000)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_in_several_files_is_read_as_one(run, ending):
    table = homes(600)
    write(table, "homes", ending)
    Path("one").mkdir()
    write(table, "one/file", ending, n_files=1)
    options = ["--target", "class", "--model", "slm", "--drop", "price", "--drop", "level", "--drop", "over"]
    for name, paths in (("several", files("homes")), ("one", [f"one/file/0.{ending}"])):
        done = run("fit", *paths, *options, "--out", f"{name}.planewise")
        assert done.exit_code == 0, done.stderr
        done = run("predict", f"{name}.planewise", *paths, "--proba", "--out", f"{name}.csv")
        assert done.exit_code == 0, done.stderr
    assert Path("several.csv").read_text() == Path("one.csv").read_text()
    assert pl.read_csv("several.csv").height == 600
    assert run("explain", "several.planewise", *files("homes"), "--row", "450").exit_code == 0


def test_files_that_do_not_go_together(run):
    write(homes(30), "homes", "csv")
    Path("homes/3.csv").write_text("size,town\n1,Ulm\n")
    mistake(run("fit", *files("homes"), "--target", "class"), "has a column", "which 'homes/3.csv' does not have")
    Path("homes/3.csv").unlink()
    homes(30).write_parquet("homes/3.parquet")
    done = run("fit", *files("homes"), "--target", "class")
    mistake(done, "the command names files of different formats: Parquet and text")
    mistake(run("fit", "homes", "--target", "class"), "'homes' is a folder: name the files in it")
    mistake(run("fit", "nowhere", "--target", "class"), "there is no file 'nowhere'")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("family", ["slm", "forest", "boost"])
def test_a_large_table_is_read_from_a_file(run, little_memory, ending, family):
    write(homes(), "homes", ending)
    drop = [word for name in ("price", "level", "over") for word in ("--drop", name)]
    Path("rows").mkdir()
    settings = [] if family == "slm" else ["--set", "n_estimators=10"]
    done = run(
        "fit", *files("homes"), "--target", "class", "--model", family, *settings, *drop, "--folder", "rows",
        "--out", "m.planewise", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "more than a quarter of the 0.0001 GB of memory available" in answer["out_of_core"]["why"]
    assert answer["out_of_core"]["n_rows_in_sample"] == 1000
    rows = answer["rows"]
    assert (rows["read"], rows["with_target"], rows["fitted"], rows["held_out"]) == (3000, 3000, 2800, 200)
    assert answer["quality"]["model"]["accuracy"]["value"] > 0.85
    model = load("m.planewise")
    assert model.feature_names_in_.tolist() == NAMES
    trees = model.estimator_.tree_ if family == "slm" else model.estimator_.forest_
    assert trees.n_samples[0] == 2800
    assert not any(Path("rows").iterdir())


def test_a_model_of_a_large_table_keeps_its_record_and_its_intervals(run, little_memory):
    table = homes()
    write(table, "homes", "csv")
    done = run("fit", *files("homes"), "--target", "price", "--model", "boost", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    model = load("m.planewise")
    assert model.record_["files"] == ["0.csv", "1.csv", "2.csv"]
    rows = model.record_["rows"]
    assert rows["held_out"] == 200 == model.held_out_errors_.n_rows
    assert rows["fitted"] + rows["held_out"] == rows["with_target"] <= rows["read"] == 3000
    assert "0.csv, 1.csv, 2.csv" in run("describe", "m.planewise").stdout


def test_a_large_table_gives_the_model_of_its_training_rows(run, little_memory, monkeypatch):
    """The same as in memory, where the same rows are left out."""
    from planewise.table import TableModel

    table = homes()
    table.write_parquet("homes.parquet")
    seen = {}

    def observe(model, path, sample, left_out, target, folder):
        seen.update(left_out=left_out)
        fit(model, path, sample, left_out, target, folder)

    fit = _large.fit_from_files
    monkeypatch.setattr(_large, "fit_from_files", observe)
    options = ["--target", "price", "--model", "boost", "--set", "n_estimators=10", "--out", "m.planewise"]
    done = run("fit", "homes.parquet", *options, "--drop", "class", "--drop", "level", "--drop", "over")
    assert done.exit_code == 0, done.stderr
    assert "memory   the table would take about" in done.stdout and "a sample of 1000 rows tells what" in done.stdout
    assert "60 left out because the target is missing" in done.stdout
    left = np.setdiff1d(np.arange(3000), seen["left_out"])
    train = table.select(*NAMES, "price")[left.tolist()]
    expected = TableModel("boost", settings={"n_estimators": 10}, random_state=0).fit(train, "price")
    assert np.array_equal(load("m.planewise").predict(table), expected.predict(table))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(("target", "classes"), [("level", [0, 1, 2]), ("over", [False, True])])
def test_classes_of_a_large_table_keep_their_type(run, little_memory, ending, target, classes):
    write(homes().select(*NAMES, target), "homes", ending)
    done = run("fit", *files("homes"), "--target", target, "--model", "slm", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    assert load("m.planewise").classes_.tolist() == classes
    assert type(load("m.planewise").classes_.tolist()[0]) is type(classes[0])


def test_models_that_keep_their_rows_are_refused_by_name(run, little_memory):
    write(homes(), "homes", "parquet")
    for family in ("mcm", "views", "recip"):
        done = run("fit", *files("homes"), "--target", "class", "--model", family)
        mistake(done, f"--model {family} needs all rows in memory, but the table would take about")
    mistake(run("fit", *files("homes"), "--target", "class", "--folder", "none"), "--folder: there is no folder 'none'")


def test_auto_compares_trees_alone(run, little_memory):
    write(homes(800), "homes", "parquet")
    done = run("fit", *files("homes"), "--target", "class", "--drop", "price", "--json")
    assert done.exit_code == 0, done.stderr
    assert {trial["model"] for trial in json.loads(done.stdout)["compared"]} == {"slm", "forest", "boost"}


def test_explainable_is_one_tree_where_rows_do_not_fit_in_memory(run, little_memory):
    write(homes(800), "homes", "parquet")
    done = run("fit", *files("homes"), "--target", "class", "--drop", "price", "--model", "explainable", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["model"] == "slm" and [trial["model"] for trial in answer["compared"]] == ["slm"]
    assert "no other such model can be fitted on a table of this size" in answer["why"]


def test_every_row_with_a_target_is_equally_likely_to_be_in_the_sample(little_memory, monkeypatch):
    monkeypatch.setattr(_large, "SAMPLE_ROWS", 50)
    table = homes(1000)
    table.write_csv("homes.csv")
    counts = np.zeros(1000)
    for seed in range(60):
        found = _large.draw_sample(InputTable(["homes.csv"]), "price", seed)
        assert found.rows.height == 50
        assert found.rows.equals(table[found.numbers.tolist()])
        counts[found.numbers] += 1
    missing = table["price"].is_null().to_numpy()
    assert counts[missing].sum() == 0
    thirds = [counts[~missing][rows].mean() for rows in np.array_split(np.arange((~missing).sum()), 3)]
    assert np.allclose(thirds, 60 * 50 / (~missing).sum(), atol=0.5)
