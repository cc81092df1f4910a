"""What boosting is given: training rows, validation rows and offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise.data.mapped import take_rows
from planewise.data.problem import IN_FLOAT32, Problem, prediction_rows, row_weights
from planewise.trees.losses import RawLoss

Floats = NDArray[np.float64]
LARGEST_LOGARITHM = 700  # its exponential is a number


class Data(NamedTuple):
    """Rows with their targets, weights and offsets."""

    rows: NDArray[np.float32]
    target: Floats
    weight: Floats
    offset: Floats | None = None  # rows x outputs

    def part(self, which: NDArray[Any]) -> Data:
        offset = None if self.offset is None else self.offset[which]
        return Data(take_rows(self.rows, which), self.target[which], self.weight[which], offset)

    def by_query(self) -> Data:
        """The rows that count, those of a query (the second column of the target) one after the other."""
        order = np.argsort(self.target[:, 1], kind="stable")
        return self.part(order[self.weight[order] > 0])


class Given(NamedTuple):
    """The validation rows that ``fit`` was given."""

    X_val: Any = None
    y_val: Any = None
    sample_weight_val: Any = None
    offset_val: Any = None

    def check(self) -> None:
        """Raise an error unless these go together."""
        if (self.X_val is None) != (self.y_val is None):
            raise ValueError("X_val and y_val go together: give both or neither.")
        for name in ("sample_weight_val", "offset_val"):
            if self.X_val is None and getattr(self, name) is not None:
                raise ValueError(f"{name} requires X_val and y_val.")


# Targets as given, their rows and how to call them in errors -> targets as numbers.
TargetReader = Callable[[Any, NDArray[np.float32], str], Floats]


def read_validation_rows(estimator: Any, given: Given, loss: RawLoss, read_target: TargetReader) -> Data:
    """Read and check the validation rows; errors name the argument."""
    with _named("X_val"):
        rows = prediction_rows(estimator, given.X_val)
    with _named("y_val"):
        target = read_target(given.y_val, rows, "y_val")
    with _named("sample_weight_val"):
        weights = row_weights(given.sample_weight_val, rows)
    found = Data(rows, target, weights, read_offset(given.offset_val, len(rows), loss, "offset_val"))
    return found.by_query() if loss.core == "ranking" else found


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Let errors say what they are about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if what in str(error):
            raise
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{what}: {error}") from error


def read_offset(offset: Any, n_rows: int, loss: RawLoss, name: str = "offset") -> Floats | None:
    """Offsets of shape (n_rows, n_outputs); None if `offset` is None."""
    if offset is None:
        return None
    n_outputs = loss.n_outputs
    try:
        values = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, one per row and output.") from None
    if values.shape != (n_rows, n_outputs) and not (n_outputs == 1 and values.shape == (n_rows,)):
        expected = f"({n_rows},)" if n_outputs == 1 else f"({n_rows}, {n_outputs}), one column per class"
        raise ValueError(f"{name} has shape {values.shape}; expected {expected}.")
    values = np.array(values.reshape(n_rows, n_outputs))
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(wrong):
        raise ValueError(f"{name} must be finite; row {wrong[0]} has {values[wrong[0]].tolist()[0]}.")
    far = np.flatnonzero((np.abs(values) > IN_FLOAT32.largest).any(axis=1))
    if len(far):
        raise ValueError(
            f"{name} must lie within {IN_FLOAT32.largest:.2g}; row {far[0]} has {values[far[0]].tolist()[0]:.3g}."
        )
    if loss.link == "exp" and (np.abs(values) > LARGEST_LOGARITHM).any():
        row = int(np.flatnonzero((np.abs(values) > LARGEST_LOGARITHM).any(axis=1))[0])
        raise ValueError(
            f"{name} is added to the logarithm of the prediction and must lie within {LARGEST_LOGARITHM}; row {row} "
            f"has {values[row].tolist()[0]}. For an exposure, pass its logarithm."
        )
    return values


def training_offset(offset: Any, problem: Problem, loss: RawLoss) -> Floats | None:
    """The offsets of the training rows that count."""
    values = read_offset(offset, len(problem.counts), loss)
    return values if values is None or problem.counts.all() else values[problem.counts]
