"""A file that one process at a time may write: the system forgets the lock when its owner dies, however it dies."""

from __future__ import annotations

import os
import sys

FAR_AWAY = 2**62  # a byte that no file reaches: Windows keeps others from reading what is locked


def lock(handle: int) -> bool:
    """Whether the open file is ours now; never waits."""
    if sys.platform == "win32":
        import msvcrt

        at = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, FAR_AWAY, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, at, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
