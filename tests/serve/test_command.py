"""planewise serve in a process of its own: the same answers as planewise predict, bad connections, and its end."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from clean_shell import clean_environment, run_python
from planewise import save
from planewise.cli._app import app
from planewise.serve import Limits, create_app
from planewise.serve.server import server_config

TOKEN = "a-token-of-at-least-16"
MAIN = "from planewise.cli import main; main()"
needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch, models):
    monkeypatch.chdir(tmp_path)
    save(models("boost"), "m.planewise")


@contextmanager
def serving(*args, before="", **variables):
    """The command on a free port; yields the process and a client."""
    call = [sys.executable, "-c", before + MAIN, "serve", "m.planewise", "--port", "0", *args]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": clean_environment(**variables)}
    with subprocess.Popen(call, **how) as process:
        try:
            line = process.stdout.readline()
            port = re.search(r"http://[\w.-]+:(\d+)/predict", line)
            assert port, line + process.stderr.read()
            with httpx.Client(base_url=f"http://127.0.0.1:{port.group(1)}", trust_env=False, timeout=60) as client:
                yield process, client
        finally:
            process.kill()


@needs_posix
def test_the_same_file_the_same_answers_as_predict(houses):
    houses.write_csv("houses.csv")
    with serving() as (process, client):
        printed = run_python("-c", MAIN, "predict", "m.planewise", "houses.csv", "--proba").stdout
        rows = [
            {"size": size, "town": town, "new": new, "sold": str(sold)}
            for size, town, new, sold in houses.select("size", "town", "new", "sold").iter_rows()
        ]
        answers = client.post("/predict", json={"rows": rows}).json()["answers"]
        process.send_signal(signal.SIGTERM)
        said, wrong = process.communicate(timeout=60)
    wanted = list(csv.DictReader(io.StringIO(printed)))
    assert [each["prediction"] for each in answers] == [each["prediction"] for each in wanted]
    for label in ("cheap", "dear"):
        assert [each["probability"][label] for each in answers] == [float(each[f"p({label})"]) for each in wanted]
    assert process.returncode == 143 and said.endswith("stopped\n") and wrong == ""


@needs_posix
def test_ctrl_c_lets_running_requests_end(row):
    slowly = """
import time
from planewise.serve._scoring import Scorer
inner = Scorer.answer
def answer(scorer, question):
    if question.reasons:
        print("begun", flush=True)
        time.sleep(1)
    return inner(scorer, question)
Scorer.answer = answer
"""
    found = []
    with serving(before=slowly) as (process, client):
        ask = threading.Thread(
            target=lambda: found.append(client.post("/predict", json={"rows": [row], "reasons": True}).status_code)
        )
        ask.start()
        while process.stdout.readline() != "begun\n":
            pass
        process.send_signal(signal.SIGINT)
        ask.join()
        said, wrong = process.communicate(timeout=60)
    assert found == [200] and process.returncode == 0 and said.endswith("stopped\n") and wrong == ""


@needs_posix
def test_the_token_of_the_environment_and_the_options(row):
    with serving("--max-rows", "2", "--rate", "0", PLANEWISE_SERVE_TOKEN=TOKEN) as (_, client):
        assert client.get("/model").status_code == 401 and client.get("/health").status_code == 200
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert client.post("/predict", json={"rows": [row] * 3}, headers=headers).status_code == 413
        assert client.post("/predict", json={"rows": [row] * 2}, headers=headers).status_code == 200


def refused(*args):
    done = CliRunner().invoke(app, ["serve", *args])
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    return done.stderr


def test_other_machines_need_a_token(monkeypatch):
    monkeypatch.delenv("PLANEWISE_SERVE_TOKEN", raising=False)
    words = refused("m.planewise", "--host", "0.0.0.0")
    assert words.startswith(
        "planewise: --host 0.0.0.0 lets other machines in, so it needs a token: set PLANEWISE_SERVE_"
    )
    assert "--token and --no-token exclude each other" in refused("m.planewise", "--token", TOKEN, "--no-token")
    assert "token must consist of 16 to 200" in refused("m.planewise", "--token", "short")
    assert "there is no file 'nowhere'" in refused("nowhere")
    Path("text").write_text("no model")
    assert "is not a model file" in refused("text")


def test_a_port_that_is_taken_is_told_in_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run_python("-c", MAIN, "serve", "m.planewise", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "choose another with --port" in done.stderr


@pytest.fixture
def live(models):
    """A function that serves from this process, and returns the port."""
    import uvicorn

    running = []

    def serve(limits=None, **attributes):
        config = server_config(create_app(models(), limits=limits), "127.0.0.1", 0, 5)
        for name, value in attributes.items():
            setattr(config.http, name, value)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        return server.servers[0].sockets[0].getsockname()[1]

    yield serve
    for server, thread in running:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def received(port, *parts):
    """What comes back for these bytes, until the connection is closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        found = b""
        try:
            for part in parts:
                link.sendall(part)
            while more := link.recv(65_536):
                found += more
        except ConnectionError:
            pass
        return found


HEAD = b"POST /predict HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"


def test_a_client_that_never_ends_its_headers_is_cut_off(live):
    assert received(live(header_seconds=0.2), b"POST /predict HTTP/1.1\r\nhost: x\r\n") == b""


def test_a_flood_of_headers_is_cut_off(live):
    port = live(max_header_bytes=20_000)
    found = received(port, b"GET /health HTTP/1.1\r\n", *(b"x-%d: %s\r\n" % (k, b"y" * 990) for k in range(1000)))
    assert not found.startswith(b"HTTP/1.1 200")
    assert received(port, b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_a_body_in_chunks_and_one_that_stops(live, row):
    port = live(Limits(seconds=0.3, max_bytes=500))
    body = json.dumps({"rows": [row]}).encode()
    chunked = HEAD + b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    found = received(port, chunked, *(b"1\r\n%c\r\n" % each for each in body), b"0\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 200")
    found = received(port, chunked, *(b"64\r\n%s\r\n" % (b" " * 100) for _ in range(6)), b"0\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 413")
    assert received(port, HEAD + b"content-length: 100\r\n\r\n{").startswith(b"HTTP/1.1 408")
    assert received(port, HEAD + b"content-length: 1000000\r\n\r\n{").startswith(b"HTTP/1.1 413")


def test_too_many_connections_are_cut_off(live):
    port = live(max_connections=3)
    links = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(3)]
    time.sleep(0.1)
    assert received(port, b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n") == b""
    for link in links:
        link.close()


@pytest.mark.parametrize(
    "junk", [b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 50_000, b"\x00" * 1000]
)
def test_what_is_not_http_is_refused_and_the_next_is_answered(live, junk):
    port = live(header_seconds=0.5)
    assert not received(port, junk).startswith(b"HTTP/1.1 200")
    assert received(port, b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_the_second_part_of_an_answer_does_not_wait_for_the_client(models):
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as link:
        server = uvicorn.Server(server_config(create_app(models()), "127.0.0.1", 0, 5))
        thread = threading.Thread(target=server.run, args=([link],), daemon=True)
        thread.start()
        with socket.create_connection(link.getsockname(), timeout=30):
            while not server.server_state.connections:
                time.sleep(0.005)
            (connection,) = server.server_state.connections
            accepted = connection.transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
