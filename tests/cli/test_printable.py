"""Text of users as it is shown: no pile of marks covers the lines around it."""

from __future__ import annotations

import pytest

from planewise._text import JOINERS, MAX_MARKS, unpiled


@pytest.mark.parametrize("joiner", JOINERS)
def test_invisible_joiners_do_not_let_marks_pile_up(joiner):
    kept = unpiled("a" + ("\u0301" * MAX_MARKS + joiner) * 50)
    assert kept.count("\u0301") == MAX_MARKS


def test_letters_with_marks_and_joiners_stay_as_they_are():
    words = "क्\u200dष नमस्ते Z\u0323\u0301 می\u200cخواهم"
    assert unpiled(words) == words
