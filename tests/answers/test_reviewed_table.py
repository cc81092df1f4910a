"""An exported review: the columns as they were, the review beside them, no formulas."""

from __future__ import annotations

import io

import polars as pl
import pytest

from planewise.answers import Batch, Ledger, Record, exported_columns, reviewed_table, table_bytes, table_checksum
from planewise.answers import row_fingerprints as fingerprints

TABLE = pl.DataFrame({"id": ["007", "42", "NA"], "x": ["1.50", "", " 2"], "note": ["=1+1", "a,b", "ü"]})


def record(number, row, decision, label=None, note="", who="Ada", batch=None, undoes=None):
    return Record(f"{number:032x}", row, None, "f", "ok", decision, label, note, who, "2026-01-01", undoes, batch)


def ledger(*records):
    return Ledger(3, records)


def test_original_columns_stay_as_they_are_and_the_review_follows():
    rule = Batch("b" * 32, 1, "accept 'ok' with probability >= 0.9")
    told = ledger(
        record(1, 2, "override", "bad", "=HYPERLINK()"), record(2, 2, "note", note="and more"),
        record(3, 0, "accept", "ok", batch=rule), record(4, 2, "accept", "ok", who="@Bob"),
        record(5, 1, "note", note="x"),
    )  # fmt: skip
    found = reviewed_table(TABLE, told, ["ok"] * 3, [0.9, 0.8, 0.7], file_checksum="abc")
    assert found.columns == [*TABLE.columns, *exported_columns(TABLE.columns, new=True).all]
    assert found.select(TABLE.columns).equals(TABLE[[0, 2, 2]])
    assert found["review_row"].to_list() == [0, 2, 2] and found["review_who"].to_list() == ["Ada", "Ada", "@Bob"]
    assert found["review_label"].to_list() == ["ok", "bad", "ok"] and found["review_table"].unique().to_list() == [
        "abc"
    ]
    assert found["review_rule"].to_list() == [rule.rule, None, None]
    assert found["review_note"].to_list() == [None, "=HYPERLINK()\nand more", None]
    text = pl.read_csv(io.BytesIO(table_bytes(found, "csv")), infer_schema=False)
    assert text["review_note"][1] == "'=HYPERLINK()\nand more" and text["review_who"].to_list()[2] == "'@Bob"
    assert text["note"].to_list() == ["'=1+1", "ü", "ü"]
    exact = pl.read_csv(io.BytesIO(table_bytes(found, "csv")), infer_schema=False)
    assert exact.select(TABLE.columns).fill_null("").equals(TABLE[[0, 2, 2]])
    parquet = pl.read_parquet(io.BytesIO(table_bytes(found, "parquet")))
    assert parquet.equals(found)
    assert table_bytes(found, "tsv").split(b"\n")[1].startswith(b"007\t1.50\t'=1+1\t0\tok\t0.9\taccept\tok")


def test_all_rows_can_be_exported():
    told = ledger(record(1, 2, "accept", "ok"), record(2, 1, "note", note="look again"))
    found = reviewed_table(TABLE, told, ["ok"] * 3, None, all_rows=True)
    assert found["id"].to_list() == ["007", "42", "NA"]
    assert found["review_decision"].to_list() == [None, None, "accept"]
    assert (
        found["review_note"].to_list() == [None, "look again", None] and found["review_probability"].null_count() == 3
    )
    assert reviewed_table(TABLE, ledger(), ["ok"] * 3, None).height == 0


def test_a_table_that_was_exported_before_gets_further_columns():
    once = reviewed_table(TABLE, ledger(record(1, 0, "accept", "ok")), ["ok"] * 3, None, all_rows=True)
    twice = reviewed_table(once, ledger(record(1, 0, "override", "bad")), ["ok"] * 3, None)
    assert twice.columns[: once.width] == once.columns and twice["review2_label"].to_list() == ["bad"]
    assert exported_columns(twice.columns, new=False)("label") == "review2_label"
    assert exported_columns(TABLE.columns, new=False) is None


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.0], [1.0, float("nan")], [True, False], ["a", None]])
def test_fingerprints_agree_where_checksums_do(values):
    one = pl.DataFrame({"a": values})
    others = (
        [one.with_columns(pl.col("a").cast(kind)) for kind in (pl.Float64, pl.Float32)]
        if one["a"].dtype != pl.String
        else [one]
    )
    for other in others:
        assert table_checksum(one, ["a"]) == table_checksum(other, ["a"])
        assert list(fingerprints(one, ["a"], [0, 1])) == list(fingerprints(other, ["a"], [0, 1]))
    assert len(set(fingerprints(one, ["a"], [0, 1]))) == 2
