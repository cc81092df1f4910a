"""Fit every kind of model under many conditions, and tell where saved files or answers differ in a byte.

python tools/same_bytes.py [--only "machine"] [--conditions "BLAS"] [--no-builds]

What must be the same is in docs/core.md: everything, for any number of threads, kind of process, seed of Python's
hashes, and compiler and vector width of the core. For what BLAS, NumPy and the C library do on other processors, it is
the files of all models but kernel machines, and their answers that are not computed with exponentials. Differences
beyond that promise are shown in brackets and do not count. A family that should start threads and starts none fails.
`make same-bytes` runs it all; the cores are built in build/same-bytes.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import io
import multiprocessing
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILDS = ROOT / "build" / "same-bytes"
BY_BLAS = ("machine", "conformal kernel")  # families that compute with BLAS and LAPACK
BY_POLARS = ("table",)  # whose threads do not outlive a fork: after one, polars waits for them for ever
LONGEST = 900  # seconds for all families under one condition
N_ROWS = 5000  # the core wakes no threads for much less, and divides rows into stretches of 4,096
LEAST_SECONDS = 1e-3  # of the threads that a fit starts; it was 3.6e-4 at most without any, 1.6e-3 at least with two
Fit = Callable[[int], tuple[Any, Any]]  # from a number of threads to a fitted model and rows to predict


class Found(NamedTuple):
    """Digests of what a model wrote and said, and how long threads other than the one that fitted it were at work."""

    file: str
    answers: str  # classes, numbers and scores
    exponentials: str  # probabilities, and predictions of losses with a logarithm
    seconds: float


Digests = dict[str, Found]  # by family


# ------------------------------------------------------------------------------------------------------------ families
def tables() -> tuple[Any, ...]:
    """Rows, the same with gaps, and with a column of categories; targets of numbers, classes and grades; queries.

    They are rounded: the last digits of what NumPy draws, and of its sines, are those of the C library.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 6)).round(6)
    signal = (X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=len(X))).round(6)
    two, three, grades = (np.digitize(signal, cuts) for cuts in ([0.0], [-0.7, 0.7], [-1.0, 0.0, 1.0]))
    gappy = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    mixed = np.c_[gappy, rng.integers(0, 12, len(X))]
    return X, gappy, mixed, signal, two, three, grades, np.arange(len(X)) // 20


def frame_of(mixed: Any, target: Any) -> Any:
    """A table with names, words and days."""
    import polars as pl

    days = pl.Series([f"20{10 + k % 15}-0{1 + k % 9}-11" for k in range(len(mixed))]).str.to_date()
    words = {"town": [f"town {k:.0f}" for k in mixed[:, 6]], "day": days}
    return pl.DataFrame({f"v{k}": mixed[:, k] for k in range(4)} | words | {"class": target})


def families() -> dict[str, Fit]:
    """By name; what each returns is saved and asked."""
    import numpy as np

    import planewise as pw
    from planewise.table import TableModel

    X, gappy, mixed, signal, two, three, grades, queries = tables()
    few, some = slice(0, 250), slice(0, 700)

    def on(model: Any, rows: Any, target: Any, **more: Any) -> tuple[Any, Any]:
        # Forests are asked by several threads from 8,192 rows on.
        return model.fit(rows, target, **more), np.vstack([rows] * 2) if rows is X or rows is gappy else rows

    seed: dict[str, Any] = {"random_state": 0}
    small: dict[str, Any] = {"n_estimators": 12, **seed}
    search: dict[str, Any] = {"Cs": [100.0], "cv": 3, "n_repeats": 1, **seed}
    return {
        "tree of classes": lambda n: on(pw.SLMClassifier(**seed, n_jobs=n), X, three),
        "tree of numbers": lambda n: on(pw.SLMRegressor(**seed, n_jobs=n), gappy, signal),
        "forest of classes": lambda n: on(pw.SLMForestClassifier(**small, n_jobs=n), gappy, three),
        "forest of numbers": lambda n: on(pw.SLMForestRegressor(**small, n_jobs=n), X, signal),
        "boosting, classes": lambda n: on(pw.SLMBoostClassifier(**small, n_jobs=n), X, three),
        "boosting, numbers": lambda n: on(pw.SLMBoostRegressor(**small, n_jobs=n), X, signal),
        "boosting, counts": lambda n: on(pw.SLMBoostRegressor(loss="poisson", **small, n_jobs=n), X, grades),
        "boosting, ranking": lambda n: on(pw.SLMBoostRanker(**small, n_jobs=n), X, grades, qid=queries),
        "boosting, categories and gaps": lambda n: on(
            pw.SLMBoostClassifier(categorical_features=[6], **small, n_jobs=n), mixed, two
        ),
        "boosting, early stopping": lambda n: on(
            pw.SLMBoostRegressor(n_estimators=60, early_stopping=True, **seed, n_jobs=n), X, signal
        ),
        "views of classes": lambda n: on(
            pw.AdditiveClassifier(n_estimators=20, max_views=3, **seed, n_jobs=n), X, three
        ),
        "views of numbers": lambda n: on(
            pw.AdditiveRegressor(n_estimators=20, max_views=3, **seed, n_jobs=n), X, signal
        ),
        "RECIP of classes": lambda n: on(pw.RECIPClassifier(n_jobs=n), X[some], three[some]),
        "machine": lambda n: on(pw.MCMClassifier(probability=True, **seed, n_jobs=n), X[few], three[few]),
        "machine, linear": lambda n: on(pw.MCMClassifier(kernel="linear", n_jobs=n), X[few], two[few]),
        "machine, rho": lambda n: on(pw.MCMClassifier(rho=1.0, n_jobs=n), X[few], two[few]),
        "machine, conformal": lambda n: on(pw.MCMClassifier(conformal="signed", **seed, n_jobs=n), X[few], two[few]),
        "machine, search": lambda n: on(pw.MCMClassifierCV(**search, n_jobs=n), X[few], two[few]),
        "machine of numbers": lambda n: on(pw.MCMRegressor(), X[few], signal[few]),
        "machine of numbers, search": lambda n: on(
            pw.MCMRegressorCV(mus=[1.0, 0.1], gammas=[0.2], **search, n_jobs=n), X[few], signal[few]
        ),
        "machine, large scale": lambda n: on(
            pw.LargeScaleMCMClassifier(n_components=32, max_iter=5, **seed, n_jobs=n), X, three
        ),
        "conformal kernel": lambda n: on(pw.ConformalKernel(), X[few], two[few]),
        "feature test": lambda n: on(pw.DiscriminantFeatureTest(n_jobs=n), np.hstack([X] * 40), three),
        "table of boosting": lambda n: on(
            TableModel("boosting", "auto", {"n_estimators": 12, "n_jobs": n}, 0), frame_of(mixed, two), "class"
        ),
    }


def digests(model: Any, rows: Any) -> tuple[str, str, str]:
    """Of the saved file, and of what the model says about rows; the number of threads is not part of the model."""
    import numpy as np

    import planewise as pw

    answers, exponentials = hashlib.sha256(), hashlib.sha256()
    for ask in ("transform", "decision_function", "predict_proba", "predict"):
        if hasattr(model, ask):
            through = ask == "predict_proba" or getattr(model, "loss", None) == "poisson"
            answer = np.asarray(getattr(model, ask)(rows))
            written = repr(answer.tolist()).encode() if answer.dtype == object else answer.tobytes()
            (exponentials if through else answers).update(written)
    for each in (model, getattr(model, "best_estimator_", None), getattr(model, "estimator_", None)):
        if "n_jobs" in getattr(each, "get_params", dict)():
            each.set_params(n_jobs=None)
    if "n_jobs" in (getattr(model, "settings", None) or {}):
        model.settings = {**model.settings, "n_jobs": None}
    file = io.BytesIO()
    pw.save(model, file)
    return hashlib.sha256(file.getvalue()).hexdigest(), answers.hexdigest(), exponentials.hexdigest()


# ------------------------------------------------------------------------------------------------------- one condition
def starts_threads(family: str) -> bool:
    """Whether its fit has work for the threads of the core; BLAS and polars have their own, which would hide it."""
    return not family.startswith(BY_BLAS + BY_POLARS)


def seconds_of_others(fit: Fit, n_jobs: int) -> tuple[Any, Any, float]:
    """What a fit returns, and the time on all processors of the threads that it started."""
    all_before, own_before = time.process_time(), time.thread_time()
    model, rows = fit(n_jobs)
    own, everyone = time.thread_time() - own_before, time.process_time() - all_before
    return model, rows, everyone - own


def fit_all(only: str, n_jobs: int, leave_out: tuple[str, ...] = ()) -> list[str]:
    """A line for each family: what was found, and its name."""
    warnings.simplefilter("ignore")
    lines = []
    for name, fit in families().items():
        if only in name and not name.startswith(leave_out):
            model, rows, seconds = seconds_of_others(fit, n_jobs)
            lines.append(" ".join([*digests(model, rows), f"{seconds:.6f}", name]))
    return lines


def work(args: argparse.Namespace) -> None:
    """In a process of its own, with its environment."""
    if args.core:
        sys.path.insert(0, str(ROOT / "tools"))
        from other_core import use_core

        use_core(args.core)
    if args.process == "here":
        lines = fit_all(args.only, args.n_jobs)
    elif args.process == "loky":
        from joblib import Parallel, delayed

        (lines,) = Parallel(n_jobs=2, backend="loky")([delayed(fit_all)(args.only, args.n_jobs)])
    else:
        leave_out = BY_POLARS if args.process == "fork" else ()
        if args.process == "fork":
            fit_all(args.only, args.n_jobs, leave_out)  # so that threads have been at work before
        context = multiprocessing.get_context(args.process)
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            lines = pool.submit(fit_all, args.only, args.n_jobs, leave_out).result()
    print(*lines, sep="\n")


@dataclass(frozen=True)
class Condition:
    """What one process is given; the core is the one installed unless a compiler is named."""

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    compiler: str = ""
    flags: str = ""
    is_processor: bool = False  # other libraries compute as on another processor
    is_blas: bool = False  # BLAS may add the same numbers in another order

    n_jobs: int = 1
    leaves_out: tuple[str, ...] = ()

    def differences(self, expected: Digests, found: Digests) -> tuple[list[str], list[str]]:
        """What differs though it must not, and what differs beyond the promise."""
        broken, beyond = [], []
        for name, kept in expected.items():
            if name.startswith(self.leaves_out):
                continue
            for what in ("file", "answers", "exponentials"):
                if getattr(kept, what) != getattr(found[name], what):
                    promised = self.promises(what, name.startswith(BY_BLAS))
                    (broken if promised else beyond).append(f"{name} ({what})")
        return broken, beyond

    def promises(self, what: str, by_blas: bool) -> bool:
        """Whether it must be the same, as docs/core.md says."""
        if self.is_processor:
            return what != "exponentials" and not by_blas
        return what == "file" or not (self.is_blas and by_blas)

    def without_threads(self, found: Digests) -> list[str]:
        """Families that were given several threads and started none: nothing was tried."""
        if self.n_jobs == 1:
            return []
        return [name for name, each in found.items() if starts_threads(name) and each.seconds < LEAST_SECONDS]


def conditions() -> list[Condition]:
    """All that this machine can do."""
    found = [Condition(f"{n} threads", n_jobs=n) for n in range(2, 9)]
    processes = {"loky": (), "fork": BY_POLARS, "spawn": ()}
    found += [
        Condition(f"process: {how}", arguments=["--process", how], n_jobs=2, leaves_out=without)
        for how, without in processes.items()
    ]
    found += [Condition(f"PYTHONHASHSEED={seed}", {"PYTHONHASHSEED": seed}) for seed in ("1", "random")]
    n_cores = os.cpu_count() or 1  # OpenBLAS starts no more threads than that
    found += [
        Condition(f"BLAS threads: {n}", {"OPENBLAS_NUM_THREADS": str(n)}, is_blas=True)
        for n in (2, 4, 8)
        if n <= n_cores
    ]
    if platform.machine() not in ("x86_64", "AMD64") or sys.platform != "linux":
        return found
    found += [
        Condition(f"BLAS for {core}", {"OPENBLAS_CORETYPE": core}, is_processor=True)
        for core in ("Prescott", "Nehalem", "Haswell", *(["SkylakeX"] if "avx512f" in processor() else []))
    ]
    found += [
        Condition(f"NumPy without {what}", {"NPY_DISABLE_CPU_FEATURES": features}, is_processor=True)
        for what, features in numpy_features().items()
    ]
    without = {"AVX-512": "-AVX512F,-AVX512VL", "FMA": "-AVX512F,-AVX512VL,-AVX2,-FMA,-FMA4"}
    found += [
        Condition(f"C library without {what}", {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={mask}"}, is_processor=True)
        for what, mask in without.items()
    ]
    one = "-DPLANEWISE_ONE_TARGET"
    found.append(Condition("core by GCC, SSE2", compiler="g++", flags=one))
    if "avx2" in processor():
        found.append(Condition("core by GCC, AVX2", compiler="g++", flags=f"{one} -mavx2 -mfma"))
    if "avx512vl" in processor():
        found.append(Condition("core by GCC, AVX-512", compiler="g++", flags=f"{one} -march=x86-64-v4"))
    if clang := next((each for each in ("clang++", "clang++-14") if shutil.which(each)), None):
        found.append(Condition("core by clang", compiler=clang))
    return found


def processor() -> set[str]:
    """What the processor can do, in the words of Linux."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return set(next((line.split(":")[1] for line in lines if line.startswith("flags")), "").split())


def numpy_features() -> dict[str, str]:
    """Values of NPY_DISABLE_CPU_FEATURES: those above AVX2, and all."""
    from numpy._core import _multiarray_umath as numpy_core

    there = [each for each in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[each]]
    wide = [each for each in there if "512" in each or each == "X86_V4"]
    return {what: " ".join(names) for what, names in {"AVX-512": wide, "AVX2": there}.items() if names}


def build(condition: Condition) -> Path:
    """A core of its own for a condition; CMake builds again only what has changed."""
    folder = BUILDS / condition.name.replace(" ", "-").replace(",", "").lower()
    python = Path(sys.executable)
    nanobind = subprocess.run(
        [python, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    tools = python.parent
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    configure = [
        tools / "cmake", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", "-S", ROOT, "-B", folder,
        f"-DCMAKE_CXX_COMPILER={condition.compiler}", f"-DCMAKE_CXX_FLAGS={condition.flags}", *launcher,
        f"-DPython_EXECUTABLE={python}", f"-Dnanobind_DIR={nanobind}",
    ]  # fmt: skip
    for command in (configure, [tools / "cmake", "--build", folder, "--target", "_core"]):
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{condition.name} could not be built:\n{run.stdout[-3000:]}{run.stderr[-3000:]}")
    return next(folder.glob("_core.*so"))


def under(condition: Condition, only: str) -> Digests:
    """What was found for each family."""
    arguments = ["--work", "--only", only, "--n-jobs", str(condition.n_jobs), *condition.arguments]
    if condition.compiler:
        arguments += ["--core", str(build(condition))]
    environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"} | condition.environment
    output = output_of([sys.executable, __file__, *arguments], os.environ | environment, condition.name)
    lines = (line.split(" ", 4) for line in output.splitlines())
    return {name: Found(*digests, float(seconds)) for *digests, seconds, name in lines}


def output_of(command: list[str], environment: dict[str, str], name: str) -> str:
    """What a process wrote; the end of everything if it failed or did not end."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as run:
        try:
            output, errors = run.communicate(timeout=LONGEST)
        except BaseException as error:
            os.killpg(run.pid, signal.SIGKILL)  # and the processes that it started
            if isinstance(error, subprocess.TimeoutExpired):
                raise SystemExit(f"{name}: the process did not end within {LONGEST} seconds") from None
            raise
    if run.returncode != 0:
        raise SystemExit(f"{name}: the process ended with {run.returncode}:\n{errors[-3000:]}")
    return output


# ------------------------------------------------------------------------------------------------------------ the table
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help='families whose name has this, such as "machine"')
    parser.add_argument("--conditions", default="", help='conditions whose name has this, such as "BLAS"')
    parser.add_argument("--no-builds", action="store_true", help="leave out conditions that need a core of their own")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--n-jobs", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--process", default="here", help=argparse.SUPPRESS)
    parser.add_argument("--core", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args)
        return
    possible = [each for each in conditions() if not (args.no_builds and each.compiler)]
    chosen = [each for each in possible if args.conditions in each.name]
    if not chosen:
        parser.error(f"no condition is called {args.conditions!r}; there are: {', '.join(e.name for e in possible)}")
    if not any(args.only in name for name in families()):
        parser.error(f"no family is called {args.only!r}; there are: {'; '.join(families())}")
    expected = under(Condition("one thread"), args.only)
    n_broken = sum(told(condition, expected, under(condition, args.only)) for condition in chosen)
    print(f"{len(chosen)} conditions, {len(expected)} families: {n_broken} promises broken")
    sys.exit(n_broken > 0)


def told(condition: Condition, expected: Digests, found: Digests) -> int:
    """Print what differs; the number of broken promises."""
    broken, beyond = condition.differences(expected, found)
    idle = condition.without_threads(found)
    words = f"differs: {'; '.join(broken)}" if broken else "same"
    if beyond:
        words += f" [not promised: {'; '.join(beyond)}]"
    if left_out := [name for name in expected if name.startswith(condition.leaves_out)]:
        words += f" [left out: {'; '.join(left_out)}]"
    if idle:
        words += f"; no thread was started by: {'; '.join(idle)}"
    print(f"{condition.name:28} {words}", flush=True)
    return len(broken) + len(idle)


if __name__ == "__main__":
    main()
