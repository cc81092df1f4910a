"""Damage to a file of answers: found in its line, whatever the bit, the byte or the line; good answers are kept."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import ABOUT, batch_of, record, write_old

from planewise.answers import AnswersFile, AnswersFileError, Ledger, read_content
from planewise.answers._content import content_of
from planewise.answers._lines import sealed

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@pytest.fixture
def path(tmp_path):
    """A small file with all that a line can say: decisions of two people, a batch, notes and undoing."""
    path = tmp_path / "answers.jsonl"
    with AnswersFile(path, ABOUT) as file:
        file.append(record(1, 0))
        file.append(record(2, 1, "override", label="fair", who="Bob"))
        file.append(*batch_of(100, [2, 3]))
        file.append(record(5, 0, "note", note="J*"))  # one bit of each makes it a line break
        file.append(record(6, 1, "undo", undoes=2, who="Bob"))
        file.append(record(7, 1, "override", label="cheap", who="Bob"))
    return path


def exported(data):
    """What an export of the file would hold: by reviewer and row, the label and the notes."""
    ledger = Ledger(5, content_of(io.BytesIO(data), Path("answers.jsonl")).records)
    return {
        (who, row): (None if decided is None else decided.label, [each.note for each in ledger.of(who).notes(row)])
        for who in ledger.reviewers
        for row in ledger.of(who).by_row
        if (decided := ledger.of(who).decided(row)) or ledger.of(who).notes(row)
    }


def silent_changes(whole, damaged):
    """The names of damaged contents that are read as other answers, or refused without the number of a line."""
    expected, silent = exported(whole), []
    for name, data in damaged:
        try:
            if exported(data) != expected:
                silent.append(name)
        except AnswersFileError as error:
            if not re.search(r"\b[Ll]ines? \d", str(error)):
                silent.append((name, str(error)))
    return silent


def test_no_flipped_bit_changes_answers_unnoticed(path):
    data = path.read_bytes()
    flipped = ((f"bit {bit} of byte {at}", data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
               for at in range(len(data)) for bit in range(8))  # fmt: skip
    assert silent_changes(data, flipped) == []


def test_no_lost_or_added_byte_changes_answers_unnoticed(path):
    data = path.read_bytes()
    lost = [(f"without byte {at}", data[:at] + data[at + 1 :]) for at in range(len(data))]
    added = [
        (f"{new!r} before byte {at}", data[:at] + new + data[at:]) for at in range(len(data)) for new in (b"\0", b"\n")
    ]
    assert silent_changes(data, lost + added) == []


def test_no_lost_repeated_or_swapped_line_changes_answers_unnoticed(path):
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = []
    for at in range(len(lines)):
        if at < len(lines) - 1:  # without its last lines, a file is as it was some time before
            damaged.append((f"without line {at + 1}", b"".join(lines[:at] + lines[at + 1 :])))
        for to in range(len(lines)):
            moved = [*lines[:at], *lines[at + 1 :]]
            moved.insert(to, lines[at])
            damaged.append((f"line {at + 1} moved to {to + 1}", b"".join(moved)))
            damaged.append((f"line {at + 1} again as line {to + 1}", b"".join([*lines[:to], lines[at], *lines[to:]])))
    assert silent_changes(b"".join(lines), damaged) == []


def test_a_file_cut_at_any_byte_is_as_it_was_before_the_line_and_says_what_was_cut(path):
    data = path.read_bytes()
    places = [match.end() for match in re.finditer(b"\n", data)]
    for cut in range(len(data)):
        found = content_of(io.BytesIO(data[:cut]), path)
        assert found.torn or found.unended or cut in (0, *places)
        kept = sum(place <= cut + 1 for place in places)  # a whole line may lack its line break
        half_a_batch = kept == 4  # of two lines, it needs both
        assert len(found.records) == max(0, kept - 1 - half_a_batch)


# ------------------------------------------------------------------------------------------------ lines that cannot be
UNDO = record(2, decision="undo", undoes=1).value()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([record(1).value() | {"row": -1}], "Line 2 .*row must be a whole number, counted from 0; got -1"),
        ([record(1).value() | {"row": True}], "Line 2 .*row must be"),
        ([record(1).value() | {"row": 1.0}], "Line 2 .*row must be"),
        ([record(1).value() | {"row": 10**19}], "Line 2 .*row must be"),
        ([record(1), record(2, row=5)], "Line 3 .*row is 5, but the table has 5 rows"),
        ([record(1, note="x"), b'{"row": 1' + b"0" * 5000 + b"}\n"], "Line 3 .*a whole number of 5,001 digits"),
        ([b'{"row": NaN}\n'], "Line 2 .*NaN is not a number of JSON"),
        ([record(1).value() | {"label": 1e999}], "Line 2 .*is not a number of JSON"),
        ([record(1).value() | {"label": [1]}], r"Line 2 .*label must be a class or a number; got \[1\]"),
        ([record(1).value() | {"label": "fair"}], "Line 2 .*label must be the answer, which was accepted"),
        ([record(1, decision="override").value()], "Line 2 .*label must be another class than the answer; got 'dear'"),
        ([record(1).value() | {"answer": 2**64, "label": 2**64}], "Line 2 .*answer must be a class or a number"),
        ([record(1).value() | {"note": None}], "Line 2 .*note must be a text; got None"),
        ([record(1).value() | {"who": "\ud800"}], "Line 2 .*who must be a text; got '.ud800'"),
        ([record(1).value() | {"row_id": 7}], "Line 2 .*row_id must be a text or null"),
        ([record(1).value() | {"undoes": []}], "Line 2 .*undoes must be null if nothing is undone"),
        ([record(1), UNDO | {"undoes": []}], r"Line 3 .*undoes must be the id of a record; got \[\]"),
        ([record(1), UNDO | {"undoes": None}], "Line 3 .*undoes must be the id of a record"),
        ([record(1), UNDO | {"label": "dear"}], "Line 3 .*label must be null without a decision"),
        ([UNDO], "Line 2 .*no line before it says what it undoes"),
        ([record(1), UNDO, record(3, decision="undo", undoes=2)], "Line 4 .*no line before it says what it undoes"),
        ([record(1), UNDO, record(3, decision="undo", undoes=1)], "Line 4 .*another line undoes that too"),
        ([record(1), UNDO | {"who": "Bob"}], "Line 3 .*it undoes a decision of another reviewer, 'Ada'"),
        ([record(1), record(1, row=1)], "Line 3 .*repeats the id of another line"),
        ([*batch_of(100, [0]), *batch_of(100, [1])], "Line 3 .*repeats the id of another batch"),
        ([record(1).value() | {"batch": None}], "Line 2 .*its batch must have the keys"),
        ([record(1).value() | {"batch": {"id": "", "size": 1, "rule": ""}}], "Line 2 .*the id of its batch"),
        ([record(1).value() | {"batch": {"id": "0" * 32, "size": True, "rule": ""}}], "Line 2 .*the size of its batch"),
        ([{"id": 1}], "Line 2 .*is not a record of a review: it has no key"),
        ([record(1).value() | {"more": 1}], "Line 2 .*its key 'more' is unknown"),
        ([b'{"id": 1, "id": 2}\n'], "Line 2 .*it has the key 'id' twice"),
        ([b"[]\n"], "Line 2 .*not an object of JSON"),
        ([b"\n"], "Line 2 .*not a line of JSON"),
        ([b'{"a": ' + b"[" * 100_000 + b"\n"], "Line 2 .*(nested too deeply|not a line of JSON)"),
        ([b'{"who": "\xff"}\n'], "Line 2 .*not text in UTF-8"),
        ([b"\xef\xbb\xbf{}\n"], "Line 2 .*begins with a byte order mark"),
        ([b"x" * 3_000_000 + b"\n", record(1)], "Line 2 .*longer than 1,048,576 bytes"),
    ],
)  # fmt: skip
def test_lines_that_cannot_be_are_refused_with_the_reason(tmp_path, lines, words):
    path = tmp_path / "old.jsonl"
    write_old(path, *lines)
    with pytest.raises(AnswersFileError, match=words):
        read_content(path)


@pytest.mark.parametrize("name", ["model", "target", "rows", "id", "file", "file_sha256", "version"])
@pytest.mark.parametrize("value", [True, 1.5, [], {}])
def test_a_first_line_that_cannot_be_is_refused(tmp_path, name, value):
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps({"format": "planewise review answers", "version": 2, **ABOUT} | {name: value}) + "\n")
    with pytest.raises(AnswersFileError, match=r"[Ll]ine 1\b"):
        read_content(path)


def test_a_file_that_an_editor_saved_with_a_byte_order_mark_says_so(path):
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    with pytest.raises(AnswersFileError, match="line 1: it begins with a byte order mark"):
        read_content(path)


def test_line_breaks_of_windows_change_nothing(path):
    data = path.read_bytes()
    assert exported(data.replace(b"\n", b"\r\n")) == exported(data)


@settings(max_examples=100)
@given(st.data(), st.sampled_from([None, *record(1).value(), "batch"]))
def test_whatever_a_line_says_it_is_read_or_refused_in_words(data, name):
    """Also in lines with right checksums: nothing that is written there may end in a traceback."""
    value = data.draw(st.dictionaries(st.text(), JSON) if name is None else JSON)
    first, check = sealed({"format": "planewise review answers", "version": 3, **ABOUT, "rows": 5}, "")
    written, _ = sealed(value if name is None else record(1).value() | {name: value}, check)
    with suppress(AnswersFileError):
        exported(first + written)
