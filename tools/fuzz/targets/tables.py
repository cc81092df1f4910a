"""Tables in files: TableFileError, or a table whose values are the same if it is read whole and in chunks.

The first three bytes of an input choose the file's ending, how the rest is packed, and options of the reader.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import polars as pl
import zstandard
from mutations import damage_bytes
from target import scratch

from planewise.data import InputTable, Reading, TableFileError
from planewise.data.columns import Column
from planewise.data.files import lines as _lines
from planewise.data.files import tables as _tables

OUTCOMES = ("refused", "read")
MAX_BYTES = 1 << 13
CHUNKS = {"CHUNK_BYTES": (_lines, 64), "CHUNK_ROWS": (_tables, 2)}  # so small that an input has several of them
USES_CORE = False
WORDS = (
    *(b'"', b'""', b"'", b";", b",", b"\t", b"|", b"\r\n", b"\r", b"\x00", b"\\", b"#", b"sep=;\n", b"\xef\xbb\xbf"),
    *(
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xe4",
        b"\xc3\xa4",
        b"\xc2\xa0",
        b"NA",
        b"1.234,5",
        b"1,234.5",
        b"1e5",
        b"-0",
        b"inf",
    ),
    *(b"2024-02-30", b"31.12.2024", b"12/31/2024 11:59 PM", b"12:30", b"5 %", b"1 234", b"true", b"nein", b"10 kg"),
    *(b"\xe2\x88\x92", b'{"a":', b"[{", b"null", b"}\n{", b"9" * 40),
)
ENDINGS = (".csv", ".tsv", "", ".txt", ".jsonl", ".json", ".parquet", ".arrow", ".arrows", ".xlsx")
PACKED = (
    *(bytes, partial(gzip.compress, compresslevel=1), partial(bz2.compress, compresslevel=1)),
    *(partial(lzma.compress, preset=0), zstandard.ZstdCompressor(1).compress),
)
READINGS = (
    *(Reading(), Reading(separator=";"), Reading(decimal=","), Reading(encoding="cp1252"), Reading(header=False)),
    *(Reading(comment="#"), Reading(encoding="utf-16"), Reading(header=True, separator="tab"), Reading(missing=["x"])),
    *(Reading(date_formats={"": "%d.%m.%Y"}), Reading(categories=["a"]), Reading(encoding="utf-8", decimal=".")),
)


def case(data: bytes) -> str:
    ending, packed, reading = (data[:3] + bytes(3))[:3]
    path = scratch() / f"table{ENDINGS[ending % len(ENDINGS)]}"
    path.write_bytes(PACKED[packed % len(PACKED)](data[3:]))
    table = InputTable([path], READINGS[reading % len(READINGS)])
    try:
        read = table.read()
    except TableFileError as error:
        assert str(error).strip()
        return "refused"
    assert read.height > 0
    assert read.columns == table.columns
    table.in_words()
    table.remembered()
    _check_same(table, read, _in_chunks(table))
    return "read"


def _in_chunks(table: InputTable) -> pl.DataFrame:
    """All rows, read a few at a time as the columns of a model, whose kinds are those that were found."""
    columns = [Column(each.name, each.kind) for each in table.found if each.kind is not None]
    with ExitStack() as small:
        for name, (module, value) in CHUNKS.items():
            small.enter_context(patch.object(module, name, value))
        return pl.concat(list(table.chunks(columns, table.columns)), how="vertical_relaxed")


def _check_same(table: InputTable, whole: pl.DataFrame, chunks: pl.DataFrame) -> None:
    assert chunks.columns == whole.columns
    assert chunks.height == whole.height, "chunks have other rows"
    for found in table.found:
        values, other = _comparable(whole[found.name], chunks[found.name])
        assert values.equals(other), f"chunks have other values: {values.to_list()}, {other.to_list()}"


def _comparable(values: pl.Series, words: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both in one type: chunks leave booleans as text, and whole numbers as floats."""
    if values.dtype == pl.Boolean and words.dtype == pl.String:
        return values, words.str.to_lowercase() == "true"
    return (values.cast(words.dtype) if words.dtype.is_float() and values.dtype.is_integer() else values), words


def seeds() -> Iterable[bytes]:
    plain = b"town;rent;day\nUlm;812,50;01.02.2024\nBonn;1.040,00;28.02.2024\n"
    quoted = b'a,b,c\n1,"x, y",2024-01-02\n2,"say ""so""",2024-01-03\n,z,\n'
    json_lines = b'{"a": 1, "b": "x"}\n{"a": null, "b": "y"}\n'
    for packed in range(len(PACKED)):
        yield bytes([0, packed, 0]) + plain
    yield bytes(3) + quoted
    yield bytes(3) + b"\xef\xbb\xbf" + quoted.replace(b"\n", b"\r\n")
    yield bytes(3) + "größe\tpreis\nä\t1\n".encode("utf-16")
    yield bytes(3) + "größe;preis\nä;1,5 €\n".encode("cp1252")
    yield bytes([3, 0, 5]) + b"# said\n# so\na;b\n1;2\n4;5\n"
    yield bytes(3) + b"n,note\n" + b"".join(b'%d,"first, of %d\nsecond"\n' % (k, k) for k in range(9))  # several chunks
    yield bytes([1, 0, 0]) + b"a\tb\n5 %\ttrue\n10 %\tfalse\n"
    yield bytes([4, 0, 0]) + json_lines
    yield bytes([5, 0, 0]) + b'[{"a": 1, "b": [1]}, {"a": 2.5, "b": []}]'
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    for place, write in ((6, "write_parquet"), (7, "write_ipc"), (8, "write_ipc_stream"), (9, "write_excel")):
        file = io.BytesIO()
        getattr(frame, write)(file)
        yield bytes([place, 0, 0]) + file.getvalue()


def mutated(data: bytes, rng: random.Random, mutate: Callable[[bytes], bytes]) -> bytes:
    how = rng.random()
    if how < 0.7:
        return data[:3] + mutate(data[3:])
    if how < 0.8:
        return mutate(data)
    if how < 0.9:
        return data[:3] + damage_bytes(data[3:], rng)
    lines = data[3:].split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return data[:3] + b"\n".join(lines)
