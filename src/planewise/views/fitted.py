"""What a fitted sum of views consists of, for the packages that save and draw it."""

from planewise.views._base import MOST_COLUMNS
from planewise.views._kept_rows import KeptRows
from planewise.views._purify import ColumnBins, Move, Purification

__all__ = ["MOST_COLUMNS", "ColumnBins", "KeptRows", "Move", "Purification"]
