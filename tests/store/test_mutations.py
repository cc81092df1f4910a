"""A few thousand damaged files: each is refused by our error, or is a model that answers. See tools/fuzz."""

from __future__ import annotations

import pytest
from catalogue import fitted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import try_mutation

import planewise as pw

SEVERAL = [
    *("tree, frame", "forest, frame", "boosting", "boosting, monotone", "feature test, names", "machine, conformal"),
    *("machine for numbers", "search", "large machine, conformal", "large machine, poly", "conformal kernel"),
    *("table, boosting", "table, machine", "views"),
    *("sum of views", "sum of views for numbers, frame"),
]


@pytest.mark.parametrize("name", SEVERAL)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**40))
def test_a_damaged_file_never_does_harm(name, seed, tmp_path):
    path = tmp_path / "whole"
    if not path.exists():
        pw.save(fitted(name)[0], path)
    assert try_mutation(path, seed, tmp_path / "damaged")
