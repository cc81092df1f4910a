"""Files of earlier versions: parameters had other names, single trees no means."""

from __future__ import annotations

from pathlib import Path

import pytest
from catalogue import fitted
from golden_files import GOLDEN
from rewrite import parts_of, write

import planewise as pw
from planewise.io import ModelFileError
from planewise.io._versions import SCHEMA

FOLDER = Path(__file__).parent / "golden"


def in_version_1(model, path, changed):
    """A file of the model as version 1 would have written it, with these changes of its parameters."""
    pw.save(model, path)
    document, arrays = parts_of(path)
    for old, (new, value) in changed.items():
        document["model"]["parameters"].pop(new)
        document["model"]["parameters"][old] = value
    write(path, document | {"schema": 1}, arrays)
    return pw.load(path)


@pytest.mark.parametrize(
    ("name", "was", "now"),
    [
        ("machine, frame", True, "arcsinh"),
        ("machine for numbers", "standard", "standard"),
        ("search", False, None),
        ("large machine, conformal", True, "robust"),
        ("views", "standard", "standard"),
    ],
)
def test_the_scale_of_version_1_has_its_new_name_and_words(tmp_path, name, was, now):
    assert in_version_1(fitted(name)[0], tmp_path / "old", {"scale": ("scaling", was)}).scaling == now


def test_the_prior_and_the_order_of_views_have_their_new_names(tmp_path):
    changed = {"smoothing": ("prior_weight", 2.5), "alpha": ("tsallis_order", 0.25)}
    again = in_version_1(fitted("views")[0], tmp_path / "old", changed)
    assert again.prior_weight == 2.5
    assert again.tsallis_order == 0.25


def test_settings_of_a_table_model_are_those_of_its_estimator(tmp_path):
    settings = {"dict": [["scale", False], ["C", 10.0]]}
    again = in_version_1(fitted("table, machine")[0], tmp_path / "old", {"settings": ("settings", settings)})
    assert again.settings == {"scaling": None, "C": 10.0}


def test_a_machine_inside_another_model_is_translated_too():
    search = pw.load(FOLDER / "schema-1" / "search.planewise")
    assert search.scaling == search.best_estimator_.scaling == "arcsinh"


@pytest.mark.parametrize("wrong", ["rank", 3, ["standard"], {"dict": []}])
def test_a_scale_that_never_was_is_refused(tmp_path, wrong):
    with pytest.raises(ModelFileError, match="parameters that are not allowed: The parameter 'scaling'"):
        in_version_1(fitted("views")[0], tmp_path / "old", {"scale": ("scaling", wrong)})


def test_old_names_are_not_read_from_new_files(tmp_path):
    pw.save(fitted("views")[0], tmp_path / "new")
    document, arrays = parts_of(tmp_path / "new")
    document["model"]["parameters"]["scale"] = document["model"]["parameters"].pop("scaling")
    assert document["schema"] == SCHEMA
    write(tmp_path / "new", document, arrays)
    with pytest.raises(ModelFileError, match="parameters that this version does not know: scale"):
        pw.load(tmp_path / "new")


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("name", ["tree", "tree_numbers"])
def test_trees_of_earlier_files_refuse_contributions_and_explain_all_the_same(version, name):
    tree, X = pw.load(FOLDER / f"schema-{version}" / f"{name}.planewise"), fitted(GOLDEN[name])[1]
    with pytest.raises(ValueError, match=r"needs the attribute feature_means_.*Fit the tree again"):
        tree.predict_contributions(X)
    assert len(tree.explain(X[:2])) == 2
    assert tree.describe().facts


def test_an_earlier_tree_that_is_saved_again_still_has_no_means(tmp_path):
    pw.save(pw.load(FOLDER / "schema-3" / "tree.planewise"), tmp_path / "new")
    assert not hasattr(pw.load(tmp_path / "new"), "feature_means_")


def test_views_of_earlier_files_count_equally_far_rows_as_they_did_also_when_saved_again(tmp_path):
    old, X = pw.load(FOLDER / "schema-5" / "views.planewise"), fitted(GOLDEN["views"])[1]
    pw.save(old, tmp_path / "new")
    again = pw.load(tmp_path / "new")
    assert (again.predict_proba(X) == old.predict_proba(X)).all()
    assert not (again.predict_proba(X) == pw.load(FOLDER / "schema-6" / "views.planewise").predict_proba(X)).all()
    for explanation in again.explain(X[:20]):
        counts = explanation.data()["counts"]
        assert (counts["n_for"] + counts["n_against"], counts["n_tied"]) == (old.k_, 0)
