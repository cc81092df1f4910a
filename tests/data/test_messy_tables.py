"""Tables as people bring them: each is read right, or refused with the place and what to do."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import json
import lzma
from pathlib import Path

import polars as pl
import pytest

from planewise.data import InputTable, Reading, TableFileError
from planewise.data.columns import Column
from planewise.data.files import lines

N = 60


def rows(separator=",", decimal=".", header="age,weight,town,day"):
    """A table of four columns: whole numbers, numbers with a fraction, words, dates."""
    lines = [header.replace(",", separator)]
    for k in range(N):
        weight = f"{50 + k / 8:.3f}".replace(".", decimal)
        lines.append(separator.join([str(20 + k % 7), weight, ("Ulm", "Köln", "Bonn")[k % 3], str(day(k))]))
    return "\n".join(lines) + "\n"


def day(k):
    return datetime.date(2024, 1, 1) + datetime.timedelta(days=k)


def plain():
    return pl.DataFrame(
        {
            "age": [20 + k % 7 for k in range(N)],
            "weight": [50 + k / 8 for k in range(N)],
            "town": [("Ulm", "Köln", "Bonn")[k % 3] for k in range(N)],
            "day": [day(k) for k in range(N)],
        }
    )


def column(values, name="x"):
    """Two columns: one of given texts, one of numbers."""
    return "".join([f"{name};n\n", *(f"{value};{k}\n" for k, value in enumerate(values))])


def numbered(values):
    return pl.DataFrame({"x": values, "n": range(len(values))})


def excel(title=False, names=None, odd=None):
    import xlsxwriter

    written = io.BytesIO()
    with xlsxwriter.Workbook(written) as book:
        sheet = book.add_worksheet("Patients")
        start = 2 if title else 0
        if title:
            sheet.write(0, 0, "Report of the clinic")
        date = book.add_format({"num_format": "yyyy-mm-dd"})
        for place, name in enumerate(names or plain().columns):
            sheet.write(start, place, name)
        for number, row in enumerate(plain().iter_rows(), start + 1):
            for place, value in enumerate(row):
                sheet.write_datetime(
                    number, place, datetime.datetime.combine(value, datetime.time()), date
                ) if isinstance(value, datetime.date) else sheet.write(number, place, value)
        if odd:
            sheet.write(start + 2, 1, odd)
        book.add_worksheet("Notes")
    return written.getvalue()


def zstd(data):
    import zstandard

    return zstandard.compress(data)


def stream(table):
    written = io.BytesIO()
    table.write_ipc_stream(written)
    return written.getvalue()


def as_bytes(table, write):
    written = io.BytesIO()
    getattr(table, write)(written)
    return written.getvalue()


def day_first(form):
    return column([day(7 * k).strftime(form) for k in range(40)])


DAYS = numbered([day(7 * k) for k in range(40)])
GERMAN = rows(";", ",")
NUMBERS = [k + 0.5 for k in range(200)]
# name of the file, its content, what is read, and how; the last may be left out
READ_RIGHT = {
    "commas": ("t.csv", rows(), plain()),
    "semicolons, decimal commas": ("t.csv", GERMAN, plain()),
    "tabs": ("t.tsv", rows("\t"), plain()),
    "tabs in a file that is called csv": ("t.csv", rows("\t"), plain()),
    "bars": ("t.txt", rows("|"), plain()),
    "no ending": ("table", rows(), plain()),
    "UTF-8 with a mark": ("t.csv", rows().encode("utf-8-sig"), plain()),
    "UTF-16 with a mark": ("t.csv", rows("\t").encode("utf-16"), plain()),
    "UTF-16 without a mark": ("t.csv", rows("|").encode("utf-16-le"), plain()),
    "UTF-16, big-endian": ("t.csv", b"\xfe\xff" + rows("|").encode("utf-16-be"), plain()),
    "cp1252, as Excel writes in Germany": ("t.csv", GERMAN.encode("cp1252"), plain()),
    "lines end as in Windows": ("t.csv", GERMAN.replace("\n", "\r\n").encode("cp1252"), plain()),
    "lines end as on old Macs": ("t.csv", rows().replace("\n", "\r"), plain()),
    "no last line break": ("t.csv", rows().rstrip("\n"), plain()),
    "Excel's line for the separator": ("t.csv", "sep=;\n" + GERMAN, plain()),
    "titles above the header": ("t.csv", "Report of 2024\n\n" + GERMAN, plain()),
    "titles that are filled up with separators": ("t.csv", "Report of 2024;;;\n;;;\n" + GERMAN, plain()),
    "facts above the header": (
        "t.csv",
        "Clinic;Ulm\nfrom;2024\n" + GERMAN.replace("age;", "a;b;c;d;age;").replace("\n2", "\n0;0;0;0;2"),
        plain().select(*(pl.lit(0, dtype=pl.Int64).alias(c) for c in "abcd"), pl.all()),
    ),
    "comments above and below": ("t.csv", "# made by a machine\n" + rows() + "# the end\n", plain()),
    "a header that looks like a comment": ("t.csv", "#" + rows(), plain()),
    "a last comment with a quote": ("t.csv", rows() + '# 5" wide\n', plain(), {"comment": "#"}),
    "a last comment with a quote and no line break": ("t.csv", rows() + '# 5" wide', plain(), {"comment": "#"}),
    "comments of another kind": (
        "t.csv",
        rows().replace("\n", "\n% a note, with a comma\n", 3),
        plain(),
        {"comment": "%"},
    ),
    "no header": (
        "t.csv",
        rows().partition("\n")[2],
        plain().rename(lambda name: f"column_{plain().columns.index(name) + 1}"),
    ),
    "years for names": (
        "t.csv",
        "land,2019,2020\n" + "".join(f"L{k},{k},{k}.5\n" for k in range(30)),
        pl.DataFrame({"land": [f"L{k}" for k in range(30)], "2019": range(30), "2020": [k + 0.5 for k in range(30)]}),
    ),
    "spaces around names and values": ("t.csv", rows(" , "), plain()),
    "blank lines": ("t.csv", rows().replace("\n", "\n\n", 9) + "\n\r\n", plain()),
    "single quotes": ("t.csv", column([f"'{k};{k}'" for k in range(30)]), numbered([f"{k};{k}" for k in range(30)])),
    "fields longer than Python's csv module reads": (
        "t.csv",
        column([f'"{200_000 * "a;"}{k}"' for k in range(3)]),
        numbered([f"{200_000 * 'a;'}{k}" for k in range(3)]),
    ),
    "doubled quotes in the header": (
        "t.csv",
        '"a""b","say ""x""\n","""",n\n' + "".join(f"{k},{k}.5,word,{k}\n" for k in range(30)),
        pl.DataFrame(
            {
                'a"b': range(30),
                'say "x"\n': [k + 0.5 for k in range(30)],
                '"': ["word"] * 30,
                "n": range(30),
            }
        ),
    ),
    "a quote inside a name": (
        "t.csv",
        'size in ",n\n' + "".join(f"{k}.5,{k}\n" for k in range(30)),
        pl.DataFrame({'size in "': [k + 0.5 for k in range(30)], "n": range(30)}),
    ),
    "quotes in quotes": (
        "t.csv",
        column([f'"a ""{k}"" b"' for k in range(30)]),
        numbered([f'a "{k}" b' for k in range(30)]),
    ),
    "line breaks in quotes": (
        "t.csv",
        column([f'"a\n{k}"' for k in range(30)]),
        numbered([f"a\n{k}" for k in range(30)]),
    ),
    "gzip": ("t.csv.gz", gzip.compress(rows().encode()), plain()),
    "gzip by another name": ("t.csv", gzip.compress(GERMAN.encode("cp1252")), plain()),
    "zstd": ("t.csv.zst", lambda: zstd(rows().encode()), plain()),
    "bzip2": ("t.csv.bz2", bz2.compress(rows().encode()), plain()),
    "xz": ("t.csv.xz", lzma.compress(rows().encode()), plain()),
    "JSON lines": ("t.jsonl", "".join(json.dumps(each, default=str) + "\n" for each in plain().to_dicts()), plain()),
    "JSON lines, packed": ("t.ndjson.gz", gzip.compress(as_bytes(plain(), "write_ndjson")), plain()),
    "JSON": ("t.json", json.dumps(plain().to_dicts(), default=str), plain()),
    "Parquet": ("t.parquet", as_bytes(plain(), "write_parquet"), plain()),
    "Parquet by another name": ("t.csv", as_bytes(plain(), "write_parquet"), plain()),
    "Arrow": ("t.arrow", as_bytes(plain(), "write_ipc"), plain()),
    "Arrow stream": ("t.arrows", stream(plain()), plain()),
    "Excel": ("t.xlsx", excel, plain()),
    "Excel with a title": ("t.xlsx", lambda: excel(title=True), plain()),
    "thousands and decimal commas": (
        "t.csv",
        column(["1.234,50", "12,00", "-3.000.000,25"]),
        numbered([1234.5, 12.0, -3000000.25]),
    ),
    "thousands and decimal points": (
        "t.tsv",
        column(["1,234.50", "12.00", "-3,000,000.25"]).replace(";", "\t"),
        numbered([1234.5, 12.0, -3000000.25]),
    ),
    "thousands alone": (
        "t.tsv",
        column(["1,234", "12", "3,000,000"]).replace(";", "\t"),
        numbered([1234, 12, 3000000]),
    ),
    "thousands with points, next to decimal commas": (
        "t.csv",
        "a;b\n1.200;0,5\n2.500;1,25\n",
        pl.DataFrame({"a": [1200, 2500], "b": [0.5, 1.25]}),
    ),
    "thousands with spaces": ("t.csv", column(["1 234,5", "12,0", "3\u202f000"]), numbered([1234.5, 12.0, 3000.0])),
    "thousands with apostrophes": ("t.csv", column(["1'234.50", "12.00"]), numbered([1234.5, 12.0])),
    "currencies": ("t.csv", column(["€ 1.234,50", "12,00 €", "-3 €"]), numbered([1234.5, 12.0, -3.0])),
    "dollars, negative in brackets": ("t.csv", column(["$1,234.50", "($12.00)"]), numbered([1234.5, -12.0])),
    "units": ("t.csv", column(["12.5 kg", "3 %"]), numbered(["12.5 kg", "3 %"])),
    "a minus that is not a hyphen": ("t.csv", column(["−1.5", "2.5"]), numbered([-1.5, 2.5])),
    "a minus behind the number": ("t.csv", column(["1,5-", "2,5"]), numbered([-1.5, 2.5])),
    "powers of ten with decimal commas": ("t.csv", column(["1,5E+03", "2,5e-2"]), numbered([1500.0, 0.025])),
    "zero-padded numbers": ("t.csv", column(["007", "042"]), numbered([7, 42])),
    "codes with zeros, as asked": ("t.csv", column(["007", "042"]), numbered(["007", "042"]), {"categories": ["x"]}),
    "more digits than a float holds": ("t.csv", column([2**60 + 1, 3]), numbered([2**60 + 1, 3])),
    "a known word for missing numbers": ("t.csv", column([*NUMBERS, "n.a."]), numbered([*NUMBERS, None])),
    "a word for missing values, as asked": (
        "t.csv",
        column([*NUMBERS, "tbd"]),
        numbered([*NUMBERS, None]),
        {"missing": ["tbd"]},
    ),
    "a number for missing values": (
        "t.csv",
        column([*NUMBERS, -999]),
        numbered([*NUMBERS, None]),
        {"missing": ["-999"]},
    ),
    "NA is Namibia": ("t.csv", column(["NA", "DE"] * 9), numbered(["NA", "DE"] * 9), {"not_missing": ["NA"]}),
    "booleans in capitals": ("t.csv", column(["TRUE", "False"]), numbered([True, False])),
    "dates of two formats": (
        "t.csv",
        column(["2024-01-31", "28.02.2024"] * 9),
        numbered(["2024-01-31", "28.02.2024"] * 9),
    ),
    "two numbers in a field": (
        "t.csv",
        column(["110 70", "120 80"] * 30),
        numbered(["110 70", "120 80"] * 30),
    ),
    "house numbers": ("t.csv", column(["1", "1 a", "2"] * 9), numbered(["1", "1 a", "2"] * 9)),
    "apostrophes, with which Excel marks text": (
        "t.csv",
        column([f"'{k}.5" for k in range(60)]),
        numbered([k + 0.5 for k in range(60)]),
    ),
    "thousands as in India": ("t.csv", column(["1,10,100", "12,000"]), numbered([110100, 12000])),
    "one column with decimal commas": (
        "t.csv",
        "amount\n2.272,91\n12,50\n",
        pl.DataFrame({"amount": [2272.91, 12.5]}),
    ),
    "levels, some of them words": ("t.csv", column(["1", "2", "A"] * 9), numbered(["1", "2", "A"] * 9)),
    "day first, points": ("t.csv", day_first("%d.%m.%Y"), DAYS),
    "day first, slashes": ("t.csv", day_first("%d/%m/%Y"), DAYS),
    "month first, slashes": ("t.csv", day_first("%m/%d/%Y"), DAYS),
    "two digits for the year": ("t.csv", day_first("%d.%m.%y"), DAYS),
    "names of months": ("t.csv", day_first("%d %b %Y"), DAYS),
    "months first, by name": ("t.csv", day_first("%B %d, %Y"), DAYS),
    "year first, slashes": ("t.csv", day_first("%Y/%m/%d"), DAYS),
    "digits only, as asked": ("t.csv", day_first("%Y%m%d"), DAYS, {"date_formats": {"x": "%Y%m%d"}}),
    "day and time": (
        "t.csv",
        column(["03.04.2024 10:30", "13.04.2024 9:05"]),
        numbered([datetime.datetime(2024, 4, 3, 10, 30), datetime.datetime(2024, 4, 13, 9, 5)]),
    ),
    "dates with a gap": (
        "t.csv",
        column(["2024-01-02", "-", *(str(day(k)) for k in range(60))]),
        numbered([day(1), None, *(day(k) for k in range(60))]),
    ),
    "a day that could be a month, as asked": (
        "t.csv",
        column(["03/04/2024", "05/06/2024"]),
        numbered([datetime.date(2024, 4, 3), datetime.date(2024, 6, 5)]),
        {"date_formats": {"": "%d/%m/%Y"}},
    ),
}
REFUSED = {
    "one odd word in a short table": (
        "t.csv",
        column([*NUMBERS[:40], "tbd"]),
        ["40 of 41 values of 'x' are numbers; 'tbd' in line 42 is not", "--missing tbd"],
    ),
    "points that could separate thousands": (
        "t.csv",
        column(["473.910", "12.345"]),
        ["'473.910' in line 2, where the point could be the decimal mark or separate thousands", "--decimal ."],
    ),
    "a row of units": (
        "t.csv",
        column(["kg", *NUMBERS]),
        ["'kg' in line 2 is not: delete line 2 if it holds units; --missing kg"],
    ),
    "some numbers with a unit": (
        "t.csv",
        column(["50 kg", *NUMBERS]),
        ["200 of 201 values of 'x' are numbers; '50 kg' in line 2 is not", "--category x"],
    ),
    "separators at the end of the rows": (
        "t.csv",
        "a;b\n" + "1;2;\n" * 9,
        ["line 2 has 3 fields, but the header has 2. Remove the separator at the end of the rows."],
    ),
    "quotes inside fields": (
        "t.csv",
        rows() + '1,2,5" wide,2024-01-01\n1,2,6" wide,2024-01-01\n',
        ["line 62 has"],
    ),
    "a quote inside a field of the last line": (
        "t.tsv",
        rows("\t") + "1\t2\t5' 6\"\t2024-01-01\n",
        ["line 62 has a quote inside a field"],
    ),
    "names that come twice in Excel": (
        "t.xlsx",
        lambda: excel(names=["age", "age", "town", "day"]),
        ["duplicate column name 'age'"],
    ),
    "an odd value in Excel": (
        "t.xlsx",
        lambda: excel(title=True, odd="tbd"),
        ["59 of 60 values of 'weight' are numbers; 'tbd' in row 5 of the sheet is not"],
    ),
    "one odd word": (
        "t.csv",
        column([*NUMBERS, "tbd"]),
        ["200 of 201 values of 'x' are numbers; 'tbd' in line 202 is not", "--missing tbd"],
    ),
    "two odd words": (
        "t.csv",
        column([*NUMBERS, "tbd", "later"]),
        ["'tbd' in line 202 and 1 other text ('later') are not", "--missing tbd --missing later"],
    ),
    "one odd date": (
        "t.csv",
        column([*(str(day(k)) for k in range(99)), "soon"]),
        ["99 of 100 values of 'x' are dates of the format %Y-%m-%d; 'soon' in line 101"],
    ),
    "a day that could be a month": (
        "t.csv",
        column(["03/04/2024", "05/06/2024"]),
        ["'03/04/2024' in line 2", "--date-format '%d/%m/%Y' or"],
    ),
    "both decimal marks": (
        "t.csv",
        column([*("1,5", "2.5") * 40]),
        ["Column 'x' cannot be read as numbers", "--decimal ,"],
    ),
    "two currencies": ("t.csv", column([*(f"{k}.5 €" for k in range(60)), "$500"]), ["values are in '€' and in '$'"]),
    "a line with a field too many": ("t.csv", rows() + "1,2,3,4,5\n", ["line 62 has 5 fields, but the header has 4"]),
    "a line with a field too few": (
        "t.csv",
        rows().replace("\n", "\n1,2\n", 5),
        ["line 2 has 2 fields, but the header has 4"],
    ),
    "a quote that is never closed": (
        "t.csv",
        rows() + '1,2,"Ulm,2024-01-01\n',
        ["the quote that opens in line 62, before 'Ulm,2024-01-01', is never closed. Close it, or remove it."],
    ),
    "a quote that is never closed before a lot of text": (
        "t.csv",
        rows() + '1,2,"Ulm,2024-01-01\n' + 10_000 * "1,2,Ulm,2024-01-01\n",
        ["the quote that opens in line 62, before 'Ulm,2024-01-01"],
    ),
    "a quote that is never closed in the first row": (
        "t.csv",
        "age,weight,town,day\n" + '1,2,"' + 200_000 * "x" + "\n" + 3 * "1,2,Ulm,2024-01-01\n",
        ["the quote that opens in line 2"],
    ),
    "a quote that is never closed in the header": (
        "t.csv",
        rows(header='age,weight,town,"day'),
        ["the quote that opens in line 1, before 'day'"],
    ),
    "a quote that is never closed in the only column": (
        "t.csv",
        "town\nUlm\n" + '"Bonn\n' + 300 * "Ulm\n",
        ["the quote that opens in line 3, before 'Bonn"],
    ),
    "a quote that is closed by the next one": (
        "t.csv",
        rows() + '1,2,"Ulm,2024-01-01\n' + 3 * "1,2,Ulm,2024-01-01\n" + '1,2,"Ulm",2024-01-01\n',
        ["lines 62 to 66 are one row with", "Is a quote that opens in line 62 not closed?"],
    ),
    "names that come twice": ("t.csv", rows(header="age,age,town,day"), ["duplicate column name 'age'"]),
    "columns separated by spaces": ("t.txt", "a   b  c\n" + "1   2  3\n" * 9, ["separated by spaces"]),
    "nothing": ("t.csv", "\n \n", ["'t.csv' is empty"]),
    "a header alone": ("t.csv", "a,b\n", ["'t.csv' has no rows"]),
    "half a gzip file": (
        "t.csv.gz",
        gzip.compress(rows().encode())[:-20],
        ["'t.csv.gz' cannot be unpacked", "is the file complete?"],
    ),
    "half a zstd file": ("t.csv.zst", lambda: zstd(rows().encode())[:-9], ["'t.csv.zst'"]),
    "a line that is no JSON": ("t.jsonl", '{"a": 1}\n{"a": \n', ["line 2 is not JSON"]),
    "a line that is no object": ("t.jsonl", '{"a": 1}\n[1]\n', ["line 2 is not a JSON object"]),
    "a zip archive": ("t.zip", b"PK\x03\x04rest", ["is a zip archive: unpack it first"]),
    "a picture": ("t.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", ["is not a text table"]),
    "not in the encoding that was asked for": (
        "t.csv",
        GERMAN.encode("cp1252"),
        ["line 3 is not text in the encoding utf-8", "--encoding cp1252"],
        {"encoding": "utf-8"},
    ),
    "no such sheet": ("t.xlsx", excel, ["has no sheet 'Data'; it has 'Patients', 'Notes'"], {"sheet": "Data"}),
    "a date that is not of the format that was asked for": (
        "t.csv",
        column([*["01.02.2024"] * 9, "2024"]),
        ["9 of 10 values of 'x' are dates of the format %d.%m.%Y; '2024' in line 11"],
        {"date_formats": {"x": "%d.%m.%Y"}},
    ),
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, content):
    content = content() if callable(content) else content
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("case", READ_RIGHT)
def test_it_is_read_right(case):
    name, content, expected, *options = READ_RIGHT[case]
    write(name, content)
    table = InputTable([name], Reading(**(options[0] if options else {})))
    found = table.read()
    assert found.columns == expected.columns
    for each in expected.columns:
        assert found[each].to_list() == expected[each].to_list(), (each, table.in_words())
    assert [each.name for each in table.found] == expected.columns  # none is lost


@pytest.mark.parametrize("case", READ_RIGHT)
def test_a_model_reads_the_same_in_chunks(case, monkeypatch):
    """By the kinds of the columns, as a model knows them, and with little in memory at a time."""
    name, content, expected, *options = READ_RIGHT[case]
    write(name, content)
    reading = Reading(**(options[0] if options else {}))
    table = InputTable([name], reading)
    table.read()
    columns, known = [Column(each.name, str(each.kind)) for each in table.found], table.remembered()
    monkeypatch.setattr("planewise.data.files.lines.CHUNK_BYTES", 400)
    monkeypatch.setattr("planewise.data.files.tables.CHUNK_ROWS", 7)
    table = InputTable([name], Reading(comment=reading.comment))
    table.remember(known)
    chunks = list(table.chunks(columns, expected.columns))
    found = pl.concat(chunks, how="vertical_relaxed")
    for each in columns:
        wanted = expected[each.name].to_list()
        got = found[each.name].to_list()
        if each.kind == "truth":
            got = [None if value is None else str(value).lower() == "true" for value in got]
        if each.kind == "number":
            wanted = [None if value is None else float(value) for value in wanted]
        assert got == wanted, each.name


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_the_place_and_the_remedy(case):
    name, content, words, *options = REFUSED[case]
    write(name, content)
    with pytest.raises(TableFileError) as error:
        InputTable([name], Reading(**(options[0] if options else {}))).read()
    for word in words:
        assert word in str(error.value)
    assert "\n" not in str(error.value)


def test_there_are_more_than_forty():
    assert len(READ_RIGHT) + len(REFUSED) > 40


@pytest.mark.parametrize("seed", range(4))
def test_damaged_tables_are_read_or_refused_in_words(seed):
    """Bytes changed, deleted and doubled; whatever comes out, it is a table or one line that says what is wrong."""
    import random

    rng = random.Random(seed)
    text = [
        each
        for each in (*READ_RIGHT.values(), *REFUSED.values())
        if each[0].endswith((".csv", ".tsv", ".gz", ".jsonl"))
    ]
    parts = [
        b",",
        b";",
        b"\n",
        b'"',
        b"'",
        b"#",
        b"\x00",
        b"\xff",
        b"1.234,5",
        b"-",
        b"\r",
        b"9" * 400,
        b"1e999",
        b"nan",
    ]
    for _ in range(60):
        name, content = rng.choice(text)[:2]
        data = bytearray(content if isinstance(content, bytes) else content.encode())
        for _ in range(rng.randrange(1, 8)):
            at, end = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
            change = rng.randrange(3)
            if change == 0:
                data[at : at + rng.randrange(3)] = rng.choice(parts)
            elif change == 1:
                del data[at : at + rng.randrange(60)]
            else:
                data[at:at] = data[end : end + rng.randrange(80)]
        Path(name).write_bytes(bytes(data))
        table = InputTable([name])
        try:
            found = table.read()
        except TableFileError:
            continue
        assert found.columns == table.columns == [each.name for each in table.found]
        assert sum(chunk.height for chunk in table.chunks(None, table.columns)) == found.height


@pytest.mark.parametrize("case", ["levels, some of them words", "dates of two formats"])
def test_text_that_looks_like_something_else_is_noted(case):
    name, content, _ = READ_RIGHT[case]
    write(name, content)
    table = InputTable([name])
    table.read()
    what = {"levels, some of them words": "18 of 27 values are numbers, 'A' in line 4 is not"}
    words = what.get(case, "9 of 18 values are dates of the format %Y-%m-%d, '28.02.2024' in line 3 is not")
    assert table.found[0].in_words() == f"read as text: {words}"


def test_a_byte_order_mark_inside_a_file_is_a_part_of_its_value_in_every_chunk(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes("word,number\na,1\n\ufeffb,2\n".encode())
    monkeypatch.setattr(lines, "CHUNK_BYTES", 4)
    whole = InputTable([str(path)]).read()["word"].to_list()
    chunked = [word for chunk in InputTable([str(path)]).chunks(None, ["word"]) for word in chunk["word"].to_list()]
    assert whole == chunked == ["a", "\ufeffb"]
