"""Tables whose rows lie in parts: in memory, in files or on workers."""

from __future__ import annotations

from planewise.parts._local import LocalParts
from planewise.parts._part import Part, Parts, Question, TakenRows, gather_rows, take_rows

__all__ = ["LocalParts", "Part", "Parts", "Question", "TakenRows", "gather_rows", "take_rows"]
