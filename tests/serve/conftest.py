from __future__ import annotations

import asyncio
import json
import threading

import httpx
import numpy as np
import polars as pl
import pytest

from planewise.serve import Limits, create_app
from planewise.table import TableModel

N_ROWS = 200


class Client:
    """Asks an application without a server in between; from several threads, if they like."""

    _loop = asyncio.new_event_loop()
    threading.Thread(target=_loop.run_forever, daemon=True).start()

    def __init__(self, app):
        self._http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000")

    def request(self, *args, **options):
        return asyncio.run_coroutine_threadsafe(self._http.request(*args, **options), self._loop).result(60)

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)


@pytest.fixture(scope="session")
def service():
    """A function that makes a client of a service of any model."""
    return lambda model, **options: Client(create_app(model, **options))


@pytest.fixture
def client(models):
    """A function that makes a client of a service of its own."""

    def make(family="slm", target="class", limits=None, **options):
        return Client(create_app(models(family, target), limits=limits, **options))

    return make


@pytest.fixture(scope="session")
def houses():
    """Numbers with gaps, words, booleans, dates, an identifier, and targets of both kinds."""
    rng = np.random.default_rng(0)
    size, town, new = (
        rng.normal(50, 10, N_ROWS).round(2),
        rng.choice(["Bonn", "Köln", "Ulm"], N_ROWS),
        rng.random(N_ROWS) < 0.4,
    )
    days = np.array("2020-01-01", dtype="M8[D]") + rng.integers(0, 900, N_ROWS)
    price = 2 * size + 30 * (town == "Köln") + 15 * new + rng.normal(0, 4, N_ROWS)
    return pl.DataFrame(
        {
            "id": np.arange(N_ROWS),
            "size": [None if k % 13 == 0 else value for k, value in enumerate(size.tolist())],
            "town": [None if k % 29 == 0 else value for k, value in enumerate(town.tolist())],
            "new": new,
            "sold": days,
            "price": price.round(2),
            "class": np.where(price > 120, "dear", "cheap"),
        }
    )


@pytest.fixture(scope="session")
def models(houses):
    """A function that fits a model of a family, once."""
    fitted = {}

    def fit(family="slm", target="class"):
        if (family, target) not in fitted:
            table = houses.drop("price" if target == "class" else "class")
            fitted[family, target] = TableModel(family, random_state=0).fit(table, target)
        return fitted[family, target]

    return fit


@pytest.fixture
def ask(models):
    """A function that posts a body to /predict of a new service; the result has ``status_code`` and ``json()``."""

    def post(body, family="slm", target="class", **limits):
        client = Client(create_app(models(family, target), limits=Limits(**limits)))
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return client.post("/predict", content=content, headers={"content-type": "application/json"})

    return post


@pytest.fixture
def row():
    """Values that the model accepts."""
    return {"size": 50.5, "town": "Ulm", "new": True, "sold": "2021-02-03"}


@pytest.fixture
def refused(ask, row):
    """A function that posts one row with changed values, and returns the error's status, message, row and column."""

    def post(_body=None, **changed):
        body = {"rows": [row, row | changed]} if _body is None else _body
        done = ask(body)
        answer = done.json()
        return done.status_code, answer["error"], answer.get("row"), answer.get("column")

    return post
