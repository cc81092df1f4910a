"""One server for one review with few, short connections, and how a browser is led to it without showing the secret."""

from __future__ import annotations

import html
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from planewise._server import Announcing, Impatient

HEADER_SECONDS = 10.0  # for a request's first line and headers to arrive
MAX_CONNECTIONS = 128
MAX_HEADERS = 16 << 10


class ImpatientProtocol(Impatient, H11Protocol):
    """Closes connections that send no complete request in time, and those beyond a maximum number."""

    @property
    def header_seconds(self) -> float:  # type: ignore[override]
        """How long headers may take."""
        return HEADER_SECONDS

    @property
    def max_connections(self) -> int:  # type: ignore[override]
        """How many connections there may be."""
        return MAX_CONNECTIONS


def server_config(app: Any, host: str, port: int) -> uvicorn.Config:
    """The settings of the server."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=ImpatientProtocol,
        ws="none",
        lifespan="on",
        access_log=False,  # addresses contain the token
        log_level="error",  # malformed requests of strangers are refused without a word
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=MAX_HEADERS,
    )


def serve(app: Any, host: str, port: int, listening: Callable[[int], None]) -> None:
    """Serve until interrupted; `listening` is told the port once requests can come."""
    Announcing(server_config(app, host, port), listening).run()


NAME = "open-review.html"


class RedirectFile:
    """A small page that forwards to an address, in a folder that only its owner can read.

    It is in the home folder, under a name without a dot: browsers that are installed as snaps have their own /tmp and
    see no hidden folders.
    """

    def __init__(self) -> None:
        self._folder = _private_folder()

    def lead_to(self, address: str) -> str:
        """Write the page and return its address."""
        shown = html.escape(address)
        content = (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Review</title>\n'
            f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={shown}"></head>\n'
            f'<body><p><a href="{shown}">Continue to the review</a></p></body></html>\n'
        )
        path = self._folder / NAME
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(content)
        return path.as_uri()

    def remove(self) -> None:
        """Delete the page; doing it twice does no harm."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _private_folder() -> Path:
    for parent in (Path.home, tempfile.gettempdir):
        try:
            folder = Path(tempfile.mkdtemp(prefix="planewise-review-", dir=parent())).resolve()
        except (OSError, RuntimeError):  # not writable, or the home folder is unknown
            continue
        if is_private(folder):
            return folder
        folder.rmdir()
    raise PermissionError("neither the home folder nor the folder of temporary files can keep a file private")


def is_private(folder: Path) -> bool:
    """Whether only its owner can read it; some network drives and USB sticks show all files to everybody."""
    if os.name != "posix":
        return True  # Windows: the folders of a profile inherit rights of their owner alone
    found = folder.stat()
    return found.st_uid == os.geteuid() and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO) == 0
