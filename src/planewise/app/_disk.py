"""On the disk and not only on the way to it: what is to outlive a loss of power."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


def to_disk(handle: int) -> None:
    """Wait until what was written is on the disk; macOS has a call of its own for this, which some disks refuse."""
    if sys.platform != "win32":
        import fcntl

        whole = getattr(fcntl, "F_FULLFSYNC", None)
        if whole is not None:
            with contextlib.suppress(OSError):
                fcntl.fcntl(handle, whole)
                return
    os.fsync(handle)


def folder_to_disk(folder: Path) -> None:
    """The names of files, too, are to stay; Windows knows no such thing."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            to_disk(handle)
        finally:
            os.close(handle)
