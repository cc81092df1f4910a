"""Who signs, a second reviewer who decides blind, and how far the two agree."""

from __future__ import annotations

import html
import re

import pytest
from sklearn.metrics import cohen_kappa_score
from tests.answers.recording import unsealed

from planewise.app import AnswersFileError


def sign(one, name):
    one.open("/name")
    one.page = one.send("/name", one.hidden('class="name"') | {"name": name})
    return one.page


def other_class(one, row):
    return (one.review.classes.index(one.review.answer(row)) + 1) % 3


def test_the_name_is_asked_once_and_remembered_with_the_answers(person, lines, make_app):
    one = person(who=None, suggested="login-name")
    assert one.page.url.path.endswith("/name") and 'value="login-name"' in one.page.text
    for path in ("/case/0", "/queue", "/accept", "/agreement", "/export", "/done"):
        assert one.open(path).url.path.endswith("/name")
    fields = {"csrf": one.hidden('class="name"')["csrf"], "key": "a" * 32, "decision": "accept"}
    assert "Enter your name first" in one.send("/case/0/decide", fields).text and lines() == []
    for wrong in ("", "  ", "x" * 201):
        assert one.send("/name", one.hidden('class="name"') | {"name": wrong}).status_code == 422
    sign(one, "  Ada Lovelace ")
    assert 'Reviewer: <strong dir="auto">Ada Lovelace</strong>' in one.page.text
    one.decide("accept")
    assert [each.who for each in lines()] == ["Ada Lovelace"]
    one.review.close()
    assert make_app(who=None).state.review.who == "Ada Lovelace"


def test_a_decision_is_not_saved_under_another_name_than_its_page_showed(person, lines):
    one = person()
    row, fields = one.row, one.hidden('id="decide"') | {"decision": "accept"}
    sign(one, "Bob")
    answer = one.send(f"/case/{row}/decide", fields)
    assert answer.status_code == 409 and "The reviewer is now Bob; reload the page" in answer.text and lines() == []


def test_names_that_differ_in_capitals_only_are_one_reviewer(person, lines):
    one = person(who="Ada")
    one.decide("accept")
    sign(one, "ADA")
    one.decide("accept")
    assert [each.who for each in lines()] == ["Ada", "Ada"]


def test_the_second_reviewer_decides_blind_and_then_sees_the_agreement(person, lines):
    one = person("boost", who="Ada")
    told = {}
    for k in range(12):
        row, decision = one.row, "accept" if k % 3 else f"override:{other_class(one, one.row)}"
        told[row] = one.review.classes[other_class(one, row)] if k % 3 == 0 else one.review.answer(row)
        one.decide(decision, note="the first opinion" if k == 0 else "")
    assert "there is one reviewer" in one.open("/agreement").text
    sign(one, "Bob")
    assert "0 of 120 reviewed" in one.page.text and 'id="undo"' not in one.page.text
    first = next(iter(told))
    page = one.open(f"/case/{first}").text
    assert "the first opinion" not in page and "Overridden" not in page and "Ada" not in page
    assert "not yet reviewed" in one.open("/queue?show=all").text and "Overridden" not in one.page.text
    assert "has decided 12 cases that you have not" in one.open("/agreement").text and "kappa" not in one.page.text
    second = {}
    for k, row in enumerate(told):
        one.open(f"/case/{row}")
        second[row] = one.review.classes[other_class(one, row)] if k % 4 == 0 else one.review.answer(row)
        one.decide(f"override:{other_class(one, row)}" if k % 4 == 0 else "accept")
        if k == 5:
            assert "kappa" not in one.open("/agreement").text
            assert "Cohen’s kappa" in one.open("/agreement?now=1").text
    page = html.unescape(one.open("/agreement").text)
    n_equal = sum(told[row] == second[row] for row in told)
    kappa = cohen_kappa_score(list(told.values()), list(second.values()))
    assert one.review.agreement("Ada", "Bob").kappa == pytest.approx(kappa) and f"<strong>{kappa:.3g}</strong>" in page
    assert f"{n_equal} (" in page and f"{12 - n_equal} disagreements" in page
    apart = [row for row in told if told[row] != second[row]]
    links = {int(row) for row in re.findall(r'class="open-case" href="[^"]*/case/(\d+)', page)}
    assert links == set(apart)
    assert "Ada: <strong>" in one.open(f"/case/{apart[0]}").text and "(different from yours)" in one.page.text
    assert {each.who for each in lines()} == {"Ada", "Bob"}


def test_numbers_are_compared_by_their_difference(person):
    one = person("boost", "price", who="Ada")
    one.open("/case/0")
    one.decide("override", number="10")
    sign(one, "Bob")
    one.open("/case/0")
    one.decide("override", number="14.5")
    page = one.open("/agreement").text
    assert "mean absolute difference" in page and "<strong>4.5</strong>" in page and "kappa" not in page
    assert one.open("/accept").status_code == 200 and "no probabilities" in one.page.text


def test_undoing_is_for_ones_own_decisions(person):
    one = person(who="Ada")
    one.decide("accept")
    undo = one.hidden('id="undo"')
    sign(one, "Bob")
    one.open("/case/0")
    assert 'id="undo"' not in one.page.text
    assert one.send("/undo", undo | {"signed": one.hidden('id="decide"')["signed"]}).status_code == 422


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"dear"', '"deer"', "has the label 'deer', which is not a class"),
        ('"dear"', "3", "has the label 3"),
        ('"row": 5', '"row": 7', "about other values than row 7"),
        ('"row": 5', '"row": 500', "row is 500, but the table has 120 rows"),
    ],
)
def test_a_line_that_was_changed_by_hand_is_named(make_app, answers_path, old, new, words):
    from planewise.app._review import Asked

    review = make_app("boost").state.review
    review.decide(5, Asked("a" * 32, "override" if review.answer(5) != "dear" else "accept", "dear"))
    review.close()
    answers_path.write_text(unsealed(answers_path.read_text()).replace(old, new))
    with pytest.raises(AnswersFileError, match="Line 2 of") as told:
        make_app("boost")
    assert words in str(told.value)


def test_answers_of_version_1_are_continued(make_app, answers_path, lines):
    """Written by an older planewise: a first line without the file, fingerprints of values as Python writes them."""
    import hashlib
    import json

    from planewise.app._review import Asked

    review = make_app("boost").state.review
    review.decide(5, Asked("a" * 32, "accept"))
    review.close()
    first, second = (json.loads(line) for line in unsealed(answers_path.read_text(), 1).splitlines())
    first = {name: value for name, value in first.items() if not name.startswith("file")}
    values = [[name, None if value is None else str(value)] for name, value in review.values(5).items()]
    second["fingerprint"] = hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]
    answers_path.write_text("".join(json.dumps(line) + "\n" for line in (first, second)))
    again = make_app("boost", who=None).state.review
    assert again.who == "Ada" and again.queue.counts()["accepted"] == 1
    again.decide(6, Asked("b" * 32, "accept"))
    assert [each.row for each in lines() if hasattr(each, "row")] == [5, 6]


def test_a_name_that_no_file_can_hold_is_refused(make_app):
    """Bytes of a command line that are no text come as halves of characters."""
    with pytest.raises(ValueError, match="who must be the name of the person"):
        make_app(who="Ad\udcff")
