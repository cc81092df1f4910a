"""Requests that are wrong, by mistake or on purpose: an error that names the place, never a 500."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planewise.serve import Limits, create_app
from planewise.serve._limits import Rate, client_of
from planewise.serve._scoring import Scorer

TOKEN = "a-token-of-at-least-16"


@pytest.mark.parametrize(
    ("changed", "message", "column"),
    [
        ({"size": "50"}, 'needs a number or null; got text, "50".', "size"),
        ({"size": [1]}, "needs a number or null; got a list.", "size"),
        ({"size": 10**400}, "the number is too large.", "size"),
        ({"town": 5}, "needs text or null; got a number, 5.", "town"),
        ({"town": "\ud800"}, 'needs text or null; got text, "\\ud800".', "town"),
        ({"new": "maybe"}, 'needs true, false or null; got text, "maybe".', "new"),
        ({"new": 2}, "needs true, false or null; got a number, 2.", "new"),
        ({"sold": "3.2.2021"}, 'needs a date such as "2024-03-09" or null; got text, "3.2.2021".', "sold"),
        ({"sold": "2021-02-30"}, 'got text, "2021-02-30".', "sold"),
        ({"sold": 20210203}, "got a number, 20210203.", "sold"),
    ],
)
def test_a_wrong_value_is_named_with_its_row_and_column(changed, message, column, refused):
    status, words, row, where = refused(**changed)
    assert (status, row, where) == (422, 1, column)
    assert words.startswith(f"row 1, column {column!r}: ") and words.endswith(message)


def test_columns_that_are_missing_or_unknown_are_named(refused, row):
    del (short := dict(row))["town"]
    assert refused({"rows": [row, short]}) == (
        422, "row 1: the column 'town' is missing; give null for a missing value.", 1, "town",
    )  # fmt: skip
    assert refused(siez=5) == (422, "row 1: the model has no column \"siez\"; did you mean 'size'?", 1, "siez")
    assert refused(**{"x" * 99: 5})[3] == "x" * 59 + "…"
    assert refused(**{"\ud800": 5})[3] == "\ud800"
    assert refused(zzzzz=5)[1] == 'row 1: the model has no column "zzzzz"; GET /model lists the columns.'


def test_columns_of_different_lengths(refused, row):
    columns = {name: [value] for name, value in row.items()}
    assert refused({"columns": columns | {"new": [True, False]}})[1] == (
        "column 'new' has 2 values, but column 'size' has 1."
    )
    assert refused({"columns": columns | {"town": "Ulm"}})[1] == "column 'town': needs a list; got text, \"Ulm\"."
    assert refused({"columns": {}})[1] == "the column 'size' is missing; give null for a missing value."


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "the body is not JSON: Expecting value: line 1 column 1 (char 0)."),
        (b'{"rows": [{"size": NaN}]}', 400, "NaN is not JSON; write null for a missing value."),
        (b'{"rows": [{"size": -Infinity}]}', 400, "-Infinity is not JSON"),
        (b'{"rows": [], "rows": []}', 400, 'the name "rows" is there twice in one object.'),
        (b'\xff\xfe{\x00}\x00', 400, "the body is not UTF-8: byte 0 is wrong."),
        (b"[" * 100_000, 400, "the JSON is nested too deeply."),
        (b'{"rows": [' + b'{"size":' * 50_000, 400, "the JSON is nested too deeply."),
        (b'{"rows": [{"size": ' + b"9" * 5000 + b"}]}", 400, "the body cannot be read: "),
        (b'{"rows": [], "x": 1}', 422, 'there is no field "x"; the fields are rows, columns, '),
        (b'{"rows": [], "columns": {}}', 422, 'give either "rows" or "columns".'),
        (b"{}", 422, 'give either "rows" or "columns".'),
        (b"[]", 422, 'the body must be an object such as {"rows": [...]}; got a list.'),
        (b'{"rows": []}', 422, "there are no rows."),
        (b'{"rows": {}}', 422, '"rows" must be a list of objects, one per row; got an object.'),
        (b'{"rows": [3]}', 422, 'row 0: must be an object such as {"name": value}; got a number, 3.'),
        (b'{"columns": []}', 422, '"columns" must be an object with one list per column; got a list.'),
        (b'{"rows": [], "reasons": 1}', 422, "there are no rows."),
    ],
)  # fmt: skip
def test_a_wrong_body(body, status, message, ask):
    done = ask(body)
    assert done.status_code == status and message in done.json()["error"]


def test_a_number_that_is_too_large_when_read(refused):
    assert refused(b'{"rows": [{"size": 1e999, "town": null, "new": null, "sold": null}]}')[:2] == (
        422, "row 0, column 'size': the number is too large.",
    )  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from(["size", "town", "new", "sold", "id", "class", "other"])
ROW = st.dictionaries(NAMES, JSON, max_size=7) | st.fixed_dictionaries(
    {
        "size": st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        "town": st.none() | st.text(),
        "new": st.none() | st.booleans() | JSON,
        "sold": st.none() | st.dates().map(str) | st.datetimes().map(lambda at: at.isoformat()) | st.text(max_size=20),
    }
)
BODY = st.fixed_dictionaries(
    {},
    optional={
        "rows": st.lists(ROW, max_size=3) | JSON,
        "columns": st.dictionaries(NAMES, st.lists(JSON, max_size=3) | JSON, max_size=5) | JSON,
        "probabilities": st.booleans() | JSON,
        "reasons": st.booleans() | JSON,
        "interval": JSON,
    },
)


@pytest.fixture(scope="module")
def clients(models, service):
    """A service for every way of reading: trees, machines, numbers."""
    wanted = [("slm", "class"), ("mcm", "class"), ("boost", "price")]
    return [service(models(*each), limits=Limits(rate=0)) for each in wanted]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODY | JSON | st.binary(max_size=30))
def test_no_body_makes_the_service_fail(body, clients):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    for client in clients:
        done = client.post("/predict", content=text, headers={"content-type": "application/json"})
        assert done.status_code in (200, 400, 422), done.text
        assert ("error" in done.json()) == (done.status_code != 200)


def test_only_json_is_read(client):
    client = client()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/jsonx"):
        assert client.post("/predict", content=b"{}", headers={"content-type": kind}).status_code == 415
    assert client.post("/predict", content=b"{}").status_code == 415
    done = client.post("/predict", content=b"{}", headers={"content-type": "Application/JSON; charset=utf-8"})
    assert done.status_code == 422


def test_wrong_methods_and_paths(client):
    client = client()
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "BREW"):
        done = client.request(method, "/predict")
        assert done.status_code == 405 and done.headers["allow"] == "POST"
    for path in ("/nowhere", "/docs/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/predict/", "//predict", "/%00"):
        done = client.get(path, follow_redirects=False)
        assert done.status_code in (307, 404, 405), path
    assert client.get("/x" * 5000).status_code == 414


def test_limits_of_size(ask, row):
    done = ask({"rows": [row] * 4}, max_rows=3)
    assert (done.status_code, done.json()) == (413, {"error": "4 rows are too many; a request may have up to 3."})
    done = ask({"columns": {name: [value] * 4 for name, value in row.items()}}, max_rows=3)
    assert done.status_code == 413
    done = ask({"rows": [row] * 4}, max_bytes=100)
    assert done.status_code == 413 and done.json()["error"].endswith("a request may have up to 100 bytes.")


def test_a_body_without_a_length_is_limited_too(client):
    client = client(limits=Limits(max_bytes=1000))

    async def parts():
        for _ in range(3):
            yield b" " * 600

    done = client.post("/predict", content=parts(), headers={"content-type": "application/json"})
    assert done.status_code == 413


def test_each_client_has_a_rate(client, row, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("planewise.serve._limits.time.monotonic", lambda: now[0])
    client = client(limits=Limits(rate=2))
    assert [client.get("/health").status_code for _ in range(3)] == [200, 200, 429]
    done = client.post("/predict", json={"rows": [row]})
    assert done.status_code == 429 and done.headers["retry-after"] == "1"
    now[0] += 0.5
    assert [client.get("/health").status_code for _ in range(2)] == [200, 429]


def test_the_rates_of_clients_take_little_memory(monkeypatch):
    monkeypatch.setattr("planewise.serve._limits.MAX_CLIENTS", 5)
    rate = Rate(1)
    for number in range(100):
        assert rate.wait(str(number)) == 0
    assert len(rate._buckets) == 5 and rate.wait("99") > 0
    assert Rate(0).wait("x") == Rate(0).wait("x") == 0


def test_an_ipv6_network_is_one_client():
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff") != client_of("2001:db8:0:1::1")
    assert client_of("::ffff:10.0.0.1") == client_of("10.0.0.1") == "10.0.0.1"


def test_a_token_is_needed_everywhere_but_for_health(client, row):
    client = client(token=TOKEN)
    assert client.get("/health").status_code == client.get("/ready").status_code == 200
    for path in ("/predict", "/model", "/metrics", "/docs", "/openapi.json", "/nowhere"):
        done = client.get(path)
        assert done.status_code == 401 and done.headers["www-authenticate"] == "Bearer"
    for wrong in ("Bearer x", TOKEN, f"Basic {TOKEN}", f"bearer{TOKEN}", "Bearer \xff"):
        headers = {"authorization": wrong.encode("latin-1")}
        assert client.post("/predict", json={"rows": [row]}, headers=headers).status_code == 401
    done = client.post("/predict", json={"rows": [row]}, headers={"authorization": f"Bearer {TOKEN}"})
    assert done.status_code == 200
    document = client.get("/openapi.json", headers={"authorization": f"Bearer {TOKEN}"}).json()
    assert document["security"] == [{"token": []}] and document["paths"]["/health"]["get"]["security"] == []


@pytest.mark.parametrize("token", ["short", "x" * 201, "ä" * 20, "a token\nof two lines"])
def test_a_poor_token_is_refused(token, client):
    with pytest.raises(ValueError, match="token must consist of 16 to 200 ASCII characters"):
        client(token=token)


def test_other_host_names_are_refused(client):
    client = client(hosts=["127.0.0.1", "[::1]"])
    for host, status in (("127.0.0.1:8000", 200), ("[::1]:8000", 200), ("evil.example", 421), ("", 421)):
        assert client.get("/health", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("name", "value"), [("max_rows", 0), ("rate", -1), ("seconds", float("nan")), ("threads", 0), ("waiting", True)]
)
def test_a_wrong_limit_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a number of at least"):
        Limits(**{name: value})


class Slow:
    """Lets predictions wait until they are released."""

    def __init__(self, monkeypatch):
        self.begun, self.release = threading.Semaphore(0), threading.Event()
        inner = Scorer.answer

        def answer(scorer, question):
            self.begun.release()
            assert self.release.wait(60)
            return inner(scorer, question)

        monkeypatch.setattr(Scorer, "answer", answer)
        monkeypatch.setattr("planewise.serve._predict.AT_ONCE_BYTES", 0)


def test_what_takes_too_long_is_given_up_and_keeps_its_place(client, row, monkeypatch):
    client = client(limits=Limits(seconds=0.05, threads=1, waiting=0))
    slow = Slow(monkeypatch)
    done = client.post("/predict", json={"rows": [row]})
    assert done.status_code == 503 and "took more than 0.05 seconds" in done.json()["error"]
    done = client.post("/predict", json={"rows": [row]})
    assert done.status_code == 503 and "too many requests are waiting" in done.json()["error"]
    assert done.headers["retry-after"] == "1" and client.get("/ready").status_code == 503
    assert client.get("/health").status_code == 200
    slow.release.set()
    while client.get("/ready").status_code == 503:
        time.sleep(0.01)
    assert client.get("/ready").status_code == 200


def test_a_full_queue_refuses_at_once_and_the_rest_is_answered(client, row, monkeypatch):
    client = client(limits=Limits(seconds=60, threads=1, waiting=1))
    slow, statuses = Slow(monkeypatch), []

    def post():
        statuses.append(client.post("/predict", json={"rows": [row]}).status_code)

    threads = [threading.Thread(target=post) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(statuses) < 2:  # one runs, one waits, the others are refused
        time.sleep(0.01)
    assert statuses == [503, 503]
    slow.release.set()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 200, 503, 503]


def test_a_body_that_never_ends_is_given_up(models):
    app = create_app(models(), limits=Limits(seconds=0.05))
    sent = []

    async def receive():
        if not sent:
            await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/predict", "query_string": b"", "headers": headers}
    asyncio.run(app(scope | {"raw_path": b"/predict", "root_path": ""}, receive, send))
    assert sent[0]["status"] == 408


def test_an_error_of_ours_tells_strangers_nothing(client, row, monkeypatch, caplog):
    client = client()
    monkeypatch.setattr(Scorer, "answer", lambda *_: 1 / 0)
    done = client.post("/predict", json={"rows": [row]})
    assert done.status_code == 500 and "ZeroDivision" not in done.text
    assert "ZeroDivisionError" in caplog.text
