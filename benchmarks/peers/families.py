"""The families of comparisons: who takes part, on which data sets, how rows are prepared and how losses are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .contenders import BOOST, FIELD, FOREST, MACHINES, SVM, TREE, TUNED, Contender


@dataclass(frozen=True)
class Family:
    """One comparison.

    Attributes
    ----------
    contenders : mapping
        By name; the first one is ours, and so are those whose names start with its name.
    kind : str
        Which data sets of ``sets.csv``.
    seeds : int
        Number of splits, unless another number is asked for.
    max_rows : int
        Larger data sets are sampled.
    min_class_rows : int
        Smaller classes are left out.
    by_probability : bool
        Classifiers are judged by log-loss instead of the error rate.
    native : bool
        Contenders get data frames with category columns. Otherwise they get numbers, text one-hot encoded.
    filled : bool
        Missing numbers are replaced by medians of the training rows, for estimators that accept none.
    seeded : bool
        The seed of the split is also the seed of the models; otherwise theirs is 0.
    stops_early : bool
        Contenders that do not set rows aside by themselves get some for early stopping.
    key : str
        Name of the results in their file.
    """

    contenders: Mapping[str, Contender]
    kind: str
    seeds: int
    key: str
    max_rows: int = 20_000
    min_class_rows: int = 1
    by_probability: bool = False
    native: bool = False
    filled: bool = False
    seeded: bool = True
    stops_early: bool = False

    @property
    def ours(self) -> str:
        """The contender that all ratios have above the line."""
        return next(iter(self.contenders))

    def is_ours(self, name: str) -> bool:
        return name.startswith(self.ours)


_FIELD = {"max_rows": 30_000, "min_class_rows": 10, "seeded": False}
FAMILIES = {
    "tree": Family(TREE, "trees", 3, "tree"),
    "forest": Family(FOREST, "trees", 3, "forest"),
    "boost": Family(BOOST, "trees", 2, "boost", by_probability=True),
    "svm": Family(SVM, "svm", 3, "svm", filled=True),
    "field": Family(FIELD, "field", 1, "boost", by_probability=True, native=True, **_FIELD),
    "field-tuned": Family(TUNED, "field", 1, "boost", by_probability=True, native=True, stops_early=True, **_FIELD),
    "machines": Family(MACHINES, "machines", 3, "machines", filled=True, **_FIELD),
}
