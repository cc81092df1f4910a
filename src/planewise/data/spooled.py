"""A table that was read once, part by part, into a memory-mapped file."""

from __future__ import annotations

import os
import shutil
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np

from planewise.data.categories import categorical_columns, encode
from planewise.data.float32 import Origins
from planewise.data.mapped import FloatArray, MappedTable, blocks, write_rows
from planewise.data.survey import Survey, learn_columns


class SpooledTable(MappedTable):
    """The columns of a table as float32 rows in a file, for tables larger than memory.

    Made by `from_batches`. All trees (`SLMClassifier`,
    forests, boosting) take it as X, in ``fit`` and in ``predict``: the operating system holds as much of the file in
    memory as there is space. The model is the same to the bit as that of the table in memory.

    The file is deleted when the table is closed, at the latest when Python ends.

    Parameters
    ----------
    path : path
        The file of float32 rows, in a folder of its own, which is deleted with it.
    survey : Survey
        What is known of the columns.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    survey : Survey
        Names, categories and origins of the columns.
    """

    def __init__(self, path: str | os.PathLike[str], survey: Survey) -> None:
        self.path, self.survey = Path(path), survey
        self._rows: Any = np.memmap(self.path, np.float32, "r", shape=(survey.n_rows, survey.n_columns))
        self._end = weakref.finalize(self, _remove_folder, self.path.parent, os.getpid())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.survey.n_rows, self.survey.n_columns

    def __len__(self) -> int:
        return self.survey.n_rows

    @property
    def columns(self) -> list[Any]:
        """The names of the columns."""
        return list(range(self.survey.n_columns) if self.survey.labels is None else self.survey.labels)

    @property
    def rows(self) -> FloatArray:
        """The memory-mapped rows, read-only: categories by their numbers, columns with an origin less it."""
        if self._rows is None:
            raise ValueError("This SpooledTable is closed: its file has been deleted.")
        found: FloatArray = self._rows
        return found

    def close(self) -> None:
        """Delete the file. Arrays that refer to its rows stay valid until they are gone."""
        self._rows = None
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        size = 4 * len(self) * self.shape[1] / 2**20
        state = "closed" if self._rows is None else f"{size:,.1f} MiB in {str(self.path)!r}"
        return f"<SpooledTable: {len(self):,} rows, {self.shape[1]:,} columns, {state}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A SpooledTable cannot be pickled or copied: its file belongs to the process that wrote it.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "A SpooledTable does not hold the values as they were given, so it cannot be indexed, explained or "
            "cross-validated; pass a data frame with some of the rows instead. Its float32 rows are in its attribute "
            "rows."
        )

    # ------------------------------------------------------------------------------------- what estimators ask for
    def training_rows(self, estimator: Any, origins: Origins | None = None) -> FloatArray:
        """The rows to fit an estimator on, which learns of the columns; with these origins, if any are given."""
        self._require_same_categorical(estimator)
        learn_columns(estimator, self.survey)
        if origins is None or origins == self.survey.origins:
            return self.rows
        estimator.feature_origins_ = dict(origins)
        return self.prediction_rows(estimator)

    def _require_same_categorical(self, estimator: Any) -> None:
        ours = sorted(self.survey.categories)
        labels = None if self.survey.labels is None else [str(each) for each in self.survey.labels]
        given = getattr(estimator, "categorical_features", None)
        theirs = categorical_columns(given, labels, self.survey.n_columns, ours)
        if ours != theirs:
            column = min(set(ours) ^ set(theirs))
            state, wanted = ("categories", "numbers") if column in ours else ("numbers", "categories")
            raise ValueError(
                f"Column {self.columns[column]!r} was spooled as {state}, but {type(estimator).__name__} takes it as "
                f"{wanted}; pass categorical_features where the table is spooled, or leave the column out there."
            )

    def prediction_rows(self, estimator: Any) -> FloatArray:
        """The rows as a fitted estimator reads them: in another file if its categories or origins are others."""
        self._require_columns_of(estimator)
        codes = self._codes_of(estimator)
        shifts = self._shifts_of(estimator)
        rows: Any = self.rows
        if not codes and not shifts:
            return self.rows

        def changed(part: slice) -> FloatArray:
            block = np.array(rows[part])
            for j, table in codes.items():
                block[:, j] = looked_up(block[:, j], table)
            for j, shift in shifts.items():
                block[:, j] = block[:, j].astype(np.float64) + shift
            return block

        return write_rows(rows, map(changed, blocks(*self.shape)), len(self))

    def _require_columns_of(self, estimator: Any) -> None:
        name, expected = type(estimator).__name__, estimator.n_features_in_
        if expected != self.survey.n_columns:
            raise ValueError(f"X has {self.survey.n_columns} features, but {name} is expecting {expected} features.")
        known, names = getattr(estimator, "feature_names_in_", None), self.survey.names
        if known is None or names is None or list(known) == list(names):
            return
        place = next(j for j in range(expected) if known[j] != names[j])
        raise ValueError(
            f"X has other columns than those that {name} was fitted on, or a different order: column {place} is "
            f"{names[place]!r} instead of {known[place]!r}."
        )

    def _codes_of(self, estimator: Any) -> dict[int, FloatArray]:
        """By column, the estimator's number of each of our categories, where they differ."""
        ours, theirs = self.survey.categories, getattr(estimator, "categories_", {})
        for j in sorted(ours.keys() ^ theirs.keys()):
            now, then = ("categories", "numbers") if j in ours else ("numbers", "categories")
            raise ValueError(f"Column {self.columns[j]!r} held {then} in fit, but was spooled as {now}.")
        return {
            j: encode(known, theirs[j], str(self.columns[j]))
            for j, known in ours.items()
            if not np.array_equal(known, theirs[j])
        }

    def _shifts_of(self, estimator: Any) -> dict[int, float]:
        """By column, what is added to our numbers where the estimator has another origin."""
        ours, theirs = self.survey.origins, getattr(estimator, "feature_origins_", {})
        for j in sorted(theirs.keys() - ours.keys()):
            raise ValueError(
                f"Column {self.columns[j]!r} was spooled with fewer digits than {type(estimator).__name__} needs: "
                "float32 could not resolve its training rows. Predict the table in parts, each of them a data frame."
            )
        return {j: ours[j] - theirs.get(j, 0.0) for j in ours if ours[j] != theirs.get(j, 0.0)}


def looked_up(code: FloatArray, table: FloatArray) -> FloatArray:
    """Numbers of categories by others; NaN stays."""
    known = ~np.isnan(code)
    out = np.full(len(code), np.nan, dtype=np.float32)
    out[known] = table[code[known].astype(np.intp)]
    return out


def _remove_folder(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked process leaves it to its parent
        shutil.rmtree(folder, ignore_errors=True)
