"""What a fitted model is, in sections that text and HTML both show."""

from __future__ import annotations

from dataclasses import dataclass, field

from planewise.words._letters import shorten, shown

LONGEST_CELL = 200  # letters, to which all cells of its column are filled up


@dataclass(frozen=True)
class Limits:
    """How much of a model is shown."""

    max_depth: int | None = None
    max_nodes: int = 200
    max_trees: int = 1
    max_vectors: int = 20
    max_columns: int = 10


@dataclass(frozen=True)
class TableSection:
    """Rows under a heading; the first column is text."""

    heading: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""
    weights: list[float] = field(default_factory=list)  # of the rows, for bars where these can be drawn

    def to_text(self) -> str:
        """Columns side by side below the heading."""
        lines = [self.columns, *self.rows] if self.rows else []
        lines = [[shorten(shown(cell), LONGEST_CELL) for cell in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = [
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([self.heading, *rows, *([f"  {shown(self.note)}"] if self.note else [])])


@dataclass(frozen=True)
class TextSection:
    """Lines under a heading, to be shown as they are."""

    heading: str
    lines: list[str]

    def to_text(self) -> str:
        """The lines, indented below the heading."""
        return "\n".join([self.heading, *(f"  {shown(line)}" for line in self.lines)])


@dataclass
class Description:
    """A model in words."""

    title: str
    facts: list[tuple[str, str]]
    sections: list[TableSection | TextSection] = field(default_factory=list)

    def to_text(self) -> str:
        """All of it as plain text."""
        head = "\n".join([self.title, *(shown(f"{name}: {value}") for name, value in self.facts)])
        return "\n\n".join([head, *(each.to_text() for each in self.sections)]) + "\n"
