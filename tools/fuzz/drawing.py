"""Values drawn from bytes: the fuzzer changes the bytes, and so what is drawn; after their end, everything is first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

EXTREME = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e-30, 1e-8, 1e8, 1e30, 3.4e38, -3.4e38, 1e300, -1e300, *(np.nan, np.inf)]
EXTREME += [-np.inf, 2.0**31, -(2.0**31), 2.0**53]
EXTREME_INTEGERS = [0, 1, 2, 3, -1, -2, 7, 8, 127, 255, 256, 2**15, 2**31 - 1, -(2**31), 2**31, 2**32, 2**62, -(2**63)]


class Draw:
    """Draws from bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def byte(self) -> int:
        """The next byte, 0 after the last."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, n: int) -> int:
        """A whole number of 0 or more and below n."""
        value = self.byte() if n <= 256 else self.byte() << 16 | self.byte() << 8 | self.byte()
        return value % n

    def choice(self, values: Sequence[Any]) -> Any:
        return values[self.below(len(values))]

    def rarely(self) -> bool:
        """True for one byte in 32."""
        return self.byte() % 32 == 31

    def number(self) -> float:
        return float(self.choice(EXTREME)) if self.below(4) == 3 else self.byte() / 16 - 4

    def integer(self) -> int:
        return int(self.choice(EXTREME_INTEGERS)) if self.below(4) == 3 else self.below(6)

    def rng(self) -> np.random.Generator:
        """A generator for long arrays, whose seed is drawn."""
        return np.random.default_rng(self.below(1 << 24))
