"""Feed planewise with bytes that the coverage of its code finds interesting; every odd end is reported.

python tools/fuzz --core FILE [--target files] [--minutes 8] [--cases 1000000] [--processes 2]

`make fuzz` builds the core with sanitizers and calls this; README.md says more. Each target ends after so many minutes
or cases; it fails if there are findings, or if the minutes end before the cases that were asked for. Findings and the
inputs that reached new code are in build/fuzz/TARGET.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from target import NAMES, ROOT, kept, target

COUNTS = 64  # bytes, as in worker.py
SECONDS_PER_CASE = 60
MOST_DEATHS = 100  # of one process, after which it is left
MOST_CASES = 2**31 - 1  # to which libFuzzer counts


@dataclass
class Process:
    """A worker, started again after each crash."""

    folder: Path
    run: subprocess.Popen[bytes] | None = None
    n_deaths: int = 0
    done: bool = False
    logs: list[Path] = field(default_factory=list)

    def counts(self) -> list[int]:
        return list(struct.unpack(f"{COUNTS // 8}Q", (self.folder / "counts").read_bytes()))

    def n_cases(self) -> int:
        return sum(self.counts()) + self.n_deaths  # a case that ended the process was not counted by it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", required=True, help="the build of the compiled module to try")
    parser.add_argument("--runtime", help="the library of the sanitizers that the core was built with, if any")
    parser.add_argument("--target", choices=NAMES, help="one of them; all in turn if not given")
    parser.add_argument("--minutes", type=float, default=8, help="for each target")
    parser.add_argument("--cases", type=int, help="of each target; it fails if the minutes end before")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", action="store_true", help="try what earlier runs and the repository keep, no more")
    args = parser.parse_args()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as scratch:
        os.environ["TMPDIR"] = scratch  # a process that crashes leaves its files
        passed = [fuzz(name, args) for name in ([args.target] if args.target else NAMES)]
    sys.exit(not all(passed))


def fuzz(name: str, args: argparse.Namespace) -> bool:
    """Whether a target had all its cases and no findings."""
    folder = ROOT / "build" / "fuzz" / name
    for each in ("corpus", "findings"):
        (folder / each).mkdir(parents=True, exist_ok=True)
    for old in (folder / "findings").iterdir():
        old.unlink()
    known = prepare(name, folder)
    start = time.monotonic()
    end = start + (60 * args.minutes if not args.replay else 1e9)
    processes = [Process(folder / f"process{k}") for k in range(1 if args.replay else args.processes)]
    for each in processes:
        each.folder.mkdir(exist_ok=True)
        (each.folder / "counts").write_bytes(bytes(COUNTS))
    share = MOST_CASES if args.cases is None else -(-args.cases // len(processes))
    while not all(each.done for each in processes):
        for each in processes:
            step(each, name, folder, known, end, args, share)
        time.sleep(0.2)
    n_findings = told(name, folder, processes, time.monotonic() - start)
    wanted = 0 if args.replay or args.cases is None else args.cases
    return had_all(name, processes, wanted) and not n_findings


def had_all(name: str, processes: list[Process], wanted: int) -> bool:
    """Whether as many cases were tried as were asked for; says so if not."""
    n_cases = sum(each.n_cases() for each in processes)
    if n_cases < wanted:
        why = (
            "the processes died too often"
            if any(each.n_deaths >= MOST_DEATHS for each in processes)
            else "give more minutes"
        )
        print(f"{name}: only {n_cases:,} of {wanted:,} cases were tried: {why}", flush=True)
    return n_cases >= wanted


def prepare(name: str, folder: Path) -> list[str]:
    """Write the seeds and the words of a target; the options that they mean."""
    fuzzed = target(name)
    seeds = folder / "seeds"
    seeds.mkdir(exist_ok=True)
    for number, seed in enumerate([*fuzzed.seeds(), *kept(name).values()]):
        (seeds / str(number)).write_bytes(seed)
    words = folder / "words"  # libFuzzer wants no empty file
    escaped = ["".join(f"\\x{byte:02x}" for byte in word) for word in fuzzed.WORDS]
    words.write_text("".join(f'"{word}"\n' for word in escaped))
    folders = [folder / "corpus", seeds]
    return [*([f"-dict={words}"] if escaped else []), f"-max_len={fuzzed.MAX_BYTES}", *map(str, folders)]


def step(
    process: Process, name: str, folder: Path, known: list[str], end: float, args: argparse.Namespace, n_cases: int
) -> None:
    """Start a worker, or start it again if it ended before its time."""
    if process.done:
        return
    if process.run is not None:
        if process.run.poll() is None:
            if time.monotonic() > end + 2 * SECONDS_PER_CASE:  # where not even libFuzzer's alarm is heard
                process.run.kill()
                process.run.wait()
            else:
                return
        if process.run.returncode != 0:
            process.n_deaths += 1
            keep_death(process, folder)
            if not sum(process.counts()):
                sys.exit(f"The fuzzer cannot start; see {process.logs[-1]}")
    left, seconds = n_cases - process.n_cases(), end - time.monotonic()
    ended = process.run is not None and process.run.returncode == 0
    if ended or left <= 0 or seconds < 1 or process.n_deaths >= MOST_DEATHS:
        process.done = True
        return
    log = process.folder / f"log{len(process.logs)}"
    process.logs.append(log)
    options = [f"-max_total_time={int(seconds)}", f"-runs={0 if args.replay else left}", "-len_control=0"]
    options += ["-reload=10", "-use_value_profile=0", "-print_final_stats=0", "-rss_limit_mb=0", "-detect_leaks=0"]
    options += [f"-timeout={SECONDS_PER_CASE}", f"-artifact_prefix={process.folder}/", *known]
    core, runtime = (args.core, args.runtime) if target(name).USES_CORE else (installed_core(), None)
    worker = [sys.executable, str(Path(__file__).with_name("worker.py")), name, core, str(process.folder)]
    with log.open("wb") as stream:
        process.run = subprocess.Popen(
            [*worker, *options], stdout=stream, stderr=stream, env=environment(name, runtime)
        )


def installed_core() -> str:
    spec = importlib.util.find_spec("planewise._core")
    assert spec is not None and spec.origin is not None
    return spec.origin


def environment(name: str, runtime: str | None) -> dict[str, str]:
    """The variables of a worker: one thread for each library, and the libraries that must be loaded first.

    libFuzzer, which is in atheris, comes before the sanitizers' library: both have what instrumented code calls, and
    only libFuzzer's counts. Python keeps memory until it ends, so leaks are not looked for. Keeping whole stacks of
    allocations took a quarter of the time.
    """
    variables = dict(os.environ) | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    spec = importlib.util.find_spec("atheris")
    if spec is None or spec.origin is None:
        sys.exit("atheris is not installed: python -m pip install --group fuzz")
    parts = ["custom_mutator", "core_with_libfuzzer"] if hasattr(target(name), "mutated") else ["core_with_libfuzzer"]
    libraries = [str(path) for part in parts for path in Path(spec.origin).parent.glob(f"{part}.*.so")]
    variables["LD_PRELOAD"] = " ".join([*libraries, *([runtime] if runtime else [])])
    variables["ASAN_OPTIONS"] = (
        "detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1:quarantine_size_mb=16:malloc_context_size=1"
    )
    variables["UBSAN_OPTIONS"] = "print_stacktrace=1"
    return variables


def keep_death(process: Process, folder: Path) -> None:
    """A finding from the input that ended a process and its last words, one per kind."""
    log = process.logs[-1].read_text(errors="replace")
    summary = re.findall(r"SUMMARY: (.*)|([^\n]*runtime error: .*)", log)
    words = "".join(summary[0]) if summary else f"ended with {process.run.returncode if process.run else '?'}"
    name = re.sub(r"\W+", "-", re.sub(r"0x[0-9a-f]+|/\S*/", "", words))[:100].strip("-")
    for artifact in [*process.folder.glob("crash-*"), *process.folder.glob("timeout-*"), *process.folder.glob("oom-*")]:
        kind, content = artifact.name.split("-")[0], artifact.read_bytes()
        for known in [*(folder / "seeds").iterdir(), *(folder / "corpus").iterdir()]:
            if known.read_bytes() == content:
                known.unlink()  # the next process would end at once
        artifact.rename(folder / "findings" / f"{kind}-{name}")
    (folder / "findings" / f"ended-{name}.txt").write_text(log[-20_000:])


def told(name: str, folder: Path, processes: list[Process], seconds: float) -> int:
    """Print what happened; the number of findings."""
    counts = [sum(each) for each in zip(*(process.counts() for process in processes), strict=True)]
    n_cases = sum(process.n_cases() for process in processes)
    logs = "".join(log.read_text(errors="replace") for process in processes for log in process.logs)
    coverage = max((int(each) for each in re.findall(r"cov: (\d+)", logs)), default=0)
    findings = sorted((folder / "findings").glob("*.txt"))
    outcomes = ", ".join(f"{n:,} {what}" for what, n in zip(target(name).OUTCOMES, counts, strict=False))
    print(f"{name}: {n_cases:,} cases in {seconds:.0f} s, {n_cases / seconds:,.0f} cases/s ({outcomes});", end=" ")
    print(f"{coverage:,} places covered; {len(findings)} findings", flush=True)
    for each in findings:
        print(f"  {each.relative_to(ROOT)}: {each.read_text().strip().splitlines()[-1][:200]}", flush=True)
    return len(findings)


if __name__ == "__main__":
    main()
