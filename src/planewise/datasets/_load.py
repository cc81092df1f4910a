"""`load`: find a data set, repair it if asked, and return it in the form wanted."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from sklearn.utils import Bunch

from planewise._extras import needs

from ._columns import (
    TARGET,
    Columns,
    Library,
    integers_if_all_are,
    is_installed,
    is_missing,
    is_text,
    take_rows,
    to_array,
    to_frame,
)
from ._registry import DatasetInfo, find
from ._sources import from_directory, from_openml, from_scikit_learn

LIBRARIES: tuple[Library, ...] = ("polars", "pandas")


def load(
    name: str,
    *,
    variant: str | None = None,
    as_frame: bool | str = False,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    progress: bool = True,
) -> Bunch:
    """Load one of the papers' data sets by name.

    The set is looked for, in this order,

    1. in a directory: `data_home`, or else the environment variable ``PLANEWISE_DATA``. It holds
       an ``index.csv`` with the columns ``name`` and ``file``, and one parquet file per set with
       the column ``target``;
    2. among the sets bundled with scikit-learn: ``iris``, ``wine``, ``breast_cancer_wdbc`` and
       ``diabetes_sklearn``;
    3. on OpenML. It is fetched once and kept in ``~/.cache/planewise``, or in the directory that
       the environment variable ``PLANEWISE_CACHE`` names. The names of columns and classes are
       then OpenML's. A warning says so if its form differs in size from the reference form.

    Rows without a target are left out.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    variant : str, default=None
        ``"slm"`` gives ``pima_diabetes`` without the rows that have an impossible zero, and
        ``ionosphere`` without its constant column, as in the paper on SLM.
    as_frame : bool or {"polars", "pandas"}, default=False
        False gives a float64 array, which only sets without text columns have. True gives a data
        frame, text columns as categories: polars if it is installed, otherwise pandas. A name
        asks for that library.
    data_home : path, default=None
        The directory of step 1.
    download : bool, default=True
        Whether step 3 may use the network.
    progress : bool, default=True
        Whether a download is announced on stderr.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data`` (array or frame), ``target`` (array: class labels or float64), ``feature_names``,
        ``name``, ``task`` (``"classification"`` or ``"regression"``) and ``DESCR``.

    Raises
    ------
    ValueError
        If the name or the variant is unknown, or an array is asked for and there are text columns.
    DatasetNotFoundError
        If the set is in none of the three places; the message says what would help.

    Examples
    --------
    >>> from planewise.datasets import load
    >>> iris = load("iris")
    >>> iris.data.shape, iris.task
    ((150, 4), 'classification')
    >>> str(iris.target[0])
    'setosa'
    """
    info = find(name)
    check_variant(name, variant)
    library = _library(as_frame)
    columns, origin = _locate(info, data_home, download, progress)
    columns, n_dropped = _with_target_only(columns)
    if variant is not None:
        columns = repair(columns, name, variant)
    target = _target(columns.pop(TARGET), info.task)
    return Bunch(
        data=to_frame(columns, library) if library else to_array(columns, name),
        target=target,
        feature_names=list(columns),
        name=name,
        task=info.task,
        DESCR=_describe(info, variant, origin, (len(target), len(columns)), n_dropped),
    )


def _library(as_frame: bool | str) -> Library | None:
    """Return the data-frame library that `as_frame` asks for, None for an array."""
    if as_frame is False:
        return None
    if as_frame is not True and as_frame not in LIBRARIES:
        raise ValueError(f"as_frame must be a bool or one of {LIBRARIES}, got {as_frame!r}.")
    wanted = [library for library in LIBRARIES if as_frame in (True, library)]
    for library in wanted:
        if is_installed(library):
            return library
    if as_frame == "pandas":  # which no extra brings
        raise ModuleNotFoundError("as_frame='pandas' needs pandas: pip install pandas.", name="pandas")
    raise ModuleNotFoundError(needs(f"as_frame={as_frame!r}", " or ".join(wanted), "data"), name=wanted[0])


def _locate(
    info: DatasetInfo,
    data_home: str | os.PathLike[str] | None,
    download: bool,
    progress: bool,
) -> tuple[Columns, str]:
    columns = from_directory(info, data_home)
    if columns is not None:
        return columns, "a data directory"
    columns = from_scikit_learn(info.name)
    if columns is not None:
        return columns, "scikit-learn"
    return from_openml(info, download=download, progress=progress), "OpenML"


def _with_target_only(columns: Columns) -> tuple[Columns, int]:
    missing = is_missing(columns[TARGET])
    return take_rows(columns, ~missing), int(missing.sum())


def _target(column: np.ndarray, task: str) -> np.ndarray:
    if task == "regression":
        return column.astype(np.float64)
    # A missing label makes the reader use floats for all of them; they are gone by now.
    return column.astype(str) if is_text(column) else integers_if_all_are(column)


def _describe(
    info: DatasetInfo,
    variant: str | None,
    origin: str,
    shape: tuple[int, int],
    n_dropped: int,
) -> str:
    form = f", variant {variant!r}" if variant else ""
    lines = [
        f"{info.name}{form}: {info.task}, {shape[0]} rows, {shape[1]} features.",
        f"Loaded from: {origin}.",
        f"Source: {info.source}.",
        f"Licence: {info.licence}.",
    ]
    if info.note:
        lines.append(f"Note: {info.note}.")
    if n_dropped:
        lines.append(f"Left out: {n_dropped} rows without a target.")
    return "\n".join(lines)


def repair(columns: Columns, name: str, variant: str) -> Columns:
    """Return the set as the paper `variant` used it."""
    return VARIANTS[name][variant](columns)


def check_variant(name: str, variant: str | None) -> None:
    """Refuse a variant that does not exist, naming those that do."""
    known = list(VARIANTS.get(name, {}))
    if variant is not None and variant not in known:
        options = f"one of {known} or None" if known else "None, the only form of this set"
        raise ValueError(f"variant of {name!r} must be {options}, got {variant!r}.")


def _without_impossible_zeros(columns: Columns) -> Columns:
    # Glucose, pressure, skin fold, insulin and body mass: by place, as only the order of the
    # columns is the same in every copy of the Pima set.
    measured = [column for name, column in columns.items() if name != TARGET][1:6]
    return take_rows(columns, np.all([column != 0 for column in measured], axis=0))


def _without_constant_columns(columns: Columns) -> Columns:
    return {name: column for name, column in columns.items() if name == TARGET or is_text(column) or np.ptp(column) > 0}


VARIANTS: dict[str, dict[str, Callable[[Columns], Columns]]] = {
    "pima_diabetes": {"slm": _without_impossible_zeros},
    "ionosphere": {"slm": _without_constant_columns},
}
