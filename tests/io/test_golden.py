"""Files of every released version of the format are read, and their models say what they said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from catalogue import fitted
from golden_files import GOLDEN, asked

import planewise as pw
from planewise.io._models import OURS
from planewise.io._versions import SCHEMA

FOLDERS = sorted((Path(__file__).parent / "golden").iterdir())
FILES = [(folder, path) for folder in FOLDERS for path in sorted(folder.glob("*.planewise"))]


# Files stay while scikit-learn moves on.
@pytest.mark.filterwarnings("ignore:.*holds transformers that were fitted with scikit-learn")
@pytest.mark.parametrize(("folder", "path"), FILES, ids=lambda each: each.name)
def test_a_golden_file_still_says_what_it_said(folder, path):
    said = json.loads((folder / "answers.json").read_text(encoding="utf-8"))[path.stem]
    X = fitted(GOLDEN[path.stem])[1]
    now = asked(pw.load(path), X)
    assert now.keys() >= said.keys()
    for name, answer in said.items():
        if np.asarray(answer).dtype.kind == "f":
            # Exponentials may differ in the last bit between machines.
            np.testing.assert_allclose(now[name], answer, rtol=1e-6, atol=1e-9, err_msg=name)
        else:
            assert now[name] == answer, name


@pytest.mark.filterwarnings("ignore:.*holds transformers that were fitted with scikit-learn")
def test_this_version_has_golden_files_of_every_estimator():
    newest = [path for folder, path in FILES if folder.name == f"schema-{SCHEMA}"]
    kinds = {type(pw.load(path)).__name__.replace("Regressor", "").replace("Classifier", "") for path in newest}
    expected = [*OURS, "Pipeline", "TransformedTargetRegressor"]
    assert kinds == {name.replace("Regressor", "").replace("Classifier", "") for name in expected}
