"""Use in scripts: JSON, help, and what is printed for programs."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_mistakes import mistake

from planewise.cli.app import COMMANDS

FAMILIES = ["tree", "forest", "boosting", "kernel", "additive", "recip"]


def test_fit_says_first_that_a_model_is_no_better_than_the_mean(run):
    rng = np.random.default_rng(0)
    pl.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200), "Revenue": rng.normal(size=200)}).write_csv(
        "noise.csv"
    )
    done = run("fit", "noise.csv", "--target", "Revenue", "--model", "tree")
    assert "The model is no better than the mean of 'Revenue' on these rows: its RMSE is " in done.stdout
    assert "ridge regression is as good" not in done.stdout
    found = json.loads(run("fit", "noise.csv", "--target", "Revenue", "--model", "tree", "--json").stdout)["constant"]
    assert found["is_as_good"] and found["words"] in done.stdout


def test_h_is_help_everywhere(run):
    names = ["demo", "fit", "predict", "describe", "explain", "export"]
    for name in names:
        short, long = run(name, "-h"), run(name, "--help")
        assert short.exit_code == long.exit_code == 0 and short.stdout == long.stdout
    whole = run("-h").stdout
    assert "Exit codes: 0 success, 2 an error" in whole
    assert set(names) <= set(re.findall(r"│ (\w+) ", whole))


def test_every_command_is_described_in_the_list_of_commands():
    for name, words in COMMANDS.items():
        function = getattr(import_module(f"planewise.cli.{name}"), name)
        assert function.__doc__.startswith(words.split()[0])


def keys(value):
    """All keys of a JSON document, but not those of dicts whose keys are names of the user's data."""
    if isinstance(value, list):
        return {key for each in value for key in keys(each)}
    if not isinstance(value, dict):
        return set()
    data = ("probability", "leading_features", "versions", "counts", "categories")
    return set(value) | {key for name, each in value.items() if name not in data for key in keys(each)}


@pytest.mark.parametrize("family", FAMILIES)
def test_keys_of_json_are_snake_case(family, csv, run, fitted):
    model = fitted(family)
    commands = [
        ["describe", model],
        ["explain", model, csv, "--row", 3],
        ["predict", model, csv, "--out", "p.csv"],
        ["export", model, "--to", "text", "--out", "m.txt"],
        ["fit", csv, "--target", "class", "--model", family, "--drop", "price"],
    ]
    for command in commands:
        done = run(*command, "--json")
        assert done.exit_code == 0, done.stderr
        odd = {key for key in keys(json.loads(done.stdout)) if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", key)}
        assert not odd


def test_compact_c(run, fitted):
    model = fitted("boosting")
    for more, path in (([], "exact.h"), (["--compact"], "compact.h")):
        assert run("export", model, "--to", "c", "--out", path, *more).exit_code == 0

    def table_bytes(path):
        return int(re.search(r"Tables: (\d+) bytes", Path(path).read_text()).group(1))

    assert table_bytes("compact.h") < table_bytes("exact.h")
    for to in ("onnx", "text", "html"):
        mistake(
            run("export", model, "--to", to, "--compact", "--out", "x"), f"--compact is for --to c, not for --to {to}."
        )
