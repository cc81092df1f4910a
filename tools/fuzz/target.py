"""What the fuzzer knows of a target, by name: each is a module in targets/ (see README.md)."""

from __future__ import annotations

import importlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "tests" / "fuzz"
NAMES = ("files", "tables", "fits", "core")


class Target(Protocol):
    """One thing that is fed with bytes."""

    OUTCOMES: tuple[str, ...]  # what a case can end with, other than a finding
    MAX_BYTES: int  # of an input
    WORDS: tuple[bytes, ...]  # put into inputs by the fuzzer
    USES_CORE: bool  # if not, the installed core will do, without the cost of sanitizers

    @staticmethod
    def case(data: bytes) -> str:
        """Try an input; what happened, one of OUTCOMES. Anything but a documented error or an answer raises."""

    @staticmethod
    def seeds() -> Iterable[bytes]:
        """Good inputs to begin with, besides those that are kept in tests/fuzz."""

    @staticmethod
    def mutated(data: bytes, rng: random.Random, mutate: Callable[[bytes], bytes]) -> bytes:
        """Another input made from this one; `mutate` changes bytes at random."""


def target(name: str) -> Any:
    """The module of a target; planewise is imported by it."""
    for folder in (ROOT / "tools" / "fuzz", ROOT / "tests" / "store"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return importlib.import_module(f"targets.{name}")


def kept(name: str) -> dict[str, bytes]:
    """Return the inputs that earlier runs of a target found worth keeping, by name."""
    with ZipFile(CORPUS / f"{name}.zip") as archive:
        return {each: archive.read(each) for each in archive.namelist()}


@cache
def scratch() -> Path:
    """A folder for readers that want a path."""
    folder = tempfile.TemporaryDirectory(prefix="planewise-fuzz-")
    _kept.append(folder)
    return Path(folder.name)


_kept: list[Any] = []  # until Python ends
