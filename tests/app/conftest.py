from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from reviewing import TOKEN, Person, make_table, serving

from planewise.app import create_app
from planewise.table import TableModel


@pytest.fixture(scope="session")
def table():
    return make_table()


@pytest.fixture(scope="session")
def models(table):
    """Models of every family, each fitted when it is first asked for."""
    known = {}
    settings = {
        "slm": {"max_depth": 3},
        "forest": {"n_estimators": 5},
        "boost": {"n_estimators": 10},
        "mcm": {"Cs": [10.0], "gammas": [0.1], "mus": [1.0], "cv": 2},
        "views": {"n_estimators": 20, "cv": 2, "max_views": 4},
        "recip": {"k": 7},
    }

    def of(family, target="class"):
        if (family, target) not in known:
            rows = table.drop("key", "price" if target == "class" else "class")
            known[family, target] = TableModel(family, settings=settings[family], random_state=0).fit(rows, target)
        return known[family, target]

    return of


@pytest.fixture
def make_app(models, table, tmp_path):
    """A function that makes an application; all are closed at the end."""
    made = []

    def make(family="slm", target="class", *, cases=None, answers="answers.jsonl", **more):
        more = {"who": "Ada", "token": TOKEN, "id_column": "key"} | more
        rows = table.drop("price", "class") if cases is None else cases
        app = create_app(models(family, target), rows, answers=tmp_path / answers, **more)
        made.append(app)
        return app

    yield make
    for app in made:
        app.state.review.close()
        app.state.ahead.close()


@pytest.fixture
def serve():
    """A function that serves an application until the test ends."""
    with ExitStack() as running:
        yield lambda app: running.enter_context(serving(app))


@pytest.fixture
def person(make_app, serve):
    """A function that opens a review; it has the application as ``app``."""
    people = []

    def visit(*args, **kwargs):
        app = make_app(*args, **kwargs)
        one = Person(serve(app), app.state.token)
        one.app, one.review = app, app.state.review
        people.append(one)
        return one

    yield visit
    for one in people:
        one.http.close()


@pytest.fixture
def lines(tmp_path):
    """A function that reads the records of the file of answers."""
    import json

    def read(name="answers.jsonl"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.endswith("\n")
        return [SimpleNamespace(**json.loads(line)) for line in text.splitlines()[1:]]

    return read


@pytest.fixture
def answers_path(tmp_path) -> Path:
    return tmp_path / "answers.jsonl"
