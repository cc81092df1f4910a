"""Send hostile requests to planewise review: what schemathesis makes from its forms, and raw bytes of our own.

    python tools/hostile_review.py [--examples 200] [--minutes 3] [--seed 0]

Fits models of classes and of numbers, opens a review of each, and fails if

- a request gets a 5xx, or no answer at all and the review is gone;
- a request without the cookie, the path, the host, the origin or the key of forms gets anything but a refusal;
- a refused request changes the file of answers, or one that is accepted leaves a file that cannot be read again.

Pages have no OpenAPI document, so the one of their forms is written here. ``make fuzz-review`` installs schemathesis
and calls this.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from hostile_requests import write_models

TOKEN = "a-token-of-the-hostile-requests"
FORM = "application/x-www-form-urlencoded"
PUBLIC: tuple[str, ...] = ()  # addresses that anybody may ask for: none


@dataclass(frozen=True)
class Opened:
    """A review that runs, and the secrets of somebody who may use it."""

    port: int
    home: str  # the secret path
    cookie: str
    csrf: str
    answers: Path

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def n_lines(self) -> int:
        return self.answers.read_bytes().count(b"\n")


@contextmanager
def review(folder: Path, model: str) -> Iterator[Opened]:
    answers = folder / f"{model}.answers.jsonl"
    call = [sys.executable, "-m", "planewise.cli", "review", model, "cases.csv", "--port", "0", "--no-browser"]
    call += ["--who", "Ada", "--answers", answers.name]
    env = os.environ | {"PLANEWISE_REVIEW_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(call, cwd=folder, stdout=subprocess.PIPE, text=True, env=env) as running:
        try:
            assert running.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", running.stdout.readline())
            assert found
            yield _let_in(int(found.group(1)), answers)
            if running.poll() is not None:
                raise SystemExit(f"the review of {model} ended with {running.returncode}")
        finally:
            running.terminate()


def _let_in(port: int, answers: Path) -> Opened:
    _, head, _ = _answer(_sent(port, _request("GET", f"/?token={TOKEN}", {"host": f"127.0.0.1:{port}"})))
    home, cookie = head["location"].rstrip("/"), head["set-cookie"].partition(";")[0]
    headers = {"host": f"127.0.0.1:{port}", "cookie": cookie}
    _, _, page = _answer(_sent(port, _request("GET", f"{home}/case/0", headers)))
    found = re.search(rb'name="csrf" value="(\w+)"', page)
    assert found
    return Opened(port, home, cookie, found.group(1).decode(), answers)


def _request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    head = {**headers, "connection": "close", **({"content-length": str(len(body))} if method == "POST" else {})}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def _sent(port: int, request: bytes, wait: float = 30) -> bytes:
    """The answer as far as it came; b"" if the connection was closed without one."""
    out = b""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as line:
        try:
            line.sendall(request)
            while piece := line.recv(65536):
                out += piece
        except (ConnectionError, TimeoutError):
            pass
    return out


def _answer(raw: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body; 0 without an answer."""
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    found = re.match(r"HTTP/1\.1 (\d{3})", lines[0])
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    exact = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    headers |= {name.lower(): value for name, value in exact.items()}
    return (int(found.group(1)) if found else 0), headers, body


# ------------------------------------------------------------------------------------------------------ schemathesis
def document(opened: Opened) -> dict[str, Any]:
    """The addresses of a review and what its forms hold."""
    text, key = {"type": "string"}, {"type": "string", "pattern": "^[0-9a-f]{32}$"}
    row = {"name": "row", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 0, "maximum": 150}}

    def query(*names: str) -> list[dict[str, Any]]:
        return [{"name": name, "in": "query", "schema": text} for name in names]

    def form(**fields: Any) -> dict[str, Any]:
        given = {"csrf": {"type": "string", "enum": [opened.csrf]}, "key": key, **fields}
        schema = {"type": "object", "properties": given, "required": ["csrf"], "additionalProperties": text}
        return {"requestBody": {"required": True, "content": {FORM: {"schema": schema}}}}

    chosen = ("show", "label", "unsure", "sort", "down", "saved")
    answered = {"responses": {"default": {"description": "a page"}}}
    places = {"type": "string", "enum": ["0", "1"]}
    decisions = {"type": "string", "enum": ["accept", "override", "note", "override:0", "override:1"]}
    return {
        "openapi": "3.0.3",
        "info": {"title": "The forms of a review", "version": "1"},
        "paths": {
            "/": {"get": answered | {"parameters": query(*chosen, "token", "code")}},
            "/name": {"get": answered, "post": answered | form(name=text)},
            "/done": {"get": answered | {"parameters": query(*chosen)}},
            "/case/{row}": {"parameters": [row], "get": answered | {"parameters": query(*chosen)}},
            "/case/{row}/decide": {
                "parameters": [row],
                "post": answered | form(decision=decisions, choice=places, number=text, note=text),
            },
            "/case/{row}/what-if": {"parameters": [row], "post": answered | form(v0=text, v1=text, v2=text, v3=text)},
            "/undo": {"post": answered | form(undoes=key)},
            "/queue": {"get": answered | {"parameters": query(*chosen, "find", "page")}},
            "/accept": {
                "get": answered | {"parameters": query("class", "least")},
                "post": answered | form(**{"class": places, "least": text, "n_cases": text}),
            },
            "/agreement": {"get": answered | {"parameters": query("now")}},
            "/export": {"get": answered},
            "/export/file": {"get": answered | {"parameters": query("format", "rows")}},
            "/static/{name}": {
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": text}],
                "get": answered,
            },
        },
    }


def by_schemathesis(opened: Opened, folder: Path, examples: int, seed: int) -> bool:
    """Whether every form and address was answered without a 5xx."""
    described = folder / "forms.json"
    described.write_text(json.dumps(document(opened)))
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", str(described)]
    command += ["--url", opened.origin + opened.home, "--checks", "not_a_server_error", "--mode", "all"]
    command += ["--header", f"Cookie: {opened.cookie}", "--header", f"Origin: {opened.origin}"]
    command += ["--max-examples", str(examples), "--seed", str(seed), "--suppress-health-check", "all"]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


# --------------------------------------------------------------------------------------------------------- raw bytes
@dataclass(frozen=True)
class Asked:
    """A request that would be let in, or one that lacks something."""

    name: str
    method: str
    path: str
    headers: dict[str, str]
    fields: dict[str, str]
    allowed: bool = True

    def bytes(self) -> bytes:
        return _request(self.method, self.path, self.headers, urlencode(self.fields).encode() if self.fields else b"")


def all_asked(opened: Opened, chance: random.Random) -> tuple[list[Asked], list[Asked]]:
    """Requests of somebody who may use the review: one for each page, one for each form."""
    headers = {"host": f"127.0.0.1:{opened.port}", "cookie": opened.cookie}
    key, row = f"{chance.getrandbits(128):032x}", chance.randrange(200)
    decision = {"decision": chance.choice(["accept", "override:0", "override:1", "note"]), "note": "x", "number": "1"}
    forms = {f"/case/{row}/decide": decision, f"/case/{row}/what-if": {"v0": "1"}, "/name": {"name": "Ada"},
             "/undo": {"undoes": key}, "/accept": {"class": "0", "least": "0.5", "n_cases": "1"}}  # fmt: skip
    pages = ("/", "/name", "/case/0", "/case/0/decide?_method=POST", "/queue", "/done", "/accept", "/agreement",
             "/export", "/export/file", "/static/review.js")  # fmt: skip
    more = {"origin": opened.origin, "content-type": FORM}
    known = {"csrf": opened.csrf, "key": key}
    return (
        [Asked("page", "GET", opened.home + page, headers, {}) for page in pages],
        [Asked("form", "POST", opened.home + at, headers | more, known | fields) for at, fields in forms.items()],
    )


def asked(opened: Opened, chance: random.Random) -> Asked:
    """One of them."""
    pages, forms = all_asked(opened, chance)
    return chance.choice(pages if chance.random() < 0.3 else forms)


def without_access(one: Asked, opened: Opened, chance: random.Random) -> list[Asked]:
    """The same request, each time without one of the things that let it in."""
    ways: list[tuple[str, dict[str, Any]]] = [
        ("no cookie", {"headers": {**one.headers, "cookie": ""}}),
        ("a wrong cookie", {"headers": {**one.headers, "cookie": opened.cookie[:-1] + "_"}}),
        ("the cookie of another name", {"headers": {**one.headers, "cookie": "x" + opened.cookie}}),
        ("no secret path", {"path": one.path.removeprefix(opened.home)}),
        ("the path in capitals", {"path": one.path.replace(opened.home, opened.home.upper())}),
        ("dots before the path", {"path": "/x/.." + one.path}),
        ("an escaped slash", {"path": "/%2e%2e%2f" + one.path.lstrip("/")}),
        ("two slashes", {"path": "/" + one.path}),
        ("NUL in the path", {"path": opened.home + "%00" + one.path.removeprefix(opened.home)}),
        ("an absolute address", {"path": f"http://evil.example{one.path}"}),
        ("another host", {"headers": {**one.headers, "host": "evil.example"}}),
        ("a forwarded host", {"headers": {**one.headers, "host": "evil.example", "x-forwarded-host": "127.0.0.1"}}),
        ("another method", {"method": chance.choice(["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT"])}),
        ("a long query", {"path": one.path + "?" + "a=%41&" * 3000}),
        ("long headers", {"headers": {**one.headers, "x-long": "x" * 40_000}}),
    ]
    if one.method == "POST":
        ways += [
            ("no origin", {"headers": {name: each for name, each in one.headers.items() if name != "origin"}}),
            ("another origin", {"headers": {**one.headers, "origin": "http://evil.example"}}),
            ("the origin null", {"headers": {**one.headers, "origin": "null"}}),
            ("another port's origin", {"headers": {**one.headers, "origin": "http://127.0.0.1:1"}}),
            ("no key of forms", {"fields": {**one.fields, "csrf": ""}}),
            ("a wrong key of forms", {"fields": {**one.fields, "csrf": "é" * 10}}),
            ("a form as JSON", {"headers": {**one.headers, "content-type": "application/json"}}),
            ("a large form", {"fields": {**one.fields, "note": "x" * 300_000}}),
            ("too many fields", {"fields": {**one.fields, **{f"f{k}": "" for k in range(2100)}}}),
        ]
    return [replace(one, name=name, allowed=False, **changes) for name, changes in ways]


def mutated(raw: bytes, chance: random.Random) -> bytes:
    """The same bytes with a few changes, cuts, repeats or insertions."""
    inserted = [b"\0", b"%", b"%00", b"%ff", b"%C0%AF", b"\r\n", b"\n", b"\xff", b"\xed\xa0\x80", b";", b"&" * 50,
                b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"Upgrade: websocket\r\n", b"+", b"=",
                b"Expect: 100-continue\r\n", b"9" * 30, b"-1", b"../", b"%2e%2e%2f", b"\xf0\x9f\x98\x80"]  # fmt: skip
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(raw) + 1)
        way = chance.randrange(4)
        if way == 0:
            raw = raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
        elif way == 1:
            raw = raw[:at] + chance.choice(inserted) + raw[at:]
        elif way == 2:
            raw = raw[:at] + raw[at + chance.randint(1, 20) :]
        else:
            raw = raw[:at] + raw[max(0, at - chance.randint(1, 60)) : at] + raw[at:]
    return raw


def chunked(one: Asked, chance: random.Random) -> bytes:
    """The form in chunks, whose sizes may be wrong."""
    body = urlencode(one.fields).encode()
    head = _request(one.method, one.path, one.headers).partition(b"\r\n\r\n")[0]
    head = re.sub(rb"content-length: \d+", b"transfer-encoding: chunked", head) + b"\r\n\r\n"
    size = chance.choice([b"%x" % len(body), b"%x" % (len(body) + 1), b"ffffffffffffffff", b"-1", b"", b"0"])
    return head + size + b"\r\n" + body + b"\r\n0\r\n\r\n"


def by_bytes(opened: Opened, until: float, chance: random.Random) -> list[str]:
    """What was wrong: each request in every way without access, then requests at random until the time is over."""
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    for one in [each for some in all_asked(opened, chance) for each in some]:
        for lacking in without_access(one, opened, chance):
            wrong += _tried(opened, lacking, lacking.bytes(), "without access", counts)
    while time.monotonic() < until and len(wrong) < 20:
        one = asked(opened, chance)
        way = chance.choice(["as it is", "without access", "mutated", "chunked"])
        if way == "without access":
            one = chance.choice(without_access(one, opened, chance))
        raw = one.bytes()
        if way == "mutated":
            raw = mutated(raw, chance)
        elif way == "chunked" and one.method == "POST":
            raw = chunked(one, chance)
        wrong += _tried(opened, one, raw, way, counts)
    for name, count in sorted(counts.items()):
        print(f"  {name}: {count:,}")
    return wrong


def _tried(opened: Opened, one: Asked, raw: bytes, way: str, counts: Counter[str]) -> list[str]:
    """What was wrong with the answer to a request, if anything."""
    before = opened.n_lines()
    # What became incomplete is waited for by the review, see `by_waiting`; not by us.
    status, head, body = _answer(_sent(opened.port, raw, 0.5 if way in ("mutated", "chunked") else 30))
    grown = opened.n_lines() != before
    counts[f"{way}: {status or 'no answer'}"] += 1
    problem = _problem(one, status, head, body, grown, way)
    return [f"{problem} ({way}, {one.name}): {raw[:300]!r}"] if problem else []


def _problem(one: Asked, status: int, head: dict[str, str], body: bytes, grown: bool, way: str) -> str:
    if status >= 500:
        return f"{status} {body[:100]!r}"
    if grown and status != 303:
        return f"{status}, but an answer was saved"
    if not one.allowed and one.path not in PUBLIC and (grown or 200 <= status < 400 or "set-cookie" in head):
        return f"{status} without access"
    if way == "as it is" and status == 0:
        return "no answer"
    return ""


def by_waiting(opened: Opened) -> list[str]:
    """Slow and unended requests, which must end by themselves, and an upgrade."""
    chance = random.Random(0)
    one = next(each for each in iter(lambda: asked(opened, chance), None) if each.method == "POST")
    half = one.bytes()[:-5]
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-key": "x" * 22 + "==",
               "sec-websocket-version": "13", "host": f"127.0.0.1:{opened.port}", "cookie": opened.cookie}  # fmt: skip
    lines = [f"GET {opened.home}/case/0 HTTP/1.1", *(f"{name}: {value}" for name, value in upgrade.items()), "", ""]
    handshake = "\r\n".join(lines).encode()
    wrong, before = [], opened.n_lines()
    for name, raw in (
        ("half a form", half),
        ("half a head", half[:60]),
        ("an upgrade", handshake),
    ):
        with socket.create_connection(("127.0.0.1", opened.port), timeout=60) as line:
            line.sendall(raw)
            try:
                out = line.recv(65536)
                while piece := line.recv(65536):
                    out += piece
            except ConnectionError:
                out = b""
            except TimeoutError:
                wrong.append(f"{name} is waited for longer than a minute")
                continue
        status = _answer(out)[0]
        print(f"  {name}: {status or 'closed'}")
        if status >= 500 or status == 101:
            wrong.append(f"{name}: {status}")
    return wrong + (["an incomplete request saved an answer"] if opened.n_lines() != before else [])


def still_readable(opened: Opened) -> list[str]:
    from planewise.answers import AnswersFileError, Ledger, read_content

    link = http.client.HTTPConnection("127.0.0.1", opened.port, timeout=30)
    link.request("GET", f"{opened.home}/queue", headers={"cookie": opened.cookie})
    status = link.getresponse().status
    link.close()
    try:
        records = read_content(opened.answers).records
        Ledger(200, records)
    except AnswersFileError as error:
        return [str(error)]
    print(f"  {len(records):,} records in the file of answers, all of them intact")
    return [] if status == 200 else [f"the page is gone: {status}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=200, help="per form or address, made by schemathesis")
    parser.add_argument("--minutes", type=float, default=3, help="for requests of our own, in total")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = write_models(folder)
        for model in models:
            with review(folder, model) as opened:
                print(f"{model}: forms by schemathesis", flush=True)
                if given.examples and not by_schemathesis(opened, folder, given.examples, given.seed):
                    wrong.append(f"{model}: schemathesis found something, see above")
                print(f"{model}: requests of our own", flush=True)
                until = time.monotonic() + 60 * given.minutes / len(models)
                wrong += by_bytes(opened, until, random.Random(given.seed))
                wrong += by_waiting(opened)
                wrong += still_readable(opened)
    print("\n".join(wrong) or "Nothing was found.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
