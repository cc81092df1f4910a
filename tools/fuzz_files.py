"""Load a great many damaged model files, in processes with little memory and time; every odd end is reported.

python tools/fuzz_files.py [--mutations 100000] [--minutes 60] [--seed 0]
     [--megabytes 1500] [--seconds 20] [--only pipeline] [--core FILE]

A quarter of the files are damaged in their bytes; the others mean something else and have a right checksum, which is
what reaches the deep checks. A file may be refused by ModelFileError or load to a model that answers; a crash, another
error, too much memory or too much time is a finding, printed with its seed. `make fuzz` does the same on a core with
sanitizers (--core), for a while (--minutes).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BATCH = 2500


def use_core(path: str) -> None:
    """Let planewise find another build of its compiled module than the installed one."""
    spec = importlib.util.spec_from_file_location("planewise._core", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planewise._core"] = module
    spec.loader.exec_module(module)


def work(args: argparse.Namespace) -> None:
    """In a process of its own: mutations first .. first + count - 1."""
    import resource

    if args.core:
        use_core(args.core)
    sys.path.insert(0, str(ROOT / "tests" / "io"))
    from catalogue import CATALOGUE, fitted, rows_for
    from mutations import try_mutation

    import planewise

    folder = Path(args.folder)
    names = [name for name in CATALOGUE if args.only in name]
    for k in range(len(names)):
        if not (folder / f"{k}").exists():
            planewise.save(fitted(names[k])[0], folder / f"{k}")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + (args.megabytes << 20), resource.RLIM_INFINITY))
    for seed in range(args.first, args.first + args.count):
        print(f"at {seed}", flush=True)
        signal.alarm(args.seconds)
        try:
            name = names[seed % len(names)]
            outcome = try_mutation(
                folder / str(seed % len(names)), seed, folder / f"damaged{args.first}", rows_for(name)
            )
        except Exception as error:
            outcome = f"FINDING {type(error).__name__}: {error} ({name}, seed {seed})".replace("\n", " ")
        signal.alarm(0)
        print(outcome, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first mutation; the next has the next")
    parser.add_argument("--megabytes", type=int, default=1500, help="more than at the start that a process may map")
    parser.add_argument("--seconds", type=int, default=20, help="for one file")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="after which no further batch begins")
    parser.add_argument("--only", default="", help='models of the catalogue whose name has this, such as "pipeline"')
    parser.add_argument("--core", help="a build of the compiled module to try in place of the installed one")
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.first is not None:
        work(args)
        return
    outcomes: Counter[str] = Counter()
    findings = []
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        at, end = args.seed, args.seed + args.mutations
        while at < end and time.monotonic() - start < 60 * args.minutes:
            count = min(BATCH, end - at)
            limits = ["--megabytes", str(args.megabytes), "--seconds", str(args.seconds), "--only", args.only]
            part = ["--first", str(at), "--count", str(count), "--folder", folder]
            part += ["--core", args.core] if args.core else []
            run = subprocess.run([sys.executable, __file__, *limits, *part], capture_output=True, text=True)
            lines = run.stdout.splitlines()
            told = [line for line in lines if not line.startswith("at ")]
            outcomes.update(line.split(":")[0] for line in told)
            findings += [line for line in told if line.startswith("FINDING")]
            if run.returncode != 0:
                last = int(lines[-1].split()[1]) if lines else at
                findings.append(f"FINDING the process ended with {run.returncode} at seed {last}: {run.stderr[-500:]}")
                print(findings[-1], flush=True)
                at = last + 1
                continue
            at += count
            print(f"{at - args.seed} mutations, {time.monotonic() - start:.0f} s, {dict(outcomes)}", flush=True)
    print(*findings, sep="\n")
    print(f"{at - args.seed} mutations, {len(findings)} findings")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
