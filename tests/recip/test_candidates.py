"""Which views are looked at, and what screening may not lose."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from planewise import RECIPClassifier
from planewise.recip import candidates as _candidates


def loss_by(good):
    """A loss that is small in these views, and smaller the more of them a view holds."""

    def loss(views, rows):
        score = np.array([0.9 - 0.2 * max((len(set(view) & set(best)) for best in good), default=0) for view in views])
        return np.repeat(score[:, None], len(rows), axis=1).astype(np.float32)

    return loss


def candidates(n_features, max_dim, max_candidates, good=()):
    return _candidates.candidate_views(
        range(n_features), max_dim, max_candidates, loss_by(good), np.ones(50), np.random.RandomState(0)
    )


def test_all_singles_pairs_and_triples_where_they_fit():
    views = candidates(7, 3, 6000)
    assert len(views) == len(set(views)) == 7 + 21 + 35
    assert views == sorted(views, key=lambda view: (len(view), view))
    assert len(candidates(100, 2, None)) == 5050


def test_larger_views_grow_from_the_best_pairs():
    views = candidates(40, 3, 1000, good=[(3, 17, 29)])
    assert len(views) == 1000 and (3, 17, 29) in views
    assert set(combinations(range(40), 2)) <= set(views)


def test_without_a_limit_larger_views_are_as_many_as_smaller_ones():
    assert len(candidates(60, 3, None)) == 2 * (60 + math.comb(60, 2))


def test_too_many_pairs_are_screened():
    views = candidates(50, 2, 300, good=[(10, 40)])
    assert len(views) == 300 and (10, 40) in views and (0,) in views
    assert len(candidates(50, 1, 10)) == 10


def test_an_exclusive_or_survives_screening():
    random = np.random.default_rng(0)
    X = random.uniform(size=(1500, 40))
    y = (X[:, 7] > 0.5) ^ (X[:, 31] > 0.5)  # neither feature says anything alone
    model = RECIPClassifier(max_candidates=100, random_state=0).fit(X, y)
    assert model.n_candidates_ == 100 and model.projections_ == [(7, 31)]


def test_rows_of_no_weight_are_not_screened_on():
    rows = _candidates.some_rows(np.array([0.0, 1.0, 0.0, 2.0]), 3, np.random.RandomState(0))
    assert rows.tolist() == [1, 3]
