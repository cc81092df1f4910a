"""Estimators inside another one's attributes and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planewise.io._arrays import ArrayReader, ArrayWriter
from planewise.io._errors import CannotBeSavedError, require
from planewise.io._scikit_kinds import Selection, without_warning


@dataclass(frozen=True)
class Nested:
    """A fitted estimator of one of these names."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        from planewise.io._models import pack_model

        return pack_model(value, arrays)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        from planewise.io._models import unpack_model

        # Before anything is made of it: a model inside a model inside a model has no end.
        require(
            isinstance(packed, dict) and isinstance(packed.get("kind"), str) and packed["kind"] in self.names,
            f"has a {where} of the wrong kind",
        )
        return unpack_model(packed, arrays)


@dataclass(frozen=True)
class Member:
    """Any estimator that may be part of a pipeline, fitted or not; or one of these words (or None) in its place."""

    fitted: bool = True
    words: tuple[str | None, ...] = ()

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        from planewise.io._models import pack_model

        return value if self._is_word(value) else pack_model(value, arrays, fitted=self.fitted)

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        from planewise.io._models import unpack_model

        if self._is_word(packed):
            return packed
        require(isinstance(packed, dict) and packed.get("kind") != "TableModel", f"has a {where} of the wrong kind")
        return unpack_model(packed, arrays, fitted=self.fitted)

    def _is_word(self, value: Any) -> bool:
        return (value is None or isinstance(value, str)) and value in self.words


@dataclass(frozen=True)
class Steps:
    """A list of names and estimators; `with_columns`, also of the columns that each of them gets."""

    fitted: bool
    words: tuple[str | None, ...]
    with_columns: bool = False

    def pack(self, value: Any, arrays: ArrayWriter) -> Any:
        packed = []
        for name, each, *columns in value:
            # Of a fitted ColumnTransformer, what gets no columns is not fitted.
            fitted = self.fitted and not (self.with_columns and is_empty(columns[0]))
            try:
                member = Member(fitted, self.words).pack(each, arrays)
                rest = [Selection().pack(chosen, arrays) for chosen in columns]
            except (TypeError, ValueError) as error:
                known = TypeError if isinstance(error, TypeError) else CannotBeSavedError
                raise known(f"In {name!r}: {error}") from None
            packed.append([name, member, *rest])
        return packed

    def unpack(self, packed: Any, arrays: ArrayReader, where: str) -> Any:
        length = 3 if self.with_columns else 2
        require(
            isinstance(packed, list)
            and all(isinstance(each, list) and len(each) == length and isinstance(each[0], str) for each in packed),
            f"has {where} of an unknown form",
        )
        names = [each[0] for each in packed]
        require(len(set(names)) == len(names) and not any("__" in name for name in names), f"has {where} of odd names")
        steps = []
        for name, member, *rest in packed:
            columns = [Selection().unpack(each, arrays, where) for each in rest]
            fitted = self.fitted and not (self.with_columns and is_empty(columns[0]))
            steps.append((name, Member(fitted, self.words).unpack(member, arrays, where), *columns))
        return steps


def is_empty(columns: Any) -> bool:
    """Whether these are no columns at all, or a mask that chooses none: such transformers are never fitted."""
    if isinstance(columns, str | int | slice) or callable(columns):
        return False
    listed = list(without_warning(columns))
    return not listed or (isinstance(listed[0], bool) and not any(listed))
