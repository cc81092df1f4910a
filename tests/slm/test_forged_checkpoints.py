"""A checkpoint that was forged or damaged is refused by its name, whatever its arrays hold."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tables_in_parts import a_frame, both

from planewise.slm.fitted import Forest

SIZES = [20, 0, 60]


@pytest.fixture(params=["memory", "parts"])
def fit(request, tmp_path):
    """A function that fits from the checkpoint, which holds four rounds of six: three classes, some categories."""
    frame, targets, weight = a_frame(80)
    y = targets["ten"] % 3

    def run(n_estimators=6):
        settings = {"n_estimators": n_estimators, "checkpoint": tmp_path / "fit", "checkpoint_every": 2}
        memory, parts = both("ten", **settings)
        if request.param == "memory":
            return memory.fit(frame, y, weight)
        return parts.fit_parts(frame, y, weight, sizes=SIZES)

    run(4)
    run.path = tmp_path / "fit"
    return run


def forge(path, change, header=None):
    """Write the checkpoint again with some arrays, and entries of its header, changed."""
    with np.load(path) as file:
        arrays = dict(file)
    known = json.loads(arrays.pop("header").tobytes())
    forged = arrays | change(arrays)
    written = json.dumps(known | (header or {})).encode()
    with Path(path).open("wb") as file:
        np.savez(file, header=np.frombuffer(written, np.uint8), **forged)


def at(name, place, value):
    """A change of one entry of an array."""

    def change(arrays):
        out = arrays[name].copy()
        out.flat[place] = value
        return {name: out}

    return change


def without_last_tree(arrays):
    n_trees = len(arrays["node_start"]) - 2
    trials = ("losses", "left_out")
    forest = Forest.from_arrays(**{name: each for name, each in arrays.items() if name not in trials}, n_outputs=3)
    return forest.part(0, n_trees).arrays()


def with_unknown_category(arrays):
    """The first plane of one term reads a category that no column has."""
    plane = int(np.flatnonzero(np.diff(arrays["term_start"]) == 1)[0])
    start = (np.arange(len(arrays["set_start"])) > plane).astype(np.int32)
    return {"set_start": start, "set_category": np.array([2**20], np.int32)}


def oblique_plane_of(column):
    """Planes of several terms, whose columns are all this one."""

    def change(arrays):
        return {"term_feature": np.full_like(arrays["term_feature"], column)}

    return change


@pytest.mark.parametrize(
    "change",
    [
        at("children", 0, 10_000),
        at("children", 0, -1),
        at("children", -1, 0),
        at("term_feature", 0, 2**31 - 1),
        at("term_feature", -1, -1),
        at("term_feature", slice(None), 99),
        at("term_coefficient", 0, 0),
        at("term_coefficient", 0, 2**31 - 1),
        at("node_start", 1, 2**31 - 1),
        at("plane_start", 1, -5),
        at("term_start", -1, 2**31 - 1),
        at("set_start", 1, 7),
        without_last_tree,
        with_unknown_category,
        lambda arrays: {"value": np.repeat(arrays["value"], 3, axis=1)},
        lambda arrays: {"value": arrays["value"][:-1]},
        lambda arrays: {"losses": arrays["losses"][:, :-1]},
        lambda arrays: {"losses": arrays["losses"][:-1]},
        lambda arrays: {"losses": arrays["losses"].ravel()},
        lambda arrays: {"left_out": np.zeros((7, 3))},
        lambda arrays: {"left_out": np.zeros((80, 9))},
        lambda arrays: {"left_out": np.zeros((80, 3), np.float32)},
        lambda arrays: {"threshold": arrays["threshold"].astype(complex)},
        lambda arrays: {"children": arrays["children"].astype("U9")},
        lambda arrays: {"children": arrays["children"].astype(float)},
        lambda arrays: {"unknown": np.zeros(3)},
        lambda arrays: {"value": arrays["value"].astype(float)},
        lambda arrays: {"weight": np.ones(len(arrays["value"]))},
        at("value", 0, np.nan),
        at("value", 0, np.inf),
        at("term_weight", 0, np.nan),
    ],
)
def test_every_array_of_a_checkpoint_is_checked(fit, change):
    forge(fit.path, change)
    with pytest.raises(ValueError, match="fit' is not a boosting checkpoint, or is damaged"):
        fit()


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_number_of_outputs_is_checked(fit, n_outputs):
    forge(fit.path, lambda arrays: {}, {"n_outputs": n_outputs})
    with pytest.raises(ValueError, match="fit' is not a boosting checkpoint, or is damaged"):
        fit()


def test_planes_of_one_column_many_times_end_in_an_answer_or_an_error(fit):
    for column in range(4):
        forge(fit.path, oblique_plane_of(column))
        with contextlib.suppress(ValueError):
            fit()


def test_a_checkpoint_that_unpacks_to_more_is_refused_before_it_does(fit):
    with zipfile.ZipFile(fit.path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(fit.path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=r"fit' is not a boosting checkpoint, or is damaged: .* is compressed"):
        fit()


def test_an_array_that_promises_more_than_it_holds_is_refused(fit):
    with zipfile.ZipFile(fit.path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    shape = f"({len(np.load(fit.path)['children'])},)".encode()
    for promised in (b"(9999999999999,)", b"(99999999999999999999999999,)"):
        text = contents["children.npy"].replace(shape, promised)
        text = text.replace(b" " * (len(promised) - len(shape)) + b"\n", b"\n", 1)  # the header keeps its length
        with zipfile.ZipFile(fit.path, "w") as archive:
            for name, content in contents.items():
                archive.writestr(name, text if name == "children.npy" else content)
        with pytest.raises(ValueError, match="fit' is not a boosting checkpoint, or is damaged"):
            fit()


def test_an_untouched_checkpoint_goes_on(fit):
    assert fit().n_iter_ == 6


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_what_is_not_a_file_is_refused_and_never_waited_for(fit):
    fit.path.unlink()
    os.mkfifo(fit.path)
    with pytest.raises(ValueError, match="is not a file, so it cannot hold the checkpoint"):
        fit()
