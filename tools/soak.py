"""Fit, predict, save, load, export and serve again and again; fail if memory, descriptors or threads pile up.

    python tools/soak.py [--scale 1.0] [--only forest] [--minutes 10] [--list]

Every part runs in a process of its own: per family 1,000 fits, 10,000 predictions, 1,000 explanations and 1,000 round
trips through a file; 1,000 exports to C, ONNX and text; 50,000 requests to `planewise review`, of which 10,000 make
5,000 decisions; `planewise serve` under full load for `--minutes`. `--scale 0.1` does a tenth of the calls. 200 calls
come first as a warm-up (of the servers, the first fifth of the load). Then 40 samples are taken. Growth is that of the
second half: the median slope between pairs of its samples (Theil and Sen), which single jumps do not change.

A part fails if
- resident memory grows by more than 1 MiB and by more than 16 bytes per call. 16 bytes is the smallest block that
  Python's allocator gives out: what leaks in every call grows at least this fast. 1 MiB is the size of that allocator's
  arenas, which are returned only when nothing in them is used.
- the blocks of Python's allocator in use, which have no such noise, grow by more than 100 and one per two calls. What
  leaks in every call is at least one block; Python itself still prepares a few things in the first hundreds of calls.
- the heap, which is what malloc has given out and not got back, grows by more than 16 bytes per call and 2 KiB. The
  smallest block of malloc takes 32 bytes, so that a leak of one per call is found in 128 judged calls or more.
- there are more open files or threads in the second half of the samples than there were in the first
- an answer of a server is not the one that it was at first, or a confirmed decision is not in the file of answers.

Of the decisions, which a review keeps in memory by design, open files and threads alone are judged.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import http.client
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from commands import FORM, Browser, listening, review_of, write_cases
from small_models import MAKERS, SMALL, answer, fit

KIB, MIB = 1 << 10, 1 << 20
N_SAMPLES = 40
WARM_UP_CALLS = 200
WARM_UP = 0.2  # of the load on servers
SMALLEST_BLOCK = 16
N_CASES = 300


@dataclass(frozen=True)
class Sample:
    """What a process holds after so many calls; `heap` and `blocks` are known only of the own process."""

    calls: int
    resident: int
    descriptors: int
    threads: int
    heap: int | None = None
    blocks: int | None = None


MALLINFO2 = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]


class _MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in MALLINFO2]


def heap_in_use() -> int:
    """Bytes that malloc has given out and not got back (glibc 2.33 or newer)."""
    asked = ctypes.CDLL(None).mallinfo2
    asked.restype = _MallocInfo
    found = asked()
    return found.uordblks + found.hblkhd


def sample(calls: int, pid: int | None = None) -> Sample:
    """Look at a process, by default at this one."""
    place = Path("/proc") / str(pid or "self")
    resident = int(re.search(r"Rss: +(\d+) kB", (place / "smaps_rollup").read_text()).group(1)) * KIB
    inside = (heap_in_use(), sys.getallocatedblocks()) if pid is None else (None, None)
    counts = len(os.listdir(place / "fd")), len(os.listdir(place / "task"))
    return Sample(calls, resident, *counts, *inside)


def rise(samples: list[Sample], of: str) -> int:
    """How much larger the maximum of a figure is in the second half of the samples than in the first."""
    half = len(samples) // 2
    return max(getattr(each, of) for each in samples[half:]) - max(getattr(each, of) for each in samples[:half])


def slope(samples: list[Sample], of: str) -> float:
    """The growth of a figure per call: the median over all pairs of samples."""
    pairs = [(a, b) for a, b in itertools.combinations(samples, 2) if b.calls > a.calls]
    return statistics.median((getattr(b, of) - getattr(a, of)) / (b.calls - a.calls) for a, b in pairs)


@dataclass(frozen=True)
class Result:
    """What a part of the trial found."""

    part: str
    calls: int  # of the second half, which are judged
    resident: float  # MiB at the end
    resident_growth: float  # MiB in these calls
    heap_per_call: float | None  # bytes
    blocks_per_call: float | None
    descriptors: int  # more in the second half than in the first
    threads: int
    seconds: float
    keeps: bool = False  # memory grows by design

    def wrong(self) -> list[str]:
        """What exceeds its bound, in words."""
        found = [] if self.keeps else self._memory()
        if self.descriptors > 0:
            found.append(f"{self.descriptors} more open files than before")
        if self.threads > 0:
            found.append(f"{self.threads} more threads than before")
        return found

    def _memory(self) -> list[str]:
        found = []
        if self.resident_growth * MIB > max(MIB, SMALLEST_BLOCK * self.calls):
            found.append(f"memory grew by {self.resident_growth:.2f} MiB in {self.calls:,} calls")
        if self.heap_per_call is not None and self.heap_per_call > SMALLEST_BLOCK + 2 * KIB / self.calls:
            found.append(f"the heap grew by {self.heap_per_call:.1f} bytes per call")
        if self.blocks_per_call is not None and self.blocks_per_call > 0.5 + 100 / self.calls:
            found.append(f"Python objects grew by {self.blocks_per_call:.2f} blocks per call")
        return found


def judged(part: str, samples: list[Sample], seconds: float) -> Result:
    """The growth over samples that were taken after the warm-up."""
    second, last = samples[len(samples) // 2 :], samples[-1]
    calls = last.calls - second[0].calls

    def per_call(of: str) -> float | None:
        return None if getattr(last, of) is None else slope(second, of)

    return Result(
        part, calls, last.resident / MIB, slope(second, "resident") * calls / MIB, per_call("heap"),
        per_call("blocks"), rise(samples, "descriptors"), rise(samples, "threads"), seconds,
    )  # fmt: skip


def repeated(part: str, action: Callable[[], object], n_calls: int) -> Result:
    """Call `action` so many times after a warm-up, and look at this process on the way."""
    started = time.monotonic()
    for _ in range(WARM_UP_CALLS):
        action()
    moments = [n_calls * k // N_SAMPLES for k in range(N_SAMPLES + 1)]
    figures = np.zeros(
        (len(moments), len(fields(Sample))), dtype=np.int64
    )  # lists of samples would be blocks themselves
    gc.freeze()  # what was there before need not be looked at again
    done = 0
    for place, moment in enumerate(moments):
        for _ in range(moment - done):
            action()
        done = moment
        gc.collect()
        figures[place] = astuple(sample(moment))
    gc.unfreeze()
    return judged(part, [Sample(*row) for row in figures.tolist()], time.monotonic() - started)


def family(name: str, scale: float) -> Iterator[Result]:
    """Fits, predictions and round trips of an estimator."""

    import planewise

    def explained() -> None:
        answer(model)
        if hasattr(model, "explain"):
            model.explain(SMALL.X[:1])

    yield repeated(f"{name}: fit", lambda: fit(MAKERS[name]()), int(1_000 * scale))
    model = fit(MAKERS[name]())
    yield repeated(f"{name}: predict", lambda: answer(model), int(10_000 * scale))
    yield repeated(f"{name}: predict and explain", explained, int(1_000 * scale))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.planewise")

        def round_trip() -> None:
            planewise.save(model, path)
            answer(planewise.load(path))

        yield repeated(f"{name}: save and load", round_trip, int(1_000 * scale))


def exports(scale: float) -> Iterator[Result]:
    """C, ONNX and text of a forest and of a machine."""
    from planewise.export import to_c, to_onnx, to_text

    models = [fit(MAKERS[name]()) for name in ("forest", "machine")]
    for write in (to_c, to_onnx, to_text):
        these = models[:1] if write is to_text else models
        yield repeated(f"export: {write.__name__}", lambda: [write(m) for m in these], int(1_000 * scale))  # noqa: B023


@contextmanager
def files() -> Iterator[Path]:
    """A folder with a model and a table of cases."""
    with tempfile.TemporaryDirectory() as name:
        write_cases(Path(name), N_CASES)
        yield Path(name)


@dataclass(frozen=True)
class Question:
    """A request, the status that its answer must have, and what it must say."""

    method: str
    path: str
    content: str = ""
    kind: str = "application/json"
    status: int = 200
    says: bytes = b""


def steady(body: bytes) -> bytes:
    """An answer without the keys that are new in every page."""
    return re.sub(rb"\b[0-9a-f]{32}\b", b"", body)


def asking(port: int, questions: list[Question], headers: dict[str, str]) -> Iterator[None]:
    """Ask the questions in turn, one with every step; an error unless an answer is always the one it was first."""
    first: dict[int, bytes] = {}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as link:
        for place, question in itertools.cycle(enumerate(questions)):
            kind = {"Content-Type": question.kind} if question.content else {}
            link.request(question.method, question.path, question.content or None, headers | kind)
            got = link.getresponse()
            body = got.read()
            if got.status != question.status or question.says not in body:
                raise RuntimeError(
                    f"{question.path}: not {question.status} {question.says!r}: {got.status} {body[:500]!r}"
                )
            if first.setdefault(place, steady(body)) != steady(body):
                raise RuntimeError(f"{question.path}: not the answer that it was first: {body[:500]!r}")
            yield


def deciding(browser: Browser, rows: Iterable[int]) -> Iterator[None]:
    """Accept the cases again and again; every decision is two requests, its page and its form."""
    for row in itertools.cycle(rows):
        status, words = browser.decide(row)
        if status != 303:
            raise RuntimeError(f"the decision on case {row}: {status} {words[:500]}")
        yield
        yield


class Load:
    """Threads that take steps, such as requests, until they are told to stop."""

    def __init__(self, tasks: Iterable[Iterator[None]]) -> None:
        tasks = list(tasks)
        self.steps, self.wrong = [0] * len(tasks), []
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=each) for each in enumerate(tasks)]

    def _work(self, number: int, task: Iterator[None]) -> None:
        try:
            for _ in task:
                self.steps[number] += 1
                if self._end.is_set() or self.wrong:
                    return
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")

    def watch(self, part: str, pid: int, going_on: Callable[[int, float], float]) -> Result:
        """Work, and look at the process, until `going_on(steps, seconds)`, the share that is done, reaches 1."""
        for thread in self._threads:
            thread.start()
        started, samples = time.monotonic(), []
        try:
            while not self.wrong:
                n_steps = sum(self.steps)
                share = going_on(n_steps, time.monotonic() - started)
                if share >= WARM_UP + (1 - WARM_UP) * len(samples) / N_SAMPLES:
                    samples.append(sample(n_steps, pid))
                if share >= 1:
                    break
                time.sleep(0.05)
        finally:
            self._end.set()
            for thread in self._threads:
                thread.join()
        if self.wrong:
            raise RuntimeError(f"{part}: {self.wrong[0]}")
        return judged(part, samples, time.monotonic() - started)


def serve(minutes: float) -> Iterator[Result]:
    """Right, wrong and large requests to planewise serve, from eight connections."""
    one, dear = {"size": 60.5, "town": "Ulm"}, b'"prediction":"dear"'
    questions = [
        Question("POST", "/predict", json.dumps({"rows": [one]}), says=dear),
        Question("POST", "/predict", json.dumps({"rows": [one | {"size": 40.5}]}), says=b'"prediction":"cheap"'),
        Question("POST", "/predict", json.dumps({"rows": [one] * 200}), says=dear),
        Question("POST", "/predict", json.dumps({"rows": [one], "reasons": True}), says=b"mostly because size is 60.5"),
        Question("POST", "/predict", json.dumps({"rows": [one], "explain": 3}), status=422),
        Question("POST", "/predict", json.dumps({"rows": [one | {"size": "wide"}]}), status=422),
        Question("POST", "/predict", '{"rows": [', status=400),
        Question("GET", "/nothing", status=404),
        Question("GET", "/health"),
    ]
    with files() as folder, listening("serve", folder / "model.planewise", "--rate", 0) as (process, port):
        load = Load(asking(port, questions, {}) for _ in range(8))
        yield load.watch("serve", process.pid, lambda _, seconds: seconds / (60 * minutes))


def review(scale: float) -> Iterator[Result]:
    """The pages of planewise review, and then decisions, which are kept in memory by design."""
    n_pages, n_decisions = int(40_000 * scale), int(5_000 * scale)
    with files() as folder, listening(*review_of(folder)) as (process, port):
        browsers = [Browser(port), Browser(port)]
        asked = pages(browsers[0].path, browsers[0].hidden(7)["csrf"])
        load = Load(asking(port, asked, each.headers) for each in browsers)
        yield load.watch("review: pages", process.pid, lambda steps, _: steps / n_pages)
        browsers = [Browser(port), Browser(port)]  # the server closed the links of the others, which were silent
        load = Load(deciding(each, range(k, N_CASES, 2)) for k, each in enumerate(browsers))
        found = load.watch("review: decisions", process.pid, lambda steps, _: steps / (2 * n_decisions))
        confirmed = sum(len(each.saved) for each in browsers)
        kept = (folder / "answers.jsonl").read_bytes().count(b"\n") - 1  # the first line is about the review
        if kept != confirmed or confirmed < n_decisions:
            raise RuntimeError(f"review: {confirmed} decisions were confirmed, {kept} are in the file")
        yield replace(found, keeps=True)


def pages(path: str, csrf: str) -> list[Question]:
    """Requests of a review that change nothing."""
    changed = urlencode({"csrf": csrf, "v0": "44", "v1": "Bonn"})
    names = ("queue", "queue?page=2", "accept", "export", "agreement", "export/file?rows=all")
    return [
        *(Question("GET", f"{path}/case/{row}") for row in range(0, N_CASES, 7)),
        *(Question("GET", f"{path}/{name}") for name in names),
        Question("GET", f"{path}/case/9999", status=404),
        Question("POST", f"{path}/case/7/what-if", changed, FORM, says=b"size were 44 instead of"),
    ]


def parts(scale: float, minutes: float) -> dict[str, Callable[[], Iterable[Result]]]:
    """All parts, by name."""
    found: dict[str, Callable[[], Iterable[Result]]] = {name: lambda name=name: family(name, scale) for name in MAKERS}
    return found | {"export": lambda: exports(scale), "review": lambda: review(scale), "serve": lambda: serve(minutes)}


HEAD = "part                                 judged     MiB   growth  heap/call  blocks/call  files  threads      s"


def line(result: Result) -> str:
    """A row of the table."""

    def number(value: float | None, width: int) -> str:
        return f"{'':>{width}}" if value is None else f"{value:>{width}.2f}"

    return (
        f"{result.part:<34}{result.calls:>9,}{result.resident:>8.1f}{result.resident_growth:>9.2f}"
        f"{number(result.heap_per_call, 11)}{number(result.blocks_per_call, 13)}"
        f"{result.descriptors:>+7}{result.threads:>+9}{result.seconds:>7.0f}"
    )


def main() -> int:
    """Run the parts that are asked for; the exit code is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of calls")
    parser.add_argument("--minutes", type=float, default=10.0, help="of load on planewise serve")
    parser.add_argument("--only", action="append", help="this part alone; may be repeated")
    parser.add_argument("--list", action="store_true", help="name the parts")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    known = parts(args.scale, args.minutes)
    if args.list:
        print(*known, sep="\n")
        return 0
    if args.inside:
        for result in known[args.inside]():
            print(json.dumps(asdict(result)), flush=True)
        return 0
    chosen = args.only or list(known)
    if unknown := set(chosen) - set(known):
        parser.error(f"--only: there is no {sorted(unknown)[0]!r}; there are {', '.join(known)}")
    print(HEAD, flush=True)
    wrong = []
    for name in chosen:
        call = [sys.executable, __file__, "--scale", str(args.scale), "--minutes", str(args.minutes), "--inside", name]
        with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for told in process.stdout:
                result = Result(**json.loads(told))
                print(line(result), flush=True)
                wrong += [f"{result.part}: {words}" for words in result.wrong()]
        if process.returncode:
            wrong.append(f"{name}: ended with exit code {process.returncode}")
    print(*[f"TOO MUCH {each}" for each in wrong] or ["Nothing piles up."], sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
