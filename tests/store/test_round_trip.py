"""What is loaded is what was saved: predictions to the bit, parameters, attributes, and the file itself."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Mapping

import numpy as np
import pytest
from catalogue import CATALOGUE, answers, fitted, iris, numbers
from pandas.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import planewise as pw


@pytest.fixture(params=CATALOGUE)
def saved(request, tmp_path):
    model, X = fitted(request.param)
    path = tmp_path / "model.planewise"
    pw.save(model, path)
    return model, X, path


def same(a, b):
    """Equal to the bit and in type; strings may have been kept in wider arrays."""
    if isinstance(a, np.ndarray):
        assert a.dtype.kind == b.dtype.kind and a.shape == b.shape
        assert a.dtype == b.dtype or a.dtype.kind == "U"
        if a.dtype.kind in "UO":
            for one, other in zip(a.tolist(), b.tolist(), strict=True):
                assert np.asarray(one).dtype.kind == np.asarray(other).dtype.kind
                same(one, other)
        else:
            assert a.tobytes() == b.tobytes()
    elif isinstance(a, Mapping):
        assert type(a) is type(b) and list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    elif hasattr(a, "__dict__"):
        assert type(a) is type(b)
        assert vars(a).keys() == vars(b).keys()
        for name in vars(a).keys() - CACHED:
            same(vars(a)[name], vars(b)[name])
    else:
        assert a == b or (a != a and b != b)


CACHED = {"_native", "_votes"}


def test_everything_it_says_is_the_same_to_the_bit(saved):
    model, X, path = saved
    same(answers(model, X), answers(pw.load(path), X))


def test_every_attribute_and_parameter_is_there_again(saved):
    model, _, path = saved
    loaded = pw.load(path)
    assert vars(model).keys() == vars(loaded).keys()
    for name, value in vars(model).items():
        same(value, getattr(loaded, name))


def test_saved_again_it_is_the_same_file(saved, tmp_path):
    _, X, path = saved
    loaded = pw.load(path)
    answers(loaded, X)  # what is computed on the way is not kept
    pw.save(loaded, tmp_path / "again.planewise")
    assert (tmp_path / "again.planewise").read_bytes() == path.read_bytes()


def test_a_loaded_model_can_be_cloned(saved):
    model, _, path = saved
    again = clone(pw.load(path))
    assert repr(again.get_params()) == repr(clone(model).get_params())
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(again)


def test_pickles_work_too_and_are_hardly_larger(saved):
    model, X, path = saved
    content = pickle.dumps(model)
    same(answers(model, X), answers(pickle.loads(content), X))
    assert len(zlib.compress(content)) < 2 * path.stat().st_size + 1000  # files are compressed


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name.startswith("sum of views")])
def test_a_loaded_sum_of_views_explains_itself_with_the_same_words_and_rows(name, tmp_path):
    model, X = fitted(name)
    pw.save(model, tmp_path / "m")
    loaded = pw.load(tmp_path / "m")
    for ours, theirs in zip(model.explain(X[:20]), loaded.explain(X[:20]), strict=True):
        assert ours.data() == theirs.data() and ours.sentence() == theirs.sentence()
    same(model.fitted_rows(), loaded.fitted_rows())
    same(model.view_base_, loaded.view_base_)
    assert repr(model.describe().to_text()) == repr(loaded.describe().to_text())
    if len(model._kept.values):
        assert str(model.views_report()) == str(loaded.views_report())


@pytest.mark.parametrize("X_y", [iris, numbers])
def test_boosting_goes_on_from_a_loaded_model_as_from_the_saved_one(X_y, tmp_path):
    X, y = X_y()
    cls = pw.SLMBoostClassifier if X_y is iris else pw.SLMBoostRegressor
    model = cls(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    pw.save(model, tmp_path / "m")
    loaded = pw.load(tmp_path / "m")
    for each in (model, loaded):
        each.set_params(n_estimators=12).fit(X, y)
    same(model.forest_, loaded.forest_)


def test_the_large_machine_goes_on_from_a_loaded_model_as_from_the_saved_one(tmp_path):
    X, y = iris()
    for extra in ({}, {"kernel": "poly"}):
        model = pw.LargeScaleMCMClassifier(n_components=12, max_iter=5, random_state=0, **extra).fit(X, y)
        pw.save(model, tmp_path / "m")
        loaded = pw.load(tmp_path / "m")
        for each in (model, loaded):
            each.partial_fit(X, y)
        same(model.decision_function(X), loaded.decision_function(X))


def test_a_loaded_transformer_gives_the_same_kind_of_table(tmp_path):
    X, y = iris()
    model = pw.DiscriminantFeatureTest(n_features_to_select=2).fit(X, y).set_output(transform="pandas")
    pw.save(model, tmp_path / "m")
    assert_frame_equal(pw.load(tmp_path / "m").transform(X), model.transform(X))
