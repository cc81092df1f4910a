"""The examples of the page on the tool chain run."""

from __future__ import annotations

from pathlib import Path

import mlflow
import pytest
from tools.pages import Session, run_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tool_chain.md"


@pytest.mark.filterwarnings("ignore")  # other packages' own
def test_the_examples_of_the_page_run():
    run_page(PAGE, Session().run, shell=None)
    assert Path("pipe.skops").exists() and Path("runs.db").exists()
    mlflow.set_tracking_uri(None)
