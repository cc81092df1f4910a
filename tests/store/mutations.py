"""Random damage to model files: to their bytes, and to what they mean, put together again with a right checksum."""

from __future__ import annotations

import json
import random
import warnings

import numpy as np
import polars as pl
from catalogue import answers
from rewrite import parts_of, write_raw

import planewise as pw
from planewise.store import ModelFileError
from planewise.table import TableModel
from planewise.table.record import record_in_words

NASTY = [
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, -(2**31), 2**63, 2**64, 10**30, 0.5, -0.5, 1e308),
    *("", "a", "nan", "rbf", "linear", "precomputed", "softmax", "object", "float64", "ovo", [], {}, [0], [[]]),
    *({"array": 0}, {"array": 1}, {"float": "nan"}, {"float": "inf"}, {"dict": []}, {"tuple": [1]}, {"words": ["a"]}),
    "x" * 20_000,
]
MORE_NAMES = ["kind", "coef_", "slope_", "feature_names_in_", "_learner", "shrinkage_", "x"]
EXTREME = [0, 1, -1, 2, 127, 255, 2**15, 2**31 - 1, 2**31, -(2**31), 2**62, np.nan, np.inf, -np.inf, 1e-320, 1e300]


def damage_bytes(content, rng):
    """Other bytes, here and there."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        if not content:
            break
        at, length = rng.randrange(len(content)), rng.choice([1, 2, 4, 50])
        how = rng.randrange(5)
        if how == 0:
            content[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            content[at] = rng.choice([0, 1, 127, 128, 255])
        elif how == 2:
            del content[at : at + length]
        elif how == 3:
            content[at:at] = rng.randbytes(length)
        else:
            del content[at:]
    return bytes(content)


def damage_meaning(document, arrays, rng):
    """The document (changed in place) and the array content of a forgery."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if arrays and rng.random() < 0.5:
            k = rng.randrange(len(arrays))
            arrays[k] = _damaged_array(arrays, k, rng)
            described = document.get("arrays")
            if isinstance(described, list) and k < len(described):
                described[k] = {"dtype": arrays[k].dtype.name, "shape": list(arrays[k].shape)}
        else:
            damage_json(document, rng)
    content = b"".join(array.tobytes() for array in arrays)
    return content if rng.random() < 0.97 else content[: rng.randrange(len(content) + 1)]


def _damaged_array(arrays, k, rng):
    array = arrays[k]
    how = rng.randrange(8)
    if how <= 2 and array.size:
        value = rng.choice(EXTREME) if rng.random() < 0.5 else array.flat[rng.randrange(array.size)].item()
        wide = array.astype(rng.choice([array.dtype, np.int64, np.float64, np.int32]))
        if wide.dtype.kind != "f":
            value = 0 if value != value or abs(value) == np.inf else int(value)
            held = np.iinfo(wide.dtype) if wide.dtype.kind in "iu" else None
            value = bool(value) if held is None else min(max(value, held.min), held.max)
        wide.flat[rng.randrange(array.size)] = value
        return wide
    if how == 3:
        return array[: rng.randrange(len(array) + 1)] if array.ndim else array
    if how == 4:
        return np.concatenate([array, array[: rng.randrange(1, 4)]]) if array.ndim else array
    if how == 5:
        return array.reshape(-1) if rng.random() < 0.5 else array[None]
    if how == 6:
        return arrays[rng.randrange(len(arrays))].copy()
    return np.roll(array, 1) if rng.random() < 0.5 else np.sort(array, axis=None).reshape(array.shape)


def damage_json(document, rng):
    """Change a place of a JSON value, in place."""
    places = list(_places(document))
    if not places:
        return
    inside, key = rng.choice(places)
    nasty = json.loads(json.dumps(rng.choice(NASTY)))  # its own copy
    how = rng.randrange(6)
    if how <= 2:
        inside[key] = nasty
    elif how == 3:
        del inside[key]
    elif how == 4:
        other, other_key = rng.choice(places)
        inside[key] = json.loads(json.dumps(other[other_key]))
    elif isinstance(inside, dict):
        inside[rng.choice(MORE_NAMES)] = rng.choice(NASTY)
    else:
        inside.insert(0, rng.choice(NASTY))


def _places(value):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in list(items):
        yield value, key
        if isinstance(inside, (dict, list)):
            yield from _places(inside)


def try_mutation(path, seed, to):
    """Load one mutation of the file, and ask the model as `asked` does."""
    rng = random.Random(seed)
    if rng.random() < 0.25:
        to.write_bytes(damage_bytes(path.read_bytes(), rng))
    else:
        document, arrays = parts_of(path)
        with np.errstate(all="ignore"):
            content = damage_meaning(document, arrays, rng)
        text = json.dumps(document).encode()
        if rng.random() < 0.05:
            text = damage_bytes(text, rng)
        write_raw(to, text, content)
    return asked(to, seed % 1000)


def asked(source, seed=0):
    """Load a file and ask the model about random numbers; return what happened, in a word. Anything else raises."""
    try:
        model = pw.load(source)
    except ModelFileError:
        return "refused"
    X = np.random.default_rng(seed).normal(size=(3, model.n_features_in_))
    if isinstance(model, TableModel):
        X = _table(model, X)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            answers(model, X)
            if getattr(model, "record_", None) is not None:
                record_in_words(model.record_)
            if hasattr(model, "view_score"):
                [each.sentence() for each in model.explain(X)]
                model.fitted_rows()
        except (ValueError, OverflowError):
            return "loaded, and complains about rows"
    return "loaded"


def _table(model, X):
    """Rows with the columns of a model of tables."""
    columns = zip(model.columns_, X.T, strict=True)
    return pl.DataFrame(
        {c.name: [*c.categories, "new", None, "a"][:3] if c.kind == "category" else x for c, x in columns}
    )
