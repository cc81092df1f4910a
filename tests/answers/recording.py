"""Records as tests of the file of answers write them."""

from __future__ import annotations

import json

from planewise.answers import Batch, Record

ABOUT = {"model": "m" * 64, "table": "t" * 64}


def record(number, row=0, decision="accept", undoes=None, note="", who="Ada", label="dear", batch=None):
    """A record with this number as its id; its label counts for decisions only."""
    return Record(
        f"{number:032x}", row, "P", "f", "dear", decision, label if decision in ("accept", "override") else None, note,
        who, "2026", None if undoes is None else f"{undoes:032x}", batch,
    )  # fmt: skip


def batch_of(number, rows):
    """Records that are written at once, and the batch with this number."""
    batch = Batch(f"{number:032x}", len(rows), "accept 'dear' with probability >= 0.95")
    return [record(number + 1 + k, row, batch=batch) for k, row in enumerate(rows)]


def write_old(path, *lines, version=2):
    """A file of an older version, in which lines have no checksums; they are records, values or bytes."""
    first = {"format": "planewise review answers", "version": version, **ABOUT, "rows": 5, "begun": "2026"}
    path.write_bytes(b"".join(map(_line, (first, *lines))))


def _line(value):
    if isinstance(value, bytes):
        return value
    return json.dumps(value.value() if isinstance(value, Record) else value).encode() + b"\n"


def unsealed(text, version=2):
    """The lines of a file as an older version would have written them: without checksums."""
    lines = [json.loads(line) for line in text.splitlines()]
    lines[0]["version"] = version
    kept = [{name: each for name, each in line.items() if name not in ("after", "check")} for line in lines]
    return "".join(json.dumps(line) + "\n" for line in kept)
