"""Finished cells, kept as lines of JSON, a file for each experiment."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from .declaration import Metrics

Key = tuple[str, str, int]  # data set, method, seed


@dataclass(frozen=True)
class Finished:
    """What one cell gave; `code` is the hash of the sources it comes from, empty if that was not kept."""

    metrics: Metrics
    fingerprint: str
    seconds: float
    version: str
    code: str = ""


class Store:
    """Reads and appends. A line that was cut off when a run was killed counts as not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, dict[Key, Finished]] = {}

    def cells(self, experiment: str) -> dict[Key, Finished]:
        """All finished cells; of repeated ones the last."""
        if experiment not in self._read:
            self._read[experiment] = dict(_parse(self._path(experiment)))
        return self._read[experiment]

    def add(self, experiment: str, key: Key, finished: Finished) -> None:
        """Keeps a cell, at once."""
        path = self._path(experiment)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # the run before was killed while it wrote
                    file.write(b"\n")
            file.write(_line(key, finished))
        self.cells(experiment)[key] = finished

    def tidy(self, experiment: str, declared: Collection[Key]) -> None:
        """Drops lines that later ones replaced, that were cut off, or that are not of the `declared` cells.

        Sorted, so that two runs can be compared.
        """
        self._read.pop(experiment, None)  # another run may have added to the file meanwhile
        cells, path = self.cells(experiment), self._path(experiment)
        if cells:
            part = path.with_suffix(".part")
            part.write_bytes(b"".join(_line(key, cells[key]) for key in sorted(cells) if key in declared))
            os.replace(part, path)
            self._read.pop(experiment)

    def _path(self, experiment: str) -> Path:
        return self.folder / f"{experiment}.jsonl"


def _line(key: Key, finished: Finished) -> bytes:
    data, method, seed = key
    line = {"data": data, "method": method, "seed": seed, "metrics": finished.metrics}
    line |= {"of": finished.fingerprint, "seconds": round(finished.seconds, 2), "version": finished.version}
    line |= {"code": finished.code} if finished.code else {}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _parse(path: Path) -> Iterator[tuple[Key, Finished]]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            cell = json.loads(line)
            key = cell["data"], cell["method"], cell["seed"]
            yield key, Finished(cell["metrics"], cell["of"], cell["seconds"], cell["version"], cell.get("code", ""))
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
