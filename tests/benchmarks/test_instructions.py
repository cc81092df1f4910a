"""`make bench`: what it counts, and what it lets pass."""

from __future__ import annotations

import json

import pytest

import planewise
from benchmarks import instructions

DUMP = """\
positions: line
events: Ir

ob=(1) /lib/_core.so
fl=(1) grow.cpp
fn=(1) grow
3 100
+2 20
cob=(2) /lib/libc.so
cfn=(2) memcpy
calls=4 10
* 5000
-1 3
*

fn=(3) choose
7 1

ob=(2)
fn=(2)
9 5000

ob=(1)
fn=(1)
4 7
"""


def test_instructions_of_one_object_without_what_it_calls():
    assert instructions.instructions_of(DUMP, "/lib/_core.so") == 100 + 20 + 3 + 1 + 7
    assert instructions.instructions_of(DUMP, "/lib/libc.so") == 5000


def test_lines_of_planewise_are_counted_and_no_others():
    assert instructions.lines_of(lambda: sorted([3, 1, 2], key=lambda value: -value)) == 0
    counts = [instructions.lines_of(lambda: planewise.SLMClassifier(max_depth=1)) for _ in range(3)]
    assert counts[0] >= counts[1] == counts[2] > 0  # the first call also imports


@pytest.mark.parametrize(
    ("instruction_ratio", "line_ratio", "slower"),
    [(1.029, 1.24, []), (1.031, 1, ["instructions"]), (1, 1.26, ["lines"]), (0.5, 0.5, [])],
)
def test_what_became_slower_than_allowed(instruction_ratio, line_ratio, slower, capsys):
    kept = {"fit": {"instructions": 1_000_000, "lines": 1_000}}
    found = {"fit": {"instructions": int(1e6 * instruction_ratio), "lines": int(1e3 * line_ratio)}}
    complaints = instructions.report(found, kept)
    assert [text.split()[2].rstrip(",") for text in complaints] == slower
    assert "fit" in capsys.readouterr().out


def test_every_case_has_a_committed_count():
    kept = json.loads(instructions.KEPT.read_text())["cases"]
    assert list(kept) == list(instructions.cases())
    assert all(count["instructions"] > 0 and count["lines"] > 0 for count in kept.values())
