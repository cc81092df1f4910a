"""--group and --time: held-out rows and folds that do not leak."""

from __future__ import annotations

import json
import warnings
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from test_mistakes import mistake

import planewise as pw
from planewise.cli.split import Split

N = 300


def visits(seed=0, n_patients=25):
    """Patients of very different numbers of visits, whose own level tells the outcome."""
    rng = np.random.default_rng(seed)
    patient = np.minimum(rng.geometric(0.12, N) - 1, n_patients - 1)
    level = rng.normal(size=n_patients)[patient] * 2
    age = rng.normal(50, 10, N)
    risk = level + 0.05 * (age - 50) + rng.normal(size=N) * 0.3
    return pl.DataFrame(
        {
            "patient": [f"p{k}" for k in patient],
            "day": [date(2024, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 60, N)],
            "age": age,
            "mark": level + rng.normal(size=N) * 0.01,  # identifies the patient
            "risk": risk,
            "ill": np.where(risk > 0, "yes", "no"),
        }
    )


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_no_group_is_on_both_sides(task, seed, share):
    table, split = visits(seed), Split("group", "patient", share, seed)
    target = "ill" if task == "classification" else "risk"
    train, test, n_new = split.held_out(table, target, task)
    assert not set(table["patient"][train]) & set(table["patient"][test])
    assert len(train) + len(test) + n_new == N
    assert abs(len(test) / N - share) < 0.08
    for learn, held in split.folds(table, target, task):
        assert not set(table["patient"][learn]) & set(table["patient"][held])
        assert len(learn) + len(held) <= N


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_all_held_out_times_are_after_all_training_times(task, seed, share):
    table, split = visits(seed), Split("time", "day", share, seed)
    target = "ill" if task == "classification" else "risk"
    train, test, _ = split.held_out(table, target, task)
    assert table["day"][train].max() < table["day"][test].min()  # equal times are on the same side
    assert abs(len(test) / N - share) < 0.03
    folds = split.folds(table, target, task)
    assert len(folds) == 3
    for learn, held in folds:
        assert table["day"][learn].max() < table["day"][held].min()
    assert np.array_equal(
        np.sort(np.concatenate([held for _, held in folds])), np.unique(np.concatenate([held for _, held in folds]))
    )


def test_the_same_seed_holds_out_the_same_groups_and_another_seed_others():
    table = visits()
    held = [
        Split("group", "patient", 0.2, seed).held_out(table, "risk", "regression").test.tolist() for seed in (3, 3, 4)
    ]
    assert held[0] == held[1] != held[2]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series("g", [True, False] * 20),
        pl.Series("g", ["a", "b"] * 20, dtype=pl.Categorical),
        pl.Series("g", [1.5, 2.5] * 20),
        pl.Series("g", [date(2024, 1, 1), date(2024, 1, 2)] * 20),
        pl.Series("g", [10, 20] * 20, dtype=pl.Int8),
    ],
    ids=lambda values: str(values.dtype),
)
def test_groups_may_be_values_of_any_kind(values):
    table = pl.DataFrame({"g": values, "y": np.arange(40.0)})
    split = Split("group", "g", 0.5, 0)
    split.check_values(table, str)
    train, test, _ = split.held_out(table, "y", "regression")
    assert len(train) == len(test) == 20 and table["g"][train].n_unique() == 1


def test_rows_at_random_are_still_those_of_earlier_versions():
    """The same seed must hold out the same rows as before."""
    from sklearn.model_selection import train_test_split

    table = visits()
    split = Split("random", None, 0.2, 7).held_out(table, "ill", "classification")
    expected = train_test_split(np.arange(N), test_size=0.2, random_state=7, stratify=table["ill"].to_list())
    assert split.test.tolist() == sorted(expected[1].tolist())


def test_classes_that_only_later_rows_have_are_left_out_and_counted():
    table = visits().sort("day").with_columns(ill=pl.when(pl.arange(N) >= N - 9).then(pl.lit("new")).otherwise("ill"))
    train, test, n_new = Split("time", "day", 0.2, 0).held_out(table, "ill", "classification")
    assert n_new == 9 and len(train) + len(test) == N - 9
    assert "new" not in set(table["ill"][test])


def test_random_folds_do_not_ask_for_classes_that_they_have_not_learned():
    table = pl.DataFrame({"x": np.arange(40.0), "y": ["a"] * 20 + ["b"] * 19 + ["rare"]})
    for learn, held in Split("random", None, 0.2, 0).folds(table, "y", "classification"):
        assert set(table["y"][held]) <= set(table["y"][learn])


def test_one_group_or_time_in_training_is_too_little_to_compare_models():
    two = pl.DataFrame(
        {"who": ["a"] * 30 + ["b"] * 10, "when": [1] * 30 + [2] * 10, "x": np.arange(40.0), "y": [0, 1] * 20}
    )
    for kind, column in (("group", "who"), ("time", "when")):
        split = Split(kind, column, 0.2, 0)
        train = two[split.held_out(two, "y", "classification").train]
        with pytest.raises(ValueError, match=f"--{kind} '{column}': the training rows have too few .* --model tree"):
            split.require_folds(split.folds(train, "y", "classification"))


def fit(run, *args):
    return run("fit", "visits.csv", "--target", "ill", "--drop", "risk", *args)


@pytest.fixture
def table():
    visits().write_csv("visits.csv")
    return visits()


def test_what_is_learned_by_heart_about_groups_does_not_count_with_group(run):
    rng = np.random.default_rng(0)
    patient = rng.integers(0, 40, N)
    mark = patient + rng.normal(size=N) * 0.01  # tells who it is, and nothing else
    pl.DataFrame({"patient": patient, "mark": mark, "ill": rng.random(40)[patient] > 0.5}).write_csv("marks.csv")
    accuracy = {}
    for more in ([], ["--group", "patient"]):
        done = run("fit", "marks.csv", "--target", "ill", "--model", "boosting", "--json", *more)
        told = json.loads(done.stdout)
        accuracy[bool(more)] = told["quality"]["model"]["accuracy"]["value"]
    assert accuracy[False] > 0.9 and accuracy[True] < 0.8


def test_fit_says_which_rows_are_held_out_and_leaves_the_column_out(table, run):
    done = fit(run, "--model", "tree", "--time", "day", "--out", "m.planewise")
    assert done.exit_code == 0, done.stderr
    assert "held out (the latest by 'day': from 2024-0" in done.stdout
    assert "left out day: is the column of --time" in done.stdout
    model = pw.load("m.planewise")
    assert "day" not in model.feature_names_in_
    assert model.record_["split"] == {"kind": "time", "column": "day", "share": 0.2}
    described = run("describe", "m.planewise").stdout
    assert "held out (the latest by 'day')" in described and "left out day" in described
    told = json.loads(fit(run, "--model", "tree", "--group", "patient", "--json").stdout)
    assert told["split"]["kind"] == "group" and told["split"]["words"].endswith("groups of 'patient': 6 of 24")
    assert told["left_out"][0]["name"] == "patient" and "--group" in told["left_out"][0]["why"]


@pytest.mark.parametrize("option", [["--group", "patient"], ["--time", "day"]])
@pytest.mark.parametrize("target", ["ill", "risk"])
def test_auto_compares_all_models_on_such_folds(table, run, option, target):
    drop = "risk" if target == "ill" else "ill"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = run("fit", "visits.csv", "--target", target, "--drop", drop, *option, "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["compared"]) == (6 if target == "ill" else 5)  # RECIP predicts classes only
    assert option[1] in {each["name"] for each in told["left_out"]}


def test_estimators_that_search_get_folds_of_groups(table, monkeypatch):
    from planewise.cli.choose import fit_split
    from planewise.table import TableModel

    seen = []
    usual = TableModel.fit
    monkeypatch.setattr(
        TableModel, "fit", lambda self, *a, folds=None, **k: (seen.append(folds), usual(self, *a, **k))[1]
    )
    split = Split("group", "patient", 0.2, 0)
    for family, settings, n_folds in (
        ("additive", {"n_estimators": 3}, 5),
        ("kernel", {"cv": 3, "mus": [1.0], "gammas": [0.1]}, 3),
    ):
        fit_split(TableModel(family, settings=settings, random_state=0), table.drop("risk"), "ill", split)
        assert len(seen[-1]) == n_folds
        for learn, held in seen[-1]:
            assert not set(table["patient"][learn]) & set(table["patient"][held])
    fit_split(TableModel("tree", random_state=0), table.drop("risk"), "ill", split)
    assert seen[-1] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--group", "patiant"], "--group: The table has no column 'patiant'; did you mean 'patient'?"),
        (["--time", "ill"], "--time 'ill': this is the target; choose another column."),
        (["--group", "patient", "--time", "day"], "--group and --time cannot be combined"),
        (
            ["--time", "patient"],
            "--time: column 'patient' holds text, but must hold dates such as 2024-03-09, or numbers.",
        ),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(table, run, options, words):
    mistake(fit(run, "--model", "tree", *options), words)


def test_gaps_and_single_values_are_refused_with_their_row(table, run):
    odd = table.with_columns(
        patient=pl.when(pl.arange(N).is_in([7, 9]).not_()).then(pl.col("patient")),
        one=pl.lit("a"),
        once=pl.lit(3),
    )
    odd.write_csv("visits.csv")
    mistake(
        fit(run, "--model", "tree", "--group", "patient"), "column 'patient' has no value in line 9 and 1 other row;"
    )
    mistake(fit(run, "--model", "tree", "--group", "one"), "column 'one' has only one group, 'a'; at least")
    mistake(fit(run, "--model", "tree", "--time", "once"), "column 'once' has only one time, 3; at least")
