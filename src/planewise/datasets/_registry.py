"""What is known about each data set: task, size, OpenML id, source, licence and peculiarities."""

from __future__ import annotations

import csv
import difflib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

TASKS = ("classification", "regression")


class DatasetInfo(NamedTuple):
    """One line of `registry.csv`; `rows` and `features` are those of the reference copy."""

    name: str
    task: str
    rows: int
    features: int
    openml_id: int | None
    source: str
    licence: str
    note: str


@cache
def registry() -> dict[str, DatasetInfo]:
    """Return all known data sets by name."""
    text = files(__package__).joinpath("registry.csv").read_text(encoding="utf-8")
    return {line["name"]: _parse(line) for line in csv.DictReader(text.splitlines())}


def _parse(line: dict[str, str]) -> DatasetInfo:
    return DatasetInfo(
        name=line["name"],
        task=line["task"],
        rows=int(line["rows"]),
        features=int(line["features"]),
        openml_id=int(line["openml_id"]) if line["openml_id"] else None,
        source=line["source"],
        licence=line["licence"],
        note=line["note"],
    )


def find(name: str) -> DatasetInfo:
    """Return what is known of `name`, or say which names are close to it."""
    known = registry()
    if name in known:
        return known[name]
    raise ValueError(f"Unknown data set {name!r}. {_suggestion(str(name).lower(), list(known))}")


def _suggestion(name: str, known: list[str]) -> str:
    # People shorten names ("pima", "wdbc") more often than they misspell them, and difflib sees no
    # likeness between a short name and a long one.
    longer = [candidate for candidate in known if name and name in candidate]
    close = [*longer, *difflib.get_close_matches(name, known)]
    if not close:
        return "list_datasets() lists all names."
    return "Did you mean " + " or ".join(repr(n) for n in list(dict.fromkeys(close))[:3]) + "?"


def list_datasets(task: str | None = None) -> list[str]:
    """List the data sets that :func:`load` knows.

    Parameters
    ----------
    task : {"classification", "regression"}, default=None
        Only the sets for this task; all of them by default.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from planewise.datasets import list_datasets
    >>> list_datasets(task="regression")[:3]
    ['abalone', 'ailerons', 'bike_sharing_hour']
    """
    if task is not None and task not in TASKS:
        raise ValueError(f"task must be None or one of {TASKS}, got {task!r}.")
    return sorted(info.name for info in registry().values() if task in (None, info.task))
