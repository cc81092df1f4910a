"""Model files taken apart and put together again, with a right checksum: forgeries that get past the outer checks."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np

from planewise.store import container as _container


def parts_of(path):
    """The document and the arrays of a model file, the arrays as a list that can be changed."""
    document, content = _container.unpacked(Path(path).read_bytes())
    arrays, at = [], 0
    for each in document["arrays"]:
        flat = np.frombuffer(content, np.dtype(each["dtype"]), int(np.prod(each["shape"])), at)
        arrays.append(flat.reshape(each["shape"]).copy())
        at += flat.nbytes
    return document, arrays


def write(path, document, arrays):
    """A file of these, with a right checksum."""
    document = document | {"arrays": [{"dtype": a.dtype.name, "shape": list(a.shape)} for a in arrays]}
    write_raw(path, json.dumps(document).encode(), b"".join(array.tobytes() for array in arrays))


def write_raw(path, text, content, packed=True):
    """A file of this text and content, with a right checksum, whatever they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        archive.writestr(_container.MODEL, text)
        archive.writestr(_container.ARRAYS, content)
        archive.writestr(_container.CHECKSUM, _container._checksum(text, content))
