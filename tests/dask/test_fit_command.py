"""planewise fit --dask."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client, LocalCluster
from typer.testing import CliRunner

import planewise
from planewise.cli._app import app


@pytest.fixture(scope="module")
def address():
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(protocol="tcp", **options) as cluster, Client(cluster, set_as_default=False):
        yield cluster.scheduler_address


@pytest.fixture
def files(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = table[0].assign(
        kind=table[0]["kind"].astype(str), day=pd.Timestamp("2024-03-09"), new=table[0]["a"] > 0, target=table[1]
    )
    whole.loc[3, "target"] = None
    whole.to_csv("t.csv", index=False)
    (tmp_path / "parts").mkdir()
    for k in range(3):
        whole[200 * k : 200 * (k + 1)].to_parquet(f"parts/{k}.parquet")
    return whole


def run(*words):
    return CliRunner().invoke(app, ["fit", *words])


@pytest.mark.parametrize("path", ["parts", "parts/0.parquet", "t.csv"])
@pytest.mark.parametrize("family", ["boost", "forest"])
def test_a_cluster_fits_a_model_file(files, address, path, family):
    done = run(path, "--target", "target", "--dask", address, "--model", family, "--out", "m", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["task"] == "classification" and found["classes"] == ["no", "yes"] and found["quality"] is None
    model = planewise.load("m")
    day = next(column for column in model.columns_ if column.name == "day")
    assert (day.kind, day.usual, day.clock) == ("date", 19791.0, None)  # 2024-03-09
    known = files.dropna(subset="target")
    assert np.mean(model.predict(known) == known["target"]) > 0.9


def test_numbers_and_settings(files, address):
    words = ["--set", "n_estimators=5", "--drop", "day", "--task", "regression"]
    done = run("parts", "--target", "a", "--dask", address, "--model", "boost", "--out", "m", *words)
    assert done.exit_code == 0, done.output
    assert "quality  not measured" in done.stdout
    model = planewise.load("m")
    assert model.task_ == "regression" and model.estimator_.n_iter_ == 5 and "day" not in model.feature_names_in_


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["t.csv", "--target", "target"], "--dask needs one kind of model: choose it with --model slm, forest, boost"),
        (
            ["t.csv", "--target", "target", "--model", "mcm"],
            "--dask cannot fit --model mcm: choose --model slm, forest",
        ),
        (["t.csv", "--target", "target", "--model", "views"], "--dask cannot fit --model views: choose --model slm"),
        (["t.csv", "--target", "target", "--model", "explainable"], "--dask needs one kind of model"),
        (["t.csv", "--target", "nothing", "--model", "slm"], "The table has no column 'nothing'"),
        (["t.arrow", "--target", "target", "--model", "slm"], "--dask reads CSV and Parquet files, or a folder of"),
        (["t.csv", "--target", "a", "--model", "recip", "--task", "regression"], "'recip' predicts classes only"),
        (["t.csv", "--target", "target", "--model", "slm", "--set", "max_depth=2"], "--set with --dask needs --task"),
        (["t.csv", "--target", "target", "--drop", "target", "--model", "slm"], "is the target; it cannot be dropped"),
    ],
)
def test_what_does_not_work_is_refused_by_name(files, address, words, told):
    done = run(*words, "--dask", address)
    assert done.exit_code == 2 and told in " ".join(done.stderr.split())


def test_an_address_without_a_scheduler(files, monkeypatch):
    def nobody(*_, **__):
        raise OSError("timed out")

    monkeypatch.setattr("dask.distributed.Client", nobody)
    done = run("t.csv", "--target", "target", "--model", "slm", "--dask", "nowhere:8786")
    assert done.exit_code == 2 and "there is no scheduler at 'nowhere:8786': timed out" in done.stderr
