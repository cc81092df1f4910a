from __future__ import annotations

import sys
from http.client import IncompleteRead
from urllib.error import URLError

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils import Bunch

from planewise.datasets import DatasetNotFoundError, _sources, load

pytest.importorskip("polars")


def blood_transfusion():
    """Return what scikit-learn makes of OpenML's set 1464, whose labels are text."""
    rng = np.random.default_rng(0)
    return Bunch(
        data=rng.integers(0, 50, size=(748, 4)).astype(float),
        target=np.array(["1", "2"] * 374, dtype=object),
        feature_names=["V1", "V2", "V3", "V4"],
        categories={},
    )


@pytest.fixture
def openml(monkeypatch):
    """Put `openml.answer` in the place of OpenML, and count the calls."""
    server = Bunch(answer=blood_transfusion(), calls=[])

    def fetch(**kwargs):
        server.calls.append(kwargs)
        if isinstance(server.answer, Exception):
            raise server.answer
        return server.answer

    monkeypatch.setattr(_sources, "fetch_openml", fetch)
    return server


def test_a_set_is_fetched_by_its_id_once_and_then_read_from_the_cache(openml, cache):
    fetched = load("blood_transfusion")
    cached = load("blood_transfusion", download=False)
    assert [call["data_id"] for call in openml.calls] == [1464]
    assert_array_equal(fetched.data, openml.answer.data)
    assert_array_equal(cached.data, fetched.data)
    assert_array_equal(cached.target, fetched.target)
    assert cached.target.dtype == fetched.target.dtype == np.int64
    assert [path.name for path in cache.iterdir()] == ["blood_transfusion-1464.parquet"]


def test_progress_goes_to_stderr_and_can_be_turned_off(openml, cache, capsys):
    load("blood_transfusion", progress=False)
    silent = capsys.readouterr()
    next(cache.iterdir()).unlink()
    load("blood_transfusion")
    loud = capsys.readouterr()
    assert silent.err == silent.out == loud.out == ""
    assert "fetching 'blood_transfusion'" in loud.err and str(cache) in loud.err


def test_categories_get_their_labels_back(openml):
    openml.answer = Bunch(
        data=np.array([[0.0, 1.0, 5.5], [1.0, np.nan, 6.5], [np.nan, 0.0, 7.5]]),
        target=np.array(["Rock", "Mine", "Rock"], dtype=object),
        feature_names=["text", "flag", "number"],
        categories={"text": ["red", "green"], "flag": ["-1", "1"]},
    )
    with pytest.warns(UserWarning, match="OpenML's form of 'sonar' has 3 rows and 3 features"):
        data = load("sonar", as_frame="polars").data
    assert data["text"].to_list() == ["red", "green", None]
    assert data["flag"].to_list() == [1, None, -1]
    assert data["number"].to_list() == [5.5, 6.5, 7.5]


def test_another_size_than_the_reference_is_said_at_every_load(openml):
    openml.answer.data = openml.answer.data[:, :3]
    openml.answer.feature_names = ["V1", "V2", "V3"]
    for _ in range(2):
        with pytest.warns(UserWarning, match="748 rows and 3 features.* 748 and 4") as caught:
            load("blood_transfusion")
        assert caught[0].filename == __file__
    assert len(openml.calls) == 1


def test_california_comes_in_the_papers_form(monkeypatch):
    names = ["MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup"]
    answer = Bunch(
        data=np.ones((20640, 8)),
        target=np.full(20640, 4.526),
        feature_names=[*names, "Latitude", "Longitude"],
        target_names=["MedHouseVal"],
    )
    monkeypatch.setattr(_sources, "fetch_california_housing", lambda data_home: answer)
    bunch = load("california_housing")
    assert bunch.feature_names == answer.feature_names
    assert bunch.target[0] == 4.526


@pytest.mark.parametrize("failure", [URLError("no route"), IncompleteRead(b""), ValueError("Dataset 1464 not found")])
def test_without_a_network_the_error_names_the_three_ways_out(openml, failure, cache):
    openml.answer = failure
    with pytest.raises(DatasetNotFoundError) as caught:
        load("blood_transfusion")
    message = str(caught.value)
    assert "data_home" in message and "PLANEWISE_DATA" in message
    assert "bundled with scikit-learn" in message and "iris" in message
    assert "connect to the internet once" in message
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.__cause__ is failure
    assert not cache.exists()


def test_download_false_does_not_ask_openml(openml):
    with pytest.raises(DatasetNotFoundError, match="download=False"):
        load("blood_transfusion", download=False)
    assert openml.calls == []


def test_a_set_without_an_openml_id_is_not_promised_from_there(openml):
    with pytest.raises(DatasetNotFoundError, match="no OpenML id") as caught:
        load("htru2")
    assert "connect" not in str(caught.value)
    assert openml.calls == []


def test_a_failed_write_leaves_nothing_behind_and_keeps_the_data(openml, cache, monkeypatch):
    def fail(source, destination):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.warns(UserWarning, match="could not be cached in .*disk full") as caught:
        bunch = load("blood_transfusion")
    assert caught[0].filename == __file__
    assert bunch.data.shape == (748, 4)
    assert list(cache.iterdir()) == []


def test_nothing_is_downloaded_that_could_not_be_kept(openml, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[data\]'"):
        load("blood_transfusion")
    assert openml.calls == []


def test_the_cache_is_in_the_home_directory_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("PLANEWISE_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _sources.cache_directory() == tmp_path / ".cache" / "planewise"
