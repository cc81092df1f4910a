from __future__ import annotations

import os
from pathlib import Path
from urllib.error import URLError

import numpy as np
import polars as pl
import pytest
from benchmarks.data import DatasetNotFoundError, list_datasets, load, registry
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.utils import Bunch

from benchmarks import data

HOME = Path(os.environ.get("PLANEWISE_DATA", ""))


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Start every test with no data directory, an empty cache and no network."""

    def refuse(**kwargs):
        raise AssertionError("a test tried to use the network")

    monkeypatch.delenv("PLANEWISE_DATA", raising=False)
    monkeypatch.setenv("PLANEWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(data, "fetch_openml", refuse)
    monkeypatch.setattr(data, "fetch_california_housing", refuse)


@pytest.fixture
def data_home(tmp_path):
    """Return a function that writes tables to a data directory and returns its path."""

    def write(**tables) -> Path:
        home = tmp_path / "home"
        home.mkdir()
        (home / "index.csv").write_text("name,file\n" + "".join(f"{name},{name}.parquet\n" for name in tables))
        for name, table in tables.items():
            pl.DataFrame(table).write_parquet(home / f"{name}.parquet")
        return home

    return write


SONAR = {"a": [1, 2, 3], "b": [0.5, None, 1.5], "target": ["Rock", "Mine", "Rock"]}
ADULT = {"age": [30, 40, 50], "job": ["clerk", None, "cook"], "target": ["<=50K", ">50K", ">50K"]}


def test_a_set_from_a_directory_is_a_float_array_and_labels(data_home):
    bunch = load("sonar", data_home=data_home(sonar=SONAR))
    assert bunch.data.dtype == np.float64
    assert_array_equal(bunch.data, [[1, 0.5], [2, np.nan], [3, 1.5]])
    assert_array_equal(bunch.target, ["Rock", "Mine", "Rock"])
    assert bunch.target.dtype.kind == "U"
    assert bunch.feature_names == ["a", "b"]
    assert (bunch.name, bunch.task) == ("sonar", "classification")


def test_the_environment_variable_names_the_directory_too(data_home, monkeypatch):
    monkeypatch.setenv("PLANEWISE_DATA", str(data_home(sonar=SONAR)))
    assert load("sonar").data.shape == (3, 2)


def test_data_home_goes_before_the_environment_variable(data_home, monkeypatch, tmp_path):
    monkeypatch.setenv("PLANEWISE_DATA", str(tmp_path / "absent"))
    assert load("sonar", data_home=data_home(sonar=SONAR)).data.shape == (3, 2)


def test_a_directory_goes_before_scikit_learns_bundled_sets(data_home):
    table = {"only": [1.0, 2.0], "target": ["x", "y"]}
    assert load("iris", data_home=data_home(iris=table)).feature_names == ["only"]


def test_a_set_that_the_directory_does_not_list_is_looked_for_elsewhere(data_home):
    assert load("iris", data_home=data_home(sonar=SONAR)).data.shape == (150, 4)


def test_a_mistyped_directory_is_an_error_even_for_bundled_sets(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"data_home is .*absent.* has no index.csv"):
        load("iris", data_home=tmp_path / "absent")


@pytest.mark.parametrize(
    ("name", "shape", "first"),
    [
        ("iris", (150, 4), "setosa"),
        ("wine", (178, 13), "class_0"),
        ("breast_cancer_wdbc", (569, 30), "malignant"),
        ("diabetes_sklearn", (442, 10), 151.0),
    ],
)
def test_bundled_sets_need_no_directory(name, shape, first):
    bunch = load(name)
    assert bunch.data.shape == shape and bunch.data.dtype == np.float64
    assert bunch.target[0] == first


def test_diabetes_is_unscaled():
    assert_array_equal(load("diabetes_sklearn").data, load_diabetes(scaled=False).data)


def test_a_polars_frame_has_categories_and_nulls(data_home):
    frame = load("adult", as_frame=True, data_home=data_home(adult=ADULT)).data
    assert frame.dtypes == [pl.Int64, pl.Categorical]
    assert frame["job"].to_list() == ["clerk", None, "cook"]


def test_a_pandas_frame_has_categories_and_nulls(data_home):
    pandas = pytest.importorskip("pandas")
    data = load("adult", as_frame="pandas", data_home=data_home(adult=ADULT)).data
    assert isinstance(data["job"].dtype, pandas.CategoricalDtype)
    assert data["age"].dtype == np.int64
    assert data["job"].isna().tolist() == [False, True, False]


def test_a_missing_number_is_null_in_a_polars_frame(data_home):
    data = load("sonar", as_frame=True, data_home=data_home(sonar=SONAR)).data
    assert data["b"].to_list() == [0.5, None, 1.5]


def test_text_columns_are_not_turned_into_numbers(data_home):
    with pytest.raises(ValueError, match=r"'adult' has text columns \(job\).*as_frame=True"):
        load("adult", data_home=data_home(adult=ADULT))


def test_rows_without_a_target_are_left_out_and_labels_stay_whole(data_home):
    table = {"x": [1.0, 2.0, 3.0], "target": [0, None, 1]}
    bunch = load("echocardiogram", data_home=data_home(echocardiogram=table))
    assert_array_equal(bunch.data, [[1.0], [3.0]])
    assert bunch.target.dtype == np.int64
    assert_array_equal(bunch.target, [0, 1])


def test_rows_without_a_text_target_are_left_out_too(data_home):
    table = {"x": [1.0, 2.0], "target": [None, "Mine"]}
    assert_array_equal(load("sonar", data_home=data_home(sonar=table)).target, ["Mine"])


def test_a_regression_target_is_a_float(data_home):
    table = {"x": [1, 2], "target": [10, 20]}
    assert load("pol", data_home=data_home(pol=table)).target.dtype == np.float64


def pima(**changes):
    names = ["pregnancies", "glucose", "pressure", "skin", "insulin", "bmi", "pedigree", "age"]
    table = {name: [1, 1, 1] for name in names} | {"target": ["p", "n", "p"]}
    return table | changes


@pytest.mark.parametrize("name", ["glucose", "pressure", "skin", "insulin", "bmi"])
def test_pima_as_in_the_slm_paper_has_no_impossible_zero(name, data_home):
    home = data_home(pima_diabetes=pima(**{name: [1, 0, 1]}))
    assert len(load("pima_diabetes", data_home=home).target) == 3
    repaired = load("pima_diabetes", variant="slm", data_home=home)
    assert_array_equal(repaired.target, ["p", "p"])
    assert repaired.data.shape == (2, 8)


@pytest.mark.parametrize("name", ["pregnancies", "pedigree", "age"])
def test_a_possible_zero_stays_in_pima(name, data_home):
    home = data_home(pima_diabetes=pima(**{name: [1, 0, 1]}))
    assert len(load("pima_diabetes", variant="slm", data_home=home).target) == 3


def test_ionosphere_as_in_the_slm_paper_has_no_constant_column(data_home):
    table = {"re": [1, 0], "im": [0, 0], "target": ["g", "b"]}
    home = data_home(ionosphere=table)
    assert load("ionosphere", data_home=home).feature_names == ["re", "im"]
    assert load("ionosphere", variant="slm", data_home=home).feature_names == ["re"]


# ------------------------------------------------------------------------------------------------------------- OpenML
@pytest.fixture
def openml(monkeypatch):
    """Put `openml.answer` in the place of OpenML, and count the calls."""
    rows = np.random.default_rng(0).integers(0, 50, size=(748, 4)).astype(float)
    labels, names = np.array(["1", "2"] * 374, dtype=object), ["V1", "V2", "V3", "V4"]
    server = Bunch(answer=Bunch(data=rows, target=labels, feature_names=names, categories={}), calls=[])

    def fetch(**kwargs):
        server.calls.append(kwargs["data_id"])
        if isinstance(server.answer, Exception):
            raise server.answer
        return server.answer

    monkeypatch.setattr(data, "fetch_openml", fetch)
    return server


def test_a_set_is_fetched_once_and_then_read_from_the_cache(openml, capsys):
    fetched, cached = load("blood_transfusion"), load("blood_transfusion")
    assert openml.calls == [1464]
    assert "fetching 'blood_transfusion'" in capsys.readouterr().err
    assert_array_equal(fetched.data, openml.answer.data)
    assert_array_equal(cached.data, fetched.data)
    assert_array_equal(cached.target, fetched.target)
    assert cached.target.dtype == fetched.target.dtype == np.int64


def test_categories_get_their_labels_back_and_another_size_is_told(openml):
    openml.answer = Bunch(
        data=np.array([[0.0, 1.0, 5.5], [1.0, np.nan, 6.5], [np.nan, 0.0, 7.5]]),
        target=np.array(["Rock", "Mine", "Rock"], dtype=object),
        feature_names=["text", "flag", "number"],
        categories={"text": ["red", "green"], "flag": ["-1", "1"]},
    )
    with pytest.warns(UserWarning, match="OpenML's form of 'sonar' has 3 rows and 3 features"):
        found = load("sonar", as_frame=True).data
    assert found["text"].to_list() == ["red", "green", None]
    assert found["flag"].to_list() == [1, None, -1]
    assert found["number"].to_list() == [5.5, 6.5, 7.5]


def test_a_set_that_cannot_be_fetched_is_named(openml):
    openml.answer = URLError("no route")
    with pytest.raises(DatasetNotFoundError, match=r"'blood_transfusion' failed .*no route.*set PLANEWISE_DATA"):
        load("blood_transfusion")
    with pytest.raises(DatasetNotFoundError, match="'htru2' is not on OpenML"):
        load("htru2")
    with pytest.raises(ValueError, match="Unknown data set 'sonnar'"):
        load("sonnar")


# ------------------------------------------------------------------------------------------------- the real directory
@pytest.mark.skipif(not (HOME / "index.csv").is_file(), reason="no data directory (set PLANEWISE_DATA to one)")
@pytest.mark.parametrize("name", list_datasets())
def test_every_set_has_the_size_and_task_of_the_registry(name):
    if f"\n{name}," not in (HOME / "index.csv").read_text(encoding="utf-8"):
        pytest.skip(f"{name} is not in the data directory")
    bunch, info = load(name, as_frame=True, data_home=HOME), registry()[name]
    assert bunch.data.shape == (info.rows, info.features)
    assert bunch.task == info.task and len(bunch.target) == info.rows
