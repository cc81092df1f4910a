"""Tables in several files, pipes and the standard input, what models remember, and laws of reading."""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planewise.data import InputTable, Reading, TableFileError
from planewise.data.columns import Column
from planewise.data.files.text import utf8_blocks


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_several_files_in_the_order_given():
    for number in range(3):
        Path(f"{number}.csv").write_text(f"a,b\n{number},x\n")
    Path("3.csv.gz").write_bytes(gzip.compress(b"b,a\ny,3\n"))
    table = InputTable(["2.csv", "0.csv", "3.csv.gz"])
    assert table.read()["a"].to_list() == [2, 0, 3]  # columns by name, not by place
    assert [chunk["a"].to_list() for chunk in table.chunks(None, ["a"])] == [["2"], ["0"], ["3"]]
    assert table.name == "2.csv and 2 more"
    Path("more").mkdir()
    with pytest.raises(TableFileError, match=r"'more/' is a folder: name the files in it, such as more/..csv"):
        InputTable(["more/"]).read()
    Path("4.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(TableFileError, match="files of different formats: JSON lines and text"):
        InputTable(["2.csv", "4.jsonl"]).read()
    Path("5.csv").write_text("a,c\n1,2\n")
    with pytest.raises(TableFileError, match=r"'2.csv' has a column 'b', which '5.csv' does not have"):
        InputTable(["2.csv", "5.csv"]).read()


def test_the_line_of_a_row_in_one_of_several_files():
    Path("a.csv").write_text("x\n1\n2\n")
    Path("b.csv").write_text("# a note\n\nx\n3\n\n# more\nfour\n" + "5\n" * 3)
    table = InputTable(["a.csv", "b.csv"])
    assert [table.line(row) for row in range(4)] == [
        "line 2 of 'a.csv'",
        "line 3 of 'a.csv'",
        "line 4 of 'b.csv'",
        "line 5 of 'b.csv'",
    ]


def test_a_pipe_is_read_once_and_can_be_read_again():
    os.mkfifo("pipe.csv")
    writer = threading.Thread(target=lambda: Path("pipe.csv").write_text("a;b\n1,5;x\n2,5;y\n"))
    writer.start()
    table = InputTable(["pipe.csv"])
    assert table.columns == ["a", "b"]
    writer.join()
    assert table.read()["a"].to_list() == table.read()["a"].to_list() == [1.5, 2.5]
    assert table.paths == []  # the bytes are in memory


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "arrow", "arrows", "jsonl", "xlsx", "parquet.gz"])
def test_the_standard_input(form):
    code = "from planewise.data import InputTable; print(InputTable(['-']).read()['a'].to_list())"
    table = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    written = io.BytesIO()
    writers = {
        "parquet": table.write_parquet,
        "arrow": table.write_ipc,
        "arrows": table.write_ipc_stream,
        "jsonl": table.write_ndjson,
        "xlsx": table.write_excel,
    }
    writers.get(form.removesuffix(".gz"), table.write_csv)(written)
    data = gzip.compress(written.getvalue()) if form.endswith(".gz") else written.getvalue()
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True)
    assert (done.stdout, done.stderr) == (b"[1.0, 2.0]\n" if form == "xlsx" else b"[1, 2]\n", b"")


def test_options_that_are_wrong_are_named():
    for options, words in [
        ({"separator": ";;"}, "separator must be one character"),
        ({"decimal": ";"}, "decimal must be '.' or ','"),
        ({"separator": ",", "decimal": ","}, "must differ"),
        ({"encoding": "utf-9"}, "encoding 'utf-9' is not known"),
        ({"comment": ""}, "comment must be"),
    ]:
        with pytest.raises(TableFileError, match=words):
            Reading(**options)
    assert Reading(separator="tab").separator == "\t"


def test_what_a_model_remembers_tells_ambiguous_values():
    Path("first.csv").write_text("price;day\n1,5;14/03/2024\n1,250;02/03/2024\n")
    first = InputTable(["first.csv"], Reading(missing=["none yet"]))
    first.read()
    Path("next.csv").write_text("price,day\n1.250,02/03/2024\n")
    Path("other.csv").write_text("price;day\nnone yet;02/03/2024\n1,250;02/04/2024\n")
    other = InputTable(["other.csv"])
    other.remember(first.remembered())
    read = other.read()
    assert read["price"].to_list() == [None, 1.25] and str(read["day"][1]) == "2024-04-02"


@pytest.mark.parametrize(
    ("fitted", "new", "words"),
    [
        ("w\n0.76\n0.8\n", "w\n76 %\n", "Column 'w' holds the text '76 %' in row 0 (line 2), but held numbers when"),
        ("w\n2024-01-02\n2024-02-03\n", "w\n02/06/2023\n", "'02/06/2023' in line 2, where the day or the month could"),
    ],
)
def test_what_a_model_must_not_misread(fitted, new, words):
    Path("fitted.csv").write_text(fitted)
    Path("new.csv").write_text(new)
    first = InputTable(["fitted.csv"])
    first.read()
    table = InputTable(["new.csv"])
    table.remember(first.remembered())
    with pytest.raises(ValueError, match=re.escape(words)):
        list(table.chunks([Column("w", str(first.found[0].kind))], ["w"]))


def test_values_of_the_new_table_come_before_what_a_model_remembers():
    Path("german.csv").write_text("a;b\n1,5;0,25\n2,5;0,75\n")
    first = InputTable(["german.csv"])
    first.read()
    Path("other.csv").write_text('a,b\n1.234,5.5\n"1,234",6.5\n')
    table = InputTable(["other.csv"])
    table.remember(first.remembered())
    (chunk,) = table.chunks([Column("a", "number"), Column("b", "number")], ["a", "b"])
    assert chunk["a"].to_list() == [1.234, 1234.0] and chunk["b"].to_list() == [5.5, 6.5]


def test_files_with_different_decimal_marks_are_refused():
    Path("a.csv").write_text("x;y\n2.272,91;1\n")
    Path("b.csv").write_text("x,y\n2.25,1\n")
    for names in (["a.csv", "b.csv"], ["b.csv", "a.csv"]):
        words = "'a.csv' has a decimal comma, but 'b.csv' has a decimal point"
        wanted = words if names[0] == "a.csv" else "'b.csv' has a decimal point, but 'a.csv' has a decimal comma"
        with pytest.raises(TableFileError, match=wanted):
            InputTable(names).read()


def test_files_of_different_dialects_are_told_apart():
    Path("a.csv").write_text("x;y\n2;1\n")
    Path("b.csv").write_text("x,y\n2,1\n")
    assert InputTable(["a.csv", "b.csv"]).in_words() == "a.csv: semicolon-separated; b.csv: plain"
    assert InputTable(["b.csv"]).in_words() == ""


def test_a_format_for_a_column_that_is_not_there():
    Path("t.csv").write_text("born,x\n01.02.1940,1\n")
    with pytest.raises(ValueError, match="no column 'bron'; did you mean 'born'"):
        InputTable(["t.csv"], Reading(date_formats={"bron": "%d.%m.%Y"})).read()


def test_two_digits_of_a_year_are_told():
    Path("t.csv").write_text("born;x\n01.01.40;1\n31.12.70;2\n")
    table = InputTable(["t.csv"])
    table.read()
    assert table.found[0].in_words() == "day first, %d.%m.%y; years 1970 to 2040"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_letters_that_are_cut_by_blocks(encoding, monkeypatch):
    text = "größe;preis\n" + "äöü€;1\n" * 50
    Path("t.csv").write_bytes(text.encode(encoding))
    table = InputTable(["t.csv"])
    found = table.dialects[0].encoding
    for size in (1, 2, 3, 7, 1000):
        monkeypatch.setattr("planewise.data.files.text.BLOCK_BYTES", size)
        assert b"".join(utf8_blocks(table.files[0], found)).decode() == text


WORDS = st.text(st.sampled_from("abcXYZ äöß,;|\t\"'.\n"), max_size=6)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6).map(lambda v: round(v, 2)), st.integers(-99, 99), WORDS), min_size=3, max_size=30
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from([".", ","]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_written_in_any_way_is_read_back(tmp_path_factory, values, separator, decimal, encoding, end):
    """Fields in quotes where needed, as every program writes them; the separator and the decimal mark are given."""
    lines = [separator.join(["number", "whole", "word"])]
    for number, whole, word in values:
        fields = [f"{number:.2f}".replace(".", decimal), str(whole), f"w{word}w"]
        quoted = [
            '"' + each.replace('"', '""') + '"' if set(each) & set(separator + '"\n') else each for each in fields
        ]
        lines.append(separator.join(quoted))
    path = tmp_path_factory.mktemp("law") / "t.csv"
    path.write_bytes((end.join(lines) + end).encode(encoding))
    reading = Reading(separator, None if decimal == separator else decimal, categories=["word"])
    found = InputTable([path], reading).read()
    assert found["number"].cast(float).to_list() == [number for number, _, _ in values]
    assert found["whole"].to_list() == [whole for _, whole, _ in values]
    assert found["word"].to_list() == [f"w{word}w" for _, _, word in values]
