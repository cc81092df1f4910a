"""One decision of a person, as an answers file has it."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, fields
from typing import Any, Self

DECISIONS = ("accept", "override", "note", "undo")
_KEY = re.compile(r"[0-9a-f]{32}")
_TEXTS = ("id", "fingerprint", "decision", "note", "who", "when")


def is_key(text: str) -> bool:
    """Whether a text can be the id of a record."""
    return _KEY.fullmatch(text) is not None


def is_text(value: Any) -> bool:
    """Whether it is text that can be written as UTF-8: JSON can spell halves of characters."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


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
    def read(cls, value: Any) -> Self:
        """What a line says; an error with what is wrong."""
        if not isinstance(value, dict) or set(value) != {"id", "size", "rule"}:
            raise ValueError("its batch must have the keys id, size and rule")
        _require(_is_id(value["id"]), "the id of its batch", value["id"], "32 hexadecimal digits")
        _require(_is_count(value["size"]) and value["size"] > 0, "the size of its batch", value["size"], "at least 1")
        _require(is_text(value["rule"]), "the rule of its batch", value["rule"], "a text")
        return cls(**value)


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

    def value(self) -> dict[str, Any]:
        """What a line says; decisions that were made one by one have no "batch", as in version 1."""
        value = {name: each for name, each in vars(self).items() if name != "batch"}
        return value if self.batch is None else value | {"batch": vars(self.batch)}

    @classmethod
    def read(cls, value: dict[str, Any]) -> Self:
        """What a parsed line says; the words of the error continue "is damaged:"."""
        for name in _NAMES - set(value):
            raise ValueError(f"it is not a record of a review: it has no key {name!r}")
        for name in set(value) - _NAMES - {"batch"}:
            raise ValueError(f"it is not a record of a review: its key {name[:40]!r} is unknown")
        for name in _TEXTS:
            _require(is_text(value[name]), name, value[name], "a text")
        _require(_is_id(value["id"]), "id", value["id"], "32 hexadecimal digits")
        _require(_is_count(value["row"]), "row", value["row"], "a whole number, counted from 0")
        _require(value["row_id"] is None or is_text(value["row_id"]), "row_id", value["row_id"], "a text or null")
        _require(value["decision"] in DECISIONS, "decision", value["decision"], f"one of {', '.join(DECISIONS)}")
        _require(_is_scalar(value["answer"]), "answer", value["answer"], "a class or a number")
        undoes, decides = value["decision"] == "undo", value["decision"] in ("accept", "override")
        label = _is_scalar(value["label"]) if decides else value["label"] is None
        _require(label, "label", value["label"], "a class or a number" if decides else "null without a decision")
        same = value["label"] == value["answer"]
        _require(value["decision"] != "accept" or same, "label", value["label"], "the answer, which was accepted")
        confirms = (
            value["decision"] == "override" and same and isinstance(value["label"], str)
        )  # numbers may be typed so
        _require(not confirms, "label", value["label"], "another class than the answer")
        _require(_is_id(value["undoes"]) if undoes else value["undoes"] is None, "undoes", value["undoes"],
                 "the id of a record" if undoes else "null if nothing is undone")  # fmt: skip
        if "batch" not in value:
            return cls(**value)
        _require(value["decision"] == "accept", "decision", value["decision"], "accept in a batch")
        return cls(**value | {"batch": Batch.read(value["batch"])})


_NAMES = {field.name for field in fields(Record)} - {"batch"}  # of every line


def _require(right: bool, name: str, found: Any, expected: str) -> None:
    if not right:
        raise ValueError(f"{name} must be {expected}; got {ascii(found)[:60]}")


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and is_key(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_scalar(value: Any) -> bool:
    if isinstance(value, int):  # bool too
        return -(2**63) <= value < 2**64  # whole numbers of NumPy, which classes are
    return is_text(value) or (isinstance(value, float) and math.isfinite(value))
