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

from planewise._atomic import replacing
from planewise.slm.fitted import Forest, Trials

_FORMAT = "planewise boosting checkpoint 2"


class Saved(NamedTuple):
    """What a checkpoint holds."""

    forest: Forest
    history: dict[str, list[float]]
    trials: Trials


class Checkpoint:
    """Trees grown so far, in a file, tied to the data and parameters they came from."""

    def __init__(self, path: str | PathLike[str], fingerprint: str) -> None:
        self.path, self.fingerprint = Path(path), fingerprint

    def write(self, forest: Forest, history: dict[str, list[float]], trials: Trials) -> None:
        """Replace the file in one step: a kill leaves the old one or the new one."""
        header = json.dumps(
            {"format": _FORMAT, "fingerprint": self.fingerprint, "history": history, "n_outputs": forest.n_outputs}
        )
        arrays: dict[str, Any] = forest.arrays() | trials._asdict()
        with replacing(self.path) as file:
            np.savez(file, header=np.frombuffer(header.encode(), dtype=np.uint8), **arrays)

    def read(self) -> Saved | None:
        """What the file holds, or None if there is none; an error if it belongs to another fit."""
        if not self.path.exists():
            return None
        try:
            header, forest, trials = self._parts()
        except (
            OSError,
            EOFError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            BadZipFile,
        ) as error:
            raise ValueError(f"{str(self.path)!r} is not a boosting checkpoint, or is damaged: {error}") from error
        if header.get("format") != _FORMAT or header.get("fingerprint") != self.fingerprint:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} belongs to other data or parameters; delete it or name another "
                "file to start anew."
            )
        return Saved(forest, header["history"], trials)

    def _parts(self) -> tuple[dict[str, Any], Forest, Trials]:
        with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes().decode())
            _check_header(header)
            arrays = {name: file[name] for name in file.files if name != "header"}
        trials = Trials(*(arrays.pop(name) for name in Trials._fields))
        if any(each.ndim != 2 or each.dtype != np.float64 for each in trials):
            raise ValueError("what it continues from is not there")
        return header, Forest.from_arrays(**arrays, n_outputs=header["n_outputs"]), trials


def _check_header(header: Any) -> None:
    """ValueError unless it has the entries of one; which fit it belongs to is asked later."""
    if not isinstance(header, dict) or not isinstance(header.get("history"), dict):
        raise ValueError("its header is not one")
    for name, losses in header["history"].items():
        if not isinstance(losses, list) or not all(isinstance(loss, float) for loss in losses):
            raise ValueError(f"its losses {name!r} are not numbers")


def fingerprint(params: dict[str, Any], *arrays: NDArray[Any]) -> str:
    """A digest of the parameters that shape the trees and of the training data."""

    def words(value: Any) -> str:
        if isinstance(value, (set, frozenset)):  # in whatever order they are this time
            return repr(sorted(map(repr, value)))
        code = getattr(value, "__code__", None)  # of a function, which has the same name after a change
        inside = "" if code is None else f" {code.co_code.hex()} {code.co_names} {code.co_consts}"
        return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value) + inside)  # it lies elsewhere in the next process

    digest = hashlib.sha256(json.dumps(params, sort_keys=True, default=words).encode())
    for array in arrays:
        digest.update(str((array.dtype, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
