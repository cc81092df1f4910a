"""One process of the fuzzer: a target under libFuzzer, guided by the coverage of planewise (see __main__.py).

Errors that a target does not expect are kept as findings, one per kind and place, and the fuzzer goes on. A crash, too
much time or too much memory ends the process, and libFuzzer keeps the input.
"""

from __future__ import annotations

import mmap
import os
import random
import resource
import sys
import traceback
from pathlib import Path

import atheris
from target import ROOT, target

COUNTS = 64  # bytes of the file of counts: one number per outcome, the findings last
MEGABYTES = 1500  # more than before that a case may map


def use_sources(core: str) -> None:
    """Import planewise from the sources, where it can be instrumented, with another build of its compiled module."""
    sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in type(each).__module__]
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]
    from other_core import use_core

    use_core(core)


def limit_memory() -> None:
    """Anew for each case: allocators keep the addresses that earlier cases needed, and nothing would be left."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + (MEGABYTES << 20), resource.RLIM_INFINITY))


def place_of(error: BaseException) -> str:
    """The kind of an error and the last line of planewise that it went through."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "planewise" in each.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}-{Path(last.filename).stem}-{last.lineno}"


def main() -> None:
    name, core, folder, *options = sys.argv[1:]
    del os.environ["LD_PRELOAD"]  # was for this process, not for the sanitizers' symbolizer
    use_sources(core)
    with atheris.instrument_imports(include=["planewise"]):
        fuzzed = target(name)
    places = {outcome: place for place, outcome in enumerate(fuzzed.OUTCOMES)}
    with Path(folder, "counts").open("r+b") as file:
        counts = memoryview(mmap.mmap(file.fileno(), COUNTS)).cast("Q")

    def case(data: bytes) -> None:
        limit_memory()
        try:
            counts[places[fuzzed.case(data)]] += 1
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # polars' panics are no Exception
            counts[len(counts) - 1] += 1
            kept = Path(folder).parent / "findings" / place_of(error)
            if not kept.exists():
                kept.write_bytes(data)
                kept.with_suffix(".txt").write_text(traceback.format_exc())

    def mutated(data: bytes, max_size: int, seed: int) -> bytes:
        def mutate(content: bytes) -> bytes:
            return atheris.Mutate(content, max_size)

        return fuzzed.mutated(data, random.Random(seed), mutate)[:max_size]

    how = {"custom_mutator": mutated} if hasattr(fuzzed, "mutated") else {}
    atheris.Setup([sys.argv[0], *options], case, internal_libfuzzer=True, **how)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
