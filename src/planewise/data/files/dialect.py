"""How a text table is written: its separator, quotes, comments, and where its header is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise

from planewise.data.files.fields import split_fields, unclosed_quote
from planewise.data.files.reading import Reading, TableFileError
from planewise.data.files.sources import TableFile
from planewise.data.files.text import find_encoding, head_of
from planewise.data.frames import refuse_patterns

CANDIDATES = ("\t", ";", "|", ",")  # a decimal comma may come as often as the separator, so commas are the last
NAMES = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space"}
MAX_ROWS = 300  # that are looked at
MAX_JOINED = 100  # lines of one row
NUMBER = re.compile(r"^[+\-−]?[€$£¥]?\s?\d[\d.,'’\u00a0\u202f ]*([eE][+-]?\d+)?\s?[%‰€$£¥]?$")
DATE = re.compile(r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ][\d:.]+)?$")
SINGLE_QUOTED = re.compile(r"(^|[,;\t|])\s*'[^']*'\s*($|[,;\t|\r])")
_GROUPS = r"\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}"  # thousands with points
_FRACTION = r"0,\d+|\d+,(\d{1,2}|\d{4,})([eE][+-]?\d+)?"
DECIMAL_COMMA = re.compile(rf"^\D{{0,2}}({_GROUPS}|{_FRACTION})\D{{0,2}}$")
_GROUPS = r"\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{2,3}){2,}"  # thousands with commas
_FRACTION = r"0\.\d+|\d+\.(\d{1,2}|\d{4,})([eE][+-]?\d+)?"
DECIMAL_POINT = re.compile(rf"^\D{{0,2}}({_GROUPS}|{_FRACTION})\D{{0,2}}$")
AMBIGUOUS = re.compile(r"^[+\-−]?\d{1,3},\d{3}$")


@dataclass(frozen=True)
class Dialect:
    """How one text file is written."""

    encoding: str
    separator: str
    quote: str
    comment: str  # "": no lines are skipped
    names: list[str]
    has_header: bool
    header_line: int  # where the header, or else the first row, begins, counted from 1
    first_line: int  # where the rows begin
    decimal: str = "."
    decimal_found: bool = False  # some values cannot be otherwise
    notes: list[str] = field(default_factory=list)  # what is worth saying

    def in_words(self) -> str:
        """What was found, if it is not the most usual: commas, UTF-8, and a header in the first line."""
        said = []
        if self.separator != ",":
            said.append(f"{NAMES.get(self.separator, repr(self.separator))}-separated")
        if self.decimal != ".":
            said.append("decimal comma")
        if self.encoding != "utf-8-sig":
            said.append(f"encoding {self.encoding}")
        if self.quote != '"':
            said.append(f"quoted by {self.quote}")
        return ", ".join([*said, *self.notes])


def find_dialect(file: TableFile, reading: Reading) -> Dialect:
    """The dialect of a text file by its first rows; what the user gave comes first."""
    encoding = find_encoding(file, reading.encoding)
    head, whole = head_of(file, encoding)
    if not head.strip():
        raise TableFileError(f"{file.name!r} is empty.")
    lines = head.decode("utf-8", "replace").split("\n")
    if not whole and len(lines) > 1:
        lines.pop()  # it may be cut
    notes: list[str] = []
    separator, at = reading.separator, 0
    if (told := re.fullmatch(r"sep=(.)\r?", lines[0])) is not None:  # which Excel writes and reads
        separator, at = separator or told[1], 1
    quote = '"' if '"' in head.decode("utf-8", "replace") else _quote(lines)
    rows = _joined(lines, at, quote)
    comment = _comment(rows, reading)
    rows, n_comments = _without_comments(rows, comment)
    if not rows:
        raise TableFileError(f"{file.name!r} holds no rows, only comments.")
    if separator is None:
        separator = _separator([text for _, text in rows], quote, "\t" if file.ending in (".tsv", ".tab") else ",")
        _refuse_spaces(file, [text for _, text in rows], separator)
        separator = "\t" if separator == "," and _one_column([text for _, text in rows]) else separator
    cells = [(line, split_fields(text, separator, quote).texts) for line, text in rows]
    start = header_place(cells)
    if start:
        notes.append(f"{start} line{'s' if start > 1 else ''} above the header skipped")
    if n_comments:
        notes.append(f"lines that start with {comment} skipped")
    cells = cells[start:]
    decimal, found = (reading.decimal, True) if reading.decimal else _decimal(cells[1:] or cells, separator)
    dialect = Dialect(encoding, separator, quote, comment, [], True, cells[0][0], 0, decimal, found, notes)
    return _with_header(file, reading, dialect, cells, dict(rows)[dialect.header_line])


def _with_header(
    file: TableFile, reading: Reading, found: Dialect, cells: list[tuple[int, list[str]]], header: str
) -> Dialect:
    """The dialect with the names of the columns, and where the rows begin."""
    first, width = cells[0][1], len(cells[0][1])
    has_header = is_header(cells) if reading.header is None else reading.header
    if not has_header:
        names = [f"column_{number}" for number in range(1, width + 1)]
        note = f"no header row: the columns are named column_1 to column_{width}"
        return replace(found, names=names, has_header=False, first_line=cells[0][0], notes=[*found.notes, note])
    if (at := split_fields(header, found.separator, found.quote).open_quote) is not None:
        raise unclosed_quote(file.name, found.header_line, header, at)
    names = [name.strip(" \t\u00a0\ufeff\r") for name in first]
    if found.comment and names[0].startswith(found.comment):
        names[0] = names[0].removeprefix(found.comment).strip()
    one_name_each(file, names)
    if width == 1 and reading.separator is not None:
        for other in CANDIDATES:
            if other in names[0]:
                raise TableFileError(
                    f"{file.name!r} has only one column, {names[0]!r}, with --separator "
                    f"{NAMES.get(found.separator, found.separator)}: are its fields separated by {NAMES[other]}s?"
                )
    return replace(
        found, names=_all_named(names), has_header=True, first_line=found.header_line + header.count("\n") + 1
    )


def one_name_each(file: TableFile, names: list[str]) -> None:
    """An error if two columns have the same name, or one has a name that cannot be read."""
    refuse_patterns(names, repr(file.name), TableFileError)
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise TableFileError(
            f"{file.name!r} has the duplicate column name {twice[0]!r}. --no-header reads the first line as a row."
        )


def _all_named(names: list[str]) -> list[str]:
    """One column may have an empty name; others get the names of their places."""
    seen, found = set(names), []
    for number, name in enumerate(names, 1):
        if name or number == 1:
            found.append(name)
            continue
        other = f"column_{number}"
        while other in seen:
            other += "_"
        seen.add(other)
        found.append(other)
    return found


def _quote(lines: list[str]) -> str:
    """A single quote, if fields of many lines are within such ones; `lines` have no double quotes."""
    looked = [line for line in lines[:MAX_ROWS] if line.strip()]
    within = sum(bool(SINGLE_QUOTED.search(line)) for line in looked)
    return "'" if within > len(looked) / 4 else '"'


def _joined(lines: list[str], start: int, quote: str) -> list[tuple[int, str]]:
    """Rows with the numbers of their first lines; line breaks inside quotes do not end one."""
    rows: list[tuple[int, str]] = []
    at = start
    while at < len(lines) and len(rows) < MAX_ROWS:
        end = at + 1
        while end < len(lines) and end - at < MAX_JOINED and "\n".join(lines[at:end]).count(quote) % 2:
            end += 1
        if "\n".join(lines[at:end]).count(quote) % 2:  # a quote in the middle of a field
            end = at + 1
        text = "\n".join(lines[at:end]).rstrip("\r")
        if text.strip():
            rows.append((at + 1, text))
        at = end
    return rows


def _comment(rows: list[tuple[int, str]], reading: Reading) -> str:
    if reading.comment is not None:
        return reading.comment
    return "#" if rows and rows[0][1].startswith("#") else ""


def _without_comments(rows: list[tuple[int, str]], comment: str) -> tuple[list[tuple[int, str]], int]:
    """The rows, and how many comments there were; a last comment above rows without a header is their header."""
    if not comment:
        return rows, 0
    kept = [row for row in rows if not row[1].startswith(comment)]
    n_comments = len(rows) - len(kept)
    n_first = next((k for k, row in enumerate(rows) if not row[1].startswith(comment)), len(rows))
    if kept and n_first:
        above = rows[n_first - 1][1]
        for mark in CANDIDATES:
            width = above.count(mark)
            if width and kept[0][1].count(mark) == width and any(map(_is_value, kept[0][1].split(mark))):
                return [rows[n_first - 1], *kept], n_comments - 1
    return kept, n_comments


def _outside(text: str, quote: str) -> str:
    """The text without what stands in quotes."""
    return "".join(text.split(quote)[::2]) if text.count(quote) % 2 == 0 else text


def _separator(rows: list[str], quote: str, usual: str) -> str:
    """The candidate that splits most rows into the same number of fields, more than one."""
    best, found = 0, usual
    plain = [_outside(row, quote) for row in rows]
    for mark in CANDIDATES:
        widths = Counter(row.count(mark) for row in plain if mark in row)
        n_rows = max(widths.values(), default=0)
        if n_rows > best:
            best, found = n_rows, mark
    return found


def _one_column(rows: list[str]) -> bool:
    """Whether commas are the decimal marks of numbers, one in a row, below a name without a comma."""
    return len(rows) > 1 and "," not in rows[0] and all(DECIMAL_COMMA.match(row.strip()) for row in rows[1:])


def _refuse_spaces(file: TableFile, rows: list[str], separator: str) -> None:
    """An error if fields seem to be separated by spaces."""
    if any(separator in row for row in rows):
        return
    widths = Counter(len(row.split()) for row in rows)
    width, n_rows = widths.most_common(1)[0]
    numbers = sum(_is_value(cell) for row in rows[1:] for cell in row.split())
    if width > 1 and n_rows > 0.9 * len(rows) and numbers > 0.5 * width * (len(rows) - 1):
        raise TableFileError(
            f"{file.name!r} seems to have {width} columns separated by spaces, which is not read: save it with commas, "
            "semicolons or tabs between fields, or give --separator space if there is always exactly one space."
        )


def header_place(cells: list[tuple[int, list[str]]]) -> int:
    """The number of rows above the header: titles, which fill only a few of the columns."""
    widths = Counter(len(row) for _, row in cells)
    width = widths.most_common(1)[0][0]
    if width < 2:
        return 0
    for place, (_, row) in enumerate(cells[:-1]):
        filled = sum(bool(cell.strip()) for cell in row)
        title = (filled <= 1 and width > 2) or (len(row) == 1 and width > 1) or 2 * len(row) < width
        if not title:
            return place
    return 0


def _is_value(cell: str) -> bool:
    cell = cell.strip()
    return bool(NUMBER.match(cell) or DATE.match(cell))


def is_header(cells: list[tuple[int, list[str]]]) -> bool:
    """Whether the first row holds names: where the others hold numbers or dates, it does not."""
    first, others = cells[0][1], [row for _, row in cells[1:]]
    if not others:
        return not (first and all(_is_value(cell) for cell in first))
    columns = []
    for place in range(len(first)):
        values = [row[place].strip() for row in others if len(row) > place and row[place].strip()]
        if values and sum(map(_is_value, values)) > 0.9 * len(values):
            columns.append(place)
    if not columns or not all(_is_value(first[place]) or not first[place].strip() for place in columns):
        return True
    if not any(first[place].strip() for place in columns):
        return True
    named = [first[place].strip() for place in columns]
    in_order = all(name.isdigit() for name in named) and len(named) > 1
    return in_order and all(int(b) - int(a) == 1 for a, b in pairwise(named))  # such as years


def _decimal(cells: list[tuple[int, list[str]]], separator: str) -> tuple[str, bool]:
    """The decimal mark, and whether some values cannot be otherwise."""
    values = [cell.strip() for _, row in cells for cell in row if "," in cell or "." in cell]
    commas, points = (sum(bool(form.match(each)) for each in values) for form in (DECIMAL_COMMA, DECIMAL_POINT))
    if commas == points == 0 and separator == ";":  # which is written where the comma is the decimal mark
        return "," if any(AMBIGUOUS.match(each) for each in values) else ".", False
    return "," if commas > points else ".", commas != points
