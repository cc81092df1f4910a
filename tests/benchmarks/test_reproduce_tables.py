"""The declared tables: whole, of equal grids, and a cheap cell of each runs end to end."""

from __future__ import annotations

import importlib.util
import math
import os
from pathlib import Path

import pytest
from benchmarks.reproduce.__main__ import main
from benchmarks.reproduce.methods import missing
from benchmarks.reproduce.runner import Cell, run_cell
from benchmarks.reproduce.store import Finished
from benchmarks.reproduce.tables import TABLES

BESIDE_THE_REPOSITORY = Path(__file__).resolve().parent / "../../../shared/data"
HOME = Path(os.environ.get("PLANEWISE_DATA") or BESIDE_THE_REPOSITORY)
EVERY_TABLE = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
# Cheap, and to be had without a data directory.
CHEAP = {
    "slm-classes": ("iris", "SLM Baseline"),
    "slm-numbers": ("diabetes_sklearn", "SLM Baseline"),
    "slm-convergence": ("wine", "SLM Boost"),
    "mcm-shapes": ("breast_cancer_wdbc", "data"),
    "mcm-small": ("breast_cancer_wdbc", "SVC"),
    "mcm-large": ("german_numer", "LS MCM"),
    "recip-batches": ("q=1, noise=0.02", "RECIP"),
    "recip-lasso": ("q=1, noise=0", "lasso"),
    "recip-real": ("breast_cancer_wdbc", "KNN"),
}


@EVERY_TABLE
def test_every_cell_is_of_the_experiment_and_every_printed_figure_has_a_cell(table):
    data = {each.name for each in table.experiment.data}
    methods = {each.name for each in table.experiment.methods}
    titles = {(row.title, column.title) for row in table.rows for column in table.columns}
    assert len(titles) == len(table.rows) * len(table.columns)
    assert set(table.printed) <= titles
    for row in table.rows:
        for column in table.columns:
            if not (row.not_run or column.not_run):
                name, method, metric = table.cell(row, column)
                assert name in data and method in methods and metric
    rows, columns = ({edge.title for edge in edges} | {""} for edges in (table.rows, table.columns))
    assert all(row in rows and column in columns for row, column in table.doubts)


@EVERY_TABLE
def test_all_methods_that_are_tuned_have_equally_many_points(table):
    def points(method):
        # The machine's own search: four gammas; with a conformal kernel two gamma_c; and three shrinkages.
        own = (
            {"none": 4, "signed": 4 * 2, "shrunk": 4 * 2 * 3}[method.fixed["conformal"]]
            if method.searches_itself
            else 1
        )
        return own * math.prod(len(values) for values in method.grid.values())

    counts = {method.name: points(method) for method in table.experiment.methods if method.grid}
    assert len(set(counts.values())) <= 1, counts


@EVERY_TABLE
def test_a_cheap_cell_runs_end_to_end(table):
    experiment = table.experiment
    wanted = CHEAP[experiment.name]
    data = next(each for each in experiment.data if each.name == wanted[0])
    method = next(each for each in experiment.methods if each.name == wanted[1])
    if data.name == "german_numer" and not (HOME / "index.csv").is_file():
        pytest.skip("no data directory (set PLANEWISE_DATA to one)")
    answer = run_cell(Cell(experiment, data, method, 0), str(HOME) if (HOME / "index.csv").is_file() else None)
    assert isinstance(answer, Finished), answer
    needed = {
        table.cell(row, column)[2]
        for row in table.rows
        for column in table.columns
        if not (row.not_run or column.not_run) and table.cell(row, column)[:2] == wanted
    }
    assert needed <= set(answer.metrics)


@pytest.mark.skipif(not (HOME / "index.csv").is_file(), reason="no data directory (set PLANEWISE_DATA to one)")
def test_the_clean_sets_have_the_rows_and_columns_the_papers_print_or_a_footnote_says_why(tmp_path, capsys):
    assert main(["mcm-table-1", "--data", str(HOME), "--cells", str(tmp_path), "--quiet", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    unlike = [line for line in text.splitlines() if line.rstrip().endswith(tuple("123456789")) and "†" not in line]
    assert not [line for line in unlike if line.split()[-1][0] in "+-"]
    assert {path.suffix for path in tmp_path.iterdir()} == {".jsonl", ".md", ".json", ".html"}


def test_a_page_has_all_tables_and_what_came_out(tmp_path, capsys):
    page = tmp_path / "page.md"
    assert main(["all", "--show", "--cells", str(tmp_path), "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert all(f"\n## {table.title}\n" in text for table in TABLES.values())
    assert "not to be had: private data" in text and "## What came out" in text


def test_without_a_name_the_tables_are_listed(tmp_path, capsys):
    assert main(["--cells", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in TABLES)


def test_an_unknown_table_is_refused_by_name(capsys):
    with pytest.raises(SystemExit):
        main(["slm-table-9"])
    assert "slm-table-9" in capsys.readouterr().err


def test_peers_are_optional():
    methods = {method.name: method for table in TABLES.values() for method in table.experiment.methods}
    assert missing(methods["SLM Boost"]) == []
    assert missing(methods["XGBoost"]) == ([] if importlib.util.find_spec("xgboost") else ["xgboost"])
