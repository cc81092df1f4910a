"""Tables as people have them in files: found out how they are written, read whole or in chunks."""

from planewise.files._reading import Reading, TableFileError
from planewise.files._safe_csv import exact_cells, safe_cells
from planewise.files._sources import BY_ENDING, COMPRESSED, ending_of
from planewise.files._tables import InputTable
from planewise.files._values import FoundColumn, as_data

__all__ = [
    "BY_ENDING",
    "COMPRESSED",
    "FoundColumn",
    "InputTable",
    "Reading",
    "TableFileError",
    "as_data",
    "ending_of",
    "exact_cells",
    "safe_cells",
]
