"""Contenders take turns on the same rows, each in a process of its own, in an order that rotates."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from .contenders import THREADS, Contender
from .data import Split, Table, split
from .families import Family
from .fight import fight

Answer = dict[str, float] | str  # a text is what went wrong


class Asked(Protocol):
    """Who answers questions about a contender."""

    def ask(self, question: Callable[..., Any], *arguments: Any) -> Any: ...


def _answer_questions(pipe: Any) -> None:
    warnings.filterwarnings("ignore")
    while True:
        try:
            question, arguments = pipe.recv()
        except EOFError:  # the referee has closed the other end, or died
            return
        try:
            pipe.send(question(*arguments))
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {error}")


class Corner:
    """The process of one contender, started by the first question: no threads of another library are in it."""

    def __init__(self) -> None:
        self._pipe: Any = None
        self._process: Any = None

    def ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """The answer, or a text that says why there is none."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send((question, arguments))
            return self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return f"its process ended with exit code {self.close()}"

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        # Not a daemon: those cannot start the processes of a grid search.
        self._process = context.Process(target=_answer_questions, args=(theirs,))
        self._process.start()
        theirs.close()

    def close(self) -> int | None:
        """Let the process end, and return its exit code; the next question starts a new one."""
        if self._process is None:
            return None
        self._pipe.close()
        self._process.join()
        code = self._process.exitcode
        self._process = None
        return code


@contextmanager
def open_corners(contenders: Mapping[str, Contender]) -> Iterator[dict[str, Corner]]:
    """A process for each contender; all of them end with the block."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # for libraries without a parameter for it
        os.environ[variable] = str(THREADS)
    corners = {name: Corner() for name in contenders}
    try:
        yield corners
    finally:
        for corner in corners.values():
            corner.close()


def not_installed(contenders: Mapping[str, Contender]) -> list[str]:
    """Names of the contenders whose package is missing."""
    return [name for name, contender in contenders.items() if importlib.util.find_spec(contender.needs) is None]


def in_turn(names: Iterable[str], shift: int) -> list[str]:
    """Another one begins every time."""
    order = list(names)
    start = shift % len(order)
    return order[start:] + order[:start]


def run(
    family: Family,
    tables: Iterable[Table],
    seeds: int,
    corners: Mapping[str, Asked],
    tell: Callable[[dict[str, Any]], None] = lambda entry: None,
) -> list[dict[str, Any]]:
    """All contenders on all data sets: means over the seeds, and what each seed gave."""
    entries = []
    for turn, table in enumerate(tables):
        answers: dict[str, list[Answer]] = {name: [] for name in corners}
        for seed in range(seeds):
            rows = split(table, seed, family)
            for name in in_turn(corners, turn + seed):
                answers[name].append(_ask(corners[name], name, family, seed, rows, table.name))
        entries.append(
            {
                "name": table.name,
                "task": table.task,
                "rows": len(table.X),
                "features": table.X.shape[1],
                "contenders": {name: means(each) for name, each in answers.items() if not any_failed(each)},
                "seeds": answers,
            }
        )
        tell(entries[-1])
    return entries


def _ask(corner: Asked, name: str, family: Family, seed: int, rows: Split, data: str) -> Answer:
    answer = corner.ask(fight, family.contenders[name], family, seed, rows)
    if isinstance(answer, str):
        print(f"{data}, seed {seed}: {name} failed: {answer}", file=sys.stderr, flush=True)
    return answer


def any_failed(answers: Iterable[Answer]) -> bool:
    return any(isinstance(answer, str) for answer in answers)


def means(answers: list[Any]) -> dict[str, float]:
    """Means over the seeds."""
    return {key: float(np.mean([answer[key] for answer in answers])) for key in answers[0]}
