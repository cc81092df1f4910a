"""Fit trees of planes on bundled data, print them beside scikit-learn's, and write one HTML page with pictures.

python examples/demo.py [--out planewise-demo.html]
"""

from __future__ import annotations

import argparse
import base64
import html
import io
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from partition import draw_partition
from planewise import SLMClassifier, SLMRegressor
from planewise.datasets import make_friedman, make_new_moons

SETS = {
    "new moons": lambda: (*make_new_moons(random_state=0), ["east", "north"]),
    "wine": lambda: _bundled(load_wine),
    "breast cancer": lambda: _bundled(load_breast_cancer),
    "Friedman 1": lambda: (*make_friedman(1, random_state=0), [f"x{j}" for j in range(10)]),
    "diabetes": lambda: _bundled(load_diabetes),
}
REGRESSION = {"Friedman 1", "diabetes"}


def _bundled(load):
    bunch = load()
    return bunch.data, bunch.target, list(bunch.feature_names)


def fit(model, X, y):
    tick = time.perf_counter()
    model.fit(X, y)
    return model, 1000 * (time.perf_counter() - tick)


def compare(name):
    """One row of the table: held-out quality, size and time of both trees; and our fitted tree."""
    X, y, names = SETS[name]()
    regression = name in REGRESSION
    Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.4, random_state=0, stratify=None if regression else y)
    ours, our_time = fit((SLMRegressor if regression else SLMClassifier)(random_state=0), Xa, ya)
    theirs, their_time = fit((DecisionTreeRegressor if regression else DecisionTreeClassifier)(random_state=0), Xa, ya)
    splits = int((theirs.tree_.children_left >= 0).sum())
    quality = [_quality(model, Xb, yb, regression) for model in (ours, theirs)]
    row = [name, "RMSE" if regression else "accuracy", *quality]
    row += [f"{ours.n_planes_} planes", f"{splits} splits", f"{our_time:.0f} ms", f"{their_time:.0f} ms"]
    return row, ours, names


def _quality(model, X, y, regression):
    if regression:
        return f"{np.sqrt(np.mean((model.predict(X) - y) ** 2)):.3g}"
    return f"{100 * model.score(X, y):.1f} %"


def planes_in_words(model, names, most=6):
    """The first planes as the user's own units see them."""
    tree, lines = model.tree_, []
    for plane in range(min(most, tree.n_planes)):
        terms = range(tree.term_start[plane], tree.term_start[plane + 1])
        text = " ".join(f"{tree.term_weight[term]:+.3g}·{names[tree.term_feature[term]]}" for term in terms)
        lines.append(f"{text.lstrip('+')} ≥ {tree.threshold[plane]:.3g}")
    return lines


def picture():
    """The cells of one SLM tree and of one decision tree on the new moons, as a PNG inside a data address."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    draw_partition(axes)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130)
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


HEADER = ["data", "measure", "planewise", "scikit-learn tree", "size", "size", "fit", "fit"]


def page(rows, words):
    cells = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in HEADER)
    planes = "\n".join(f"<li><code>{html.escape(line)}</code></li>" for line in words)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>planewise demo</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }}
th:nth-child(3), td:nth-child(3) {{ font-weight: 600; }}
img {{ max-width: 100%; }}
</style></head><body>
<h1>planewise: small models you can see through</h1>
<p>One tree of planes beside one decision tree, both with their defaults, on 40 % held-out rows.</p>
<table><thead><tr>{head}</tr></thead><tbody>
{cells}
</tbody></table>
<h2>What it sees</h2>
<p>Every line is a plane of the tree; where planes of one node cross, it has up to four children.</p>
<img src="{picture()}" alt="Cells and planes of both trees on the new moons">
<h2>What it says</h2>
<p>The first planes of the tree for <em>wine</em>, in the data's own units:</p>
<ul>
{planes}
</ul>
</body></html>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("planewise-demo.html"))
    args = parser.parse_args()
    rows, words = [], []
    widths = [14, 9, 10, 18, 10, 11, 7, 7]
    print("".join(f"{cell:<{width}}" for cell, width in zip(HEADER, widths, strict=True)))
    for name in SETS:
        row, model, names = compare(name)
        rows.append(row)
        if name == "wine":
            words = planes_in_words(model, names)
        print("".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)), flush=True)
    args.out.write_text(page(rows, words), encoding="utf-8")
    print(f"\nreport: {args.out}")


if __name__ == "__main__":
    main()
