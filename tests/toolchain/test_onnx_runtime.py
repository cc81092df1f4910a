"""Exported models in ONNX Runtime. ``tests/export/test_onnx.py`` has the hard cases: gaps, categories, ties."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from examples_to_fit import CLASSIFIERS, REGRESSORS, problem
from sklearn.base import clone

from planewise.export import to_onnx

MODELS = CLASSIFIERS | REGRESSORS


@pytest.mark.parametrize("name", [name for name in MODELS if "RECIP" not in name])
def test_a_file_answers_as_the_model_does(name, tmp_path):
    X, y = problem(name)
    X = X.astype(np.float32)
    model = clone(MODELS[name]).fit(X, y)
    (tmp_path / "model.onnx").write_bytes(to_onnx(model).SerializeToString())
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    answer = session.run(None, {"X": X})[0]
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(answer, model.predict(X))
    else:
        np.testing.assert_allclose(answer[:, 0], model.predict(X), rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in MODELS if "RECIP" in name])
def test_models_that_compare_with_kept_rows_are_refused_by_name(name):
    X, y = problem(name)
    with pytest.raises((TypeError, ValueError), match=name):
        to_onnx(clone(MODELS[name]).fit(X, y))
