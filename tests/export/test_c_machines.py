"""Minimal complexity machines in C give the answers of predict."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from compiled import COMPILERS, assert_same_answers, c_answers, compile_with, needs_compiler, wrapper
from fitted import GAPPY_MACHINES, MACHINES, fitted_machine, gappy_rows, machine_rows, table, targets
from test_c_trees import GOLDEN, MEANT

from planewise import LargeScaleMCMClassifier, MCMClassifier
from planewise.export import to_c
from planewise.export.c import _machine
from planewise.export.models import KernelMachine
from planewise.machines.columns import Preparation
from planewise.machines.plain import Bumps


@needs_compiler
@pytest.mark.parametrize("which", MACHINES)
def test_the_header_answers_as_predict_does(which):
    model, X = fitted_machine(which)
    rows = machine_rows(X)
    assert_same_answers(model, to_c(model), rows, rows, compiler=COMPILERS[len(which) % len(COMPILERS)])


@needs_compiler
@pytest.mark.parametrize("kind", ["gaps", "categories"])
@pytest.mark.parametrize("which", GAPPY_MACHINES)
def test_the_header_fills_gaps_and_encodes_categories_as_the_machine_does(which, kind):
    model, X = fitted_machine(which, kind)
    header = to_c(model)
    assert_same_answers(model, header, *gappy_rows(model, X), compiler=COMPILERS[len(which) % len(COMPILERS)])
    assert "NaN is a missing value" in header and f"_N_FEATURES {X.shape[1]}\n" in header


@needs_compiler
def test_the_header_of_a_machine_that_was_fitted_without_gaps_takes_none():
    model, _ = fitted_machine("two")
    assert "Missing values and infinities are not allowed" in to_c(model)


@needs_compiler
def test_numbers_that_float_would_spoil_are_kept_in_double():
    X, score = table("numbers")
    X = X + np.float32([0, 4e4, 0, 0, 0])  # far from zero: float32 keeps three digits of what varies
    model = MCMClassifier(probability=True, random_state=0).fit(X, targets("two", score))
    header = to_c(model)
    assert "In double" in header and "In double" not in to_c(model, values="compact")
    assert_same_answers(model, header, machine_rows(X), machine_rows(X))


@needs_compiler
def test_a_machine_without_vectors_and_one_class():
    X, score = table("numbers")
    with pytest.warns(UserWarning, match="No support vector is worth its penalty"):
        bare = MCMClassifier(mu=1e6).fit(X, targets("two", score))
    assert len(bare.support_) == 0
    assert_same_answers(bare, to_c(bare), X, X)
    one = LargeScaleMCMClassifier(random_state=0).fit(X, np.full(len(X), "all"))
    label, probability = c_answers(to_c(one), X, 1)
    assert not label.any() and (probability == 1).all()


@needs_compiler
@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ is at hand")
@pytest.mark.parametrize("which", ["three-duels", "shrunk", "linear", "large-poly"])
def test_the_header_compiles_as_cpp_and_under_sanitizers(which, tmp_path):
    model, _ = fitted_machine(which)
    header = to_c(model)
    (tmp_path / "model.h").write_text(header)
    body = wrapper(header, "model", model.n_features_in_, len(model.classes_))
    (tmp_path / "rows.cpp").write_text('#include "model.h"\n' + body)
    compile_with("g++", tmp_path / "rows.cpp", tmp_path / "rows.o", "-std=c++11", "-c", "-fsanitize=address,undefined")


def golden_machine():
    """Three duels of three classes with two vectors and a conformal factor, in the plain form of all exports."""
    return KernelMachine(
        kind="MCMClassifier",
        kernel="rbf",
        mean=np.array([1.0, -2.0]),
        spread=np.array([2.0, 0.5]),
        tails=(np.array([0.125, 0.0]), np.array([1.0, 2.0])),
        metric=None,
        vectors=np.array([[0.5, 1.0], [-1.0, 0.25]]),
        coefficients=np.array([[1.0, -2.0], [0.5, 0.0], [0.0, 3.0]]),
        intercept=np.array([0.25, -0.5, 1.0]),
        gamma=0.5,
        degree=3,
        coef0=0.0,
        factor=Bumps(np.array([[0.0, 1.0]]), np.array([0.75]), 0.5, 2.0, 0.5),
        classes=np.array(["a", "b", "c"]),
        multi_class="ovo",
        slope=1.5,
        n_features=2,
        feature_names=["width", "height"],
        preparation=Preparation.of_numbers(2),
    )


def test_the_text_of_a_small_machine_is_the_one_kept():
    kept = (GOLDEN / "machine.h").read_text(encoding="utf-8")
    assert _machine(golden_machine(), "golden", compact=True) == kept, MEANT
