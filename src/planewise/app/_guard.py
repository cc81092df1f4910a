"""What every request must pass before anything else sees it: host, secret, origin, size.

The secrets of a review are a token in the printed address, what is derived from it, and a code that works once.

Browsers keep cookies by host and not by port: any server on another port of this machine, perhaps of another user, is
sent the cookies of 127.0.0.1. So the cookie is bound to a secret path, under which all pages are, and both are needed:

- the cookie is not sent to other ports, because nobody can make a browser ask there for that path; and if the cookie is
  known nevertheless, it is useless without the path;
- the path is not sent to other ports (``referrer-policy: same-origin``); it is in the address bar and in the browser's
  history, but is useless without the cookie.

A path alone would let in everybody who sees the screen or gets a link; something in the tab's own memory would need
scripts; a host name of its own (``….localhost``) is not understood by every browser.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

SHORTEST_TOKEN, LONGEST_TOKEN = 16, 200


class Keys:
    """The token, and derived from it the path of the pages, the session's cookie and the key of forms.

    They are derived so that an open page still works after the server is started again with the same token.
    """

    def __init__(self, token: str | None = None) -> None:
        self.token = secrets.token_urlsafe(32) if token is None else token
        if not SHORTEST_TOKEN <= len(self.token) <= LONGEST_TOKEN or not (
            self.token.isascii() and self.token.isprintable()
        ):
            raise ValueError(
                f"token must consist of {SHORTEST_TOKEN} to {LONGEST_TOKEN} ASCII characters that nobody can guess, "
                'such as python -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
            )
        self.session, self.form = self._derived("session"), self._derived("form")
        self.path = self._derived("path")[:32]
        # A name that servers on other ports do not know, so that they cannot replace the cookie.
        self.cookie = f"planewise_review_{self._derived('name')[:12]}"
        self._code, self._no_more = "", _nothing

    def hand_out(self, no_more: Callable[[], None]) -> str:
        """A code that works once in place of the token; `no_more` is called when it is used or withdrawn."""
        self.withdraw()
        self._code, self._no_more = secrets.token_urlsafe(32), no_more
        return self._code

    def redeem(self, code: str) -> bool:
        """Whether this is the code that was handed out, which is now used up."""
        right = self._code != "" and same(code, self._code)
        if right:
            self.withdraw()
        return right

    def withdraw(self) -> None:
        """Make the code useless."""
        no_more, self._code, self._no_more = self._no_more, "", _nothing
        no_more()

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), f"planewise review {purpose}".encode(), hashlib.sha256).hexdigest()


def _nothing() -> None: ...


def same(given: str, right: str) -> bool:
    """Whether two texts are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), right.encode())


MAX_BODY = 256 << 10  # a note of the longest length, every letter of it as %F0%9F%98%80
MAX_ADDRESS = 8 << 10
MAX_HEADERS = 32 << 10
MAX_AT_ONCE = 64
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
    "This page needs the key in the address that planewise review printed. Open that address; it is valid until the "
    "review ends."
)
FAILED = "An unexpected error occurred; see the log of the review. Reload the page to see what is saved."
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

        if self._n_running >= MAX_AT_ONCE:
            busy = PlainTextResponse("Too many requests at once; try again.", 503, {"connection": "close"})
            return await busy(scope, receive, guarded)
        self._n_running += 1
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                await self._answer(scope, receive, guarded)
        except TimeoutError:
            pass  # the server closes a response that was begun and not ended
        except Exception:  # strangers must not read the details
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
        """The response to a request that is not let in, before its body is read; None if it is."""
        headers = Headers(scope=scope)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_ADDRESS:
            return _no(414, "The address is too long.")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADERS:
            return _no(431, "The headers are too long.")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _host_name(hosts[0]) not in self.hosts:
            return _no(421, "This review is not served under this host name.")  # others may point at this machine too
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _no(405, "Only pages and forms are served.", {"allow": "GET, HEAD, POST"})
        first = _route(scope).removeprefix("/").partition("/")[0]
        if not (same(first, self.keys.path) and same(_cookie(headers, self.keys.cookie), self.keys.session)):
            return self._newcomer(scope, headers)
        if scope["method"] == "POST":
            own = hosts[0].lower()
            if headers.get("origin", "").lower() not in (f"http://{own}", f"https://{own}"):
                return _no(403, "Forms are only accepted from the pages of this review.")
        return None

    def _home(self, scope: Any) -> str:
        """The secret path, under which all pages are."""
        return f"{scope.get('root_path', '')}/{self.keys.path}"

    def _below_own_path(self, scope: Any) -> Any:
        """The request as the application sees it, with the secret path as its root path."""
        rest = _route(scope).removeprefix(f"/{self.keys.path}")
        return {**scope, "root_path": self._home(scope), "path": self._home(scope) + (rest or "/")}

    def _newcomer(self, scope: Any, headers: Headers) -> Response:
        """With the token or a code: a cookie, and a redirection to an address without it."""
        if scope["method"] != "GET" or not self._has_key(scope["query_string"]):
            return _no(403, NO_KEY)
        home = self._home(scope) + "/"
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            answer: Response = RedirectResponse(home, 303)
        else:  # from another site: a strict cookie is not sent with a redirection, but it is with a refresh
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
    """The path below the server's root path, whether or not the server has removed that."""
    path, root = scope["path"], scope.get("root_path", "")
    return path[len(root) :] if path.startswith(f"{root}/") else path


def _no(status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(words + "\n", status, {"connection": "close", **(headers or {})})


def _host_name(host: str) -> str:
    """The name without the port; IPv6 addresses keep their brackets."""
    name = host.lower()
    return name[: name.index("]") + 1] if name.startswith("[") and "]" in name else name.partition(":")[0]


def _cookie(headers: Headers, name: str) -> str:
    """The value of a cookie; other servers of this machine may have set malformed ones."""
    pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
    return next((value for key, _, value in pairs if key == name), "")


async def _whole_body(scope: Any, receive: Any) -> bytes | Response:
    """The body, or the response to one that is too large or too slow."""
    too_large = _no(413, f"The request is larger than {MAX_BODY >> 10} kB.")
    length = Headers(scope=scope).get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or len(length) > 12 or int(length) > MAX_BODY:
        return too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return _no(400, "The request ended early.")
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    return too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return _no(408, f"The request took more than {BODY_SECONDS:.0f} seconds to arrive.")


def _once(body: bytes, receive: Any) -> Any:
    """A `receive` that gives the body again, and then what the connection gives."""
    handed_out = False

    async def again() -> Any:
        nonlocal handed_out
        if handed_out:
            return await receive()
        handed_out = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
