"""A damaged file of answers: the intact ones in a new file, the damaged one beside it."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from planewise._atomic import write_whole
from planewise.answers._content import (
    FORMAT,
    VERSION,
    content_of,
    is_continuation,
    not_answers,
    odd_keys,
    require_about,
    require_version,
)
from planewise.answers._file import now, put_aside
from planewise.answers._lines import Line, lines_of, sealed
from planewise.answers._match import Reviewed
from planewise.answers._opening import AnswersFileError, folder_to_disk, lock, open_to_write
from planewise.answers._record import Record


@dataclass(frozen=True)
class Repaired:
    """What was done to a damaged file."""

    n_kept: int
    left_out: dict[int, str]  # why, by the number of the line
    not_in_order: list[int]  # lines that were kept, but were not written after the line before them
    copy: Path  # of the damaged file


def repair(path: Path, belongs_to: dict[str, Any], reviewed: Reviewed) -> Repaired | None:
    """Keep all answers whose lines are intact, and the damaged file as FILE.damaged1; None if nothing is damaged.

    Parameters
    ----------
    path : Path
    belongs_to : dict
        The first line of a new file, for a file whose own is damaged; a file about another model or table is refused.
    reviewed : Reviewed
        Lines that do not match it are left out.
    """
    if not os.path.lexists(path):
        raise AnswersFileError(f"There is no file {str(path)!r} to repair.")
    handle = open_to_write(path)
    try:
        if not lock(handle):
            raise AnswersFileError(f"{str(path)!r} is open in a review: end that, and repair the file then.")
        with open(handle, "rb", closefd=False) as file:
            if _is_intact(file, path, belongs_to, reviewed):
                return None
            file.seek(0)
            lines = list(lines_of(file))
            file.seek(0)
            data = file.read()
    finally:
        os.close(handle)  # Windows replaces no open file
    left_out: dict[int, str] = {}
    first = _first(lines, belongs_to, path, left_out)
    kept = _intact(lines[1:], reviewed, left_out)
    new = b"".join(_written(first, _in_whole_batches(kept.values())))
    reviewed.require_match(content_of(io.BytesIO(new), path), path)  # else nothing would be gained
    copy = put_aside(path, "damaged", data)
    write_whole(path, new)
    folder_to_disk(path.parent)
    moved = [line.number for line in lines[1:] if line.number in kept and not line.follows]
    return Repaired(len(kept), dict(sorted(left_out.items())), moved, copy)


def _is_intact(file: BinaryIO, path: Path, belongs_to: dict[str, Any], reviewed: Reviewed) -> bool:
    """Whether there is nothing to repair; an error if the file is intact, but about another model or table."""
    try:
        content = content_of(file, path)
    except AnswersFileError:
        return False
    if content.belongs_to:
        require_about(content.belongs_to, belongs_to, path)
    try:
        reviewed.require_match(content, path)
    except AnswersFileError:
        return False
    there = content.belongs_to
    both = (name for name in ("rows", "target", "id") if name in there and name in belongs_to)
    return all(there[name] == belongs_to[name] for name in both)


def _first(lines: list[Line], belongs_to: dict[str, Any], path: Path, left_out: dict[int, str]) -> dict[str, Any]:
    """The first line of the new file: what is known here, and of the old one what nobody else knows."""
    line, here = lines[0], {"format": FORMAT, "version": VERSION, **belongs_to}
    if line.wrong or line.value.get("format") != FORMAT:
        if not any(each.check and not each.wrong and "fingerprint" in each.value for each in lines[1:]):
            raise AnswersFileError(not_answers(path, line.wrong or f"its format is not {FORMAT!r}"))
        left_out[1] = f"{line.wrong or 'its format is wrong'}; written anew"
        return here | {"begun": now()}
    if line.check:  # else the version may be what is damaged: lines of later ones have checksums
        require_version(line.value, path)
    require_about(line.value, belongs_to, path)
    old = {name: each for name, each in line.value.items() if name not in odd_keys(line.value)}
    source = belongs_to if belongs_to.get("file") or not {"file", "file_sha256"} <= set(old) else old
    first = {"begun": now()} | old | here | {name: source.get(name) for name in ("file", "file_sha256")}
    wrong = [name for name, each in line.value.items() if name != "version" and first[name] != each]
    if wrong:
        left_out[1] = f"what it says about {', '.join(wrong)} is wrong; written anew"
    return first


def _intact(lines: list[Line], reviewed: Reviewed, left_out: dict[int, str]) -> dict[int, Record]:
    """The records that can be kept by the numbers of their lines; all others are added to `left_out`."""
    read: dict[int, Record] = {}
    for line in lines:
        try:
            if line.torn or line.wrong:
                raise ValueError(line.wrong or "a crash left only a part of it")
            if not is_continuation(line):
                read[line.number] = Record.read(line.value)
        except ValueError as error:
            left_out[line.number] = str(error)
    words = dict(zip(read, reviewed.mismatches(list(read.values())), strict=True))
    owners = _owners_of_batches(read.values())
    kept: dict[int, Record] = {}
    seen: set[str] = set()
    standing: dict[str, str] = {}  # who decided what can be undone, by its id
    for number, record in read.items():
        wrong = words[number] or _out_of_place(record, seen, standing, owners)
        if wrong:
            left_out[number] = wrong
            continue
        kept[number] = record
        seen.add(record.id)
        if record.undoes is None:
            standing[record.id if record.batch is None else record.batch.id] = record.who
        else:
            del standing[record.undoes]
    return kept


def _out_of_place(record: Record, seen: set[str], standing: dict[str, str], owners: dict[str, str]) -> str:
    """Why a record cannot stand behind those that are kept; "" if it can."""
    if record.id in seen:
        return "it repeats another line"
    if record.batch is not None and owners[record.batch.id] != record.who:
        return f"its batch is that of another reviewer, {ascii(owners[record.batch.id])[:60]}"
    if record.undoes is None:
        return ""
    who = standing.get(record.undoes)
    if who is None:
        return "what it undoes is not there"
    return "" if who == record.who else f"it undoes a decision of another reviewer, {ascii(who)[:60]}"


def _owners_of_batches(records: Iterable[Record]) -> dict[str, str]:
    """Who made each batch: in files without checksums, a name may be damaged in some of its lines."""
    names: dict[str, Counter[str]] = {}
    for record in records:
        if record.batch is not None:
            names.setdefault(record.batch.id, Counter())[record.who] += 1
    return {batch: found.most_common(1)[0][0] for batch, found in names.items()}


def _in_whole_batches(records: Iterable[Record]) -> Iterator[Record]:
    """The records, those of a batch one after the other, and its size that of what is left of it."""
    records = list(records)
    sizes = Counter(record.batch.id for record in records if record.batch is not None)
    done: set[str] = set()
    for record in records:
        if record.batch is None:
            yield record
        elif record.batch.id not in done:
            done.add(record.batch.id)
            batch = replace(record.batch, size=sizes[record.batch.id])
            yield from (replace(each, batch=batch) for each in records if each.batch and each.batch.id == batch.id)


def _written(first: dict[str, Any], records: Iterable[Record]) -> Iterator[bytes]:
    line, check = sealed(first, "")
    yield line
    for record in records:
        line, check = sealed(record.value(), check)
        yield line
