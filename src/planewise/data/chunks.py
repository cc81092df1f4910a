"""One part of a table, and what a fit may ask of all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from planewise.data.problem import FloatArray

# Of a part, what is common to all parts, perhaps what is meant for this part alone, and n_threads=...: its answer.
Question = Callable[..., Any]


class TakenRows(NamedTuple):
    """Some rows of a table with their targets and weights."""

    rows: FloatArray
    target: NDArray[np.float64]
    weight: NDArray[np.float64]


class Part:
    """Rows of one part of a table, with what a fit keeps beside them.

    Parameters
    ----------
    rows : float32 array of shape (n_rows, n_columns), C order
    target, weight : float64 arrays with one entry per row
    first : int
        The number of the first row in the whole table.

    Attributes
    ----------
    states : dict
        What fits keep beside the rows, such as scores, by the name of the fit. They are not pickled: a part that is
        computed again, moves to another worker or comes back from disk starts without, and its fit makes them again.
    lock : threading.Lock
        Held while the part answers. After a fault, it may be asked again before it has answered.
    """

    def __init__(
        self, rows: FloatArray, target: NDArray[np.float64], weight: NDArray[np.float64], first: int = 0
    ) -> None:
        self.rows, self.target, self.weight, self.first = rows, target, weight, first
        self.states: dict[str, Any] = {}
        self.lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return Part, (self.rows, self.target, self.weight, self.first)

    def __sizeof__(self) -> int:
        """Bytes of the arrays, by which dask decides what to keep in memory."""
        return object.__sizeof__(self) + self.rows.nbytes + self.target.nbytes + self.weight.nbytes


class Parts(Protocol):
    """A table whose rows lie in parts, wherever these are."""

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each part, in the order of the table."""

    def ask(self, question: Question, *common: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """The answers of all parts, in their order.

        Parameters
        ----------
        question : function
            Called as ``question(part, *common, n_threads=...)``, or ``question(part, *common, each[k],
            n_threads=...)``. It is a function of a module, so that it can be sent to other processes. After a fault, a
            part may be asked again what it has answered already.
        *common
            The same for all parts.
        each : sequence or None, default=None
            One entry for each part.
        """

    def gather_rows(self, rows: NDArray[np.intp]) -> TakenRows:
        """The rows with these numbers in the whole table, which ascend."""

    def derive(self, make: Question, *common: Any, each: Sequence[Any]) -> Parts:
        """Parts made from these: ``make`` is called as a question and returns a `Part`."""


def take_rows(part: Part, places: NDArray[np.intp], *, n_threads: int) -> TakenRows:
    """The rows of a part at these places in it."""
    return TakenRows(part.rows[places], part.target[places], part.weight[places])


def gather_rows(parts: Parts, rows: NDArray[np.intp]) -> TakenRows:
    """The rows with these ascending numbers, from the parts that hold them."""
    starts = np.concatenate([[0], np.cumsum(parts.sizes)])
    ends = np.searchsorted(rows, starts)
    each = [rows[begin:end] - start for begin, end, start in zip(ends[:-1], ends[1:], starts[:-1], strict=True)]
    taken = parts.ask(take_rows, each=each)
    return TakenRows(*(np.concatenate(arrays) for arrays in zip(*taken, strict=True)))
