"""Read table files, whole or in chunks, after detecting their format and dialect."""

from planewise.files._reading import Reading, TableFileError
from planewise.files._sources import BY_ENDING, ending_of
from planewise.files._tables import InputTable
from planewise.files._values import FoundColumn, as_data

__all__ = [
    "BY_ENDING",
    "FoundColumn",
    "InputTable",
    "Reading",
    "TableFileError",
    "as_data",
    "ending_of",
]
