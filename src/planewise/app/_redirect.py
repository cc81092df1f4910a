"""How a browser is led to the page without its secret on the browser's command line, which every user can read."""

from __future__ import annotations

import html
import os
import shutil
import stat
import tempfile
from pathlib import Path

NAME = "open-review.html"


class RedirectFile:
    """A small page that forwards to an address, in a folder that its owner alone can look into.

    It lies in the home folder under a name without a dot: browsers that are installed as snaps have a /tmp of their
    own and see no hidden folders. Elsewhere it would be tidier, and would not open in the browser of many desktops.
    """

    def __init__(self) -> None:
        self._folder = _private_folder()

    def lead_to(self, address: str) -> str:
        """Write it; where it is, as an address."""
        shown = html.escape(address)
        content = (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Review</title>\n'
            f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={shown}"></head>\n'
            f'<body><p><a href="{shown}">Go on to the review</a></p></body></html>\n'
        )
        path = self._folder / NAME
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(content)
        return path.as_uri()

    def remove(self) -> None:
        """Take it away; more than once does no harm."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _private_folder() -> Path:
    for parent in (Path.home, tempfile.gettempdir):
        try:
            folder = Path(tempfile.mkdtemp(prefix="planewise-review-", dir=parent())).resolve()
        except (OSError, RuntimeError):  # not writable; or nobody knows where home is
            continue
        if is_private(folder):
            return folder
        folder.rmdir()
    raise PermissionError("neither the home folder nor that of temporary files can keep a file private")


def is_private(folder: Path) -> bool:
    """Whether others are kept out; some network drives and USB sticks show all files to everybody."""
    if os.name != "posix":
        return True  # Windows: the profile's folders are their owner's by the rights they inherit
    found = folder.stat()
    return found.st_uid == os.geteuid() and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO) == 0
