"""The comparisons with other libraries: how data is prepared, who sees which rows when, and what is made of losses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.data import list_datasets
from benchmarks.peers import fight as fight_module
from benchmarks.peers.__main__ import main
from benchmarks.peers.contenders import Contender
from benchmarks.peers.data import Split, Table, listed, prepare, read, split
from benchmarks.peers.families import FAMILIES, Family
from benchmarks.peers.fight import fight, loss
from benchmarks.peers.referee import in_turn, not_installed, open_corners, run
from benchmarks.peers.summary import summarise
from benchmarks.peers.tables import SECTIONS, tables

ROOT = Path(__file__).resolve().parents[2]
TREE = Contender("tree", "sklearn.tree.DecisionTree{}", threads=None)


def family(**contenders):
    return Family(contenders, kind="trees", seeds=1, key="made")


def made_table(n_rows=50, name="made"):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    return Table(name, "classification", X, (X["a"] > 0).to_numpy(int))


class Model:
    """Counts its fits, and answers zero."""

    fits = 0

    def __init__(self, **parameters):
        self.parameters = parameters

    def fit(self, X, y):
        type(self).fits += 1

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


class Recorder:
    """In the place of a contender's process: notes who was asked, and about which rows."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def ask(self, question, contender, family, seed, rows):
        self.log.append((self.name, seed, rows))
        return {"loss": 1.0 + seed, "fit": 1.0, "predict": 1.0, "bytes": 10}


# ------------------------------------------------------------------------------------------------------- turns and rows
def test_another_contender_begins_every_time():
    assert [in_turn("abc", shift) for shift in range(4)] == [list("abc"), list("bca"), list("cab"), list("abc")]


def test_all_contenders_get_the_same_rows_and_the_order_rotates_over_sets_and_seeds():
    log = []
    corners = {name: Recorder(name, log) for name in "abc"}
    three = family(a=TREE, b=TREE, c=TREE)
    run(three, [made_table(name="first"), made_table(name="second")], 2, corners)
    order = "".join(name for name, _, _ in log)
    assert order == "abc" + "bca" + "bca" + "cab"
    for start in range(0, len(log), 3):
        seeds = {seed for _, seed, _ in log[start : start + 3]}
        rows = [each for _, _, each in log[start : start + 3]]
        assert len(seeds) == 1
        for each in rows[1:]:
            np.testing.assert_array_equal(each.X, rows[0].X)
            np.testing.assert_array_equal(each.y_test, rows[0].y_test)
    assert not np.array_equal(log[0][2].X, log[3][2].X)


def test_a_split_keeps_40_percent_of_each_class_for_testing():
    table = made_table(100)
    rows = split(table, 0, family(a=TREE))
    assert len(rows.X) == 60 and len(rows.X_test) == 40
    assert abs(rows.y_test.mean() - table.y.mean()) <= 1 / 40
    both = np.vstack([rows.X, rows.X_test])
    np.testing.assert_array_equal(np.sort(both[:, 0]), np.sort(table.X["a"]))


def test_missing_numbers_are_replaced_by_medians_of_the_training_rows_only():
    table = made_table(100)
    table.X.loc[::3, "a"] = np.nan
    rows = split(table, 0, replace(family(a=TREE), filled=True))
    gaps = split(table, 0, family(a=TREE))
    assert np.isnan(gaps.X_test).any()
    assert set(rows.X_test[np.isnan(gaps.X_test)]) == {np.nanmedian(gaps.X[:, 0])}


def test_means_are_taken_over_seeds():
    entry = run(family(a=TREE), [made_table()], 3, {"a": Recorder("a", [])})[0]
    assert entry["contenders"]["a"]["loss"] == 2.0
    assert [each["loss"] for each in entry["seeds"]["a"]] == [1.0, 2.0, 3.0]
    assert (entry["rows"], entry["features"]) == (50, 3)


# ----------------------------------------------------------------------------------------------------------------- data
def test_text_is_one_hot_encoded_without_categories_that_the_sample_does_not_have():
    frame = pd.DataFrame({"x": np.arange(100.0), "town": ["only once"] + ["a", "b", None] * 33, "target": [0, 1] * 50})
    drawn = prepare("made", frame, "classification", replace(family(a=TREE), max_rows=20))
    assert len(drawn.X) == 20
    assert list(drawn.X) == ["x", "town_a", "town_b"]
    assert set(drawn.X["town_a"] + drawn.X["town_b"]) == {0.0, 1.0}


def test_native_tables_keep_categories_and_lose_small_classes():
    target = ["rare"] * 9 + ["often"] * 11 + ["also"] * 20
    frame = pd.DataFrame({"town": ["z"] * 9 + ["a", None] * 15 + ["b"], "yes": [True, False] * 20, "target": target})
    table = prepare("made", frame, "classification", FAMILIES["field"])
    assert table.categories == ("town", "yes")
    assert list(table.X["town"].cat.categories) == ["a", "b"]
    assert np.bincount(table.y).tolist() == [20, 11]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_with_an_index_is_read(tmp_path, kind):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "target": [0.5, None, 2.5]})
    getattr(frame, f"to_{kind}")(tmp_path / f"mine.{kind}", index=False)
    (tmp_path / "index.csv").write_text(f"name,file,task\nmine,mine.{kind},regression\n")
    found, task = read("mine", tmp_path)
    assert task == "regression"
    assert found["target"].tolist() == [0.5, 2.5]


def test_lists_of_data_sets_do_not_overlap_and_are_known():
    for kind in ("trees", "svm"):
        lists = listed(kind)
        assert list(lists) == ["develop", "report"]
        assert not set(lists["develop"]) & set(lists["report"])
        assert set(lists["develop"]) | set(lists["report"]) <= set(list_datasets())
    # What was never used for a choice in one family must not be used for one in another.
    assert not set(listed("svm")["develop"]) & set(listed("trees")["report"])
    assert not set(listed("trees")["develop"]) & set(listed("svm")["report"])


# --------------------------------------------------------------------------------------------------------------- losses
def rows_of(y_test, task="classification"):
    y_test = np.asarray(y_test)
    return Split(task, None, None, y_test, y_test, np.unique(y_test), ())


@pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one")
def test_losses_by_hand():
    plain, by_probability = family(a=TREE), replace(family(a=TREE), by_probability=True)
    assert loss(plain, rows_of([0.0, 0.0], "regression"), [3.0, 4.0], None, None) == pytest.approx(np.sqrt(12.5))
    assert loss(plain, rows_of([0, 1, 1, 0]), [0, 1, 1, 0], None, None) == 1 / 4
    assert loss(plain, rows_of([0, 1, 1, 0]), [[0], [1], [0], [1]], None, None) == 3 / 4

    class Sure:
        def predict_proba(self, X):
            return np.array([[0.5, 0.5], [1.0, 0.0]])

    clipped = loss(by_probability, rows_of([0, 1]), [0, 0], Sure(), None)
    assert clipped == pytest.approx(-(np.log(0.5) + np.log(1e-7)) / 2)


def test_short_fits_are_repeated_and_long_ones_are_not(monkeypatch):
    ours = Contender("model", f"{__name__}.Model", threads=None)
    rows = split(made_table(), 0, family(a=ours))
    Model.fits = 0
    answer = fight(ours, family(a=ours), 0, rows)
    assert Model.fits == 3
    assert answer["loss"] == (rows.y_test.sum() + 1) / len(rows.y_test)
    monkeypatch.setattr(fight_module, "REPEATED_BELOW", 0.0)
    fight(ours, family(a=ours), 0, rows)
    assert Model.fits == 4


def test_models_get_the_seed_of_the_split_or_always_zero():
    made = Contender("model", f"{__name__}.Model").make("classification", 7)
    assert made.parameters == {"random_state": 7, "n_jobs": 2}
    ours = replace(TREE, settings={"max_depth": 2})
    rows = split(made_table(), 0, family(a=ours))
    seeded = fight_module._make(ours, family(a=ours), 3, rows)
    fixed = fight_module._make(ours, replace(family(a=ours), seeded=False), 3, rows)
    assert (seeded.random_state, fixed.random_state) == (3, 0)


# -------------------------------------------------------------------------------------------------------------- summary
def entry_of(name, **losses):
    cells = {
        each: {"loss": value, "fit": 4.0 if each == "ours" else 2.0, "predict": 1.0, "bytes": 3.0}
        for each, value in losses.items()
    }
    return {"name": name, "task": "regression", "rows": 10, "features": 2, "contenders": cells}


def test_the_summary_by_hand():
    three = family(ours=TREE, first=TREE, second=TREE)
    entries = [
        entry_of("a", ours=1.0, first=2.0, second=1.0),
        entry_of("b", ours=1.0, first=10.0, second=0.5),  # 0.1 counts as 1/2
        entry_of("c", first=1.0, second=1.0),  # we failed: 2
        entry_of("d", ours=9.0, second=1.0),  # the first failed; 9 counts as 2
    ]
    found = summarise(three, entries)
    assert found["sets"] == 4
    assert found["first: loss"] == pytest.approx((0.5 * 0.5 * 2) ** (1 / 3))
    assert found["second: loss"] == pytest.approx((1 * 2 * 2 * 2) ** (1 / 4))
    assert found["best peer: loss"] == pytest.approx((1 * 2 * 2 * 2) ** (1 / 4))
    assert found["best peer: wins"] == 1
    assert found["first: fit"] == pytest.approx(2.0)
    assert found["first: bytes"] == pytest.approx(1.0)


def test_machines_are_also_compared_by_vectors_and_points():
    cells = {"planewise": {"loss": 0.10, "fit": 3.0, "vectors": 1}, "svc": {"loss": 0.12, "fit": 1.0, "vectors": 7}}
    other = {"planewise": {"loss": 0.20, "fit": 1.0, "vectors": 0}, "svc": {"loss": 0.15, "fit": 1.0, "vectors": 0}}
    found = summarise(FAMILIES["svm"], [{"name": "a", "contenders": cells}, {"name": "b", "contenders": other}])
    assert found["svc: vectors"] == pytest.approx(np.sqrt(2 / 8 * 1))
    assert found["svc: accuracy_points"] == pytest.approx((2 - 5) / 2)
    assert found["svc: worst_points"] == pytest.approx(-5)
    assert found["svc: worst fit"] == pytest.approx(3)


# ------------------------------------------------------------------------------------------------------------ processes
def test_failing_and_dying_contenders(capfd):
    three = family(
        ours=replace(TREE, settings={"max_depth": "deep"}),
        peer=TREE,
        dies=Contender("dies", "os._exit", {"status": 3}, seed=None, threads=None),
    )
    with open_corners(three.contenders) as corners:
        entries = run(three, [made_table()], 1, corners)
        assert corners["dies"].ask(len, "abcd") == 4, "it is started again"
    answers = entries[0]["seeds"]
    assert "max_depth" in answers["ours"][0]
    assert answers["dies"] == ["its process ended with exit code 3"]
    assert list(entries[0]["contenders"]) == ["peer"]
    assert "made, seed 0: dies failed" in capfd.readouterr().err
    found = summarise(three, entries)
    assert found["peer: loss"] == 2.0 and "peer: fit" not in found


def test_contenders_that_are_not_installed_are_named():
    assert not_installed({"ours": TREE, "theirs": Contender("theirs", "a_package_nobody_has.Model")}) == ["theirs"]


# ----------------------------------------------------------------------------------------------------- the command line
def test_a_comparison_is_run_and_its_tables_printed(tmp_path, capsys):
    out = tmp_path / "tree.json"
    main(["run", "tree", "--only", "wine", "--seeds", "1", "--out", str(out)])
    content = json.loads(out.read_text())["tree"]
    assert content["about"]["seeds"] == 1 and {"planewise", "sklearn"} == set(content["about"]["versions"])
    assert content["summary"]["sets"] == 1
    assert "decisiontree: parameters" in capsys.readouterr().out
    main(["table", "tree", str(out)])
    printed = capsys.readouterr().out
    cell = content["table"][0]["contenders"]["planewise"]
    assert f"| wine | 178 × 13 | {cell['loss']:.4g} |" in printed
    assert printed.startswith("| | loss | parameters |")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "tree", "--seeds", "0"], "--seeds must be at least 1, got 0."),
        (["run", "tree", "--sets", "mixed"], "--sets must be one of develop, report for tree, got 'mixed'."),
        (["run", "field"], "'splice' is not one of benchmarks.data: pass --data"),
        (["run", "field", "--data", "{results}"], "results', which has no index.csv."),
        (["run", "svm", "--without", "xgboost"], "the peers of svm are svc."),
        (["run", "tree", "--out", "no_folder/x.json"], "there is no folder 'no_folder'."),
        (["table", "boost", "{results}/duel_tree_report.json"], "has no results of boost, only of tree."),
    ],
)
def test_mistakes_are_named(arguments, message):
    results = ROOT / "benchmarks" / "results"
    with pytest.raises(SystemExit, match=re.escape(message)):
        main([each.format(results=results) for each in arguments])


@pytest.mark.parametrize("section", SECTIONS)
def test_the_tables_of_the_page_are_those_of_the_results(section):
    """If this fails, paste the output of ``python -m benchmarks.peers table`` into the page."""
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for table in tables(section):
        assert f"\n\n{table}\n\n" in page, f"docs/benchmarks.md should have, for {section}:\n\n{table}"
