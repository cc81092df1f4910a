"""The one error of files that cannot be read."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file that is not a planewise model, is damaged or forged, or has another version of the file format."""


def require(condition: object, words: str) -> None:
    """Raise a ModelFileError that says what is wrong with the file, unless the condition holds."""
    if not condition:
        raise ModelFileError(words)


class CannotBeSavedError(ValueError):
    """Says what of an estimator no file can hold."""
