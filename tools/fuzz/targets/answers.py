"""Answers files: AnswersFileError, or records that can be counted and that a second reading finds again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

from mutations import damage_bytes, damage_json
from target import scratch

from planewise.answers import AnswersFile, AnswersFileError, Batch, Ledger, Record, id_column_of, read_content
from planewise.answers._lines import sealed

OUTCOMES = ("refused", "read", "rows outside the table")
MAX_BYTES = 1 << 13
USES_CORE = False
WORDS = (
    b"\n",
    b"\r\n",
    b'"batch": ',
    b'"undoes": ',
    b'"version": 1',
    b'"version": 2',
    b"null",
    b"\xef\xbb\xbf",
    b"NaN",
)
ABOUT = {"model": "m" * 64, "table": "t" * 64, "id": None, "rows": 4, "target": "price"}


def case(data: bytes) -> str:
    path = scratch() / "answers.jsonl"
    path.write_bytes(data)
    try:
        id_column_of(path, None)
        content = read_content(path)
        with AnswersFile(path, ABOUT) as file:  # recovers from a torn end
            records = file.records
    except AnswersFileError:
        return "refused"
    finally:
        for torn in path.parent.glob("answers.jsonl.torn*"):
            torn.unlink()
    again = read_content(path)
    assert again.records == records == content.records and not again.torn and not again.unended
    assert all(Record.read(json.loads(json.dumps(record.value()))) == record for record in records)
    if not all(0 <= record.row < ABOUT["rows"] for record in records):
        return "rows outside the table"  # readers of a table refuse them
    ledger = Ledger(ABOUT["rows"], records)
    for who in [None, *ledger.reviewers]:
        ledger.settled(who)
    return "read"


def seeds() -> Iterable[bytes]:
    both = Batch("b" * 32, 2, "accept all")
    records = [
        Record(f"{k:032x}", k % 4, "P", "f", "dear", decision, label, note, who, "2026", undoes, batch)
        for k, (decision, label, note, who, undoes, batch) in enumerate(
            [
                ("accept", "dear", "", "Ada", None, None),
                ("override", 1.5, "why", "Bob", None, None),
                ("note", None, "look", "Ada", None, None),
                ("undo", None, "", "Ada", f"{0:032x}", None),
                ("accept", True, "", "Ada", None, both),
                ("accept", "x", "", "Ada", None, both),
                ("undo", None, "", "Ada", "b" * 32, None),
            ]
        )
    ]
    first = {"format": "planewise review answers", **ABOUT, "begun": "2026"}
    for version, most in ((3, 7), (3, 2), (2, 7), (1, 1)):
        values = [first | {"version": version}, *(record.value() for record in records[:most])]
        yield with_checksums(values) if version > 2 else b"".join(json.dumps(each).encode() + b"\n" for each in values)
    yield with_checksums([first | {"version": 3}, records[0].value()])[:-40]
    yield json.dumps(first).encode()[:20]


def with_checksums(values: Iterable[dict[str, Any]]) -> bytes:
    """The lines of a file of the newest version, each with a right checksum of its own and of the line before it."""
    lines, after = [], ""
    for value in values:
        line, after = sealed({name: each for name, each in value.items() if name not in ("check", "after")}, after)
        lines.append(line)
    return b"".join(lines)


def mutated(data: bytes, rng: random.Random, mutate: Callable[[bytes], bytes]) -> bytes:
    how = rng.random()
    if how < 0.2:
        return mutate(data)
    if how < 0.3:
        return damage_bytes(data, rng)
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    if how < 0.5:
        other = lines[rng.randrange(len(lines))]
        lines[at : at + rng.randrange(2)] = [other] * rng.randrange(3)
        return b"\n".join(lines)
    try:
        value = json.loads(lines[at])
        damage_json(value, rng)
        lines[at] = json.dumps(value).encode()
        if how < 0.9:  # most with right checksums, which is what reaches the checks behind them
            return with_checksums([json.loads(line) for line in lines if line])
    except (ValueError, TypeError, AttributeError, RecursionError):
        return mutate(data)
    return b"\n".join(lines)
