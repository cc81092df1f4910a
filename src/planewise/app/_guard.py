"""What every request must pass before anything else sees it: to which host, by whom, from where, how large."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from planewise.app._keys import Keys, same

MOST_BODY = 256 << 10  # a note of the longest length, every letter of it as %F0%9F%98%80
MOST_ADDRESS = 8 << 10
MOST_HEADERS = 32 << 10
MOST_AT_ONCE = 64
BODY_SECONDS = 10.0
REQUEST_SECONDS = 60.0
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # without any, browsers would call the origin of forms "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
NO_KEY = (
    "This page needs the key that is in the address which planewise review printed. Open that address; it is good "
    "until the review ends."
)
FAILED = "Something went wrong in the review itself; its log says what. Load the page again to see what is saved."
log = logging.getLogger("planewise.app")


class Guard:
    """Around the whole application."""

    def __init__(self, app: Any, keys: Keys, hosts: Iterable[str]) -> None:
        self.app, self.keys = app, keys
        self.hosts = frozenset(host.lower() for host in hosts)
        self._n_running = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return None

        begun = False

        async def guarded(message: Any) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        if self._n_running >= MOST_AT_ONCE:
            busy = PlainTextResponse("Too many requests at once; try again.", 503, {"connection": "close"})
            return await busy(scope, receive, guarded)
        self._n_running += 1
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                await self._answer(scope, receive, guarded)
        except TimeoutError:
            pass  # the server closes what was begun and not ended; nobody waits for ever
        except Exception:  # whatever it is, strangers read no more than a sentence
            log.exception("A request failed.")
            if not begun:
                await _no(500, FAILED)(scope, receive, guarded)
        finally:
            self._n_running -= 1
        return None

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        refused = self._refused(scope)
        if refused is not None:
            return await refused(scope, receive, send)
        body = await _whole_body(scope, receive)
        if isinstance(body, Response):
            return await body(scope, receive, send)
        return await self.app(self._below_own_path(scope), _once(body, receive), send)

    def _refused(self, scope: Any) -> Response | None:
        """The answer to a request that may not come in; nothing of its body has been read."""
        headers = Headers(scope=scope)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_ADDRESS:
            return _no(414, "The address is too long.")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADERS:
            return _no(431, "The headers are too long.")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _host_name(hosts[0]) not in self.hosts:
            return _no(421, "This review is not served under this name.")  # another name may point at this machine
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _no(405, "Only pages and forms are served.", {"allow": "GET, HEAD, POST"})
        first = _route(scope).removeprefix("/").partition("/")[0]
        if not (same(first, self.keys.path) and same(_cookie(headers, self.keys.cookie), self.keys.session)):
            return self._newcomer(scope, headers)
        if scope["method"] == "POST":
            own = hosts[0].lower()
            if headers.get("origin", "").lower() not in (f"http://{own}", f"https://{own}"):
                return _no(403, "Forms are taken from this review's own pages only.")
        return None

    def _home(self, scope: Any) -> str:
        """The path that all pages are below; `_keys.py` says why there is one."""
        return f"{scope.get('root_path', '')}/{self.keys.path}"

    def _below_own_path(self, scope: Any) -> Any:
        """The request as the application knows it, which is served below the path as below any server's."""
        rest = _route(scope).removeprefix(f"/{self.keys.path}")
        return {**scope, "root_path": self._home(scope), "path": self._home(scope) + (rest or "/")}

    def _newcomer(self, scope: Any, headers: Headers) -> Response:
        """With the token, or a code in its place: a cookie and the way to an address without it."""
        if scope["method"] != "GET" or not self._has_key(scope["query_string"]):
            return _no(403, NO_KEY)
        home = self._home(scope) + "/"
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            answer: Response = RedirectResponse(home, 303)
        else:  # from another site: a strict cookie would not travel with a redirection, but with a step of our own
            answer = HTMLResponse(
                f'<!doctype html><meta http-equiv="refresh" content="0; url={home}"><title>Review</title>'
            )
        answer.set_cookie(
            self.keys.cookie,
            self.keys.session,
            httponly=True,
            samesite="strict",
            path=home,
            secure=scope.get("scheme") == "https",
        )
        return answer

    def _has_key(self, query: bytes) -> bool:
        try:
            given = parse_qs(query.decode("latin-1"), max_num_fields=20)
        except ValueError:  # too many fields
            return False
        tokens, codes = given.get("token", []), given.get("code", [])
        if len(tokens) == 1 and not codes:
            return same(tokens[0], self.keys.token)
        return len(codes) == 1 and not tokens and self.keys.redeem(codes[0])


def _route(scope: Any) -> str:
    """The path below the server's own, whether the server passes on the whole or the rest."""
    path, root = scope["path"], scope.get("root_path", "")
    return path[len(root) :] if path.startswith(f"{root}/") else path


def _no(status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(words + "\n", status, {"connection": "close", **(headers or {})})


def _host_name(host: str) -> str:
    """The name without the port; of IPv6 with its brackets."""
    name = host.lower()
    return name[: name.index("]") + 1] if name.startswith("[") and "]" in name else name.partition(":")[0]


def _cookie(headers: Headers, name: str) -> str:
    """Its value; whatever other cookies of this machine's servers look like."""
    pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
    return next((value for key, _, value in pairs if key == name), "")


async def _whole_body(scope: Any, receive: Any) -> bytes | Response:
    """The body, or the answer to one that is too large or comes too slowly."""
    too_large = _no(413, f"At most {MOST_BODY >> 10} kB can be sent.")
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdigit() or len(length) > 12 or int(length) > MOST_BODY:
        return too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return _no(400, "The request ended early.")
                body += message.get("body", b"")
                if len(body) > MOST_BODY:
                    return too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return _no(408, f"The request took more than {BODY_SECONDS:.0f} seconds to arrive.")


def _once(body: bytes, receive: Any) -> Any:
    """The body again, for those who come after; then whatever else happens on the line."""
    handed_out = False

    async def again() -> Any:
        nonlocal handed_out
        if handed_out:
            return await receive()
        handed_out = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
