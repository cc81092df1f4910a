"""Trees, forests and boosting in C give the answers of predict."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from compiled import COMPILERS, assert_same_answers, c_answers, compile_with, needs_compiler, wrapper
from fitted import KINDS, TREES, fitted_tree, near_a_plane, table, targets, trial_rows

from planewise import (
    AdditiveClassifier,
    SLMBoostClassifier,
    SLMClassifier,
    SLMForestClassifier,
    SLMRegressor,
)
from planewise.export import to_c
from planewise.export.c import _trees
from planewise.export.models import TreeEnsemble
from planewise.trees import Forest

GOLDEN = Path(__file__).parent / "golden"
MEANT = "the text of an export has changed; if that is meant, run keep_golden.py"


@needs_compiler
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", TREES)
def test_the_header_answers_as_predict_does(which, kind):
    model, X = fitted_tree(which, kind)
    shown, given = trial_rows(model, X)
    assert_same_answers(model, to_c(model), shown, given, compiler=COMPILERS[len(which) % len(COMPILERS)])


@needs_compiler
@pytest.mark.parametrize("which", ["tree-three", "forest-two", "forest-hard", "boost-three", "boost-numbers"])
def test_compact_values_stay_within_the_stated_bound(which):
    model, X = fitted_tree(which, "gaps")
    shown, given = trial_rows(model, X)
    exact, header = to_c(model), to_c(model, values="compact")
    assert _table_bytes(header) < _table_bytes(exact)
    bound = float(header.split("can change a raw score by ")[1].split(" at most")[0])
    far = ~near_a_plane(model, given, 1e-5)  # thresholds are rounded by less
    assert far.mean() > 0.5
    shown, given = shown[far], given[far]
    if not hasattr(model, "classes_"):
        apart = np.abs(c_answers(header, given, None) - model.predict(shown))
        assert 0 < apart.max() <= bound * 1.1 + 1e-4
        return
    label, probability = c_answers(header, given, len(model.classes_))
    sure = model.predict_proba(shown)
    assert np.abs(probability - sure).max() <= bound * 1.1 + 1e-6
    top = np.sort(sure, axis=1)
    decided = top[:, -1] - top[:, -2] > 2.2 * bound + 1e-6
    assert decided.mean() > 0.9
    np.testing.assert_array_equal(model.classes_[label][decided], model.predict(shown)[decided])


def _table_bytes(header):
    return int(header.split("Tables: ")[1].split()[0])


def with_same_value(tree, value):
    """The tree with this value in every node."""
    return tree.with_arrays(value=np.tile(value, (tree.n_nodes, 1)))


@needs_compiler
def test_a_tree_decides_as_predict_does_where_rounding_would_make_a_tie():
    X, score = table("numbers")
    model = SLMClassifier(random_state=0).fit(X, targets("three", score))
    third = 1 / 3
    model.tree_ = with_same_value(model.tree_, [third, third, np.nextafter(third, 1)])
    for values in ("exact", "compact"):
        label, _ = c_answers(to_c(model, values=values), X, 3)
        np.testing.assert_array_equal(label, 2)
    two = SLMClassifier(random_state=0).fit(X, targets("two", score))
    two.tree_ = with_same_value(two.tree_, [0.5, np.nextafter(0.5, 1)])
    for values in ("exact", "compact"):
        label, _ = c_answers(to_c(two, values=values), X, 2)
        np.testing.assert_array_equal(label, 1)


@needs_compiler
def test_trees_of_a_warm_start_on_other_rows_keep_their_own_weights():
    X, score = table("numbers")
    model = SLMBoostClassifier(n_estimators=4, warm_start=True, random_state=0).fit(X, targets("two", score))
    other = X * np.float32([3.7, 1, 0.1, 2.2, 1])
    model.set_params(n_estimators=8).fit(other, targets("two", score))
    header = to_c(model)
    assert "_term_weight" in header and "_scale" not in header
    assert_same_answers(model, header, other, other)


@needs_compiler
def test_wide_tables_long_planes_and_many_leaves_fit_their_wider_fields():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9000, 60)).astype(np.float32)
    y = X[:, 7] + X[:, 59] * X[:, 40] + rng.normal(size=9000)
    model = SLMRegressor(
        subspace_size=30, max_planes=1, noise_margin=0, min_samples_leaf=1, n_projections=6, random_state=0
    ).fit(X, y)
    assert np.diff(model.tree_.term_start).max() > 15
    header = to_c(model)
    assert "at += 3 * code" in header  # the root's entries reach farther than two bytes
    assert_same_answers(model, header, X, X)


@needs_compiler
@pytest.mark.parametrize("make", [SLMClassifier, SLMForestClassifier, SLMBoostClassifier])
def test_one_class_and_no_plane(make):
    X, _ = table("numbers")
    one = make(random_state=0).fit(X, np.full(len(X), 7))
    assert_same_answers(one, to_c(one), X, X)
    rng = np.random.default_rng(0)
    bare = make(max_depth=1, min_samples_leaf=len(X), random_state=0).fit(X, rng.integers(0, 3, len(X)))
    assert_same_answers(bare, to_c(bare), X, X)


@needs_compiler
def test_a_sum_of_views_of_one_class():
    X, _ = table("numbers")
    one = AdditiveClassifier(random_state=0).fit(X, np.full(len(X), 7))
    assert_same_answers(one, to_c(one), X, X)


@needs_compiler
@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ is at hand")
@pytest.mark.parametrize("which", ["tree-three", "forest-two", "boost-three"])
def test_the_header_compiles_as_cpp(which, tmp_path):
    model, _ = fitted_tree(which, "categories")
    (tmp_path / "model.h").write_text(to_c(model))
    body = wrapper(to_c(model), "model", model.n_features_in_, len(model.classes_))
    (tmp_path / "rows.cpp").write_text('#include "model.h"\n' + body)
    compile_with("g++", tmp_path / "rows.cpp", tmp_path / "rows.o", "-std=c++11", "-c")


@needs_compiler
def test_no_address_and_no_undefined_behaviour_under_sanitizers(tmp_path):
    """Headers with every kind of field, in one program that reads rows and prints classes."""
    source, runs = ["#include <stdio.h>"], []
    models = [fitted_tree(which, kind) for which, kind in [("tree-three", "categories"), ("boost-three", "gaps")]]
    for k, (model, X) in enumerate(models):
        shown, given = trial_rows(model, X)
        (tmp_path / f"m{k}.h").write_text(to_c(model, name=f"m{k}"))
        given.tofile(tmp_path / f"rows{k}")
        source.append(f'#include "m{k}.h"')
        runs.append(
            f'    f = fopen("rows{k}", "rb");\n    if (!f) return 1;\n'
            f"    while (fread(x, sizeof(float), {given.shape[1]}, f) == {given.shape[1]}) {{\n"
            f'        m{k}_predict_proba(x, p);\n        printf("%d\\n", m{k}_predict(x));\n    }}\n    fclose(f);\n'
        )
        models[k] = model, shown
    source.append("int main(void)\n{\n    FILE *f;\n    float x[16], p[3];\n" + "".join(runs) + "    return 0;\n}\n")
    (tmp_path / "main.c").write_text("\n".join(source))
    flags = ["-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    compile_with(COMPILERS[0], tmp_path / "main.c", tmp_path / "main", *flags)
    done = subprocess.run([str(tmp_path / "main")], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = np.concatenate([model.predict(shown) for model, shown in models])
    labels = np.array([int(line) for line in done.stdout.split()])
    np.testing.assert_array_equal(models[0][0].classes_[labels], expected)


def golden_tree():
    """A model that no later change of the search alters: its planes are written here."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, np.float32)
    model = SLMClassifier(random_state=0).fit(X, np.array(["out", "in", "in", "out"] * 5))
    model.tree_ = Forest.from_arrays(
        plane_start=np.int32([0, 2, 2, 2, 2]),
        child_start=np.int32([0, 4, 5, 6, 7]),
        children=np.int32([1, 2, 0, 3, 1, 2, 3]),
        n_samples=np.int64([20, 5, 10, 5]),
        weight=np.float64([20, 5, 10, 5]),
        impurity=np.zeros(4),
        gain=np.zeros(4),
        value=np.array([[0.5, 0.5], [0.25, 0.75], [0.875, 0.125], [0.25, 0.75]]),
        term_start=np.int32([0, 2, 3]),
        threshold=np.float32([0.5, -1.25]),
        missing_right=np.uint8([1, 0]),
        plane_gain=np.float64([1, 1]),
        term_feature=np.int32([0, 1, 1]),
        term_coefficient=np.int32([1, 2, -3]),
        term_weight=np.float32([0.5, 3, -4.5]),
        set_start=np.int32([0, 0, 0]),
        set_category=np.int32([]),
    )
    return model


def test_the_text_of_a_small_tree_is_the_one_kept():
    header = to_c(golden_tree(), name="golden")
    assert header == (GOLDEN / "tree.h").read_text(encoding="utf-8"), MEANT


@needs_compiler
@pytest.mark.parametrize("values", ["exact", "compact"])
def test_thresholds_that_many_planes_share_are_kept_once(values):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (400, 8)).astype(np.float32)
    y = (X @ rng.normal(size=8) + rng.normal(size=400) > 0).astype(int)
    model = SLMForestClassifier(n_estimators=15, subspace_size=1, random_state=0).fit(X, y)
    header = to_c(model, values=values)
    assert "float model_thresholds[" in header and "_read_float" not in header
    label, _ = c_answers(header, X, 2)
    sure = np.abs(model.predict_proba(X)[:, 1] - 0.5) > 1e-4
    np.testing.assert_array_equal(label[sure], model.predict(X)[sure])


@needs_compiler
def test_many_columns_and_categories_fit_their_wider_fields():
    rng = np.random.default_rng(6)
    X = np.zeros((3000, 300), np.float32)
    X[:, 280] = rng.integers(0, 2500, 3000)  # a set of more than 255 bytes, on a column beyond the 255th
    X[:, 3] = rng.normal(size=3000)
    y = (X[:, 280] >= 1250) ^ (X[:, 3] > 1)
    options = {"categorical_features": [280], "max_depth": 3, "noise_margin": 0, "min_samples_leaf": 1}
    model = SLMClassifier(**options, random_state=0).fit(X, y)
    assert len(model.tree_.set_category) > 0
    given = X.copy()
    given[:, 280] = np.searchsorted(model.categories_[280], X[:, 280])
    assert_same_answers(model, to_c(model), X, given)


def golden_forest():
    """Two trees in the plain form of all exports: an oblique plane, a set of categories, an empty cell."""
    forest = Forest.from_arrays(
        node_start=np.int32([0, 3, 6]),
        plane_start=np.int32([0, 1, 1, 1, 2, 2, 2]),
        child_start=np.int32([0, 2, 3, 4, 6, 7, 8]),
        children=np.int32([1, 2, 1, 2, 1, 2, 1, 2]),
        n_samples=np.int64([9, 4, 5, 9, 2, 7]),
        value=np.float32([[0], [-0.5], [0.25], [0], [0.125], [-1]]),
        term_start=np.int32([0, 2, 3]),
        threshold=np.float32([1.5, 0.5]),
        missing_right=np.uint8([0, 1]),
        plane_gain=np.float64([1, 1]),
        term_feature=np.int32([0, 2, 1]),
        term_coefficient=np.int32([1, -2, 1]),
        term_weight=np.float32([0.5, -3, 1]),
        set_start=np.int32([0, 0, 2]),
        set_category=np.int32([0, 9]),
    )
    words = np.array(list("abcdefghij"), object)
    return TreeEnsemble(
        kind="SLMBoostRegressor",
        forest=forest,
        base=np.array([2.0]),
        divisor=1,
        link="exp",
        classes=None,
        n_features=3,
        feature_names=["length", "colour", "depth */ of the hole"],
        categories={1: words},
    )


@pytest.mark.parametrize("compact", [False, True])
def test_the_text_of_a_small_forest_is_the_one_kept(compact):
    kept = GOLDEN / ("forest_compact.h" if compact else "forest.h")
    assert _trees(golden_forest(), "golden", compact) == kept.read_text(encoding="utf-8"), MEANT


@needs_compiler
def test_the_kept_forest_answers_as_it_reads():
    rows = np.float32([[9, 0, 1], [9, 9, 0], [0, 5, 0], [np.nan, np.nan, 0], [0, 77, -1]])
    scores = 2 + np.array([0.25 if w >= 1.5 else -0.5 for w in [1.5, 4.5, 0, np.nan, 3]])
    scores += [-1, -1, 0.125, -1, 0.125]
    answers = c_answers((GOLDEN / "forest.h").read_text(), rows, None, name="golden")
    np.testing.assert_allclose(answers, np.exp(scores), rtol=1e-6)


@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="no arm-none-eabi-gcc is at hand")
@pytest.mark.parametrize("processor", ["cortex-m0", "cortex-m4"])
def test_the_header_compiles_for_a_microcontroller(processor, tmp_path):
    for name in ("forest.h", "forest_compact.h", "tree.h"):
        kind = "int" if name == "tree.h" else "float"
        shutil.copy(GOLDEN / name, tmp_path / "model.h")
        (tmp_path / "use.c").write_text(
            f'#include "model.h"\n{kind} use(const float *x);\n'
            f"{kind} use(const float *x)\n{{\n    return golden_predict(x);\n}}\n"
        )
        flags = ["-std=c99", "-Os", f"-mcpu={processor}", "-mthumb", "-c"]
        compile_with("arm-none-eabi-gcc", tmp_path / "use.c", tmp_path / "use.o", *flags)
