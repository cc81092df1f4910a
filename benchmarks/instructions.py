"""How much work small fits and predictions are: counted, not timed, so that a busy machine changes nothing.

    make bench              # count, and compare with benchmarks/results/instructions.json
    make bench ACCEPT=1     # count, and keep the counts as the ones to compare with

Every case runs with one thread under callgrind, which counts the instructions that the compiled core executes. A second
run, without callgrind, counts the lines of planewise's own Python that are executed. The core may take 3% more
instructions than the committed count. Python may take 25% more lines: a new check is fine, a loop over rows is not.
Other packages are not counted, so their releases do not change the figures. Two runs give the same counts but for some
tens of instructions in the bindings, which look objects up by their addresses. Another compiler gives other counts,
which is an error: accept the counts of the commit before yours, then compare.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import planewise
from planewise import _core

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "results" / "instructions.json"
CORE = Path(_core.__file__).resolve()
PACKAGE = str(Path(planewise.__file__).resolve().parent)
# Where counting begins and ends; and a clock that goes on with every look at it, because a fit asks whether somebody
# pressed Ctrl-C as often as the time says.
MARKS = """
#define _GNU_SOURCE
#include <time.h>
#include <valgrind/callgrind.h>
int clock_gettime(clockid_t which, struct timespec* now) {
    static long looks = 0;
    (void)which;
    ++looks;
    now->tv_sec = 1000000000 + looks / 1000000;
    now->tv_nsec = looks % 1000000 * 1000;
    return 0;
}
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char* name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
MOST = {"instructions": 1.03, "lines": 1.25}  # times the committed count
Work = Callable[[], object]


# ---------------------------------------------------------------------------------------------------------- cases
def table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with a few missing values, their classes and a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    number = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, np.digitize(number, [0.0]), number


def cases() -> dict[str, Work]:
    """What is counted, by name. Whatever prepares a case happens here, before anything is counted."""
    X, classes, number = table(2_000, 12)
    few, few_classes = np.nan_to_num(X[:200, :6]), classes[:200]
    mixed = X.copy()
    mixed[:, -1] = np.random.default_rng(1).integers(0, 30, len(X))
    one = {"n_jobs": 1, "random_state": 0}
    boost = planewise.SLMBoostClassifier(n_estimators=30, **one).fit(X, classes)
    recip = planewise.RECIPClassifier(n_jobs=1, random_state=0).fit(few, few_classes)
    mcm = planewise.MCMClassifier(random_state=0)
    large = planewise.LargeScaleMCMClassifier(n_components=50, max_iter=5, random_state=0)
    views = planewise.AdditiveClassifier(n_estimators=20, max_views=2, cv=2, **one)
    return {
        "fit a tree": lambda: planewise.SLMClassifier(**one).fit(X, classes),
        "fit a forest": lambda: planewise.SLMForestRegressor(n_estimators=4, **one).fit(X, number),
        "fit boosting": lambda: planewise.SLMBoostClassifier(n_estimators=30, **one).fit(X, classes),
        "fit boosting with categories": lambda: planewise.SLMBoostRegressor(
            n_estimators=30, categorical_features=[11], **one
        ).fit(mixed, number),
        "fit a sum of views": lambda: views.fit(few, few_classes),
        "fit a machine": lambda: mcm.fit(few, few_classes),
        "fit a large-scale machine": lambda: large.fit(np.nan_to_num(X), classes),
        "fit and query RECIP": lambda: recip.fit(few, few_classes).predict_proba(few[:50]),
        "predict with boosting": lambda: boost.predict_proba(X),
        "predict one row 20 times": lambda: [boost.predict_proba(X[i : i + 1]) for i in range(20)],
        "contributions": lambda: boost.predict_contributions(X[:200]),
        "explain one row": lambda: boost.explain(X[:1])[0].to_text(),
    }


# ---------------------------------------------------------------------------------------------------------- counting
def count_instructions(names: list[str]) -> dict[str, int]:
    """Instructions of the core for each case, counted in a process of its own whose environment is always the same."""
    if not shutil.which("valgrind"):
        sys.exit("make bench needs valgrind, which was not found. Debian and Ubuntu: apt-get install valgrind")
    folder = ROOT / "build" / "bench"  # always the same, as addresses depend on the length of names
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source, marks, out = folder / "marks.c", folder / "marks.so", folder / "counts"
    source.write_text(MARKS)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-o", marks, source], check=True)
    run = [sys.executable, "-sP", "-c", _loader("under_callgrind", str(marks))]
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []  # addresses that are the same on every run
    counting = [*fixed, "valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    _alone([*counting, *run], LD_PRELOAD=str(marks))
    dumps = [Path(f"{out}.{k}").read_text() for k in range(1, len(names) + 1)]
    return {name: instructions_of(dump, str(CORE)) for name, dump in zip(names, dumps, strict=True)}


def instructions_of(dump: str, path: str) -> int:
    """The instructions that a profile of callgrind counts inside one shared object, without what it calls elsewhere."""
    names: dict[str, str] = {}
    total, inside, call = 0, False, False
    for line in dump.splitlines():
        if found := re.match(r"c?ob=\((\d+)\)(?: (.+))?", line):
            if found[2]:
                names[found[1]] = found[2]
            if line.startswith("ob="):
                inside = names[found[1]] == path
        elif line.startswith("calls="):
            call = True  # the next line has what the callee took
        elif found := re.match(r"[-+*\d]\S*(?: (\d+))?$", line):  # a line of code, and what it took unless nothing
            total += int(found[1] or 0) if inside and not call else 0
            call = False
    return total


def under_callgrind(marks: str) -> None:
    """Run each case between two marks. It ran once before, so that imports and caches are not counted."""
    library = ctypes.CDLL(marks)
    for name, work in cases().items():
        work()
        library.begin()
        work()
        library.end(name.encode())


def count_lines(names: list[str]) -> dict[str, int]:
    """Lines of planewise's own Python that each case executes."""
    counts = json.loads(_alone([sys.executable, "-sP", "-c", _loader("print_lines")]))
    return {name: counts[name] for name in names}


def print_lines() -> None:
    found = {}
    for name, work in cases().items():
        work()
        found[name] = lines_of(work)
    print(json.dumps(found))


def lines_of(work: Work) -> int:
    count = 0

    def on_line(_frame: object, event: str, _arg: object) -> Callable[..., object]:
        nonlocal count
        count += event == "line"
        return on_line

    def on_call(frame: object, _event: str, _arg: object) -> Callable[..., object] | None:
        return on_line if frame.f_code.co_filename.startswith(PACKAGE) else None

    sys.settrace(on_call)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


def _loader(function: str, *arguments: str) -> str:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from benchmarks import instructions as bench"
    return f"{code}; bench.{function}(*{arguments!r})"


def _alone(command: list[str], **more: str) -> str:
    """What a command prints in an environment that is the same on every run and for everybody."""
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        **more,
    }
    return subprocess.run(command, env=env, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


# ---------------------------------------------------------------------------------------------------------- comparing
def tools() -> dict[str, str]:
    """What the counts depend on besides the code."""
    compiler = subprocess.run([os.environ.get("CXX", "c++"), "--version"], capture_output=True, text=True, check=True)
    return {
        "compiler": compiler.stdout.splitlines()[0],
        "machine": platform.machine() + (" with AVX2" if "avx2" in Path("/proc/cpuinfo").read_text() else ""),
        "python": ".".join(platform.python_version_tuple()[:2]),
    }


def report(found: dict[str, dict[str, int]], kept: dict[str, dict[str, int]]) -> list[str]:
    """Print both counts of every case; returns what became slower than allowed."""
    slower = []
    print(f"{'':<30} {'instructions':>14} {'committed':>14} {'ratio':>7} {'lines':>8} {'committed':>9} {'ratio':>7}")
    for name, counts in found.items():
        cells = f"{name:<30}"
        for what, wide in (("instructions", 14), ("lines", 8)):
            now, before = counts[what], kept[name][what]
            ratio = now / before if before else 1.0 if now == 0 else float("inf")
            cells += f" {now:>{wide},} {before:>{wide},} {ratio:>7.3f}"
            if ratio > MOST[what]:
                slower.append(f"{name}: {now:,} {what}, {ratio:.2f} times the committed {before:,}")
        print(cells)
    return slower


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accept", action="store_true", help="keep the counts as the ones to compare with")
    accept = parser.parse_args().accept
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"tools": {}, "cases": {}}
    names = list(cases())
    if not accept and kept["tools"] != tools():
        sys.exit(
            f"The committed counts were made with {kept['tools']}, and here is {tools()}, so they cannot be compared. "
            "Check out the commit before your change, run `make bench ACCEPT=1`, go back and run `make bench`."
        )
    if not accept and list(kept["cases"]) != names:
        sys.exit("The cases changed since the counts were committed. Run `make bench ACCEPT=1`.")
    instructions, lines = count_instructions(names), count_lines(names)
    found = {name: {"instructions": instructions[name], "lines": lines[name]} for name in names}
    slower = report(found, found if accept else kept["cases"])
    if accept:
        KEPT.write_text(json.dumps({"tools": tools(), "cases": found}, indent=1) + "\n")
        print(f"Kept in {KEPT.relative_to(ROOT)}.")
    elif slower:
        sys.exit(
            "\n".join(
                ["", "Slower than allowed:", *slower, "If this is worth it, run `make bench ACCEPT=1` and say why."]
            )
        )


if __name__ == "__main__":
    main()
