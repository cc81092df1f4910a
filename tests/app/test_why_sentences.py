"""What the sentences say is so: of every row of a table, for every family."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from reviewing import make_table

from planewise.app._vectors import differing_columns, vectors_listed
from planewise.app._why import Explainer
from planewise.table import TableModel

MACHINE = {"Cs": [10.0], "gammas": [0.1], "mus": [1.0], "cv": 2}
NUMBER = r"−?[\d.]+(?:e[+−]\d+)?"


def two_classes():
    return make_table().with_columns(
        pl.when(pl.col("class") == "dear").then(pl.lit("dear")).otherwise(pl.lit("fair")).alias("class")
    )


def fitted(family, target="class", rows=None, **settings):
    rows = make_table() if rows is None else rows
    dropped = [name for name in ("key", "price", "class") if name != target and name in rows.columns]
    return TableModel(family, settings=settings, random_state=0).fit(rows.drop(dropped), target)


def sentences(model, rows=None):
    rows, explain = make_table() if rows is None else rows, Explainer(model)
    return [explain(rows[row : row + 1]).sentence for row in range(rows.height)]


def read(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_score_of_a_machine_of_several_classes_is_the_highest_and_need_not_be_above_zero(multi_class):
    model = fitted("mcm", **MACHINE, multi_class=multi_class)
    scores = model.estimator_.decision_function(model.read(make_table()))
    answers = model.predict(make_table())
    below = 0
    for words, answer, score in zip(sentences(model), answers, scores, strict=True):
        assert words.startswith(answer) and "above 0" not in words
        assert model.classes_[score.argmax()] == answer
        if multi_class == "ovr":
            told = re.search(rf"its score is ({NUMBER}), the highest of the classes' scores", words)
            assert read(told.group(1)) == pytest.approx(score.max(), rel=0.01, abs=1e-3)
            below += score.max() < 0
        else:
            assert "no other class wins more duels" in words
    assert below or multi_class == "ovo"


def test_vectors_show_words_and_gaps_beside_the_values_of_the_case():
    rows = two_classes()
    rng = np.random.default_rng(0)
    towns = [[None, "Bonn", "Ulm"][k] for k in rng.integers(0, 3, rows.height)]
    numbers = [None if k == 0 else float(k) for k in rng.integers(0, 4, rows.height)]
    rows = rows.with_columns(pl.Series("town", towns), pl.Series("amount", numbers))
    model = fitted("mcm", rows=rows, **MACHINE | {"mus": [0.01], "max_support": 1.0})
    reason = model.explain(rows.head(1))[0]
    assert {"town", "amount"} <= set(differing_columns(reason))
    page = vectors_listed(reason)
    assert ">Ulm<" in page or ">Bonn<" in page
    shown = {each.values["town"] for each in reason.vectors} | {each.values["amount"] for each in reason.vectors}
    assert (None in shown) == (">missing<" in page)


def test_the_score_of_a_machine_of_two_classes_is_above_zero():
    rows = two_classes()
    model = fitted("mcm", rows=rows, **MACHINE)
    for words in sentences(model, rows):
        told = re.search(
            rf"its score is ({NUMBER}), above 0: vectors near it add ({NUMBER}) for \w+ and ({NUMBER}) against it, "
            rf"starting from ({NUMBER})\.$",
            words,
        )
        score, good, bad, start = map(read, told.groups())
        assert score > 0 and start + good - bad == pytest.approx(score, rel=0.02, abs=0.02)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("boost", {"n_estimators": 10}),
        ("boost", {"n_estimators": 10, "loss": "poisson"}),
        ("forest", {"n_estimators": 5}),
    ],
)
def test_numbers_lie_on_the_told_side_of_what_is_usual(family, settings):
    model = fitted(family, "price", **settings)
    answers, sides = model.predict(make_table()), set()
    for words, answer in zip(sentences(model), answers, strict=True):
        own, side, usual = re.match(
            rf"({NUMBER}), (above|below) the (?:average of|usual) ({NUMBER}), mostly", words
        ).groups()
        assert read(own) == pytest.approx(answer, rel=1e-5)
        assert (read(own) > read(usual)) == (side == "above") and 60 < read(usual) < 140
        sides.add(side)
    assert sides == {"above", "below"}


def test_a_number_that_no_column_moves_is_said_to_be_so():
    words = set(sentences(fitted("boost", "price", n_estimators=2, min_samples_leaf=100)))
    assert len(words) == 1 and re.fullmatch(
        rf"({NUMBER}), because no column moves it away from the average of ({NUMBER})\.", words.pop()
    )


@pytest.mark.parametrize(
    ("family", "target", "rows", "settings"),
    [
        ("boost", "class", two_classes(), {"n_estimators": 10}),
        ("boost", "class", make_table(), {"n_estimators": 10}),
        ("boost", "price", make_table(), {"n_estimators": 10}),
        ("boost", "price", make_table(), {"n_estimators": 10, "loss": "poisson"}),
        ("forest", "class", two_classes(), {"n_estimators": 5}),
        ("forest", "class", make_table(), {"n_estimators": 5, "voting": "hard"}),
        ("forest", "price", make_table(), {"n_estimators": 5}),
        ("mcm", "class", two_classes(), {"Cs": [10.0], "kernel": "linear", "mus": [1.0], "cv": 2}),
        ("mcm", "class", make_table(), {"Cs": [10.0], "kernel": "linear", "mus": [1.0], "cv": 2}),
        ("mcm", "price", make_table(), {"Cs": [10.0], "kernel": "linear", "mus": [0.01], "cv": 2}),
    ],
)
def test_the_largest_contribution_is_always_named(family, target, rows, settings):
    model = fitted(family, target, rows=rows, **settings)
    for row, words in enumerate(sentences(model, rows[::4])):
        one = rows[4 * row : 4 * row + 1]
        largest = model.explain(one)[0].parts[0]
        assert largest.added == 0 or f"{largest.column} is " in words
        assert words.startswith(str(model.predict(one)[0])) or target == "price"


@pytest.mark.parametrize(("family", "settings"), [("boost", {"n_estimators": 10}), ("forest", {"n_estimators": 5})])
def test_where_the_columns_speak_for_another_class_the_average_is_said_to_decide(family, settings):
    """Nine of ten rows are "no", and a column speaks for "yes" without turning it round."""
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=400), rng.random(400)
    rows = pl.DataFrame({"x": x.round(3), "noise": noise, "class": np.where(noise + 0.18 * x > 0.95, "yes", "no")})
    rows = rows.with_columns(pl.Series("noise", rng.random(400)))
    model = fitted(family, rows=rows, **settings)
    decided = 0
    for row, words in enumerate(sentences(model, rows)):
        found, answer = model.explain(rows[row : row + 1])[0], words[: words.index(" ")]
        towards = 1 if answer == "yes" else -1
        neutral = 0.5 if family == "forest" else 0.0
        if (found.average - neutral) * towards > 0 > (found.total - found.average) * towards:
            decided += 1
            assert re.match(r"no \(\d+ %\): the average \w+ alone gives this prediction", words)
            assert f"against it: {next(part for part in found.parts if part.added * towards < 0).column} is" in words
        elif answer == "yes":
            assert "against it: the average" in words and "(which favours no)" in words
    assert decided >= 10


@pytest.mark.parametrize(
    ("family", "settings"),
    [("slm", {"max_depth": 3}), ("forest", {"n_estimators": 5}), ("boost", {"n_estimators": 10})],
)
def test_shares_and_probabilities_are_those_of_the_answer(family, settings):
    model = fitted(family, **settings)
    told = zip(
        sentences(model), model.predict(make_table()), model.predict_proba(make_table()).max(axis=1), strict=True
    )
    for words, answer, share in told:
        assert words.startswith(answer)
        said = int(re.search(r"(\d+) %", words).group(1))
        assert abs(said - 100 * share) <= 0.51


@pytest.mark.parametrize("target", ["class", "price"])
def test_rows_as_near_as_the_last_neighbour_are_told(target):
    """In views of a town and an age in steps, many rows are at the same place."""
    rows = make_table().with_columns(age=(pl.col("age") / 30).floor())
    model = fitted("recip", target, rows=rows, k=7)
    known = model.estimator_.fitted_rows().values
    told_any = 0
    for row, words in enumerate(sentences(model, rows)):
        told = re.search(r"\(of (\d+) equally near rows (\d+) are counted\)", words)
        told = told or re.search(r"\((?:all|the last (\d+)) are equally far and together count as (\d+) rows?\)", words)
        data = model.estimator_.explain(model.read(rows[row : row + 1]))[0].data()
        if data["view"] is None:
            continue
        near = data["neighbours"] if target == "price" else [*data["neighbours"]["for"], *data["neighbours"]["against"]]
        distance = np.zeros(len(known))
        for name, column, scaling in zip(
            *(data["view"][part] for part in ("features", "columns", "scaling")), strict=True
        ):
            values = known[:, column]
            missing = np.array([value is None or value != value for value in values])
            if scaling["kind"] == "categories":
                apart = np.where(values == data["query"][name], 0.0, scaling["gap"])
            else:
                apart = (np.where(missing, np.nan, values).astype(float) - data["query"][name]) / scaling["spread"]
            distance += np.where(missing, np.nan, apart) ** 2
        last = max(each["distance"] for each in near)
        tied = np.isclose(np.sqrt(distance), last, atol=1e-4)
        nearer = (np.sqrt(distance) < last - 1e-4).sum()
        assert (told is not None) == (nearer + tied.sum() > 7)
        if told is not None:
            told_any += 1
            n_tied = tied.sum() if told.group(1) is None else int(told.group(1))
            assert (n_tied, int(told.group(2))) == (tied.sum(), 7 - nearer)
            assert (told.group(1) is not None) or nearer == 0
    assert told_any >= 5
