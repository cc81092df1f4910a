"""Files that pages load: a fixed table, read once. No name from a browser ever becomes a path."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from planewise.report.html import STYLE, view_script, view_style


@dataclass(frozen=True)
class StaticFile:
    """The bytes of a file and what kind they are."""

    content: bytes
    media_type: str
    version: str  # part of its address, so that it can be kept for long


@cache
def static_files() -> dict[str, StaticFile]:
    """All there are, by name."""
    here = files("planewise.app")
    scripts = {
        "htmx.js": here.joinpath("vendor", "htmx", "htmx.min.js").read_bytes(),
        "review.js": here.joinpath("static", "review.js").read_bytes(),
        "view.js": view_script().encode(),
    }
    styles = {
        "page.css": STYLE.encode(),
        "view.css": view_style().encode(),
        "review.css": here.joinpath("static", "review.css").read_bytes(),
    }
    out = {}
    for kind, group in (("text/javascript", scripts), ("text/css", styles)):
        for name, content in group.items():
            out[name] = StaticFile(content, kind, hashlib.sha256(content).hexdigest()[:12])
    return out
