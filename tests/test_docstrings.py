"""Docstrings of estimators against their signatures: what is documented is what there is."""

from __future__ import annotations

import ast
import inspect
import re

import pytest
from sklearn.base import BaseEstimator

import planewise
from planewise.table import TableModel

PUBLIC = [getattr(planewise, name) for name in planewise.__all__]
ESTIMATORS = [each for each in PUBLIC if isinstance(each, type) and issubclass(each, BaseEstimator)] + [TableModel]


def section(cls, title):
    """The lines of one section of a class docstring."""
    text = inspect.cleandoc(cls.__doc__)
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.S | re.M)
    assert found, f"{cls.__name__} has no section {title}"
    return found.group(1).splitlines()


def documented(cls):
    """What the docstring says of each parameter: its name and type line, in order, and how many lines follow."""
    entries = {}
    for line in section(cls, "Parameters"):
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            for name in names.split(", "):
                entries[name] = kind
    return entries


def default_in(kind):
    return re.search(r"default=(.+)$", kind)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented_and_no_other(cls):
    assert set(documented(cls)) == set(inspect.signature(cls).parameters)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_documented_defaults_are_those_of_the_signature(cls):
    kinds = documented(cls)
    for name, parameter in inspect.signature(cls).parameters.items():
        found = default_in(kinds[name])
        assert found, f"{name} of {cls.__name__} is documented without a default"
        assert ast.literal_eval(found.group(1)) == parameter.default, name


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_parameter_with_limits_is_one_and_its_default_is_allowed(cls):
    parameters = inspect.signature(cls).parameters
    for name, limit in cls.parameter_limits.items():
        assert limit.allows(parameters[name].default), name


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_nothing_is_left_to_be_filled_in(cls):
    assert not re.search(r"^\s*\{\w+\}\s*$|default=<", cls.__doc__, re.M)
