"""Fit, predict, save, load and export again and again; fail if memory, descriptors or threads pile up.

    python tools/soak.py [--scale 1.0] [--only forest] [--list]

Every part runs in a process of its own: per family 1,000 fits, 10,000 predictions, 1,000 explanations and 1,000 round
trips through a file; 1,000 exports to C, ONNX and text. `--scale 0.1` does a tenth of the calls. 200 calls come first
as a warm-up. Then 40 samples are taken. Growth is that of the second half: the median slope between pairs of its
samples (Theil and Sen), which single jumps do not change.

A part fails if
- resident memory grows by more than 1 MiB and by more than 16 bytes per call. 16 bytes is the smallest block that
  Python's allocator gives out: what leaks in every call grows at least this fast. 1 MiB is the size of that allocator's
  arenas, which are returned only when nothing in them is used.
- the blocks of Python's allocator in use, which have no such noise, grow by more than 100 and one per two calls. What
  leaks in every call is at least one block; Python itself still prepares a few things in the first hundreds of calls.
- the heap, which is what malloc has given out and not got back, grows by more than 16 bytes per call and 2 KiB. The
  smallest block of malloc takes 32 bytes, so that a leak of one per call is found in 128 judged calls or more.
- there are more open files or threads in the second half of the samples than there were in the first
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

import numpy as np

from small_models import MAKERS, SMALL, answer, fit

KIB, MIB = 1 << 10, 1 << 20
N_SAMPLES = 40
WARM_UP_CALLS = 200
SMALLEST_BLOCK = 16


@dataclass(frozen=True)
class Sample:
    """What this process holds after so many calls."""

    calls: int
    resident: int
    descriptors: int
    threads: int
    heap: int
    blocks: int


MALLINFO2 = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]


class _MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in MALLINFO2]


def heap_in_use() -> int:
    """Bytes that malloc has given out and not got back (glibc 2.33 or newer)."""
    asked = ctypes.CDLL(None).mallinfo2
    asked.restype = _MallocInfo
    found = asked()
    return found.uordblks + found.hblkhd


def sample(calls: int) -> Sample:
    """Look at this process."""
    place = Path("/proc/self")
    resident = int(re.search(r"Rss: +(\d+) kB", (place / "smaps_rollup").read_text()).group(1)) * KIB
    counts = len(os.listdir(place / "fd")), len(os.listdir(place / "task"))
    return Sample(calls, resident, *counts, heap_in_use(), sys.getallocatedblocks())


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
    heap_per_call: float  # bytes
    blocks_per_call: float
    descriptors: int  # more in the second half than in the first
    threads: int
    seconds: float

    def wrong(self) -> list[str]:
        """What exceeds its bound, in words."""
        found = self._memory()
        if self.descriptors > 0:
            found.append(f"{self.descriptors} more open files than before")
        if self.threads > 0:
            found.append(f"{self.threads} more threads than before")
        return found

    def _memory(self) -> list[str]:
        found = []
        if self.resident_growth * MIB > max(MIB, SMALLEST_BLOCK * self.calls):
            found.append(f"memory grew by {self.resident_growth:.2f} MiB in {self.calls:,} calls")
        if self.heap_per_call > SMALLEST_BLOCK + 2 * KIB / self.calls:
            found.append(f"the heap grew by {self.heap_per_call:.1f} bytes per call")
        if self.blocks_per_call > 0.5 + 100 / self.calls:
            found.append(f"Python objects grew by {self.blocks_per_call:.2f} blocks per call")
        return found


def judged(part: str, samples: list[Sample], seconds: float) -> Result:
    """The growth over samples that were taken after the warm-up."""
    second, last = samples[len(samples) // 2 :], samples[-1]
    calls = last.calls - second[0].calls
    return Result(
        part, calls, last.resident / MIB, slope(second, "resident") * calls / MIB, slope(second, "heap"),
        slope(second, "blocks"), rise(samples, "descriptors"), rise(samples, "threads"), seconds,
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


def parts(scale: float) -> dict[str, Callable[[], Iterable[Result]]]:
    """All parts, by name."""
    found: dict[str, Callable[[], Iterable[Result]]] = {name: lambda name=name: family(name, scale) for name in MAKERS}
    return found | {"export": lambda: exports(scale)}


HEAD = "part                                 judged     MiB   growth  heap/call  blocks/call  files  threads      s"


def line(result: Result) -> str:
    """A row of the table."""
    return (
        f"{result.part:<34}{result.calls:>9,}{result.resident:>8.1f}{result.resident_growth:>9.2f}"
        f"{result.heap_per_call:>11.2f}{result.blocks_per_call:>13.2f}"
        f"{result.descriptors:>+7}{result.threads:>+9}{result.seconds:>7.0f}"
    )


def main() -> int:
    """Run the parts that are asked for; the exit code is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of calls")
    parser.add_argument("--only", action="append", help="this part alone; may be repeated")
    parser.add_argument("--list", action="store_true", help="name the parts")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    known = parts(args.scale)
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
        call = [sys.executable, __file__, "--scale", str(args.scale), "--inside", name]
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
