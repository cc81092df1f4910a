"""What the MCM paper's tables need beside the rest: raw files, choices on test folds, two stages, rules for claims."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks.reproduce import data as sets
from benchmarks.reproduce import methods as m
from benchmarks.reproduce import settle_mcm as settle
from benchmarks.reproduce import sizes
from benchmarks.reproduce.data import numbers
from benchmarks.reproduce.declaration import Data
from benchmarks.reproduce.protocols import InsideAndOnTestFolds, folds, load
from benchmarks.reproduce.staged import StagedMachine
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.model_selection import StratifiedShuffleSplit

from planewise import LargeScaleMCMClassifier, MCMClassifier

HOME = Path(os.environ.get("PLANEWISE_DATA", ""))
TINY = Data("tiny", ("make_circle_and_ring", {"n_samples": 60}))
pytestmark = pytest.mark.filterwarnings("ignore")  # that published programs are degenerate


def test_raw_text_is_numbered_and_nothing_is_left_out():
    frame = pd.DataFrame({"id": [3, 1, 2], "kind": ["b", None, "a"]})
    clean = Data("x", ("load", "x", None), left_out=("id",))
    assert_array_equal(numbers(frame, clean), [[0, 1], [0, 0], [1, 0]])
    assert_array_equal(numbers(frame, replace(clean, raw=True, left_out=())), [[3, 2], [1, np.nan], [2, 1]])


@pytest.mark.skipif(not (HOME / "index.csv").is_file(), reason="no data directory (set PLANEWISE_DATA to one)")
def test_the_row_number_of_glass_alone_separates_its_classes():
    X, y = load(sets.MCM_CONFORMAL["Glass, raw"], 0, str(HOME))
    assert X[y == 0, 0].max() < X[y == 1, 0].min()
    assert X.shape[1] == load(sets.MCM_CONFORMAL["Glass"], 0, str(HOME))[0].shape[1] + 1


def test_the_choice_on_the_test_fold_is_the_best_point_of_all_fitted_on_the_rest():
    method = m.mcm_as_published(1e-4, "signed")
    found = InsideAndOnTestFolds().run(TINY, method, 1, None)
    X, y = load(TINY, 0, None)
    train, test = list(folds(TINY, 5, 0).split(X, y))[1]
    fixed = {
        "max_iter": 5000,
        "mu": 1e-4,
        "slack": "sum",
        "relaxation": 1.0,
        "scaling": "standard",
        "conformal": "signed",
    }
    grid = method.grid
    accuracy = {
        (C, gamma, times): 100
        * MCMClassifier(C, gamma=gamma, gamma_conformal=times * gamma, **fixed)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for C in grid["Cs"]
        for gamma in grid["gammas"]
        for times in grid["gammas_conformal"]
    }
    assert_allclose(found["on test"], max(accuracy.values()))
    by_gamma_c = [[a for (_, _, times), a in accuracy.items() if times == each] for each in grid["gammas_conformal"]]
    assert_allclose(found["best, mean of gamma_c"], np.mean([max(each) for each in by_gamma_c]))
    assert_allclose(found["best less average"], np.mean([max(each) - np.mean(each) for each in by_gamma_c]))
    assert found["accuracy"] <= found["on test"] + 1e-9


def test_the_svm_has_as_many_points_as_the_machine_and_the_same_factors_between_them():
    machine, svm = m.mcm_as_published(0.0, "none").grid, m.WIDE_SVC.grid
    for ours, theirs in ((machine["Cs"], svm["C"]), (machine["gammas"], svm["gamma"])):
        assert_allclose(np.diff(np.log2(sorted(ours))), np.diff(np.log2(sorted(theirs))))


def test_separability_is_measured_on_any_rows_and_agrees_with_the_factor_on_its_own():
    X, y = make_moons(80, noise=0.2, random_state=0)
    machine = MCMClassifier(conformal="signed", scaling="standard").fit(X, y)
    factor = machine._factor
    expected = factor.separability(1.0) / factor.separability(0.0)
    assert_allclose(sizes.separability_gained(machine, X, y), expected, rtol=1e-6)


def test_gamma_c_is_tuned_at_the_best_point_of_the_plain_machine():
    X, y = make_moons(300, noise=0.3, random_state=0)
    first, then = {"mu": [100.0, 0.1], "C": [1000.0]}, {"gamma_conformal": [1e-8, 3.0]}
    made = StagedMachine(factor={"conformal": "signed"}, first=first, then=then, random_state=1).fit(X, y)
    learned, judged = next(StratifiedShuffleSplit(1, test_size=0.2, random_state=1).split(X, y))

    def accuracy(**point):
        machine = LargeScaleMCMClassifier(**point, random_state=1).fit(X[learned], y[learned])
        return machine.score(X[judged], y[judged])

    mu = max(first["mu"], key=lambda mu: accuracy(mu=mu, C=1000.0))
    gamma = max(then["gamma_conformal"], key=lambda gamma: accuracy(mu=mu, conformal="signed", gamma_conformal=gamma))
    assert made.best_params_ == {"mu": mu, "C": 1000.0, "conformal": "signed", "gamma_conformal": gamma}
    again = LargeScaleMCMClassifier(**made.best_params_, random_state=1).fit(X, y)
    assert_array_equal(made.predict(X), again.predict(X))
    assert made.n_support_ == again.n_support_


# ------------------------------------------------------------------------------------------------ rules for claims
class FakeResults:
    """Entries by row and column with these means, and nothing else."""

    def __init__(self, columns):
        self.columns = {name: np.asarray(values, dtype=float) for name, values in columns.items()}
        n_rows = len(next(iter(self.columns.values())))
        self.table = SimpleNamespace(rows=[SimpleNamespace(title=f"set {k}") for k in range(n_rows)])

    def __getitem__(self, place):
        row, column = place
        titles = [each.title for each in self.table.rows]
        value = self.columns[column][titles.index(row)]
        return SimpleNamespace(mean=value, values=(value,))

    def pairs(self, ours, theirs):
        for row in self.table.rows:
            yield row.title, self[row.title, ours], self[row.title, theirs]


BASE = np.linspace(60, 90, 10)
NOISE = np.array([0.3, -0.2, 0.1, -0.4, 0.2, -0.1, 0.4, -0.3, 0.05, -0.05])


def conformal_results(inside, on_test=None, as_many=None, mu_alone=None):
    """Gains with every mu, or with `mu_alone`: inside folds, on test folds, and there among as many points."""
    columns = {}
    for mu in settle.MUS:
        here = [each if mu_alone in (None, mu) else NOISE for each in (inside, on_test, as_many)]
        here = [NOISE if each is None else each for each in here]
        columns |= {f"plain, mu={mu}": BASE, f"plain, mu={mu}, on test": BASE + 1}
        columns |= {f"signed, mu={mu}": BASE + here[0], f"signed, mu={mu}, on test": BASE + 1 + here[1]}
        columns[f"signed, mu={mu}, as many points"] = BASE + 1 + here[2]
    return FakeResults(columns)


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ({"inside": 2 + NOISE}, "holds"),
        (
            {"inside": 2 + NOISE, "mu_alone": "0"},
            "holds when mu is 0 (clean files, chosen inside folds); or mu is 0 (raw files, chosen inside folds)",
        ),
        ({"inside": -2 + NOISE}, "does not hold"),
        (
            {"inside": 2 + NOISE, "mu_alone": "1e-06"},
            "holds when mu is 1e-06 (clean files, chosen inside folds); or mu is 1e-06 (raw files, chosen inside "
            "folds)",
        ),
    ],
)
def test_the_conformal_gain_holds_inside_folds_with_every_penalty_or_where_it_is_sure(gains, words):
    assert settle.conformal_gains(conformal_results(**gains)).words == words


def test_a_gain_on_test_folds_counts_only_among_as_many_points():
    assert settle.conformal_gains(conformal_results(NOISE, on_test=3 + NOISE)).verdict == "does not hold"
    outcome = settle.conformal_gains(conformal_results(NOISE, on_test=3 + NOISE, as_many=3 + NOISE))
    assert outcome.verdict == "holds when" and outcome.when.count("among as many points") == 2
    assert "inside folds" not in outcome.when


def test_holm_corrects_for_the_number_of_comparisons():
    weak = np.array([1, 2, 3, 4, 5, 6, 7, 8, -3.5, -1.5])
    assert 0.01 < settle.p_value(weak) < 0.05
    assert settle.sure_gains({"weak": weak}) == {"weak"}
    assert settle.sure_gains({"weak": weak} | {k: NOISE for k in range(11)}) == set()
    assert settle.sure_gains({"sure": 2 + NOISE, "loss": -2 + NOISE} | {k: NOISE for k in range(10)}) == {"sure"}


@pytest.mark.parametrize(("printed", "verdict"), [(0.0, "holds"), (-2.0, "does not hold")])
def test_equations_that_do_worse_as_printed_do_not_hold(printed, verdict):
    columns = {"plain, mu=0": BASE, "signed, mu=0": BASE + 1, "printed, mu=0": BASE + 1 + printed + NOISE}
    assert settle.printed_equations(FakeResults(columns)).verdict == verdict


@pytest.mark.parametrize(
    ("plain", "signed", "words"),
    [
        (4.0, 4.0, "holds"),
        (0.0, 4.0, "holds when a conformal kernel is used"),
        (4.0, 0.0, "holds when no conformal kernel is used"),
        (0.0, -4.0, "does not hold"),
    ],
)
def test_fine_tuning_is_needed_if_average_points_lose_more_than_those_of_the_svm(plain, signed, words):
    svm = np.full(10, 5.0)
    columns = {"SVC, lost": svm, "plain, mu=0, lost": svm + plain + NOISE, "signed, mu=0, lost": svm + signed + NOISE}
    assert settle.needs_fine_tuning(FakeResults(columns)).words == words


@pytest.mark.parametrize(
    ("published", "ours", "words"),
    [
        (-0.5, 0.0, "holds"),
        (-0.5, -5.0, "holds"),
        (-5.0, -0.5, "holds when lambda is penalised (ours)"),
        (-5.0, -2.0, "does not hold"),
    ],
)
def test_comparable_is_within_a_point_of_the_svm_and_the_published_machine_decides(published, ours, words):
    results = FakeResults({"SVM": BASE, "MCM, published": BASE + published, "MCM": BASE + ours})
    assert settle.comparable_to_svm(results).words == words


@pytest.mark.parametrize(
    ("published", "ours", "words"),
    [
        (3.0, 3.0, "holds"),
        (3.0, 0.0, "holds when lambda is not penalised (mu = 0, as published)"),
        (0.0, 3.0, "holds when lambda is penalised (ours)"),
        (0.0, 0.0, "does not hold"),
    ],
)
def test_a_gain_in_table_2_is_that_of_the_published_machine(published, ours, words):
    plain = {"MCM, published": BASE, "MCM": BASE}
    conformal = {"MCM conformal, published": BASE + published + NOISE, "MCM conformal": BASE + ours + NOISE}
    assert settle.conformal_gains_in_table_2(FakeResults(plain | conformal)).words == words


@pytest.mark.parametrize(
    ("published", "ours", "words"),
    [(5, 9, "holds"), (80, 9, "holds when lambda is penalised (ours)"), (80, 70, "does not hold")],
)
def test_fewer_is_at_least_three_times(published, ours, words):
    results = FakeResults({"SVM": np.full(10, 99), "MCM, published": [published] * 10, "MCM": [ours] * 10})
    assert settle.fewer_vectors(results).words == words


@pytest.mark.parametrize(
    ("published", "ours", "words"),
    [
        (1, 50, "holds"),
        (50, 1, "holds when lambda is penalised (ours)"),
        (50, 50, "does not hold"),
        (50, 0, "does not hold"),  # predicts a single class
    ],
)
def test_far_fewer_is_more_than_a_hundred_times_on_one_set(published, ours, words):
    results = FakeResults({"SVM": [399] * 3, "MCM, published": [300, 300, published], "MCM": [300, 300, ours]})
    outcome = settle.sometimes_far_fewer(results)
    assert outcome.words == words and "set 2" in outcome.evidence


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ((50, 40, 99, 99), "holds"),
        ((120, 40, 50, 50), "holds when cores are not counted"),
        ((120, 120, 50, 50), "holds when lambda is penalised (ours)"),
        ((120, 120, 120, 50), "holds when lambda is penalised (ours) and cores are not counted"),
        ((120, 120, 120, 120), "does not hold"),
    ],
)
def test_sparser_with_a_conformal_kernel_is_said_with_and_without_its_cores(vectors, words):
    columns = {"MCM, published": [100] * 10, "MCM": [100] * 10}
    names = ("conformal, published, with cores", "conformal, published", "conformal, with cores", "MCM conformal")
    columns |= {name: number + 10 * NOISE for name, number in zip(names, vectors, strict=True)}
    assert settle.conformal_is_sparser(FakeResults(columns)).words == words


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [([5, 30], "holds"), ([5, 30, 99], "holds in part"), ([5, 99], "does not hold")],
)
def test_a_sparse_program_has_at_most_a_third_of_the_rows(shares, verdict):
    assert settle.published_program_is_sparse(FakeResults({"published, % of rows": shares})).verdict == verdict


@pytest.mark.parametrize(
    ("published", "ours", "words"),
    [(0, 5, "holds"), (5, 0, "holds when our large-scale machine is used"), (5, 5, "does not hold")],
)
def test_our_addition_does_not_count_among_the_large_sets(published, ours, words):
    def worse_on(number):  # of the first sets, and on our addition
        return BASE - np.array([k < number or k == 9 for k in range(10)])

    columns = {"LS MCM, published": BASE, "LS MCM": BASE}
    columns |= {"LS Conf MCM, published": worse_on(published), "LS Conf MCM": worse_on(ours)}
    results = FakeResults(columns)
    results.table.rows[9].title = settle.OUR_ADDITION
    outcome = settle.large_scale_gains(results)
    assert outcome.words == words and f"on {9 - published} of 9 data sets" in outcome.evidence


@pytest.mark.parametrize(("held_out", "words"), [(1.5, "holds"), (0.7, "holds when it is measured on training rows")])
def test_separability_must_rise_on_held_out_rows_too(held_out, words):
    ratios = np.exp(NOISE / 10)
    results = FakeResults({"training separability": 3 * ratios, "held-out separability": held_out * ratios})
    assert settle.separates(results).words == words
