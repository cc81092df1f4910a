"""Files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

from planewise._atomic import replacing


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it; when writing fails, what was there stays as it was."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} into.")
    with replacing(target) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
