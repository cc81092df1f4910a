"""What every display shares: how it prints itself, and how it is drawn into axes."""

from __future__ import annotations

from typing import Any, Self

from planewise.plot.style import new_axes, require_matplotlib
from planewise.words import one_line


class Display:
    """Base of all displays, which are dataclasses with ``repr=False``: their arrays would fill the screen."""

    def _facts(self) -> str:
        """What is in the picture, in a few words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return one_line(self, self._facts())


class OneAxesDisplay(Display):
    """Base of displays that are one picture."""

    def plot(self, ax: Any = None, *, title: str = "", with_key: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure.
        title : str, default=""
        with_key : bool, default=True
            Draw what colours and markers mean.

        Returns
        -------
        display : the display itself
            With ``figure_`` and ``ax_``, the figure and the axes.
        """
        require_matplotlib()
        if ax is None:
            ax = new_axes(size=self._size())[0, 0]
        self._draw(ax, title, with_key)
        self.figure_, self.ax_ = ax.get_figure(root=True), ax
        return self

    def _size(self) -> tuple[float, float]:
        """Width and height in inches of a figure of its own."""
        raise NotImplementedError

    def _draw(self, ax: Any, title: str, with_key: bool) -> None:
        raise NotImplementedError
