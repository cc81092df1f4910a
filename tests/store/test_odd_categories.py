"""Categories of any kind can be fitted, saved, loaded and exported; what cannot be saved is refused by its column."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from tests.export.c_tokens import strings

import planewise as pw
from planewise.export import to_c, to_onnx, to_text
from planewise.table import TableModel

N = 90
VALUES = np.random.default_rng(0).normal(size=N)
DAYS = [date(2024, 1 + k % 3, 1) for k in range(N)]
COLUMNS = {
    "cut": lambda: pd.Series(pd.cut(VALUES, [-9, -0.5, 0.5, 9])),
    "qcut": lambda: pd.Series(pd.qcut(VALUES, 4)),
    "cut dates": lambda: pd.Series(pd.cut(pd.to_datetime(DAYS), 2)),
    "days": lambda: pd.Series(pd.Categorical(DAYS)),
    "moments": lambda: pd.Series(pd.Categorical(pd.to_datetime(DAYS))),
    "periods": lambda: pd.Series(pd.Categorical(pd.PeriodIndex(pd.to_datetime(DAYS), freq="M"))),
    "decimals": lambda: pd.Series(pd.Categorical([Decimal(k % 3) / 4 for k in range(N)])),
    "pairs": lambda: pd.Series(pd.Categorical(pd.Index([(k % 2, "a") for k in range(N)], tupleize_cols=False))),
}


def frame(which):
    column = COLUMNS[which]()
    column.iloc[::7] = None
    return pd.DataFrame({"x": np.arange(N) % 5, which: column})


@pytest.mark.parametrize("make", [pw.SLMClassifier, pw.SLMBoostClassifier, pw.RECIPClassifier])
@pytest.mark.parametrize("which", COLUMNS)
def test_categories_that_are_neither_words_nor_numbers_are_their_text(which, make, tmp_path):
    X = frame(which)
    y = np.where(X[which].cat.codes.to_numpy() > 0, "yes", "no")
    model = make(random_state=0).fit(X, y) if make is not pw.RECIPClassifier else make().fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.categories_[1].tolist() == sorted(str(each) for each in X[which].cat.categories)
    pw.save(model, tmp_path / "m.planewise")
    again = pw.load(tmp_path / "m.planewise")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    as_text = X.assign(**{which: X[which].astype(object).map(str, na_action="ignore").astype("category")})
    np.testing.assert_array_equal(again.predict(as_text), model.predict(X))


@pytest.mark.parametrize("which", COLUMNS)
def test_exports_name_such_categories_by_their_text(which):
    X = frame(which)
    model = pw.SLMClassifier(random_state=0).fit(X, X[which].cat.codes.to_numpy() > 0)
    known = model.categories_[1].tolist()
    assert [each.decode() for each in strings(to_c(model))] == known
    assert any(each in to_text(model) for each in known)
    pytest.importorskip("onnx")
    about = {each.key: each.value for each in to_onnx(model).metadata_props}
    assert all(each in about["categories"] for each in known)


@pytest.mark.parametrize("dtype", [object, "interval"])
def test_a_column_named_as_categorical_may_hold_intervals_too(dtype, tmp_path):
    X = pd.DataFrame({"x": np.arange(N) % 5, "cut": pd.Series(list(pd.cut(VALUES, 3)), dtype=dtype)})
    model = pw.SLMClassifier(categorical_features=["cut"], random_state=0).fit(X, VALUES > 0)
    pw.save(model, tmp_path / "m.planewise")
    np.testing.assert_array_equal(pw.load(tmp_path / "m.planewise").predict(X), model.predict(X))


def test_two_categories_with_the_same_text_are_refused():
    class Same:
        def __init__(self, rank):
            self.rank = rank

        def __lt__(self, other):
            return self.rank < other.rank

        def __str__(self):
            return "same"

    X = pd.DataFrame({"odd": pd.Categorical([Same(0), Same(1)] * 20)})
    with pytest.raises(ValueError, match=r"Column 'odd' .* have the same text 'same'"):
        pw.SLMClassifier().fit(X, [0, 1] * 20)


def test_what_cannot_be_saved_is_named_by_its_column(tmp_path):
    X = pd.DataFrame({"x": np.arange(40), "note": pd.Categorical(["short", "y" * 20_000] * 20)})
    model = pw.SLMClassifier(random_state=0).fit(X, [0, 1] * 20)
    with pytest.raises(ValueError, match=r"^SLMClassifier cannot be saved: column 'note' has categories .*; give it"):
        pw.save(model, tmp_path / "m.planewise")
    assert not (tmp_path / "m.planewise").exists()


def test_a_model_of_a_table_names_the_column_too(tmp_path):
    words = [f"word {k % 60}" for k in range(400)]
    table = pd.DataFrame({"note": words, "y": np.arange(400) % 2})
    model = TableModel("tree", random_state=0).fit(table, "y")
    model.estimator_.categories_[0][-1] = "y" * 20_000  # which fit leaves out, but rows in parts can bring
    with pytest.raises(ValueError, match=r"^SLMClassifier cannot be saved: column 'note' has categories"):
        pw.save(model, tmp_path / "m.planewise")
