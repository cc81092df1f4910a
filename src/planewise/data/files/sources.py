"""Open the files of a table, the standard input and pipes, and detect their formats."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from planewise._optional import require
from planewise.data.files.reading import TableFileError

TEXT, JSON = (".csv", ".tsv", ".tab", ".txt", ".dat"), (".jsonl", ".ndjson", ".json")
PARQUET, ARROW, STREAM = (".parquet", ".pq"), (".arrow", ".feather", ".ipc"), (".arrows",)
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}
BY_ENDING = {
    **dict.fromkeys(TEXT, "text"),
    **dict.fromkeys(JSON, "JSON lines"),
    **dict.fromkeys(PARQUET, "Parquet"),
    **dict.fromkeys(ARROW, "Arrow"),
    **dict.fromkeys(STREAM, "Arrow stream"),
    **dict.fromkeys(EXCEL, "Excel"),
}
BINARY = ("Parquet", "Arrow", "Arrow stream", "Excel")
MAGIC = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"\xd0\xcf\x11\xe0": "Excel",
    b"PK\x03\x04": "zip",
}
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
STANDARD_INPUT = ("-", "/dev/stdin")


@dataclass(frozen=True)
class TableFile:
    """One file of a table."""

    path: Path
    name: str  # as the user knows it
    form: str  # one of BY_ENDING's values
    packed: str = ""  # one of COMPRESSED's values
    content: bytes | None = None  # the bytes of the standard input or a pipe, which can be read only once

    @property
    def source(self) -> Path | bytes:
        """Return the path, or the bytes of a stream, for the readers of other packages."""
        return self.path if self.content is None else self.content

    @property
    def ending(self) -> str:
        """In lower case, without that of the compression."""
        return ending_of(self.path)

    def open(self) -> BinaryIO:
        """Open its bytes, unpacked."""
        return unpacked(self.path if self.content is None else io.BytesIO(self.content), self.packed)


def ending_of(path: Path | str) -> str:
    """The ending of a file's name in lower case, without that of its compression."""
    path = Path(path)
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in COMPRESSED else last


def unpacked(source: Path | BinaryIO, packed: str) -> BinaryIO:
    """Open a file that may be compressed."""
    if packed == "gzip":
        return gzip.open(source, "rb")  # type: ignore[return-value]
    if packed == "bzip2":
        return bz2.open(source, "rb")  # type: ignore[return-value]
    if packed == "xz":
        return lzma.open(source, "rb")  # type: ignore[return-value]
    if packed == "zstd":
        return _zstd(source)
    return source.open("rb") if isinstance(source, Path) else source


def _zstd(source: Path | BinaryIO) -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.open(source, "rb")
    opened: BinaryIO = require("Reading a .zst file", "zstandard", "cli").open(source, "rb")
    return opened


def read_some(file: TableFile, stream: BinaryIO, n_bytes: int) -> bytes:
    """The next bytes; an error in words if the compressed file is damaged."""
    try:
        return stream.read(n_bytes)
    except Exception as error:
        damaged = isinstance(error, DAMAGED) or (isinstance(error, OSError) and error.errno is None)
        if file.packed and (damaged or type(error).__name__ == "ZstdError"):
            raise TableFileError(f"{file.name!r} cannot be unpacked: {error}; is the file complete?") from error
        raise


def find_files(names: Sequence[str | os.PathLike[str]]) -> list[TableFile]:
    """Return the named files in their order; the standard input and pipes are read into memory."""
    found = [_meant(os.fspath(name)) for name in names]
    if not found:
        raise TableFileError("no table was given.")
    forms = {file.form for file in found}
    if len(forms) > 1:
        raise TableFileError(f"the command names files of different formats: {' and '.join(sorted(forms))}.")
    return found


def _meant(name: str) -> TableFile:
    if name in STANDARD_INPUT:
        return look_at(Path(name), "the standard input", _standard_input().read())
    path = Path(name)
    mode = os.stat(name).st_mode  # its errors name the file as given: Path makes http:/ of http://
    if stat.S_ISDIR(mode):
        raise TableFileError(
            f"{name!r} is a folder: name the files in it, such as {name.rstrip('/')}/*.csv in a shell."
        )
    return look_at(path, name, None if stat.S_ISREG(mode) else path.read_bytes())


def _standard_input() -> Any:
    if sys.stdin is None:
        raise TableFileError("the standard input is closed.")
    if sys.stdin.isatty():
        raise TableFileError("the standard input is a terminal: pipe a table into the command, or give a file.")
    return getattr(sys.stdin, "buffer", None) or sys.stdin


def look_at(path: Path, name: str, content: bytes | None = None) -> TableFile:
    """Find out what a file holds, by its first bytes and its ending."""
    file = TableFile(path, name, "", "", content)
    with contextlib.closing(file.open()) as stream:
        packed = _by_start(stream.read(16), PACKED)
    file = replace(file, packed=packed)
    with contextlib.closing(file.open()) as stream:
        start = read_some(file, stream, 4096)
        form = _form(file, start)
        if not packed or form not in BINARY:
            return replace(file, form=form)
        # Columns of these formats are read from anywhere in the file, so that it must be unpacked as a whole.
        blocks = [start]
        while block := read_some(file, stream, 1 << 20):
            blocks.append(block)
    return replace(file, form=form, packed="", content=b"".join(blocks))


def _by_start(start: bytes, known: dict[bytes, str]) -> str:
    return next((what for magic, what in known.items() if start.startswith(magic)), "")


def _form(file: TableFile, start: bytes) -> str:
    found = _by_start(start, MAGIC)
    if found == "zip":
        return _in_zip(file)
    named = BY_ENDING.get(file.ending, "")
    if found or named in BINARY:
        return found or named
    if named:
        return named
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    return "JSON lines" if text.startswith((b"{", b"[{")) else "text"


def _in_zip(file: TableFile) -> str:
    """Workbooks are zip files; others are not unpacked."""
    try:
        with contextlib.closing(file.open()) as stream, zipfile.ZipFile(stream) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        members = []
    if file.ending in EXCEL or any(name in ("xl/workbook.xml", "content.xml") for name in members):
        return "Excel"
    if "model.json" in members:
        raise TableFileError(f"{file.name!r} is a model file, not a table.")
    inside = f" It holds {', '.join(map(repr, members[:3]))}." if members else ""
    raise TableFileError(f"{file.name!r} is a zip archive: unpack it first.{inside}")
