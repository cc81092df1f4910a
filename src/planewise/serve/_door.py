"""What every request passes first: who asks, how often, and from where; every answer is counted."""

from __future__ import annotations

import hmac
import logging
import math
import time
from collections.abc import Iterable
from typing import Any

from planewise.serve._errors import RefusedError
from planewise.serve._limits import Rate, client_of
from planewise.serve._metrics import Metrics
from planewise.serve._scoring import dumps

OPEN = ("/health", "/ready")  # without a token, for those that watch over the service
PATHS = (*OPEN, "/predict", "/model", "/metrics", "/docs", "/openapi.json", "/")
SHORTEST_TOKEN, LONGEST_TOKEN = 16, 200
MAX_ADDRESS = 8 << 10
_BARE = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]
log = logging.getLogger("planewise.serve")


class Door:
    """Around the whole application."""

    def __init__(
        self, app: Any, predict: Any, metrics: Metrics, rate: Rate, token: str | None, hosts: Iterable[str] | None
    ) -> None:
        self.app, self.predict, self.metrics, self.rate = app, predict, metrics, rate
        self.token = None if token is None else b"Bearer " + token.encode()
        self.hosts = None if hosts is None else frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return None
        start, status = time.perf_counter(), 0

        async def counted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.metrics.n_running += 1
        try:
            self._admit(scope)
            if scope["path"] == "/predict" and scope["method"] == "POST":  # not through all layers of the framework
                await self.predict(scope, receive, counted)
            else:
                await self.app(scope, receive, counted)
        except RefusedError as error:
            await respond(counted, error.status, dumps(error.data()), error.headers)
        except Exception:  # strangers must not read the details
            log.exception("A request failed.")
            if not status:
                words = "an unexpected error; the log of the service has the details."
                await respond(counted, 500, dumps({"error": words}), {"connection": "close"})
        finally:
            self.metrics.n_running -= 1
            path = scope["path"] if scope["path"] in PATHS else "other"
            self.metrics.answered(path, status or 499, time.perf_counter() - start)  # 499: the client went away
        return None

    def _admit(self, scope: Any) -> None:
        """An error for a request that is not let in."""
        client = scope.get("client")
        wait = self.rate.wait(client_of(client[0]) if client else "")
        if wait:
            raise RefusedError(
                429,
                f"too many requests: at most {self.rate.per_second:g} per second.",
                headers={"retry-after": str(math.ceil(wait))},
            )
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_ADDRESS:
            raise RefusedError(414, "the address is too long.", headers={"connection": "close"})
        if self.hosts is None and (self.token is None or scope["path"] in OPEN):
            return
        given = {name: value for name, value in scope["headers"] if name in (b"host", b"authorization")}
        if self.hosts is not None and _host_name(given.get(b"host", b"")) not in self.hosts:
            # A page of a stranger can point a name of its own at this machine, and so make a browser ask.
            raise RefusedError(421, "this host name is not served; start the service with --name NAME.")
        if self.token is None or scope["path"] in OPEN:
            return
        if not hmac.compare_digest(given.get(b"authorization", b""), self.token):
            words = "the header 'Authorization: Bearer TOKEN' is missing or wrong."
            raise RefusedError(401, words, headers={"www-authenticate": "Bearer"})


def check_token(token: str) -> None:
    """An error if it can be guessed, or cannot stand in a header."""
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN or not (token.isascii() and token.isprintable()):
        raise ValueError(
            f"token must consist of {SHORTEST_TOKEN} to {LONGEST_TOKEN} ASCII characters that nobody can guess, such "
            'as python -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
        )


def _host_name(host: bytes) -> str:
    """The name without the port; IPv6 addresses keep their brackets."""
    name = host.decode("latin-1").lower()
    return name[: name.index("]") + 1] if name.startswith("[") and "]" in name else name.partition(":")[0]


async def respond(
    send: Any, status: int, body: bytes, headers: dict[str, str] | None = None, kind: bytes = b"application/json"
) -> None:
    """Send a whole answer."""
    lines = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *_BARE]
    if headers:
        lines += [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})
