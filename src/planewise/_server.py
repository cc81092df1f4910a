"""What the servers of planewise share: impatience with slow clients, and a word when they listen. Needs uvicorn."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn


class Impatient:
    """A mixin for uvicorn's protocols: closes connections that send no complete request in time, and those too many."""

    header_seconds = 10.0  # for a request's first line and headers to arrive
    max_connections = 512
    max_header_bytes = 32 << 10
    _deadline: asyncio.TimerHandle | None = None
    _n_bytes = 0  # of a request whose headers are not complete

    # Of uvicorn's protocols.
    cycle: Any
    connections: Any
    loop: Any
    transport: Any

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        super().connection_made(transport)  # type: ignore[misc]
        link = transport.get_extra_info("socket")
        if link is not None and link.family in (socket.AF_INET, socket.AF_INET6):
            # Headers and body are two writes; else the second would wait 40 ms for the client's acknowledgement.
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if len(self.connections) > self.max_connections:
            transport.abort()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """More of a request."""
        super().data_received(data)  # type: ignore[misc]
        self._n_bytes += len(data)
        self._watch()
        if self._n_bytes > self.max_header_bytes:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """The next request may begin."""
        super().on_response_complete()  # type: ignore[misc]
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)  # type: ignore[misc]

    def _watch(self) -> None:
        """Run the clock while no request is being answered: until the headers of one are complete."""
        waiting = self.cycle is None or self.cycle.response_complete
        if not waiting:
            self._stop()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self.transport.abort)

    def _stop(self) -> None:
        self._n_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Announcing(uvicorn.Server):
    """Reports its port once it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[int], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._listening(self.servers[0].sockets[0].getsockname()[1])
