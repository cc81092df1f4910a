"""Models go to and come from paths and open files; text and half-written bytes are refused in words."""

from __future__ import annotations

import io
import os
import socket
import sys
import tempfile
import threading

import numpy as np
import pytest
from catalogue import fitted

import planewise as pw
from planewise.store import ModelFileError
from planewise.store.file import versions


@pytest.fixture
def model():
    return fitted("tree, frame")[0]


@pytest.fixture
def content(model):
    file = io.BytesIO()
    pw.save(model, file)
    return file.getvalue()


def is_the_model(loaded):
    model, X = fitted("tree, frame")
    return np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_file_object_holds_what_a_path_holds(model, content, tmp_path):
    pw.save(model, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == content
    with open(tmp_path / "m", "wb") as file:
        pw.save(model, file)
        assert not file.closed
    assert (tmp_path / "m").read_bytes() == content
    with open(tmp_path / "m", "rb", buffering=0) as file:
        assert is_the_model(pw.load(file))
        assert not file.closed
    assert versions(io.BytesIO(content))["planewise"] == pw.__version__


def test_a_file_object_is_written_at_its_position_and_read_from_it_to_the_end(model, content):
    file = io.BytesIO(b"header" + b"x" * 10)
    file.seek(6)
    pw.save(model, file)
    assert file.getvalue() == b"header" + content
    assert file.tell() == 6 + len(content)
    file.seek(6)
    assert is_the_model(pw.load(file))
    assert file.tell() == 6 + len(content)
    file.seek(0)
    with pytest.raises(ModelFileError, match=r"^The file object has bytes before, between or after its parts"):
        pw.load(file)


def test_a_pipe_and_a_socket_need_not_be_seekable(model):
    read, write = os.pipe()
    with os.fdopen(write, "wb") as target, os.fdopen(read, "rb") as source:
        thread = threading.Thread(target=lambda: (pw.save(model, target), target.close()))
        thread.start()
        assert is_the_model(pw.load(source))
        thread.join()
    here, there = socket.socketpair()
    with here, there, here.makefile("wb") as target, there.makefile("rb") as source:
        thread = threading.Thread(
            target=lambda: (pw.save(model, target), target.flush(), here.shutdown(socket.SHUT_WR))
        )
        thread.start()
        assert is_the_model(pw.load(source))
        thread.join()


class Reluctant(io.RawIOBase):
    """Takes at most 100 bytes at a time, as raw files may."""

    def __init__(self):
        self.taken = b""

    def writable(self):
        return True

    def write(self, content):
        part = bytes(content)[:100]
        self.taken += part
        return len(part)


def test_a_file_that_takes_a_part_at_a_time_gets_everything(model, content):
    file = Reluctant()
    pw.save(model, file)
    assert file.taken == content


@pytest.mark.parametrize("answer", [0, -1, "10", 2.5])
def test_a_file_that_takes_nothing_is_refused(answer, model):
    class Odd(Reluctant):
        def write(self, content):
            return answer

    with pytest.raises(OSError, match="write returned"):
        pw.save(model, Odd())


def test_a_file_of_text_is_refused_before_anything_is_written(model, tmp_path):
    with open(tmp_path / "m", "w+", encoding="utf-8") as file:
        with pytest.raises(TypeError, match=r"one of text: open it with mode='wb' \(or pass its .buffer\)"):
            pw.save(model, file)
        with pytest.raises(TypeError, match="one of text: open it with mode='rb'"):
            pw.load(file)
    with tempfile.NamedTemporaryFile("w") as file, pytest.raises(TypeError, match="one of text"):
        pw.save(model, file)
    with pytest.raises(TypeError, match="one of text"):
        pw.save(model, io.StringIO())
    assert not (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("place", [3, None, b"name", ["a"]])
def test_what_is_neither_a_path_nor_a_file_is_named(model, place):
    with pytest.raises(
        TypeError, match=f"by a path or by a file object with the method write; got {type(place).__name__}"
    ):
        pw.save(model, place)
    with pytest.raises(TypeError, match=f"with the method read; got {type(place).__name__}"):
        pw.load(place)


def test_nothing_is_written_to_a_file_object_if_the_model_cannot_be_saved():
    file = io.BytesIO()
    with pytest.raises(TypeError, match="cannot be saved"):
        pw.save({}, file)
    assert file.getvalue() == b""


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: b"\0" + whole,
        lambda whole: whole + b"\0",
        lambda whole: b"#!/bin/sh\nrm -r x\n" + whole,
        lambda whole: whole + whole,
        lambda whole: whole[:-2] + b"\x03\0abc",  # a comment of the archive
    ],
)
def test_bytes_around_the_archive_are_refused(content, change):
    with pytest.raises(ModelFileError, match=r"has bytes before, between or after its parts|has a comment|truncated"):
        pw.load(io.BytesIO(change(content)))


def test_the_name_of_a_file_object_is_in_the_error(tmp_path):
    (tmp_path / "other").write_bytes(b"something else")
    with (
        open(tmp_path / "other", "rb") as file,
        pytest.raises(ModelFileError, match=r"The file '.*other' is not a model"),
    ):
        pw.load(file)


def test_standard_output_is_refused_as_text(model, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(TypeError, match=r"pass its .buffer"):
        pw.save(model, sys.stdout)
    pw.save(model, sys.stdout.buffer)
