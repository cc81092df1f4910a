"""Data sets: which ones, where they come from, and the form in which contenders get them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks import data as datasets

from .families import Family

TARGET = "target"
TEST_SHARE = 0.4
READERS = {".parquet": pd.read_parquet, ".csv": pd.read_csv}


@dataclass(frozen=True)
class Table:
    """A prepared data set; classes are 0, 1, ..."""

    name: str
    task: str
    X: pd.DataFrame
    y: np.ndarray
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Split:
    """The rows of one seed, the same for all contenders."""

    task: str
    X: Any
    X_test: Any
    y: np.ndarray
    y_test: np.ndarray
    classes: np.ndarray
    categories: tuple[str, ...]


def listed(kind: str) -> dict[str, list[str]]:
    """Names of the data sets of a kind, by list: develop and report, for instance."""
    lists: dict[str, list[str]] = {}
    with Path(__file__).with_name("sets.csv").open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            if line["kind"] == kind:
                lists.setdefault(line["list"], []).append(line["name"])
    return lists


def read(name: str, folder: Path | None) -> tuple[pd.DataFrame, str]:
    """The data set with its column "target", and its task.

    Those of `benchmarks.data` are found as its `load` finds them. All others have to be in `folder`.
    """
    if name in datasets.list_datasets():
        bunch = datasets.load(name, as_frame="pandas", data_home=folder)
        return bunch.data.assign(**{TARGET: bunch.target}), bunch.task
    if folder is None:
        raise datasets.DatasetNotFoundError(
            f"Data set {name!r} is not one of benchmarks.data: pass --data with the folder that has it."
        )
    if not (folder / "index.csv").is_file():
        raise ValueError(f"--data is '{folder}', which has no index.csv.")
    index = pd.read_csv(folder / "index.csv").set_index("name")
    if name not in index.index:
        raise datasets.DatasetNotFoundError(f"Data set {name!r} is not listed in '{folder / 'index.csv'}'.")
    path, task = folder / index.loc[name, "file"], index.loc[name, "task"]
    if path.suffix not in READERS:
        raise ValueError(f"'{path}' is neither a .parquet nor a .csv file.")
    return READERS[path.suffix](path).dropna(subset=[TARGET]), task


def prepare(name: str, frame: pd.DataFrame, task: str, family: Family) -> Table:
    """At most `max_rows` rows; categories as they are or one-hot encoded, and without classes that are too small."""
    if len(frame) > family.max_rows:
        frame = frame.sample(family.max_rows, random_state=0)
    if task == "regression":
        y = frame[TARGET].to_numpy(float)
    else:
        y = pd.factorize(frame[TARGET], sort=True)[0]
        kept = np.bincount(y)[y] >= family.min_class_rows
        frame, y = frame[kept], pd.factorize(y[kept], sort=True)[0]
    X = frame.drop(columns=TARGET)
    categories = [column for column in X if _is_category(X[column])]
    # From objects, so that no category is left of which the sample has no row.
    X[categories] = X[categories].astype(object)
    if family.native:
        X[categories] = X[categories].astype("category")
        return Table(name, task, X, y, tuple(categories))
    return Table(name, task, pd.get_dummies(X, columns=categories, dtype=float).astype(float), y)


def _is_category(column: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def split(table: Table, seed: int, family: Family) -> Split:
    """60% for training and 40% for testing, with equal shares of each class."""
    classes = None if table.task == "regression" else table.y
    X, X_test, y, y_test = train_test_split(table.X, table.y, test_size=TEST_SHARE, random_state=seed, stratify=classes)
    if not family.native:
        X, X_test = X.to_numpy(), X_test.to_numpy()
    if family.filled:
        medians = np.nanmedian(X, axis=0)
        X, X_test = (np.where(np.isnan(rows), medians, rows) for rows in (X, X_test))
    return Split(table.task, X, X_test, y, y_test, np.unique(table.y), table.categories)
