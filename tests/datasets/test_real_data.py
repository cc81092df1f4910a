"""The real directory, where there is one: every set in it loads and is what the registry says."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from planewise.datasets import list_datasets, load
from planewise.datasets._registry import registry
from planewise.datasets._sources import BUNDLED

BESIDE_THE_REPOSITORY = Path(__file__).resolve().parent / "../../../shared/data"
HOME = Path(os.environ.get("PLANEWISE_DATA") or BESIDE_THE_REPOSITORY)

pytestmark = pytest.mark.skipif(
    not (HOME / "index.csv").is_file(), reason="no data directory (set PLANEWISE_DATA to one)"
)


def listed() -> dict[str, dict[str, str]]:
    with (HOME / "index.csv").open(encoding="utf-8", newline="") as lines:
        return {line["name"]: line for line in csv.DictReader(lines)}


@pytest.mark.parametrize("name", list_datasets())
def test_every_set_has_the_size_and_task_of_the_registry(name):
    if name not in listed():
        pytest.skip(f"{name} is not in the data directory")
    bunch = load(name, as_frame=True, data_home=HOME)
    info = registry()[name]
    assert bunch.data.shape == (info.rows, info.features) == (len(bunch.target), info.features)
    assert bunch.task == info.task == listed()[name]["task"]
    if info.task == "classification":
        assert len(np.unique(bunch.target)) == int(listed()[name]["classes"])


def test_the_registry_has_the_openml_ids_of_the_index():
    for name, line in listed().items():
        assert str(registry()[name].openml_id or "") == line["openml_id"]


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_scikit_learns_copy_is_the_directorys(name):
    bundled, stored = load(name), load(name, data_home=HOME)
    assert bundled.feature_names == stored.feature_names
    assert_allclose(bundled.data, stored.data)
    assert_array_equal(bundled.target, stored.target)


def test_pima_as_in_the_slm_paper_has_392_rows():
    assert load("pima_diabetes", variant="slm", data_home=HOME).data.shape == (392, 8)


def test_ionosphere_as_in_the_slm_paper_has_33_features():
    assert load("ionosphere", variant="slm", data_home=HOME).data.shape == (351, 33)
