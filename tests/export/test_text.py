"""Models in words: rules that say what the tree does, in the user's units and names."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from fitted import KINDS, MACHINES, TREES, fitted_machine, fitted_tree, table, targets
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from test_c_trees import GOLDEN, MEANT, golden_tree

from planewise import ConformalKernel, DiscriminantFeatureTest, MCMClassifier, SLMClassifier
from planewise.explain.planes import cell_in_words, linear_sum
from planewise.export import to_text
from planewise.table import TableModel


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", TREES)
def test_every_tree_has_rules_with_every_leaf(which, kind):
    model, _ = fitted_tree(which, kind)
    text = to_text(model, max_nodes=10**6, max_trees=1)
    forest = model.forest_ if hasattr(model, "forest_") else model.tree_
    n_views = len(getattr(model, "projections_", [()]))  # each has a first tree
    first = [forest.part(at, at + 1) for at in range(0, forest.n_trees, forest.n_trees // n_views)]
    leaves = sum(tree.n_leaves for tree in (first if hasattr(model, "projections_") else first[:1]))
    assert len(re.findall(r"→ .* rows?$", text, flags=re.M)) == leaves
    assert "nodes more" not in text


def test_a_sum_of_views_has_a_section_of_rules_for_each_view():
    model, _ = fitted_tree("views-three", "categories")
    text = to_text(model, max_trees=2)
    for place, names in enumerate(model.projection_names_):
        section = text.split(f"View {place + 1} of {len(model.projections_)}: {' × '.join(names)}\n")[1]
        rules = section.split("\n\n")[0]
        others = set(model.feature_names_in_) - set(names)
        assert any(name in rules for name in names)
        assert not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", rules) for name in others)
        assert f"… and {model.n_iter_ * 3 - 2} more trees" in rules


def read_rules(text, row):
    """Walks the printed rules of a tree with one plane a node on numbers, as a reader would."""
    lines = text.split("Rules\n")[1].split("\n\n")[0].splitlines()
    at, depth = 0, 0
    while True:
        question = lines[at].strip()
        left, relation, right = re.fullmatch(r"(.+) (≥|≤) (\S+?)( or missing)?\?", question).groups()[:3]
        value = 0.0
        for sign, weight, name in re.findall(r"(^|[+−] ?|^−)(?:([\d.e−]+)·)?(\w+)", left):
            value += (-1 if "−" in sign else 1) * float((weight or "1").replace("−", "-")) * row[name]
        goes = value >= float(right.replace("−", "-")) if relation == "≥" else value <= float(right.replace("−", "-"))
        mark = f"{'  ' + '    ' * depth}- {'yes' if goes else 'no'}"
        at = next(k for k in range(at + 1, len(lines)) if lines[k].startswith(mark))
        if "→" in lines[at]:
            return lines[at].split("→ ")[1].split()[0]
        at, depth = at + 1, depth + 1


def test_a_reader_of_the_rules_decides_as_the_tree_does():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    names = np.array(["setosa", "versicolor", "virginica"])
    model = SLMClassifier(max_planes=1, noise_margin=0, random_state=0).fit(X, names[y])
    text = to_text(model)
    assert "·" in text.split("Rules")[1]  # a plane is oblique
    decided = [read_rules(text, row) for _, row in X.iterrows()]
    assert np.mean(decided == model.predict(X)) > 0.99  # weights are printed with four digits


def test_limits_leave_out_and_say_so():
    model, _ = fitted_tree("forest-numbers", "gaps")
    whole = to_text(model, max_nodes=10**6)
    short = to_text(model, max_depth=1)
    assert "nodes more)" in short and len(short) < len(whole)
    left_out = sum(map(int, re.findall(r"… \((\d+) nodes more\)", short)))
    below_root = int(model.forest_.node_start[1]) - 1
    leaves_of_root = len(re.findall(r"^  - .*→", short, flags=re.M))
    assert left_out == below_root - leaves_of_root
    few = to_text(model, max_nodes=3)
    assert len(re.findall(r"\?$", few, flags=re.M)) == 3
    assert "Tree 2" in to_text(model, max_trees=2) and "Tree 3" not in to_text(model, max_trees=2)
    with pytest.raises(ValueError, match="max_nodes must be an integer of at least 0"):
        to_text(model, max_nodes=-1)


@pytest.mark.parametrize("which", MACHINES)
def test_every_machine_has_its_vectors_or_weights(which):
    model, _ = fitted_machine(which)
    text = to_text(model, max_vectors=10**6)
    if "linear" in which:
        assert "x0" in text.split("Scores")[1]
    else:
        rows = text.split("Vectors\n")[1].split("\n  Intercept")[0].splitlines()[1:]
        assert len(rows) == len(model.support_vectors_)
        largest = model.support_vectors_[np.abs(model.dual_coef_).max(axis=0).argmax()]
        assert f"{largest[0]:.4g}".replace("-", "−") in rows[0]


def test_a_linear_machine_is_its_sum():
    X, score = table("numbers")
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = MCMClassifier(kernel="linear").fit(frame, targets("two", score))
    line = next(line for line in to_text(model).splitlines() if "score of yes = " in line)
    total = line.split(" = ")[1].replace("−", "-").replace("·", "*").replace("- ", "-").replace("+ ", "+")
    values = {name: np.float64(X[0, k]) for k, name in enumerate("abcde")}
    expected = model.decision_function(frame[:1])[0]
    said = eval(total, {}, values)
    assert abs(said - expected) < 2e-3 * (1 + np.abs(model.coef_[0] * X[0]).sum())


def test_vectors_and_columns_beyond_the_limits_are_counted():
    model, _ = fitted_machine("three")
    text = to_text(model, max_vectors=2, max_columns=3)
    assert f"… and {len(model.support_vectors_) - 2} more vectors." in text
    assert "Shown are the 3 of 5 columns in which the vectors differ most." in text


def test_the_others_are_described_too():
    X, score = table("numbers")
    y = targets("two", score)
    for model in (DiscriminantFeatureTest(), ConformalKernel()):
        assert type(model).__name__ in to_text(model.fit(X, y))
    matrix = np.exp(-((X[:, None, :1] - X[None, :, :1]) ** 2).sum(axis=2)).astype(np.float64)
    assert "a matrix of kernel values" in to_text(MCMClassifier(kernel="precomputed").fit(matrix, y))
    with pytest.raises(TypeError, match="LogisticRegression is not an estimator of planewise"):
        to_text(LogisticRegression().fit(X, y))
    with pytest.raises(NotFittedError):
        to_text(SLMClassifier())


def test_cells_are_named_by_what_they_have_in_common():
    assert cell_in_words([1], "A") == "yes" and cell_in_words([0], "A") == "no"
    assert cell_in_words([3], "AB") == "A and B"
    assert cell_in_words([0, 2], "AB") == "not A"
    assert cell_in_words([1, 2], "AB") == "(A and not B) or (not A and B)"
    assert cell_in_words([4, 5, 6, 7], "ABC") == "C"
    assert linear_sum([1.0, -0.25, 0.5], "abc") == "a − 0.25·b + 0.5·c" and linear_sum([-1.0], "a") == "−a"


def test_the_text_of_a_small_tree_is_the_one_kept():
    text = to_text(golden_tree())
    assert text == (GOLDEN / "tree.txt").read_text(encoding="utf-8"), MEANT


def test_views_of_recip_are_shown(tmp_path):
    recip = pytest.importorskip("planewise.recip")
    X, score = table("numbers")
    model = recip.RECIPClassifier(max_projections=2).fit(X, targets("two", score))
    text = to_text(model, tmp_path / "views.txt")
    assert f"views: {len(model.projections_)}" in text
    assert " × ".join(str(each) for each in model.projection_names_[0]) in text
    assert (tmp_path / "views.txt").read_text(encoding="utf-8") == text


def test_a_model_of_a_table_says_what_it_reads():
    X, score = table("categories")
    frame = pd.DataFrame({"size": X["width"], "colour": X["colour"], "new": score > 0, "y": targets("two", score)})
    machine = TableModel("kernel", settings={"mus": [1], "gammas": [0.2], "cv": 2}, random_state=0).fit(frame, "y")
    text = to_text(machine)
    assert "target: y\ncolumns: 3, from which 8 are made" in text
    usual = f"{machine.columns_[0].usual:.4g}".replace("-", "−")
    marked = rf"size +numeric +{usual}, and marked as missing\n"
    assert re.search(rf"{marked} +colour +categorical +a category of its own\n", text)
    tree = to_text(TableModel("tree", random_state=0).fit(frame, "y"))
    assert "columns: 3\n" in tree and "missing is read as" not in tree and re.search(r"new +boolean\n", tree)
