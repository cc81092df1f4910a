"""Tables that are read in batches into a file, and what estimators make of them."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import signal
import subprocess
import sys
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import cross_val_score
from test_survey import KINDS, columns

from planewise import (
    LargeScaleMCMClassifier,
    MCMRegressor,
    RECIPClassifier,
    SLMBoostClassifier,
    SLMBoostRanker,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from planewise.data import from_batches
from planewise.data import mapped as _mapped
from planewise.data.problem import training_rows
from planewise.data.spooled import SpooledTable

START = 1_700_000_000


def table(n_rows=600, seed=0):
    """Numbers, seconds since 1970, gaps and two categorical columns, one of which has many categories."""
    rng = np.random.default_rng(seed)
    towns = np.array([f"town {k}" for k in rng.permutation(80)])
    a, time = rng.normal(size=n_rows), START + rng.integers(0, 600, n_rows)
    town = rng.integers(0, 80, n_rows)
    signal_ = a + (time - START) / 300 + (town % 7) / 3 + rng.normal(scale=0.3, size=n_rows)
    return pl.DataFrame(
        {
            "a": a,
            "gap": pl.Series(rng.normal(size=n_rows)).set(pl.Series(rng.random(n_rows) < 0.2), None),
            "time": time.astype(np.float64),
            "town": pl.Series(towns[town]).cast(pl.Categorical),
            "flag": rng.random(n_rows) < 0.5,
            "number": signal_,
            "kind": np.where(signal_ > 2.3, "high", "low"),
            "third": np.array(["x", "y", "z"])[np.digitize(signal_, [1.5, 3.0])],
            "weight": rng.uniform(0.5, 2, n_rows),
        }
    )


FEATURES = ["a", "gap", "time", "town", "flag"]


def in_parts(frame, *cuts):
    edges = [0, *cuts, frame.height]
    return [frame[a:b] for a, b in pairwise(edges)]


def spooled(frame, target="kind", **options):
    others = [target, *([options["weight"]] if "weight" in options else [])]
    return from_batches(in_parts(frame.select([*FEATURES, *others]), 7, 7, 250), target=target, **options)


# ---------------------------------------------------------------------------------------------------------- the bytes
@settings(max_examples=80)
@given(st.data(), st.sampled_from(["pandas", "polars", "arrow"]), st.integers(1, 40))
def test_any_partitioning_gives_the_rows_of_the_table_in_memory(data, kind, n_rows):
    make, cut = KINDS[kind]
    whole = make(data.draw(columns(n_rows)) | {"y": list(range(n_rows))})
    cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=6)))
    parts = [cut(whole, a, b) for a, b in zip([0, *cuts], [*cuts, n_rows], strict=True)]
    features = whole.drop(columns="y") if kind == "pandas" else whole.drop(["y"])
    model = SLMClassifier(categorical_features=["category", "text"])
    expected = training_rows(model, features)
    X, y = from_batches(parts, target="y", categorical_features=["category", "text"])
    with X:
        assert X.rows.tobytes() == expected.tobytes()
        assert X.shape == expected.shape
        assert X.survey.origins == model.feature_origins_
        assert os.listdir(X.path.parent) == [X.path.name]
    assert_array_equal(y, np.arange(n_rows))


def fitted_bytes(model):
    forest = model.forest_ if hasattr(model, "forest_") else model.tree_
    return {name: np.asarray(values).tobytes() for name, values in forest.arrays().items()}


MODELS = {
    "tree": (SLMClassifier(random_state=0), "kind"),
    "tree of numbers": (SLMRegressor(random_state=0), "number"),
    "forest": (SLMForestClassifier(n_estimators=30, oob_score=True, bootstrap=True, random_state=0), "third"),
    "forest of numbers": (SLMForestRegressor(n_estimators=4, random_state=0), "number"),
    "boosting": (SLMBoostClassifier(n_estimators=8, random_state=0), "kind"),
    "three classes": (SLMBoostClassifier(n_estimators=8, random_state=0), "third"),
    "boosting of numbers": (SLMBoostRegressor(n_estimators=8, random_state=0), "number"),
    "early stopping": (SLMBoostRegressor(n_estimators=30, early_stopping=True, random_state=0), "number"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_model_is_the_same_to_the_bit_as_that_of_the_table_in_memory(name):
    model, target = MODELS[name]
    frame = table()
    X, y, weight = spooled(frame, target, weight="weight")
    with X:
        expected = model.fit(frame.select(FEATURES), frame[target].to_numpy(), frame["weight"].to_numpy())
        answers = expected.predict(frame.select(FEATURES))
        wanted, nodes = fitted_bytes(expected), expected.apply(frame.select(FEATURES))
        score = getattr(expected, "oob_score_", None)
        found = model.fit(X, y, weight)
        assert fitted_bytes(found) == wanted
        assert_array_equal(found.predict(X), answers)
        assert_array_equal(found.predict(frame.select(FEATURES)), answers)
        assert_array_equal(found.apply(X), nodes)
        assert getattr(found, "oob_score_", None) == score
        if hasattr(model, "predict_proba"):
            assert_array_equal(found.predict_proba(X), found.predict_proba(frame.select(FEATURES)))
        assert list(found.feature_names_in_) == FEATURES
        assert os.listdir(X.path.parent) == [X.path.name]


def test_a_ranker_too():
    frame = table().with_columns(query=pl.int_range(600) // 10, rank=pl.col("number").clip(0, 4).cast(pl.Int64))
    model = SLMBoostRanker(n_estimators=5, random_state=0)
    X, y = spooled(frame, "rank")
    with X:
        wanted = fitted_bytes(model.fit(frame.select(FEATURES), y, qid=frame["query"].to_numpy()))
        assert fitted_bytes(model.fit(X, y, qid=frame["query"].to_numpy())) == wanted


def test_validation_rows_may_be_in_a_file_too():
    frame, later = table(), table(seed=1)
    model = SLMBoostRegressor(n_estimators=10, random_state=0)
    with spooled(frame, "number")[0] as X, spooled(later, "number")[0] as X_val:
        y, y_val = frame["number"].to_numpy(), later["number"].to_numpy()
        model.fit(frame.select(FEATURES), y, X_val=later.select(FEATURES), y_val=y_val)
        wanted = model.validation_score_
        assert_array_equal(model.fit(X, y, X_val=X_val, y_val=y_val).validation_score_, wanted)


def test_rows_of_a_file_are_not_copied_into_memory(monkeypatch):
    """Neither by the fit itself, nor by early stopping and target statistics, which make further files."""
    frame = table()
    seen = []

    def observe(like, parts, n_rows, width=0):
        seen.append(write(like, parts, n_rows, width))
        return seen[-1]

    write = _mapped.write_rows
    monkeypatch.setattr(_mapped, "write_rows", observe)
    model = SLMBoostRegressor(n_estimators=5, early_stopping=True, random_state=0)
    X, y = spooled(frame, "number")
    with X:
        assert training_rows(SLMClassifier(), X) is X.rows
        model.fit(X, y)
        assert list(model.target_statistics_) == [3]
        assert [len(each) for each in seen] == [540, 60, 540, 60, 600]
        assert all(isinstance(each, np.memmap) and not each.flags.writeable for each in seen)


def test_a_model_that_was_fitted_elsewhere_reads_its_own_categories():
    frame, other = table(), table(seed=5).filter(pl.col("town") != "town 7")
    model = SLMBoostClassifier(n_estimators=8, random_state=0).fit(other.select(FEATURES), other["kind"].to_numpy())
    X, _ = spooled(frame.with_columns(pl.col("town").cast(pl.String)), categorical_features=["town"])
    with X:
        assert_array_equal(model.predict_proba(X), model.predict_proba(frame.select(FEATURES)))


# ----------------------------------------------------------------------------------------------------------- sources
SOURCES = {
    "list": lambda frame, folder: [part.to_pandas() for part in in_parts(frame, 10, 300)],
    "generator function": lambda frame, folder: lambda: iter(in_parts(frame, 10, 300)),
    "query of polars": lambda frame, folder: partial(frame.lazy().collect_batches, maintain_order=True),
    "CSV files": lambda frame, folder: partial(pl.scan_csv(folder / "*.csv").collect_batches, maintain_order=True),
    "record batches": lambda frame, folder: lambda: frame.to_arrow().to_batches(100),
    "Arrow dataset": lambda frame, folder: pa.dataset.dataset(folder, exclude_invalid_files=True).to_batches,
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_rows(name, tmp_path):
    frame = table().select([*FEATURES, "kind"]).with_columns(pl.col("town").cast(pl.String))
    for number, part in enumerate(in_parts(frame, 10, 300)):
        part.write_parquet(tmp_path / f"{number}.parquet")
        part.write_csv(tmp_path / f"{number}.csv")
    X, y = from_batches(SOURCES[name](frame, tmp_path), target="kind", categorical_features=["town"])
    expected = training_rows(SLMClassifier(categorical_features=["town"]), frame.select(FEATURES))
    with X:
        assert X.columns == FEATURES
        assert X.rows.tobytes() == expected.tobytes()
    assert_array_equal(y, frame["kind"].to_numpy())


def test_rows_without_weight_are_left_out():
    frame = table().with_columns(weight=(pl.int_range(600) % 3).cast(pl.Float64))
    kept = frame.filter(pl.col("weight") > 0)
    X, y, weight = spooled(frame, weight="weight")
    with X:
        assert X.rows.tobytes() == training_rows(SLMClassifier(), kept.select(FEATURES)).tobytes()
    assert_array_equal(y, kept["kind"].to_numpy())
    assert_array_equal(weight, kept["weight"].to_numpy())


# --------------------------------------------------------------------------------------------------- the file's life
def test_the_file_goes_with_the_table(tmp_path):
    X, _ = spooled(table(), folder=tmp_path)
    path = X.path
    assert path.stat().st_size == 4 * 600 * 5
    assert repr(X) == f"<SpooledTable: 600 rows, 5 columns, 0.0 MiB in {str(path)!r}>"
    X.close()
    X.close()
    assert not any(tmp_path.iterdir())
    assert repr(X) == "<SpooledTable: 600 rows, 5 columns, closed>"
    with pytest.raises(ValueError, match="closed"):
        SLMClassifier().fit(X, np.zeros(600))
    X, _ = spooled(table(), folder=tmp_path)
    rows = X.rows
    del X
    gc.collect()
    assert not any(tmp_path.iterdir())
    assert np.isfinite(rows[:, 0]).all()  # whoever still has the rows can read them


def test_the_file_goes_when_python_ends(tmp_path):
    code = f"""
import pandas as pd
from planewise.data import from_batches
X, y = from_batches([pd.DataFrame(dict(a=[1.0], y=[2]))], target="y", folder={str(tmp_path)!r})
print(X.path.exists())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert not any(tmp_path.iterdir())


def test_a_table_in_a_file_is_not_pickled():
    X, _ = spooled(table())
    with X, pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(X)


def test_progress_is_shown_on_request(capsys):
    X, _ = from_batches(in_parts(table().select([*FEATURES, "kind"]), 100), target="kind", verbose=1)
    X.close()
    assert "reading 1  100 rows" in capsys.readouterr().err


# -------------------------------------------------------------------------------------------------- what goes wrong
def test_a_full_disk_is_named_and_nothing_is_left(tmp_path, monkeypatch):
    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    write = _mapped.write_block
    monkeypatch.setattr(
        "planewise.data.batches.write_block", lambda file, values, folder: write(Full(), values, folder)
    )
    with pytest.raises(OSError, match=r"No space left.* 4 bytes per value there; choose another.*folder") as told:
        spooled(table(), folder=tmp_path)
    assert told.value.errno == errno.ENOSPC
    assert not any(tmp_path.iterdir())


def test_an_interrupt_leaves_nothing(tmp_path):
    def frames():
        yield table()
        os.kill(os.getpid(), signal.SIGINT)
        yield table()

    with pytest.raises(KeyboardInterrupt):
        from_batches(frames, target="kind", folder=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": [1.0], "y": [0]}, "Batch 1 has no column 'b', which batch 0 has"),
        ({"a": [1.0], "b": ["x"], "y": [0]}, "'b' holds numbers in batch 0, but text such as 'x' in batch 1"),
        ({"a": [1.0, 2.0], "b": [2.0, 1.0], "y": [0, None]}, "Batch 1: the target 'y' is missing in row 1"),
        ({"a": [1.0], "b": [2.0]}, "Batch 1: there is no column 'y'"),
        ({"a": [1.0], "b": [2.0], "y": ["p"]}, "numbers in some batches and text in others"),
    ],
)
def test_a_bad_batch_is_named_and_nothing_is_left(second, message, tmp_path):
    first = pl.DataFrame({"a": [1.0], "b": [2.0], "y": [1]})
    with pytest.raises(ValueError, match=message):
        from_batches([first, pl.DataFrame(second)], target="y", folder=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (iter([]), "batches are read twice, but a list_iterator can be read only once"),
        (pl.DataFrame({"y": [1]}), "batches must be a function that returns data frames, or a list of them"),
        ([np.ones((2, 2))], "Batch 0: a data frame is needed"),
    ],
)
def test_what_gives_no_batches_is_refused(batches, message):
    with pytest.raises(TypeError, match=message):
        from_batches(batches, target="y")


def test_batches_must_have_the_same_rows_each_time(tmp_path):
    sizes = iter([3, 4])
    with pytest.raises(ValueError, match="had 3 rows when they were read first, but 4 when they were read again"):
        from_batches(lambda: [table(next(sizes)).select("a", "kind")], target="kind", folder=tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        spooled(table(), folder=tmp_path / "none")
    assert not any(tmp_path.iterdir())


def test_wrong_weights_are_named():
    frame = table().with_columns(weight=pl.int_range(600) - 3)
    with pytest.raises(ValueError, match=r"Batch 0: the weight 'weight' must be .* at least 0; row 0 has -3"):
        spooled(frame, weight="weight")


# ------------------------------------------------------------------------------------------- what estimators refuse
@pytest.fixture
def rows():
    X, y = spooled(table())
    with X:
        yield X, y


@pytest.mark.parametrize("model", [LargeScaleMCMClassifier(), MCMRegressor(), RECIPClassifier()])
def test_other_estimators_refuse_it_by_name(model, rows):
    with pytest.raises(TypeError, match=f"only trees take .*{type(model).__name__}; pass a data frame with a sample"):
        model.fit(*rows)


def test_weights_of_zero_are_refused_with_what_to_do(rows):
    X, y = rows
    with pytest.raises(ValueError, match=r"Row 5 has a weight of 0.* weight= to planewise.data.from_batches"):
        SLMClassifier().fit(X, y, (np.arange(600) != 5).astype(float))
    with pytest.raises(ValueError, match="class_weight"):
        SLMClassifier(class_weight={"low": 0.0, "high": 1.0}).fit(X, y)


def test_categories_must_be_those_of_the_estimator(rows):
    X, y = rows
    with pytest.raises(ValueError, match="'town' was spooled as categories, but SLMClassifier takes it as numbers"):
        SLMClassifier(categorical_features=None).fit(X, y)
    with pytest.raises(ValueError, match="'flag' was spooled as numbers, but SLMClassifier takes it as categories"):
        SLMClassifier(categorical_features=["town", "flag"]).fit(X, y)


def test_other_columns_than_in_fit_are_refused(rows):
    X, y = rows
    frame = table().select(FEATURES)
    with pytest.raises(ValueError, match="column 0 is 'a' instead of 'gap'"):
        SLMClassifier().fit(frame.select("gap", "a", *FEATURES[2:]), y).predict(X)
    with pytest.raises(ValueError, match="X has 5 features, but SLMClassifier is expecting 4"):
        SLMClassifier().fit(frame.select(FEATURES[:4]), y).predict(X)
    with pytest.raises(ValueError, match="'time' was spooled with fewer digits"):
        SLMClassifier().fit(frame, y).predict(spooled(table().with_columns(time=pl.int_range(600) * 1e7))[0])


def test_what_needs_the_values_as_given_says_so(rows):
    X, y = rows
    model = SLMClassifier().fit(X, y)
    for ask in (lambda: model.explain(X), lambda: cross_val_score(model, X, y), lambda: np.asarray(X)):
        with pytest.raises(TypeError, match="A SpooledTable does not hold the values as they were given"):
            ask()


@pytest.mark.parametrize("ask", ["predict_contributions", "decision_path", "score", "staged_predict"])
def test_all_other_answers_are_those_of_the_data_frame(ask, rows):
    X, y = rows
    model = (SLMClassifier if ask == "decision_path" else SLMBoostClassifier)(random_state=0).fit(X, y)
    answers = {
        "predict_contributions": model.predict_contributions,
        "decision_path": lambda given: model.decision_path(given).toarray(),
        "score": lambda given: model.score(given, y),
        "staged_predict": lambda given: np.array(list(model.staged_predict(given))),
    }
    assert_array_equal(answers[ask](X), answers[ask](table().select(FEATURES)))


def test_a_warm_start_continues_from_a_file(rows):
    X, y = rows
    model = SLMBoostClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    more = fitted_bytes(model.set_params(n_estimators=6).fit(X, y))
    frame = table().select(FEATURES)
    again = SLMBoostClassifier(n_estimators=3, warm_start=True, random_state=0).fit(frame, y)
    assert more == fitted_bytes(again.set_params(n_estimators=6).fit(frame, y))


def test_the_class_is_public(rows):
    assert isinstance(rows[0], SpooledTable)
