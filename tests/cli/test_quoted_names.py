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
    done = run("fit", table, "--target", 't"x', "--model", "slm", "--out", "m.planewise", "--show-columns")
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


def test_labels_of_a_review_come_back_beside_names_with_quotes(run, table):
    assert run("fit", table, "--target", 't"x', "--model", "slm", "--out", "m.planewise").exit_code == 0
    lines = Path(table).read_text().splitlines()[1:4]
    reviewed = HEADER.replace("\n", ",review_label,review_row\n") + "".join(
        f"{line},q,{k}\n" for k, line in enumerate(lines)
    )
    Path("reviewed.csv").write_text(reviewed)
    done = run("fit", table, "--target", 't"x', "--model", "slm", "--corrections", "reviewed.csv", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["corrections"]["n_decided"] == 3
