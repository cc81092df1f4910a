"""docs/published.md: what it names is there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import planewise
from planewise import published

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "published.md").read_text(encoding="utf-8")
PARAMETERS = sorted(set(re.findall(r"`(\w+)\((\w+)=\)`", PAGE)))
PLACES = sorted(set(re.findall(r"`([\w/.]+\.(?:py|hpp|cpp)): (\w+)`", PAGE)))


def test_the_page_names_parameters_and_places_in_the_code():
    assert len(PARAMETERS) > 20 and len(PLACES) > 15


@pytest.mark.parametrize(("estimator", "parameter"), PARAMETERS)
def test_every_parameter_is_one_of_its_estimator(estimator, parameter):
    assert parameter in inspect.signature(getattr(planewise, estimator)).parameters


@pytest.mark.parametrize(("file", "name"), PLACES)
def test_every_place_in_the_code_is_there(file, name):
    defined = rf"^\s*(def|class) {name}\b"
    if not file.endswith(".py"):  # a class, or a function of any type: nothing before it calls or returns it
        defined = rf"^\s*(class|struct) {name}\b|^(?!.*\b(return|=))[\w:<>&*~, ]*[\s*&:]{name}\("
    assert re.search(defined, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"attribute `(\w+)`", PAGE))))
def test_every_attribute_is_documented(name):
    assert any(re.search(rf"\b{name}\b", getattr(planewise, estimator).__doc__) for estimator, _ in PARAMETERS)


def test_the_page_has_every_function_and_no_other():
    table = PAGE.split("| function |")[1].split("\n\n")[0]
    named = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert named == set(published.__all__)


def small_table(regression):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=60)
    return X, score if regression else (score > 0.8).astype(int)


SMALL = {  # so that a test takes little time
    "mcm_search": {"C": (0.1, 1.0), "gamma": (0.1, 0.5)},
    "mcm_conformal_search": {"C": (0.1, 1.0), "gamma": (0.1, 0.5), "gamma_c": (2.0, 10.0)},
    "recip_known": {"projections": [(0, 1), (1, 2)]},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", published.__all__)
def test_every_function_returns_an_estimator_that_is_not_fitted_and_can_be(name):
    model = getattr(published, name)(**SMALL.get(name, {}))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert is_classifier(model) != is_regressor(model)
    X, y = small_table(is_regressor(model))
    assert model.fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("name", published.__all__)
def test_every_function_documents_its_symbols(name):
    function = getattr(published, name)
    text = inspect.getdoc(function)
    assert function.__name__ == name and "Returns\n-------" in text
    for symbol in inspect.signature(function).parameters:
        assert re.search(rf"^{symbol}( :|$)", text, re.MULTILINE)
