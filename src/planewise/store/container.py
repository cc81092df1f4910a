"""The outer form of a model file: a zip of a JSON text, raw arrays and their checksum, with bounded sizes."""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from typing import Any, NamedTuple

from planewise.store.errors import ModelFileError, require

MODEL, ARRAYS, CHECKSUM = "model.json", "arrays.bin", "sha256.txt"

# What a file unpacks to is bounded by its size: the writer packs nothing tighter than this, and the reader refuses it.
MOST_GROWTH = 100
ALWAYS_ALLOWED = 1 << 20
MOST_TEXT = 64 << 20
# The same for what Python makes of the text: a value takes this many bytes, be its text as short as "[]".
BYTES_PER_VALUE = 64
MEMORY_ALWAYS_ALLOWED = BYTES_PER_VALUE << 20

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
    in_memory = _memory_of(content) if name == MODEL else 0
    large = len(content) if len(content) > ALWAYS_ALLOWED else 0
    large = max(large, in_memory if in_memory > MEMORY_ALWAYS_ALLOWED else 0)
    if len(zlib.compress(content)) * MOST_GROWTH < 2 * large:
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
        require(entry.orig_filename == entry.filename, "has names in its archive that do not end where they seem to")
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
    contents = {entry.filename: _content(whole, entry, start) for entry, start in _places(archive, whole)}
    in_memory = _memory_of(contents[MODEL])
    require(
        in_memory <= MEMORY_ALWAYS_ALLOWED + MOST_GROWTH * whole_size,
        f"has a description of {in_memory // BYTES_PER_VALUE} values in a file of {whole_size} bytes: no model file of "
        "planewise holds that many",
    )
    return contents


def _memory_of(text: bytes) -> int:
    """About what parsing this JSON takes: commas and brackets begin its values, keys take as much as two."""
    # Python keeps all characters of a text in the width of the widest: four bytes from the lead byte 0xF0 of UTF-8 on.
    width = 1 if text.isascii() else 4 if _FOUR_BYTES.search(text) else 2
    return BYTES_PER_VALUE * (sum(map(text.count, b",[{")) + 2 * text.count(b":")) + len(text) * width


_FOUR_BYTES = re.compile(rb"[\xf0-\xff]")

# Sizes of the records of a zip archive, without their names and other parts of variable length.
_LOCAL, _CENTRAL, _END, _LARGE_END = 30, 46, 22, 76
_LARGE_EXTRA, _SIZES_IN_EXTRA = 20, (2**32 - 1, 2**32 - 1)  # of a member of more than 2 GiB


def _places(archive: zipfile.ZipFile, whole: bytes) -> list[tuple[zipfile.ZipInfo, int]]:
    """The members and where the content of each begins, if they are the whole file.

    Readers of zip archives skip what stands around the members and their headers, where anything could hide.
    """
    around = "has bytes before, between or after its parts: something was added to it, or lost"
    at, found = 0, []
    require(
        not archive.comment and not any(entry.comment for entry in archive.infolist()), "has a comment in its archive"
    )
    for entry in archive.infolist():
        require(entry.header_offset == at and len(whole) >= at + _LOCAL and not entry.flag_bits & 8, around)
        extra = _LARGE_EXTRA if entry.file_size * 1.05 > zipfile.ZIP64_LIMIT else 0
        n_name, n_extra = struct.unpack_from("<HH", whole, at + 26)
        require(n_extra == extra and len(entry.extra) <= extra, f"has extra fields for {entry.filename} in its archive")
        require(
            _is_header_of(entry, whole[at : at + _LOCAL + n_name]), f"has two headers of {entry.filename} that differ"
        )
        at += _LOCAL + n_name + n_extra
        found.append((entry, at))
        at += entry.compress_size
    require(archive.start_dir == at, around)
    at += sum(_CENTRAL + len(entry.orig_filename.encode()) + len(entry.extra) for entry, _ in found)
    require(len(whole) - at in (_END, _LARGE_END + _END), around)
    return found


def _is_header_of(entry: zipfile.ZipInfo, header: bytes) -> bool:
    """Whether the header before a member says of it what the directory at the end of the archive does."""
    mark, version, reserved, flags, method, time, date, crc, packed, size, _, _ = struct.unpack_from(
        "<4s2B4HL2L2H", header
    )
    year, month, day, hour, minute, second = entry.date_time
    return (
        (mark, reserved, header[_LOCAL:]) == (b"PK\x03\x04", entry.reserved, entry.filename.encode())
        and (version, flags, method, crc) == (entry.extract_version, entry.flag_bits, entry.compress_type, entry.CRC)
        and (date, time) == ((year - 1980) << 9 | month << 5 | day, hour << 11 | minute << 5 | second // 2)
        and (packed, size) in ((entry.compress_size, entry.file_size), _SIZES_IN_EXTRA)
    )


def _content(whole: bytes, entry: zipfile.ZipInfo, start: int) -> bytes:
    """As many bytes as the directory of the archive promises, whatever the packed stream would go on to."""
    content = whole[start : start + entry.compress_size]
    if entry.compress_type == zipfile.ZIP_DEFLATED:
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        content = stream.decompress(content, entry.file_size + 1)
        require(stream.eof and not stream.unused_data, f"is damaged: {entry.filename} does not end where it should")
    require(len(content) == entry.file_size, f"is damaged: {entry.filename} does not have its recorded size")
    require(zlib.crc32(content) == entry.CRC, f"is damaged: {entry.filename} does not have its checksum")
    return content


def _checksum(text: bytes, arrays: bytes) -> bytes:
    digest = hashlib.sha256(len(text).to_bytes(8, "little"))
    digest.update(text)
    digest.update(arrays)
    return digest.hexdigest().encode()


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(
            text.decode(), parse_constant=_refuse_constant, object_pairs_hook=_object_without_repetition
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"has a description that is not valid JSON ({error})") from error
    require(isinstance(document, dict), "has a description that is not a JSON object")
    return document


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _object_without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers of JSON disagree on which of two equal keys counts."""
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError("a key appears twice in an object")
    return out
