"""Every kernel that a machine can have is exported, and none is taken for another."""

from __future__ import annotations

import numpy as np
import pytest
from compiled import c_answers, needs_compiler
from fitted import machine_rows, table, targets

from planewise import LargeScaleMCMClassifier, MCMClassifier
from planewise.export import to_c, to_onnx
from planewise.machines.kernels import KERNEL_NAMES


def machines(kernel):
    """A fitted machine of each kind with this kernel, and rows to try it on."""
    X, score = table("numbers")
    y, given = targets("three", score), {"kernel": kernel, "gamma": 0.05, "coef0": 0.5, "random_state": 0}
    for model in (MCMClassifier(**given), LargeScaleMCMClassifier(**given, n_components=12, max_iter=5)):
        yield model.fit(X, y), machine_rows(X)


def decided(model, rows):
    """Rows whose best two scores differ by more than rounding: on the margins of two machines they are equal."""
    top = np.sort(model.decision_function(rows), axis=1)
    sure = top[:, -1] - top[:, -2] > 1e-5
    assert sure.mean() > 0.9
    return sure


@needs_compiler
@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_the_header_gives_the_classes_of_predict(kernel):
    for model, rows in machines(kernel):
        label, _ = c_answers(to_c(model), rows, len(model.classes_))
        sure = decided(model, rows)
        np.testing.assert_array_equal(model.classes_[label][sure], model.predict(rows)[sure])


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_onnx_gives_the_classes_of_predict(kernel):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    for model, rows in machines(kernel):
        made = to_onnx(model).SerializeToString()
        session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
        label, sure = session.run(None, {"X": rows})[0], decided(model, rows)
        np.testing.assert_array_equal(label[sure], model.predict(rows)[sure])
