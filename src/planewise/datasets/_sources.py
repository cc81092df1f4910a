"""Where data sets come from: a directory, scikit-learn, or OpenML, which is asked once and kept in a cache."""

from __future__ import annotations

import csv
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import (
    fetch_california_housing,
    fetch_openml,
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
)
from sklearn.utils import Bunch

from ._columns import (
    TARGET,
    Columns,
    is_text,
    numbers_if_all_are,
    read_parquet,
    table_library,
    text_column,
    write_parquet,
)
from ._registry import DatasetInfo


class DatasetNotFoundError(FileNotFoundError):
    """A known data set is neither on this machine nor available from the network."""


def not_found(info: DatasetInfo, reason: str) -> DatasetNotFoundError:
    """Build the error that says why `info` could not be loaded and what would help."""
    ways = [
        "pass data_home= (or set PLANEWISE_DATA to) a directory with an index.csv and the set",
        "choose a set bundled with scikit-learn: " + ", ".join(sorted(BUNDLED)),
    ]
    if info.openml_id is not None:
        ways.append(
            "connect to the internet once and keep download=True, so that it can be fetched from OpenML and cached"
        )
    steps = "".join(f"\n  - {way}" for way in ways)
    return DatasetNotFoundError(f"Data set {info.name!r} not found: {reason}. Either{steps}")


def from_directory(info: DatasetInfo, data_home: str | os.PathLike[str] | None) -> Columns | None:
    """Return the set from `data_home` or PLANEWISE_DATA; None if neither is given or lists it."""
    given = data_home or os.environ.get("PLANEWISE_DATA")
    if not given:
        return None
    directory = Path(given).expanduser()
    index = directory / "index.csv"
    # Continuing with OpenML would hide a mistyped path behind other data of the same name.
    if not index.is_file():
        origin = "data_home" if data_home else "PLANEWISE_DATA"
        raise DatasetNotFoundError(f"{origin} is '{directory}', which has no index.csv.")
    with index.open(encoding="utf-8", newline="") as lines:
        try:
            names = {line["name"]: line["file"] for line in csv.DictReader(lines)}
        except (csv.Error, KeyError) as error:
            raise DatasetNotFoundError(f"'{index}' is not a table with the columns name and file: {error}.") from None
    if info.name not in names:
        return None
    return _read(directory / names[info.name])


def _read(path: Path) -> Columns:
    if not path.is_file():
        raise DatasetNotFoundError(f"'{path}' is listed in the index.csv beside it but missing.")
    columns = read_parquet(path)
    if TARGET not in columns:
        raise ValueError(f"'{path}' has no column {TARGET!r}.")
    return columns


BUNDLED: dict[str, Callable[[], Bunch]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer_wdbc": load_breast_cancer,
    # The paper's errors are in the units of the unscaled set.
    "diabetes_sklearn": partial(load_diabetes, scaled=False),
}


def from_scikit_learn(name: str) -> Columns | None:
    """Return the bundled set `name`, or None if scikit-learn does not include it."""
    return bunch_to_columns(BUNDLED[name]()) if name in BUNDLED else None


def bunch_to_columns(bunch: Bunch) -> Columns:
    """Turn scikit-learn's matrix and class codes into named columns and class names."""
    columns = {str(name): np.array(values) for name, values in zip(bunch.feature_names, bunch.data.T, strict=True)}
    classification = np.issubdtype(bunch.target.dtype, np.integer)
    target = bunch.target_names[bunch.target] if classification else bunch.target
    columns[TARGET] = target.astype(object) if classification else np.array(target)
    return columns


def from_openml(info: DatasetInfo, *, download: bool, progress: bool) -> Columns:
    """Return the set from the cache, or fetch it and keep it there."""
    if info.openml_id is None:
        raise not_found(info, "no OpenML id is known for it")
    path = cache_directory() / f"{info.name}-{info.openml_id}.parquet"
    if path.is_file():
        columns = read_parquet(path)
    elif download:
        columns = _fetch_and_keep(info, path, progress)
    else:
        raise not_found(info, "it is not in the cache and download=False")
    _warn_if_other_form(info, columns)
    return columns


def cache_directory() -> Path:
    """Return PLANEWISE_CACHE, or the usual place in the home directory."""
    return Path(os.environ.get("PLANEWISE_CACHE") or "~/.cache/planewise").expanduser()


def _fetch_and_keep(info: DatasetInfo, path: Path, progress: bool) -> Columns:
    # Before the download, so that nobody waits for data that cannot be cached.
    table_library()
    # scikit-learn shows no progress and has no hook for it: hence lines, not a bar.
    _say(progress, f"fetching {info.name!r} ({info.rows} rows, {info.features} features) ...")
    try:
        columns = _fetch(info)
    except (OSError, HTTPException, ValueError) as error:
        raise not_found(info, f"fetching it failed ({error})") from error
    try:
        write_parquet(columns, path)
    except OSError as error:
        warnings.warn(f"{info.name!r} could not be cached in {path.parent}: {error}", stacklevel=5)
    else:
        _say(progress, f"kept {info.name!r} in {path}")
    return columns


def _say(progress: bool, message: str) -> None:
    if progress:
        print(f"planewise: {message}", file=sys.stderr, flush=True)


def _fetch(info: DatasetInfo) -> Columns:
    # scikit-learn reads a file twice (once for the checksum), so it needs a place to put it.
    with TemporaryDirectory(prefix="planewise-") as scratch:
        if info.name == "california_housing":
            # OpenML has only the counts from which the papers' features are derived.
            return bunch_to_columns(fetch_california_housing(data_home=scratch))
        # This parser needs no pandas, whose own stumbles over categories that are numbers, and
        # reads the largest set in well under a minute.
        bunch = fetch_openml(
            data_id=info.openml_id,
            data_home=scratch,
            as_frame=False,
            parser="liac-arff",
            n_retries=1,
        )
    return _decode_bunch(bunch)


def _decode_bunch(bunch: Bunch) -> Columns:
    """Replace scikit-learn's codes for categories by their labels."""
    columns = {}
    for name, values in zip(bunch.feature_names, bunch.data.T, strict=True):
        labels = bunch.categories.get(name)
        columns[name] = np.array(values) if labels is None else _decode(values, labels)
    target = np.asarray(bunch.target)
    is_label = target.dtype.kind in "OU"
    columns[TARGET] = numbers_if_all_are(text_column(target.tolist())) if is_label else target
    return columns


def _decode(codes: np.ndarray, labels: list[str]) -> np.ndarray:
    # OpenML declares many numbers (0/1 flags, grades) as categories; elsewhere they are numbers.
    values = numbers_if_all_are(text_column(labels))
    missing = np.isnan(codes)
    column = values[np.where(missing, 0, codes).astype(np.intp)]
    if missing.any():
        column = column.astype(object if is_text(values) else np.float64)
        column[missing] = None if is_text(values) else np.nan
    return column


def _warn_if_other_form(info: DatasetInfo, columns: Columns) -> None:
    rows, features = len(columns[TARGET]), len(columns) - 1
    if (rows, features) != (info.rows, info.features):
        warnings.warn(
            f"OpenML's form of {info.name!r} has {rows} rows and {features} features, the "
            f"reference form has {info.rows} and {info.features}. {info.note}".rstrip(),
            stacklevel=5,
        )
