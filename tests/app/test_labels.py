"""Answers come back as a table for the next fit."""

from __future__ import annotations

import secrets

import pytest

from planewise.app import AnswersFileError, labels
from planewise.app._review import Asked
from planewise.table import TableModel


def decide(review, row, decision, label=None, note=""):
    return review.decide(row, Asked(secrets.token_hex(16), decision, label, note))


def test_decided_rows_have_their_labels_and_can_be_fitted(make_app, models, table, answers_path):
    review = make_app().state.review
    cases = table.drop("price", "class")
    told = {}
    for row in range(0, 120, 2):
        answer = review.answer(row)
        told[row] = answer
        if row % 8 == 0:
            told[row] = next(each for each in review.classes if each != answer)
            decide(review, row, "override", told[row])
        else:
            decide(review, row, "accept")
    decide(review, 1, "note", note="later")
    review.undo(secrets.token_hex(16), review.decisions.last().id)
    found = labels(models("slm"), cases, answers_path, "key")  # while the review is open
    assert found.columns == [*cases.columns, "class"] and found["key"].to_list() == [f"P-{row:04d}" for row in told]
    assert found["class"].to_list() == list(told.values())
    again = TableModel("slm", random_state=0).fit(found.drop("key"), "class")
    assert again.predict(cases).shape == (120,)


def test_numbers_come_back_as_numbers(make_app, models, table, answers_path):
    review = make_app("boost", "price").state.review
    decide(review, 3, "accept")
    decide(review, 4, "override", 7.25)
    found = labels(models("boost", "price"), table.drop("price", "class"), answers_path, "key")
    assert found["price"].to_list() == [review.answer(3), 7.25]


def test_a_target_that_the_table_has_is_replaced(make_app, models, table, answers_path):
    review = make_app(cases=table).state.review
    other = next(each for each in review.classes if each != review.answer(5))
    decide(review, 5, "override", other)
    assert labels(models("slm"), table, answers_path, "key")["class"].to_list() == [other]


def test_answers_about_something_else_are_refused(make_app, models, table, answers_path):
    make_app()
    with pytest.raises(AnswersFileError, match="another model"):
        labels(models("boost"), table, answers_path, "key")
    with pytest.raises(AnswersFileError, match="another table"):
        labels(models("slm"), table.head(3), answers_path, "key")
