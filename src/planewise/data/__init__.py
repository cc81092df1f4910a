"""Tables before any model: data frames, files, batches of rows, and what their columns hold."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planewise.data.batches import from_batches
    from planewise.data.files.reading import Reading, TableFileError
    from planewise.data.files.tables import InputTable

__all__ = ["InputTable", "Reading", "TableFileError", "from_batches"]

_MODULES = {
    "InputTable": "files.tables",
    "Reading": "files.reading",
    "TableFileError": "files.reading",
    "from_batches": "batches",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: files need polars, and every estimator imports this package."""
    if name not in __all__:
        raise AttributeError(f"module 'planewise.data' has no attribute {name!r}")
    return getattr(import_module(f"planewise.data.{_MODULES[name]}"), name)
