"""How every picture looks: colours and markers of classes, sizes of type, axes, and keys. The one place for that."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise._optional import require
from planewise._text import one_line, shorten, tidy

# Okabe and Ito's palette, also for colour-blind eyes; its yellow, too faint on white, comes last and darker.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5f5f5f", "#b3a100")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d")
INK, GREY, PALE, ACCENT = "#222222", "#8a8a8a", "#d9d9d9", "#c2185b"
NUMBERS_MAP = "cividis"  # for predicted numbers: even to the eye, and the same to colour-blind ones
MOST_IN_KEY = 30


def require_matplotlib() -> Any:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    return require("planewise.plot", "matplotlib.pyplot", "plot")


def colour(place: int) -> str:
    """The colour of class number 0, 1, ..."""
    return COLOURS[place % len(COLOURS)]


def marker(place: int) -> str:
    """Its marker; colour and marker together repeat only after 104 classes."""
    return MARKERS[(place % len(COLOURS) + place // len(COLOURS)) % len(MARKERS)]


def colours_rgb(n_classes: int) -> NDArray[np.float64]:
    """Colours of the classes as numbers from 0 to 1, shape (n_classes, 3)."""
    table = [[int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)] for code in COLOURS]
    return np.array([table[place % len(table)] for place in range(n_classes)]).reshape(n_classes, 3)


@dataclass(frozen=True)
class Sizes:
    """Sizes that suit the axes' width: type in points, areas of markers, widths of lines."""

    width: float
    height: float
    font: float
    small: float
    point: float
    line: float

    @classmethod
    def of(cls, ax: Any) -> Sizes:
        """The sizes for these axes."""
        figure, box = ax.get_figure(root=True), ax.get_position()
        width, height = (float(v) for v in (box.width, box.height) * figure.get_size_inches())
        share = float(np.clip((width - 1.5) / 4.0, 0, 1))
        return cls(width, height, 6.5 + 2.5 * share, 5.5 + 2.5 * share, 8 + 20 * share, 0.6 + 0.5 * share)


def new_axes(n_rows: int = 1, n_columns: int = 1, *, size: tuple[float, float]) -> NDArray[Any]:
    """Axes of a new figure whose parts keep out of each other's way."""
    plt = require_matplotlib()
    _, axes = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    return axes


def as_axes(ax: Any, n_panels: int, names: Sequence[str]) -> list[Any]:
    """The caller's axes as a list, one per panel."""
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n_panels:
        raise ValueError(
            f"ax holds {len(axes)} axes, but there are {n_panels} panels to draw ({', '.join(names)}); pass as many "
            "axes, or none."
        )
    return axes


def dress(ax: Any, x_name: str = "", y_name: str = "", title: str = "") -> Sizes:
    """Names on the axes, type that suits their size, no more lines than needed."""
    sizes = Sizes.of(ax)
    ax.set_xlabel(plain(_fit(x_name, sizes.width, sizes.font)), fontsize=sizes.font)
    ax.set_ylabel(plain(_fit(y_name, sizes.height, sizes.font)), fontsize=sizes.font)
    if title:
        ax.set_title(plain(_fit(title, sizes.width * 1.1, sizes.font)), fontsize=sizes.font + 0.5, color=INK)
    ax.tick_params(labelsize=sizes.small, width=0.6, length=2.5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_linewidth(0.6)
    if x_name and ax.get_xscale() == "linear":
        ax.locator_params(axis="x", nbins=max(4, min(8, int(sizes.width * 2))))
    if y_name and ax.get_yscale() == "linear":
        ax.locator_params(axis="y", nbins=max(4, min(8, int(sizes.height * 2))))
    return sizes


def _fit(text: str, inches: float, font: float) -> str:
    return shorten(text, max(8, int(inches * 72 / (0.58 * font))))


def class_handle(place: int, size: float = 5.0, **style: Any) -> Any:
    """What stands for a class in a key."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"color": colour(place), "marker": marker(place), "linestyle": "", "markersize": size}
    return Line2D([], [], **(look | style))


def key(ax: Any, handles: Sequence[Any], labels: Sequence[str]) -> Any:
    """A key above the axes, in as many columns as fit; it never covers the data."""
    sizes = Sizes.of(ax)
    handles, texts = _bounded(handles, labels, sizes.small, 0.9 * sizes.width)
    columns = _columns(texts, sizes.small, sizes.width)
    legend = _legend(ax, handles, texts, columns, sizes.small, {"loc": "lower left", "bbox_to_anchor": (0, 1)})
    if ax.get_title() or ax.get_title(loc="left"):
        rows = -(-len(handles) // columns)
        for side in ("center", "left"):
            if ax.get_title(loc=side):
                ax.set_title(ax.get_title(loc=side), loc=side, fontsize=sizes.font + 0.5, color=INK,
                             pad=6 + rows * sizes.small * 1.35)  # fmt: skip
    return legend


def key_of_figure(axes: Sequence[Any], handles: Sequence[Any], labels: Sequence[str]) -> Any:
    """One key for several panels: below them all where the figure arranges itself, else above the first."""
    figure = axes[0].get_figure(root=True)
    if figure.get_layout_engine() is None or len(axes) == 1:
        return key(axes[0], handles, labels)
    font = Sizes.of(axes[0]).small + 0.5
    width = 0.95 * float(figure.get_size_inches()[0])
    handles, texts = _bounded(handles, [shorten(label, 40) for label in labels], font, 0.9 * width)
    columns = _columns(texts, font, width)
    return _legend(figure, handles, texts, columns, font, {"loc": "outside lower center"})


def _bounded(handles: Sequence[Any], labels: Sequence[str], font: float, inches: float) -> tuple[list[Any], list[str]]:
    """A bounded number of entries, none of them broader than this."""
    room = inches - 2.9 * font / 72  # beside the mark
    texts = [narrowed(str(label), font, room) for label in labels[: MOST_IN_KEY + 1]]
    texts += [""] * (len(labels) - len(texts))
    if len(texts) <= MOST_IN_KEY:
        return list(handles), texts
    left = len(texts) - MOST_IN_KEY
    return [*handles[:MOST_IN_KEY], _nothing()], [*texts[:MOST_IN_KEY], f"and {left} more"]


def _columns(texts: Sequence[str], font: float, width: float) -> int:
    """The most columns that fit; entries run down the columns."""
    for columns in range(max(len(texts), 1), 1, -1):
        rows = -(-len(texts) // columns)
        widest = [max(text_width(text, font) for text in texts[at : at + rows]) for at in range(0, len(texts), rows)]
        if sum(widest) + len(widest) * 2.9 * font / 72 <= width:
            return len(widest)
    return 1


def _legend(on: Any, handles: list[Any], texts: list[str], columns: int, font: float, where: dict[str, Any]) -> Any:
    legend = on.legend(
        # Labels come below: matplotlib leaves out those that begin with an underscore.
        handles=handles, labels=[str(place) for place in range(len(handles))], ncols=columns, fontsize=font,
        frameon=False, borderaxespad=0.2, borderpad=0.2, handletextpad=0.4, handlelength=1.2, columnspacing=1.0,
        labelspacing=0.25, **where,
    )  # fmt: skip
    for shown, text in zip(legend.get_texts(), texts, strict=True):
        shown.set_text(plain(text))
    return legend


def scale_bar(axes: Sequence[Any], norm: Any, name: str) -> Any:
    """What colours mean as numbers, beside the last of the axes."""
    from matplotlib.cm import ScalarMappable

    sizes = Sizes.of(axes[-1])
    bar = axes[0].get_figure().colorbar(ScalarMappable(norm, NUMBERS_MAP), ax=list(axes), pad=0.02, aspect=30)
    bar.ax.tick_params(labelsize=sizes.small, width=0.6, length=2)
    bar.outline.set_linewidth(0.4)
    bar.set_label(plain(shorten(name, 40)), fontsize=sizes.font)
    return bar


def with_symbols() -> list[str]:
    """The user's type, and for ticks and crosses that it may lack the one that comes with matplotlib."""
    import matplotlib as mpl

    return [*mpl.rcParams["font.family"], "DejaVu Sans"]


def settled(ax: Any) -> Sizes:
    """Sizes after the figure has arranged its parts, where it does so itself."""
    figure = ax.get_figure(root=True)
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    return Sizes.of(ax)


def _nothing() -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="")


def text_width(text: str, font: float) -> float:
    """Width in inches of a line of plain text in the usual type."""
    import matplotlib as mpl

    return _width(text, font, tuple(mpl.rcParams["font.family"])) if text else 0.0


@lru_cache(maxsize=8192)
def _width(text: str, font: float, family: tuple[str, ...]) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # said once, when the text is drawn
        type_ = FontProperties(family=list(family), size=font)
        width, _, _ = text_to_path.get_text_width_height_descent(text, type_, False)
    return 1.04 * float(width) / 72  # drawn into pixels, letters come out a little wider


def narrowed(text: str, font: float, inches: float) -> str:
    """Text shortened until it is no broader than this; letters differ in breadth, some by a factor of ten."""
    most = 200
    line = shorten(text, most)
    while most > 4 and text_width(line, font) > inches:
        most = max(4, min(most - 1, int(len(line) * inches / text_width(line, font))))
        line = shorten(text, most)
    return line


def shade(code: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white: 0 is white, 1 the colour itself."""
    rgb = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (1 - strength * (1 - part) for part in rgb)
    return red, green, blue


def plain(text: Any) -> str:
    r"""Text that matplotlib shows as it is: between two dollar signs it would look for mathematics.

    >>> plain("price in $ and $")
    'price in \\$ and \\$'
    """
    return tidy(text).replace("$", r"\$")


def spread_of(values: NDArray[Any]) -> tuple[float, float]:
    """The least and the largest value; a range around them if they are equal."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def limits(*columns: NDArray[Any], margin: float = 0.05) -> tuple[float, float]:
    """A range that holds all finite values, with a margin."""
    values = np.concatenate([column[np.isfinite(column)] for column in columns])
    if not len(values):
        return -1.0, 1.0
    low, high = spread_of(values)
    return low - margin * (high - low), high + margin * (high - low)


class Display:
    """Base of all displays, which are dataclasses with ``repr=False``: their arrays would fill the screen."""

    def _facts(self) -> str:
        """Return a short summary of the plot."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return one_line(self, self._facts())
