"""A fitted forest read in plain NumPy: where rows end, and what they get."""

from __future__ import annotations

import numpy as np


def right_side(planes, plane, rows):
    """Whether each row lies on the right side of a plane of a tree or forest."""
    first, last = planes.term_start[plane : plane + 2]
    members = planes.set_category[planes.set_start[plane] : planes.set_start[plane + 1]]
    value = np.zeros(len(rows), np.float32)
    for term in range(first, last):
        x = rows[:, planes.term_feature[term]]
        if len(members):
            x = np.where(np.isnan(x), x, np.isin(x, members)).astype(np.float32)
        value = value + planes.term_weight[term] * x if term > first else planes.term_weight[term] * x
    return np.where(np.isnan(value), planes.missing_right[plane] != 0, value >= planes.threshold[plane])


def paths(forest, tree, rows):
    """The nodes each row passes, a list of arrays: every step, the last one twice or more once a row has ended."""
    root, end = forest.node_start[tree : tree + 2]
    steps = [np.full(len(rows), root)]
    while True:
        at = steps[-1]
        following = at.copy()
        for node in np.unique(at):
            here = at == node
            code = np.zeros(here.sum(), int)
            for place, plane in enumerate(range(*forest.plane_start[node : node + 2])):
                code += right_side(forest, plane, rows[here]).astype(int) << place
            following[here] = root + forest.children[forest.child_start[node] + code]
        if (following == at).all():
            return steps
        assert following.max() < end
        steps.append(following)


def ends(forest, tree, rows):
    """The node in which each row (float32, categories as their numbers) ends, counted over the whole forest."""
    return paths(forest, tree, rows)[-1]


def raw_scores(model, rows, n_trees=None):
    """What the first trees say (all of them if not told), with the base score."""
    rows = np.asarray(rows, np.float32)
    score = np.tile(model.base_score_, (len(rows), 1))
    for tree in range(model.forest_.n_trees if n_trees is None else n_trees):
        score[:, tree % score.shape[1]] += model.forest_.value[ends(model.forest_, tree, rows), 0]
    return score


def assert_same_model(one, other):
    """Byte by byte."""
    for name in one.forest_.arrays():
        assert getattr(one.forest_, name).tobytes() == getattr(other.forest_, name).tobytes(), name
    assert one.base_score_.tobytes() == other.base_score_.tobytes()
    assert one.n_iter_ == other.n_iter_
