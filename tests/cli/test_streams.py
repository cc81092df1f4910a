"""The standard streams on a full disk, closed, and without a reader: one line, the right exit code, nothing lost."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from clean_shell import clean_environment, run_python, small_files
from planewise.cli import _streams

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files and limits of POSIX")
MAIN = "from planewise.cli import main; main()"
FULL = "planewise: there is no space left; the output is incomplete.\n"
CLOSED = "planewise: the standard output is closed, so nothing can be printed.\n"
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def redirected(redirections, *args, env, before=""):
    """Run a command with these redirections; the result has ``returncode``, ``stdout`` and ``stderr``."""
    line = ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-c", before + MAIN, *args]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=env, timeout=300)


@pytest.fixture
def shell(environment):
    return partial(redirected, env=environment)


@needs_full
@pytest.mark.parametrize("command", ["--version", "--help"])
def test_a_full_disk_is_told_once(shell, command):
    done = shell(">/dev/full", command)
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.parametrize("command", ["--version", "--help"])
def test_a_closed_output_is_told_once(shell, command):
    done = shell(">&-", command)
    assert (done.returncode, done.stderr) == (2, CLOSED)


@pytest.mark.parametrize("command", ["--version", "--help"])
def test_a_reader_that_has_gone_is_no_mistake(environment, command):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stdout:
        done = run_python(
            "-c", MAIN, command, env=environment, capture_output=False, stdout=stdout, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("errors", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_an_error_stream_that_takes_nothing_changes_no_exit_code(shell, errors):
    done = shell(errors, "--version")
    assert (done.returncode, done.stdout) == (0, f"{version()}\n")
    assert shell(errors, "--nothing").returncode == 2
    assert shell(f">&- {errors}", "--version").returncode == 2


def test_what_the_disk_takes_of_the_output_is_not_passed_off_as_all(shell):
    done = shell(">version.txt", "--version", before=small_files(3))
    assert (done.returncode, done.stderr) == (2, FULL)
    assert Path("version.txt").read_text() == version()[:3]


def test_a_closed_error_stream_does_not_become_the_file_that_is_written(fitted):
    before = """
import os
import planewise.cli._tables as tables
inner = tables.replacing
def replacing(path):
    os.write(2, b"a warning of a library")
    return inner(path)
tables.replacing = replacing
"""
    args = ["predict", fitted("slm"), "towns.csv", "--out", "p.csv"]
    done = redirected("2>&- <&-", *args, env=clean_environment(), before=before)
    assert (done.returncode, done.stdout) == (0, "240 rows in p.csv\n")
    assert Path("p.csv").read_text().startswith("prediction\n")


def test_a_name_of_a_file_that_is_no_text_is_printed_as_it_is(monkeypatch):
    raw = TakesLittle()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "utf-8", "strict", write_through=True))
    with _streams.whole_streams():
        sys.stdout.write(os.fsdecode(b"caf\xe9.planewise\n"))
    assert raw.taken == b"caf\xe9.planewise\n"


class TakesLittle(io.RawIOBase):
    """A file that takes at most some bytes at a time."""

    def __init__(self, most=7):
        self.taken, self.most = b"", most

    def writable(self):
        return True

    def write(self, data):
        self.taken += bytes(data[: self.most])
        return min(self.most, len(data))


def unbuffered(raw):
    """The stream that Python makes for PYTHONUNBUFFERED."""
    return io.TextIOWrapper(raw, "utf-8", write_through=True)


def test_a_write_that_is_taken_in_parts_is_completed(monkeypatch):
    raw = TakesLittle()
    monkeypatch.setattr(sys, "stdout", unbuffered(raw))
    with _streams.whole_streams() as output:
        sys.stdout.write("Köln and Bonn\n" * 1000)
        assert raw.taken.decode() == "Köln and Bonn\n" * 1000  # at once, as unbuffered asks
        assert output.exit_code(0) == 0


def test_a_pipe_that_does_not_keep_writers_waiting_gets_everything(monkeypatch):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    received = []

    def read():
        with os.fdopen(reader, "rb") as file:
            received.append(file.read())

    monkeypatch.setattr(sys, "stdout", unbuffered(io.FileIO(writer, "w")))
    thread = threading.Thread(target=read)
    with _streams.whole_streams() as output:
        sys.stdout.write("first\n")
        thread.start()
        sys.stdout.write("x" * 1_000_000)
        assert output.exit_code(0) == 0
    sys.stdout.close()
    thread.join()
    assert received == [b"first\n" + b"x" * 1_000_000]


class Breaks(TakesLittle):
    """A file that takes some bytes, and then fails so."""

    def __init__(self, error):
        super().__init__()
        self.error, self.asked = error, 0

    def write(self, data):
        self.asked += 1
        if self.asked > 1:
            raise self.error
        return super().write(data)


def test_a_failure_that_somebody_swallowed_is_told_all_the_same(monkeypatch, capsys):
    raw = Breaks(OSError(5, "Input/output error"))
    monkeypatch.setattr(sys, "stdout", unbuffered(raw))
    with _streams.whole_streams() as output:
        with pytest.raises(_streams.OutputError):
            sys.stdout.write("more than it takes\n")
        sys.stdout.write("dropped without another failure\n")
        assert output.exit_code(0) == 2
    assert raw.asked == 2
    told = capsys.readouterr().err
    assert told == (
        "planewise: the standard output cannot be written to: [Errno 5] Input/output error; the output is incomplete.\n"
    )


def test_a_mistake_told_already_is_the_only_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", unbuffered(Breaks(OSError(28, "No space left on device"))))
    with _streams.whole_streams() as output:
        sys.stdout.write("a longer text without an end of line")
        _streams.tell("there is no file 'x'.")
        assert output.exit_code(2) == 2
    assert capsys.readouterr().err == "planewise: there is no file 'x'.\n"


def test_a_ctrl_c_while_the_reader_keeps_it_waiting_does_not_wait_again(monkeypatch):
    raw = Breaks(KeyboardInterrupt())
    monkeypatch.setattr(sys, "stdout", unbuffered(raw))
    with pytest.raises(KeyboardInterrupt), _streams.whole_streams():
        sys.stdout.write("more than it takes\n")
    assert raw.asked == 2


def version():
    import planewise

    return f"planewise {planewise.__version__}"


def test_a_stream_of_text_alone_gets_what_is_printed(monkeypatch):
    """As in the window of an editor, which has no bytes below."""
    window = io.StringIO()
    monkeypatch.setattr(sys, "stdout", window)
    with _streams.whole_streams():
        print("Köln")
    assert window.getvalue() == "Köln\n"
