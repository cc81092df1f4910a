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

BESIDE_THE_REPOSITORY = Path(__file__).resolve().parent / "../../../shared/data"
HOME = Path(os.environ.get("PLANEWISE_DATA") or BESIDE_THE_REPOSITORY)
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
    assert_allclose(found["lost"], max(accuracy.values()) - np.mean(list(accuracy.values())))
    best = [max(a for (_, _, times), a in accuracy.items() if times == each) for each in grid["gammas_conformal"]]
    assert_allclose(found["as many points"], np.mean(best))
    assert found["accuracy"] <= found["on test"] + 1e-9


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
        value = self.columns[column][int(row.split()[1])]
        return SimpleNamespace(mean=value, values=(value,))

    def pairs(self, ours, theirs):
        for row in self.table.rows:
            yield row.title, self[row.title, ours], self[row.title, theirs]


BASE = np.linspace(60, 90, 10)
NOISE = np.array([0.3, -0.2, 0.1, -0.4, 0.2, -0.1, 0.4, -0.3, 0.05, -0.05])


def conformal_results(inside, on_test):
    columns = {}
    for mu in settle.MUS:
        columns |= {f"plain, mu={mu}": BASE, f"plain, mu={mu}, on test": BASE + 1}
        columns |= {f"signed, mu={mu}": BASE + inside, f"signed, mu={mu}, on test": BASE + 1 + on_test}
        columns[f"signed, mu={mu}, as many points"] = BASE + 1
    return FakeResults(columns)


@pytest.mark.parametrize(
    ("inside", "on_test", "verdict"),
    [
        (2 + NOISE, 3 + NOISE, "holds"),
        (NOISE, 3 + NOISE, "holds in part"),
        (NOISE, NOISE, "does not hold"),
        (-2 + NOISE, -1 + NOISE, "does not hold"),
    ],
)
def test_a_gain_only_on_test_folds_holds_in_part(inside, on_test, verdict):
    outcome = settle.conformal_gains(conformal_results(inside, on_test))
    assert outcome.verdict == verdict
    assert "as many points" in outcome.evidence


@pytest.mark.parametrize(("printed", "verdict"), [(0.0, "holds in part"), (-2.0, "does not hold")])
def test_equations_that_do_worse_as_printed_do_not_hold(printed, verdict):
    columns = {"plain, mu=0": BASE, "signed, mu=0": BASE + 1, "printed, mu=0": BASE + 1 + printed + NOISE}
    assert settle.printed_equations(FakeResults(columns)).verdict == verdict


@pytest.mark.parametrize(("lost", "verdict"), [(4.0, "holds"), (0.0, "does not hold")])
def test_fine_tuning_is_needed_if_average_points_lose_more_than_those_of_the_svm(lost, verdict):
    svm = np.full(10, 5.0)
    columns = {"SVC, lost": svm, "plain, mu=0, lost": svm + lost + NOISE, "signed, mu=0, lost": svm + lost + NOISE}
    assert settle.needs_fine_tuning(FakeResults(columns)).verdict == verdict


@pytest.mark.parametrize(
    ("published", "ours", "verdict"),
    [(-0.5, 0.0, "holds"), (-5.0, -0.5, "holds in part"), (-5.0, -2.0, "does not hold")],
)
def test_comparable_is_within_a_point_of_the_svm(published, ours, verdict):
    results = FakeResults({"SVM": BASE, "MCM, published": BASE + published, "MCM": BASE + ours})
    assert settle.comparable_to_svm(results).verdict == verdict


@pytest.mark.parametrize(
    ("published", "ours", "verdict"), [(5, 9, "holds"), (80, 9, "holds in part"), (80, 70, "does not hold")]
)
def test_fewer_is_at_least_three_times(published, ours, verdict):
    results = FakeResults({"SVM": np.full(10, 99), "MCM, published": [published] * 10, "MCM": [ours] * 10})
    assert settle.fewer_vectors(results).verdict == verdict


@pytest.mark.parametrize(
    ("shares", "verdict"), [([5, 30], "holds"), ([5, 99], "holds in part"), ([70, 99], "does not hold")]
)
def test_a_sparse_program_has_at_most_a_third_of_the_rows(shares, verdict):
    assert settle.published_program_is_sparse(FakeResults({"published, % of rows": shares})).verdict == verdict


@pytest.mark.parametrize(("held_out", "verdict"), [(1.5, "holds"), (0.7, "holds in part")])
def test_separability_must_rise_on_held_out_rows_too(held_out, verdict):
    ratios = np.exp(NOISE / 10)
    results = FakeResults({"training separability": 3 * ratios, "held-out separability": held_out * ratios})
    assert settle.separates(results).verdict == verdict
