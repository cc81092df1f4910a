"""Names with quotes in them are the same names in every command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

HEADER = '"a""b",c,"t""x"\n'


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    lines = [f"{x:.4f},{y:.4f},{'p' if x > y else 'q'}\n" for x, y in rng.random((60, 2))]
    Path("t.csv").write_text(HEADER + "".join(lines))
    return "t.csv"


def test_doubled_quotes_in_a_header_are_single_ones_in_every_command(run, table):
    done = run("fit", table, "--target", 't"x', "--model", "tree", "--out", "m.planewise", "--show-columns")
    assert done.exit_code == 0, done.stderr
    assert 'a"b' in done.stdout and 'a""b' not in done.stdout
    about = json.loads(run("describe", "m.planewise", "--json").stdout)
    assert about["target"] == 't"x' and [each["name"] for each in about["columns"]] == ['a"b', "c"]
    assert 'a"b' in run("explain", "m.planewise", table, "--row", 0).stdout
    assert 'a"b' in run("export", "m.planewise", "--to", "text").stdout
    printed = run("predict", "m.planewise", table, "--keep", 'a"b').stdout
    assert printed.startswith('"a""b",prediction\n')
    Path("kept.csv").write_text(printed)
    again = run("predict", "m.planewise", "kept.csv")
    assert "no column 'c'" in again.stderr  # but 'a"b' it has
