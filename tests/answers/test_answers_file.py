"""Answers on the disk: never lost, never doubled, never mixed up, whatever happens to the process or the file."""

from __future__ import annotations

import errno
import json
import os
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import ABOUT, batch_of, record, write_old

from planewise.answers import (
    ACCEPTED,
    OPEN,
    AnswersFile,
    AnswersFileError,
    Ledger,
    NotSavedError,
    read_content,
)


@pytest.fixture
def answers_path(tmp_path):
    return tmp_path / "answers.jsonl"


def written(path, *numbers):
    with AnswersFile(path, ABOUT) as file:
        for number in numbers:
            file.append(record(number, row=number))


def test_what_is_appended_is_read_again(answers_path):
    written(answers_path, 1, 2)
    written(answers_path, 3)
    assert [each.row for each in read_content(answers_path).records] == [1, 2, 3]
    first = json.loads(answers_path.read_text().splitlines()[0])
    assert first["model"] == "m" * 64 and first["version"] == 3 and first["begun"].endswith("Z")


@pytest.mark.parametrize("label", [2**63 - 1, 2**63, 2**64 - 1, -(2**63), True, "x", 1.5])
def test_every_class_that_a_model_can_have_is_read_again(answers_path, label):
    with AnswersFile(answers_path, ABOUT) as file:
        file.append(replace(record(1, label=label), answer=label))
    assert read_content(answers_path).records[0].label == label


def test_a_second_review_of_the_same_file_is_refused_while_the_first_lasts(answers_path):
    with AnswersFile(answers_path, ABOUT), pytest.raises(AnswersFileError, match="open in another review"):
        AnswersFile(answers_path, ABOUT)
    AnswersFile(answers_path, ABOUT).close()


@pytest.mark.parametrize("what", ["model", "table"])
def test_a_file_about_something_else_is_refused(answers_path, what):
    written(answers_path, 1)
    with pytest.raises(AnswersFileError, match=f"about another {what}"):
        AnswersFile(answers_path, ABOUT | {what: "x" * 64})
    written(answers_path, 2)  # and is not locked by the refusal


def test_a_half_line_is_put_aside_and_told(answers_path):
    written(answers_path, 1, 2)
    whole = answers_path.read_bytes()
    half = whole.splitlines()[-1][:-30]
    for number in (1, 2):
        answers_path.write_bytes(whole + half)
        with AnswersFile(answers_path, ABOUT) as file:
            assert [each.row for each in file.records] == [1, 2]
            assert file.torn.name == f"answers.jsonl.torn{number}" and file.torn.read_bytes() == half
        assert answers_path.read_bytes() == whole


def test_a_last_line_that_lacks_only_its_end_is_kept(answers_path):
    written(answers_path, 1, 2)
    whole = answers_path.read_bytes()
    answers_path.write_bytes(whole[:-1])
    with AnswersFile(answers_path, ABOUT) as file:
        assert [each.row for each in file.records] == [1, 2] and file.torn is None
        file.append(record(3, row=3))
    assert [each.row for each in read_content(answers_path).records] == [1, 2, 3]


@given(st.data())
@settings(max_examples=60)
def test_a_file_cut_anywhere_keeps_every_whole_line(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cut") / "answers.jsonl"
    written(path, *range(5))
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    n_lines = whole[: cut + 1].count(b"\n") if whole[cut - 1 : cut] != b"\n" else whole[:cut].count(b"\n")
    with AnswersFile(path, ABOUT) as file:
        assert [each.row for each in file.records] == list(range(max(0, n_lines - 1)))
        file.append(record(77, row=77))
        if file.torn is not None:
            assert whole[:cut].endswith(file.torn.read_bytes())
    assert read_content(path).records[-1].row == 77


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text.replace('"accept"', '"accepted"', 1), "Line 2 of .* is damaged"),
        (lambda text: text.replace('"row": 1', '"row": "1"', 1), "Line 2 of .* is damaged"),
        (lambda text: text.replace("{", "[", 2).replace("[", "{", 1), "Line 2 of .* is damaged"),
        (lambda text: text + text.splitlines()[-1] + "\n", "Line 4 of .* was not written after line 3"),
        (lambda text: text.replace("planewise review answers", "notes"), "Line 1 of .* is damaged"),
        (lambda text: text.replace('"version": 3', '"version": 2'), "Line 1 of .* is damaged"),
        (lambda text: '{"format": "planewise review answers", "version": 7}', r"version 7 .*\(line 1\)"),
        (lambda text: '{"format": "notes", "version": 1}', r"is not a file of answers \(line 1: its format"),
        (lambda text: "a,b\n1,2\n", "is not a file of answers"),
    ],
)
def test_damage_is_an_error_and_not_a_loss(answers_path, damage, words):
    written(answers_path, 1, 2)
    answers_path.write_text(damage(answers_path.read_text()))
    before = answers_path.read_bytes()
    with pytest.raises(AnswersFileError, match=words):
        AnswersFile(answers_path, ABOUT)
    assert answers_path.read_bytes() == before


@pytest.mark.parametrize("how", ["refused", "in part", "not on the disk"])
def test_a_full_disk_leaves_the_file_whole(answers_path, monkeypatch, how):
    with AnswersFile(answers_path, ABOUT) as file:
        file.append(record(1, row=1))
        before, write = answers_path.read_bytes(), os.write
        with monkeypatch.context() as broken:
            if how == "refused":
                broken.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
            elif how == "in part":
                broken.setattr(os, "write", lambda handle, line: write(handle, line[:10]))
            else:
                broken.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
            with pytest.raises(NotSavedError, match="could not be saved"):
                file.append(record(2, row=2))
        assert answers_path.read_bytes() == before
        file.append(record(3, row=3))
    assert [each.row for each in read_content(answers_path).records] == [1, 3]


def test_half_a_line_that_cannot_be_cut_off_stops_all_writing(answers_path, monkeypatch):
    with AnswersFile(answers_path, ABOUT) as file:
        file.append(record(1, row=1))
        write = os.write
        with monkeypatch.context() as broken:
            broken.setattr(os, "write", lambda handle, line: write(handle, line[:10]))
            broken.setattr(os, "ftruncate", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
            with pytest.raises(NotSavedError, match="nothing more is written"):
                file.append(record(2, row=2))
        with pytest.raises(NotSavedError, match="nothing more is written"):
            file.append(record(3, row=3))
    with AnswersFile(answers_path, ABOUT) as file:
        assert [each.row for each in file.records] == [1] and file.torn is not None
        file.append(record(4, row=4))
    assert [each.row for each in read_content(answers_path).records] == [1, 4]


def test_a_line_that_could_not_be_read_again_is_not_written(answers_path):
    with AnswersFile(answers_path, ABOUT) as file:
        before = answers_path.read_bytes()
        with pytest.raises(NotSavedError, match="a line of 1,1"):
            file.append(record(1, note="x" * 1_100_000))
        assert answers_path.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be moved there")
@pytest.mark.parametrize("how", ["moved", "replaced"])
def test_a_file_that_is_no_longer_in_its_place_takes_no_answers(answers_path, how):
    with AnswersFile(answers_path, ABOUT) as file:
        file.append(record(1, row=1))
        away = answers_path.rename(answers_path.with_name("away"))
        if how == "replaced":
            answers_path.write_bytes(away.read_bytes())
        with pytest.raises(NotSavedError, match="was moved or replaced"):
            file.append(record(2, row=2))
        away.replace(answers_path)
        file.append(record(3, row=3))
    assert [each.row for each in read_content(answers_path).records] == [1, 3]


@pytest.mark.parametrize(
    "foreign", [b"a,b,c", b"my only copy", b'{"form": 1', b'{"format": "other"}', b"[1, 2]", b"x" * 99]
)
def test_a_foreign_line_without_a_break_is_no_torn_beginning(answers_path, foreign):
    answers_path.write_bytes(foreign)
    with pytest.raises(AnswersFileError, match="is not a file of answers"):
        AnswersFile(answers_path, ABOUT)
    assert answers_path.read_bytes() == foreign and len(list(answers_path.parent.iterdir())) == 1


def test_a_torn_file_about_something_else_is_not_cut(answers_path):
    written(answers_path, 1)
    answers_path.write_bytes(answers_path.read_bytes() + b'{"id"')
    before = answers_path.read_bytes()
    with pytest.raises(AnswersFileError, match="about another model"):
        AnswersFile(answers_path, ABOUT | {"model": "x" * 64})
    assert answers_path.read_bytes() == before and len(list(answers_path.parent.iterdir())) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_what_is_put_aside_is_for_its_owner_only(answers_path):
    written(answers_path, 1)
    answers_path.write_bytes(answers_path.read_bytes() + b'{"id"')
    with AnswersFile(answers_path, ABOUT) as file:
        assert file.torn.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="fcntl")
@pytest.mark.parametrize("taken", [True, False])
def test_the_disk_is_waited_for_where_the_system_can(answers_path, monkeypatch, taken):
    import fcntl

    asked, synced = [], []

    def full(handle, what):
        asked.append(what)
        if not taken:
            raise OSError(errno.ENOTSUP, "not supported")

    with AnswersFile(answers_path, ABOUT) as file:
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
        monkeypatch.setattr(fcntl, "fcntl", full)
        monkeypatch.setattr(os, "fsync", synced.append)
        file.append(record(1))
    assert asked == [51] and bool(synced) is not taken


@pytest.mark.parametrize("place", ["nowhere/answers.jsonl", "."])
def test_a_place_that_holds_no_file_is_named(tmp_path, place):
    with pytest.raises(AnswersFileError, match="must be a file in an existing folder"):
        AnswersFile(tmp_path / place, ABOUT)


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["accept", "override", "note", "undo"])), max_size=40))
@settings(max_examples=100)
def test_decisions_with_undoing_are_those_that_were_never_undone(steps):
    played, kept = Ledger(5), []
    for number, (row, decision) in enumerate(steps):
        if decision != "undo":
            one = record(number, row, decision, note="why" if decision == "note" else "")
            kept.append(one)
        elif not kept:
            continue
        else:
            last = kept.pop()
            one = record(number, last.row, "undo", undoes=int(last.id, 16))
        played.play(one)
    one, again = played.of("Ada"), Ledger(5, kept).of("Ada")
    assert one.status.tolist() == again.status.tolist() and one.noted.tolist() == again.noted.tolist()
    assert one.last() is (kept[-1] if kept else None)


def test_undoing_a_second_thought_leaves_the_first():
    ledger = Ledger(1, [record(1), record(2, decision="override", label="fair"), record(3, decision="undo", undoes=2)])
    decisions = ledger.of("Ada")
    assert decisions.status[0] == ACCEPTED and decisions.decided(0).id == f"{1:032x}"
    ledger.play(record(4, decision="undo", undoes=1))
    assert decisions.status[0] == OPEN and decisions.last() is None


# -------------------------------------------------------------------------------------------------- several at once
def test_decisions_that_are_made_at_once_are_written_at_once_and_undone_by_one_line(answers_path, monkeypatch):
    synced, fsync = [], os.fsync
    with AnswersFile(answers_path, ABOUT) as file:
        file.append(record(1, row=4))
        monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), fsync(handle)))
        file.append(*batch_of(100, [0, 1, 2]))
        assert len(synced) == 1
    records = read_content(answers_path).records
    assert [each.batch.rule for each in records[1:]] == ["accept 'dear' with probability >= 0.95"] * 3
    ledger = Ledger(5, records)
    assert ledger.of("Ada").status.tolist() == [ACCEPTED, ACCEPTED, ACCEPTED, OPEN, ACCEPTED]
    with AnswersFile(answers_path, ABOUT) as file:
        file.append(record(200, row=2, decision="undo", undoes=100))
    again = Ledger(5, read_content(answers_path).records).of("Ada")
    assert again.status.tolist() == [OPEN, OPEN, OPEN, OPEN, ACCEPTED] and again.last().row == 4


@given(st.data())
@settings(max_examples=40)
def test_a_batch_is_there_whole_or_not_at_all(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cut") / "answers.jsonl"
    written(path, 1)
    start = len(path.read_bytes())
    with AnswersFile(path, ABOUT) as file:
        file.append(*batch_of(100, [3, 4, 5]))
    whole = path.read_bytes()
    cut = data.draw(st.integers(start, len(whole)))
    path.write_bytes(whole[:cut])
    with AnswersFile(path, ABOUT) as file:
        expected = [1, 3, 4, 5] if cut >= len(whole) - 1 else [1]
        assert [each.row for each in file.records] == expected
        if cut < len(whole) - 1 and cut > start:
            assert file.torn.read_bytes() == whole[start:cut]
        file.append(record(7, row=7))
    assert [each.row for each in read_content(path).records] == [*expected, 7]


def test_a_batch_with_a_line_missing_in_the_middle_is_damage(answers_path):
    first, _, third = batch_of(100, [2, 3, 4])
    write_old(answers_path, first, third, record(7))
    with pytest.raises(AnswersFileError, match=r"Line 2 of .* 3 decisions were made at once, but only 2"):
        AnswersFile(answers_path, ABOUT)


# ---------------------------------------------------------------------------------------------------------- reviewers
def test_every_reviewer_has_decisions_of_their_own():
    ledger = Ledger(3, [record(1, 0), record(2, 0, "override", who="Bob", label="fair"), record(3, 1, who="Bob")])
    assert ledger.reviewers == ["Ada", "Bob"]
    assert [ledger.of(who).decided(0).label for who in ledger.reviewers] == ["dear", "fair"]
    assert ledger.of("Ada").decided(1) is None and ledger.spelled("BOB") == "Bob" and ledger.spelled("Eve") == "Eve"
    settled = ledger.settled()
    assert list(settled.records) == [1] and settled.disputed == [0]
    assert {row: each.label for row, each in ledger.settled("Bob").records.items()} == {0: "fair", 1: "dear"}
    ledger.play(record(4, 1, "undo", undoes=3, who="Ada"))  # in files of version 1, another person may have undone it
    assert ledger.of("Bob").decided(1) is None


FIRST = {"format": "planewise review answers", "version": 1, **ABOUT, "kind": "SLMBoostClassifier", "target": "class"}
FIRST |= {"rows": 5, "id": None, "begun": "2026-11-16T08:08:00.000Z"}
SECOND = {"id": f"{1:032x}", "row": 1, "row_id": None, "fingerprint": "f", "answer": "dear", "decision": "accept"}
SECOND |= {"label": "dear", "note": "why", "who": "Ada", "when": "2026-11-16T08:08:21.877Z", "undoes": None}
VERSION_1 = "".join(json.dumps(line) + "\n" for line in (FIRST, SECOND))


def test_a_file_of_version_1_is_read_and_continued(answers_path):
    answers_path.write_text(VERSION_1)
    with AnswersFile(answers_path, ABOUT) as file:
        assert [each.note for each in file.records] == ["why"]
        file.append(record(2, row=2))
        file.append(*batch_of(100, [3, 4]))
    assert answers_path.read_text().startswith(VERSION_1)
    assert [each.row for each in read_content(answers_path).records] == [1, 2, 3, 4]
    continued = json.loads(answers_path.read_text().splitlines()[2])
    assert continued["version"] == 3 and continued["after"]  # a checksum of all lines before it, which have none
    written(answers_path, 4)
    assert [each.row for each in read_content(answers_path).records] == [1, 2, 3, 4, 4]
    answers_path.write_text(answers_path.read_text().replace('"why"', '"how"'))
    with pytest.raises(AnswersFileError, match=r"Line 3 of .* was not written after line 2"):
        read_content(answers_path)


def test_a_file_of_an_older_version_is_not_changed_before_it_is_continued(answers_path):
    answers_path.write_text(VERSION_1)
    AnswersFile(answers_path, ABOUT).close()
    assert answers_path.read_text() == VERSION_1
