"""planewise fit --corrections: the decisions of a review teach the model, and never touch the held-out rows."""

from __future__ import annotations

import gzip
import json
import secrets
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.answers.recording import unsealed

from planewise.app._review import Asked, Review
from planewise.cli._split import Split
from planewise.cli._tables import load_table_model
from planewise.files import InputTable


def make(n, seed, wrong=0.0):
    """Two numbers decide; some labels are wrong."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n)).round(4)
    right = np.where(x + y > 0, "yes", "no")
    told = np.where(rng.random(n) < wrong, np.where(right == "yes", "no", "yes"), right)
    return pl.DataFrame({"key": [f"{k:04d}" for k in range(n)], "x": x, "y": y, "town": rng.choice(["Ulm", "Bonn"], n), "kind": told, "price": (3 * x + y).round(3)}), right  # fmt: skip # noqa: E501


@pytest.fixture
def files(run):
    train, _ = make(300, 1, wrong=0.25)
    train.drop("price").write_csv("train.csv")
    new, right = make(80, 2)
    new.drop("kind", "price").write_csv("new.csv")
    assert run("fit", "train.csv", "--target", "kind", "--model", "boost", "--out", "m.planewise").exit_code == 0
    return right


def review(table, labels, who="Ada", answers=None):
    """Decide some rows: {row: label}."""
    model = load_table_model(Path("m.planewise"))
    one = Review(
        model,
        InputTable([table]).read_all(model.columns_),
        answers or Path(table).with_suffix(".answers.jsonl"),
        who,
        source=table,
        original=lambda: InputTable([table]).as_written(),
    )
    for row, label in labels.items():
        same = one.answer(row) == label
        one.decide(row, Asked(secrets.token_hex(16), "accept" if same else "override", label))
    wrong = [row for row, label in labels.items() if one.answer(row) != label]
    one.close()
    return wrong


def fit(run, *more, table="train.csv", target="kind", family="boost"):
    done = run("fit", table, "--target", target, "--model", family, "--json", *more)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_rows_of_another_table_are_added_to_the_training_rows_only(run, files):
    wrong = review("new.csv", {row: files[row] for row in range(60)})
    plain, told = fit(run), fit(run, "--corrections", "new.answers.jsonl", "--out", "better.planewise")
    found = told["corrections"]
    assert (found["n_decided"], found["n_rows_added"], found["n_labels_changed"]) == (60, 60, 0)
    assert told["rows"]["fitted"] == plain["rows"]["fitted"] + 60 and told["rows"]["not_used"] == 0
    assert told["rows"]["held_out"] == plain["rows"]["held_out"] and plain["corrections"] is None
    assert found["quality_without"] == plain["quality"]["model"] and found["quality_with"] == told["quality"]["model"]
    assert found["n_overridden"] == len(wrong) > 3
    model, new = load_table_model(Path("better.planewise")), pl.read_csv("new.csv")
    n_right = sum(model.predict(new)[row] == files[row] for row in wrong)
    assert found["n_overridden_right_with"] == n_right >= found["n_overridden_right_without"] == 0


def test_decisions_about_the_fitted_table_replace_labels_but_not_of_held_out_rows(run, files):
    _, right = make(300, 1, wrong=0.25)
    own = pl.read_csv("train.csv")["kind"].to_list()
    review("train.csv", {row: right[row] for row in range(300)})
    plain, told = fit(run), fit(run, "--corrections", "train.answers.jsonl")
    found = told["corrections"]
    n_wrong = sum(own[row] != right[row] for row in range(300))
    assert found["n_rows_added"] == 0 and found["n_in_held_out_rows"] == told["rows"]["held_out"] == 60
    assert found["n_labels_changed"] + found["n_labels_confirmed"] == 240 and 0 < found["n_labels_changed"] < n_wrong
    assert found["quality_without"] == plain["quality"]["model"]
    assert found["quality_with"]["accuracy"]["value"] < 0.85  # a quarter of the held-out labels are wrong, and stay


def test_rows_without_a_label_get_one(run, files):
    gaps = pl.read_csv("train.csv").with_columns(
        pl.when(pl.int_range(300) % 10 == 0).then(None).otherwise(pl.col("kind")).alias("kind")
    )
    gaps.write_csv("gaps.csv")
    review("gaps.csv", {row: "yes" for row in range(0, 300, 10)})
    told = fit(run, "--corrections", "gaps.answers.jsonl", table="gaps.csv")
    assert told["corrections"]["n_rows_added"] == 30 and told["rows"]["fitted"] == 30 + 0.8 * 270


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_exported_review_teaches_the_same(run, files, form):
    review("new.csv", {row: files[row] for row in range(40)})
    review("train.csv", {row: "no" for row in range(40)})
    for table in ("new", "train"):
        out = f"{table}.reviewed.{form}"
        assert run("review", "m.planewise", f"{table}.csv", "--export", out, "--all-rows").exit_code == 0
        one, other = (fit(run, "--corrections", each) for each in (f"{table}.answers.jsonl", out))
        assert one["corrections"] == other["corrections"] and one["corrections"]["n_decided"] == 40


def test_reviewers_who_disagree_are_left_out_or_chosen(run, files):
    review("new.csv", dict.fromkeys(range(10), "yes"))
    review("new.csv", {row: "no" if row < 4 else "yes" for row in range(10)}, who="Bob")
    assert run("review", "m.planewise", "new.csv", "--export", "new.reviewed.csv").exit_code == 0
    for file in ("new.answers.jsonl", "new.reviewed.csv"):
        found = fit(run, "--corrections", file)["corrections"]
        assert (found["n_decided"], found["n_disputed"], found["n_rows_added"]) == (6, 4, 6)
        chosen = fit(run, "--corrections", file, "--corrections-by", "Bob")["corrections"]
        assert (chosen["n_decided"], chosen["n_disputed"]) == (10, 0)
        done = run("fit", "train.csv", "--target", "kind", "--corrections", file, "--corrections-by", "Eve")
        assert done.exit_code == 2 and "the reviewers of" in done.stderr and "Ada" in done.stderr


def test_numbers_are_corrected_too_and_people_read_what_changed(run, files):
    train, _ = make(200, 1)
    train.drop("kind").write_csv("prices.csv")
    new, _ = make(40, 2)
    new.drop("kind", "price").write_csv("flats.csv")
    fitted = run("fit", "prices.csv", "--target", "price", "--model", "boost", "--out", "m.planewise", "--force")
    assert fitted.exit_code == 0
    review("flats.csv", dict(enumerate(new["price"].to_list())))
    done = run("fit", "prices.csv", "--target", "price", "--model", "boost", "--corrections", "flats.answers.jsonl")
    assert "corrections  40 decisions: 40 training rows added" in done.stdout
    assert "mean absolute error on 40 overridden cases in training: " in done.stdout
    assert "without corrections" in done.stdout and "quality on 40 held-out rows" in done.stdout
    found = fit(run, "--corrections", "flats.answers.jsonl", table="prices.csv", target="price")["corrections"]
    assert found["mean_error_overridden_with"] < found["mean_error_overridden_without"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--corrections", "nothing.jsonl"], "there is no file"),
        (["--corrections", "train.csv"], "neither an answers file nor an exported review"),
        (["--corrections-by", "Ada"], "give the answers file too"),
        (["--corrections", "moved/new.answers.jsonl"], "which is not there: put it back, or export it with"),
        (["--corrections", "changed.jsonl"], "was changed after the review"),
        (["--corrections", "old.jsonl"], "does not name the file of its table"),
        (["--corrections", "new.answers.jsonl", "--target", "town"], "holds answers about 'kind', not about"),
        (["--corrections", "other.answers.jsonl"], "has no column 'town', which the table to fit has; --drop town"),
    ],
)
def test_mistakes_are_told_with_the_remedy(run, files, more, words):
    review("new.csv", {0: "yes"})
    Path("moved").mkdir()
    Path("moved/new.answers.jsonl").write_bytes(Path("new.answers.jsonl").read_bytes())
    Path("changed.csv").write_text(Path("new.csv").read_text() + "9999,1,1,Ulm\n")
    text = unsealed(Path("new.answers.jsonl").read_text())
    Path("changed.jsonl").write_text(text.replace('"file": "new.csv"', '"file": "changed.csv"'))
    Path("old.jsonl").write_text(
        text.replace('"version": 2', '"version": 1').replace('"file": "new.csv"', '"file": null')
    )
    pl.read_csv("new.csv").drop("town").write_csv("other.csv")
    if "other.answers.jsonl" in more:
        run(
            "fit",
            "train.csv",
            "--target",
            "kind",
            "--drop",
            "town",
            "--out",
            "m.planewise",
            "--force",
            "--model",
            "slm",
        )
        review("other.csv", {0: "yes"})
    done = run("fit", "train.csv", *([] if "--target" in more else ["--target", "kind"]), "--model", "slm", *more)
    assert done.exit_code == 2 and words in done.stderr and len(done.stderr.strip().splitlines()) <= 2


def test_a_table_beyond_the_memory_is_refused_by_name(run, files, monkeypatch):
    review("new.csv", {0: "yes"})
    monkeypatch.setattr("planewise.cli._large.available_memory", lambda: 100)
    done = run("fit", "train.csv", "--target", "kind", "--model", "slm", "--corrections", "new.answers.jsonl")
    assert done.exit_code == 2 and "--corrections needs all rows in memory, but the table would take" in done.stderr


def test_a_reviewed_file_among_several_to_fit_is_refused(run, files):
    Path("parts").mkdir()
    rows = pl.read_csv("train.csv", infer_schema=False)
    for number in (0, 1):
        rows[number::2].write_csv(f"parts/{number}.csv")
    review("parts/0.csv", {0: "yes"}, answers="part.jsonl")
    done = run("fit", "parts/0.csv", "parts/1.csv", "--target", "kind", "--model", "slm", "--corrections", "part.jsonl")
    assert done.exit_code == 2 and "one of several files to fit: rows of it may be held out" in done.stderr
    review("new.csv", {0: "yes"})
    found = fit(run, "parts/1.csv", "--corrections", "new.answers.jsonl", table="parts/0.csv")
    assert found["corrections"]["n_rows_added"] == 1


def gzipped(run, table="train.csv", labels=None):
    """A review of the same table in another file."""
    Path(f"{table}.gz").write_bytes(gzip.compress(Path(table).read_bytes()))
    review(f"{table}.gz", labels, answers=Path("copy.jsonl"))
    assert run("review", "m.planewise", f"{table}.gz", "--answers", "copy.jsonl", "--export", "copy.csv").exit_code == 0


@pytest.mark.parametrize("form", ["copy.jsonl", "copy.csv", "bare.csv", "shuffled.csv", "unnumbered.csv"])
def test_decisions_about_a_copy_of_the_fitted_table_are_those_about_the_table(run, files, form):
    _, right = make(300, 1, wrong=0.25)
    labels = {row: right[row] for row in range(300)}
    review("train.csv", labels)
    gzipped(run, labels=labels)
    told = fit(run, "--corrections", "train.answers.jsonl")
    export = pl.read_csv("copy.csv", infer_schema=False)
    export.drop("review_table", "review_row").write_csv("bare.csv")
    export.drop("review_table").with_columns(pl.Series("review_row", range(300))).sample(
        fraction=1, shuffle=True, seed=0
    ).write_csv("shuffled.csv")
    assert run("review", "m.planewise", "train.csv", "--export", "train.out.csv").exit_code == 0
    pl.read_csv("train.out.csv", infer_schema=False).drop("review_row").write_csv("unnumbered.csv")
    copied = fit(run, "--corrections", form)
    assert copied["corrections"] == told["corrections"]
    assert copied["corrections"]["n_in_held_out_rows"] == 60 and copied["rows"] == told["rows"]


def test_codes_of_a_copy_are_compared_as_they_are_written(run, files):
    """The decided rows alone would be read as numbers, and 1.50 would become 1.5."""
    codes = ["1.50" if row < 20 else f"K{row % 7}" for row in range(300)]
    pl.read_csv("train.csv", infer_schema=False).with_columns(key=pl.Series(codes)).write_csv("codes.csv")
    labels = dict.fromkeys(range(20), "yes")
    review("codes.csv", labels)
    gzipped(run, "codes.csv", labels)
    one, other = (fit(run, "--corrections", each, table="codes.csv") for each in ("codes.answers.jsonl", "copy.csv"))
    assert one["corrections"] == other["corrections"] and other["corrections"]["n_rows_added"] == 0


def test_equal_rows_get_the_same_label_unless_one_is_held_out(run, files):
    table = pl.read_csv("train.csv", infer_schema=False)
    (twice := pl.concat([table, table])).write_csv("twice.csv")
    table.drop("kind").write_csv("plain.csv")
    review("plain.csv", dict.fromkeys(range(300), "yes"))
    found = fit(run, "--corrections", "plain.answers.jsonl", table="twice.csv")["corrections"]
    train = np.setdiff1d(np.arange(600), held := np.array(held_out_of(twice)))
    apart = set((train % 300).tolist()) - set((held % 300).tolist())
    assert found["n_in_held_out_rows"] == 300 - len(apart) and found["n_rows_added"] == 0
    assert found["n_labels_changed"] + found["n_labels_confirmed"] == 2 * len(apart)


def held_out_of(table):
    return Split.of(None, None, 0.2, 0).held_out(table, "kind", "classification").test


def test_two_exports_in_one_file_lose_nothing(run, files):
    review("new.csv", dict.fromkeys(range(30), "yes"))
    review("train.csv", dict.fromkeys(range(30), "no"))
    for name in ("new", "train"):
        assert run("review", "m.planewise", f"{name}.csv", "--export", f"{name}.out.csv").exit_code == 0
    parts = [pl.read_csv(f"{name}.out.csv", infer_schema=False) for name in ("new", "train")]
    joined = pl.concat(parts, how="diagonal")
    joined.write_csv("both.csv")
    joined.drop("review_table").write_csv("unnamed.csv")
    apart = fit(run, "--corrections", "new.out.csv", "--corrections", "train.out.csv")["corrections"]
    assert (apart["n_decided"], apart["n_rows_added"]) == (60, 30) and apart["n_in_held_out_rows"] > 0
    for file in ("both.csv", "unnamed.csv"):
        assert fit(run, "--corrections", file)["corrections"] == apart


def test_an_export_that_names_no_reviewer_has_none_to_choose(run, files):
    review("new.csv", dict.fromkeys(range(5), "yes"))
    assert run("review", "m.planewise", "new.csv", "--export", "new.csv.out.csv").exit_code == 0
    export = pl.read_csv("new.csv.out.csv", infer_schema=False)
    export.with_columns(review_who=pl.lit(None, pl.String)).write_csv("empty.csv")
    export.drop("review_who").write_csv("without.csv")
    for file in ("empty.csv", "without.csv"):
        done = run("fit", "train.csv", "--target", "kind", "--corrections", file, "--corrections-by", "Bob")
        assert done.exit_code == 2 and f"the reviewers of '{file}' are none." in done.stderr
