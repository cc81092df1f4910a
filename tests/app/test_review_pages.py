"""The pages as a person uses them: sentences, decisions, undoing, filters, search, what-if."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from html.parser import HTMLParser

import polars as pl
import pytest

from planewise.app import AnswersFileError
from planewise.app._queue import Filter
from planewise.app._review import table_checksum

FAMILIES = ("slm", "forest", "boost", "mcm", "views", "recip")


@pytest.mark.parametrize("target", ["class", "price"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_says_why(person, models, table, family, target):
    one = person(family, target)
    assert one.page.status_code == 200
    said = html.unescape(one.sentence)
    answer = models(family, target).predict(table)[one.row]
    assert re.search("because|alone gives this prediction|speaks for it most|changes it most", said), said
    assert re.search(r"\b(size|age|town)\b|leaf|vectors", said), said
    if target == "class":
        assert said.strip("'").startswith(str(answer))
        assert f'Accept <span dir="auto">{answer}</span>' in one.page.text
    moved = one.what_if(v0="80", v1="5")
    assert moved.status_code == 200 and "What if" in moved.text and "Nothing is saved" in moved.text
    assert "size were 80" in moved.text and one.review.decisions.last() is None
    assert one.decide("accept").status_code == 200 and one.said.startswith("Saved: key P-")


def test_the_sentence_of_a_view_names_its_columns_and_neighbours(person):
    one = person("recip")
    assert re.match(r"\w+, because \d+ of the 7 nearest in \([\w, ]+\) are \w+\.", one.sentence)
    assert 'class="pw-figure"' in one.page.text and "pw-pick" in one.page.text
    assert "Best view against" not in one.page.text  # the model has one view, which decided


def test_the_sentence_of_a_sum_of_views_names_the_leading_view_and_doubts_have_their_own_line(person):
    one = person("views")
    said = html.unescape(one.sentence)
    assert re.match(r"'\w+' with probability 0\.\d\d: (starting from .*, the view \w+|no view speaks for it)", said)
    assert "undecided" not in said and "equally near" not in said
    assert '<p class="doubt" dir="auto"><strong>The model is unsure:</strong>' in one.page.text  # such cases come first


@pytest.mark.parametrize("target", ["class", "price"])
def test_cases_of_a_sum_of_views_are_undecided_where_their_explanations_say_so(make_app, models, table, target):
    review, model = make_app("views", target).state.review, models("views", target)
    judged, reasons = review.judgement, model.explain(table)
    assert judged.unsure.tolist() == [each.undecided for each in reasons]
    if target == "class":
        assert [model.classes_[place] for place in judged.answer] == [each.prediction for each in reasons]
        assert judged.probability.tolist() == pytest.approx([each.probability for each in reasons])
    else:
        assert judged.answer.tolist() == pytest.approx([each.prediction for each in reasons])
    undecided = judged.unsure[review.queue.order]
    assert undecided.tolist() == sorted(undecided.tolist(), reverse=True)


@pytest.mark.parametrize("family", ["boost", "views"])
def test_undecided_cases_come_first_then_the_closest(make_app, family):
    review = make_app(family).state.review
    order, judged = review.queue.order, review.judgement
    undecided = judged.unsure[order]
    assert undecided.any() and not undecided.all()
    assert undecided.tolist() == sorted(undecided.tolist(), reverse=True)
    for part in (order[undecided], order[~undecided]):
        assert judged.clearness[part].tolist() == sorted(judged.clearness[part].tolist())


def test_numbers_without_doubts_keep_the_order_of_the_table(make_app):
    review = make_app("boost", "price").state.review
    assert review.queue.order.tolist() == list(range(120)) and not review.judgement.unsure.any()


def test_decisions_are_kept_with_who_when_what_and_why(person, lines):
    one = person("boost")
    rows = [one.row]
    one.decide("accept")
    rows.append(one.row)
    place = one.review.classes.index(one.review.answer(one.row))
    other = (place + 1) % 3
    one.decide(f"override:{other}", note="  seen <b>it</b> myself ")
    rows.append(one.row)
    one.decide("note", note="ask\nBob")
    assert one.row == rows[2]  # a note decides nothing
    first, second, third = lines()
    assert [first.row, second.row, third.row] == rows and {each.who for each in lines()} == {"Ada"}
    assert first.decision == "accept" and first.label == first.answer and first.note == ""
    assert second.decision == "override" and second.label == one.review.classes[other] != second.answer
    assert second.note == "seen <b>it</b> myself" and "<b>it</b>" not in one.open(f"/case/{rows[1]}").text
    assert third.decision == "note" and third.label is None and "ask\nBob" in one.open(f"/case/{rows[2]}").text
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.when)
    assert first.row_id == f"P-{rows[0]:04d}" and len({each.fingerprint for each in lines()}) == 3
    counts = one.review.queue.counts()
    assert counts == counts | {"accepted": 1, "overridden": 1, "annotated": 2, "open": 118}


def test_the_same_form_twice_is_saved_once(person, lines):
    one = person()
    fields = one.hidden('id="decide"') | {"decision": "accept"}
    path = f"/case/{one.row}/decide"
    first, second = one.send(path, fields), one.send(path, fields)
    assert first.status_code == second.status_code == 200 and len(lines()) == 1
    assert str(first.url) == str(second.url)


def test_a_form_that_says_something_else_than_was_saved_with_its_key_is_refused(person, lines):
    one = person()
    row, fields = one.row, one.hidden('id="decide"') | {"decision": "accept"}
    one.send(f"/case/{row}/decide", fields)
    other = (one.review.classes.index(one.review.answer(row)) + 1) % 3
    for path, more in (
        (f"/case/{row}/decide", {"decision": "note", "note": "x"}),
        (f"/case/{row}/decide", {"note": "x"}),
        (f"/case/{row}/decide", {"decision": f"override:{other}"}),
        (f"/case/{(row + 1) % 120}/decide", {}),
        ("/undo", {"undoes": fields["key"]}),
    ):
        answer = one.send(path, fields | more)
        assert answer.status_code == 409 and "already saved (key P-" in answer.text and len(lines()) == 1
    undo = one.hidden('id="undo"') if 'id="undo"' in one.page.text else {"csrf": fields["csrf"], "key": "a" * 32}
    for _ in range(2):
        assert one.send("/undo", undo | {"undoes": fields["key"]}).status_code == 200
    assert one.send("/undo", undo | {"undoes": "b" * 32}).status_code == 409 and len(lines()) == 2


def test_a_decision_that_another_window_took_is_not_overwritten_unseen(person, lines):
    one = person()
    row, old = one.row, one.hidden('id="decide"') | {"decision": "accept"}
    assert old["seen"] == ""
    other = (one.review.classes.index(one.review.answer(row)) + 1) % 3
    one.decide(f"override:{other}")
    old["key"] = "a" * 32  # that of the other window's page
    answer = one.send(f"/case/{row}/decide", old)
    assert (
        answer.status_code == 409 and "Another decision was made in the meantime" in answer.text and len(lines()) == 1
    )
    one.open(f"/case/{row}")
    assert one.hidden('id="decide"')["seen"] == lines()[0].id
    assert one.decide("accept").status_code == 200 and len(lines()) == 2
    note = old | {"decision": "note", "note": "overwrites nothing", "key": "b" * 32}
    assert one.send(f"/case/{row}/decide", note).status_code == 200 and len(lines()) == 3


def test_saved_is_said_only_while_it_stands(person):
    one = person()
    row = one.row
    one.decide("accept")
    saved = str(one.page.url)
    assert one.open(saved) and one.said.startswith("Saved: key")
    one.undo()
    undone = str(one.page.url)
    assert one.open(saved) and one.said == ""
    assert one.open(undone) and one.said.startswith("Undone: key")
    one.open(f"/case/{row}")
    one.decide("accept")
    again = str(one.page.url)
    assert one.open(undone) and one.said == ""
    one.open(f"/case/{row}")
    other = (one.review.classes.index(one.review.answer(row)) + 1) % 3
    one.decide(f"override:{other}")
    assert one.open(again) and one.said == ""


def test_a_note_has_its_length_as_the_person_counts_it(person, lines):
    one = person()
    note = "\r\n".join(["\U0001f600" * 99] * 100)  # 10,000 letters with line breaks as browsers send them
    assert one.decide("note", note=note).status_code == 200
    assert lines()[0].note == note.replace("\r\n", "\n")


def test_long_ids_are_cut_in_the_file(make_app, table, lines):
    from planewise.app._review import Asked

    long = table.drop("price", "class").with_columns(pl.Series("key", ["k" * 2_000_000, *map(str, range(119))]))
    review = make_app(cases=long).state.review
    review.decide(0, Asked("a" * 32, "accept"))
    assert lines()[0].row_id == "k" * 1000
    review.close()
    assert make_app(cases=long).state.review.decisions.last().row == 0


def test_a_review_goes_on_with_the_id_it_was_begun_with(make_app, answers_path):
    make_app().state.review.close()
    again = make_app(id_column=None).state.review
    assert again.id_column == "key" and again.queue.find("P-0042") == [42]
    again.close()
    with pytest.raises(AnswersFileError, match="was started with --id-column key"):
        make_app(id_column="town")
    make_app(id_column=None, answers="b.jsonl").state.review.close()
    with pytest.raises(AnswersFileError, match="was started without --id"):
        make_app(answers="b.jsonl")


def test_undoing_goes_back_one_decision_after_another(person, lines):
    one = person()
    rows = []
    for _ in range(3):
        rows.append(one.row)
        one.decide("accept")
    for row in reversed(rows):
        one.undo()
        assert one.row == row and one.said.startswith("Undone: key ")
    assert one.review.queue.counts()["open"] == 120 and 'id="undo"' not in one.page.text
    assert [each.decision for each in lines()] == ["accept"] * 3 + ["undo"] * 3
    assert [each.undoes for each in lines()[3:]] == [each.id for each in lines()[2::-1]]


def test_undoing_what_is_no_longer_the_last_is_refused(person, lines):
    one = person()
    one.decide("accept")
    old = one.hidden('id="undo"')
    one.decide("accept")
    answer = one.send("/undo", old)
    assert (
        answer.status_code == 409 and "Another decision was made in the meantime" in answer.text and len(lines()) == 2
    )
    assert one.send("/undo", old | {"undoes": "f" * 32}).status_code == 409


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"decision": ""}, "The decision must be to accept"),
        ({"decision": "undo"}, "The decision must be to accept"),
        ({"decision": "override"}, "Choose the right class"),
        ({"decision": "override:99"}, "Choose the right class"),
        ({"decision": "override:-1"}, "Choose the right class"),
        ({"decision": "override:own"}, "Choose the right class"),
        ({"decision": "note", "note": "   "}, "The note is empty"),
        ({"decision": "accept", "note": "x" * 10_001}, "10,001 characters"),
        ({"decision": "accept", "key": ""}, "no key"),
        ({"decision": "accept", "key": "../../etc/passwd"}, "no key"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(person, lines, fields, words):
    one = person()
    path = f"/case/{one.row}/decide"
    plain = one.send(path, one.hidden('id="decide"') | fields, **{"hx-request": "true"})
    assert plain.status_code == 422 and words in plain.text and "<" not in plain.text
    page = one.send(path, one.hidden('id="decide"') | fields)
    assert page.status_code == 422 and words in page.text and "<main>" in page.text and lines() == []


def test_the_models_own_class_is_no_override(person, lines):
    one = person()
    place = one.review.classes.index(one.review.answer(one.row))
    assert one.decide(f"override:{place}").status_code == 422 and lines() == []


def test_numbers_are_overridden_by_numbers(person, lines):
    one = person("forest", "price")
    for wrong in ("", "abc", "nan", "inf", "1_000", "١٢"):
        assert (
            one.send(
                f"/case/{one.row}/decide", one.hidden('id="decide"') | {"decision": "override", "number": wrong}
            ).status_code
            == 422
        )
    one.decide("override", number="-12.5")
    assert [each.label for each in lines()] == [-12.5] and "is −12.5, not" in one.said


def test_filters_and_classes_choose_the_cases(person):
    one = person("boost")
    row = one.row
    one.decide("accept")
    for show, n in (("accepted", 1), ("overridden", 0), ("all", 120), ("open", 119)):
        page = one.open(f"/?show={show}")
        assert (f"1 of {n}" in page.text) if n else "No more cases here" in page.text
    assert one.open("/?show=accepted") and one.row == row
    judged = one.review.judgement
    for place in range(3):
        rows = one.review.queue.rows(Filter("all", place))
        assert set(judged.answer[rows]) == {place}
    assert one.open("/?show=nonsense&label=77").status_code == 200


def test_next_and_before_follow_the_queue(person):
    one = person("boost")
    order = one.review.queue.order.tolist()
    assert one.row == order[0] and 'id="before"' not in one.page.text

    def follow(name):
        href = re.search(rf'id="{name}"[^>]*href="([^"]+)"', one.page.text).group(1).replace("&amp;", "&")
        one.open(one.home + href)

    for row in order[1:4]:
        follow("after")
        assert one.row == row
    follow("before")
    assert one.row == order[2]


def test_cases_are_found_by_id_and_row(person):
    one = person()
    one.open("/queue?find=P-0042")
    assert one.row == 42
    one.open("/queue?find=row 7")
    assert one.row == 7
    listed = one.open("/queue?find=p-011").text
    assert "10 found for" in listed and listed.count("/case/") >= 10
    assert "0 found" in one.open("/queue?find=nobody").text
    assert "120" in one.open("/queue?show=all&page=3").text and one.page.text.count('<th scope="row">') == 20
    assert one.open("/queue?show=all&page=99999999999999").status_code == 200


def test_cases_with_the_same_id_are_all_found_and_numbers_are_ids(make_app, table):
    ids = ["twice" if row in (3, 90) else str(1000 + row) for row in range(120)]
    queue = make_app(cases=table.drop("price", "class").with_columns(key=pl.Series(ids))).state.review.queue
    assert sorted(queue.find("twice")) == [3, 90]
    assert queue.find("1010") == [10] and queue.find("row 10") == [10]
    assert sorted(queue.find("10")) == sorted(row for row in range(120) if "10" in ids[row])
    assert queue.find("7777") == [] and queue.find("row 7777") == []
    bare = make_app(answers="b.jsonl", id_column=None).state.review.queue
    assert bare.find("10") == bare.find("row 10") == [10]


@pytest.mark.parametrize("bad", [0, 57, 119])
def test_a_row_that_the_model_cannot_take_is_named(make_app, table, bad):
    ages = [float("inf") if row == bad else value for row, value in enumerate(table["age"].to_list())]
    with pytest.raises(ValueError, match=rf"cannot predict row {bad} \(key P-{bad:04d}\) of the table: Column 'age'"):
        make_app(cases=table.drop("price", "class").with_columns(age=pl.Series(ages)))


def test_the_last_case_says_that_all_is_done(person, table):
    one = person(cases=table.drop("price", "class").head(2))
    one.decide("accept")
    one.decide("accept")
    assert "All cases are reviewed" in one.page.text and one.said.startswith("Saved")
    one.undo()
    assert one.review.queue.counts()["open"] == 1


def test_undoing_after_the_last_case_keeps_the_filter(person, table):
    one = person(cases=table.drop("price", "class").head(4))
    one.open("/?show=open&label=0")
    while 'value="accept"' in one.page.text:
        one.decide("accept")
    assert one.review.queue.counts()["accepted"] > 0 and one.hidden('id="undo"')["label"] == "0"
    one.undo()
    assert "label=0" in str(one.page.url)


def test_a_review_goes_on_where_it_ended(make_app, person, answers_path, table):
    one = person()
    one.decide("accept")
    row, again = one.row, None
    with pytest.raises(AnswersFileError, match="open in another review"):
        make_app()
    one.review.close()
    again = make_app()
    assert again.state.review.queue.counts()["accepted"] == 1
    assert again.state.review.queue.first(Filter()) == row
    again.state.review.close()
    changed = table.drop("price", "class").with_columns(pl.lit(1.0).alias("age"))
    with pytest.raises(AnswersFileError, match="about another table"):
        make_app(cases=changed)
    with pytest.raises(AnswersFileError, match="about another model"):
        make_app("boost")


def test_what_was_never_confirmed_is_told_on_the_page(make_app, person, answers_path):
    make_app().state.review.close()
    with answers_path.open("ab") as file:
        file.write(b'{"id": "0123')
    one = person()
    assert "answers.jsonl.torn1" in one.page.text


def test_a_disk_that_is_full_is_told_and_the_form_can_be_sent_again(person, lines, monkeypatch):
    one = person()
    fields = one.hidden('id="decide"') | {"decision": "accept"}
    path = f"/case/{one.row}/decide"
    with monkeypatch.context() as broken:
        broken.setattr(
            "planewise.answers._file.os.write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        answer = one.send(path, fields, **{"hx-request": "true"})
    assert (
        answer.status_code == 507
        and "No space left" in answer.text
        and "Nothing was saved" in answer.text
        and lines() == []
    )
    assert one.send(path, fields).status_code == 200 and len(lines()) == 1


def test_what_if_refuses_what_is_no_value(person):
    one = person("recip")
    for value, words in (
        ("x", "must be a number"),
        ("nan", "must be a number"),
        ("1e999", "must be a number"),
        ("1_000", "must be a number"),
        ("١٢", "must be a number"),
        ("1e300", "must be between −1e+17 and 1e+17"),
        ("9" * 600, "too long"),
    ):
        answer = one.what_if(v0=value)
        assert answer.status_code == 422 and words in answer.text
    assert one.what_if(v0="", v2="Atlantis").status_code == 200


def test_what_if_a_model_cannot_take_a_value_it_says_so(person, monkeypatch):
    one = person("recip")

    def fail(*_, **__):
        raise ValueError("queries has a value beyond 1e+17.")

    monkeypatch.setattr(one.app.state, "explainer", fail)
    answer = one.what_if(v0="12")
    assert answer.status_code == 422 and "The model cannot predict these values: queries has" in answer.text


def test_what_if_moves_the_case_in_its_view(person):
    one = person("recip")
    assert "pw-ghost" not in one.page.text
    size = one.review.values(one.row)["size"] or 50.0
    moved = one.what_if(v0=str(size + 15), v1="44")
    assert "pw-ghost" in moved.text and "pw-arrow" in moved.text


EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "{% raw %}",
    "javascript:alert(1)",
    "\u202egnp.exe",
    "a" * 5000,
    "\x00\x1b[31m",
    "' onfocus=alert(1) autofocus='",
    "</textarea><svg/onload=alert(1)>",
    "&lt;",
    "../../etc/passwd",
]


class Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.scripts = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "script":
            self.scripts.append(dict(attrs).get("src", ""))


@pytest.mark.parametrize("family", ["slm", "boost", "recip", "mcm"])
def test_whatever_a_table_holds_is_only_text(family, tmp_path, serve):
    from reviewing import Person, make_table

    from planewise.app import create_app
    from planewise.table import TableModel

    rows = make_table().drop("price")
    towns = {"Bonn": EVIL[0], "Köln": EVIL[1], "Ulm": EVIL[8]}
    classes = {"dear": EVIL[2], "fair": EVIL[9], "cheap": EVIL[0]}
    names = {"size": EVIL[1], "age": EVIL[2], "town": EVIL[9]}
    evil = rows.with_columns(
        pl.col("town").replace(towns),
        pl.col("class").replace(classes),
        pl.Series("key", [EVIL[k % 12] + str(k) for k in range(120)]),
    ).rename(names)
    settings = {"mcm": {"Cs": [10.0], "gammas": [0.1], "mus": [1.0], "cv": 2}}.get(family)
    model = TableModel(family, settings=settings, random_state=0).fit(evil.drop("key"), "class")
    app = create_app(
        model, evil.drop("class"), answers=tmp_path / "evil.jsonl", who=EVIL[1], id_column="key", title=EVIL[0]
    )
    one = Person(serve(app), app.state.token)
    pages = [
        one.page,
        one.decide("accept", note=EVIL[9]),
        one.open("/queue?show=all&find=" + "script"),
        one.open("/queue?show=all"),
        one.open("/case/1"),
        one.what_if(v0=EVIL[0], v2=EVIL[1]),
        one.what_if(v2=EVIL[1]),
        one.open("/queue?find=" + EVIL[0]),
        one.open("/accept?class=0&least=0.5"),
        one.open("/agreement"),
        one.open("/export"),
        one.open("/name"),
    ]
    for page in pages:
        seen = Tags(page.text)
        assert seen.names.isdisjoint({"img", "iframe", "object", "embed", "base"}) and "\u202e" not in page.text
        assert not any(
            name.startswith("on") or name in ("style", "srcdoc", "autofocus", "onerror") for name in seen.attributes
        )
        assert all(address.startswith(f"{one.path}/static/") for address in seen.scripts) and len(seen.scripts) == 3
        assert "\x1b" not in page.text and "\x00" not in page.text
    one.http.close()
    app.state.review.close()


def test_pages_are_bounded_whatever_a_cell_holds(make_app, serve, table):
    from reviewing import Person

    long = table.drop("price", "class").with_columns(pl.Series("key", ["k" * 2_000_000, *map(str, range(119))]))
    app = make_app(cases=long)
    one = Person(serve(app))
    assert len(one.open("/case/0").text) < 60_000
    one.http.close()


def test_columns_that_polars_cannot_write_are_shown_and_told_apart(person, table):
    def cases(hours):
        odd = {
            "took": [None, *(timedelta(hours=hours + k) for k in range(1, 120))],
            "parts": [[k, hours] for k in range(120)],
            "raw": [b"\xff" + bytes([hours])] * 120,
        }
        return table.drop("price", "class").with_columns(**{name: pl.Series(each) for name, each in odd.items()})

    one = person(cases=cases(1))
    one.decide("accept")
    assert one.said.startswith("Saved")
    names = ["took", "parts", "raw"]
    known = {(name, hours): table_checksum(cases(hours), [name]) for name in names for hours in (1, 1, 2)}
    assert len(set(known.values())) == 6
    in_ms = cases(1).with_columns(pl.col("took").cast(pl.Duration("ms")))
    assert table_checksum(in_ms, ["took"]) == known["took", 1]
