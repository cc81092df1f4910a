"""What a table model's file keeps about its fit: it comes back as it was, and forgeries are refused."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import fitted
from rewrite import parts_of, write

import planewise as pw
from planewise.evaluate.quality import Quality
from planewise.store import ModelFileError
from planewise.table.record import record_in_words

NAME = "table, numbers, record"


@pytest.fixture
def path(tmp_path):
    pw.save(fitted(NAME)[0], tmp_path / "m.planewise")
    return tmp_path / "m.planewise"


def test_the_record_and_the_errors_come_back_as_they_were(path):
    model, again = fitted(NAME)[0], pw.load(path)
    assert again.record_ == model.record_
    assert again.held_out_errors_.n_rows == 75
    np.testing.assert_array_equal(again.held_out_errors_.errors, model.held_out_errors_.errors)
    np.testing.assert_array_equal(again.held_out_errors_.ranks, np.arange(1, 76))


def test_a_model_without_a_record_has_none_in_its_file(tmp_path):
    model = fitted("table, numbers")[0]
    pw.save(model, tmp_path / "m.planewise")
    assert "record_" not in parts_of(tmp_path / "m.planewise")[0]["model"]["fitted"]
    assert pw.load(tmp_path / "m.planewise").record_ is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record.pop("date"), "missing or unknown parts"),
        (lambda record: record.update(more=1), "missing or unknown parts"),
        (lambda record: record.update(date=3), "record_.date of the wrong type"),
        (lambda record: record.update(seed=-1), "record_.seed that is not allowed"),
        (lambda record: record["split"].update(kind="luck"), "record_.split.kind that planewise does not know"),
        (lambda record: record.update(quality={}), "without the model's quality"),
        (lambda record: record.update(rows=None), "without the number of rows"),
        (lambda record: record["quality"].update(model=[]), "not a table of names"),
        (lambda record: record["quality"]["model"]["r2"].update(low="x"), "not a number"),
    ],
)
def test_a_record_that_no_fit_wrote_is_refused(path, change, words):
    document, arrays = parts_of(path)
    change(document["model"]["fitted"]["record_"])
    write(path, document, arrays)
    with pytest.raises(ModelFileError, match=words):
        pw.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept.update(n_rows=kept["n_rows"] + 1),
        lambda kept: kept.update(ranks=kept["errors"], errors=kept["ranks"]),
        lambda kept: kept.update(n_rows=0),
    ],
)
def test_errors_that_do_not_fit_together_are_refused(path, change):
    document, arrays = parts_of(path)
    change(document["model"]["fitted"]["held_out_errors_"])
    write(path, document, arrays)
    with pytest.raises(ModelFileError):
        pw.load(path)


def test_a_record_without_measures_of_the_mean_is_not_compared_with_it(path):
    document, arrays = parts_of(path)
    document["model"]["fitted"]["record_"]["quality"]["mean"] = {}
    write(path, document, arrays)
    found = Quality.of_record(pw.load(path).record_)
    assert "no better" not in found.note


def test_errors_that_are_not_in_order_are_refused(path):
    document, arrays = parts_of(path)
    place = document["model"]["fitted"]["held_out_errors_"]["errors"]
    arrays[place] = arrays[place][::-1].copy()
    write(path, document, arrays)
    with pytest.raises(ModelFileError, match="not in order"):
        pw.load(path)


def test_the_words_of_a_record():
    facts = dict(record_in_words(fitted(NAME)[0].record_))
    assert facts["fitted"] == "2026-01-02 03:04:05 UTC by planewise 0.1.0, from iris.csv, seed 0"
    assert facts["rows"] == "150 of 300 rows for training, 150 held out (whole groups of 'key')"
