"""The page on the tool chain: its examples run, and its table names what is tested."""

from __future__ import annotations

import doctest
import warnings
from pathlib import Path

import mlflow
import pytest
from tools.pages import Session, run_page
from tools.tool_chain_table import BEGIN, END, PACKAGES, PAGE, table, without_versions

import planewise.tools._optuna
import planewise.tools._shap

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent


@pytest.mark.filterwarnings("ignore")  # other packages' own
def test_the_examples_of_the_page_run():
    run_page(PAGE, Session().run, shell=None)
    assert Path("boost.skops").exists() and Path("runs.db").exists()
    mlflow.set_tracking_uri(None)


def test_the_table_names_what_is_tested():
    shown = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    assert without_versions(shown) == without_versions(table())


def test_every_test_file_is_in_the_table_and_exists():
    named = {each.test for each in PACKAGES}
    assert all((ROOT / test).is_file() for test in named)
    here = {f"tests/toolchain/{path.name}" for path in HERE.glob("test_*.py")}
    assert here - named == {"tests/toolchain/test_tool_chain_page.py"}


@pytest.mark.parametrize("module", [planewise.tools._optuna, planewise.tools._shap], ids=lambda module: module.__name__)
def test_the_examples_of_docstrings_run(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = doctest.testmod(module)
    assert found.attempted > 5 and found.failed == 0
