"""Headers of C, compiled and called from Python."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from planewise import LargeScaleMCMClassifier, MCMClassifier, MCMClassifierCV

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
COMPILERS = [each for each in ("gcc", "clang") if shutil.which(each)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler (gcc or clang) is at hand")

# Rows in, answers out: exported functions around the header's static ones.
CLASSES = """
void predict_rows(const float *x, long n, int *label, float *probability)
{{
    long i;
    for (i = 0; i < n; ++i) {{
        label[i] = {name}_predict(x + i * {n_features});
        {proba}
    }}
}}
"""
NUMBERS = """
void predict_rows(const float *x, long n, float *number)
{{
    long i;
    for (i = 0; i < n; ++i) number[i] = {name}_predict(x + i * {n_features});
}}
"""


def wrapper(header, name, n_features, n_classes):
    """A source file that includes the header and answers many rows."""
    proto = "void predict_rows(const float *x, long n, {});\n"
    if n_classes is None:
        return proto.format("float *number") + NUMBERS.format(name=name, n_features=n_features)
    proba = f"{name}_predict_proba(x + i * {n_features}, probability + i * {n_classes});"
    if f"{name}_predict_proba" not in header:
        proba = "(void)probability;"
    return proto.format("int *label, float *probability") + CLASSES.format(
        name=name, n_features=n_features, proba=proba
    )


def compile_with(compiler, source, out, *flags):
    done = subprocess.run(
        [compiler, *STRICT, *flags, str(source), "-o", str(out), "-lm"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def c_answers(header, rows, n_classes, *, name="model", compiler=None):
    """(class numbers, probabilities), or the numbers of a regressor, by the compiled header."""
    rows = np.ascontiguousarray(rows, np.float32)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "model.h").write_text(header)
        body = wrapper(header, name, rows.shape[1], n_classes)
        (place / "rows.c").write_text('#include "model.h"\n' + body)
        compile_with(
            compiler or COMPILERS[0], place / "rows.c", place / "rows.so", "-std=c99", "-O1", "-shared", "-fPIC"
        )
        run = ctypes.CDLL(str(place / "rows.so")).predict_rows
        x, n = rows.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(len(rows))
        if n_classes is None:
            number = np.empty(len(rows), np.float32)
            run(x, n, number.ctypes.data_as(ctypes.c_void_p))
            return number
        label = np.empty(len(rows), np.int32)
        probability = np.full((len(rows), n_classes), np.nan, np.float32)
        run(x, n, label.ctypes.data_as(ctypes.c_void_p), probability.ctypes.data_as(ctypes.c_void_p))
        return label, probability


def undecided(model, shown):
    """Rows whose best two scores differ by less than float32 can hold; the trees' headers decide even these."""
    if not isinstance(model, (MCMClassifier, MCMClassifierCV, LargeScaleMCMClassifier)):
        return np.zeros(len(shown), dtype=bool)
    score = model.decision_function(shown)
    if score.ndim == 1:
        return np.abs(score) < 1e-5
    top = np.sort(score, axis=1)
    apart = top[:, -1] - top[:, -2]
    return (apart > 0) & (apart < 1e-5)


def assert_same_answers(model, header, shown, given, **how):
    """`shown` are rows for ``predict``, `given` the same for the header: categories as numbers."""
    if not hasattr(model, "classes_"):
        expected = model.predict(shown)
        answers = c_answers(header, given, None, **how)
        np.testing.assert_allclose(answers, expected, rtol=1e-6, atol=1e-5 * np.ptp(expected))
        return
    label, probability = c_answers(header, given, len(model.classes_), **how)
    same = model.classes_[label] == model.predict(shown)
    assert same[~undecided(model, shown)].all()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(probability, model.predict_proba(shown), atol=1e-5)
    else:
        assert np.isnan(probability).all()
