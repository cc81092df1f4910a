"""Sets in a directory: an `index.csv` (columns `name`, `file`) and one parquet file a set."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from ._columns import TARGET, Columns, read_parquet
from ._errors import DatasetNotFoundError
from ._registry import DatasetInfo


def from_directory(info: DatasetInfo, data_home: str | os.PathLike[str] | None) -> Columns | None:
    """Return the set from `data_home` or PLANEWISE_DATA; None if neither is given or lists it."""
    given = data_home or os.environ.get("PLANEWISE_DATA")
    if not given:
        return None
    directory = Path(given).expanduser()
    index = directory / "index.csv"
    # Going on to OpenML would hide a mistyped path behind other data of the same name.
    if not index.is_file():
        origin = "data_home" if data_home else "PLANEWISE_DATA"
        raise DatasetNotFoundError(f"{origin} is '{directory}', which has no index.csv.")
    with index.open(encoding="utf-8", newline="") as lines:
        names = {line["name"]: line["file"] for line in csv.DictReader(lines)}
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
