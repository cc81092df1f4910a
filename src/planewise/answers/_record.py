"""One line of an answers file: a decision of a person."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, fields
from typing import Any, Self

DECISIONS = ("accept", "override", "note", "undo")
_KEY = re.compile(r"[0-9a-f]{32}")
_TEXTS = ("id", "decision", "note", "who", "when", "fingerprint")


def is_key(text: str) -> bool:
    """Whether a text can be the id of a record."""
    return _KEY.fullmatch(text) is not None


def record_key(batch: str, row: int) -> str:
    """The id of a record of a batch: the same form sent again gives the same ids."""
    return hashlib.sha256(f"{batch} {row}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Batch:
    """Decisions that were made at once, by a rule."""

    id: str  # made with the form, as a record's
    size: int  # lines of the file; with fewer, a crash interrupted the writing
    rule: str  # such as "accept 'ok' with probability >= 0.95"

    @classmethod
    def read(cls, value: Any) -> Self | None:
        """What a line says; None if it cannot be."""
        if not isinstance(value, dict) or set(value) != {"id", "size", "rule"}:
            return None
        right = isinstance(value["id"], str) and isinstance(value["rule"], str) and type(value["size"]) is int
        return cls(**value) if right and value["size"] > 0 else None


@dataclass(frozen=True)
class Record:
    """One decision of a person, as it stands in the file."""

    id: str  # made with the form, so that sending it twice saves it once
    row: int
    row_id: str | None
    fingerprint: str  # of the values the model reads
    answer: Any  # the model's
    decision: str  # one of DECISIONS
    label: Any  # the right class or number according to the person; None for notes and undoing
    note: str
    who: str
    when: str  # UTC, ISO 8601
    undoes: str | None  # the id of another record, or of a batch
    batch: Batch | None = None

    def line(self) -> bytes:
        """The line of the file; decisions that were made one by one have no "batch", as in version 1."""
        value = {name: each for name, each in vars(self).items() if name != "batch"}
        if self.batch is not None:
            value["batch"] = vars(self.batch)
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode() + b"\n"

    @classmethod
    def read(cls, value: dict[str, Any] | None) -> Self | None:
        """What a parsed line says; None if it is not a record."""
        if value is None or set(value) - {"batch"} != _NAMES:
            return None
        batch = Batch.read(value["batch"]) if "batch" in value else None
        if "batch" in value and batch is None:
            return None
        texts = all(isinstance(value[name], str) for name in _TEXTS)
        if not texts or type(value["row"]) is not int or value["decision"] not in DECISIONS:
            return None
        return cls(**value | {"batch": batch})


_NAMES = {field.name for field in fields(Record)} - {"batch"}  # of every line
