"""A damaged file is repaired: intact answers are kept, the others are named, the damaged file stays."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from recording import ABOUT, batch_of, record, write_old

from planewise.answers import AnswersFile, AnswersFileError, Reviewed, read_content, repair, row_fingerprints
from planewise.answers._lines import sealed

TABLE = pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, 5.0]})
REVIEWED = Reviewed(TABLE, ["size"], ["dear", "fair", "cheap"])


def about(*records):
    """The records with the fingerprints of their rows."""
    prints = list(row_fingerprints(TABLE, ["size"], range(5)))
    return [type(each)(**vars(each) | {"fingerprint": prints[each.row]}) for each in records]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "answers.jsonl"
    with AnswersFile(path, ABOUT | {"rows": 5}) as file:
        file.append(*about(record(1, 0)))
        file.append(*about(record(2, 1, "override", label="fair")))
        file.append(*about(*batch_of(100, [2, 3, 4])))
        file.append(*about(record(6, 1, "undo", undoes=2)))
    return path


def repaired(path):
    """What a repair says, and the rows and decisions that are then in the file."""
    damaged = path.read_bytes()
    found = repair(path, ABOUT | {"rows": 5}, REVIEWED)
    assert found.copy == path.with_name("answers.jsonl.damaged1") and found.copy.read_bytes() == damaged
    assert repair(path, ABOUT, REVIEWED) is None
    with AnswersFile(path, ABOUT) as file:
        file.append(*about(record(50, 0, "note", note="goes on")))
    return found, [(each.row, each.decision) for each in read_content(path).records[:-1]]


def change(path, line, old, new):
    lines = path.read_text().splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    path.write_text("".join(lines))


WHOLE = [(0, "accept"), (1, "override"), (2, "accept"), (3, "accept"), (4, "accept"), (1, "undo")]


def test_a_file_that_is_not_damaged_stays_as_it_is(path):
    before = path.read_bytes()
    assert repair(path, ABOUT, REVIEWED) is None and path.read_bytes() == before
    assert len(list(path.parent.iterdir())) == 1


def test_a_damaged_line_is_left_out_alone(path):
    change(path, 2, "Ada", "Eve")
    found, rows = repaired(path)
    assert found.left_out == {2: "its checksum is that of a different line"} and found.not_in_order == []
    assert rows == WHOLE[1:] and found.n_kept == 5


def test_what_undoes_a_lost_line_is_left_out_with_it(path):
    change(path, 3, "fair", "cheap")
    found, rows = repaired(path)
    assert list(found.left_out) == [3, 7] and found.left_out[7] == "what it undoes is not there"
    assert rows == [WHOLE[0], *WHOLE[2:5]]


def test_the_rest_of_a_batch_is_kept_as_a_batch(path):
    change(path, 5, '"row": 3', '"row": 4')
    _, rows = repaired(path)
    assert rows == [each for each in WHOLE if each[0] != 3]
    assert {each.batch.size for each in read_content(path).records if each.batch} == {2}


def test_after_a_lost_line_the_others_are_kept(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1] + lines[2:]))
    found, rows = repaired(path)
    assert rows == WHOLE[1:] and found.left_out == {} and found.not_in_order == [2]


def test_a_repeated_line_counts_once(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[1]]))
    found, rows = repaired(path)
    assert rows == WHOLE and found.left_out == {8: "it repeats another line"}


def test_a_damaged_first_line_is_written_anew(path):
    change(path, 1, "mmm", "mnm")
    found, rows = repaired(path)
    assert rows == WHOLE and list(found.left_out) == [1]
    assert read_content(path).belongs_to["model"] == ABOUT["model"]


def test_a_label_that_is_not_a_class_is_left_out_in_files_without_checksums(tmp_path):
    path = tmp_path / "answers.jsonl"
    write_old(path, *about(record(1, 0), record(2, 1, "override", label="deer")))
    found, rows = repaired(path)
    assert rows == [(0, "accept")] and "has the label 'deer', which is not a class" in found.left_out[2 + 1]


def test_other_files_are_never_repaired(tmp_path, path):
    foreign = tmp_path / "notes.txt"
    foreign.write_text("my notes\n")
    with pytest.raises(AnswersFileError, match="is not a file of answers"):
        repair(foreign, ABOUT, REVIEWED)
    with pytest.raises(AnswersFileError, match="There is no file"):
        repair(tmp_path / "nothing.jsonl", ABOUT, REVIEWED)
    change(path, 2, "Ada", "Eve")
    with pytest.raises(AnswersFileError, match="about another model"):
        repair(path, ABOUT | {"model": "x"}, REVIEWED)
    assert foreign.read_text() == "my notes\n" and len(list(tmp_path.iterdir())) == 2


def test_a_file_that_is_open_in_a_review_is_not_repaired(path):
    with AnswersFile(path, ABOUT), pytest.raises(AnswersFileError, match="is open in a review"):
        repair(path, ABOUT, REVIEWED)


WHOLE_ABOUT = ABOUT | {"kind": "K", "target": "y", "rows": 5, "id": None, "file": "t.csv", "file_sha256": "s"}


@pytest.mark.parametrize("source", ["t.csv", None], ids=["known file", "unknown file"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rows", 1), ("rows", True), ("rows", 900), ("target", None), ("target", "z"), ("version", 9)),
        *(("begun", 7), ("id", []), ("file", 3), ("file_sha256", {})),
    ],
)
def test_a_first_line_without_checksum_is_written_anew_from_what_is_known(tmp_path, name, value, source):
    path = tmp_path / "answers.jsonl"
    first = {"format": "planewise review answers", "version": 2, **WHOLE_ABOUT, "begun": "2026"} | {name: value}
    path.write_text("".join(json.dumps(each) + "\n" for each in (first, about(record(1, 3))[0].value())))
    if value not in (900, "z"):  # these only --corrections would refuse
        with pytest.raises(AnswersFileError):
            read_content(path)
    here = WHOLE_ABOUT if source else WHOLE_ABOUT | {"file": None, "file_sha256": None}
    found = repair(path, here, REVIEWED)
    assert found.n_kept == 1 and (name == "version" or name in found.left_out[1])
    written = read_content(path).belongs_to
    expected = WHOLE_ABOUT if source or "file" not in name else WHOLE_ABOUT | {"file": None, "file_sha256": None}
    assert {key: written[key] for key in expected} == expected
    assert written["version"] == 3 and (written["begun"] == "2026" or name == "begun")
    assert repair(path, here, REVIEWED) is None


@pytest.mark.parametrize("version", [4, "3", None])
def test_a_file_of_another_version_is_left_as_it_is(tmp_path, version):
    path = tmp_path / "answers.jsonl"
    first, check = sealed({"format": "planewise review answers", "version": version, **WHOLE_ABOUT}, "")
    path.write_bytes(first + sealed(about(record(1))[0].value() | {"new": 1}, check)[0])
    before = path.read_bytes()
    with pytest.raises(AnswersFileError, match=r"has version .*; this planewise reads"):
        repair(path, WHOLE_ABOUT, REVIEWED)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("what", ["model", "table"])
def test_an_intact_file_about_something_else_is_refused(path, what):
    with pytest.raises(AnswersFileError, match=f"about another {what}"):
        repair(path, ABOUT | {what: "x" * 64}, REVIEWED)


def test_undoing_by_another_reviewer_is_left_out_with_that_reason(tmp_path):
    """Version 1 allowed it; the file is written anew in a version that does not."""
    path = tmp_path / "answers.jsonl"
    undo = record(2, 0, "undo", undoes=1, who="Bob")
    write_old(path, *about(record(1, 0), undo, record(3, 1, "override", label="deer")), version=1)
    found, rows = repaired(path)
    assert rows == [(0, "accept")] and "undoes a decision of another reviewer, 'Ada'" in found.left_out[3]


def test_a_batch_keeps_the_lines_of_the_reviewer_who_made_it(tmp_path):
    path = tmp_path / "answers.jsonl"
    batch = about(*batch_of(100, [0, 1, 2]))
    write_old(path, replace(batch[0], who="Adb"), *batch[1:])
    found, rows = repaired(path)
    assert rows == [(1, "accept"), (2, "accept")]
    assert found.left_out == {2: "its batch is that of another reviewer, 'Ada'"}


def test_nothing_is_replaced_by_a_file_that_would_be_refused(path, monkeypatch):
    change(path, 2, "Ada", "Eve")
    before = path.read_bytes()
    monkeypatch.setattr("planewise.answers._repair._in_whole_batches", lambda records: [*records] * 2)
    with pytest.raises(AnswersFileError, match="repeats the id"):
        repair(path, ABOUT | {"rows": 5}, REVIEWED)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1
