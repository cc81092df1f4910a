"""Boosting's checkpoints: arrays and a fingerprint in one file that can run no code, written atomically."""

from __future__ import annotations

import hashlib
import json
import re
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from planewise import _core
from planewise._atomic import replacing
from planewise.slm.fitted import Forest, Trials

_FORMAT = "planewise boosting checkpoint 2"


class Saved(NamedTuple):
    """What a checkpoint holds."""

    forest: Forest
    history: dict[str, list[float]]
    trials: Trials


class Fit(NamedTuple):
    """What the trees of a checkpoint must fit."""

    n_outputs: int
    trees_per_round: int
    category_counts: list[int]  # of each column that trees read, 0 for numbers
    n_rows: int  # that have scores without their own part in them, if any are kept


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

    def read(self, fit: Fit) -> Saved | None:
        """What the file holds, or None if there is none; an error if it belongs to another fit."""
        if not self.path.exists():
            return None
        if not self.path.is_file():
            raise ValueError(f"{str(self.path)!r} is not a file, so it cannot hold the checkpoint; name another one.")
        try:
            header, arrays = self._parts()
            is_own = header.get("format") == _FORMAT and header.get("fingerprint") == self.fingerprint
            saved = _saved(header, arrays, fit) if is_own else None
        except Exception as error:  # of any kind: the file can hold anything
            raise ValueError(
                f"{str(self.path)!r} is not a boosting checkpoint, or is damaged: {error or type(error).__name__}"
            ) from error
        if saved is None:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} belongs to other data or parameters; delete it or name another "
                "file to start anew."
            )
        return saved

    def _parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        with self.path.open("rb") as stream:
            with ZipFile(stream) as archive:
                for member in archive.infolist():  # a few bytes could unpack to more than memory holds
                    if member.compress_type != ZIP_STORED:
                        raise ValueError(f"its part {member.filename!r} is compressed")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as file:
                header = json.loads(file["header"].tobytes().decode())
                _check_header(header)
                return header, {name: file[name] for name in file.files if name != "header"}


def _saved(header: dict[str, Any], arrays: dict[str, NDArray[Any]], fit: Fit) -> Saved:
    """What the arrays make, all that the core relies on checked."""
    trials = Trials(*(arrays.pop(name) for name in Trials._fields))
    forest = Forest.from_arrays(**arrays, n_outputs=header["n_outputs"])
    forest.check_columns(fit.category_counts)
    if not forest.is_compact():
        raise ValueError("its trees are not those of boosting")
    for name in ("value", "term_weight"):
        if not np.isfinite(getattr(forest, name)).all():
            raise ValueError(f"its {name} is not finite everywhere")
    fits = forest.n_outputs == fit.n_outputs and forest.trees_per_round == fit.trees_per_round
    if not fits or forest.n_trees % fit.trees_per_round:
        raise ValueError("its trees are not those of rounds of this fit")
    if trials.losses.shape != (fit.n_outputs, _core.N_TRIAL_LOSSES) or trials.losses.dtype != np.float64:
        raise ValueError("its losses of trials are not those of this fit")
    known = ((0, fit.n_outputs), (fit.n_rows, fit.n_outputs))
    of_numbers = trials.left_out.dtype == np.float64 and np.isfinite(trials.left_out).all()
    if trials.left_out.shape not in known or not of_numbers:
        raise ValueError("its scores of left-out rows are not those of this fit")
    return Saved(forest, header["history"], trials)


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
