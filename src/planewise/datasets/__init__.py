"""The papers' data: generators for the artificial sets, a loader for the real ones."""

from ._generators import (
    make_circle_and_ring,
    make_friedman,
    make_new_moons,
    make_subspace_batches,
)
from ._load import load
from ._registry import list_datasets
from ._sources import DatasetNotFoundError

__all__ = [
    "DatasetNotFoundError",
    "list_datasets",
    "load",
    "make_circle_and_ring",
    "make_friedman",
    "make_new_moons",
    "make_subspace_batches",
]
