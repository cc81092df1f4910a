"""Model files: whatever the bytes are, ModelFileError or a model that answers.

An input that begins as a zip archive is a file as it is. Any other is a forgery: the first line is the description, the
rest the arrays, which get the right checksum.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterable

import numpy as np
from catalogue import fitted
from mutations import asked, damage_bytes, damage_meaning
from rewrite import parts_of, write_raw
from target import scratch

import planewise

# Models of tests/store/catalogue.py: every kind of estimator, and every attribute that only some of them have.
SEEDS = (
    *("tree, frame", "tree, str labels", "tree, times in seconds", "tree, numbers", "forest, frame", "boosting"),
    *("boosting, tweedie", "boosting, quantile", "boosting, target statistics, numbers", "boosting, ranking"),
    *("feature test, names", "machine, frame", "machine, categories", "machine, linear", "machine, conformal"),
    *("machine for numbers", "search", "search for numbers, categories", "large machine, conformal"),
    *("large machine, categories", "large machine, poly", "conformal kernel", "views", "sum of views"),
    *("sum of views for numbers, poisson", "table, boosting", "table, machine", "table, numbers, record"),
)
OUTCOMES = ("refused", "loaded", "loaded, and complains about rows")
MAX_BYTES = 1 << 15
USES_CORE = True
WORDS = ()


def case(data: bytes) -> str:
    if data.startswith(b"PK"):
        return asked(io.BytesIO(data))
    return asked(io.BytesIO(_packed(data)))


def seeds() -> Iterable[bytes]:
    path = scratch() / "seed"
    for name in SEEDS:
        planewise.save(fitted(name)[0], path)
        document, arrays = parts_of(path)
        yield json.dumps(document).encode() + b"\n" + b"".join(array.tobytes() for array in arrays)
    planewise.save(fitted(SEEDS[0])[0], path)
    yield path.read_bytes()


def mutated(data: bytes, rng: random.Random, mutate: Callable[[bytes], bytes]) -> bytes:
    if data.startswith(b"PK"):
        return damage_bytes(data, rng) if rng.random() < 0.5 else mutate(data)
    how = rng.random()
    if how < 0.02:
        return _packed(data)
    if how < 0.1:
        return mutate(data)
    text, _, content = data.partition(b"\n")
    try:
        document = json.loads(text)
        arrays = _arrays(document, content)
        with np.errstate(all="ignore"):
            content = damage_meaning(document, arrays, rng)
        return json.dumps(document).encode() + b"\n" + content
    except Exception:  # what is damaged already need not mean anything
        return mutate(data)


def _packed(data: bytes) -> bytes:
    text, _, content = data.partition(b"\n")
    file = io.BytesIO()
    write_raw(file, text, content, packed=False)
    return file.getvalue()


def _arrays(document: dict, content: bytes) -> list[np.ndarray]:
    """The arrays as far as the description makes sense."""
    arrays, at = [], 0
    for each in document["arrays"]:
        shape = [int(n) for n in each["shape"]]
        flat = np.frombuffer(content, np.dtype(each["dtype"]), int(np.prod(shape)), at)
        arrays.append(flat.reshape(shape).copy())
        at += flat.nbytes
    return arrays
