"""Use planewise from many threads, forked processes and signal handlers at once; fail on a data race or a wrong answer.

    python tools/race.py [--core build/race/_core.so] [--rounds 3] [--only fits]

`make race` builds the core with the thread sanitizer and calls this with it (--core); without --core, the installed
core is tried. Every trial runs in a process of its own, with a time limit; a race that the sanitizer sees there is
printed with both of its stacks. Nothing in the core is suppressed; what libraries that were compiled without the
sanitizer do is left out (ignore_noninstrumented_modules), because it does not know their locks. The trials that fork
use the installed core: the sanitizer aborts a forked process that starts threads ("dup thread with used id"). So does
interrupt: the sanitizer holds signals back until the next call that it watches, which a long computation may not make.

threads     every family starts threads of the core with the tables of these trials: without them, nothing is tried
fits        eight threads at once fit every family, with n_jobs of 1 to 3: all models give the same answers
predict     sixteen threads use one fitted model of every family, which is new to all of them: answers, explanations,
            and the model saved and loaded, are those of one thread, bit for bit
fork        a thread forks again and again while others fit with several native threads: the children predict and fit
pool        a multiprocessing pool that was forked after a fit gives the answers of this process
interrupt   SIGINT during a fit of every family: KeyboardInterrupt is raised within 2 seconds, the
            estimator is as it was before, and fits again to the same model
handlers    SIGUSR1 handlers run during fits, and their models stay the same
terminate   SIGTERM during `planewise fit` ends it in words with exit code 143, and no part of a file is left
shutdown    Python ends while daemon threads fit
canary      with --core: a race on purpose, which the sanitizer must report
interpreters  another interpreter of the same process either refuses planewise by ImportError, or fits the same model
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_FITTING, N_PREDICTING = 8, 16
FOUND_RACE = 66  # exit code
WITHOUT_SANITIZER = ("threads", "fork", "pool", "interrupt", "terminate")
TELLING = ("interrupt", "handlers", "terminate", "interpreters")  # whose words are printed always
SECONDS = 300
LATENCY = 2.0  # seconds to an interrupt


def at_once(n_threads: int, task: Callable[[int], Any]) -> list[Any]:
    """What each thread gets when all begin together; an error of any is raised here."""
    begin, answers = threading.Barrier(n_threads), [None] * n_threads

    def work(number: int) -> None:
        begin.wait()
        try:
            answers[number] = task(number)
        except BaseException as error:
            answers[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in answers:
        if isinstance(each, BaseException):
            raise each
    return answers


def same(found: Any, expected: Any, what: str) -> None:
    """An error unless two arrays have the same bytes."""
    if np.asarray(found).tobytes() != np.asarray(expected).tobytes():
        raise AssertionError(f"{what}: other answers")


def with_jobs(name: str, n_jobs: int) -> Any:
    """An estimator that uses so many threads, if it can use several."""
    from small_models import MAKERS

    model = MAKERS[name]()
    return model.set_params(n_jobs=n_jobs) if "n_jobs" in model.get_params() else model


def fitted(name: str, n_jobs: int) -> Any:
    """A model of a table that is large enough for threads of the core."""
    from small_models import fit, large_table

    return fit(with_jobs(name, n_jobs), large_table(name))


def answer_of(name: str, model: Any) -> Any:
    """What it says of these rows."""
    from small_models import answer, large_table

    return answer(model, large_table(name))


def fitted_answer(name: str, n_jobs: int) -> Any:
    """Fit, and answer."""
    return answer_of(name, fitted(name, n_jobs))


def time_of_other_threads(action: Callable[[], Any]) -> float:
    """Seconds of processor time that threads besides this one took."""

    def so_far() -> int:
        return time.process_time_ns() - time.thread_time_ns()

    before = so_far()
    action()
    return 1e-9 * (so_far() - before)


def threads(rounds: int) -> None:
    """Fits with several threads use them."""
    from small_models import MAKERS

    for name in [name for name in MAKERS if "n_jobs" in MAKERS[name]().get_params()]:
        fitted(name, 3)  # what a first fit prepares
        alone, with_others = (
            time_of_other_threads(lambda: [fitted(name, n_jobs) for _ in range(5)])  # noqa: B023
            for n_jobs in (1, 3)
        )
        print(f"{name}: {1e3 * alone:.2f} ms in other threads with n_jobs=1, {1e3 * with_others:.2f} ms with n_jobs=3")
        if with_others < 2 * alone + 1e-4:
            raise AssertionError(f"{name}: a fit with n_jobs=3 starts no threads")


def fits(rounds: int) -> None:
    """All families at the same time."""
    from small_models import MAKERS

    names = list(MAKERS)
    expected = {name: fitted_answer(name, 1) for name in names}

    def work(number: int) -> None:
        for k in range(rounds * len(names)):
            name = names[(number + k) % len(names)]
            same(fitted_answer(name, 1 + (number + k) % 3), expected[name], name)

    at_once(N_FITTING, work)


def predict(rounds: int) -> None:
    """One model of each family, for all threads."""
    import planewise
    from small_models import MAKERS, SMALL

    for name in MAKERS:
        model = fitted(name, 2)
        expected = answer_of(name, model)
        explains = hasattr(model, "explain")
        reasons = repr(model.explain(SMALL.X[:2])) if explains else ""
        for _ in range(rounds):
            model = fitted(name, 2)  # nothing that a first prediction prepares is there

            def work(number: int, name: str = name, model: Any = model) -> None:
                same(answer_of(name, model), expected, name)  # noqa: B023
                if explains and repr(model.explain(SMALL.X[:2])) != reasons:  # noqa: B023
                    raise AssertionError(f"{name}: other reasons")
                file = io.BytesIO()
                planewise.save(model, file)
                file.seek(0)
                same(answer_of(name, planewise.load(file)), expected, f"{name}, loaded")  # noqa: B023

            at_once(N_PREDICTING, work)


def fork(rounds: int) -> None:
    """Forks in the midst of fits."""
    from small_models import MAKERS

    names = [name for name in MAKERS if name not in ("conformal",)]
    models = {name: fitted(name, 2) for name in names}
    expected = {name: answer_of(name, models[name]) for name in names}
    ended = threading.Event()

    def fitting(number: int) -> None:
        k = number
        while not ended.is_set():
            name = names[k % len(names)]
            same(fitted_answer(name, 2), expected[name], name)
            k += 1

    def forking() -> None:
        for k in range(4 * rounds):
            name = ("tree", "forest", "boosting", "recip")[k % 4]
            child = os.fork()
            if child == 0:
                code = 1
                with contextlib.suppress(BaseException):
                    same(answer_of(name, models[name]), expected[name], name)
                    same(fitted_answer(name, 2), expected[name], name)
                    code = 0
                os._exit(code)
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
                raise AssertionError(f"the forked process failed with {name}")

    def work(number: int) -> None:
        try:
            forking() if number == 0 else fitting(number)
        finally:
            ended.set()

    at_once(3, work)


def _of_the_pool(name: str) -> bytes:
    return fitted_answer(name, 2).tobytes()


def pool(rounds: int) -> None:
    """A pool of forked processes."""
    names = ["tree", "forest", "boosting", "views", "recip", "tree-numbers", "boosting-numbers"]
    expected = [_of_the_pool(name) for name in names]
    with multiprocessing.get_context("fork").Pool(2) as workers:
        for _ in range(rounds):
            if workers.map(_of_the_pool, names) != expected:
                raise AssertionError("other answers in the pool")


def long_fits() -> dict[str, Any]:
    """Estimators whose fit takes seconds on `long_table`."""
    import planewise as pw

    many, views = {"n_estimators": 20_000, "random_state": 0}, {"n_iter_no_change": 20_000}
    everything = {"max_candidates": None, "max_rows": None}
    return {
        "tree": pw.SLMClassifier(n_projections=20_000, random_state=0),
        "forest": pw.SLMForestClassifier(n_jobs=2, **many),
        "boosting": pw.SLMBoostClassifier(**many),
        "ranker": pw.SLMBoostRanker(**many),
        "views": pw.SLMViewsClassifier(**many, **views),
        "recip": pw.RECIPClassifier(3, **everything),
        "machine": pw.MCMClassifier(kernel="rbf", C=10.0, mu=1e-5),
        "large-scale": pw.LargeScaleMCMClassifier(max_iter=100_000, early_stopping=False, random_state=0),
        "feature-test": pw.DiscriminantFeatureTest(n_bins=255),
        "conformal": pw.ConformalKernel(),
        "tree-numbers": pw.SLMRegressor(n_projections=20_000, random_state=0),
        "forest-numbers": pw.SLMForestRegressor(n_jobs=2, **many),
        "boosting-numbers": pw.SLMBoostRegressor(**many),
        "views-numbers": pw.SLMViewsRegressor(**many, **views),
        "machine-numbers": pw.MCMRegressor(kernel="rbf", C=10.0, mu=1e-5),
    }


def long_table(name: str) -> Any:
    """Noise, which takes long to fit."""
    from small_models import Table

    rng = np.random.default_rng(0)
    shape = {"feature-test": (60_000, 300)}.get(name, (3_000, 12))
    return Table(rng.normal(size=shape), rng.integers(0, 2, shape[0]), rng.normal(size=shape[0]))


def interrupt(rounds: int) -> None:
    """Ctrl-C in every family."""
    from small_models import answer, fit

    for name, model in long_fits().items():
        short = _small(model)
        expected = answer(fit(model.set_params(**short)))
        model.set_params(**long_fits()[name].get_params())
        before = pickle.dumps(vars(model))
        for moment in np.linspace(0.05, 0.6, rounds):
            seconds = _until_interrupted(model, long_table(name), moment)
            print(f"{name}: interrupted {seconds:.2f} s after the signal", flush=True)
            if seconds > LATENCY:
                raise AssertionError(f"{name}: interrupted {seconds:.2f} s after the signal, not {LATENCY}")
            if pickle.dumps(vars(model)) != before:
                raise AssertionError(f"{name}: the interrupted fit changed the estimator")
        same(answer(fit(model.set_params(**short))), expected, f"{name}, fitted again")


def _until_interrupted(model: Any, rows: Any, moment: float) -> float:
    """Seconds from SIGINT, which comes at this moment of a fit, to its KeyboardInterrupt."""
    from small_models import fit

    timer = threading.Timer(moment, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    started = time.monotonic()
    timer.start()
    try:
        fit(model, rows)
    except KeyboardInterrupt:
        return time.monotonic() - started - moment
    finally:
        timer.join()
    raise AssertionError(f"{type(model).__name__}: the fit ended after {time.monotonic() - started:.1f} s")


def _small(model: Any) -> dict[str, Any]:
    """Parameters with which a long fit is a short one."""
    limits = {"n_estimators": 2, "n_projections": 10, "max_iter": 2, "n_iter_no_change": 2, "max_dim": 1}
    return {name: value for name, value in limits.items() if name in model.get_params()}


def handlers(rounds: int) -> None:
    """Signals that are not Ctrl-C."""
    from small_models import MAKERS

    expected = {name: fitted_answer(name, 2) for name in MAKERS}
    heard: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
    ended = threading.Event()

    def knock() -> None:
        while not ended.wait(0.002):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    knocking = threading.Thread(target=knock)
    knocking.start()
    try:
        for name in list(MAKERS) * rounds:
            same(fitted_answer(name, 2), expected[name], name)
    finally:
        ended.set()
        knocking.join()
    if not heard:
        raise AssertionError("no handler ran")
    print(f"{len(heard)} handlers ran")


def terminate(rounds: int) -> None:
    """SIGTERM during planewise fit."""
    import planewise

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = long_table("forest")
        cells = np.c_[rows.X, rows.classes][:1_000]
        np.savetxt(folder / "t.csv", cells, "%.5f", ",", header="a,b,c,d,e,f,g,h,i,j,k,l,y", comments="")
        code, said, seconds = _fit_by_command(folder, None)
        if code != 0 or not (folder / "m.planewise").exists():
            raise AssertionError(f"undisturbed, the fit ended with exit code {code}: {said}")
        for moment in seconds * np.linspace(0.1, 0.9, rounds):
            (folder / "m.planewise").unlink(missing_ok=True)
            code, said, _ = _fit_by_command(folder, moment)
            left = {each.name for each in folder.iterdir()}
            in_words = code == 143 and "planewise: terminated" in said
            # Once its file is written, Python may be about to end, and no longer listens to signals.
            ended = "m.planewise" in left and code in (0, -signal.SIGTERM)
            if not (in_words or ended) or left - {"m.planewise", "t.csv"}:
                raise AssertionError(f"SIGTERM after {moment:.2f} s: exit code {code}, {left} in the folder: {said}")
            if "m.planewise" in left:
                planewise.load(folder / "m.planewise")  # an error unless it is whole
            print(f"SIGTERM after {moment:.2f} of {seconds:.2f} s: {'had ended' if ended else 'terminated'}")


def _fit_by_command(folder: Path, moment: float | None) -> tuple[int, str, float]:
    """A fit that gets SIGTERM so many seconds after it began, if at all: exit code, what it said, and its seconds."""
    from commands import start

    call = ("fit", folder / "t.csv", "--target", "y", "--model", "forest", "--out", folder / "m.planewise")
    with start(*call) as process:
        assert process.stdout is not None
        said = ""
        while "fitting" not in said and (line := process.stdout.readline()):
            said += line
        started = time.monotonic()
        if moment is not None:
            time.sleep(moment)
            process.send_signal(signal.SIGTERM)
        said += process.stdout.read()
        return process.wait(), said, time.monotonic() - started


def shutdown(rounds: int) -> None:
    """The end of Python while daemon threads fit."""
    from small_models import fit

    names = ("forest", "boosting", "recip", "machine", "views", "tree-numbers")
    inside = threading.Barrier(len(names) + 1)

    def fitting(name: str) -> None:
        model, rows = long_fits()[name], long_table(name)
        inside.wait()
        while True:
            fit(model, rows)

    running = [threading.Thread(target=fitting, args=(name,), name=name, daemon=True) for name in names]
    for each in running:
        each.start()
    inside.wait()
    time.sleep(1.0)
    if dead := [each.name for each in running if not each.is_alive()]:
        raise AssertionError(f"no longer fitting: {', '.join(dead)}")


# What it finds is written to a file: by which way an interpreter tells its errors depends on the version of Python.
IN_ANOTHER = """
try:
    import planewise, numpy as np
    X = np.arange(40.0).reshape(20, 2)
    said = planewise.SLMClassifier(random_state=0).fit(X, X[:, 0] > 20).predict_proba(X).tobytes().hex()
except ImportError as error:
    said = f"refused: {error}"
with open(PATH, "w") as file:
    file.write(said)
"""


def canary(rounds: int) -> None:
    """A race on purpose, which the sanitizer must see: the core fills one array for several threads."""
    from planewise import _core

    rows = np.random.default_rng(0).normal(size=(400, 2)).astype(np.float32)
    none, numbers = np.empty(0, np.int32), np.zeros(2, np.float32)
    view = np.array([0, 2], np.int32), np.array([0, 1], np.int32)
    row, distance = np.zeros(len(rows) * 3, np.int32), np.zeros(len(rows) * 3, np.float32)

    def work(number: int) -> None:
        for _ in range(20):
            _core.class_neighbours(rows, none, 1, numbers, *view, rows, none, 3, row, distance, 2)

    at_once(4, work)


def interpreters(rounds: int) -> None:
    """An interpreter within the process."""
    try:
        import _interpreters as module  # Python 3.13
    except ImportError:
        import _xxsubinterpreters as module
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder, "here"), Path(folder, "there")
        exec(compile(IN_ANOTHER, "here", "exec"), {"PATH": str(here)})
        own = module.create()
        failure = module.run_string(own, f"PATH = {str(there)!r}{IN_ANOTHER}")
        module.destroy(own)
        said = there.read_text() if there.exists() else f"nothing: {failure}"
        if not said.startswith("refused: ") and said != here.read_text():
            raise AssertionError(f"another interpreter has another model: {said[:500]}")
        print(said if said.startswith("refused: ") else "the same model")


ALL = (threads, fits, predict, fork, pool, interrupt, handlers, terminate, shutdown, interpreters, canary)
TRIALS = {each.__name__: each for each in ALL}


def environment(core: str | None) -> dict[str, str]:
    """With the sanitizer, if the core was built with it."""
    if core is None:
        return dict(os.environ)
    compiler = os.environ.get("CXX", "c++")
    names = ("libtsan.so", "libstdc++.so")
    found = [subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip() for name in names]
    # Libraries that were compiled without the sanitizer have locks that it does not know.
    options = f"exitcode={FOUND_RACE}:report_thread_leaks=0:ignore_noninstrumented_modules=1:history_size=4"
    return os.environ | {"LD_PRELOAD": " ".join(found), "TSAN_OPTIONS": options, "OPENBLAS_NUM_THREADS": "1"}


def main() -> int:
    """Run the trials; the exit code is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", help="a build of the compiled module with the thread sanitizer")
    parser.add_argument("--rounds", type=int, default=3, help="of each trial (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=list(TRIALS), help="this trial alone; may be repeated")
    parser.add_argument("--inside", choices=list(TRIALS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        warnings.simplefilter("ignore")
        if args.core:
            from other_core import use_core

            use_core(args.core)
        TRIALS[args.inside](args.rounds)
        return 0
    n_failed = 0
    for name in args.only or [name for name in TRIALS if args.core or name != "canary"]:
        core = None if name in WITHOUT_SANITIZER else args.core
        call = [sys.executable, __file__, "--inside", name, "--rounds", str(args.rounds)]
        call += ["--core", core] if core else []
        started = time.monotonic()
        try:
            done = subprocess.run(
                call, capture_output=True, text=True, timeout=SECONDS, env=environment(core), check=False
            )
            code, said = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired as error:
            code, said = "no end", f"{error.stdout or b''!r}{error.stderr or b''!r}"[-6000:]
        n_races = said.count("WARNING: ThreadSanitizer")
        right = code == FOUND_RACE and n_races if name == "canary" else code == 0 and not n_races
        outcome = "ok" if right else f"FAILED, exit code {code}, {n_races} reports of the sanitizer"
        print(f"{name:<14}{time.monotonic() - started:>6.0f} s  {outcome}", flush=True)
        n_failed += outcome != "ok"
        if outcome != "ok" or name in TELLING:
            print("    " + said[-8000:].strip().replace("\n", "\n    "), flush=True)
    print("No races, no wrong answers." if n_failed == 0 else f"{n_failed} trials FAILED")
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
