"""examples/serve.py, as a process that is asked over HTTP."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import planewise
from clean_shell import clean_environment
from planewise.table import TableModel

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "serve.py"


@pytest.fixture(scope="module")
def model():
    """A model with a column of each kind, one with gaps, and names that Python and pydantic use otherwise."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, 200)
    town = rng.choice(["Ulm", "Bonn", None], 200)
    table = {
        "age in years": age,
        "class": town,
        "model_config": rng.random(200) < 0.3,
        "admitted": [date(2024, 1, 1) + timedelta(days=k % 300) for k in range(200)],
        "diagnosis": np.where(age + 20 * (town == "Bonn") > 65, "malignant", "benign"),
    }
    return TableModel("tree", random_state=0).fit(pl.DataFrame(table), "diagnosis")


@pytest.fixture(scope="module")
def client(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "m.planewise"
    planewise.save(model, path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(SCRIPT), str(path), "--port", str(port)]
    with (
        subprocess.Popen(command, env=clean_environment(), stdout=subprocess.DEVNULL) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        try:
            wait_until_it_listens(process, client)
            yield client
        finally:
            process.terminate()


def wait_until_it_listens(process, client):
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        try:
            assert client.get("/health").json() == {"status": "ok"}
            return
        except httpx.ConnectError:
            time.sleep(0.1)
    raise AssertionError("the service does not listen")


ROWS = [
    {"age in years": 41, "class": "Ulm", "model_config": False, "admitted": "2024-03-09"},
    {"age in years": 80.5, "class": "a new town", "model_config": True, "admitted": "2024-03-09T12:00:00"},
    {"age in years": None, "class": None, "model_config": None, "admitted": None},
]


def test_answers_are_those_of_the_model(client, model):
    answered = client.post("/predict", json=ROWS)
    assert answered.status_code == 200
    found = answered.json()
    assert [each["prediction"] for each in found] == model.predict(pl.DataFrame(ROWS)).tolist()
    shares = model.predict_proba(pl.DataFrame(ROWS)).tolist()
    assert [each["probabilities"] for each in found] == [dict(zip(model.classes_, row, strict=True)) for row in shares]


@pytest.mark.parametrize(
    ("name", "value"),
    [("age in years", "old"), ("class", 3), ("model_config", "perhaps"), ("admitted", "yesterday")],
)
def test_a_wrong_value_names_its_column(client, name, value):
    answered = client.post("/predict", json=[ROWS[0], ROWS[0] | {name: value}])
    assert answered.status_code == 422
    assert name in answered.text


def test_a_column_that_is_not_there_is_named(client):
    row = {name: value for name, value in ROWS[0].items() if name != "class"}
    answered = client.post("/predict", json=[row])
    assert answered.status_code == 422
    assert answered.json()["detail"][0]["loc"] == ["body", 0, "class"]
