"""Boosting's checkpoints: arrays and a fingerprint in one file that can run no code, written atomically."""

from __future__ import annotations

import hashlib
import json
import re
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise._atomic import replacing
from planewise.slm._flat_forest import FlatForest

_FORMAT = "planewise boosting checkpoint 2"


class Trials(NamedTuple):
    """What the search for the strength of smoothing has found so far."""

    losses: NDArray[np.float64]  # outputs x strengths
    left_out: NDArray[np.float64]  # rows x outputs: scores without the row's own part in them

    @classmethod
    def of(cls, boosting: _core.Boosting) -> Trials:
        return cls(boosting.smoothing_losses(), boosting.left_out())


class Saved(NamedTuple):
    """What a checkpoint holds."""

    forest: FlatForest
    history: dict[str, list[float]]
    trials: Trials


class Checkpoint:
    """Trees grown so far, in a file, tied to the data and parameters they came from."""

    def __init__(self, path: str | PathLike[str], fingerprint: str) -> None:
        self.path, self.fingerprint = Path(path), fingerprint

    def write(self, forest: FlatForest, history: dict[str, list[float]], trials: Trials) -> None:
        """Replace the file in one step: a kill leaves the old one or the new one."""
        header = json.dumps(
            {"format": _FORMAT, "fingerprint": self.fingerprint, "history": history, "n_outputs": forest.n_outputs}
        )
        arrays = {name: getattr(forest, name) for name in FlatForest.arrays()}
        arrays |= trials._asdict()
        with replacing(self.path) as file:
            np.savez(file, header=np.frombuffer(header.encode(), dtype=np.uint8), **arrays)

    def read(self) -> Saved | None:
        """What the file holds, or None if there is none; an error if it belongs to another fit."""
        if not self.path.exists():
            return None
        try:
            header, arrays = self._parts()
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, BadZipFile) as error:
            raise ValueError(f"{str(self.path)!r} is no boosting checkpoint, or a damaged one: {error}") from error
        if header.get("format") != _FORMAT or header.get("fingerprint") != self.fingerprint:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} belongs to other data or parameters; delete it or name another "
                "file to start anew."
            )
        trials = Trials(*(arrays.pop(name) for name in Trials._fields))
        return Saved(FlatForest(**arrays, n_outputs=header["n_outputs"]), header["history"], trials)

    def _parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes().decode())
            return header, {name: file[name] for name in [*FlatForest.arrays(), *Trials._fields]}


def fingerprint(params: dict[str, Any], *arrays: NDArray[Any]) -> str:
    """A digest of the parameters that shape the trees and of the training data."""

    def words(value: Any) -> str:
        return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))  # a function lies elsewhere in the next process

    digest = hashlib.sha256(json.dumps(params, sort_keys=True, default=words).encode())
    for array in arrays:
        digest.update(str((array.dtype, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
