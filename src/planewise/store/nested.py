"""Estimators inside another one's attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planewise.store.arrays import ArrayReader, ArrayWriter
from planewise.store.errors import require


@dataclass(frozen=True)
class Nested:
    """A fitted estimator of one of these names."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        from planewise.store.file import pack_model

        return pack_model(value, arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        from planewise.store.file import unpack_model

        # Before anything is made of it: a model inside a model inside a model has no end.
        require(
            isinstance(packed, dict) and isinstance(packed.get("kind"), str) and packed["kind"] in self.names,
            f"has a {where} of the wrong kind",
        )
        return unpack_model(packed, arrays)
