"""The record of a fit, and the errors on held-out rows, that a table model keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise.io._arrays import ArrayReader, ArrayWriter
from planewise.io._errors import require
from planewise.io._kinds import Integer, Kind, Maybe, Number, Numbers, Plain, Record, Several, Truth, Word, unpack_parts
from planewise.table import SPLITS, HeldOutErrors


@dataclass(frozen=True)
class Fields:
    """A dict with these keys."""

    parts: Mapping[str, Kind]

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {name: kind.pack(value[name], arrays) for name, kind in self.parts.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> dict[str, Any]:
        return unpack_parts(self.parts, packed, arrays, where)


@dataclass(frozen=True)
class ByName:
    """A dict with any names, all of one kind."""

    kind: Kind

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        return {str(name): self.kind.pack(each, arrays) for name, each in value.items()}

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> dict[str, Any]:
        require(isinstance(packed, dict), f"has a {where} that is not a table of names")
        return {name: self.kind.unpack(each, arrays, f"{where}.{name[:40]}") for name, each in packed.items()}


_COUNT = Integer()
_ROWS = Fields({"read": _COUNT, "with_target": _COUNT, "fitted": _COUNT, "held_out": _COUNT})
_SPLIT = Fields({"kind": Word(tuple(SPLITS)), "column": Maybe(Plain(str)), "share": Number(0.0)})
_MEASURED = Fields(dict.fromkeys(("value", "low", "high"), Number(finite=False)))
_WORDS = Several(Plain(str))
_READING = Fields(
    {
        "missing": _WORDS,
        "not_missing": _WORDS,
        "date_formats": ByName(Plain(str)),
        "decimals": ByName(Word((".", ","))),
        "categories": _WORDS,
    }
)
RECORD = Fields(
    {
        "date": Plain(str),
        "planewise": Plain(str),
        "files": Several(Plain(str)),
        "n_files": _COUNT,
        "rows": Maybe(_ROWS),
        "split": Maybe(_SPLIT),
        "seed": _COUNT,
        "quality": Maybe(ByName(ByName(_MEASURED))),
        "linear_is_as_good": Maybe(Truth()),
        "reading": Maybe(_READING),
    }
)
HELD_OUT_ERRORS = Record(HeldOutErrors, {"n_rows": Integer(1), "ranks": Numbers("int64"), "errors": Numbers("float64")})


def check_records(model: Any) -> None:
    """An error where what a table model keeps about its fit does not fit together."""
    kept, record = model.held_out_errors_, model.record_
    if kept is not None:
        require(model.task_ == "regression", "has prediction intervals, but predicts classes")
        require(
            len(kept.ranks) == len(kept.errors) > 0
            and kept.ranks[0] >= 1
            and bool((np.diff(kept.ranks) > 0).all())
            and kept.ranks[-1] == kept.n_rows
            and bool((kept.errors >= 0).all() and np.isfinite(kept.errors).all() and (np.diff(kept.errors) >= 0).all()),
            "has errors on held-out rows that are not in order",
        )
    if record is not None and record["quality"] is not None:
        known = record["quality"].get("model") and record["rows"] is not None
        require(known, "has a record_ without the model's quality, or without the number of rows")
