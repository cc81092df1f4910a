"""Whatever is done to the arrays of a fitted model, Python gets an answer or an error, and never crashes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris

import planewise as pw
from planewise import SLMBoostClassifier, SLMClassifier, SLMForestRegressor

BATCHES = {
    "trees": ["tree, frame", "forest", "boosting, two classes", "boosting, target statistics, numbers", "feature test"],
    "machines": ["machine, categories", "machine for numbers", "search"],
    "large machines": ["large machine, categories", "large machine, conformal", "conformal kernel"],
    "views": ["views", "views, published"],
    "sums of views": ["sum of views", "table, numbers, record"],
}
SHARE = 23  # one variant in so many; no factor in common with the 27 alterations, so that each is tried on some arrays


@pytest.mark.parametrize("batch", BATCHES)
def test_altered_arrays_never_crash_python(batch):
    script = Path(__file__).parent / "altered_models.py"
    done = subprocess.run(
        [sys.executable, script, f"--share={SHARE}", *BATCHES[batch]],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    tried = done.stdout.splitlines()
    assert done.returncode == 0, f"after {tried[-1:]}: {done.stderr[:2000]}"
    assert len(tried) > 100


def test_arrays_of_trees_cannot_be_replaced_alone():
    model = SLMClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    with pytest.raises(AttributeError, match=r"children of fitted trees cannot be set; with_arrays\(children="):
        model.tree_.children = np.zeros(3, np.int32)
    with pytest.raises(ValueError, match="read-only"):
        model.tree_.children[0] = 9
    with pytest.raises(ValueError, match="WRITEABLE"):
        model.tree_.children.flags.writeable = True


def test_models_learn_from_read_only_and_mapped_arrays(tmp_path):
    X, y = load_iris(return_X_y=True)
    joblib.dump((X, y, np.ones(150)), tmp_path / "data")
    mapped = joblib.load(tmp_path / "data", mmap_mode="r")
    assert not mapped[0].flags.writeable
    for model in (
        SLMBoostClassifier(n_estimators=3, random_state=0),
        SLMForestRegressor(n_estimators=3, random_state=0),
    ):
        plain = pickle.dumps(model.fit(X, y, np.ones(150)).predict(X))
        assert pickle.dumps(model.fit(*mapped).predict(mapped[0])) == plain


def test_models_loaded_with_mapped_arrays_predict_the_same(tmp_path):
    X, y = load_iris(return_X_y=True)
    for model in (SLMClassifier(random_state=0), pw.MCMClassifier(), pw.RECIPClassifier(random_state=0)):
        joblib.dump(model.fit(X, y), tmp_path / "model")
        again = joblib.load(tmp_path / "model", mmap_mode="r")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_pickle_of_damaged_trees_says_what_is_wrong():
    forest = SLMClassifier(random_state=0).fit(*load_iris(return_X_y=True)).tree_
    state = forest.__getstate__()
    damaged = [
        {name: each for name, each in state.items() if name != "value"},
        {name: each for name, each in state.items() if name != "float32"},
        state | {"children": state["children"] + 100},
        state | {"later": np.zeros(3)},
        state | {"value": state["value"].tolist()},
        state | {"node_start": None},
        {},
        [],
        None,
    ]
    for each in damaged:
        made = object.__new__(type(forest))
        with pytest.raises(ValueError, match="pickle of trees"):
            made.__setstate__(each)
