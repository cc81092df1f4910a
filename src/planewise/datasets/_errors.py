"""The one error for "this set is nowhere to be found", with its way out."""

from __future__ import annotations

from ._bundled import BUNDLED
from ._registry import DatasetInfo


class DatasetNotFoundError(FileNotFoundError):
    """A known data set is neither on this machine nor to be had from the network."""


def not_found(info: DatasetInfo, reason: str) -> DatasetNotFoundError:
    """Build the error that says why `info` could not be loaded and what would help."""
    ways = [
        "pass data_home= (or set PLANEWISE_DATA to) a directory with an index.csv and the set",
        "choose a set bundled with scikit-learn: " + ", ".join(sorted(BUNDLED)),
    ]
    if info.openml_id is not None:
        ways.append(
            "connect to the internet once and leave download=True, so that it can be fetched from OpenML and kept"
        )
    steps = "".join(f"\n  - {way}" for way in ways)
    return DatasetNotFoundError(f"Data set {info.name!r} not found: {reason}. Either{steps}")
