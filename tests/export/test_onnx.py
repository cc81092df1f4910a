"""ONNX models give the answers of predict, in batches of one and of many."""

from __future__ import annotations

import json

import numpy as np
import pytest
from compiled import undecided
from fitted import (
    GAPPY_MACHINES,
    KINDS,
    MACHINES,
    TREES,
    fitted_machine,
    fitted_tree,
    gappy_rows,
    machine_rows,
    near_a_plane,
    table,
    targets,
    trial_rows,
)

from planewise import (
    AdditiveClassifier,
    LargeScaleMCMClassifier,
    MCMClassifier,
    SLMBoostClassifier,
    SLMClassifier,
    SLMForestClassifier,
)
from planewise.export import to_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def answers(made, rows):
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = np.ascontiguousarray(rows, np.float32)
    many = session.run(None, {"X": rows})
    singly = [session.run(None, {"X": rows[k : k + 1]}) for k in range(0, len(rows), 50)]
    for at, output in enumerate(many):
        alone = np.concatenate([each[at] for each in singly])
        if output.dtype.kind == "f":
            np.testing.assert_allclose(alone, output[::50], rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(alone, output[::50])
    return many


def assert_same_answers(model, made, shown, given, but):
    outputs = answers(made, given)
    if not hasattr(model, "classes_"):
        expected = model.predict(shown).reshape(len(shown), -1)
        np.testing.assert_allclose(outputs[0][~but], expected[~but], rtol=1e-6, atol=1e-6 * np.ptp(expected))
        return
    np.testing.assert_array_equal(outputs[0][~but], model.predict(shown)[~but])
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(outputs[1][~but], model.predict_proba(shown)[~but], atol=1e-5)
    else:
        score = model.decision_function(shown).reshape(len(shown), -1)
        np.testing.assert_allclose(outputs[1], score, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", TREES)
def test_trees_answer_as_predict_does(which, kind):
    model, X = fitted_tree(which, kind)
    shown, given = trial_rows(model, X)
    near = near_a_plane(model, given, 1e-6)
    assert near.mean() < 0.2
    assert_same_answers(model, to_onnx(model), shown, given, near)


@pytest.mark.parametrize("which", MACHINES)
def test_machines_answer_as_predict_does(which):
    model, X = fitted_machine(which)
    rows = machine_rows(X)
    but = undecided(model, rows) if hasattr(model, "classes_") else np.zeros(len(rows), dtype=bool)
    assert_same_answers(model, to_onnx(model), rows, rows, but)


@pytest.mark.parametrize("kind", ["gaps", "categories"])
@pytest.mark.parametrize("which", GAPPY_MACHINES)
def test_machines_fill_gaps_and_encode_categories_as_predict_does(which, kind):
    model, X = fitted_machine(which, kind)
    shown, given = gappy_rows(model, X)
    but = undecided(model, shown) if hasattr(model, "classes_") else np.zeros(len(given), dtype=bool)
    assert_same_answers(model, to_onnx(model), shown, given, but)


@pytest.mark.parametrize("make", [SLMClassifier, SLMForestClassifier, SLMBoostClassifier, LargeScaleMCMClassifier])
def test_one_class_and_no_plane(make):
    X, _ = table("numbers")
    nowhere = np.zeros(len(X), dtype=bool)
    one = make(random_state=0).fit(X, np.full(len(X), "all"))
    assert_same_answers(one, to_onnx(one), X, X, nowhere)
    if make is not LargeScaleMCMClassifier:
        y = np.random.default_rng(0).integers(0, 3, len(X))
        bare = make(max_depth=1, min_samples_leaf=len(X), random_state=0).fit(X, y)
        assert_same_answers(bare, to_onnx(bare), X, X, nowhere)


def test_a_sum_of_views_of_one_class():
    X, _ = table("numbers")
    one = AdditiveClassifier(random_state=0).fit(X, np.full(len(X), "all"))
    assert_same_answers(one, to_onnx(one), X, X, np.zeros(len(X), dtype=bool))


def test_a_machine_without_vectors():
    X, score = table("numbers")
    with pytest.warns(UserWarning, match="No support vector is worth its penalty"):
        bare = MCMClassifier(mu=1e6).fit(X, targets("two", score))
    assert_same_answers(bare, to_onnx(bare), X, X, np.zeros(len(X), dtype=bool))


@pytest.mark.parametrize("labels", [np.array([False, True]), np.array([0.0, 7.0]), np.array([-3, 2**40])])
def test_labels_keep_their_type(labels):
    X, score = table("numbers")
    model = SLMClassifier(random_state=0).fit(X, labels[(score > 0).astype(int)].astype(labels.dtype))
    label = answers(to_onnx(model), X)[0]
    assert label.dtype == labels.dtype
    np.testing.assert_array_equal(label, model.predict(X))


def test_whole_numbers_beyond_64_signed_bits_become_strings():
    X, score = table("numbers")
    model = SLMClassifier(random_state=0).fit(X, np.where(score > 0, np.uint64(2**63 + 5), np.uint64(7)))
    label = answers(to_onnx(model), X)[0]
    np.testing.assert_array_equal(label, [str(each) for each in model.predict(X)])


def test_names_classes_and_categories_are_in_the_metadata(tmp_path):
    model, _ = fitted_tree("tree-three", "categories")
    to_onnx(model, tmp_path / "model.onnx")
    made = onnx.load(tmp_path / "model.onnx")
    about = {prop.key: json.loads(prop.value) for prop in made.metadata_props}
    assert about["feature_names"] == list(model.feature_names_in_)
    assert about["classes"] == model.classes_.tolist()
    assert about["categories"]["colour"] == model.categories_[5].tolist()
