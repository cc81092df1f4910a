from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes

from planewise.datasets import DatasetNotFoundError, load

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


def test_the_description_names_source_licence_and_oddities(data_home):
    table = {f"x{j}": [0, 1] for j in range(5)} | {"target": [0, 1]}
    text = load("mammographic_masses", data_home=data_home(mammographic_masses=table)).DESCR
    assert "2 rows, 5 features" in text
    assert "Source: UCI" in text and "Licence: UCI" in text and "bi_rads has one 55" in text


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


def test_a_listed_file_that_is_missing_is_an_error(data_home):
    home = data_home(sonar=SONAR)
    (home / "sonar_v1.parquet").unlink()
    with pytest.raises(DatasetNotFoundError, match=r"sonar_v1.parquet.* missing"):
        load("sonar", data_home=home)


def test_a_file_without_a_target_is_an_error(data_home):
    with pytest.raises(ValueError, match="has no column 'target'"):
        load("sonar", data_home=data_home(sonar={"a": [1]}))


@pytest.mark.parametrize(
    ("name", "shape", "first"),
    [
        ("iris", (150, 4), "setosa"),
        ("wine", (178, 13), "class_0"),
        ("breast_cancer_wdbc", (569, 30), "malignant"),
        ("diabetes_sklearn", (442, 10), 151.0),
    ],
)
def test_bundled_sets_need_neither_directory_nor_data_frame_library(name, shape, first, monkeypatch):
    for library in ("polars", "pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, library, None)
    bunch = load(name)
    assert bunch.data.shape == shape and bunch.data.dtype == np.float64
    assert bunch.target[0] == first


def test_diabetes_is_unscaled():
    assert_array_equal(load("diabetes_sklearn").data, load_diabetes(scaled=False).data)


def test_what_is_returned_may_be_changed(data_home):
    bunch = load("sonar", data_home=data_home(sonar=SONAR))
    bunch.data[0, 0] = 7
    bunch.target[0] = "Mine"
    assert bunch.data[0, 0] == 7 and bunch.target[0] == "Mine"


def test_a_polars_frame_has_categories_and_nulls(data_home):
    polars = pytest.importorskip("polars")
    data = load("adult", as_frame="polars", data_home=data_home(adult=ADULT)).data
    assert data.dtypes == [polars.Int64, polars.Categorical]
    assert data["job"].to_list() == ["clerk", None, "cook"]


def test_a_pandas_frame_has_categories_and_nulls(data_home):
    pandas = pytest.importorskip("pandas")
    data = load("adult", as_frame="pandas", data_home=data_home(adult=ADULT)).data
    assert isinstance(data["job"].dtype, pandas.CategoricalDtype)
    assert data["age"].dtype == np.int64
    assert data["job"].isna().tolist() == [False, True, False]


def test_a_missing_number_is_null_in_a_polars_frame(data_home):
    data = load("sonar", as_frame="polars", data_home=data_home(sonar=SONAR)).data
    assert data["b"].to_list() == [0.5, None, 1.5]


def test_any_frame_will_do_when_none_is_named(data_home, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    home = data_home(adult=ADULT)
    assert type(load("adult", as_frame=True, data_home=home).data).__module__.startswith("polars")
    monkeypatch.setitem(sys.modules, "polars", None)
    assert isinstance(load("adult", as_frame=True, data_home=home).data, pandas.DataFrame)


def test_polars_and_pandas_read_the_same(data_home, monkeypatch):
    pytest.importorskip("pyarrow")
    home = data_home(sonar=SONAR)
    by_polars = load("sonar", data_home=home)
    monkeypatch.setitem(sys.modules, "polars", None)
    by_pandas = load("sonar", data_home=home)
    assert_array_equal(by_polars.data, by_pandas.data)
    assert_array_equal(by_polars.target, by_pandas.target)


def test_text_columns_are_not_turned_into_numbers(data_home):
    with pytest.raises(ValueError, match=r"'adult' has text columns \(job\).*as_frame=True"):
        load("adult", data_home=data_home(adult=ADULT))


def test_without_a_data_frame_library_the_extra_is_named(data_home, monkeypatch):
    home = data_home(sonar=SONAR)
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[data\]'"):
        load("sonar", data_home=home)
    with pytest.raises(ImportError, match=r"as_frame=True needs polars or pandas"):
        load("iris", as_frame=True)


def test_an_unknown_kind_of_frame_is_refused():
    with pytest.raises(ValueError, match=r"as_frame must be a bool or one of .*got 'dask'"):
        load("iris", as_frame="dask")


def test_rows_without_a_target_are_left_out_and_labels_stay_whole(data_home):
    table = {"x": [1.0, 2.0, 3.0], "target": [0, None, 1]}
    bunch = load("echocardiogram", data_home=data_home(echocardiogram=table))
    assert_array_equal(bunch.data, [[1.0], [3.0]])
    assert bunch.target.dtype == np.int64
    assert_array_equal(bunch.target, [0, 1])
    assert "1 rows without a target" in bunch.DESCR


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
    assert repaired.data.shape == (2, 8) and "variant 'slm'" in repaired.DESCR


@pytest.mark.parametrize("name", ["pregnancies", "pedigree", "age"])
def test_a_possible_zero_stays_in_pima(name, data_home):
    home = data_home(pima_diabetes=pima(**{name: [1, 0, 1]}))
    assert len(load("pima_diabetes", variant="slm", data_home=home).target) == 3


def test_ionosphere_as_in_the_slm_paper_has_no_constant_column(data_home):
    table = {"re": [1, 0], "im": [0, 0], "target": ["g", "b"]}
    home = data_home(ionosphere=table)
    assert load("ionosphere", data_home=home).feature_names == ["re", "im"]
    assert load("ionosphere", variant="slm", data_home=home).feature_names == ["re"]


def test_an_unknown_variant_is_refused_before_anything_is_read():
    with pytest.raises(ValueError, match=r"variant of 'ionosphere' must be one of \['slm'\]"):
        load("ionosphere", variant="mcm")
    with pytest.raises(ValueError, match="variant of 'sonar' must be None"):
        load("sonar", variant="slm")


@pytest.mark.parametrize("content", ["set,path\niris,iris.parquet\n", 'name,file\n"iris' + 200_000 * "x"])
def test_an_index_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "index.csv").write_text(content)
    with pytest.raises(DatasetNotFoundError, match=r"index\.csv' is not a table with the columns name and file"):
        load("wine", data_home=tmp_path)
