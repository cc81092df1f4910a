"""What every display shares: how it prints itself."""

from __future__ import annotations

from planewise._text import one_line


class Display:
    """Base of all displays, which are dataclasses with ``repr=False``: their arrays would fill the screen."""

    def _facts(self) -> str:
        """What is in the picture, in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return one_line(self, self._facts())
