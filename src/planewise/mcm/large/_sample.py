"""Rows with all that belongs to them, and ways to draw from them and to go through them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planewise._input import FloatArray
from planewise._scaling import Scaling

BLOCK = 2048  # rows whose features are held at once

Places = NDArray[np.intp]


class Sample(NamedTuple):
    """Rows in the user's units; they are standardised when they are needed, a batch or block at a time."""

    rows: FloatArray
    label: NDArray[np.int32]  # the number of each row's class
    weight: NDArray[np.float64]
    scaling: Scaling
    outputs: NDArray[Any]  # the class each output stands for: the second of two, or one after another
    factor: FloatArray | None = None  # the conformal r of each row

    def take(self, places: Places) -> Sample:
        """Some of the rows."""
        factor = None if self.factor is None else self.factor[places]
        return self._replace(
            rows=self.rows[places], label=self.label[places], weight=self.weight[places], factor=factor
        )

    def standard(self) -> FloatArray:
        """The rows in standard units."""
        return self.scaling(self.rows)

    def signs(self) -> FloatArray:
        """The y of each row, a column for each output: 1 for its class, -1 for others."""
        return np.where(self.label[:, None] == self.outputs, np.float32(1), np.float32(-1))

    def blocks(self, places: Places | None = None) -> list[Places]:
        """The places of all rows (or of those given), some at a time."""
        places = np.arange(len(self.rows)) if places is None else places
        return [places[first : first + BLOCK] for first in range(0, len(places), BLOCK)]

    def in_blocks(self, work: Callable[[Sample], NDArray[Any]], pool: Executor | None) -> NDArray[Any]:
        """What `work` makes of the rows, block by block, joined."""
        each = (pool.map if pool else map)(lambda places: work(self.take(places)), self.blocks())
        return np.concatenate(list(each))
