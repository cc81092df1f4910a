from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from planewise.data.scaling import Scaling, find_scaling, no_scaling, robust_scaling, scaling_limit


@pytest.fixture
def table():
    return np.random.default_rng(0).lognormal(size=(200, 3)) * [1.0, 1e6, 1e-9]


def test_standard_columns_have_mean_zero_and_spread_one(table):
    z = find_scaling(table, np.ones(200), "standard")(table)
    assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(z.std(axis=0), 1)


def test_arcsinh_compresses_tails_and_keeps_the_order(table):
    plain, compressed = (find_scaling(table, np.ones(200), how)(table) for how in ("standard", "arcsinh"))
    assert_allclose(compressed.std(axis=0), 1)
    assert (compressed.max(axis=0) < plain.max(axis=0)).all()
    assert_array_equal(compressed.argsort(axis=0), plain.argsort(axis=0))


def test_none_leaves_columns_as_they_are(table):
    assert_array_equal(find_scaling(table, np.ones(200), None)(table), table)
    assert no_scaling(3, np.float32).mean.dtype == np.float32


@pytest.mark.parametrize("how", ["standard", "arcsinh"])
def test_a_weight_of_two_is_the_row_twice(table, how):
    weight = np.random.default_rng(1).integers(1, 4, size=200)
    weighted = find_scaling(table, weight.astype(float), how)
    repeated = find_scaling(np.repeat(table, weight, axis=0), np.ones(weight.sum()), how)
    assert_allclose(weighted(table), repeated(table), atol=1e-9)


def test_a_constant_column_is_only_centred():
    X = np.column_stack([np.full(20, 1e9), np.arange(20.0)])
    assert_array_equal(find_scaling(X, np.ones(20), "standard")(X)[:, 0], 0)


def test_columns_of_a_scaling_are_scaled_as_before(table):
    scaling = find_scaling(table, np.ones(200), "arcsinh")
    assert_array_equal(scaling.of_columns([2, 0])(table[:, [2, 0]]), scaling(table)[:, [2, 0]])


def test_the_inverse_gives_the_users_units_again(table):
    scaling = find_scaling(table, np.ones(200), "standard")
    assert_allclose(scaling.inverse(scaling(table)), table)
    assert_array_equal(Scaling(np.zeros(3), np.full(3, 2.0)).inverse(np.ones((1, 3))), [[2, 2, 2]])


def test_a_limit_names_the_words_and_none():
    limit = scaling_limit("arcsinh", "standard")
    assert limit.words == "'arcsinh', 'standard' or None"
    assert limit.allows(None) and limit.allows("standard")
    assert not limit.allows(True) and not limit.allows("rank") and not limit.allows(["standard"])


def test_a_few_wild_values_do_not_inflate_a_robust_spread_and_rare_ones_are_not_far_away():
    rng = np.random.default_rng(0)
    wild, rare = rng.normal(size=5000), np.zeros(5000)
    wild[:2], rare[:10] = 1e6, 1
    table = np.column_stack([wild, rare, np.full(5000, 3.0)]).astype(np.float32)
    standard = robust_scaling(table, np.ones(5000))
    assert_allclose(standard.spread, [1, 0.5, 1], rtol=0.05)
    assert_allclose(standard.inverse(standard(table)), table, rtol=1e-3)


def test_a_robust_scaling_takes_weights_for_repeated_rows():
    rng = np.random.default_rng(0)
    table, weight = rng.standard_t(2, size=(3000, 2)).astype(np.float32), rng.integers(1, 4, size=3000)
    weighted = robust_scaling(table, weight.astype(float))
    repeated = robust_scaling(np.repeat(table, weight, axis=0), np.ones(weight.sum()))
    assert_allclose(weighted.spread, repeated.spread, rtol=1e-5)
    assert_allclose(weighted.mean, repeated.mean, atol=1e-6)
