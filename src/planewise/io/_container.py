"""The outer form of a model file: a zip of a JSON text, raw arrays and their checksum, with bounded sizes."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from typing import Any, NamedTuple

from planewise.io._errors import ModelFileError, require

MODEL, ARRAYS, CHECKSUM = "model.json", "arrays.bin", "sha256.txt"

# What a file unpacks to is bounded by its size: the writer packs nothing tighter than this, and the reader refuses it.
MOST_GROWTH = 100
ALWAYS_ALLOWED = 1 << 20
MOST_TEXT = 64 << 20

_BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,  # what zipfile raises for a compression it does not know
    RuntimeError,
    EOFError,
    OverflowError,
    UnicodeError,
    ValueError,
)


class Parts(NamedTuple):
    """What a file holds."""

    document: dict[str, Any]
    arrays: bytes


def packed(parts: Parts) -> bytes:
    """The bytes of a file; the same parts give the same bytes."""
    text = json.dumps(parts.document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > MOST_TEXT:
        raise ValueError(
            f"The model's names, labels and categories take {len(text) >> 20} MiB of text; a file holds at most "
            f"{MOST_TEXT >> 20} MiB. Is an identifier among the categorical columns?"
        )
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in ((MODEL, text), (ARRAYS, parts.arrays), (CHECKSUM, _checksum(text, parts.arrays))):
            _add(archive, name, content)
    return whole.getvalue()


def unpacked(whole: bytes) -> Parts:
    """The parts of a file of these bytes, after a look at their sizes and their checksum."""
    try:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            contents = _contents(archive, whole)
    except ModelFileError:
        raise
    except _BAD_ZIP as error:
        raise ModelFileError(f"is not a model file, or is truncated or damaged ({error})") from error
    require(
        contents[CHECKSUM] == _checksum(contents[MODEL], contents[ARRAYS]),
        "is damaged: its content does not have the checksum it was written with",
    )
    return Parts(_parsed(contents[MODEL]), contents[ARRAYS])


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same bytes at any time
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    if len(content) > ALWAYS_ALLOWED and len(zlib.compress(content)) * MOST_GROWTH < 2 * len(content):
        entry.compress_type = zipfile.ZIP_STORED
    archive.writestr(entry, content, compresslevel=9)


def _contents(archive: zipfile.ZipFile, whole: bytes) -> dict[str, bytes]:
    whole_size = len(whole)
    entries = {entry.filename: entry for entry in archive.infolist()}
    require(
        sorted(entries) == sorted((MODEL, ARRAYS, CHECKSUM)) and len(archive.infolist()) == 3,
        f"is a zip archive, but not a planewise model: it must hold exactly {MODEL}, {ARRAYS} and {CHECKSUM}",
    )
    for entry in entries.values():
        require(not entry.flag_bits & 1, "is encrypted, which planewise's model files never are")
        require(
            entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED),
            f"has {entry.filename} packed in a way that planewise does not write",
        )
    unpacked = sum(entry.file_size for entry in entries.values())
    require(
        unpacked <= ALWAYS_ALLOWED + MOST_GROWTH * whole_size,
        f"would unpack from {whole_size} to {unpacked} bytes: no model file of planewise is packed that tightly",
    )
    require(entries[MODEL].file_size <= MOST_TEXT, f"has more than {MOST_TEXT >> 20} MiB of text")
    require(_is_all(archive, whole), "has bytes before, between or after its parts: something was added to it, or lost")
    return {name: _content(archive, entry) for name, entry in entries.items()}


# Sizes of the records of a zip archive, without their names and other parts of variable length.
_LOCAL, _CENTRAL, _END, _LARGE_END = 30, 46, 22, 76


def _is_all(archive: zipfile.ZipFile, whole: bytes) -> bool:
    """Whether the archive is the whole file: readers of zip archives skip what stands around their parts."""
    at = 0
    for entry in archive.infolist():
        if entry.header_offset != at or len(whole) < at + _LOCAL or entry.flag_bits & 8:
            return False
        name_and_extra = sum(struct.unpack_from("<HH", whole, at + 26))
        at += _LOCAL + name_and_extra + entry.compress_size
    large = archive.start_dir - at  # what is between the last part and the directory
    at += sum(
        _CENTRAL + len(entry.filename.encode()) + len(entry.extra) + len(entry.comment) for entry in archive.infolist()
    )
    return large == 0 and not archive.comment and len(whole) - at in (_END, _LARGE_END + _END)


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """As many bytes as the directory of the archive promises, whatever the packed stream would go on to."""
    with archive.open(entry) as stream:
        content = stream.read(entry.file_size)
    require(len(content) == entry.file_size, f"is truncated: {entry.filename} ends too early")
    return content


def _checksum(text: bytes, arrays: bytes) -> bytes:
    digest = hashlib.sha256(len(text).to_bytes(8, "little"))
    digest.update(text)
    digest.update(arrays)
    return digest.hexdigest().encode()


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"has a description that is not valid JSON ({error})") from error
    require(isinstance(document, dict), "has a description that is not a JSON object")
    return document


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
