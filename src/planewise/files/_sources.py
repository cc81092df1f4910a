"""Where the bytes of a table come from: files, folders, patterns, the standard input, pipes and addresses."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import shutil
import stat
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any, BinaryIO

from planewise._extras import require
from planewise.files._reading import TableFileError
from planewise.parts import find_files

TEXT, JSON = (".csv", ".tsv", ".tab", ".txt", ".dat"), (".jsonl", ".ndjson", ".json")
PARQUET, ARROW, STREAM = (".parquet", ".pq"), (".arrow", ".feather", ".ipc"), (".arrows",)
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}
ENDINGS = (*TEXT, *JSON, *PARQUET, *ARROW, *STREAM, *EXCEL)
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
class LocalFile:
    """One file of a table, on this machine."""

    path: Path
    name: str  # as the user knows it
    form: str  # one of BY_ENDING's values
    packed: str = ""  # one of COMPRESSED's values

    @property
    def ending(self) -> str:
        """In lower case, without that of the compression."""
        return ending_of(self.path)

    def open(self) -> BinaryIO:
        """Its bytes, unpacked."""
        return unpacked(self.path, self.packed)


class Spool:
    """A folder for tables that can be read only once; it is deleted with this object, or when Python ends."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._delete: Callable[[], object] = lambda: None
        self._n_files = 0

    def path(self, name: str) -> Path:
        """A new file in it."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="planewise-"))
            self._delete = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._n_files += 1
        return Path(self._folder, f"{self._n_files}-{Path(name).name or 'table'}")

    def close(self) -> None:
        """Delete the folder."""
        self._delete()
        self._folder = None


def ending_of(path: Path | str) -> str:
    """The ending of a file's name in lower case, without that of its compression."""
    path = Path(path)
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in COMPRESSED else last


def unpacked(path: Path, packed: str) -> BinaryIO:
    """The bytes of a file that may be compressed."""
    if packed == "gzip":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if packed == "bzip2":
        return bz2.open(path, "rb")  # type: ignore[return-value]
    if packed == "xz":
        return lzma.open(path, "rb")  # type: ignore[return-value]
    return _zstd(path) if packed == "zstd" else path.open("rb")


def _zstd(path: Path) -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.open(path, "rb")
    opened: BinaryIO = require("Reading a .zst file", "zstandard", "cli").open(path, "rb")
    return opened


def read_some(file: LocalFile, stream: BinaryIO, n_bytes: int) -> bytes:
    """The next bytes; an error in words if the compressed file is damaged."""
    try:
        return stream.read(n_bytes)
    except Exception as error:
        damaged = isinstance(error, DAMAGED) or (isinstance(error, OSError) and error.errno is None)
        if file.packed and (damaged or type(error).__name__ == "ZstdError"):
            raise TableFileError(f"{file.name!r} cannot be unpacked: {error}; is the file complete?") from error
        raise


def local_files(names: Sequence[str | os.PathLike[str]], spool: Spool) -> list[LocalFile]:
    """The files that a user's names mean, in their order; those that can be read only once are copied first."""
    found = [file for name in names for file in _meant(os.fspath(name), spool)]
    if not found:
        raise TableFileError("no table was given.")
    forms = {file.form for file in found}
    if len(forms) > 1:
        where = repr(os.fspath(names[0])) if len(names) == 1 else "the command"
        raise TableFileError(f"{where} names files of different formats: {' and '.join(sorted(forms))}.")
    return found


def _meant(name: str, spool: Spool) -> Iterator[LocalFile]:
    if name in STANDARD_INPUT:
        yield _copied_from(_standard_input(), "the standard input", spool)
        return
    if "://" in name:
        yield _fetched(name, spool)
        return
    path = Path(name)
    if path.is_dir() or (has_magic(name) and not path.exists()):
        for file in _in_folder(path):
            yield look_at(file, str(file), spool)
        return
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe can be read only once
        with path.open("rb") as stream:
            yield _copied_from(stream, name, spool)
        return
    yield look_at(path, name, spool)


def _in_folder(path: Path) -> list[Path]:
    endings = (*ENDINGS, *(f"{each}{packed}" for each in (*TEXT, *JSON) for packed in COMPRESSED))
    try:
        return find_files(path, endings)
    except FileNotFoundError as error:
        known = ", ".join(ENDINGS)
        words = f"The folder {str(path)!r} has no file that ends in one of {known}." if path.is_dir() else str(error)
        raise TableFileError(words) from None


def _standard_input() -> Any:
    if sys.stdin is None:
        raise TableFileError("the standard input is closed.")
    if sys.stdin.isatty():
        raise TableFileError("the standard input is a terminal: pipe a table into the command, or give a file.")
    return getattr(sys.stdin, "buffer", None) or sys.stdin


def _copied_from(stream: Any, name: str, spool: Spool) -> LocalFile:
    path = spool.path("table" if name == "the standard input" else name)
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return look_at(path, name, spool)


def _fetched(address: str, spool: Spool) -> LocalFile:
    """A copy of what is at an address."""
    scheme = address.split("://", 1)[0]
    try:
        import fsspec
    except ImportError:
        raise TableFileError(
            f"{address!r} is not a file on this machine: download it first, or install fsspec (pip install "
            f"'fsspec[{'http' if scheme.startswith('http') else scheme}]')."
        ) from None
    path = spool.path(address.partition("?")[0].rstrip("/"))
    try:
        with fsspec.open(address, "rb") as stream, path.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
    except Exception as error:  # each file system has its own
        why = " ".join(str(error).split()) or type(error).__name__
        raise TableFileError(
            f"{address!r} cannot be read: {why.rstrip('.')}. Download it first, if that helps."
        ) from error
    return look_at(path, address, spool)


def look_at(path: Path, name: str, spool: Spool) -> LocalFile:
    """What a file holds, by its first bytes and its ending."""
    with path.open("rb") as stream:
        packed = _by_start(stream.read(16), PACKED)
    file = LocalFile(path, name, "", packed)
    with contextlib.closing(file.open()) as stream:
        start = read_some(file, stream, 4096)
    form = _form(file, start)
    if packed and form in BINARY:
        plain = spool.path(path.stem)
        with contextlib.closing(file.open()) as stream, plain.open("wb") as copy:
            while block := read_some(file, stream, 1 << 20):
                copy.write(block)
        return LocalFile(plain, name, form)
    return LocalFile(path, name, form, packed)


def _by_start(start: bytes, known: dict[bytes, str]) -> str:
    return next((what for magic, what in known.items() if start.startswith(magic)), "")


def _form(file: LocalFile, start: bytes) -> str:
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


def _in_zip(file: LocalFile) -> str:
    """Workbooks are zip files; others are not unpacked."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        members = []
    if file.ending in EXCEL or any(name in ("xl/workbook.xml", "content.xml") for name in members):
        return "Excel"
    if "model.json" in members:
        raise TableFileError(f"{file.name!r} is a model file, not a table.")
    inside = f" It holds {', '.join(map(repr, members[:3]))}." if members else ""
    raise TableFileError(f"{file.name!r} is a zip archive: unpack it first.{inside}")
