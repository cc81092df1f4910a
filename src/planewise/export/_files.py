"""Files that are whole or not there."""

from __future__ import annotations

import os

from planewise._atomic import replacing


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it; when writing fails, what was there stays as it was."""
    with replacing(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
