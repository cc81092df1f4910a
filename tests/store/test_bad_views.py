"""Files of sums of views whose parts do not belong together are refused, and say which."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import fitted
from rewrite import parts_of, write

import planewise as pw
from planewise.store import ModelFileError


@pytest.fixture
def refused(tmp_path):
    """A function that changes the file of a model and expects an error with these words."""

    def check(change, words, name="sum of views"):
        path = tmp_path / "m.planewise"
        pw.save(fitted(name)[0], path)
        document, arrays = parts_of(path)
        change(document["model"]["fitted"], arrays)
        write(path, document, arrays)
        with pytest.raises(ModelFileError, match=words):
            pw.load(path)

    return check


def views(new):
    """Other views: a list, or a function of those that are there."""

    def change(model, arrays):
        model["projections_"] = new(model["projections_"]) if callable(new) else new

    return change


def array(value, *path):
    """Another value in the first place of an array, or another array by a function."""

    def change(model, arrays):
        for part in path:
            model = model[part]
        if callable(value):
            arrays[model] = value(arrays[model])
        else:
            if arrays[model].dtype.kind in "ui":
                arrays[model] = arrays[model].astype(np.int64)
            arrays[model].flat[0] = value

    return change


def entry(value, *path):
    """Another value in the document."""

    def change(model, arrays):
        for part in path[:-1]:
            model = model[part]
        model[path[-1]] = value

    return change


def in_kept_column(column, value):
    def change(model, arrays):
        kept = model["_kept"]
        arrays[kept["values"]][0, kept["columns"].index(column)] = value

    return change


def test_the_model_of_these_tests_moves_effects_of_numbers_and_of_categories():
    model = fitted("sum of views")[0]
    columns = {move.column for move in model._purified.moves}
    assert columns & set(model.categories_) and columns - set(model.categories_)
    assert 4 in model._kept.columns  # the words


@pytest.mark.parametrize(
    "new",
    [
        lambda known: [[*known[0], 5, 5], *known[1:]],
        lambda known: [[], *known[1:]],
        lambda known: [view[::-1] for view in known],
        lambda known: [[known[0][0], 6], *known[1:]],
        lambda known: [[known[0][0], known[0][0]], *known[1:]],
    ],
)
def test_a_view_has_one_or_two_columns_of_the_table_in_order(refused, new):
    refused(views(new), "projections_ with an invalid view")


def test_a_view_is_there_once(refused):
    refused(views(lambda known: [known[0], known[0], *known[2:]]), "a view twice")


def test_trees_belong_to_their_view(refused):
    refused(views(lambda known: [known[-1], *known[1:-1], known[0]]), "a tree that reads columns of another view")
    refused(views(lambda known: known[:-1]), "number of trees that does not match its rounds")
    refused(entry(5, "n_iter_"), "number of trees that does not match its rounds")


def test_a_model_of_one_class_alone_has_no_views(refused):
    refused(entry([[0]], "projections_"), "does not match its loss", "sum of views, one class")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (array(lambda a: a[:-1], "_purified", "centre"), "_purified.centre of shape"),
        (array(np.nan, "_purified", "centre"), "_purified.centre that is not finite"),
        (array(np.inf, "base_score_"), "base_score_ that is not finite"),
        (array(lambda a: a[:-1], "projection_importance_"), "projection_importance_ of shape"),
        (array(-1.0, "projection_importance_"), "projection_importance_ that is not allowed"),
        (array(lambda a: a[:-1], "_purified", "moves", 0, "values"), "_purified.moves.values of shape"),
        (array(lambda a: a[:, :1], "_purified", "moves", 0, "values"), "_purified.moves.values of shape"),
        (array(np.inf, "_purified", "moves", 0, "values"), "moves with values that are not finite"),
        (entry(4, "_purified", "moves", 0, "source"), "moves between views that do not share the column"),
        (entry(2**31 - 1, "_purified", "moves", 0, "target"), "moves between views that do not share the column"),
        (entry(-1, "_purified", "moves", 0, "source"), "_purified.moves.source that is not allowed"),
        (entry(1, "_purified", "moves", 0, "column"), "bins of other columns|do not share the column"),
        (entry(5, "_purified", "bins", 0, 0), "bins of other columns"),
        (array(lambda a: a[:-1], "_purified", "bins", 0, 1, "points"), "_purified.bins.points of shape"),
        (array(lambda a: a[:-1], "_purified", "bins", 0, 1, "share"), "_purified.bins.share of shape"),
        (array(np.nan, "_purified", "bins", 0, 1, "points"), "points that are not allowed"),
        (array(lambda a: np.where(np.isnan(a), 9, a), "_purified", "bins", 0, 1, "points"), "points that are not"),
        (array(-0.5, "_purified", "bins", 0, 1, "share"), "shares that are not allowed"),
        (entry(7, "_purified", "bins", 0, 1, "n_categories"), "do not match the categories of their column"),
    ],
)
def test_what_moves_between_views_fits_them(refused, change, words):
    refused(change, words)


def test_edges_of_bins_are_in_order(refused):
    def change(model, arrays):
        bins = next(each for _, each in model["_purified"]["bins"] if arrays[each["edges"]].size > 1)
        arrays[bins["edges"]] = arrays[bins["edges"]][::-1].copy()

    refused(change, "edges that are not in order")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (array(lambda a: a[:, :-1], "_kept", "values"), "_kept.values of shape"),
        (array(lambda a: a[:-1], "_kept", "target"), "_kept.target of shape"),
        (array(lambda a: a[:-1], "_kept", "weight"), "_kept.weight of shape"),
        (array(lambda a: a[:-1], "_kept", "number"), "_kept.number of shape"),
        (array(lambda a: a[:-1], "_kept", "spread"), "_kept.spread of shape"),
        (array(-1, "_kept", "number"), "invalid row numbers"),
        (array(0.0, "_kept", "weight"), "_kept.weight that is not allowed"),
        (array(np.nan, "_kept", "weight"), "_kept.weight that is not allowed"),
        (array(0.0, "_kept", "spread"), "_kept.centre or _kept.spread"),
        (array(np.inf, "_kept", "centre"), "_kept.centre or _kept.spread"),
        (array(np.inf, "_kept", "values"), "_kept.values that are not finite"),
        (array(3.0, "_kept", "target"), "a kept row of a class that it does not have"),
        (array(0.5, "_kept", "target"), "a kept row of a class that it does not have"),
        (array(np.nan, "_kept", "target"), "a kept row of a class that it does not have"),
        (entry(7, "_kept", "n_rows"), "keeps more rows than it was fitted on"),
        (entry([0], "_kept", "columns"), "_kept.columns that are not those of its views"),
        (in_kept_column(4, 4), "a category that its column does not have"),
        (in_kept_column(4, 0.5), "a category that its column does not have"),
        (in_kept_column(4, -1), "a category that its column does not have"),
    ],
)
def test_kept_rows_are_rows_of_this_model(refused, change, words):
    refused(change, words)


def test_kept_numbers_are_finite(refused):
    refused(array(np.nan, "_kept", "target"), "target is not finite", "sum of views for numbers")
