"""A new user's mistakes: one clear message, exit code 2, no traceback, nothing half-written."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

import planewise as pw
from planewise.cli import main


def mistake(done, *words):
    """One line that says it."""
    assert done.exit_code == 2, (done.exit_code, done.stdout, done.stderr)
    told = [line for line in done.stderr.splitlines() if not line.endswith("...")]
    assert len(told) == 1 and told[0].startswith("planewise: "), done.stderr
    for word in words:
        assert word in told[0], told[0]


def with_a_word(towns, word):
    """The table with a word among the numbers of a column, in row 199."""
    size = pl.when(pl.col("id") == 200).then(pl.lit(word)).otherwise(pl.col("size").cast(str))
    return towns.with_columns(size.alias("size"))


def test_a_table_that_is_not_there(run):
    for name in ("nowhere.csv", "http://localhost/rows.csv"):
        mistake(run("fit", name, "--target", "y"), f"'{name}': No such file or directory.")


def test_a_table_of_an_unknown_kind(run):
    Path("table.xlsx").write_bytes(b"PK")
    mistake(run("fit", "table.xlsx", "--target", "y"), "'table.xlsx' cannot be read as Excel")
    Path("table.zip").write_bytes(b"PK\x03\x04")
    mistake(run("fit", "table.zip", "--target", "y"), "'table.zip' is a zip archive: unpack it first.")
    Path("table.dat").write_bytes(b"\x01\x02,3")
    mistake(run("fit", "table.dat", "--target", "y"), "'table.dat' is not a text table: it holds control characters")


def test_a_folder_instead_of_a_table(run):
    Path("folder.csv").mkdir()
    mistake(run("fit", "folder.csv", "--target", "y"), "'folder.csv' is a folder: name the files in it")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n", "has no rows"),
        (b"a,b\n1,2,3,4\n5\n", "cannot be read as a table"),
        (b"a,b\n\x00,2\n", "is not a text table"),
    ],
)
def test_a_table_that_is_none(run, content, words):
    Path("t.csv").write_bytes(content)
    mistake(run("fit", "t.csv", "--target", "b"), words)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_binary_table_that_is_none(run, ending):
    Path(f"t.{ending}").write_bytes(b"nothing of the kind")
    mistake(run("fit", f"t.{ending}", "--target", "b"), f"cannot be read as {ending.title()}")


def test_a_target_that_is_misspelt(csv, run):
    mistake(run("fit", csv, "--target", "clas"), "The table has no column 'clas'; did you mean 'class'?")
    mistake(run("fit", csv, "--target", "zzz"), "The table has no column 'zzz'; it has 'id', 'size'")
    mistake(run("fit", csv, "--target", "class", "--drop", "prise"), "no column 'prise'; did you mean 'price'?")
    mistake(run("fit", csv, "--target", "class", "--drop", "class"), "is the target; it cannot be dropped")


def test_a_target_with_one_value(csv, run):
    mistake(run("fit", csv, "--target", "country"), "The target 'country' has the value 'DE' in every row")


def test_a_target_of_words_as_a_regression(csv, run):
    done = run("fit", csv, "--target", "class", "--task", "regression", "--model", "tree")
    mistake(done, "The target 'class' holds String values; a regression needs numbers.")


def test_too_few_rows(run):
    Path("t.csv").write_text("a,y\n1,a\n2,b\n")
    mistake(run("fit", "t.csv", "--target", "y", "--model", "tree"), "2 rows", "at least 10")


def test_nothing_to_learn_from(run):
    Path("t.csv").write_text("k,y\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(40)))
    mistake(run("fit", "t.csv", "--target", "y", "--model", "tree"), "can be used to predict 'y': 'k' has a different")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("max_depht=4", "SLMClassifier has no parameter 'max_depht'; did you mean 'max_depth'"),
        (
            "max_depth=deep",
            "The parameter 'max_depth' of SLMClassifier must be an integer of 1 or more or None",
        ),
        ("max_depth=0", "must be an integer of 1 or more"),
        ("bins=tiny", "must be 'uniform' or 'robust' or 'quantile'"),
        ("max_depth", "--set takes name=value"),
    ],
)
def test_a_setting_that_is_wrong(csv, run, setting, words):
    mistake(run("fit", csv, "--target", "class", "--model", "tree", "--set", setting), words)


def test_settings_without_a_family(csv, run):
    mistake(run("fit", csv, "--target", "class", "--set", "max_depth=3"), "--set applies to one kind of model")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("fti", "'fit'"),
        ("--goal", "--goal"),
        ("describe", "'model'"),
        ("fit --goal", "--goal"),
        ("fit t.csv", "'--target'"),
        ("fit t.csv --target y --model forrest", "'forrest'"),
        ("explain m.planewise t.csv --row x", "'--row'"),
    ],
)
def test_wrong_arguments_are_named(run, words, named):
    done = run(*words.split())
    assert done.exit_code == 2 and named in done.stderr and done.stdout == ""


def test_without_a_command_there_is_help(run):
    done = run()
    assert "Usage: planewise" in done.stdout and done.stderr == ""


def test_a_table_with_too_few_rows_says_how_many(run):
    Path("t.csv").write_text("a,b\n1,x\n2,\n")
    mistake(run("fit", "t.csv", "--target", "b", "--task", "classification"), "the table has 1 row with a value of 'b'")


def test_a_message_of_several_lines_is_told_in_one(run, csv, monkeypatch):
    def fail(path):
        raise ValueError("no table:\n\n  a hint\n")

    monkeypatch.setattr("planewise.data.InputTable.read", fail)
    mistake(run("fit", csv, "--target", "class"), "planewise: no table: a hint")


@pytest.mark.parametrize("error", [KeyError, TypeError, ImportError])
def test_a_bug_is_shown_with_its_traceback(run, csv, monkeypatch, error):
    def fail(path):
        raise error("oops")

    monkeypatch.setattr("planewise.data.InputTable.read", fail)
    with pytest.raises(error, match="oops"):
        main(["fit", csv, "--target", "class"])


@pytest.mark.parametrize("form", ["c", "onnx"])
def test_a_model_that_cannot_be_exported_is_a_mistake(run, towns, form):
    X = towns.select("size", "rooms").to_numpy()
    pw.save(pw.ConformalKernel().fit(X, towns["class"].to_numpy()), "m.planewise")
    mistake(run("export", "m.planewise", "--to", form, "--out", "m.out"), "ConformalKernel cannot be exported to")


def test_a_long_message_is_cut_in_the_middle(run, csv, monkeypatch):
    def fail(path):
        raise ValueError(f"begins {'x' * 10_000} ends")

    monkeypatch.setattr("planewise.data.InputTable.read", fail)
    done = run("fit", csv, "--target", "class")
    mistake(done, "begins xx", "xx ends")
    assert len(done.stderr) < 3000


def test_the_demo_says_before_it_works_that_it_may_not_write(run, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    done = run("demo")
    mistake(done, "permission denied: the folder '.' is not writable.")
    assert done.stdout == ""


def test_a_file_that_exists_is_kept(csv, run, fitted):
    Path("old.planewise").write_text("mine")
    mistake(
        run("fit", csv, "--target", "class", "--out", "old.planewise"), "already exists; use --force to replace it."
    )
    model = fitted("tree")
    Path("old.csv").write_text("mine")
    mistake(run("predict", model, csv, "--out", "old.csv"), "exists; use --force")
    mistake(run("explain", model, csv, "--row", "1", "--html", "old.csv"), "exists; use --force")
    mistake(run("export", model, "--to", "c", "--out", "old.csv"), "exists; use --force")
    mistake(run("predict", model, csv, "--out", "no/p.csv"), "the folder 'no' for 'p.csv' does not exist")
    mistake(run("predict", model, csv, "--out", "p.txt"), "must end in one of .csv, .tsv, .parquet")
    mistake(run("export", model, "--to", "c"), "--to c needs --out FILE, or --out - to print it.")
    assert Path("old.planewise").read_text() == Path("old.csv").read_text() == "mine"


def test_a_model_file_that_is_none(csv, run):
    for command in (["predict", csv, csv], ["describe", csv], ["explain", csv, csv, "--row", "0"]):
        mistake(run(*command), "The file 'towns.csv' is not a model file, or is truncated or damaged")
    mistake(run("describe", "nowhere"), "'nowhere': No such file or directory.")


def test_a_truncated_model_file(csv, run, fitted):
    path = Path(fitted("tree"))
    path.write_bytes(path.read_bytes()[:-100])
    mistake(run("predict", path, csv), "truncated or damaged")


def test_a_table_without_a_column_the_model_needs(run, fitted, towns):
    model = fitted("tree")
    towns.rename({"size": "Size"}).write_csv("other.csv")
    towns.drop("town").write_parquet("other.parquet")
    mistake(run("predict", model, "other.csv", "--out", "p.csv"), "no column 'size'; did you mean 'Size'")
    mistake(run("predict", model, "other.parquet", "--out", "p.csv"), "no column 'town'")
    mistake(run("predict", model, "other.csv", "--keep", "nothing"), "none of the columns 'size', 'nothing'")
    assert not Path("p.csv").exists()


@pytest.mark.parametrize("family", ["tree", "kernel"])
def test_a_column_of_another_type(run, fitted, towns, family):
    more = ["--set", "mus=10,1", "--set", "gammas=0.2"] if family == "kernel" else []
    model = fitted(family, "class", *more)
    words = with_a_word(towns, "large")
    words.write_csv("words.csv")
    done = run("predict", model, "words.csv", "--out", "p.csv")
    mistake(done, "Column 'size' holds the text 'large' in row 199 (line 400), but held numbers", "--missing large")
    words.write_parquet("words.parquet")
    mistake(run("predict", model, "words.parquet", "--out", "p.csv"), "Column 'size' holds text, but held numbers")
    towns.with_columns(pl.lit(3).alias("town")).write_parquet("numbers.parquet")
    mistake(run("predict", model, "numbers.parquet"), "Column 'town' holds", "but held text")
    assert not Path("p.csv").exists()


def test_an_error_on_the_way_leaves_what_was_there(run, fitted, towns, monkeypatch):
    model = fitted("tree")
    monkeypatch.setattr("planewise.data.files.lines.CHUNK_BYTES", 500)
    words = with_a_word(towns, "x")
    words.write_csv("words.csv")
    for name in ("p.csv", "p.parquet"):
        Path(name).write_text("before")
        mistake(run("predict", model, "words.csv", "--out", name, "--force"), "'x'")
        assert Path(name).read_text() == "before"
    assert not list(Path().glob("*.part"))


def test_a_row_that_is_not_there(csv, run, fitted):
    model = fitted("tree")
    mistake(run("explain", model, csv, "--row", "240"), "has 240 rows, counted from 0: there is no row 240.")
    mistake(run("explain", model, csv, "--row", "-1"), "rows are counted from 0; got --row -1.")


def test_probabilities_of_numbers(csv, run, fitted):
    mistake(run("predict", fitted("tree", "price"), csv, "--proba"), "--proba needs a classifier")


def test_a_model_without_names(csv, run, towns):
    pw.save(pw.SLMClassifier().fit(towns["rooms"].to_numpy()[:, None], towns["class"].to_numpy()), "m.planewise")
    mistake(run("predict", "m.planewise", csv), "array without column names")


def test_the_demo_without_matplotlib_names_the_extra(run, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    mistake(run("demo"), "planewise.plot needs matplotlib", "pip install '.[plot]'")


@pytest.mark.parametrize("to", ["c", "onnx"])
def test_a_model_that_keeps_its_rows_as_a_program(run, fitted, to):
    words = "a recip model keeps its training rows and cannot be written as C or ONNX. Use --to text or --to html, or "
    model = fitted("recip")
    mistake(run("export", model, "--to", to, "--out", "m"), words + "fit with --model")
    assert not Path("m").exists()


def test_onnx_without_its_package_names_the_extra(run, fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = run("export", fitted("tree"), "--to", "onnx", "--out", "m.onnx")
    mistake(done, "to_onnx needs onnx", "pip install '.[export]'")


def test_a_kept_column_with_the_name_of_an_answer(run, fitted, towns):
    model = fitted("tree")
    towns.rename({"id": "prediction", "note": "p(dear)"}).write_csv("t.csv")
    words = "--keep 'prediction': the predictions have a column of this name"
    mistake(run("predict", model, "t.csv", "--keep", "prediction", "--out", "p.csv"), words)
    mistake(run("predict", model, "nowhere.csv", "--keep", "prediction"), words)
    mistake(run("predict", model, "t.csv", "--keep", "p(dear)", "--proba"), "--keep 'p(dear)': the predictions have")
    assert run("predict", model, "t.csv", "--keep", "p(dear)").exit_code == 0


def test_a_list_that_is_no_json(csv, run):
    done = run("fit", csv, "--target", "class", "--model", "recip", "--set", "projections=[[0,1]")
    mistake(done, "The value of 'projections', '[[0,1]', starts like a JSON list but is not one")
