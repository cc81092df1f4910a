"""One server for one review: few connections, none of them for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0  # for a request's first line and headers to arrive
MOST_CONNECTIONS = 128
MOST_HEADERS = 16 << 10


class ImpatientProtocol(H11Protocol):
    """Closes connections that do not come to a request in time, and those beyond a number."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """More of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """The next request may begin."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Let the time run while no request is being answered; one is only once its headers are whole."""
        waiting = self.cycle is None or self.cycle.response_complete
        if not waiting:
            self._stop()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Announcing(uvicorn.Server):
    """Says where it is once it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[int], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening(self.servers[0].sockets[0].getsockname()[1])


def server_config(app: Any, host: str, port: int) -> uvicorn.Config:
    """How the server is set up."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=ImpatientProtocol,
        ws="none",
        lifespan="on",
        access_log=False,  # addresses hold the token
        log_level="error",  # strangers' garbage is refused, and is no news
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=MOST_HEADERS,
    )


def serve(app: Any, host: str, port: int, listening: Callable[[int], None]) -> None:
    """Serve until interrupted; `listening` is told the port once requests can come."""
    _Announcing(server_config(app, host, port), listening).run()
