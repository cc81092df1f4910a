"""Dates, booleans and categories appear as the table has them, in everything that is said or drawn of a model."""

from __future__ import annotations

import base64
import json
import re
from datetime import date, datetime, timedelta
from functools import cache

import numpy as np
import polars as pl
import pytest

import planewise as pw
from planewise.data.values import kinds_of
from planewise.export import to_text
from planewise.plot import PartitionDisplay, ProjectionDisplay, TreeDisplay, ViewsDisplay
from planewise.report import report
from planewise.report.notebook import explanation_html, summary_html
from planewise.table import TableModel
from planewise.table.families import FAMILIES, can_predict

matplotlib = pytest.importorskip("matplotlib")
SETTINGS = {
    "forest": {"n_estimators": 5},
    "boosting": {"n_estimators": 8},
    "kernel": {"mus": [10.0, 0.01], "gammas": [0.2]},
    "additive": {"n_estimators": 8, "cv": 2},
    "recip": {"projections": [("admitted", "smoker"), ("admitted", "age"), ("smoker", "sex")]},
}
DAYS = re.compile(r"(?<![\d.,-])(19|20),?\d{3}(\.\d+)?(?![\d,-])")  # since 1970, of the table's dates


@cache
def patients():
    rng = np.random.default_rng(0)
    n = 160
    day = [date(2023, 1, 1) + timedelta(days=int(each)) for each in rng.integers(0, 700, n)]
    smoker, sex = rng.random(n) < 0.4, rng.choice(["f", "m", "d"], n)
    age, bmi = rng.normal(50, 12, n).round(1), rng.normal(25, 4, n).round(2)
    late = np.array([(each - date(2023, 12, 17)).days for each in day])
    score = late / 200 + 1.2 * smoker + 0.9 * (sex == "f") + (age - 50) / 15 + rng.normal(0, 0.3, n)
    return pl.DataFrame(
        {
            "admitted": day,
            "smoker": smoker,
            "sex": sex,
            "age": age,
            "bmi": [None if k % 17 == 0 else value for k, value in enumerate(bmi.tolist())],
            "state": np.where(score > 0, "ill", "well"),
            "cost": (100 * score + 500).round(2),
        }
    )


@cache
def fitted(family, target, linear=False):
    table = patients().drop("cost" if target == "state" else "state")
    settings = {"kernel": "linear"} if linear else SETTINGS.get(family, {})
    model = TableModel(family, settings=settings, random_state=0)
    return model.fit(table[:120], target), table[120:]


def text_of(page):
    """What a page says, in words, labels and pictures."""
    drawn = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    page += "".join(re.sub(r"<(?!/?text)[^>]*>", "", base64.b64decode(each).decode()) for each in drawn)
    page = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r' (d|src|href|points|viewBox|content|style|transform|x|y)="[^"]*"', "", page)


def assert_as_given(text, what):
    found = DAYS.search(text) or re.search(r"e\+0?4|(sex|smoker)=|smoker(,| is)? [≥≤01]", text)
    assert found is None, f"{what}: {text[max(found.start() - 60, 0) : found.end() + 60]!r}"


def texts_in(figure):
    figure.canvas.draw()
    return " ".join(each.get_text() for each in figure.findobj(matplotlib.text.Text))


every_model = pytest.mark.parametrize(
    ("family", "target"),
    [(family, "state") for family in FAMILIES] + [(f, "cost") for f in FAMILIES if can_predict(f, "regression")],
)


@every_model
def test_reasons_have_the_tables_own_values(family, target):
    model, asked = fitted(family, target)
    for reason in model.explain(asked[:8]):
        assert_as_given(reason.to_text(), "text")
        assert_as_given(json.dumps(reason.data(), ensure_ascii=False), "JSON")
    told = json.dumps([reason.data() for reason in model.explain(asked[:8])])
    if family != "tree":  # whose planes weigh several columns
        assert re.search(r'"202[34]-\d\d-\d\d"', told)
    if family in ("forest", "boosting", "kernel", "additive"):
        assert re.search(r'"(smoker|value)": (true|false)', told)


@every_model
def test_descriptions_and_pages_have_the_tables_own_values(family, target):
    model, asked = fitted(family, target)
    assert_as_given(to_text(model), "export to text")
    assert_as_given(text_of(summary_html(model.estimator_)), "notebook")
    page = text_of(report(model, asked))
    assert_as_given(page, "report")
    assert re.search(r"202[34]-\d\d-\d\d", page)
    assert re.search(
        r"smoker is (true|false)|<td[^>]*>(true|false)</td>|smoker (true|false)|>(true|false)</text>", page
    )


@pytest.mark.parametrize(("family", "target"), [("additive", "state"), ("additive", "cost"), ("recip", "state")])
def test_views_in_notebooks_have_the_tables_own_values(family, target):
    model, asked = fitted(family, target)
    dated = [each for each in model.explain(asked[:20]) if "admitted" in (each.data()["view"] or {})["features"]]
    page = text_of(explanation_html(dated[0]))
    assert_as_given(page, "notebook")
    assert re.search(r">202[34](-\d\d)?(-\d\d)?</text>", page)  # a tick
    assert re.search(r">202[34]-\d\d-\d\d</td>", page)  # a nearest row


@pytest.mark.parametrize(
    ("family", "target"),
    [(family, target) for family in ("tree", "forest", "boosting", "additive") for target in ("state", "cost")]
    + [("recip", "state")],
)
def test_pictures_have_dates_and_booleans_on_them(family, target):
    model, asked = fitted(family, target)
    estimator = model.estimator_
    if family == "additive":
        drawn = ViewsDisplay.from_estimator(estimator, case=model.explain(asked[:1])[0])
    elif family == "recip":
        known = estimator.fitted_rows()
        rows, y = model.read(asked), asked[target].to_numpy()
        drawn = ProjectionDisplay.from_estimator(estimator, known.values, known.target, rows, y, n_views=9)
    else:
        drawn = TreeDisplay.from_estimator(estimator)
    said = texts_in(drawn.plot().figure_)
    matplotlib.pyplot.close("all")
    assert_as_given(said, family)
    assert re.search(r"\b202[345]\b", said)


def test_a_plane_of_two_columns_has_dates_and_booleans_along_its_sides():
    table = patients().select("admitted", "smoker", "state")
    model = TableModel("tree", random_state=0).fit(table, "state")
    drawn = PartitionDisplay.from_estimator(model.estimator_, model.read(table), table["state"].to_numpy()).plot()
    said = texts_in(drawn.figure_)
    matplotlib.pyplot.close("all")
    assert_as_given(said, "partition")
    assert "2024" in said and "true" in said and "false" in said


def value_of(term, row):
    """What a term in words is for a row, such as "(days from 2024-01-16 to admitted)"."""
    if since := re.fullmatch(r"\(days from (\S+) to (\w+)\)", term):
        return (row[since[2]] - date.fromisoformat(since[1])).days
    if which := re.fullmatch(r"\((\w+) is (\w+)\)", term):
        own = row[which[1]]
        return float(("missing" if own is None else str(own).lower()) == which[2])
    return row[term] if row[term] is not None else 0.0


def sum_of(words, row):
    """The value of a sum in words: 0.5·(smoker is true) − age."""
    total = 0.0
    for sign, weight, term in re.findall(r"(?:^| )([+−]?) ?(?:([\d.,e−]+)·)?(\([^)]*\)|[a-z]+)", words):
        size = float(weight.replace("−", "-").replace(",", "")) if weight else 1.0
        total += (-1 if sign == "−" else 1) * size * value_of(term, row)
    return total


@pytest.mark.parametrize("target", ["state", "cost"])
def test_what_is_said_of_planes_is_true(target):
    """Dates count from a day near the table's, so that the numbers in words are exact enough to be checked."""
    model, asked = fitted("tree", target)
    checked = 0
    for row, path in zip(asked.iter_rows(named=True), model.explain(asked), strict=True):
        for step in path.steps:
            words, found = step.plane.removesuffix(" or missing"), None
            if parts := re.fullmatch(r"(\w+) ([≥≤]) (\d{4}-\d\d-\d\d)", words):
                threshold = date.fromisoformat(parts[3])
                found = row[parts[1]] >= threshold if parts[2] == "≥" else row[parts[1]] <= threshold
            elif parts := re.fullmatch(r"(\w+) is (not )?(\w+)", words):
                found = (str(row[parts[1]]).lower() == parts[3]) != (parts[2] is not None)
            elif (parts := re.fullmatch(r"(.+) ([≥≤]) ([−\d.,e]+)", words)) and step.value is not None:
                threshold, total = float(parts[3].replace("−", "-").replace(",", "")), sum_of(parts[1], row)
                if abs(total - threshold) < 1e-3 * max(1.0, abs(threshold)):
                    continue  # rounded
                found = total >= threshold if parts[2] == "≥" else total <= threshold
                if step.column is None:
                    assert step.value == pytest.approx(total, rel=2e-3, abs=2e-2)
            if found is not None:
                checked += 1
                assert found == step.right, words
    assert checked > 40


def test_the_sum_of_a_linear_machine_is_true():
    model, asked = fitted("kernel", "cost", linear=True)
    line = next(each for each in model.describe().sections if each.heading == "Scores").lines[0]
    assert "(days from 202" in line and "(smoker is true)" in line and re.search(r"\(sex is [fmd]\)", line)
    words, sign, constant = re.fullmatch(r"prediction = (.*) ([+−]) ([\d.,]+)", line).groups()
    known = asked.filter(pl.col("bmi").is_not_null())
    for row, predicted in zip(known.iter_rows(named=True), model.predict(known), strict=True):
        total = sum_of(words, row) + float(constant.replace(",", "")) * (-1 if sign == "−" else 1)
        assert total == pytest.approx(predicted, rel=1e-3)


def test_an_estimator_told_by_its_table_writes_what_it_reads_as_the_table_does():
    model, asked = fitted("boosting", "state")
    by_table, alone = model.explain(asked[:3]), model.estimator_.explain(model.read(asked[:3]))
    assert [each.data()["parts"] for each in by_table] == [each.data()["parts"] for each in alone]


def test_a_file_keeps_how_dates_are_written(tmp_path):
    model, asked = fitted("recip", "state")
    pw.save(model, tmp_path / "m.planewise")
    loaded = pw.load(tmp_path / "m.planewise")
    assert [column.clock for column in loaded.columns_] == [column.clock for column in model.columns_]
    assert kinds_of(loaded.estimator_) == kinds_of(model.estimator_)
    assert loaded.explain(asked[:1])[0].data() == model.explain(asked[:1])[0].data()


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_of_day_are_kept(zone):
    first = datetime(2024, 3, 1)
    when = pl.Series("when", [first + timedelta(hours=k) for k in range(48)], pl.Datetime("us"))
    if zone is not None:
        when = when.dt.replace_time_zone(zone)
    table = pl.DataFrame({"when": when, "late": [k >= 13 for k in range(48)]})
    model = TableModel("tree", settings={"max_planes": 1, "min_samples_leaf": 1}).fit(table, "late")
    assert model.columns_[0].clock == (zone or "")
    words = model.explain(table[:1])[0].steps[0].plane
    assert words.startswith("when ≥ 2024-03-01 12:3") and (zone is None or "+01:00" in words), words


def test_midnights_are_whole_days():
    when = [datetime(2024, 3, 1) + timedelta(days=k) for k in range(48)]
    model = TableModel("tree", settings={"max_planes": 1}).fit(
        pl.DataFrame({"when": when, "late": [k >= 13 for k in range(48)]}), "late"
    )
    assert model.columns_[0].clock is None
    assert model.explain(pl.DataFrame({"when": when[:1]}))[0].steps[0].plane.startswith("when ≥ 2024-03-14")
