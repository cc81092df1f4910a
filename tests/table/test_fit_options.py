"""Columns that a fit must leave out, and folds that an estimator must keep to."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from planewise.table import TableModel


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    a = rng.normal(size=120)
    return pl.DataFrame({"who": np.arange(120) % 12, "a": a, "b": rng.normal(size=120), "y": a > 0})


def test_a_column_to_leave_out_is_named_with_its_reason(table):
    model = TableModel("tree", random_state=0).fit(table, "y", left_out={"who": "is the group"})
    assert [column.name for column in model.columns_] == ["a", "b"]
    assert [(each.name, each.why) for each in model.left_out_] == [("who", "is the group")]


@pytest.mark.parametrize(
    ("family", "setting"), [("additive", {"n_estimators": 5}), ("kernel", {"mus": [1.0], "gammas": [0.2]})]
)
def test_an_estimator_with_cv_uses_the_folds_and_does_not_keep_them(table, family, setting, monkeypatch):
    seen = []
    model = TableModel(family, settings=setting, random_state=0)
    model.look_at(table, "y")
    cls = type(model._estimator(table.height))
    usual = cls.fit

    def fit(self, *args, **kwargs):
        seen.append(self.cv)
        return usual(self, *args, **kwargs)

    monkeypatch.setattr(cls, "fit", fit)
    gaps = table.with_columns(y=pl.when(pl.arange(120) != 5).then(pl.col("y")))
    folds = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    model.fit(gaps, "y", folds=folds)
    (given,) = seen
    assert given[0][0].tolist() == list(range(59))  # row 5 has no target, so later rows move up
    assert given[0][1].tolist() == list(range(59, 119))
    assert isinstance(model.estimator_.cv, int) or model.estimator_.cv is None


def test_an_estimator_without_cv_needs_no_folds(table):
    with_folds = TableModel("boosting", random_state=0).fit(table, "y", folds=[])
    assert (with_folds.predict(table) == TableModel("boosting", random_state=0).fit(table, "y").predict(table)).all()
