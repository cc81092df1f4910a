"""What is done again and again does not pile up: a short version of `make soak`, and its own eye for leaks."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not (TOOLS / "soak.py").exists(), reason="reads /proc; the tools are in the repository"
)


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import soak

    monkeypatch.setattr(soak, "WARM_UP_CALLS", 100)
    return soak


@pytest.mark.parametrize("name", ["tree", "boosting-numbers", "feature-test"])
def test_fits_and_predictions_leave_nothing_behind(soak, name):
    from small_models import MAKERS, answer, fit

    assert soak.repeated(name, lambda: answer(fit(MAKERS[name]())), 120).wrong() == []


def test_a_leak_of_python_objects_is_found(soak):
    kept = []
    found = soak.repeated("a leak", lambda: kept.append({len(kept): 0}), 2_000).wrong()
    assert any("Python objects grew" in words for words in found)


def test_a_leak_of_memory_is_found(soak):
    kept = []
    found = soak.repeated("a leak", lambda: kept.append(bytes(5_000)), 2_000).wrong()
    assert any(words.startswith("the heap grew") for words in found)


def test_a_leak_of_the_smallest_block_of_malloc_is_found(soak):
    malloc = ctypes.CDLL(None).malloc
    found = soak.repeated("a leak", lambda: malloc(1), 1_000).wrong()  # 32 bytes per call, never freed
    assert any(words.startswith("the heap grew") for words in found)


def test_decisions_may_keep_memory_but_not_open_files(soak):
    grown = soak.Result("decisions", 100, 50.0, 9.0, None, None, descriptors=2, threads=0, seconds=1.0)
    assert len(grown.wrong()) == 2
    assert replace(grown, keeps=True).wrong() == ["2 more open files than before"]


@pytest.fixture
def server():
    """A page that says the number of the request, and then a key."""
    count = itertools.count()

    class Page(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            said = f"{next(count) if self.path == '/count' else ''}{uuid4().hex}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running.server_port
        running.shutdown()
        thread.join()


def test_an_answer_that_changes_is_found(soak, server):
    same = soak.asking(server, [soak.Question("GET", "/")], {})
    for _ in range(3):
        next(same)  # a new key is the same answer
    same.close()
    counting = soak.asking(server, [soak.Question("GET", "/count")], {})
    next(counting)
    with pytest.raises(RuntimeError, match="not the answer that it was first"):
        next(counting)


def test_an_answer_that_does_not_say_what_it_must_is_found(soak, server):
    load = soak.Load([soak.asking(server, [soak.Question("GET", "/", says=b"dear")], {})])
    with pytest.raises(RuntimeError, match="not 200 b'dear'"):
        load.watch("a server", os.getpid(), lambda steps, seconds: 0.0)


def test_a_leak_of_memory_outside_the_heap_is_found(soak):
    kept = []

    def leak():
        kept.append(mmap.mmap(-1, 1 << 14))
        kept[-1][::4096] = b"abcd"  # pages that nobody writes to take no memory

    found = soak.repeated("a leak", leak, 600).wrong()
    for each in kept:
        each.close()
    assert any(words.startswith("memory grew") for words in found)


def test_files_that_stay_open_are_found(soak):
    kept = []
    try:
        found = soak.repeated("files", lambda: kept.append(os.open(__file__, os.O_RDONLY)), 60).wrong()
    finally:
        for handle in kept:
            os.close(handle)
    assert any("more open files" in words for words in found)
