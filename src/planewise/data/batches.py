"""Read the batches of a table that may be larger than memory into a memory-mapped file of float32 rows."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from planewise._progress import Progress
from planewise.data.categories import as_label_array
from planewise.data.frames import coded, column_at, numbers_in, refuse_patterns
from planewise.data.mapped import write_block
from planewise.data.problem import is_table
from planewise.data.spooled import SpooledTable
from planewise.data.survey import PartSurvey, naming, read_part, survey_of, survey_part
from planewise.data.tables import take

Batches = Iterable[Any] | Callable[[], Iterable[Any]]
Spooled = tuple[SpooledTable, NDArray[Any]] | tuple[SpooledTable, NDArray[Any], NDArray[np.float64]]


def from_batches(
    batches: Batches,
    *,
    target: str,
    weight: str | None = None,
    categorical_features: Any = "from_dtype",
    folder: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Spooled:
    """Read a table that may be larger than memory, batch by batch, into a memory-mapped file of float32 rows.

    The batches are read twice: first to learn the categories and the range of every column, then to write the rows.
    They take 4 bytes per value on the disk (10 million rows of 28 columns: 1.1 GB). Target and weights are kept in
    memory.

    Parameters
    ----------
    batches : function or iterable
        A function without arguments that returns the batches, such as ``polars.LazyFrame.collect_batches`` of a query,
        ``pyarrow.dataset.Dataset.to_batches`` or a generator function; or a list. Each batch is a data frame (pandas,
        polars, Arrow table or record batch), and all have the same columns. The function is called twice and must
        return the same rows both times.
    target : str
        Name of the column to predict. It must have a value in every row.
    weight : str or None, default=None
        Name of the column of weights. Rows with a weight of 0 are left out.
    categorical_features : "from_dtype", list of str, None or mask, default="from_dtype"
        The categorical columns, as in the estimators, whose default is to take what was read here.
    folder : path or None, default=None
        Where to write the file, in a new folder of its own. None: the system's folder for temporary files, which
        may be too small or even in memory; the variable TMPDIR sets another one.
    verbose : int, default=0
        Whether to show progress.

    Returns
    -------
    X : SpooledTable
        To be passed to ``fit`` and ``predict`` of trees, forests and boosting.
    y : array of shape (n_rows,)
        The target.
    weight : float64 array of shape (n_rows,)
        Only if `weight` is given.

    Raises
    ------
    ValueError
        If batches disagree in their columns or types, a target is missing, or a column cannot be read. The message
        names the number of the batch and the column. No file is left behind.

    Examples
    --------
    >>> import pandas as pd
    >>> from planewise import SLMBoostClassifier
    >>> from planewise.data import from_batches
    >>> def months():
    ...     for month in range(12):
    ...         yield pd.DataFrame({"a": [month, 2.5], "y": ["no", "yes"]})
    >>> X, y = from_batches(months, target="y")
    >>> with X:
    ...     X.shape, SLMBoostClassifier(n_estimators=5, random_state=0).fit(X, y).predict(X).shape
    ((24, 1), (24,))
    """
    read = _reader(batches)
    targets: list[NDArray[Any]] = []
    weights: list[NDArray[np.float64]] = []
    with _own_folder(folder) as own, Progress(None, "reading", shown=verbose > 0) as bar:
        known = PartSurvey("", 0)
        for number, batch in enumerate(read()):
            rows = _split(batch, number, target, weight)
            known = known.joined(survey_part(rows.X, categorical_features, f"batch {number}"))
            bar.step(f"{known.n_rows:,} rows")
        survey, path = survey_of(known), own / "rows.float32"
        with path.open("wb") as file:
            for number, batch in enumerate(read()):
                rows = _split(batch, number, target, weight)
                write_block(file, read_part(rows.X, survey), own)
                targets.append(rows.y)
                weights.append(rows.weight)
        n_rows = sum(map(len, targets))
        if n_rows != survey.n_rows:
            raise ValueError(
                f"The batches had {survey.n_rows:,} rows when they were read first, but {n_rows:,} when they were read "
                "again; pass a function that returns the same rows each time."
            )
        y = _joined_targets([each for each in targets if len(each)])
        table = SpooledTable(path, survey)
    return (table, y) if weight is None else (table, y, np.concatenate(weights))


def _reader(batches: Batches) -> Callable[[], Iterable[Any]]:
    """Return a function that gives all batches each time it is called."""
    if callable(batches):
        return batches
    if is_table(batches) or not isinstance(batches, Iterable):
        raise TypeError(
            f"batches must be a function that returns data frames, or a list of them; got {type(batches).__name__}."
        )
    if iter(batches) is batches:
        raise TypeError(
            f"batches are read twice, but a {type(batches).__name__} can be read only once; pass the function that "
            "makes it, without calling it."
        )
    return lambda: batches


@contextmanager
def _own_folder(given: str | PathLike[str] | None) -> Iterator[Path]:
    """Make a new folder, which is deleted if something goes wrong."""
    if given is not None and not Path(given).is_dir():
        raise FileNotFoundError(f"There is no folder {str(given)!r} to write the rows into.")
    own = Path(tempfile.mkdtemp(prefix="planewise-", dir=given))
    try:
        yield own
    except BaseException:
        shutil.rmtree(own, ignore_errors=True)
        raise


class _Rows(NamedTuple):
    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64]


def _split(batch: Any, number: int, target: str, weight: str | None) -> _Rows:
    """Split a batch into features, targets and weights, without the rows of weight zero."""
    with naming(f"batch {number}"):
        frame = nw.from_native(_as_frame(batch), eager_only=True)
        names = [str(name) for name in frame.columns]
        if nw.dependencies.is_polars_dataframe(batch):
            refuse_patterns(names)
        place = {name: j for j, name in enumerate(names)}
        others = [target] if weight is None else [target, weight]
        for name in others:
            if name not in place:
                raise ValueError(f"there is no column {name!r}; the columns are {', '.join(map(repr, names[:10]))}.")
        w = np.ones(len(frame)) if weight is None else _weights(column_at(frame, place[weight]))
        counts = w > 0
        if not counts.all():
            frame = nw.from_native(take(frame.to_native(), np.flatnonzero(counts)), eager_only=True)
        y = _targets(column_at(frame, place[target]), np.flatnonzero(counts))
    return _Rows(frame[:, [j for name, j in place.items() if name not in others]].to_native(), y, w[counts])


def _as_frame(batch: Any) -> Any:
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(batch, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([batch])
    if not is_table(batch):
        raise TypeError(f"a data frame is needed (pandas, polars, Arrow); got {type(batch).__name__}.")
    return batch


def _weights(column: nw.Series[Any]) -> NDArray[np.float64]:
    weight = numbers_in(column, np.float64)
    if weight is None:
        raise ValueError(f"the column {column.name!r} of weights does not contain numbers.")
    wrong = np.flatnonzero(~((weight >= 0) & np.isfinite(weight)))
    if len(wrong):
        raise ValueError(
            f"the weight {column.name!r} must be a number of at least 0; row {wrong[0]} has {weight[wrong[0]]}."
        )
    return weight


def _targets(column: nw.Series[Any], numbers: NDArray[np.intp]) -> NDArray[Any]:
    """Return the target of each row: numbers as they are, others as text."""
    missing = column.is_null().to_numpy()
    values = np.asarray(column.to_numpy()) if column.dtype.is_numeric() or column.dtype == nw.Boolean else None
    if values is not None and values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    if missing.any():
        row = numbers[np.flatnonzero(missing)[0]]
        raise ValueError(f"the target {column.name!r} is missing in row {row}; leave such rows out.")
    if values is not None and values.dtype.kind in "biuf":
        return values
    if not len(column):
        return np.empty(0)
    found = coded(column)
    return as_label_array(found.distinct.tolist())[found.place]


def _joined_targets(targets: list[NDArray[Any]]) -> NDArray[Any]:
    if len({each.dtype.kind in "biuf" for each in targets}) > 1:
        raise ValueError("The target holds numbers in some batches and text in others; give it the same type in all.")
    return np.concatenate(targets)
