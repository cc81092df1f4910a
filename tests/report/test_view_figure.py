"""Pictures of views: whole, escaped, bounded, and tied to the table of neighbours."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from pages import read
from planewise import RECIPClassifier, SLMViewsRegressor
from planewise.plot.views import Axis
from planewise.report import html
from planewise.report._view_scene import MOST_NEIGHBOURS, TrainingRows, n_neighbours, neighbours_of, scene
from planewise.report._view_shapes import FORMS, arrow, badge_places, class_form, png_bytes, scale_colours
from planewise.report._view_svg import _coded, view_figure
from planewise.report.html import view_script, view_style
from planewise.report.views import block, neighbours_table, views_of, views_switch

HOSTILE = ["<script>alert(1)</script>", 'a" onload="x', "</svg></td>", "\u202eevil\x00", "שלום", "y" * 10**5]


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    model = RECIPClassifier(max_projections=3, random_state=0).fit(X[::2], y[::2])
    return model, model.explain(X[1::2])


def _numbered(markup):
    """Of each focusable mark: the row it is tied to, and the number on it."""
    found = re.findall(
        r'tabindex="0" role="button" aria-pressed="false" data-row="(\w+)">.*?pw-number"[^>]*>(\d+)<', markup
    )
    return {row: int(order) for row, order in found}


def test_marks_and_lines_of_the_table_are_tied_by_row_and_number(cancer):
    model, explanations = cancer
    for each in explanations[::60]:
        data = each.data()
        known = model.fitted_rows()
        figure = view_figure(data, known.values, known.target, ident="a")
        table = neighbours_table(data, ident="b")
        read(block(figure, table))
        lines = dict(re.findall(r'<button[^>]*data-row="(\w+)">(\d+)</button>', table))
        near = sorted((n for side in data["neighbours"].values() for n in side), key=lambda n: n["distance"])
        assert [int(row) for row in lines] == [n["rows"][0] for n in near]
        assert _numbered(figure) == {row: int(order) for row, order in lines.items()}
        opposing = {str(n["rows"][0]) for n in data["neighbours"]["against"]}
        dotted = re.findall(r'class="pw-join pw-\w+" data-row="(\w+)" fill="none" stroke-dasharray', figure)
        assert set(dotted) == opposing


def test_nothing_needs_a_loose_policy(cancer):
    model, explanations = cancer
    page = block(views_switch(views_of(explanations[0]), TrainingRows.of(model), ident="a"))
    found = read(page)
    assert "<script" not in page and "<style" not in page
    assert not [name for _, name, _ in found.attributes if name == "style"]


def test_rows_are_drawn_up_to_the_bound_and_the_rest_is_owned_up_to(cancer):
    model, explanations = cancer
    data = explanations[0].data()
    rows = TrainingRows.of(model)
    packed = re.search('data-rows="([^"]*)"', view_figure(data, rows, ident="a", most_points=50))
    assert len(packed.group(1).split(";")) == 50
    assert "50 of 285 training rows are drawn" in view_figure(data, rows, ident="a", most_points=50)
    assert "training rows are drawn" not in view_figure(data, rows, ident="a")


def test_packed_rows_say_what_the_table_holds(cancer):
    model, explanations = cancer
    data = explanations[5].data()
    figure = view_figure(data, TrainingRows.of(model), ident="a")
    words = json.loads(unescape(re.search('data-words="([^"]*)"', figure).group(1)))
    X = load_breast_cancer(as_frame=True).data[::2]
    assert words["axes"] == data["view"]["features"] and words["classes"] == ["benign", "malignant"]
    truth = load_breast_cancer().target_names[load_breast_cancer().target][::2]
    for line in re.search('data-rows="([^"]*)"', figure).group(1).split(";")[::20]:
        _, _, label, row, *values = line.split(",")
        assert words["classes"][int(label)] == truth[int(row)]
        assert np.allclose([float(v) for v in values], X.iloc[int(row)][data["view"]["features"]], rtol=1e-3)


def test_the_case_lies_where_its_neighbours_are_nearest(cancer):
    """Places in the picture keep the model's order of distances where no tail is drawn in."""
    model, explanations = cancer
    training = TrainingRows.of(model)
    seen = 0
    for each in explanations[::40]:
        shown = scene(each.data(), training)
        if not any(axis.tails for axis in shown.plane.axes):
            far = [np.hypot(*(near.at - shown.at)) for near in shown.neighbours]
            assert np.allclose(far, [near.distance for near in shown.neighbours], atol=1e-4)
            seen += 1
    assert seen


@pytest.mark.parametrize("estimate", ["counts", "distances"])
def test_what_is_shaded_is_what_the_model_decides_by(estimate):
    """The ratio at the case's own place is the explanation's; equal rows, weights and gaps count as in the model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=150) > 0, "a", "b")
    X[y == "a", 1] = np.where(rng.random(np.sum(y == "a")) < 0.4, np.nan, X[y == "a", 1])
    often = rng.integers(1, 4, 150)
    model = RECIPClassifier(projections=[(0, 1), (2,)], estimate=estimate, random_state=0)
    model.fit(np.repeat(X, often, axis=0), np.repeat(y, often), sample_weight=rng.uniform(0.5, 2, often.sum()))
    training = TrainingRows.of(model)
    for each in model.explain(rng.normal(size=(20, 3))):
        for view in ((0, 1), (2,)):
            data = each.data_in(view)
            shown = scene(data, training)
            found = shown.plane.ratios_at(data, shown.at[None, : len(view)])[0]
            assert found[shown.plane.place_of(data["prediction"])] == pytest.approx(data["ratio"], rel=1e-3)


def test_a_change_is_drawn_as_ghost_and_arrow(cancer):
    model, explanations = cancer
    data, rows = explanations[0].data(), TrainingRows.of(model)
    assert "pw-ghost" not in view_figure(data, rows, ident="a")
    assert "pw-ghost" not in view_figure(data, rows, ident="a", moved_from=data["query"])
    moved = {name: value * 1.5 for name, value in data["query"].items()}
    assert view_figure(data, rows, ident="a", moved_from=moved).count("pw-ghost") >= 1
    missing = dict.fromkeys(moved)
    assert "pw-ghost" not in view_figure(data, rows, ident="a", moved_from=missing)


def test_views_are_the_deciding_one_others_and_the_one_against(cancer):
    model, explanations = cancer
    some = explanations[::40]
    assert {each.against is None for each in some} == {True, False}
    for each in some:
        data = each.data()
        views = views_of(each)
        assert views[0].role == "deciding" and (views[-1].role == "against") == (data["against"] is not None)
        if data["against"] is not None:
            assert views[-1].data["prediction"] == data["against"]["label"] != data["prediction"]
            assert views[-1].data["ratio"] == data["against"]["ratio"]
        assert len({(*view.data["view"]["columns"], view.data["prediction"]) for view in views}) == len(views)
        page = views_switch(views, TrainingRows.of(model), ident="a", most_points=20)
        assert (
            page.count('type="radio"') == len(views) == page.count('class="pw-panel"') and page.count(" checked") == 1
        )
        read(page)
    assert len(views_of(explanations[0], most=1)) == 1
    with pytest.raises(ValueError, match="most must be from 1 to 8"):
        views_of(explanations[0], most=9)


def test_another_view_of_a_case_agrees_with_what_is_said_of_it(cancer):
    _, explanations = cancer
    for each in explanations[::30]:
        for other in each.runner_ups:
            data = each.data_in(other["columns"])
            assert data["ratio"] == other["ratio"] and data["prediction"] == other["label"]
            assert data["view"]["features"] == other["features"] and data["runner_ups"] == [] and not data["undecided"]
        own = each.data_in(each.view["columns"], each.prediction)
        assert own["neighbours"] == each.neighbours and own["ratio"] == each.ratio


def test_a_view_or_class_that_is_not_there_is_named(cancer):
    _, explanations = cancer
    with pytest.raises(ValueError, match=r"view must be the columns of one of projections_; got \(900,\)"):
        explanations[0].data_in([900])
    with pytest.raises(ValueError, match="label must be one of the model's classes; got 'x'"):
        explanations[0].data_in(explanations[0].view["columns"], "x")


def test_views_of_one_and_of_three_features():
    iris = load_iris()
    model = RECIPClassifier(projections=[(2,), (0, 1, 3)], random_state=0)
    model.fit(iris.data[1:], iris.target_names[iris.target[1:]])
    each = model.explain(iris.data[70:71], feature_names=iris.feature_names)[0]
    rows = TrainingRows.of(model)
    one = view_figure(each.data_in((2,)), rows, ident="a")
    assert all(f'text-anchor="end">{name}</text>' in one for name in iris.target_names)  # a lane a class
    three = view_figure(each.data_in((0, 1, 3)), rows, ident="a")
    assert "the view has petal width (cm) too: this case 1.8" in read(three).text
    assert "<image" in one and "<image" not in three


@pytest.mark.parametrize("views", [[(2, 8)], [(2,)]])
def test_numbers_have_a_scale(views):
    data = load_diabetes()
    model = SLMViewsRegressor(projections=views, n_estimators=5, cv=2, random_state=0)
    model.fit(data.data[:200], data.target[:200])
    each = model.explain(data.data[300:301])[0]
    page = block(views_switch(views_of(each), TrainingRows.of(model), ident="a"))
    found = read(page)
    assert "radio" not in page  # one view needs no switch
    low, high = data.target[:200].min(), data.target[:200].max()
    assert f"{low:g}" in found.text and f"{high:g}" in found.text
    assert len(_numbered(page)) == len(each.neighbours)


def test_categories_and_a_category_never_seen():
    rng = np.random.default_rng(0)
    words = ["red", "<b>green</b>", "blue"]
    X = pd.DataFrame({"hue": pd.Categorical(rng.choice(words, 300)), "size": rng.normal(size=300)})
    y = np.where((X["hue"] == "red") ^ (X["size"] > 0), "yes", "no")
    model = RECIPClassifier(projections=[(0, 1), (1,)], random_state=0).fit(X, y)
    each = model.explain(X[:1])[0]
    page = view_figure(each.data_in((0, 1)), TrainingRows.of(model), ident="a")
    assert "<b>" not in page and "&lt;b&gt;green" in page and "<image" not in page
    read(page)
    odd = each.data_in((0, 1))
    odd["query"]["hue"] = "never seen"
    page = view_figure(odd, TrainingRows.of(model), ident="a")
    assert "cannot be drawn" in page and 'class="pw-case"' not in page


def test_a_missing_category_is_none_even_of_the_name_none():
    axis = Axis("hue", 0, {"kind": "categories"}, tuple(sorted(["None", "nan", *(f"o{k:03}" for k in range(230))])))
    values = np.array([None, np.nan, "None", "nan", "o000", "o229"], dtype=object)
    assert _coded(axis, values) == ["", "", "0", "1", "2", "200"]
    assert np.isnan(axis.places(values)).tolist() == [True, True, False, False, False, False]


def test_neighbours_alone_can_be_drawn(cancer):
    _, explanations = cancer
    data = explanations[0].data()
    page = view_figure(data, None, None, ident="a")
    read(page)
    assert "pw-rows" not in page and "<image" not in page and len(_numbered(page)) == data["k"]


def test_a_case_that_no_view_can_judge(cancer):
    model, _ = cancer
    blank = pd.DataFrame(np.full((1, 30), np.nan), columns=model.feature_names_in_)
    each = model.explain(blank)[0]
    assert views_of(each) == [] and neighbours_table(each.data(), ident="a") == ""
    assert "no view can judge it" in view_figure(each.data(), None, ident="a")
    assert "No view can judge this case" in views_switch([], None, ident="a")


def test_many_neighbours_are_bounded(cancer):
    data = load_breast_cancer()
    model = RECIPClassifier(projections=[(0, 1)], k=80, random_state=0).fit(data.data, data.target)
    each = model.explain(data.data[:1])[0]
    page = view_figure(each.data(), TrainingRows.of(model), ident="a")
    assert len(_numbered(page)) == MOST_NEIGHBOURS and "30 of 80 neighbours are drawn." in page


def test_hostile_names_classes_and_values_stay_words():
    rng = np.random.default_rng(0)
    names = HOSTILE[:4]
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=names[:3])
    X[names[3]] = pd.Categorical.from_codes(rng.integers(0, 2, 200), HOSTILE[4:])
    y = np.array(HOSTILE[:2])[(X[names[0]] > 0).astype(int)]
    model = RECIPClassifier(projections=[(0, 1), (0, 3), (2, 3, 0)], random_state=0).fit(X, y)
    each = model.explain(X[:1], units={names[0]: "<i>\u202e\ud800" + "m" * 10**7})[0]
    page = html.page("x", [block(views_switch(views_of(each), TrainingRows.of(model), ident="a"))])
    found = read(page)
    assert "<i>" not in page and "\x00" not in page and "\u202e" not in page and len(page) < 400_000
    page.encode()  # no half letters
    assert "<script>alert(1)</script>" in found.text and "שלום" in found.text


def test_an_id_that_would_break_the_markup_is_refused(cancer):
    _, explanations = cancer
    for make in (lambda ident: view_figure(explanations[0].data(), None, ident=ident),
                 lambda ident: neighbours_table(explanations[0].data(), ident=ident),
                 lambda ident: views_switch(views_of(explanations[0]), None, ident=ident)):  # fmt: skip
        with pytest.raises(ValueError, match="ident must be a letter"):
            make('a"b')


def test_styles_reach_nothing_else_and_all_classes_are_ours():
    rules = re.sub(r"@media[^{]*\{(.*?\})\s*\}|/\*.*?\*/", r"\1", view_style(), flags=re.S)
    selectors = [each.strip() for rule in re.findall(r"([^{}]+)\{", rules) for each in rule.split(",")]
    assert selectors and all(each.startswith(".planewise-view") for each in selectors)
    classes = set(re.findall(r"\.([a-z][\w-]*)", " ".join(selectors)))
    others = {each for each in classes if not each.startswith(("planewise-view", "pw-"))}
    assert others == {"bars", "end", "note", "wide"}


def test_the_script_takes_no_markup_and_leaves_no_globals():
    script = view_script()
    assert not re.search("innerHTML|outerHTML|insertAdjacentHTML|eval|Function|window\\.", script)
    assert "</script" not in script and re.match(r"(//[^\n]*\n)*\(\(\) => \{", script)


def test_a_picture_is_written_as_png():
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 4), dtype=np.uint8)
    data = png_bytes(pixels)
    start = data.index(b"IDAT") + 4
    length = int.from_bytes(data[start - 8 : start - 4], "big")
    lines = np.frombuffer(zlib.decompress(data[start : start + length]), np.uint8).reshape(5, 29)
    assert (lines[:, 1:].reshape(5, 7, 4) == pixels).all() and data.startswith(b"\x89PNG")


def test_the_shading_favours_the_class_it_stands_for(cancer):
    """Where the rows of a class are, the shading has its colour."""
    model, explanations = cancer
    shown = scene(explanations[0].data(), TrainingRows.of(model))
    address = shown.plane.shading(explanations[0].data(), shown.whole)
    data = base64.b64decode(address.partition(",")[2])
    start = data.index(b"IDAT") + 4
    length = int.from_bytes(data[start - 8 : start - 4], "big")
    image = (
        np.frombuffer(zlib.decompress(data[start : start + length]), np.uint8).reshape(56, -1)[:, 1:].reshape(56, 56, 4)
    )
    left, right, bottom, top = shown.whole
    across = ((shown.plane.rows[:, 0] - left) / (right - left) * 56).astype(int)
    down = ((top - shown.plane.rows[:, 1]) / (top - bottom) * 56).astype(int)
    blue = image[down, across, 2] > image[down, across, 0]  # the first class is blue, the second red
    assert np.mean(blue == (shown.plane.target == 0)) > 0.9


def test_every_class_has_a_form_of_its_own():
    paths = [class_form(place, 0, 0, 5) for place in range(len(FORMS))]
    assert len({*paths}) >= 8 and all(path.startswith("M") and path.endswith("z") for path in paths)
    assert len({*scale_colours(np.linspace(0, 1, 20))}) == 20


def test_badges_keep_apart_where_there_is_room():
    points = {k: np.array([200 + 60 * np.cos(k), 150 + 60 * np.sin(k)]) for k in range(1, 7)}
    places = list(badge_places(points, np.array([200.0, 150.0]), (400, 300)).values())
    apart = [np.hypot(*(a - b)) for k, a in enumerate(places) for b in places[:k]]
    assert min(apart) >= 15
    assert arrow(np.zeros(2), np.array([100.0, 0])).count("L") == 3 and arrow(np.zeros(2), np.ones(2)).count("L") == 1


def test_of_many_equally_far_rows_both_classes_are_drawn():
    X = np.column_stack([np.zeros(400), np.arange(400)])
    X[300:, 0] = 1
    y = np.arange(400) % 3 == 0
    data = RECIPClassifier(projections=[(0,)], k=20).fit(X, y).explain([[0.0, 0.0]])[0].data()
    drawn = [each.side for each in neighbours_of(data)]
    assert len(drawn) == MOST_NEIGHBOURS
    assert 10 <= drawn.count("against") <= 20
    assert n_neighbours(data) == 300
