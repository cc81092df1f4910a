"""Every command does its job on a table with gaps, words, an identifier and free text."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import planewise as pw
from clean_shell import run_python
from planewise.cli.choose import Trial, _by_score, choose_family
from planewise.cli.output import stage
from planewise.cli.split import Split
from planewise.table import TableModel

FAMILIES = ["tree", "forest", "boosting", "kernel", "additive", "recip"]


def settings(family, target="class"):
    if family == "kernel":
        return ["--set", "kernel=linear"] if target == "price" else ["--set", "mus=10,1", "--set", "gammas=0.2"]
    if family == "additive":
        return ["--set", "n_estimators=10", "--set", "cv=2"]
    return ["--set", "n_estimators=10"] if family in ("forest", "boosting") else []


def test_fit_says_what_it_found(csv, run):
    done = run("fit", csv, "--target", "class", "--model", "tree", "--drop", "price", "--out", "m.planewise")
    assert done.exit_code == 0
    for words in (
        "class: 2 classes (classification)",
        "192 for training, 48 held out",
        "4: 2 numeric, 1 boolean, 1 categorical",
        "size 7.9%, town 3.8%",
        "left out id: has a different whole number in every row: looks like an identifier",
        "left out note: has 192 different texts in 192 rows: looks like an identifier or free text",
        "left out country: has the same value in every row",
        "quality on 48 held-out rows",
        "most common class",
        "logistic regression",
        "were fitted on the training rows",
        "leading features",
        "one tree of planes (SLMClassifier)",
        "m.planewise",
    ):
        assert words in done.stdout, words
    assert "fitting one tree of planes on 192 rows" in done.stderr


@pytest.mark.parametrize("target", ["class", "price"])
def test_auto_compares_the_families_and_says_why(csv, run, target):
    done = run("fit", csv, "--target", target, "--drop", "price" if target == "class" else "class", "--json")
    answer = json.loads(done.stdout)
    assert done.stderr == ""
    assert [each["model"] for each in answer["compared"]] == (FAMILIES if target == "class" else FAMILIES[:-1])
    measure = "accuracy" if target == "class" else "r2"
    best = max(answer["compared"], key=lambda each: each[measure])
    chosen = next(each for each in answer["compared"] if each["model"] == answer["model"])
    assert best["model"] in answer["why"]
    assert chosen[measure] >= best[measure] - best["standard_error"]
    near = [each for each in answer["compared"] if each[measure] >= best[measure] - best["standard_error"]]
    readable = [name for name in ("tree", "additive") if name in {each["model"] for each in near}]
    smallest = min(near, key=lambda each: each["bytes"])
    assert answer["model"] == (readable[0] if readable else smallest["model"])
    assert set(answer["quality"]) == {
        "model",
        *(("most_common_class", "logistic_regression") if target == "class" else ("mean", "ridge_regression")),
    }
    assert answer["task"] == ("classification" if target == "class" else "regression")
    assert answer["file"] is None


@pytest.mark.parametrize(("target", "measure"), [("class", "log_loss"), ("price", "rmse")])
def test_explainable_compares_a_tree_with_views_by_their_loss(csv, run, target, measure):
    ask = ["fit", csv, "--target", target, "--drop", "price" if target == "class" else "class"]
    answer = json.loads(run(*ask, "--model", "explainable", "--json").stdout)
    assert [each["model"] for each in answer["compared"]] == ["tree", "additive"]
    assert answer["model"] == min(answer["compared"], key=lambda each: each[measure])["model"]
    assert "of the models that a person can read, it has the lowest" in answer["why"]


def trial(family, mean, n_bytes=1000):
    return Trial(family, [mean - 0.02, mean, mean + 0.02], n_bytes, 1.0)


@pytest.mark.parametrize(
    ("means", "chosen", "words"),
    [
        (
            {"tree": 0.90, "boosting": 0.94, "additive": 0.93},
            "additive",
            "additive is within one standard error of it (0.9300) and a person can read it",
        ),
        (
            {"tree": 0.93, "boosting": 0.94, "additive": 0.935},
            "tree",
            "tree is within one standard error of it (0.9300) and a person can read it",
        ),
        (
            {"tree": 0.93, "boosting": 0.90, "additive": 0.935},
            "tree",
            "tree is within one standard error of it (0.9300) and easier to read",
        ),
        ({"tree": 0.90, "boosting": 0.94, "additive": 0.95}, "additive", "additive has the best accuracy, 0.9500"),
        (
            {"tree": 0.90, "boosting": 0.95, "kernel": 0.94, "additive": 0.93},
            "kernel",
            "kernel is within one standard error of it (0.9400) and smaller",
        ),
    ],
)
def test_among_the_best_auto_takes_what_a_person_can_read(means, chosen, words):
    sizes = {"kernel": 100}
    found = _by_score([trial(family, mean, sizes.get(family, 1000)) for family, mean in means.items()], "accuracy")
    assert found[0] == chosen and words in found[1]


def test_families_are_compared_only_where_they_can_be_fitted(monkeypatch):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"x{j}": rng.normal(size=40) for j in range(4)} | {"y": ["a", "b"] * 20})
    monkeypatch.setattr("planewise.additive.base.MOST_COLUMNS", 3)
    at_random = Split("random", None, 0.2, 0)
    assert choose_family(table, "y", "classification", at_random, True, wanted="explainable").family == "tree"


@pytest.mark.parametrize(
    ("family", "target"), [(family, "class") for family in FAMILIES] + [(family, "price") for family in FAMILIES[:-1]]
)
def test_every_family_fits_predicts_explains_and_describes(family, target, towns, fitted, run):
    path = fitted(family, target, *settings(family, target))
    done = run("predict", path, "towns.csv", "--out", "p.csv", "--keep", "id")
    assert done.exit_code == 0, done.stderr
    answers = pl.read_csv("p.csv")
    model = pw.load(path)
    assert isinstance(model, TableModel)
    assert answers["id"].to_list() == towns["id"].to_list()
    expected = model.predict(towns)
    if target == "class":
        assert answers["prediction"].to_list() == expected.tolist()
    else:
        np.testing.assert_allclose(answers["prediction"].to_numpy(), expected, rtol=1e-12)
    explained = run("explain", path, "towns.csv", "--row", "17", "--html", "why.html")
    assert explained.exit_code == 0, explained.stderr
    assert "row 17" in explained.stdout
    assert f"<h1>Row 17: {target} is " in Path("why.html").read_text(encoding="utf-8")
    told = json.loads(run("explain", path, "towns.csv", "--row", "17", "--json").stdout)
    one = told["prediction"]
    assert one == expected[17] if target == "class" else one == pytest.approx(expected[17])
    described = json.loads(run("describe", path, "--json").stdout)
    assert described["target"] == target
    assert [column["name"] for column in described["columns"]] == ["size", "town", "new", "rooms"]
    assert run("describe", path, "--html", "what.html").exit_code == 0
    assert "<h2>Parameters</h2>" in Path("what.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("family", ["forest", "boosting"])
def test_contributions_add_up_to_the_score(family, fitted, run):
    path = fitted(family, "price", *settings(family))
    told = json.loads(run("explain", path, "towns.csv", "--row", "3", "--json").stdout)
    about = told["explanation"]
    assert about["average"] + sum(part["added"] for part in about["parts"]) == pytest.approx(about["total"])
    assert about["total"] == pytest.approx(told["prediction"])


@pytest.mark.parametrize("target", ["class", "price"])
def test_the_scores_of_views_add_up_to_the_total(fitted, run, target):
    path = fitted("additive", target, *settings("additive"))
    told = json.loads(run("explain", path, "towns.csv", "--row", "3", "--json").stdout)
    about = told["explanation"]
    assert about["base"] + sum(each["score"] for each in about["contributions"]) == pytest.approx(about["total"])
    if target == "price":
        assert about["total"] == pytest.approx(told["prediction"])
    shown = run("explain", path, "towns.csv", "--row", "3").stdout
    assert "The leading view" in shown and "What each view adds" in shown
    for each in about["contributions"]:
        assert " × ".join(each["features"]) in shown


def test_vectors_add_up_to_the_score(fitted, run, towns):
    path = fitted("kernel", "class", *settings("kernel"))
    told = json.loads(run("explain", path, "towns.csv", "--row", "3", "--json").stdout)
    about = told["explanation"]
    assert about["intercept"] + sum(vector["added"] for vector in about["vectors"]) == pytest.approx(about["score"])
    model = pw.load(path)
    score = float(model.estimator_.decision_function(model.read(towns[3:4]))[0])
    assert abs(about["score"]) == pytest.approx(abs(score), abs=1e-9)
    assert about["score"] >= 0  # towards the class that was chosen


def test_the_path_of_a_tree_ends_where_the_tree_ends(fitted, run, towns):
    path = fitted("tree", "price")
    model = pw.load(path)
    for row in (0, 5, 13, 29):
        told = json.loads(run("explain", path, "towns.csv", "--row", row, "--json").stdout)
        assert told["explanation"]["leaf"]["value"][0] == pytest.approx(model.predict(towns[row : row + 1])[0])


def test_probabilities_and_parquet(fitted, run, towns):
    path = fitted("boosting", "class", *settings("boosting"))
    towns.write_parquet("towns.parquet")
    towns.write_ipc("towns.arrow")
    towns.write_csv("towns.tsv", separator="\t")
    expected = pw.load(path).predict_proba(towns)
    for table in ("towns.csv", "towns.tsv", "towns.parquet", "towns.arrow"):
        done = run("predict", path, table, "--proba", "--out", "p.parquet", "--force", "--json")
        assert json.loads(done.stdout) == {"file": "p.parquet", "rows": 240}
        answers = pl.read_parquet("p.parquet")
        assert answers.columns == ["prediction", "p(cheap)", "p(dear)"]
        np.testing.assert_allclose(answers["p(dear)"].to_numpy(), expected[:, 1], rtol=1e-12)


def test_chunks_do_not_change_the_answers(fitted, run, monkeypatch, towns):
    path = fitted("tree")
    towns.write_parquet("towns.parquet")
    whole = run("predict", path, "towns.csv").stdout
    monkeypatch.setattr("planewise.data.files.lines.CHUNK_BYTES", 200)
    monkeypatch.setattr("planewise.data.files.tables.CHUNK_ROWS", 7)
    assert run("predict", path, "towns.csv").stdout == whole
    assert run("predict", path, "towns.parquet").stdout == whole
    assert whole.count("\n") == 241


@pytest.mark.parametrize("to", ["c", "onnx", "text", "html"])
@pytest.mark.parametrize("family", ["tree", "boosting", "kernel"])
def test_export_writes_every_form(family, to, fitted, run):
    if to == "onnx":
        pytest.importorskip("onnx")
    path = fitted(family, "class", *settings(family))
    done = run("export", path, "--to", to, "--out", f"m.{to}")
    assert done.exit_code == 0, done.stderr
    assert f"m.{to}" in done.stdout
    if to == "c":
        assert "columns in this order" in done.stdout
        assert "model_predict" in Path("m.c").read_text(encoding="utf-8")


def test_text_is_printed_without_a_file(fitted, run):
    done = run("export", fitted("tree"), "--to", "text")
    assert done.exit_code == 0 and "size" in done.stdout


def test_an_estimator_saved_from_python_is_asked_about_tables_too(run, towns):
    table = towns.select("size", "rooms", pl.col("town").cast(pl.Categorical)).to_pandas()
    tree = pw.SLMClassifier(random_state=0).fit(table, towns["class"].to_numpy())
    pw.save(tree, "tree.planewise")
    towns.write_csv("towns.csv")
    done = run("predict", "tree.planewise", "towns.csv", "--out", "p.csv")
    assert done.exit_code == 0, done.stderr
    assert pl.read_csv("p.csv")["prediction"].to_list() == tree.predict(table).tolist()
    assert run("explain", "tree.planewise", "towns.csv", "--row", "0").exit_code == 0
    assert run("describe", "tree.planewise").exit_code == 0


def content_of(model):
    """The bytes of the model's file without the record of its fit."""
    model.record_, file = None, io.BytesIO()
    pw.save(model, file)
    return file.getvalue()


def test_the_same_seed_gives_the_same_file_but_for_its_date(csv, run, monkeypatch):
    ask = ["fit", csv, "--target", "price", "--model", "boosting", "--seed", "3", "--out"]
    for name, seconds in (("a", "0"), ("b", "1700000000")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
        run(*ask, f"{name}.planewise")
    a, b = (pw.load(f"{name}.planewise") for name in ("a", "b"))
    assert (a.record_["date"], b.record_["date"]) == ("1970-01-01T00:00:00Z", "2023-11-14T22:13:20Z")
    assert a.record_ | {"date": ""} == b.record_ | {"date": ""}
    assert content_of(a) == content_of(b)


def test_the_same_seed_and_date_give_the_same_file(csv, run, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for name in ("a", "b"):
        run("fit", csv, "--target", "price", "--model", "boosting", "--seed", "3", "--out", f"{name}.planewise")
    assert Path("a.planewise").read_bytes() == Path("b.planewise").read_bytes()


def test_the_demo_ends_with_a_table_and_a_page(run):
    pytest.importorskip("matplotlib")
    done = run("demo", "--out", "demo.html")
    assert done.exit_code == 0
    assert "boosting" in done.stdout and "report: demo.html" in done.stdout
    content = Path("demo.html").read_text(encoding="utf-8")
    assert "on one thread each" in done.stdout and "on one thread each" in content
    assert (
        content.count("data:image/svg+xml;base64,") == 1 and "What each column added" in content and ">bmi<" in content
    )
    assert "http:" not in content and "https:" not in content


@pytest.mark.parametrize("words", [["--version"], ["--version", "fit"]])
def test_the_version_is_printed_with_its_name_whatever_follows(words):
    done = run_python("-c", "from planewise.cli import main; main()", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"planewise {pw.__version__}\n", "")


def test_names_of_the_users_are_printed_as_they_are(run, towns):
    table = towns.select(
        pl.col("size").alias(":car: [red]x[/red]"), "rooms", pl.col("class").replace({"dear": ":car:", "cheap": "[b]"})
    )
    table.write_csv("t.csv")
    done = run("fit", "t.csv", "--target", "class", "--model", "tree", "--out", "m.planewise")
    assert ":car: [red]x[/red]" in done.stdout
    done = run("describe", "m.planewise")
    assert "classes: :car:, [b]" in done.stdout and ":car: [red]x[/red]" in done.stdout


def test_lines_in_a_file_are_as_long_as_they_need(run, towns, monkeypatch):
    long = "a name that is longer than a narrow terminal is wide"
    towns.select("class", pl.col("size").alias(long), "rooms").write_csv("t.csv")
    wide = run("fit", "t.csv", "--target", "class", "--model", "tree", "--out", "m.planewise").stdout
    described = run("describe", "m.planewise").stdout
    monkeypatch.setenv("COLUMNS", "20")
    assert run("describe", "m.planewise").stdout == described
    assert long in wide and long in described


def test_help_has_examples(run):
    for command in ("demo", "fit", "predict", "describe", "explain", "export"):
        done = run(command, "--help")
        assert done.exit_code == 0 and f"planewise {command}" in done.stdout


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_balances_classes(family, fitted):
    model = pw.load(fitted(family, "class", *settings(family), "--set", "class_weight=balanced"))
    assert model.estimator_.class_weight == "balanced"


def test_a_setting_may_be_a_list_of_lists(fitted):
    path = fitted("recip", "class", "--set", "projections=[[0,1],[3]]")
    assert sorted(pw.load(path).estimator_.projections_) == [(0, 1), (3,)]
    path = fitted("recip", "class", "--set", 'projections=[["size","town"]]', "--force")
    assert pw.load(path).estimator_.projections_ == [(0, 1)]


@pytest.mark.parametrize("family", ["tree", "forest", "boosting"])
def test_constraints_are_given_by_name(family, fitted, csv, run):
    ask = ["--set", 'monotonic_cst={"size": -1}', "--set", 'interaction_cst=[["size", "town"]]', *settings(family)]
    model = pw.load(fitted(family, "price", *ask)).estimator_
    assert model.monotonic_cst == {"size": -1}
    assert model.interaction_cst == [["size", "town"]]
    done = run("fit", csv, "--target", "price", "--model", family, "--set", "monotonic_cst=1,0,0")
    assert done.exit_code == 2
    assert "monotonic_cst of a table needs column names" in done.stderr
    done = run("fit", csv, "--target", "price", "--model", family, "--set", 'interaction_cst=[["country", "size"]]')
    assert "interaction_cst names 'country', which is left out: it has the same value in every row" in done.stderr


@pytest.mark.parametrize(("family", "target"), [("recip", "class"), ("kernel", "price")])
def test_what_cannot_take_all_rows_says_that_it_learns_from_a_sample(family, target, csv, run, monkeypatch):
    for limit in ("MAX_ROWS_RECIP", "MAX_ROWS_REGRESSION_MACHINE"):
        monkeypatch.setattr(f"planewise.table.families.{limit}", 60)
    ask = ("fit", csv, "--target", target, "--model", family, "--drop", "class" if target == "price" else "price")
    done = run(*ask)
    assert done.exit_code == 0, done.stderr
    assert "rows     60 for training, 48 held out; 132 not used" in done.stdout
    told = json.loads(run(*ask, "--json").stdout)
    assert told["rows"] == {
        "read": 240,
        "with_target": 240,
        "fitted": 60,
        "held_out": 48,
        "not_used": 132,
        "of_new_classes": 0,
        "per_tree": None,
    }
    assert json.loads(run(*ask, "--json").stdout)["quality"] == told["quality"]


def test_every_tree_of_a_forest_draws_its_rows_where_they_are_many(csv, run, monkeypatch):
    monkeypatch.setattr("planewise.table.families.MAX_ROWS_FOREST_TREE", 100)
    ask = ["fit", csv, "--target", "class", "--model", "forest", "--set", "n_estimators=5", "--force"]
    done = run(*ask, "--out", "m.planewise")
    assert "192 for training, 48 held out; each tree draws 100 of them" in done.stdout
    forest = pw.load("m.planewise").estimator_
    assert forest.bootstrap and forest.max_samples == 100
    assert run(*ask, "--set", "bootstrap=false", "--out", "m.planewise").exit_code == 0
    assert not pw.load("m.planewise").estimator_.bootstrap
    monkeypatch.setattr("planewise.table.families.MAX_ROWS_FOREST_TREE", 192)
    assert "draws" not in run(*ask, "--out", "m.planewise").stdout


def test_names_and_labels_cannot_steer_the_terminal(run):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    evil = "\x1b[2J\x1b]0;gone\x07\x9b31m\u202e\r\nmodel    verified by audit"
    towns, y = rng.choice([f"Ulm{evil}", "Bonn"], 60), np.where(x > 0, f"yes{evil}", "n")
    pl.DataFrame({f"a{evil}": x, "town": towns, f"y{evil}": y}).write_parquet("evil.parquet")
    for command in (
        ["fit", "evil.parquet", "--target", f"y{evil}", "--model", "tree", "--out", "m.planewise"],
        ["describe", "m.planewise"],
        ["explain", "m.planewise", "evil.parquet", "--row", "0"],
        ["export", "m.planewise", "--to", "text"],
        ["export", "m.planewise", "--to", "c", "--out", "m.h"],
    ):
        done = run(*command)
        assert done.exit_code == 0 and r"a\x1b[2J" in done.stdout, done.stderr
        assert not set(done.stdout + done.stderr) & set("\x1b\x07\x9b\u202e\r")
        assert not [line for line in done.stdout.splitlines() if line.startswith("model    verified")], command


def test_names_of_files_cannot_steer_the_terminal(run, csv):
    evil = "\x1b]0;gone\x07\nmodel    verified by audit"
    Path(csv).rename(f"{evil}.csv")
    for command in (
        ["fit", f"{evil}.csv", "--target", "class", "--model", "tree", "--out", f"{evil}.planewise"],
        ["predict", f"{evil}.planewise", f"{evil}.csv", "--out", f"{evil}.parquet"],
        ["export", f"{evil}.planewise", "--to", "html", "--out", f"{evil}.html"],
    ):
        done = run(*command)
        printed = done.stdout + done.stderr
        assert done.exit_code == 0 and "]0;gone" in printed, done.stderr
        assert not set(printed) & set("\x1b\x07")
        assert not [line for line in printed.splitlines() if line.startswith("model    verified")], command


def test_names_of_files_are_no_markup_beside_the_spinner(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    with stage("reading [/red][link=x]\x1b]0;gone\x07.csv", quiet=False):
        pass
    told = capsys.readouterr().err
    assert r"reading [/red][link=x]\x1b]0;gone\x07.csv" in told


def test_describe_quotes_names_with_a_comma(run):
    rows = "".join(f'{k % 5}.{k},"{"ABC"[k % 3]}, old",{"AB"[k % 2]},{"xy"[k % 3 > 1]}\n' for k in range(90))
    Path("t.csv").write_text("n,part,side,kind\n" + rows)
    assert run("fit", "t.csv", "--target", "kind", "--model", "tree", "--out", "m.planewise").exit_code == 0
    done = run("describe", "m.planewise")
    assert "'A, old', 'B, old', 'C, old'" in done.stdout
    assert any(line.rstrip().endswith(" A, B") for line in done.stdout.splitlines())
