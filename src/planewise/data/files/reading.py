"""What a user may say about how a table is written; the rest is found in the file."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

MISSING = ("", "NA", "N/A", "nan", "NaN", "null", "NULL", "?")
MISSING_NUMBERS = (  # missing as well where the other values of a column are numbers or dates
    *("-", "--", "---", ".", "..", "n.a.", "N.A.", "n/a", "na", "N.a.", "#N/A", "#NA", "#NV", "#NULL!", "#DIV/0!"),
    *("#VALUE!", "#WERT!", "#REF!", "#BEZUG!", "<NA>", "None", "none", "NONE", "Null", "nil", "NIL", "k.A.", "k. A."),
    *("missing", "Missing", "unknown", "Unknown", "NaT", "\\N"),
)
NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "pipe": "|", "space": " "}


class TableFileError(ValueError):
    """A table cannot be read as it is; the message says where and what to do."""


@dataclass(frozen=True)
class Reading:
    """How tables in files are to be read; what is not given is found in each file.

    Parameters
    ----------
    separator : str or None
        The character between fields, or "tab", "comma", "semicolon" or "bar".
    decimal : {".", ","} or None
        The decimal mark; the other one may then separate thousands.
    encoding : str or None
        Such as "utf-8", "utf-16" or "cp1252"; any that Python knows.
    missing : sequence of str
        Words that mean a missing value, besides the usual ones such as "NA".
    not_missing : sequence of str
        Words that usually mean a missing value, but not here.
    date_formats : mapping of str to str
        Format of the dates of a column, such as ``{"born": "%d.%m.%Y"}``; "" for all columns.
    header : bool or None
        Whether the first row holds the names of the columns.
    comment : str or None
        Lines that start with this are skipped.
    sheet : str or None
        The sheet of a workbook; by default its first one.
    categories : sequence of str
        Columns to read as text, such as codes that are written as numbers.
    decimals : mapping of str to str
        Decimal marks by column, for values that could mean either; from an earlier table of the same kind.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()
    not_missing: Sequence[str] = ()
    date_formats: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    comment: str | None = None
    sheet: str | None = None
    categories: Sequence[str] = ()
    decimals: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.separator is not None:
            mark = NAMED_SEPARATORS.get(self.separator, self.separator)
            if len(mark) != 1 or not mark.isascii() or mark in "\"'\r\n" or mark.isalnum():
                raise TableFileError(
                    f"separator must be one character, such as ';', or tab, comma, semicolon or bar; got "
                    f"{self.separator!r}."
                )
            object.__setattr__(self, "separator", mark)
        if self.decimal not in (None, ".", ","):
            raise TableFileError(f"decimal must be '.' or ','; got {self.decimal!r}.")
        if self.decimal is not None and self.decimal == self.separator:
            raise TableFileError(f"separator and decimal are both {self.decimal!r}; they must differ.")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except (LookupError, ValueError):
                raise TableFileError(
                    f"encoding {self.encoding!r} is not known; examples: utf-8, utf-16, cp1252, latin-1."
                ) from None
        if self.comment is not None and (not self.comment or not self.comment.isascii()):
            raise TableFileError(f"comment must be one or more ASCII characters, such as '#'; got {self.comment!r}.")

    @property
    def missing_words(self) -> list[str]:
        """The words that mean a missing value in any column."""
        left_out = set(self.not_missing)
        return [word for word in dict.fromkeys([*MISSING, *self.missing]) if word == "" or word not in left_out]

    @property
    def missing_numbers(self) -> list[str]:
        """The words that mean a missing value among numbers or dates."""
        return [word for word in MISSING_NUMBERS if word not in set(self.not_missing)]

    def remembered(self) -> dict[str, Any]:
        """What a model should know to read other tables of the same kind, as JSON can hold it."""
        return {
            "missing": list(self.missing),
            "not_missing": list(self.not_missing),
            "date_formats": dict(self.date_formats),
            "decimals": dict(self.decimals),
            "categories": list(self.categories),
        }

    def with_remembered(self, known: Mapping[str, Any] | None) -> Self:
        """These options, completed by what a model remembers of the table it was fitted on."""
        if not known:
            return self
        return replace(
            self,
            missing=[*dict.fromkeys([*known.get("missing", ()), *self.missing])],
            not_missing=[*dict.fromkeys([*known.get("not_missing", ()), *self.not_missing])],
            date_formats={**known.get("date_formats", {}), **self.date_formats},
            decimals={**known.get("decimals", {}), **self.decimals},
            categories=[*dict.fromkeys([*known.get("categories", ()), *self.categories])],
        )
