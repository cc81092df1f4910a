"""What may be opened as a file of answers: files only, which strangers cannot change."""

from __future__ import annotations

import os
import socket
import stat
import sys

import pytest
from recording import ABOUT, record

from planewise.answers import (
    AnswersFile,
    AnswersFileError,
    NotSavedError,
    TableFile,
    id_column_of,
    read_content,
    repair,
)
from planewise.answers import _opening as opening

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners, modes and pipes")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


def write(path):
    AnswersFile(path, ABOUT).close()


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)  # names of sockets are short


@pytest.mark.parametrize("opened", [write, read_content, lambda path: id_column_of(path, None)])
@pytest.mark.parametrize(("make", "kind"), [(os.mkfifo, "a pipe"), (make_socket, "a socket")])
def test_what_is_not_a_file_is_refused_and_never_waited_for(path, monkeypatch, opened, make, kind):
    monkeypatch.chdir(path.parent)
    make(path)
    with pytest.raises(AnswersFileError, match=f"is {kind}, not a file"):
        opened(path)


def test_a_device_is_refused():
    with pytest.raises(AnswersFileError, match="'/dev/null' is a device, not a file"):
        write(opening.Path("/dev/null"))


def test_what_becomes_a_pipe_while_it_is_opened_is_refused_too(path, monkeypatch):
    os.mkfifo(path)
    monkeypatch.setattr(opening.os, "lstat", lambda _: os.stat(__file__))
    with pytest.raises(AnswersFileError, match="is a pipe, not a file"):
        write(path)


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(path, there):
    target = path.with_name("target.jsonl")
    if there:
        write(target)
    path.symlink_to("target.jsonl")
    before = target.read_bytes() if there else None
    with pytest.raises(AnswersFileError, match=r"is a symbolic link to 'target.jsonl'.*give the file itself"):
        write(path)
    assert (target.read_bytes() if target.exists() else None) == before


def test_a_link_that_appears_while_the_file_is_opened_is_refused_too(path, monkeypatch):
    write(path.with_name("target.jsonl"))
    path.symlink_to("target.jsonl")
    real, asked = os.lstat, []

    def late(name):
        asked.append(name)
        return real(name) if len(asked) > 2 else os.stat(name)

    monkeypatch.setattr(opening.os, "lstat", late)
    with pytest.raises(AnswersFileError, match="is a symbolic link"):
        write(path)


def test_a_link_that_replaces_an_open_file_stops_the_writing(path):
    with AnswersFile(path, ABOUT) as file:
        path.symlink_to(path.rename(path.with_name("away")).name)
        with pytest.raises(NotSavedError, match="was moved or replaced"):
            file.append(record(1))


def test_a_link_to_itself_is_refused_like_any_other(path):
    path.symlink_to(path.name)
    table = path.with_name("t.csv")
    table.write_text("a\n1\n")
    assert TableFile.of(table, path).name == "t.csv"
    with pytest.raises(AnswersFileError, match="is a symbolic link"):
        write(path)
    with pytest.raises(AnswersFileError, match="is a symbolic link"):
        repair(path, ABOUT, None)


def test_a_link_is_read(path):
    with AnswersFile(path, ABOUT) as file:
        file.append(record(1))
    link = path.with_name("link.jsonl")
    link.symlink_to(path.name)
    assert len(read_content(link).records) == 1


@pytest.mark.parametrize("opened", [write, read_content])
def test_a_file_that_every_user_can_change_is_refused(path, opened):
    write(path)
    path.chmod(0o666)
    with pytest.raises(AnswersFileError, match=r"Every user of this machine can change .* \(mode 0666\).*chmod o-w"):
        opened(path)
    path.chmod(0o664)
    opened(path)


def test_a_file_system_that_keeps_no_rights_is_no_reason_to_refuse(path, monkeypatch):
    write(path)
    path.chmod(0o666)
    monkeypatch.setattr(opening, "_keeps_rights", lambda _: False)
    write(path)


def test_new_files_are_for_their_owner_only(path):
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("mode", "groups", "taken"),
    [(0o660, [77], True), (0o660, [5], False), (0o640, [77], False), (0o600, [77], False)],
)
def test_another_users_file_is_taken_only_if_it_is_shared_with_a_group(path, monkeypatch, mode, groups, taken):
    write(path)
    path.chmod(mode)
    own = os.stat_result
    real = os.fstat

    def foreign(handle):
        found = list(real(handle))
        found[stat.ST_UID], found[stat.ST_GID] = 12345, 77
        return own(found)

    monkeypatch.setattr(opening.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(opening.os, "getegid", lambda: 1000)
    monkeypatch.setattr(opening.os, "getgroups", lambda: groups)
    with monkeypatch.context() as patched:
        patched.setattr(opening.os, "fstat", foreign)
        if taken:
            os.close(opening.open_to_write(path))
            return
        with pytest.raises(AnswersFileError, match=r"belongs to another user \(number 12345\)"):
            opening.open_to_write(path)
