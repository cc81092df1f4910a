"""Every fitted model goes through skops with the published list of types, and with nothing else trusted."""

from __future__ import annotations

import numpy as np
import pytest
import skops.io
from catalogue import CATALOGUE, answers, fitted
from examples_to_fit import CLASSIFIERS, problem, table
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from planewise.store import SKOPS_TRUSTED_TYPES


def types_in(name):
    """Return the types that skops must be told to trust in the file of a model, which must predict the same."""
    model, X = fitted(name)
    file = skops.io.dumps(model)
    loaded = skops.io.loads(file, trusted=SKOPS_TRUSTED_TYPES)
    wanted, got = answers(model, X), answers(loaded, X)
    assert wanted.keys() == got.keys()
    for ask in wanted:
        np.testing.assert_array_equal(np.asarray(got[ask]), np.asarray(wanted[ask]), err_msg=f"{name}: {ask}")
    return set(skops.io.get_untrusted_types(data=file))


def test_every_model_is_read_back_by_the_list_and_the_list_has_no_other_type():
    found = {name: types_in(name) for name in CATALOGUE}
    assert set().union(*found.values()) == set(SKOPS_TRUSTED_TYPES)
    assert sorted(SKOPS_TRUSTED_TYPES) == SKOPS_TRUSTED_TYPES


def test_a_search_that_keeps_its_splitter_is_read_back(tmp_path):
    X, y = problem("MCMClassifierCV")
    model = clone(CLASSIFIERS["MCMClassifierCV"]).set_params(cv=KFold(2)).fit(X, y)
    skops.io.dump(model, tmp_path / "model.skops")
    splitter = "sklearn.model_selection._split.KFold"
    loaded = skops.io.load(tmp_path / "model.skops", trusted=[*SKOPS_TRUSTED_TYPES, splitter])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_without_the_list_skops_refuses_and_names_the_types():
    model, _ = fitted("boosting")
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match=r"planewise\.trees\.arrays\.Forest"):
        skops.io.loads(skops.io.dumps(model))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_pipeline_in_a_file(name, tmp_path):
    X, y = problem(name, table)
    prepare = make_column_transformer((OneHotEncoder(), ["colour"]), remainder=StandardScaler())
    model = make_pipeline(prepare, clone(CLASSIFIERS[name])).fit(X, y)
    skops.io.dump(model, tmp_path / "model.skops")
    loaded = skops.io.load(tmp_path / "model.skops", trusted=SKOPS_TRUSTED_TYPES)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
