"""Parts in the memory of this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.data.chunks import Part, Question, TakenRows, gather_rows


class LocalParts:
    """Parts in this process, asked one after the other.

    Parameters
    ----------
    parts : list of Part
        In the order of their rows.
    n_threads : int, default=1
        Number of threads for each question.
    """

    def __init__(self, parts: list[Part], n_threads: int = 1) -> None:
        self._parts, self._n_threads = parts, n_threads
        self.sizes = [len(part) for part in parts]

    def ask(self, question: Question, *common: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """The answers of all parts, in their order; see `Parts.ask`."""
        own = [()] * len(self._parts) if each is None else [(one,) for one in each]
        return [
            question(part, *common, *mine, n_threads=self._n_threads)
            for part, mine in zip(self._parts, own, strict=True)
        ]

    def gather_rows(self, rows: NDArray[np.intp]) -> TakenRows:
        """The rows with these numbers in the whole table, which ascend."""
        return gather_rows(self, rows)

    def derive(self, make: Question, *common: Any, each: Sequence[Any]) -> LocalParts:
        """Parts made from these."""
        return LocalParts(self.ask(make, *common, each=each), self._n_threads)
