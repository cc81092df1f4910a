"""The outer form of a model file: a zip of a JSON text, raw arrays and their checksum, with bounded sizes."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from planewise._atomic import replacing
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


def write(path: str | PathLike[str], parts: Parts) -> None:
    """Write the file in one step; the same parts give the same bytes."""
    text = json.dumps(parts.document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > MOST_TEXT:
        raise ValueError(
            f"The model's names, labels and categories take {len(text) >> 20} MiB of text; a file holds at most "
            f"{MOST_TEXT >> 20} MiB. Is an identifier among the categorical columns?"
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in ((MODEL, text), (ARRAYS, parts.arrays), (CHECKSUM, _checksum(text, parts.arrays))):
            _add(archive, name, content)
    with replacing(path) as file:
        file.write(packed.getbuffer())


def read(path: str | PathLike[str]) -> Parts:
    """The parts of a file, after a look at their sizes and their checksum."""
    whole = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            contents = _contents(archive, len(whole))
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


def _contents(archive: zipfile.ZipFile, whole_size: int) -> dict[str, bytes]:
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
    return {name: _content(archive, entry) for name, entry in entries.items()}


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
