"""Requests that should not come in: refused with a sentence, nothing leaks, nothing runs, nothing grows."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import time

import httpx
import pytest
from reviewing import TOKEN, serving

from planewise.app import _guard, create_app, server


@pytest.fixture(scope="module")
def port(models, table, tmp_path_factory):
    """One review for all tests that change nothing."""
    app = create_app(
        models("slm"),
        table,
        answers=tmp_path_factory.mktemp("guard") / "a.jsonl",
        who="Ada",
        token=TOKEN,
        id_column="key",
    )
    with serving(app) as at:
        yield at


def raw(port, request, wait=20):
    """Bytes as they are; the answer as far as it came."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as line:
        line.sendall(request)
        out = b""
        try:
            while piece := line.recv(65536):
                out += piece
        except (ConnectionResetError, TimeoutError):
            pass
    return out


def asked(port, path="/", method="GET", **headers):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    link.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = link.getresponse()
    body = answer.read().decode()
    link.close()
    return answer, body


@pytest.fixture
def let_in(port):
    """What the token is answered with: where to go on, and a cookie for there."""
    answer, _ = asked(port, f"/?token={TOKEN}")
    assert answer.status == 303
    given = answer.headers["set-cookie"]
    assert "HttpOnly" in given and "SameSite=strict" in given and TOKEN not in given
    return answer.headers["location"], given


@pytest.fixture
def cookie(let_in):
    return let_in[1].partition(";")[0]


@pytest.fixture
def own(let_in):
    """The path under which the review is, without its last slash."""
    return let_in[0].removesuffix("/")


SECRETS = ["P-0001", "class", "dear", TOKEN]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/case/0",
        "/queue",
        "/static/htmx.js",
        "/?token=",
        "/?token=wrong",
        f"/?token={TOKEN[:-1]}",
        f"/?token={TOKEN}x",
        f"/case/0?token={TOKEN[:-1]}",
        f"/?token={TOKEN}&token={TOKEN}",
        "/?token=%ff%00",
        "/docs",
        "/openapi.json",
        f"/?{'a=1&' * 25}token={TOKEN}",
    ],
)
def test_without_the_token_nothing_is_shown(port, path):
    answer, body = asked(port, path)
    assert answer.status == 403 and "set-cookie" not in answer.headers
    assert not any(secret in body for secret in SECRETS[:2] + SECRETS[3:])


def test_the_token_opens_the_page_and_leaves_the_address(port, own, cookie):
    answer, body = asked(port, f"{own}/case/0", Cookie=cookie)
    assert answer.status == 200 and "P-0000" in body and TOKEN not in body and TOKEN not in own


@pytest.mark.parametrize("path", ["/", "/case/0", "/queue", "/static/htmx.js"])
def test_a_stolen_cookie_opens_nothing(port, own, cookie, path):
    """Cookies do not know of ports: whoever serves on another port of this machine may be sent it."""
    for wrong in ("", "/" + "0" * 64, own[:-1], own + "0", own.upper(), "/x" + own, "/" + own):
        answer, body = asked(port, wrong + path, Cookie=cookie)
        assert answer.status == 403 and not any(secret in body for secret in SECRETS)


@pytest.mark.parametrize("path", ["", "/", "/case/0", "/queue", "/static/htmx.js"])
def test_the_path_of_the_review_opens_nothing_without_the_cookie(port, own, path):
    """It stands in the browser's history, and whoever looks at the screen can read it."""
    answer, body = asked(port, own + path)
    assert answer.status == 403 and not any(secret in body for secret in SECRETS)


def test_cookies_of_other_servers_of_this_machine_do_no_harm(port, own, cookie):
    for others in ('x={"a":1}; ', "a b=c; ", "=; "):
        answer, _ = asked(port, own + "/case/0", Cookie=others + cookie)
        assert answer.status == 200


def test_browsers_send_the_cookie_only_to_a_path_that_nobody_can_guess(make_app, serve):
    paths = set()
    for token, name in ((TOKEN, "a"), (TOKEN, "b"), ("another-token-for-tests", "c")):
        answer, _ = asked(serve(make_app(token=token, answers=f"{name}.jsonl")), f"/?token={token}")
        home = answer.headers["location"]
        assert f"; Path={home};" in answer.headers["set-cookie"] and home.endswith("/") and len(home) > 32
        paths.add(home)
    assert len(paths) == 2  # an open page goes on working when a review is started again with the same token


def test_a_form_with_a_stolen_cookie_and_without_the_path_is_refused(person, lines):
    one = person()
    fields = one.hidden('id="decide"') | {"decision": "accept"}
    cookie = "; ".join(f"{name}={value}" for name, value in one.http.cookies.items())
    answer = httpx.post(
        f"{one.home}/case/{one.row}/decide",
        data=fields,
        headers={"origin": one.home, "cookie": cookie},
        trust_env=False,
    )
    assert answer.status_code == 403 and lines() == []


def test_a_one_time_code_leads_in_once(make_app, serve):
    app, used = make_app(), []
    port, code = serve(app), app.state.keys.hand_out(lambda: used.append(True))
    for wrong in (f"{code}x", code[:-1], "", f"{code}&code={code}"):
        assert asked(port, f"/?code={wrong}")[0].status == 403
    assert asked(port, f"/?code={code}", "HEAD")[0].status == 403 and not used
    answer, body = asked(port, f"/?code={code}", Sec_Fetch_Site="cross-site")  # from a file
    assert answer.status == 200 and "set-cookie" in answer.headers and code not in body and used == [True]
    answer, _ = asked(port, f"/?code={code}")
    assert answer.status == 403 and "set-cookie" not in answer.headers and used == [True]


def test_a_one_time_code_ends_with_the_review(make_app):
    app, withdrawn = make_app(), []
    code = app.state.keys.hand_out(lambda: withdrawn.append(True))
    with serving(app):
        pass
    assert withdrawn == [True] and not app.state.keys.redeem(code)


def test_a_review_below_a_path_of_its_server_stays_there(make_app, serve):
    app = make_app()
    app.root_path = "/reviews/one"
    port = serve(app)
    answer, _ = asked(port, f"/reviews/one/?token={TOKEN}")
    home, cookie = answer.headers["location"], answer.headers["set-cookie"]
    assert home.startswith("/reviews/one/") and f"; Path={home};" in cookie
    for path in (home, home.removeprefix("/reviews/one")):  # of a proxy that passes the whole path, or the rest
        answer, body = asked(port, f"{path}case/0", Cookie=cookie.partition(";")[0])
        assert answer.status == 200 and f'action="{home}case/0/decide"' in body


def test_a_link_from_another_site_leads_in_by_a_step_of_our_own(port):
    answer, body = asked(port, f"/?token={TOKEN}", Sec_Fetch_Site="cross-site")
    assert answer.status == 200 and "set-cookie" in answer.headers and TOKEN not in body
    assert re.search(r'url=/\w{32,}/"', body)


def test_a_wrong_cookie_is_none(port, own, cookie):
    for wrong in (cookie[:-1], cookie + "0", "planewise_review=1", "a;b=;;=", '"', cookie.replace("=", "==")):
        assert asked(port, f"{own}/case/0", Cookie=wrong)[0].status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "[::1", "10.0.0.1"]
)
def test_other_names_for_this_machine_are_refused(port, own, cookie, host):
    answer = raw(
        port, f"GET {own}/case/0 HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n".encode()
    )
    assert answer.startswith(b"HTTP/1.1 4") and b"P-00" not in answer


def test_two_host_headers_are_refused(port, own, cookie):
    request = f"GET {own}/case/0 HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nCookie: {cookie}\r\n\r\n"
    answer = raw(port, request.encode())
    assert answer.startswith(b"HTTP/1.1 4") and b"P-00" not in answer


def test_pages_carry_their_policies(port, own, cookie):
    for path in ("/case/0", "/static/review.js", "/nothing", "/?token=no"):
        answer, _ = asked(port, own + path, Cookie=cookie)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert (
            answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "same-origin"
        )
        assert answer.headers["cache-control"] == "no-store" or path.startswith("/static")
        assert "server" not in answer.headers


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://127.0.0.1:1", "https://localhost.evil.example", "http://["]
)
def test_forms_of_other_origins_are_refused(person, lines, origin):
    one = person()
    fields = one.hidden('id="decide"') | {"decision": "accept"}
    assert one.http.post(f"/case/{one.row}/decide", data=fields, headers={"origin": origin}).status_code == 403
    assert lines() == []


@pytest.mark.parametrize("csrf", [None, "", "0" * 64])
def test_forms_without_their_key_are_refused(person, lines, csrf):
    one = person()
    fields = one.hidden('id="decide"') | {"decision": "accept"}
    fields.pop("csrf")
    answer = one.send(f"/case/{one.row}/decide", fields | ({} if csrf is None else {"csrf": csrf}))
    assert answer.status_code == 403 and "reload the page" in answer.text and lines() == []


def test_forms_come_as_forms_only(person, lines):
    one = person()
    fields = one.hidden('id="decide"') | {"decision": "accept"}
    for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x"):
        answer = one.http.post(
            f"/case/{one.row}/decide",
            content=str(httpx.QueryParams(fields)),
            headers={"origin": one.home, "content-type": kind},
        )
        assert answer.status_code == 415
    kind = {"origin": one.home, "content-type": "application/x-www-form-urlencoded"}
    for body in (b"csrf=%ff", b"\xff\xfe", b"&".join(b"a=1" for _ in range(3000))):
        assert one.http.post(f"/case/{one.row}/decide", content=body, headers=kind).status_code == 400
    assert lines() == []


@pytest.mark.parametrize(
    "path",
    [
        "/static/../_guard.py",
        "/static/%2e%2e/_guard.py",
        "/static/..%2f..%2f_guard.py",
        "/static//etc/passwd",
        "/../../etc/passwd",
        "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/static/review.js%00.css",
        "/static/\\..\\_guard.py",
        "/static/REVIEW.JS",
        "/case/../../etc/passwd",
        "/case/-1",
        "/case/1e3",
        "/case/99999999",
        "/case/1%2f..",
        "/case/٣",
        "/case/0x1",
        "/static/",
    ],
)
def test_paths_lead_nowhere(port, own, cookie, path):
    line = (own + path).encode()
    answer = raw(
        port, b"GET " + line + f" HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n".encode()
    )
    status = int(answer.split(b" ", 2)[1])
    assert status in (400, 404) and b"root:" not in answer and b"hmac" not in answer


def test_other_methods_are_refused(port, own, cookie):
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD"):
        assert asked(port, f"{own}/case/0", method, Cookie=cookie)[0].status == 405


def test_long_addresses_and_headers_are_refused(port, own, cookie):
    assert asked(port, f"{own}/?" + "a" * 9000, Cookie=cookie)[0].status == 414
    answer = raw(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70000 + b"\r\n\r\n")
    assert answer[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400", b"")


def head(own, cookie, *more):
    lines = [
        f"POST {own}/undo HTTP/1.1",
        "Host: localhost",
        f"Cookie: {cookie}",
        "Origin: http://localhost",
        "Content-Type: application/x-www-form-urlencoded",
        *more,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def test_large_bodies_are_refused_with_a_length_and_without(port, own, cookie):
    assert raw(port, head(own, cookie, "Content-Length: 10000000")).startswith(b"HTTP/1.1 413")
    assert raw(port, head(own, cookie, f"Content-Length: {10**30}"))[:12] in (b"HTTP/1.1 413", b"HTTP/1.1 400")
    for wrong in ("-5", "abc", "1, 2"):
        assert raw(port, head(own, cookie, f"Content-Length: {wrong}"))[:12] in (b"HTTP/1.1 413", b"HTTP/1.1 400")
    chunk = b"4000\r\n" + b"a" * 0x4000 + b"\r\n"
    answer = raw(port, head(own, cookie, "Transfer-Encoding: chunked") + chunk * 20)
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_that_never_comes_is_given_up(port, own, cookie, monkeypatch):
    monkeypatch.setattr(_guard, "BODY_SECONDS", 0.2)
    answer = raw(port, head(own, cookie, "Content-Length: 100") + b"csrf=")
    assert answer.startswith(b"HTTP/1.1 408")


def test_a_request_that_never_ends_is_cut_off(make_app, serve, monkeypatch):
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.2)
    app = make_app()
    port, keys = serve(app), app.state.keys
    for begun in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: loc"):
        assert raw(port, begun) == b""
    begun = f"GET /{keys.path}/no HTTP/1.1\r\nHost: localhost\r\nCookie: {keys.cookie}={keys.session}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:  # the second request of a connection
        line.sendall(begun.encode())
        got = b""
        while b"</html>" not in got:
            got += line.recv(65536)
        line.sendall(b"GET / HTT")
        with contextlib.suppress(ConnectionResetError):
            assert line.recv(65536) == b""


def test_a_request_from_nowhere_does_not_stop_others(make_app, serve, monkeypatch):
    """More open lines than are allowed: those too many are dropped, and the person gets in when they are gone."""
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 10)
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.5)
    port = serve(make_app())
    idle = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(30)]
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            assert asked(port, f"/?token={TOKEN}")[0].status == 303
            break
        except (ConnectionError, http.client.HTTPException):
            time.sleep(0.1)
    else:
        pytest.fail("nobody was let in")
    for line in idle:
        line.close()


def test_garbage_is_answered_or_dropped(port):
    for garbage in (
        b"\x16\x03\x01\x02\x00\x01",
        b"GET\r\n\r\n",
        b"\x00" * 1000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\n",
    ):
        answer = raw(port, garbage + b"\r\n\r\n")
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert asked(port, f"/?token={TOKEN}")[0].status == 303


@pytest.mark.parametrize("path", ["/case/0", "/queue", "/case/0/decide"])
def test_a_fault_inside_is_a_sentence_outside_and_a_traceback_in_the_log(person, monkeypatch, caplog, path):
    one = person()
    fields = one.hidden('id="decide"') | {"decision": "accept"}

    def fail(*_, **__):
        raise RuntimeError("a secret of the inside")

    for name in ("case", "queue"):
        monkeypatch.setattr(one.app.state.pages, name, fail)
    monkeypatch.setattr(one.review, "decide", fail)
    answer = one.send(path, fields) if path.endswith("decide") else one.http.get(path)
    assert answer.status_code == 500 and answer.text == _guard.FAILED + "\n"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store" and answer.headers["x-frame-options"] == "DENY"
    assert "a secret of the inside" in caplog.text and "Traceback" in caplog.text


@pytest.mark.parametrize("token", ["short", "x" * 201, "täken-mit-umlauten", "with\nbreaks in it, long"])
def test_a_weak_token_is_refused(make_app, token):
    with pytest.raises(ValueError, match="token must consist of"):
        make_app(token=token)


@pytest.mark.parametrize("length", [b"\xb2", b"-1", b"1_0", b"+1", b" ", b"9" * 5000])
def test_a_length_that_is_no_number_is_refused_whatever_the_server_lets_through(make_app, length):
    """uvicorn refuses these itself; others may not."""
    import asyncio

    app, sent = make_app(), []
    headers = [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1"), (b"content-length", length)]
    keys = app.state.keys
    headers.append((b"cookie", f"{keys.cookie}={keys.session}".encode()))
    scope = {"type": "http", "method": "POST", "path": f"/{keys.path}/undo", "query_string": b"", "headers": headers}

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope | {"scheme": "http", "http_version": "1.1", "raw_path": b""}, receive, send))
    assert sent[0]["status"] == 413
