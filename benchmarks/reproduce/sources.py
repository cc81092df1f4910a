"""Which code a cell comes from: a short hash of all that may change its figures."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "src" / "planewise", ROOT / "native")
KINDS = (".py", ".cpp", ".hpp", ".h")
HERE = tuple(Path(__file__).with_name(f"{name}.py") for name in ("protocols", "methods"))


@cache
def code_hash() -> str:
    """Of the package's sources, native ones too, and of what runs the cells.

    Any edit changes it, also one that changes no figure.
    """
    found = hashlib.sha256()
    files = sorted(path for folder in FOLDERS for path in folder.rglob("*") if path.suffix in KINDS)
    for path in (*files, *HERE):
        found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]
