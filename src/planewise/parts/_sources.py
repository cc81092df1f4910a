"""Tables of files, of Arrow, of polars and of any frames, read part by part into a file."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from planewise._extras import require
from planewise._frames import named
from planewise.parts._spool import Part, Roles, Spooled, spool

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".tab")
ROWS_TO_INFER = 10_000
PART_VALUES = 2**20  # of a file that are in memory at a time; polars holds a few such parts


def from_parquet(
    path: Paths,
    *,
    target: str,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    categorical_features: Any = "from_dtype",
    folder: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Spooled:
    """Read a table in Parquet files, which may be larger than memory, into a memory-mapped file of float32 rows.

    The rows take 4 bytes per value on the disk (10^7 rows of 28 columns: 1.1 GB), and while they are written 8 more
    for each value of columns that float32 may not resolve. Target and weights are kept in memory.

    Parameters
    ----------
    path : path or list of paths
        A file, a folder (with all files below it that end in .parquet or .pq), a pattern such as ``"2024-*.parquet"``,
        or a list of these. Files are read in the order of their names. A folder with subfolders named
        ``column=value`` is refused.
    target : str
        The column to predict. It must have a value in every row.
    weight : str or None, default=None
        The column of weights. Rows with a weight of 0 are left out.
    columns : list of str or None, default=None
        The columns to learn from; None for all others.
    categorical_features : "from_dtype", list of str, None or mask, default="from_dtype"
        The categorical columns, as in the estimators. They must agree with those of the estimator, whose default is
        to take what was spooled.
    folder : path or None, default=None
        Where to write the file, in a new folder of its own. None: the system's folder for temporary files, which
        may be too small or even in memory; the variable TMPDIR sets another one.
    verbose : int, default=0
        Whether to show progress.

    Returns
    -------
    X : SpooledTable
        To be passed to ``fit`` and ``predict`` of trees.
    y : array of shape (n_rows,)
        The target.
    weight : float64 array of shape (n_rows,)
        Only if `weight` is given.

    Raises
    ------
    ValueError
        If files disagree in their columns or types, a target is missing, or a column cannot be read. The message names
        the file and the column. No file is left behind.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> from planewise import SLMBoostClassifier
    >>> from planewise.parts import from_parquet
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pl.DataFrame({"a": range(100), "b": [0.5, None] * 50, "y": [0] * 50 + [1] * 50})
    >>> table[:60].write_parquet(f"{folder.name}/1.parquet")
    >>> table[60:].write_parquet(f"{folder.name}/2.parquet")
    >>> X, y = from_parquet(folder.name, target="y")
    >>> with X:
    ...     X.shape, SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y).score(X, y)
    ((100, 2), 1.0)
    >>> folder.cleanup()
    """
    polars = _polars("from_parquet")
    files = find_files(path, PARQUET)
    roles = Roles(target, weight, _listed(columns), categorical_features)
    return spool(_file_parts(files, lambda file: polars.scan_parquet(file, glob=False), roles), roles, folder, verbose)


def from_csv(
    path: Paths,
    *,
    target: str,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    categorical_features: Any = "from_dtype",
    folder: str | PathLike[str] | None = None,
    verbose: int = 0,
    separator: str | None = None,
    null_values: str | Sequence[str] | None = None,
    schema_overrides: Mapping[str, Any] | None = None,
) -> Spooled:
    """Read a table in text files, which may be larger than memory, into a memory-mapped file of float32 rows.

    The types of columns follow from the first 10,000 rows of each file. Text is categorical only if it is named in
    `categorical_features`.

    Parameters
    ----------
    path, target, weight, columns, categorical_features, folder, verbose
        As in `from_parquet`; files end in .csv, .tsv or .tab.
    separator : str or None, default=None
        What separates values. None: a comma, and a tab in files that end in .tsv or .tab.
    null_values : str, list of str or None, default=None
        Texts that stand for missing values, beside the empty one.
    schema_overrides : dict or None, default=None
        Types of columns, by name, as polars names them: ``{"price": polars.Float64}``.

    Returns
    -------
    X, y : SpooledTable and array, or X, y, weight
        As from `from_parquet`.
    """
    polars = _polars("from_csv")
    files = find_files(path, TEXT)
    roles = Roles(target, weight, _listed(columns), categorical_features)
    nulls = null_values if null_values is None or isinstance(null_values, str) else list(null_values)

    def scan(file: Path) -> Any:
        between = separator or ("," if file.suffix.lower() == ".csv" else "\t")
        return polars.scan_csv(
            file,
            glob=False,
            separator=between,
            null_values=nulls,
            schema_overrides=schema_overrides,
            infer_schema_length=ROWS_TO_INFER,
            with_column_names=lambda names: [name.replace('""', '"') for name in names],  # polars leaves them doubled
        )

    return spool(_file_parts(files, scan, roles), roles, folder, verbose)


def from_polars(
    lazyframe: Any,
    *,
    target: str,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    categorical_features: Any = "from_dtype",
    folder: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Spooled:
    """Run a query of polars that may have more rows than memory, into a memory-mapped file of float32 rows.

    Parameters
    ----------
    lazyframe : polars.LazyFrame
        The query. It is run once, in batches.
    target, weight, columns, categorical_features, folder, verbose
        As in `from_parquet`.

    Returns
    -------
    X, y : SpooledTable and array, or X, y, weight
        As from `from_parquet`.
    """
    _polars("from_polars")
    if not hasattr(lazyframe, "collect_batches"):
        raise TypeError(f"from_polars needs a polars.LazyFrame; got {type(lazyframe).__name__}.")
    roles = Roles(target, weight, _listed(columns), categorical_features)
    frames = _batches(lazyframe, roles)
    return spool((Part(number, frame) for number, frame in enumerate(frames)), roles, folder, verbose)


def from_arrow(
    source: Any,
    *,
    target: str,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    categorical_features: Any = "from_dtype",
    folder: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Spooled:
    """Read an Arrow dataset, or a stream of record batches, into a memory-mapped file of float32 rows.

    Parameters
    ----------
    source : pyarrow.dataset.Dataset, pyarrow.RecordBatchReader or iterable of record batches
        The table. It is read once.
    target, weight, columns, categorical_features, folder, verbose
        As in `from_parquet`.

    Returns
    -------
    X, y : SpooledTable and array, or X, y, weight
        As from `from_parquet`.
    """
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise ModuleNotFoundError("from_arrow needs pyarrow, which is not installed: pip install pyarrow.") from None
    roles = Roles(target, weight, _listed(columns), categorical_features)
    batches = source
    if hasattr(source, "to_batches"):
        is_dataset = hasattr(source, "scanner")
        batches = source.to_batches(columns=roles.named()) if is_dataset else source.to_batches()
    parts = (Part(number, pyarrow.Table.from_batches([batch])) for number, batch in enumerate(batches))
    return spool(parts, roles, folder, verbose)


def from_frames(
    frames: Iterable[Any],
    *,
    target: str,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    categorical_features: Any = "from_dtype",
    folder: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Spooled:
    """Read data frames one after the other into a memory-mapped file of float32 rows.

    Parameters
    ----------
    frames : iterable of data frames (pandas, polars, Arrow)
        The parts of the table, with the same columns. A generator is read once, and one frame at a time is in memory.
    target, weight, columns, categorical_features, folder, verbose
        As in `from_parquet`.

    Returns
    -------
    X, y : SpooledTable and array, or X, y, weight
        As from `from_parquet`.

    Examples
    --------
    >>> import pandas as pd
    >>> from planewise.parts import from_frames
    >>> months = (pd.DataFrame({"a": [month, 2.5], "y": ["no", "yes"]}) for month in range(12))
    >>> X, y = from_frames(months, target="y")
    >>> X.shape, y[:2].tolist()
    ((24, 1), ['no', 'yes'])
    >>> X.close()
    """
    roles = Roles(target, weight, _listed(columns), categorical_features)
    parts = (Part(number, frame) for number, frame in enumerate(frames))
    return spool(parts, roles, folder, verbose, len(frames) if isinstance(frames, Sequence) else None)


# ------------------------------------------------------------------------------------------------------------- files
def find_files(path: Paths, endings: tuple[str, ...]) -> list[Path]:
    """The files named by a path, folder, pattern or list, sorted by name; an error if there are none."""
    if not isinstance(path, (str, PathLike)):
        return [file for each in path for file in find_files(each, endings)]
    given = Path(path)
    if given.is_dir():
        found = sorted(file for file in given.rglob("*") if file.name.lower().endswith(endings) and file.is_file())
        if not found:
            raise FileNotFoundError(f"The folder {str(path)!r} has no file that ends in one of {', '.join(endings)}.")
        named = next((part for file in found for part in file.relative_to(given).parts[:-1] if "=" in part), None)
        if named is not None:
            raise ValueError(
                f"The folder {str(path)!r} has the subfolder {named!r}, whose name stands for a column; such columns "
                f"are not read. Read it with polars.scan_parquet({str(path)!r}, hive_partitioning=True) and "
                "planewise.parts.from_polars, or name the files by a pattern to leave these columns out."
            )
        return found
    if given.exists():
        return [given]
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
    if not found:
        what = "matches no file" if glob.has_magic(str(path)) else "does not exist"
        raise FileNotFoundError(f"{str(path)!r} {what}.")
    return found


def _file_parts(files: list[Path], scan: Callable[[Path], Any], roles: Roles) -> Iterator[Part]:
    errors = _polars("planewise.parts").exceptions.PolarsError
    for file in files:
        at = 0
        try:
            for frame in _batches(scan(file), roles):
                yield Part(repr(str(file)), frame, at)
                at += frame.height
        except errors as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ValueError(f"{str(file)!r} cannot be read after row {at}: {reason}") from error


def _batches(lazy: Any, roles: Roles) -> Iterator[Any]:
    """The rows of a query, as many at a time as fit well into memory."""
    names = lazy.collect_schema().names()
    wanted = roles.named()
    if wanted is not None and set(wanted) <= set(names):
        lazy, names = lazy.select(named(wanted)), wanted
    return iter(lazy.collect_batches(chunk_size=max(1024, PART_VALUES // max(1, len(names))), maintain_order=True))


def _polars(what: str) -> Any:
    found = require(what, "polars", "data")
    if not hasattr(found.LazyFrame, "collect_batches"):
        raise ImportError(
            f"{what} needs a version of polars with LazyFrame.collect_batches; {found.__version__} is installed: "
            "install a newer one, or pass data frames to planewise.parts.from_frames."
        )
    return found


def _listed(columns: Sequence[str] | None) -> list[str] | None:
    return None if columns is None else [str(name) for name in columns]
