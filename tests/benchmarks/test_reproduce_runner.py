"""The runner of the papers' tables, on a tiny table of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from benchmarks.data import make_circle_and_ring
from benchmarks.reproduce import sizes, sources
from benchmarks.reproduce.__main__ import listing
from benchmarks.reproduce.claims import (
    at_least_as_good,
    geometric,
    near_printed,
    share,
    signed_rank_test,
)
from benchmarks.reproduce.declaration import Data, Edge, Experiment, Figure, Method, Table, Why, printed_figures
from benchmarks.reproduce.protocols import NestedFolds, SeededSplits, folds
from benchmarks.reproduce.results import collect
from benchmarks.reproduce.runner import Cell, cells_of, run, run_cell
from benchmarks.reproduce.settle_sizes import size_at_printed_accuracy
from benchmarks.reproduce.sources import code_hash
from benchmarks.reproduce.store import Finished, Store
from benchmarks.reproduce.tables import TABLES
from benchmarks.reproduce.writer import as_html, as_json, markdown, terminal

from planewise import MCMClassifier

MOONS = Data("moons", ("make_new_moons", {"n_samples": 60}))
RINGS = Data("rings", ("make_circle_and_ring", {"n_samples": 60}))
TREE = Method("tree", "sklearn.tree.DecisionTreeClassifier", grid={"max_depth": [1, 3]}, size="decision_tree")
OURS = Method("ours", "planewise.SLMClassifier", size="slm")
PEER = Method("peer", "a_package_nobody_has.Classifier")


@dataclass(frozen=True)
class Counted:
    """Gives each cell's seed, and writes down that it ran."""

    log: str
    broken: str = ""

    def run(self, data, method, seed, data_home):
        if data.name == self.broken:
            raise ValueError("no such column")
        with open(self.log, "a") as file:
            file.write(f"{data.name} {method.name} {seed}\n")
        return {"accuracy": 90.0 + seed + (method.name == "ours")}


def table(protocol, *methods, printed=None, **more):
    experiment = Experiment("tiny", protocol, (MOONS, RINGS), methods, seeds=3, quick_seeds=1)
    rows = (Edge("Moons", data="moons"), Edge("Rings", data="rings"), Edge("Cell", not_run="not to be had: private"))
    columns = tuple(Edge(method.name, method=method.name, metric="accuracy") for method in methods)
    return Table("tiny-table", "A tiny table", experiment, rows, columns, printed or {}, **more)


@pytest.fixture
def counted(tmp_path):
    log = tmp_path / "log"
    log.touch()
    return Counted(str(log)), lambda: log.read_text().split("\n")[:-1]


# ------------------------------------------------------------------------------------------------------------ running
def test_finished_cells_are_not_run_again(tmp_path, counted):
    protocol, ran = counted
    tiny = table(protocol, TREE, OURS)
    first = run([tiny], Store(tmp_path), progress=False)
    again = run([tiny], Store(tmp_path), progress=False)
    assert (first.ran, first.kept, again.ran, again.kept) == (12, 0, 0, 12)
    assert len(ran()) == len(set(ran())) == 12


def test_a_cell_without_a_metric_that_the_table_shows_is_unfinished_and_run_again(tmp_path, counted):
    protocol, ran = counted
    tiny = table(protocol, TREE)
    for cell in cells_of(tiny.experiment, quick=False):
        metrics = {"accuracy": 1.0} if cell.seed else {"of an older protocol": 1.0}
        Store(tmp_path).add("tiny", cell.key, Finished(metrics, cell.fingerprint, 0.1, "planewise 0"))
    results = collect(tiny, Store(tmp_path))
    assert results["Moons", "tree"].seeds == (1, 2) and not results.is_final
    assert run([tiny], Store(tmp_path), progress=False).ran == 2
    assert ran() == ["moons tree 0", "rings tree 0"]
    assert collect(tiny, Store(tmp_path)).is_final


def test_tables_of_one_experiment_share_its_cells(tmp_path, counted):
    protocol, ran = counted
    tiny = table(protocol, TREE)
    run([tiny, replace(tiny, name="other")], Store(tmp_path), progress=False)
    assert len(ran()) == 6


def test_a_run_that_was_interrupted_goes_on(tmp_path, counted, monkeypatch):
    protocol, ran = counted
    tiny = table(protocol, TREE, OURS)
    store, add = Store(tmp_path), Store.add

    def interrupted(self, *args):
        add(self, *args)
        if len(self.cells("tiny")) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([tiny], store, progress=False)
    monkeypatch.undo()
    report = run([tiny], Store(tmp_path), progress=False)
    assert (report.ran, report.kept, len(ran())) == (7, 5, 12)


def test_a_line_cut_off_by_a_kill_is_run_again_and_spoils_no_other(tmp_path, counted):
    protocol, _ = counted
    tiny = table(protocol, TREE)
    run([tiny], Store(tmp_path), progress=False)
    path = tmp_path / "tiny.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert run([tiny], Store(tmp_path), progress=False).ran == 1
    cells = [json.loads(line) for line in path.read_text().splitlines()]
    assert [cell["metrics"] for cell in cells] == [json.loads(line)["metrics"] for line in whole.splitlines()]


def test_two_runs_at_a_time_lose_nothing_of_each_other(tmp_path, counted):
    protocol, _ = counted
    store = Store(tmp_path)
    tiny = table(protocol, TREE, OURS)
    run([tiny], store, methods=["tree"], progress=False)
    run([tiny], Store(tmp_path), methods=["ours"], progress=False)  # the first run has not read these
    store.tidy("tiny", {cell.key for cell in cells_of(tiny.experiment, quick=False)})
    assert len(Store(tmp_path).cells("tiny")) == 12


def test_cells_that_are_no_longer_declared_are_dropped(tmp_path, counted):
    protocol, _ = counted
    run([table(protocol, TREE, OURS)], Store(tmp_path), progress=False)
    store = Store(tmp_path)
    assert run([table(protocol, TREE)], store, progress=False).kept == 6
    assert {method for _, method, _ in store.cells("tiny")} == {"tree"}
    assert len((tmp_path / "tiny.jsonl").read_text().splitlines()) == 6


def test_a_cell_keeps_the_hash_of_the_code_it_comes_from(tmp_path, counted):
    protocol, _ = counted
    run([table(protocol, TREE)], Store(tmp_path), progress=False)
    assert {cell.code for cell in Store(tmp_path).cells("tiny").values()} == {code_hash()}


def test_the_hash_of_the_code_changes_with_a_source(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.setattr(sources, "FOLDERS", (tmp_path,))
    monkeypatch.setattr(sources, "HERE", ())
    hashes = []
    for text in ("one", "two", "one"):
        (tmp_path / "core.cpp").write_text(text)
        hashes.append(code_hash.__wrapped__())
    assert hashes[0] == hashes[2] != hashes[1]


def test_the_listing_says_how_many_finished_cells_come_from_other_or_unknown_code(tmp_path):
    shapes = TABLES["mcm-table-1"].experiment
    store = Store(tmp_path)
    for cell, code in zip(cells_of(shapes, quick=False), ("", "", "another", code_hash()), strict=False):
        store.add(shapes.name, cell.key, Finished({"samples": 1.0}, cell.fingerprint, 0.0, "", code))
    assert "1 cells from other code, 2 from unknown code; --fresh runs them again." in listing(store)
    assert "code; --fresh" not in listing(Store(tmp_path / "empty"))


def test_the_first_seeds_of_everything_come_first(tmp_path, counted):
    protocol, ran = counted
    run([table(protocol, TREE, OURS)], Store(tmp_path), progress=False)
    assert [line[-1] for line in ran()] == ["0"] * 4 + ["1"] * 4 + ["2"] * 4


def test_quick_runs_few_seeds_and_a_full_run_keeps_them(tmp_path, counted):
    protocol, _ = counted
    tiny = table(protocol, TREE)
    assert run([tiny], Store(tmp_path), quick=True, progress=False).ran == 2
    report = run([tiny], Store(tmp_path), progress=False)
    assert (report.ran, report.kept) == (4, 2)
    assert len(collect(tiny, Store(tmp_path), quick=True)["Moons", "tree"].values) == 1
    assert len(collect(tiny, Store(tmp_path))["Moons", "tree"].values) == 3


def test_a_cell_declared_otherwise_is_run_again(tmp_path, counted):
    protocol, _ = counted
    run([table(protocol, TREE)], Store(tmp_path), progress=False)
    other = table(protocol, replace(TREE, grid={"max_depth": [1, 4]}))
    assert collect(other, Store(tmp_path)).finished == 0
    assert run([other], Store(tmp_path), progress=False).ran == 6
    assert len((tmp_path / "tiny.jsonl").read_text().splitlines()) == 6


def test_fresh_runs_everything_again(tmp_path, counted):
    protocol, ran = counted
    run([table(protocol, TREE)], Store(tmp_path), progress=False)
    assert run([table(protocol, TREE)], Store(tmp_path), fresh=True, progress=False).ran == 6
    assert len(ran()) == 12


def test_a_missing_peer_is_named_and_the_others_run(tmp_path, counted):
    protocol, ran = counted
    tiny = table(protocol, TREE, PEER)
    report = run([tiny], Store(tmp_path), progress=False)
    assert report.missing == {"a_package_nobody_has": ["peer"]} and len(ran()) == 6
    assert "a_package_nobody_has is not installed" in terminal(collect(tiny, Store(tmp_path)))


def test_a_cell_that_fails_is_reported_and_ends_nothing(tmp_path, counted):
    protocol, ran = counted
    report = run([table(replace(protocol, broken="moons"), TREE)], Store(tmp_path), progress=False)
    assert report.failed[0] == "moons, tree, seed 0: ValueError: no such column"
    assert (len(report.failed), report.ran, len(ran())) == (3, 3, 3)


@pytest.mark.parametrize("protocol", [SeededSplits(0.4), NestedFolds(3, 2)])
def test_cells_are_the_same_to_the_last_digit_however_they_are_run(tmp_path, protocol):
    tiny = table(protocol, TREE, OURS)
    run([tiny], Store(tmp_path / "one"), progress=False)
    run([tiny], Store(tmp_path / "two"), jobs=2, progress=False)
    one, two = (collect(tiny, Store(tmp_path / name)) for name in ("one", "two"))
    assert {place: entry.values for place, entry in one.entries.items()} == {
        place: entry.values for place, entry in two.entries.items()
    }
    assert 50 < one["Moons", "ours"].mean <= 100


def test_sizes_are_counted_as_the_paper_does():
    experiment = Experiment("tiny", SeededSplits(0.4), (MOONS,), (TREE,), 1, 1)
    metrics = run_cell(cells_of(experiment, quick=False)[0], None).metrics
    assert metrics["depth"] in (1, 3) and 2 <= metrics["parameters"] <= 14


def test_the_fingerprint_does_not_depend_on_defaults_spelled_out():
    experiment = Experiment("tiny", SeededSplits(0.4), (MOONS,), (TREE,), 1, 1)
    spelled_out = Experiment("tiny", SeededSplits(0.4, folds=3), (replace(MOONS, classes=()),), (TREE,), 1, 1)
    assert Cell(experiment, MOONS, TREE, 0).fingerprint == Cell(spelled_out, spelled_out.data[0], TREE, 0).fingerprint
    other = Experiment("tiny", SeededSplits(0.3), (MOONS,), (TREE,), 1, 1)
    assert Cell(experiment, MOONS, TREE, 0).fingerprint != Cell(other, MOONS, TREE, 0).fingerprint


# ------------------------------------------------------------------------------------------------------------ writing
@pytest.fixture
def results(tmp_path, counted):
    protocol, _ = counted
    printed = {("Moons", "tree"): Figure(90.25, 0.5), ("Rings", "tree"): Figure(99.0), ("Cell", "ours"): Figure(70.0)}
    tiny = table(
        protocol,
        TREE,
        OURS,
        printed=printed,
        doubts={("Rings", ""): "no count of 400 rows gives it", ("Moons", "ours"): "nothing is printed there"},
        claims=(at_least_as_good("ours", "tree", 2),),
    )
    run([tiny], Store(tmp_path), progress=False)
    return collect(tiny, Store(tmp_path))


def test_a_cell_shows_ours_the_papers_and_the_difference(results):
    entry = results["Moons", "tree"]
    assert (entry.mean, entry.std, entry.difference) == (91.0, pytest.approx(0.8165, abs=1e-4), 0.75)
    line = next(line for line in terminal(results).splitlines() if line.startswith("  tree"))
    assert line.split() == ["tree", "90.25", "±", "0.50", "91.00", "±", "0.82", "+0.75"]
    assert "| Moons | 91.00 ± 0.82<br>paper 90.25 ± 0.50 (+0.75) | 92.00 ± 0.82 |" in markdown(results)


@pytest.mark.parametrize("write", [terminal, markdown, as_html])
def test_figures_that_cannot_be_right_are_marked_with_a_footnote(results, write):
    text = write(results)
    assert text.count("no count of 400 rows gives it") == 1
    assert text.count("not to be had: private") == 1
    assert "nothing is printed there" not in text  # a doubt about no figure is no news
    assert "99.00<sup>" in text if write is as_html else "99.00†1" in text


def test_json_has_every_figure_seed_by_seed(results):
    content = json.loads(as_json(results))
    cell = next(cell for cell in content["cells"] if (cell["row"], cell["column"]) == ("Rings", "tree"))
    assert cell["ours"]["values"] == [90.0, 91.0, 92.0] and cell["paper"] == {"mean": 99.0, "std": None}
    assert cell["cannot_be_right"] == "no count of 400 rows gives it"
    assert (content["finished"], content["declared"]) == (12, 12)


def test_the_page_escapes_what_is_not_its_own(tmp_path, counted):
    protocol, _ = counted
    tiny = replace(table(protocol, TREE), title="<script>")
    assert "<script>" not in as_html(collect(tiny, Store(tmp_path)))


# ------------------------------------------------------------------------------------------------------------- claims
def test_claims_count_sets_and_name_those_behind(results):
    met = at_least_as_good("ours", "tree", 2)(results)
    assert met.met and str(met).startswith("Target met: “ours” is at least as good as “tree” on 2 of 2 data sets")
    missed = at_least_as_good("tree", "ours", 2)(results)
    assert not missed.met
    assert str(missed).startswith("Target not met: ")
    assert "on 0 of 2 data sets (target: 2); behind on Moons (-1), Rings (-1)." in str(missed)
    assert at_least_as_good("tree", "ours", 2, lower_is_better=True)(results).met


def test_a_claim_says_by_how_many_standard_errors_a_set_is_behind(results):
    values = {
        "tree": (90.0, 91.0, 95.0),
        "ours": (89.0, 89.0, 92.0),
    }  # differences 1, 2, 3: mean 2, standard error 0.577
    entries = {place: replace(entry, values=values[place[1]]) if entry.values else entry
               for place, entry in results.entries.items()}  # fmt: skip
    verdict = at_least_as_good("ours", "tree", 2)(replace(results, entries=entries))
    assert "behind on Moons (-2, 3.5 standard errors)" in verdict.sentence


@pytest.mark.parametrize(
    ("protocol", "error"),
    [(SeededSplits(0.4), np.sqrt(1 / 3 + 0.4 / 0.6)), (NestedFolds(5), np.sqrt(1 / 3 + 1 / 4))],
)
def test_splits_of_one_loaded_table_have_larger_standard_errors_than_draws(results, protocol, error):
    differences = np.array([1.0, 2.0, 3.0])  # of variance 1
    loaded = replace(MOONS, source=("load", "moons", None))
    experiment = replace(results.table.experiment, protocol=protocol, data=(loaded, RINGS))
    resampled = replace(results, table=replace(results.table, experiment=experiment))
    assert resampled.standard_error("Moons", differences) == pytest.approx(error)
    assert resampled.standard_error("Rings", differences) == pytest.approx(np.sqrt(1 / 3))


def test_a_geometric_mean_of_losses_is_said_whole_and_cut_off(results):
    entries = {
        place: replace(entry, values=(9.0 if place[1] == "ours" else 1.0,), seeds=(0,)) if entry.values else entry
        for place, entry in results.entries.items()
    }
    sentence = geometric("ours", "tree", "a peer", {})(replace(results, entries=entries)).sentence
    assert (
        sentence
        == "planewise / a peer, geometric mean over 2 data sets: loss 9 (2 with each ratio clipped to [1/2, 2])."
    )


def test_shares_and_tests_are_stated(results):
    verdict = share("ours", "tree", "vectors", 0.12)(results)
    means = (
        "1.011 on average over 2 data sets (geometric mean, with one added to each count: 1.011; ratio of the totals: "
        "1.011)"
    )
    assert means in verdict.sentence
    assert verdict.met is False
    assert share("ours", "tree", "vectors")(results).met is None
    sentence = signed_rank_test("ours", "tree")(results).sentence
    assert "+1.00 on average, better on 2, worse on 0 of 2 data sets" in sentence


def test_a_set_under_two_names_counts_once_but_all_printed_lines_do(tmp_path, counted):
    protocol, _ = counted
    printed = {(row, "tree"): Figure(1.0) for row in ("Moons", "Same")}
    printed |= {(row, "ours"): Figure(2.0) for row in ("Moons", "Same")}
    tiny = table(protocol, TREE, OURS, printed=printed)
    tiny = replace(tiny, rows=(*tiny.rows, Edge("Same", data="moons")))
    run([tiny], Store(tmp_path), progress=False)
    sentence = signed_rank_test("ours", "tree")(collect(tiny, Store(tmp_path))).sentence
    assert (
        "better on 2, worse on 0 of 2 data sets" in sentence and "p = 0.5 (on the 2 printed means: p = 0.5)" in sentence
    )


def test_of_an_unfinished_run_only_common_seeds_are_compared(tmp_path, counted):
    protocol, _ = counted
    whole = table(protocol, TREE, OURS)
    run([whole], Store(tmp_path), methods=["ours"], quick=True, progress=False)
    run([whole], Store(tmp_path), methods=["tree"], progress=False)  # its mean of three seeds equals ours of the first
    results = collect(whole, Store(tmp_path))
    assert results["Moons", "ours"].mean == results["Moons", "tree"].mean
    assert "+1.00 on average" in signed_rank_test("ours", "tree")(results).sentence


def test_the_size_counts_at_the_printed_accuracy_or_the_best_reached(tmp_path, counted):
    protocol, _ = counted
    tiny = table(protocol, TREE, OURS)
    columns = (
        *tiny.columns,
        *(Edge(f"accuracy, {edge.title}", method=edge.title, metric="accuracy") for edge in tiny.columns),
    )
    tiny = replace(tiny, columns=columns, printed={(row, "ours"): Figure(91.5) for row in ("Moons", "Rings")})
    run([tiny], Store(tmp_path), progress=False)
    results = collect(tiny, Store(tmp_path))  # ours has 92, the tree 91 of everything
    both_reach = size_at_printed_accuracy(("ours", "tree"), dict.fromkeys(("Moons", "Rings"), Figure(90.0)), 2)(results)
    assert both_reach.met and "not reached" not in both_reach.sentence
    one_reaches = size_at_printed_accuracy(("ours", "tree"), dict.fromkeys(("Moons", "Rings"), Figure(91.5)), 2)(
        results
    )
    assert not one_reaches.met
    assert "on 0 of 2 data sets (target: 2); above on Moons (92, printed 92)" in one_reaches.sentence
    none_reaches = size_at_printed_accuracy(("tree", "ours"), dict.fromkeys(("Moons", "Rings"), Figure(99.0)), 2)
    printed = {(row, "tree"): Figure(92.0) for row in ("Moons", "Rings")}
    verdict = none_reaches(collect(replace(tiny, printed=printed), Store(tmp_path)))
    assert verdict.met and "not reached on Moons (92.0, printed 99.0)" in verdict.sentence


def test_near_printed_counts_two_standard_errors_of_both_on_either_side(results):
    # Moons is less than two standard errors above, Rings eight points below
    verdict = near_printed("Tiny", 0.9, repetitions=3)(results)
    assert not verdict.met and "1 of 2 table entries (50%)" in verdict.sentence
    assert "0 are above that range and 1 below it (target: 90% within)" in verdict.sentence
    one = near_printed("Tiny", None, repetitions=3, margin=-1.0, block="Moons")(results)
    assert one.met is None and "0 of 1 table entries (0%)" in one.sentence
    assert "1 are above that range and 0 below it." in one.sentence
    assert near_printed("Tiny", 0.9, repetitions=3, margin=9.0)(results).met


def test_printed_figures_are_read_with_their_spread():
    figures = printed_figures("a | 1 | 2.5 ± 0.5\nb | - | 3", ["x", "y"])
    assert figures == {("a", "x"): Figure(1.0), ("a", "y"): Figure(2.5, 0.5), ("b", "y"): Figure(3.0)}
    with pytest.raises(ValueError, match="'a' has 1 figures, not 2"):
        printed_figures("a | 1", ["x", "y"])


def test_vectors_of_a_conformal_machine_are_counted_with_its_cores():
    X, y = make_circle_and_ring(80, random_state=0)
    plain = sizes.minimal_complexity_machine(MCMClassifier().fit(X, y), *X.shape)
    assert plain["vectors"] == plain["with cores"] > 0
    machine = MCMClassifier(conformal="signed").fit(X, y)
    found = sizes.minimal_complexity_machine(machine, *X.shape)
    kept = {
        tuple(row) for row in np.vstack([machine._scaling(machine.support_vectors_), machine._factor.cores]).round(9)
    }
    assert found == {"vectors": len(machine.support_), "with cores": len(kept), "% of rows": 100 * len(kept) / 80}
    assert found["with cores"] > found["vectors"]


def test_before_all_cells_are_finished_nothing_is_met_or_missed(tmp_path, counted):
    protocol, _ = counted
    tiny = table(protocol, TREE, OURS, claims=(at_least_as_good("ours", "tree", 2),), why=(Why("Nobody knows."),))
    run([tiny], Store(tmp_path), quick=True, progress=False)
    text = terminal(collect(tiny, Store(tmp_path)))
    assert "So far: “ours” is at least as good" in text and "Target met:" not in text and "Nobody knows." not in text
    run([tiny], Store(tmp_path), progress=False)
    text = terminal(collect(tiny, Store(tmp_path)))
    assert "Target met: “ours” is at least as good" in text and "Nobody knows." in text and "So far" not in text


def test_by_a_few_seeds_nothing_is_met_or_missed_or_explained(tmp_path, counted):
    protocol, _ = counted
    tiny = table(protocol, TREE, OURS, claims=(at_least_as_good("ours", "tree", 2),), why=(Why("Nobody knows."),))
    run([tiny], Store(tmp_path), progress=False)
    quick = collect(tiny, Store(tmp_path), quick=True)
    for text in (terminal(quick), markdown(quick), as_html(quick)):
        assert (
            "With a few seeds: “ours” is at least as good" in text
            and "Target met:" not in text
            and "Nobody" not in text
        )
    content = json.loads(as_json(quick))
    assert content["claims"][0]["met"] is None and content["why"] == []
    assert json.loads(as_json(collect(tiny, Store(tmp_path))))["why"] == ["Nobody knows."]


@pytest.mark.parametrize(
    ("why", "is_said"),
    [
        (Why("So.", claims=("as good as “tree” on 2 of 2 data sets",), figures={("Moons", "tree"): "91.00"}), True),
        (Why("So.", claims=("as good as “tree” on 1 of 2 data sets",)), False),
        (Why("So.", figures={("Moons", "tree"): "91.00", ("Rings", "ours"): "92.01"}), False),
    ],
)
def test_an_explanation_is_dropped_when_the_figures_it_was_written_for_differ(results, why, is_said):
    assert ("So." in terminal(replace(results, table=replace(results.table, why=(why,))))) == is_said


def test_a_page_has_no_inline_style_which_its_policy_would_refuse(results):
    text = as_html(results)
    assert "style=" not in text and '<table class="figures">' in text
    assert "table.figures, .number { white-space: nowrap; }" in text


def test_folds_are_drawn_as_often_as_a_method_says():
    X, y = make_circle_and_ring(60, random_state=0)
    once, twice = (list(folds(MOONS, 3, 0, repeats).split(X, y)) for repeats in (1, 2))
    assert (len(once), len(twice)) == (3, 6)
    assert sorted(np.concatenate([test for _, test in twice[3:]])) == list(range(60))
    drawn = {tuple(test) for _, test in twice}
    assert len(drawn) == 6


def test_only_the_methods_asked_for_are_run(tmp_path, counted):
    protocol, ran = counted
    assert run([table(protocol, TREE, OURS)], Store(tmp_path), methods=["o*"], progress=False).ran == 6
    assert {line.split()[1] for line in ran()} == {"ours"}


def test_what_is_declared_as_not_run_is_left_out_and_a_footnote_says_why(tmp_path, counted):
    protocol, ran = counted
    tiny = table(protocol, TREE, OURS)
    tiny = replace(tiny, experiment=replace(tiny.experiment, not_run={("rings", "ours"): "took an hour"}))
    run([tiny], Store(tmp_path), progress=False)
    results = collect(tiny, Store(tmp_path))
    assert "rings ours 0" not in ran() and len(ran()) == 9
    assert results.is_final and results["Rings", "ours"].why_none == "took an hour"
    assert "took an hour" in terminal(results) and results["Moons", "ours"].values


def test_a_slow_method_or_data_set_has_fewer_seeds(counted):
    experiment = replace(table(counted[0], TREE, OURS).experiment, fewer_seeds={"ours": 2, "rings": 1})
    seeds = [
        experiment.n_seeds(*place, quick=False) for place in (("moons", "tree"), ("moons", "ours"), ("rings", "ours"))
    ]
    assert seeds == [3, 2, 1] and experiment.n_seeds("moons", "ours", quick=True) == 1
