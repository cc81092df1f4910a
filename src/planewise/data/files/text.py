"""The bytes of text files as UTF-8, whatever their encoding, compression and line breaks."""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Iterator

from planewise.data.files.reading import TableFileError
from planewise.data.files.sources import TableFile, read_some

HEAD_BYTES = 1 << 20  # that tell the encoding and the dialect
BLOCK_BYTES = 4 << 20
MARKS = {  # of byte order; the longer ones first
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 26, 27})


def find_encoding(file: TableFile, given: str | None) -> str:
    """The encoding of a file by its first bytes, or the given one."""
    with contextlib.closing(file.open()) as stream:
        head = read_some(file, stream, HEAD_BYTES)
    if given is not None:
        return "utf-8-sig" if codecs.lookup(given).name == "utf-8" else given
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding
    if zeros := head.count(0):
        even = head[::2].count(0)
        if zeros > len(head) // 4 and min(even, zeros - even) < zeros // 20:
            return "utf-16-be" if even > zeros // 2 else "utf-16-le"
    if any(head.find(each) >= 0 for each in CONTROLS):
        raise TableFileError(
            f"{file.name!r} is not a text table: it holds control characters. Tables are CSV, JSON lines, Parquet, "
            "Arrow or Excel files."
        )
    return "utf-8-sig" if _is_utf8(head) else "cp1252" if _is_cp1252(head) else "latin-1"


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _is_cp1252(head: bytes) -> bool:
    return not any(head.find(each) >= 0 for each in (0x81, 0x8D, 0x8F, 0x90, 0x9D))


def utf8_blocks(file: TableFile, encoding: str) -> Iterator[bytes]:
    """The text of a file as UTF-8 with line breaks that are, or end in, a line feed."""
    decoder = codecs.getincrementaldecoder(encoding)()
    plain, returns, line, first = encoding == "utf-8-sig", None, 1, True
    with contextlib.closing(file.open()) as stream:
        while True:
            block = read_some(file, stream, BLOCK_BYTES)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeError as error:
                at = line + block.count(b"\n", 0, getattr(error, "start", 0))
                raise TableFileError(_wrong(file, encoding, at)) from None
            if plain and not decoder.getstate()[0]:
                found = block.removeprefix(codecs.BOM_UTF8) if first else block
            else:
                found = text.encode("utf-8", "surrogatepass")
            plain, first = plain and not decoder.getstate()[0], False
            if returns is None and found:
                returns = b"\r" in found and b"\n" not in found  # as Macs once wrote
            found = found.replace(b"\r", b"\n") if returns else found
            if (zero := found.find(b"\0")) >= 0:
                at = line + found.count(b"\n", 0, zero)
                raise TableFileError(f"{file.name!r} is not a text table: line {at} holds a zero byte.")
            line += found.count(b"\n")
            if found:
                yield found
            if not block:
                return


def _wrong(file: TableFile, encoding: str, line: int) -> str:
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    other = "cp1252" if name == "utf-8" else "utf-8"
    return f"{file.name!r}: line {line} is not text in the encoding {name}: --encoding {other} may read it."


def head_of(file: TableFile, encoding: str) -> tuple[bytes, bool]:
    """The first bytes as UTF-8, and whether these are all."""
    head = b""
    for block in utf8_blocks(file, encoding):
        head += block
        if len(head) > HEAD_BYTES:
            return head[:HEAD_BYTES], False
    return head, True
