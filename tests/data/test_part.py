"""Parts of a table: rows gathered from them, and what moves with them."""

from __future__ import annotations

import itertools
import pickle
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from local_parts import LocalParts
from planewise.data.chunks import Part


def parts_of(rows, sizes):
    firsts = np.cumsum([0, *sizes])
    return [
        Part(rows[a:b], rows[a:b, 0].astype(np.float64), np.ones(b - a), int(a)) for a, b in itertools.pairwise(firsts)
    ]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_rows_are_gathered_by_their_numbers(sizes, random):
    rows = np.arange(2 * sum(sizes), dtype=np.float32).reshape(-1, 2)
    numbers = np.array(sorted(random.sample(range(len(rows)), random.randint(0, len(rows)))), dtype=np.intp)
    taken = LocalParts(parts_of(rows, sizes)).gather_rows(numbers)
    assert np.array_equal(taken.rows, rows[numbers])
    assert np.array_equal(taken.target, rows[numbers, 0])
    assert taken.rows.dtype == np.float32 and taken.rows.flags.c_contiguous


def test_a_part_that_moves_starts_without_states():
    part = parts_of(np.ones((4, 2), np.float32), [4])[0]
    part.states["fit"] = object()  # cannot be pickled by value, nor need it be
    moved = pickle.loads(pickle.dumps(part))
    assert moved.states == {} and moved.first == 0
    assert np.array_equal(moved.rows, part.rows) and np.array_equal(moved.weight, part.weight)


def test_the_size_of_a_part_is_that_of_its_arrays():
    assert sys.getsizeof(parts_of(np.zeros((1000, 10), np.float32), [1000])[0]) > 56_000
