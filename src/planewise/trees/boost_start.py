"""Where a boosting fit starts: its constant scores, offsets, and trees that are there already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planewise.trees.arrays import Forest, Trials
from planewise.trees.boost_data import Data, Floats


@dataclass
class Start:
    """Where boosting starts: anew, or from an earlier fit (a warm start)."""

    base: Floats  # scores before any tree, without offsets
    before: Forest | None = None  # trees grown before
    trials: Trials | None = None

    @property
    def rounds(self) -> int:
        return 0 if self.before is None else self.before.n_trees // len(self.base)

    def scores_before(self, data: Data) -> Floats:
        """Scores before any tree, offsets included: (rows, outputs), or (1, outputs) if they are the same for all."""
        return self.base[None] if data.offset is None else self.base + data.offset

    def stages(self, data: Data, threads: int) -> Iterator[Floats]:
        """Scores after each round that is there already."""
        return iter(()) if self.before is None else self.before.stages(data.rows, self.scores_before(data), threads)

    def scores_of(self, data: Data, threads: int) -> Floats:
        """Scores now, added up in the order of an uninterrupted fit."""
        if self.before is not None and data.offset is None:
            return self.before.predict(data.rows, self.base, n_threads=threads)
        scores = self.scores_before(data)
        for now in self.stages(data, threads):
            scores = now
        return scores
