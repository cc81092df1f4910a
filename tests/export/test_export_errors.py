"""What cannot be exported is refused in words that help; files are whole or untouched."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from fitted import fitted_machine, fitted_tree, table, targets
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from planewise import (
    LargeScaleMCMClassifier,
    MCMClassifier,
    MCMClassifierCV,
    MCMRegressor,
    MCMRegressorCV,
    SLMClassifier,
    SLMRegressor,
)
from planewise._atomic import write_whole
from planewise.export import to_c, to_onnx
from planewise.table import TableModel


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError, match="TableModel instance is not fitted"):
        to_c(TableModel())
    with pytest.raises(NotFittedError, match="SLMClassifier instance is not fitted"):
        to_c(SLMClassifier())
    with pytest.raises(TypeError, match=r"SLMClassifier is a class; pass a fitted estimator"):
        to_c(SLMClassifier)


def test_other_estimators_are_told_what_can_be_exported():
    X, score = table("numbers")
    y = targets("two", score)
    with pytest.raises(TypeError, match=r"LogisticRegression cannot be exported to C; these can, .*: SLMClassifier"):
        to_c(LogisticRegression().fit(X, y))
    with pytest.raises(TypeError, match=r"pass its last step \(pipeline\[-1\]\)"):
        to_c(make_pipeline(StandardScaler(), SLMClassifier()).fit(X, y))
    steps = Pipeline([("fill", SimpleImputer()), ("tree", SLMClassifier(random_state=0))])
    search = GridSearchCV(steps, {"tree__max_depth": [1]}, cv=2).fit(X, y)
    with pytest.raises(TypeError, match=r"A Pipeline cannot be exported or described as a whole"):
        to_onnx(search)
    views = TableModel("recip").fit(pd.DataFrame(X, columns=list("abcde")).assign(y=y), "y")
    with pytest.raises(TypeError, match=r"RECIPClassifier cannot be exported to C; these can, also in a TableModel"):
        to_c(views)
    with pytest.raises(TypeError, match="A fitted estimator of planewise is needed; got dict"):
        to_c({})


def test_a_search_stands_for_its_best_estimator():
    X, score = table("numbers")
    search = GridSearchCV(SLMClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2).fit(X, targets("two", score))
    assert to_c(search) == to_c(search.best_estimator_)
    unfitted = MCMClassifierCV(mus=[1.0], gammas=[0.1], cv=2, n_repeats=1, refit=False).fit(X, targets("two", score))
    with pytest.raises(ValueError, match=r"refit=False and no machine to export.* MCMClassifier with"):
        to_c(unfitted)
    with pytest.raises(
        ValueError, match=r"MCMRegressorCV has refit=False and no machine to export.* MCMRegressor with"
    ):
        to_c(MCMRegressorCV(mus=[0.1], gammas=[0.1], cv=2, refit=False).fit(X, score))


def test_kernels_that_are_a_matrix_are_refused():
    X, score = table("numbers")
    y = targets("two", score)

    K = (X @ X.T).astype(np.float64) / 1e6 + np.eye(len(X))
    for machine, target in ((MCMClassifier(kernel="precomputed"), y), (MCMRegressor(kernel="precomputed"), score)):
        with pytest.raises(ValueError, match="kernel='precomputed' has no training rows"):
            to_c(machine.fit(K, target))


@pytest.mark.parametrize("name", ["", "2go", "a b", "float", "a" * 65, None, "naïve"])
def test_a_name_must_be_one_of_c(name):
    with pytest.raises(ValueError, match="name must be a C name"):
        to_c(fitted_tree("tree-two", "numbers")[0], name=name)


def test_an_unknown_layout_is_refused():
    with pytest.raises(ValueError, match="values must be 'exact' or 'compact'; got 'tiny'"):
        to_c(fitted_tree("tree-two", "numbers")[0], values="tiny")


def test_the_file_holds_what_is_returned(tmp_path):
    model, _ = fitted_machine("linear")
    path = tmp_path / "model.h"
    path.write_text("older")
    assert path.read_text() != to_c(model, path) == path.read_text(encoding="utf-8")
    assert os.listdir(tmp_path) == ["model.h"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.h"
    path.write_text("older")

    def full_disk(handle):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_whole(path, "newer")
    assert path.read_text() == "older" and os.listdir(tmp_path) == ["model.h"]


def test_impossible_places_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_whole(tmp_path / "nowhere" / "model.h", "text")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_whole(tmp_path, "text")


def test_numbers_beyond_float_are_refused_in_c():
    X, score = table("numbers")
    y = targets("two", score)
    with pytest.raises(ValueError, match=r"holds the number .*e\+\d+, which a float of C cannot hold; .*'exact'"):
        to_c(MCMClassifier().fit(X.astype(np.float64) * [1e300, 1, 1, 1, 1], y), values="compact")
    with pytest.raises(ValueError, match=r"which a float of C cannot hold; bring the columns and the target"):
        to_c(SLMRegressor(random_state=0).fit(X, score * 1e100))


@pytest.mark.parametrize(("export", "form"), [(to_c, "C"), (to_onnx, "ONNX")])
def test_columns_whose_values_a_float_cannot_tell_apart_are_refused(export, form):
    rng = np.random.default_rng(0)
    minutes = rng.uniform(0, 10, 80)
    rows = pd.DataFrame(
        {"size": rng.normal(size=80), "when": pd.Timestamp("2024-05-01") + minutes * pd.Timedelta("1min")}
    )
    rows["y"] = np.where(minutes > 5, "late", "soon")
    by_time = TableModel("kernel", settings={"mus": [1.0], "gammas": [0.1], "cv": 2, "n_repeats": 1}).fit(rows, "y")
    told = rf"to {form}: .*'when' .*around 19,8\d\d.* cannot distinguish them; subtract .* since a start date"
    with pytest.raises(ValueError, match=told):
        export(by_time)
    seconds = np.column_stack([rows["size"], 1.7e9 + 60 * minutes])
    for kernel in ("rbf", "linear"):
        with pytest.raises(ValueError, match=r"'x1'.*steps of 128 "):
            export(MCMClassifier(kernel=kernel).fit(seconds, rows["y"]))
    with pytest.raises(ValueError, match=r"'x1'"):
        export(MCMRegressor().fit(seconds, minutes))


def test_columns_far_from_zero_are_exported_where_a_float_has_their_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(20_000, 300, 80), np.full(80, 2.0**25), rng.normal(size=80)])
    y = X[:, 0] > 20_000
    assert "model_predict" in to_c(MCMClassifier().fit(X, y))
    X[:, 1] += 37  # a constant, and none that a float has
    with pytest.raises(ValueError, match=r"'x1'"):
        to_c(MCMClassifier().fit(X, y))
    X[:, 1] += 30_000 * X[:, 2]  # floats distinguish enough of its values: this machine reads floats itself
    assert "model_predict" in to_c(LargeScaleMCMClassifier(max_iter=1, random_state=0).fit(X, y))
