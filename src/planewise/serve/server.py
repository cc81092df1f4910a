"""A server for the application: one process, which listens until it is told to end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from planewise._server import Announcing, Impatient

BACKLOG = 1024


def server_config(app: Any, host: str, port: int, seconds: float) -> uvicorn.Config:
    """The settings of the server; running requests may take so many seconds to end when it stops."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=_protocol(),
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="error",  # malformed requests of strangers are refused without a word
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=max(1, round(seconds)),
        h11_max_incomplete_event_size=Impatient.max_header_bytes,
        backlog=BACKLOG,
    )


def _protocol() -> type:
    """The quickest of uvicorn's protocols that is installed."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
    except ModuleNotFoundError:
        from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol  # type: ignore[assignment]
    return type("ImpatientProtocol", (Impatient, Protocol), {"header_seconds": 60.0})


def serve(app: Any, host: str, port: int, seconds: float, listening: Callable[[int], None]) -> None:
    """Serve until interrupted; `listening` is told the port once requests can come.

    Raises
    ------
    OSError
        If the address is not one of this machine, or its port is taken.
    """
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    with socket.create_server(address[:2], family=family, backlog=BACKLOG) as link:
        Announcing(server_config(app, host, port, seconds), listening).run([link])
