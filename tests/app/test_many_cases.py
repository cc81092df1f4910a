"""The list of cases, cases accepted by a rule, progress, export from the page, and notes that come back."""

from __future__ import annotations

import html
import io
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from planewise.app._queue import Filter


def listed(one):
    """The rows of the list, in its order."""
    return [int(row) for row in re.findall(r'class="open-case" href="[^"]*/case/(\d+)', one.page.text)]


# ------------------------------------------------------------------------------------------------------------ the list
@pytest.mark.parametrize("down", [False, True])
def test_the_list_is_sorted_by_every_column(person, down):
    one = person("boost")
    judged, more = one.review.judgement, "&down=1" if down else ""
    one.decide("accept")
    values = {
        "case": np.arange(120),
        "answer": judged.answer,
        "probability": judged.probability,
        "model": ~judged.unsure,
        "decision": one.review.decisions.status,
    }
    for column, key in values.items():
        rows = []
        for page in (1, 2, 3):
            one.open(f"/queue?show=all&sort={column}{more}&page={page}")
            rows += listed(one)
        assert f'aria-sort="{"descending" if down else "ascending"}"' in one.page.text
        found = key[rows].tolist()
        assert sorted(rows) == list(range(120)) and found == sorted(found, reverse=down), column


def test_ids_are_sorted_as_numbers_if_they_are_numbers(make_app, table):
    ids = [str(k) for k in reversed(range(120))]
    queue = make_app(cases=table.drop("price", "class").with_columns(key=pl.Series(ids))).state.review.queue
    assert queue.rows(Filter("all", sort="case")).tolist() == list(range(119, -1, -1))


def test_filters_go_together_and_the_list_says_what_was_decided(person):
    one = person("boost")
    judged, rows = one.review.judgement, []
    for _ in range(4):
        rows.append(one.row)
        one.decide("accept", note="<b>seen</b>" if len(rows) == 1 else "")
    one.open("/queue?show=reviewed&sort=case")
    assert listed(one) == sorted(rows) and one.page.text.count("✓ accepted") == 4
    assert "&lt;b&gt;seen&lt;/b&gt;" in one.page.text
    one.open("/queue?show=all&unsure=1&label=1")
    assert set(listed(one)) == set(np.flatnonzero(judged.unsure & (judged.answer == 1)).tolist())
    one.open("/queue?show=open&unsure=1")
    assert set(listed(one)) == set(np.flatnonzero(judged.unsure).tolist()) - set(rows)


def test_from_the_list_one_goes_on_in_its_order(person):
    one = person("boost")
    order = one.review.queue.rows(Filter("all", sort="probability", down=True)).tolist()
    one.open("/queue?show=all&sort=probability&down=1")
    link = re.search(r'class="open-case" href="([^"]+)"', one.page.text).group(1)
    one.open(one.home + html.unescape(link))
    assert one.row == order[0]
    one.open(one.home + html.unescape(re.search(r'id="after"[^>]*href="([^"]+)"', one.page.text).group(1)))
    assert one.row == order[1]


def test_progress_is_shown_by_class(person):
    one = person("boost")
    own = int(one.review.judgement.answer[one.row])
    one.decide("accept")
    counts = np.bincount(one.review.judgement.answer, minlength=3)
    for place, name in enumerate(one.review.classes):
        words = rf"{name}</th><td>{int(place == own)} of {counts[place]}<"
        assert re.search(words, one.page.text), words


# ---------------------------------------------------------------------------------------------------------- one by one
def test_the_case_comes_before_the_answer_and_the_answer_before_the_reasons(person):
    one = person("recip")
    text = one.page.text
    places = [text.index(each) for each in ("<h2>The case</h2>", "The model’s answer", 'class="odds"', 'id="reasons"')]
    assert places == sorted(places) and "pw-figure" not in text[: places[-1]]
    telling = one.app.state.ahead(one.row).telling
    shown = re.findall(r"<dt dir=\"auto\">(\w+)</dt>", text)
    assert shown[: len(telling)] == telling


def test_all_classes_have_their_probability(person, models, table):
    one = person("boost")
    probability = models("boost").predict_proba(table[one.row : one.row + 1])[0]
    widths = [float(each) for each in re.findall(r'class="part" width="([\d.]+)"', one.page.text)]
    assert widths == pytest.approx(sorted((100 * probability).tolist(), reverse=True), abs=0.01)


def test_a_number_has_its_interval_where_the_model_gives_one(person, monkeypatch):
    from planewise.table import TableModel

    monkeypatch.setattr(
        TableModel, "predict_interval", lambda self, table, coverage=0.9: np.array([[1.5, 9.25]]), raising=False
    )
    assert "90 % interval: 1.5 to 9.25" in person("boost", "price").page.text


def test_undoing_brings_the_note_and_the_label_back(person, lines):
    one = person("boost")
    row = one.row
    place = (one.review.classes.index(one.review.answer(row)) + 1) % 3
    note = "first line\n</textarea><b>second</b> & third"
    one.decide(f"override:{place}", note=note)
    one.undo()
    back = re.search(r"<textarea[^>]*>(.*?)</textarea>", one.page.text, re.S).group(1)
    assert html.unescape(back).removeprefix("\n") == note and "Your note is back" in one.said
    assert '<details id="override" open>' in one.page.text
    assert re.search(rf'value="override:{place}"[^>]*class="chosen"', one.page.text)
    assert one.open(f"/case/{row}").text.count("second") == 0  # and only then
    numbers = person("boost", "price", answers="n.jsonl")
    numbers.decide("override", number="12.5", note="")
    numbers.undo()
    assert 'name="number" id="number" inputmode="decimal" value="12.5"' in numbers.page.text


# ------------------------------------------------------------------------------------------------------- many at once
def preview(one, label, least):
    one.open(f"/accept?class={label}&least={least}")
    return one.hidden('id="accept-all"') if 'id="accept-all"' in one.page.text else None


def test_clear_cases_of_a_class_are_accepted_at_once_and_undone_at_once(person, lines):
    one = person("boost")
    judged = one.review.judgement
    first = one.row
    one.decide("accept")  # what is decided already is left alone
    label, least = 1, 0.6
    expected = (judged.answer == label) & (judged.probability >= least) & ~judged.unsure
    expected[first] = False
    form = preview(one, label, least)
    assert f"{expected.sum()} cases fit the rule" in one.page.text and int(form["n_cases"]) == expected.sum() > 3
    assert len(lines()) == 1
    one.page = one.send("/accept", form)
    assert one.said.startswith(f"Saved: {expected.sum()} cases accepted as")
    batch = lines()[1:]
    rule = f"accept {one.review.classes[label]!r} with probability >= 0.6, where the model is not unsure"
    assert {each.row for each in batch} == set(np.flatnonzero(expected).tolist())
    assert all(each.batch == {"id": form["key"], "size": len(batch), "rule": rule} for each in batch)
    assert one.send("/accept", form).status_code == 200 and len(lines()) == len(batch) + 1  # sent again
    assert "by a rule" in one.open("/queue?show=accepted").text
    assert "by the rule: accept" in one.open(f"/case/{batch[0].row}").text
    one.undo()
    assert len(lines()) == len(batch) + 2 and lines()[-1].undoes == form["key"]
    assert one.review.queue.counts()["accepted"] == 1 and one.said.startswith(f"Undone: {len(batch)} cases")
    one.review.close()


def test_a_rule_that_no_longer_means_the_same_cases_is_refused(person, lines):
    one = person("boost")
    form = preview(one, 1, 0.6)
    row = int(one.review.queue.clear_cases(1, 0.6)[0])
    one.open(f"/case/{row}")
    one.decide("accept")
    answer = one.send("/accept", form)
    assert answer.status_code == 409 and "in the meantime" in answer.text and len(lines()) == 1


def test_rules_that_make_no_sense_are_refused(person, lines):
    one = person("boost")
    for least in ("0.3", "1.5", "x", ""):
        assert one.open(f"/accept?class=0&least={least}").status_code == 422
    form = preview(one, 1, 0.6)
    for wrong in ({"least": "0.1"}, {"class": "9"}, {"class": ""}, {"key": ""}, {"n_cases": "1"}, {"n_cases": "x"}):
        assert one.send("/accept", form | wrong).status_code in (409, 422)
    assert preview(one, 1, 1) is None and lines() == []


def test_models_without_probabilities_have_no_rules(person):
    one = person("boost")
    one.review.judgement = one.review.queue.judgement = replace(one.review.judgement, probability=None)
    assert "gives no probabilities" in one.open("/accept?class=0&least=0.9").text
    assert (
        "probability" not in re.search("<thead>.*?</thead>", one.open("/queue").text.split("<main>")[1], re.S).group()
    )


def test_a_rule_for_a_hundred_thousand_cases_is_one_append(make_app, table, answers_path):
    cases = pl.concat([table.drop("price", "class")] * 850)
    review = make_app("boost", cases=cases, id_column=None).state.review
    n_cases = len(review.queue.clear_cases(2, 0.5))
    review.accept_all("a" * 32, 2, 0.5, n_cases)
    assert n_cases > 10_000 and review.queue.counts()["accepted"] == n_cases
    review.undo("b" * 32, "a" * 32)
    assert review.queue.counts()["accepted"] == 0
    review.close()
    assert len(answers_path.read_text().splitlines()) == n_cases + 2


# -------------------------------------------------------------------------------------------------------------- export
def test_the_page_exports_the_table_as_it_was_written(person, table, tmp_path):
    from planewise.files import InputTable

    written = table.drop("price", "class").with_columns(
        pl.Series("extra", ["007", "42", "NA", "", "=1+1"] * 24), pl.Series("when", ["1.50"] * 120)
    )
    file = tmp_path / "cases.csv"
    written.write_csv(file)
    one = person("boost", source=file, original=lambda: InputTable([file]).as_written())
    row = one.row
    one.decide("accept", note="@now")
    got = one.http.get("/export/file?format=csv")
    assert got.headers["content-disposition"] == 'attachment; filename="reviewed.csv"'
    found = pl.read_csv(io.BytesIO(got.content), infer_schema=False)
    own = InputTable([file]).as_written()[row : row + 1]
    assert found.select(written.columns).equals(own) and found["review_note"].to_list() == ["'@now"]
    assert found["review_row"].to_list() == [str(row)] and found["review_who"].to_list() == ["Ada"]
    whole = pl.read_parquet(io.BytesIO(one.http.get("/export/file?format=parquet&rows=all").content))
    assert (
        whole.select(written.columns).equals(InputTable([file]).as_written())
        and whole["review_decision"].null_count() == 119
    )
    assert whole["extra"].to_list()[:5] == ["007", "42", "NA", "", "=1+1"]
    assert one.http.get("/export/file?format=exe").status_code == 404
    assert "review_label" in one.open("/export").text
