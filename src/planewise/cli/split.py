"""Which rows are held out: some at random, whole groups, or the latest ones; and the folds of cross-validations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, train_test_split

from planewise._text import counted
from planewise.data.columns import COLUMN_KINDS, kind_of, polars, require_columns
from planewise.data.values import value_in_words
from planewise.table.model import target_values
from planewise.table.record import SPLITS

FOLDS = 3  # to compare families
FOLDS_OF_ESTIMATORS = 5  # that choose their own parameters
_DRAWS = 50  # of groups, of which the one nearest to the wanted share is taken
_MAX_CELLS = 10_000_000  # of a table of groups and classes

_THINGS = {"group": "groups", "time": "different times", "random": "rows"}

Indices = NDArray[np.intp]
Codes = NDArray[np.int64]


class Parts(NamedTuple):
    """Training rows and held-out rows, in the order of the table."""

    train: Indices
    test: Indices
    n_of_new_classes: int = 0  # rows that are in neither: held out, but of classes that training rows do not have


@dataclass(frozen=True)
class Split:
    """How rows are held out.

    Attributes
    ----------
    kind : {"random", "group", "time"}
    column : str or None
        The groups or times.
    share : float
        Of the rows, to hold out.
    seed : int
    """

    kind: str
    column: str | None
    share: float
    seed: int

    @classmethod
    def of(cls, group: str | None, time: str | None, share: float, seed: int) -> Split:
        """As the options say."""
        if group is not None and time is not None:
            raise ValueError("--group and --time cannot be combined: use the one in which future rows will differ.")
        kind = "group" if group is not None else "time" if time is not None else "random"
        return cls(kind, group if time is None else time, share, seed)

    @property
    def left_out(self) -> dict[str, str]:
        """The column that a model must not read, and why."""
        if self.column is None:
            return {}
        why = {
            "group": "is the column of --group: the model must also work for groups that it has not seen",
            "time": "is the column of --time: later rows have times that no training row has",
        }
        return {self.column: why[self.kind]}

    def check_column(self, target: str, columns: list[str]) -> None:
        """An error if the table has no such column, or it is the target."""
        if self.column is None:
            return
        try:
            require_columns([self.column], columns)
        except ValueError as error:
            raise ValueError(f"--{self.kind}: {error}") from None
        if self.column == target:
            raise ValueError(f"--{self.kind} {self.column!r}: this is the target; choose another column.")

    def check_values(self, table: Any, where: Callable[[int], str]) -> None:
        """An error if values of the column are missing or cannot be used; `where` says in which line a row is."""
        if self.column is None:
            return
        values, option = table[self.column], f"--{self.kind}: column {self.column!r}"
        kind = kind_of(values.dtype)
        if kind is None or (self.kind == "time" and kind not in ("number", "date")):
            found = f"values of type {values.dtype}" if kind is None else COLUMN_KINDS[kind].values
            needed = "dates such as 2024-03-09, or numbers" if self.kind == "time" else "numbers or text"
            raise ValueError(f"{option} holds {found}, but must hold {needed}.")
        missing = values.is_null()
        if values.dtype.is_float():
            missing = missing | values.is_nan().fill_null(True)
        if missing.any():
            places = missing.arg_true().to_list()
            more = f" and {counted(len(places) - 1, 'other row')}" if len(places) > 1 else ""
            raise ValueError(f"{option} has no value in {where(places[0])}{more}; fill it in, or leave such rows out.")
        if values.n_unique() < 2:
            what = "group" if self.kind == "group" else "time"
            raise ValueError(f"{option} has only one {what}, {values[0]!r}; at least two are needed.")

    def held_out(self, table: Any, target: str, task: str) -> Parts:
        """Training rows and held-out rows; every held-out class is also in training."""
        if table.height < 10:
            raise ValueError(
                f"the table has {counted(table.height, 'row')} with a value of {target!r}; at least 10 are needed."
            )
        y = target_values(table[target], task)
        if self.kind == "random":
            return _random_rows(y, task, self.share, self.seed)
        label = np.unique(y, return_inverse=True)[1] if task == "classification" else None
        codes = self.codes(table)
        if self.kind == "time":
            held = codes >= _first_held_out(codes, self.share)
        else:
            held = np.isin(codes, _groups_held_out(codes, label, self.share, self.seed))
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        new = ~np.isin(y[test], np.unique(y[train])) if task == "classification" else np.zeros(len(test), dtype=bool)
        if new.all() or len(np.unique(y[train])) < 2:
            fault = "no class of the held-out rows" if new.all() else "only one value of the target"
            raise ValueError(
                f"--{self.kind} {self.column!r}: the training rows have {fault}; choose another --test-size, or "
                "another column."
            )
        return Parts(train, test[~new], int(new.sum()))

    def codes(self, table: Any) -> Codes:
        """The groups or times of the rows, numbered in their order."""
        values = table[self.column]
        if self.kind == "group":
            values = values.cast(polars().String)
        found: Codes = values.rank("dense").to_numpy().astype(np.int64) - 1
        return found

    def in_words(self, table: Any, test: Indices) -> str:
        """What the held-out rows have in common."""
        words = SPLITS[self.kind].format(column=self.column)
        if self.column is None:
            return words
        held = table[self.column][test]
        if self.kind == "group":
            return f"{words}: {held.n_unique()} of {table[self.column].n_unique()}"
        return f"{words}: from {value_in_words(held.min())} on"

    def folds(self, table: Any, target: str, task: str, n_folds: int = FOLDS) -> list[tuple[Indices, Indices]]:
        """Folds of training rows: at random, by groups, or each block of time predicted from all that is before it."""
        y = target_values(table[target], task)
        if self.kind == "random":
            made = _random_folds(y, task, n_folds, self.seed)
        elif self.kind == "group":
            made = _group_folds(self.codes(table), y, task, n_folds, self.seed)
        else:
            made = _time_folds(self.codes(table), n_folds)
        if task == "classification":
            made = [(train, held[np.isin(y[held], np.unique(y[train]))]) for train, held in made]
        return [(train, held) for train, held in made if len(np.unique(y[train])) > 1 and len(held)]

    def folds_for_estimators(self, table: Any, target: str, task: str, wanted: Any = None) -> Any:
        """Folds for an estimator that chooses its own parameters, `wanted` many; None: it makes its own."""
        if self.kind == "random" or not (wanted is None or isinstance(wanted, int)):
            return None
        folds = self.folds(table, target, task, wanted or FOLDS_OF_ESTIMATORS)
        if task == "classification":  # kernel machines need all classes in every fold
            y = target_values(table[target], task)
            folds = [fold for fold in folds if len(np.unique(y[fold[0]])) == len(np.unique(y))]
        if not folds:
            raise ValueError(
                f"--{self.kind} {self.column!r}: the training rows have too few {_THINGS[self.kind]}, or too rare "
                "classes, for the cross-validation inside this model; choose --model tree, forest, boosting or recip."
            )
        return folds

    def data(self) -> dict[str, Any]:
        """For programs and for the model file."""
        return {"kind": self.kind, "column": self.column, "share": self.share}

    def require_folds(self, folds: list[Any]) -> None:
        """An error if families of models cannot be compared on so few folds."""
        if len(folds) >= 2:
            return
        named = f"--{self.kind} {self.column!r}: " if self.column else ""
        raise ValueError(
            f"{named}the training rows have too few {_THINGS[self.kind]} to compare models; choose one with --model, "
            "such as --model tree."
        )


def _random_rows(y: NDArray[Any], task: str, share: float, seed: int) -> Parts:
    strata = None
    if task == "classification":
        counts = np.unique(y, return_counts=True)[1]
        if counts.min() >= 2 and len(counts) <= share * len(y):
            strata = y
    train, test = train_test_split(np.arange(len(y)), test_size=share, random_state=seed, stratify=strata)
    train.sort()
    test.sort()
    if task == "classification":
        unseen = ~np.isin(y[test], np.unique(y[train]))
        train, test = np.concatenate([train, test[unseen]]), test[~unseen]  # classes of one row cannot be measured
    return Parts(train, test)


def _first_held_out(codes: Codes, share: float) -> int:
    """The time from which rows are held out, so that they are as near to the wanted share as equal times allow."""
    at_or_after = np.bincount(codes)[::-1].cumsum()[::-1]
    return 1 + int(np.abs(at_or_after[1:] - share * len(codes)).argmin())


def _groups_held_out(codes: Codes, label: Indices | None, share: float, seed: int) -> Codes:
    """Groups with about the wanted share of the rows and, of several draws, the most usual mix of classes."""
    sizes, rng = np.bincount(codes), np.random.default_rng(seed)
    n_groups, n_classes = len(sizes), 1 if label is None else int(label.max()) + 1
    counts = sizes[:, None]
    if label is not None and n_groups * n_classes <= _MAX_CELLS:
        counts = np.bincount(codes * n_classes + label, minlength=n_groups * n_classes).reshape(n_groups, n_classes)
    total = counts.sum(axis=0)
    best: tuple[float, Codes] = (np.inf, np.empty(0, dtype=np.int64))
    for _ in range(_DRAWS):
        order = rng.permutation(n_groups)
        rows = sizes[order].cumsum()[:-1]  # at least one group stays for training
        drawn = order[: 1 + int(np.abs(rows - share * len(codes)).argmin())]
        held = counts[drawn].sum(axis=0)
        off = abs(held.sum() / total.sum() - share) / share + np.abs(held / held.sum() - total / total.sum()).sum() / 2
        off += np.count_nonzero(held == total)  # classes that training would not see
        if off < best[0]:
            best = float(off), drawn
    return best[1]


def _random_folds(y: NDArray[Any], task: str, n_folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    smallest = int(np.unique(y, return_counts=True)[1].min()) if task == "classification" else 0
    make = StratifiedKFold if smallest >= n_folds else KFold
    return list(make(n_folds, shuffle=True, random_state=seed).split(y, y))


def _group_folds(codes: Codes, y: NDArray[Any], task: str, n_folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    n_folds = min(n_folds, len(np.unique(codes)))
    if n_folds < 2:
        return []
    smallest = int(np.unique(y, return_counts=True)[1].min()) if task == "classification" else 0
    make = StratifiedGroupKFold if smallest >= n_folds else GroupKFold
    return list(make(n_folds, shuffle=True, random_state=seed).split(y, y, codes))


def _time_folds(codes: Codes, n_folds: int) -> list[tuple[Indices, Indices]]:
    """Blocks of time with about equally many rows; each but the first is held out once, and all earlier rows train."""
    times, counts = np.unique(codes, return_counts=True)
    n_blocks = min(n_folds + 1, len(times))
    before = np.concatenate([[0], counts.cumsum()[:-1]])
    wanted = np.arange(1, n_blocks) * len(codes) / n_blocks
    starts = np.unique(1 + np.abs(before[1:, None] - wanted).argmin(axis=0)) if n_blocks > 1 else np.empty(0, np.intp)
    block = np.searchsorted(times[starts], codes, side="right")
    return [(np.flatnonzero(block < k), np.flatnonzero(block == k)) for k in range(1, len(starts) + 1)]
