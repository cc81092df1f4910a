"""What every display shares: how it shows itself where a notebook or a console prints it."""

from __future__ import annotations

from planewise.words import shorten

LONGEST_LINE = 100


class Display:
    """Base of all displays, which are dataclasses with ``repr=False``: their arrays would fill the screen."""

    def _facts(self) -> str:
        """What is in the picture, in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shorten(self._facts(), LONGEST_LINE - len(type(self).__name__))}>"
