"""Infinities, and columns that float cannot resolve, in C and ONNX: the answers are those of predict."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from compiled import COMPILERS, c_answers, compile_with, needs_compiler
from numpy.testing import assert_allclose, assert_array_equal

from planewise import SLMBoostClassifier, SLMBoostRegressor, SLMClassifier, SLMForestClassifier
from planewise.export import to_c, to_onnx
from planewise.export.models import input_lines
from planewise.table import TableModel

MODELS = {
    "tree": SLMClassifier(random_state=0),
    "forest": SLMForestClassifier(n_estimators=5, random_state=0),
    "boosting": SLMBoostClassifier(n_estimators=10, random_state=0),
}


def with_infinities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] - X[:, 2] > 0).astype(int)
    for column, value in ((0, np.inf), (1, -np.inf), (2, np.inf), (2, -np.inf), (3, np.nan)):
        X[rng.choice(400, 33, replace=False), column] = value
    return X, y


def with_times():
    """Seconds since 1970 over ten minutes, whole numbers beyond 2^52, an ordinary column, and a category."""
    rng = np.random.default_rng(0)
    minute, far = rng.integers(0, 600, 600), rng.integers(0, 100, 600)
    X = np.column_stack([1.7e9 + minute, rng.normal(size=600), 2.0**52 + far, rng.integers(0, 3, 600)])
    X[::50, 0] = np.nan
    return X, ((minute // 60 + far // 50) % 2).astype(int)


def onnx_answers(model, rows):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": rows})


def c_answers_of_doubles(header, rows, folder):
    """The numbers of a regressor or the labels of a classifier, whose header takes rows of double."""
    (folder / "model.h").write_text(header)
    kind = "int" if "int model_predict" in header else "float"
    (folder / "rows.c").write_text(
        '#include "model.h"\n'
        f"void predict_rows(const double *x, long n, {kind} *out);\n"
        f"void predict_rows(const double *x, long n, {kind} *out)\n"
        "{ long i; for (i = 0; i < n; ++i) out[i] = model_predict(x + i * MODEL_N_FEATURES); }\n"
    )
    flags = ["-Wno-unused-function", "-std=c99", "-O1", "-shared", "-fPIC"]
    compile_with(COMPILERS[0], folder / "rows.c", folder / "rows.so", *flags)
    out = np.empty(len(rows), np.int32 if kind == "int" else np.float32)
    rows = np.ascontiguousarray(rows, np.float64)
    run = ctypes.CDLL(str(folder / "rows.so")).predict_rows
    run(rows.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(len(rows)), out.ctypes.data_as(ctypes.c_void_p))
    return out


@needs_compiler
@pytest.mark.parametrize("values", ["exact", "compact"])
@pytest.mark.parametrize("name", MODELS)
def test_c_takes_infinities_as_predict_does(name, values):
    X, y = with_infinities()
    model = MODELS[name].fit(X, y)
    label, probability = c_answers(to_c(model, values=values), X, 2)
    assert_array_equal(label, model.predict(X))
    assert_allclose(probability, model.predict_proba(X), atol=1e-5 if values == "exact" else 1e-2)


@pytest.mark.parametrize("name", MODELS)
def test_onnx_takes_infinities_as_predict_does(name):
    X, y = with_infinities()
    model = MODELS[name].fit(X, y)
    assert_allclose(onnx_answers(model, X)[1], model.predict_proba(X), atol=1e-5)


@needs_compiler
@pytest.mark.parametrize("name", MODELS)
def test_c_reads_doubles_where_a_column_has_an_origin(name, tmp_path):
    X, y = with_times()
    model = MODELS[name].set_params(categorical_features=[3]).fit(X, y)
    MODELS[name].set_params(categorical_features=None)
    assert model.feature_origins_ == {0: 1.7e9, 2: 2.0**52}
    header = to_c(model)
    assert "model_predict(const double *x)" in header
    assert_array_equal(c_answers_of_doubles(header, X, tmp_path), model.predict(X))


@needs_compiler
def test_c_subtracts_origins_before_target_statistics(tmp_path):
    X, y = with_times()
    rng = np.random.default_rng(1)
    X[:, 3] = rng.integers(0, 40, len(X))
    target = y + X[:, 3] % 7
    model = SLMBoostRegressor(n_estimators=10, categorical_features=[3], target_statistics=2, random_state=0).fit(
        X, target
    )
    assert model.target_statistics_
    assert_allclose(c_answers_of_doubles(to_c(model), X, tmp_path), model.predict(X), rtol=1e-5)
    assert_allclose(onnx_answers(model, X)[0][:, 0], model.predict(X), rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_onnx_reads_doubles_where_a_column_has_an_origin(name):
    X, y = with_times()
    model = MODELS[name].fit(X, y)
    assert_array_equal(onnx_answers(model, X)[0], model.predict(X))


def test_the_type_of_the_input_is_told():
    X, y = with_times()
    assert "values are double, not float" in input_lines(SLMClassifier(random_state=0).fit(X, y), "C")
    assert "values are double, not float" not in input_lines(SLMClassifier(random_state=0).fit(X[:, 1:2], y), "C")


def test_a_table_of_times_is_exported():
    pl = pytest.importorskip("polars")
    second = np.arange(600) % 300
    table = pl.DataFrame({"time": 1_700_000_000 + second, "sort": second // 60 % 2})
    model = TableModel("tree", random_state=0).fit(table, target="sort")
    assert model.estimator_.feature_origins_
    header = to_c(model)
    assert "double x[MODEL_N_FEATURES]" in header
