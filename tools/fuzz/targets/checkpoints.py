"""Boosting's checkpoints: a ValueError that names the checkpoint, or a fit that goes on from it.

The input is a forgery: the first line has the header and what the arrays are, the rest their content. An input that
begins as a zip archive is a file as it is.
"""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterable

import numpy as np
from mutations import damage_bytes, damage_meaning
from target import scratch

from planewise import SLMBoostClassifier, SLMBoostRegressor

OUTCOMES = ("refused", "went on")
MAX_BYTES = 1 << 14
USES_CORE = True
WORDS = ()
X = np.random.default_rng(0).normal(size=(24, 2))
HOW = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1, "random_state": 0, "checkpoint_every": 1}
KINDS = {
    "classes": (SLMBoostClassifier(**HOW), (X[:, 0] > 0).astype(int)),
    "numbers": (SLMBoostRegressor(**HOW), X[:, 0] + X[:, 1] ** 2),
}


def case(data: bytes) -> str:
    path = scratch() / "checkpoint"
    if data.startswith(b"PK"):
        kind, content = "classes", data
    else:
        kind, content = _packed(data)
    path.write_bytes(content)
    model, y = KINDS.get(kind, KINDS["classes"])
    try:
        fitted = model.set_params(checkpoint=path).fit(X, y)
    except ValueError as error:
        assert "checkpoint" in str(error), "the error does not say that it is about the checkpoint"
        return "refused"
    assert np.isfinite(fitted.predict_proba(X) if kind == "classes" else fitted.predict(X)).all()
    return "went on"


def seeds() -> Iterable[bytes]:
    for kind, (model, y) in KINDS.items():
        path = scratch() / "seed"
        path.unlink(missing_ok=True)
        model.set_params(checkpoint=path, n_estimators=2).fit(X, y)
        model.set_params(n_estimators=3)
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != "header"}
            header = json.loads(file["header"].tobytes())
        described = [{"dtype": each.dtype.name, "shape": list(each.shape)} for each in arrays.values()]
        document = {"kind": kind, "header": header, "names": list(arrays), "arrays": described}
        yield json.dumps(document).encode() + b"\n" + b"".join(array.tobytes() for array in arrays.values())
    yield path.read_bytes()


def mutated(data: bytes, rng: random.Random, mutate: Callable[[bytes], bytes]) -> bytes:
    if data.startswith(b"PK"):
        return damage_bytes(data, rng)
    if rng.random() < 0.1:
        return mutate(data)
    try:
        document, arrays = _parts(data)
        with np.errstate(all="ignore"):
            content = damage_meaning(document, arrays, rng)
        return json.dumps(document).encode() + b"\n" + content
    except Exception:  # what is damaged already need not mean anything
        return mutate(data)


def _parts(data: bytes) -> tuple[dict, list[np.ndarray]]:
    text, _, content = data.partition(b"\n")
    document, arrays, at = json.loads(text), [], 0
    for each in document["arrays"]:
        shape = [int(n) for n in each["shape"]]
        flat = np.frombuffer(content, np.dtype(each["dtype"]), int(np.prod(shape)), at)
        arrays.append(flat.reshape(shape).copy())
        at += flat.nbytes
    return document, arrays


def _packed(data: bytes) -> tuple[str, bytes]:
    """What the input means as a checkpoint; the bytes as they are if it means nothing."""
    try:
        document, arrays = _parts(data)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            header = np.frombuffer(json.dumps(document["header"]).encode(), dtype=np.uint8)
            for name, array in zip(["header", *document["names"]], [header, *arrays], strict=False):
                member = io.BytesIO()
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
                archive.writestr(f"{name}.npy", member.getvalue())
        return str(document.get("kind")), file.getvalue()
    except Exception:  # what is damaged already need not mean anything
        return "classes", data
