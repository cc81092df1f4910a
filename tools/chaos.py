"""Kill planewise at random moments, and fill its disk; fail if anything was lost.

    python tools/chaos.py [--moments 50] [--seed 0] [--only save] [--list]

Every trial is measured undisturbed first; then SIGKILL comes at moments that are spread over that time, one in each of
as many equal parts (`--seed` says where in its part). What must be true afterwards:

save        the file is the old or the new model, whole
predict     the file of `planewise predict --out` is the old or the new one, whole
review      every decision that was confirmed to the browser is in the file, and at most one more; a new review opens it
serve       clients got right answers or a connection error, and a new service answers on the same port
reproduce   the same command again keeps all cells that were finished, and ends with the same cells and tables
dask        a worker is killed: the fit ends with the same bytes as on one machine, or with one of planewise's errors
full-disk   files cannot grow any more (RLIMIT_FSIZE): an error in words, the old file is unchanged, and work goes on
            when there is space again

Temporary files that a kill left beside the file are counted as "left over"; the next writer may remove them. What is
printed is how often each outcome came in each tenth of the undisturbed time (of a server, of the time under load; of a
full disk, of the size of the file). A trial that dies, or that has fewer outcomes than it should, counts as a loss.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import http.client
import itertools
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import planewise

# What commands import when they need it is imported before processes are forked, so that moments are spread over their
# work. It is only used in processes of its own: polars and dask start threads, which do not survive a fork.
import planewise.app.server
import planewise.cli._app
import planewise.cli._tables
import planewise.serve.server
import planewise.table
from commands import Browser, port_in, review_of, write_cases
from planewise.cli import main as command

FORK = multiprocessing.get_context("fork")
LOST = "LOST: "
PATIENCE = 300.0

Outcome = tuple[float, str]  # the moment, as a share of the undisturbed time, and what came of it in words


class Child:
    """A forked process that does something; what it prints can be read."""

    def __init__(self, action: Callable[[], object]) -> None:
        self._reader, writer = os.pipe()
        self._process = FORK.Process(target=_quietly, args=(action, writer))
        self.started = time.monotonic()
        self._process.start()
        os.close(writer)
        self.lines = os.fdopen(self._reader, encoding="utf-8", errors="replace")

    def kill_at(self, moment: float) -> bool:
        """Wait so many seconds from its start and kill it; False if it had ended by itself."""
        self._process.join(max(0.0, self.started + moment - time.monotonic()))
        alive = self._process.exitcode is None
        self.kill()
        return alive

    def kill(self) -> None:
        """End it at once."""
        if self._process.pid is not None:
            self._process.kill()
        self._process.join()
        self.lines.close()

    def end(self) -> tuple[int, str, float]:
        """Wait for its end: exit code, what it printed, seconds it took."""
        said = self.lines.read()
        self._process.join(PATIENCE)
        seconds = time.monotonic() - self.started
        code = self._process.exitcode
        self.kill()
        return (-1 if code is None else code), said, seconds

    def port(self) -> int:
        """The port that it says it listens on."""
        return port_in(self.lines)


def _quietly(action: Callable[[], object], writer: int) -> None:
    """In a forked process: its streams go to the pipe."""
    os.dup2(writer, 1)
    os.dup2(writer, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
    action()


def cli(*args: object) -> Callable[[], object]:
    """A command of planewise, to be run in a forked process."""

    def run() -> None:
        sys.argv = ["planewise", *map(str, args)]
        command()

    return run


def done(action: Callable[[], object]) -> tuple[str, float]:
    """Run something in a process of its own, which must succeed: what it printed, and its seconds."""
    code, said, seconds = Child(action).end()
    if code != 0:
        raise RuntimeError(f"undisturbed, it ended with exit code {code}: {said[-2000:]}")
    return said, seconds


def digest(path: Path) -> str:
    """Of a file; empty if there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def left_over(folder: Path, known: set[str]) -> str:
    """In words, whether there is anything in the folder but these names."""
    return " (left over: a temporary file)" if {each.name for each in folder.iterdir()} - known else ""


class Trial:
    """What the trials share: a folder, and the moments."""

    def __init__(self, folder: Path, n_moments: int, seed: int) -> None:
        self.folder, self.n_moments, self.rng = folder, n_moments, np.random.default_rng(seed)

    def moments(self) -> Iterator[float]:
        """Moments as shares of a run, one in each of as many equal parts."""
        for k in range(self.n_moments):
            yield (k + self.rng.random()) / self.n_moments

    def fresh(self) -> Path:
        """An empty folder."""
        return Path(tempfile.mkdtemp(dir=self.folder))


# ---------------------------------------------------------------------------------------------------------- fits, files


def table(n_rows: int) -> tuple[Any, Any]:
    """Rows to fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)


def save(trial: Trial) -> Iterator[Outcome]:
    """Two models that replace each other all the time."""
    folder = trial.fresh()
    path = folder / "model.planewise"
    X, y = table(2000)
    models = [planewise.SLMForestClassifier(n_estimators=20, random_state=seed).fit(X, y) for seed in (0, 1)]
    right = set()
    for model in models:
        planewise.save(model, path)
        right.add(digest(path))

    def forever() -> None:
        while True:
            for model in models:
                planewise.save(model, path)

    for share in trial.moments():
        Child(forever).kill_at(0.5 * share)
        whole = f"the old or the new file, whole{left_over(folder, {path.name})}"
        yield share, whole if digest(path) in right else f"{LOST}half a file"
        for each in folder.iterdir():
            if each != path:
                each.unlink()


def predict(trial: Trial) -> Iterator[Outcome]:
    """planewise predict --out, to CSV and to Parquet in turn."""
    for ending, n_moments in (("csv", (trial.n_moments + 1) // 2), ("parquet", trial.n_moments // 2)):
        folder = trial.fresh()
        done(functools.partial(write_cases, folder, 400, 500))
        known = {"model.planewise", "cases.csv", f"p.{ending}"}
        out = folder / f"p.{ending}"
        predicting = cli(
            "predict", folder / "model.planewise", folder / "cases.csv", "--proba", "--out", out, "--force"
        )
        _, seconds = done(predicting)
        after = digest(out)
        out.write_bytes(b"before")
        states = {digest(out): "the old file", after: "the new file"}
        for share in Trial(folder, n_moments, int(trial.rng.integers(1 << 30))).moments():
            Child(predicting).kill_at(share * seconds)
            state, left = states.get(digest(out)), left_over(folder, known)
            yield share, f"{state}, whole{left}" if state else f"{LOST}half a file of {ending}"
            for each in folder.iterdir():
                if each.name not in known:
                    shutil.rmtree(each) if each.is_dir() else each.unlink()
            out.write_bytes(b"before")


# -------------------------------------------------------------------------------------------------------------- servers

GONE = (ConnectionError, http.client.HTTPException, TimeoutError)


class Reviewer(Browser):
    """A browser that accepts one case after the other, until the server is gone."""

    failure = ""

    def go_on(self) -> None:
        """Decide until the server is gone."""
        try:
            for row in itertools.cycle(range(390)):
                status, words = self.decide(row)
                if status != 303:
                    raise RuntimeError(f"a decision was refused: {status} {words[:300]}")
        except GONE:
            pass
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"


def reviewing(folder: Path) -> Callable[[], object]:
    """The command of a review."""
    return cli(*review_of(folder), "--port", 0)


def kept_ids(folder: Path) -> list[str]:
    """The ids of the records in the file of answers."""
    lines = (folder / "answers.jsonl").read_bytes().split(b"\n")
    return [json.loads(line)["id"] for line in lines[1:-1]]


def review(trial: Trial) -> Iterator[Outcome]:
    """Reviews whose server is killed while decisions come; the same file all the time."""
    folder = trial.fresh()
    done(functools.partial(write_cases, folder, 400))
    promised: list[str] = []
    n_confirmed = 0
    for share in trial.moments():
        server = Child(reviewing(folder))
        reviewer = Reviewer(server.port())
        server.started = time.monotonic()
        clicks = threading.Thread(target=reviewer.go_on)
        clicks.start()
        server.kill_at(1.5 * share)
        clicks.join()
        promised += reviewer.saved
        again = Child(reviewing(folder))  # puts aside half a line
        again.port()
        again.kill()
        kept = kept_ids(folder)
        lost, more = set(promised) - set(kept), len(kept) - len(promised)
        if lost or reviewer.failure or not 0 <= more <= 1:
            yield share, f"{LOST}{len(lost)} confirmed decisions, {more} others more. {reviewer.failure}"
        else:
            yield share, f"all confirmed decisions are there{', and one more' * more}"
        n_confirmed += len(reviewer.saved)
        promised = kept
    if n_confirmed == 0:
        raise RuntimeError("no decision was confirmed before a kill, so nothing was tried")


def serve(trial: Trial) -> Iterator[Outcome]:
    """A service that is killed while four clients ask, and started again on its port."""
    folder = trial.fresh()
    done(functools.partial(write_cases, folder, 400))
    body = json.dumps({"rows": [{"size": 50.5, "town": "Ulm"}] * 50})

    def ask(link: http.client.HTTPConnection) -> bytes:
        link.request("POST", "/predict", body, {"Content-Type": "application/json"})
        got = link.getresponse()
        return b"%d " % got.status + got.read()

    right, port = None, 0
    for share in trial.moments():
        server = Child(cli("serve", folder / "model.planewise", "--port", port, "--rate", 0))
        port = server.port()
        links = [http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(4)]
        first = ask(links[0])
        right = first if right is None else right
        wrong: list[str] = [] if first == right else [f"{first[:200]!r}"]

        def go_on(link: http.client.HTTPConnection, wrong: list[str] = wrong, right: bytes = right) -> None:
            try:
                while (got := ask(link)) == right:
                    pass
                wrong.append(f"{got[:200]!r}")
            except GONE:
                link.close()
            except Exception as error:
                wrong.append(f"{type(error).__name__}: {error}")

        clients = [threading.Thread(target=go_on, args=(link,)) for link in links]
        server.started = time.monotonic()
        for client in clients:
            client.start()
        server.kill_at(share)
        for client in clients:
            client.join()
        yield share, f"{LOST}{wrong[0]}" if wrong else "right answers, then a connection error; the next one serves"


# --------------------------------------------------------------------------------------------------------- reproduction


def cells_in(folder: Path) -> list[tuple[Any, ...]]:
    """Finished cells and the table made of them, without their times."""
    lines = [json.loads(line) for line in (folder / "cells" / "recip-rows.jsonl").read_text().splitlines()]
    cells = [(each["data"], each["method"], each["seed"], json.dumps(each["metrics"])) for each in lines]
    return [*sorted(cells), ((folder / "out" / "recip-rows.md").read_text(),)]


def reproduce(trial: Trial) -> Iterator[Outcome]:
    """planewise reproduce, killed and called again."""

    def reproducing(folder: Path) -> Callable[[], object]:
        return cli(
            "reproduce", "recip-rows", "--quick", "--quiet", "--cells", folder / "cells", "--out", folder / "out"
        )

    whole = trial.fresh()
    _, seconds = done(reproducing(whole))
    right = cells_in(whole)
    for share in trial.moments():
        folder = trial.fresh()
        Child(reproducing(folder)).kill_at(share * seconds)
        cells = folder / "cells" / "recip-rows.jsonl"
        kept = cells.read_bytes().count(b"\n") if cells.exists() else 0
        code, said, _ = Child(reproducing(folder)).end()
        found = re.search(r"cells run, (\d+) were finished", said)
        if code != 0 or not found or cells_in(folder) != right:
            yield share, f"{LOST}exit code {code}: {said[-300:]}"
        elif int(found[1]) < kept:
            yield share, f"{LOST}{kept} cells were finished, but the next run knew {found[1]}"
        else:
            how = "had ended" if kept == len(right) - 1 else "resumed" if kept else "began again"
            yield share, f"{how}, the same cells"
        shutil.rmtree(folder)


# ----------------------------------------------------------------------------------------------------------------- dask


def _two_workers(cluster: Any, client: Any, killed: str) -> None:
    """Wait until the killed worker is gone and there are two others.

    On a busy machine a nanny may not start its worker again: another one then does.
    """
    started, n_more = time.monotonic(), 0
    while (seconds := time.monotonic() - started) < PATIENCE:
        alive = set(client.nthreads())
        if killed not in alive and len(alive) >= 2:
            return
        if seconds > 30 * (n_more + 1):
            cluster.scale(len(cluster.workers) + 1)
            n_more += 1
        time.sleep(0.1)
    raise RuntimeError("a killed worker was not replaced")


class DaskFits:
    """Fits on a cluster of two workers, one of which may be killed."""

    def __init__(self, trial: Trial, client: Any) -> None:
        import dask.array as da

        self.trial, self.client, self.settings = trial, client, {"n_estimators": 12, "random_state": 0}
        X, y = table(2400)
        self.parts = da.from_array(X, chunks=(400, 6)), da.from_array(y, chunks=400)
        self.right = {
            name: self._bytes_of(getattr(planewise, name)(**self.settings).fit(X, y))
            for name in ("SLMBoostClassifier", "SLMForestClassifier")
        }

    def _bytes_of(self, model: Any) -> str:
        path = self.trial.folder / "model"
        planewise.save(model, path)
        return digest(path)

    def fit(self, name: str, ended: threading.Event) -> str:
        """What comes of a fit; `ended` is set at its end."""
        import planewise.dask as on_dask

        in_words = (on_dask.LostWorkersError, on_dask.LostSchedulerError, on_dask.PartitionError)
        try:
            model = getattr(on_dask, name)(client=self.client, **self.settings)
            model.fit(*self.parts)
            ended.set()
            same = self._bytes_of(model.to_local()) == self.right[name]
            return "the same bytes" if same else f"{LOST}other bytes"
        except in_words as error:
            return f"an error in words: {type(error).__name__}"
        except Exception as error:
            return f"{LOST}{type(error).__name__}: {error}"

    def _pids(self) -> dict[str, int]:
        """The processes of the workers; asked again while the scheduler still knows one that was killed."""
        started = time.monotonic()
        while True:
            try:
                return dict(self.client.run(os.getpid))
            except OSError:  # a connection to it that is closed
                if time.monotonic() - started > PATIENCE:
                    raise
                time.sleep(0.1)

    def disturbed(self, name: str, moment: float) -> tuple[str, str]:
        """A fit one of whose workers is killed at this moment: the address of the worker, and what came of it."""
        workers, ended, found = self._pids(), threading.Event(), []
        killed = sorted(workers)[int(self.trial.rng.integers(len(workers)))]
        thread = threading.Thread(target=lambda: found.append(self.fit(name, ended)))
        thread.start()
        had_ended = ended.wait(moment)
        os.kill(workers[killed], signal.SIGKILL)
        thread.join(PATIENCE)
        words = found[0] if found else f"{LOST}the fit does not end"
        return killed, f"had ended, {words}" if had_ended and not words.startswith(LOST) else words


def dask(trial: Trial) -> Iterator[Outcome]:
    """Fits on two workers, one of which is killed."""
    from dask.distributed import Client, LocalCluster

    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options, silence_logs=50) as cluster, Client(cluster) as client:
        fits, seconds, n_killed = DaskFits(trial, client), {}, 0
        for name in list(fits.right) * 2:  # the first fit imports what the second one has
            started = time.monotonic()
            if (words := fits.fit(name, threading.Event())) != "the same bytes":
                raise RuntimeError(f"undisturbed, {name}: {words}")
            seconds[name] = time.monotonic() - started
        for k, share in enumerate(trial.moments()):
            name = list(fits.right)[k % 2]
            killed, words = fits.disturbed(name, share * seconds[name])
            n_killed += not words.startswith("had ended")
            yield share, words
            _two_workers(cluster, client, killed)
    if n_killed == 0:
        raise RuntimeError("all fits had ended before the kill, so nothing was tried")


# ----------------------------------------------------------------------------------------------------------- full disks


def limited(n_bytes: int, action: Callable[[], object]) -> Callable[[], object]:
    """The same while no file can grow beyond so many bytes."""

    def run() -> None:
        sys.dont_write_bytecode = True  # Python would leave a part of a file, and fail on it whenever it reads it
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))
        action()

    return run


def told(action: Callable[[], object]) -> Callable[[], object]:
    """Print the error of a function and exit with code 2, as commands do."""

    def run() -> None:
        try:
            action()
        except OSError as error:
            print(f"planewise: {error}")
            sys.exit(2)

    return run


def full_disk(trial: Trial) -> Iterator[Outcome]:
    """The writers again, on a disk that is full after a number of bytes."""
    folder = trial.fresh()
    done(functools.partial(write_cases, folder, 400, 200))
    X, y = table(800)
    forest = planewise.SLMForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    model, cases = folder / "model.planewise", folder / "cases.csv"
    saved = folder / "saved"
    writers: dict[Path, Callable[[], object]] = {
        saved: told(lambda: planewise.save(forest, saved)),
        folder / "p.csv": cli("predict", model, cases, "--out", folder / "p.csv", "--force"),
        folder / "p.parquet": cli("predict", model, cases, "--out", folder / "p.parquet", "--force"),
        folder / "m.h": cli("export", model, "--to", "c", "--out", folder / "m.h", "--force"),
        folder / "m.html": cli("describe", model, "--html", folder / "m.html", "--force"),
    }
    for path, write in writers.items():
        done(write)
        right, size = digest(path), path.stat().st_size
        known = {each.name for each in folder.iterdir()}
        for n_bytes in _limits(trial, 5, size):
            path.write_bytes(b"before")
            code, said, _ = Child(limited(n_bytes, write)).end()
            in_words = code == 2 and "Traceback" not in said and said.strip()
            unchanged, left = path.read_bytes() == b"before", left_over(folder, known)
            done(write)  # there is space again
            if in_words and unchanged and digest(path) == right:
                yield n_bytes / size, f"an error in words, the old file is unchanged{left}"
            else:
                yield n_bytes / size, f"{LOST}{path.name}: unchanged={unchanged}, exit code {code}: {said[-300:]}"
    yield from _full_review(trial, folder)


def _limits(trial: Trial, part: int, size: int) -> list[int]:
    """Sizes that files cannot exceed, all too small for one of this size: for one of so many parts of the moments."""
    n_limits = max(1, trial.n_moments // part)
    return sorted(trial.rng.integers(0, int(0.95 * size), n_limits).tolist())


def _full_review(trial: Trial, folder: Path) -> Iterator[Outcome]:
    """Decisions on a disk that is full, and has space again later."""
    done(functools.partial(write_cases, folder, 400))
    promised: list[str] = []
    for more in _limits(trial, 10, 1500):
        share = more / 1500
        answers = folder / "answers.jsonl"
        size = answers.stat().st_size if answers.exists() else 600
        server = Child(limited(size + more, reviewing(folder)))
        reviewer = Reviewer(server.port())
        refused = [words for status, words in map(reviewer.decide, range(12)) if status != 303]
        resource.prlimit(server._process.pid or 0, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        last, _ = reviewer.decide(20)
        server.kill()
        promised += reviewer.saved
        if kept_ids(folder) != promised:
            yield share, f"{LOST}the answers are not those that were confirmed"
        elif not refused or last != 303 or any("could not be saved" not in words for words in refused):
            yield share, f"{LOST}{len(refused)} refused, such as {refused[:1]}, then {last}"
        else:
            yield share, "decisions refused in words, those confirmed are there, and the next one is saved"


# --------------------------------------------------------------------------------------------------------------- report

TRIALS: dict[str, Callable[[Trial], Iterator[Outcome]]] = {
    "save": save,
    "predict": predict,
    "review": review,
    "serve": serve,
    "reproduce": reproduce,
    "dask": dask,
    "full-disk": full_disk,
}


def n_expected(name: str, n_moments: int) -> int:
    """The number of outcomes of a trial; of full disks, five writers and a review have a part each."""
    parts = (5, 5, 5, 5, 5, 10) if name == "full-disk" else (1,)
    return sum(max(1, n_moments // part) for part in parts)


def run(name: str, n_moments: int, seed: int, results: Any) -> None:
    """One trial, in a process of its own: its outcomes are sent one by one, and None at the end."""
    with tempfile.TemporaryDirectory(prefix="planewise-chaos-") as folder:
        try:
            for outcome in TRIALS[name](Trial(Path(folder), n_moments, seed)):
                results.send(outcome)
        except Exception as error:
            results.send((0.0, f"{LOST}the trial itself failed: {type(error).__name__}: {error}"))
    results.send(None)


def outcomes_of(name: str, n_moments: int, seed: int) -> list[Outcome]:
    """All outcomes of a trial; that it died, or has too few, is one as well."""
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=run, args=(name, n_moments, seed, theirs))
    process.start()
    theirs.close()
    found: list[Outcome] = []
    whole = False
    with contextlib.suppress(EOFError):
        while (outcome := ours.recv()) is not None:
            found.append(outcome)
        whole = True
    process.join()
    n_found = len(found)
    if not whole or process.exitcode != 0:
        found.append((0.0, f"{LOST}the trial died with exit code {process.exitcode}"))
    if n_found != n_expected(name, n_moments):
        found.append((0.0, f"{LOST}{n_found} outcomes instead of {n_expected(name, n_moments)}"))
    return found


def lines_of(outcomes: list[Outcome]) -> Iterator[str]:
    """A table: how often each outcome came, in all and in each tenth."""
    yield "     all " + "".join(f"{10 * k:>3}%" for k in range(10))
    for words in sorted({words for _, words in outcomes}):
        tenths = [min(int(10 * share), 9) for share, each in outcomes if each == words]
        counts = "".join(f"{tenths.count(k) or '.':>4}" for k in range(10))
        yield f"{len(tenths):>8} {counts}  {words}"


def main() -> int:
    """Run the trials; the exit code is 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50, help="per trial (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--only", action="append", choices=list(TRIALS), help="this trial alone; may be repeated")
    parser.add_argument("--list", action="store_true", help="name the trials")
    args = parser.parse_args()
    if args.list:
        print(*TRIALS, sep="\n")
        return 0
    if args.moments < 1:
        parser.error("--moments must be at least 1")
    n_lost = 0
    for name in args.only or TRIALS:
        started = time.monotonic()
        outcomes = outcomes_of(name, args.moments, args.seed)
        lost = sum(words.startswith(LOST) for _, words in outcomes)
        n_lost += lost
        print(f"{name:<12}{len(outcomes):>4} outcomes, {lost} lost, {time.monotonic() - started:.0f} s")
        print(*lines_of(outcomes), sep="\n", flush=True)
    print("Nothing was lost." if n_lost == 0 else f"{n_lost} LOST")
    return int(n_lost > 0)


if __name__ == "__main__":
    sys.exit(main())
