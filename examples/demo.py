"""Fit trees, forests, boosting and kernel machines on bundled data beside scikit-learn's, and write an HTML page.

python examples/demo.py [--out planewise-demo.html]
"""

from __future__ import annotations

import argparse
import base64
import html
import io
import pickle
import time
import zlib
from pathlib import Path

import numpy as np
from sklearn import ensemble, tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import planewise as pw
from partition import draw_partition
from planewise.datasets import make_friedman, make_new_moons

SETS = {
    "new moons": lambda: (*make_new_moons(random_state=0), ["east", "north"]),
    "wine": lambda: _bundled(load_wine),
    "breast cancer": lambda: _bundled(load_breast_cancer),
    "Friedman 1": lambda: (*make_friedman(1, random_state=0), [f"x{j}" for j in range(10)]),
    "diabetes": lambda: _bundled(load_diabetes),
}
REGRESSION = {"Friedman 1", "diabetes"}
# Ours and scikit-learn's: (for classes, for numbers).
FAMILIES = {
    "one tree": (
        (pw.SLMClassifier, pw.SLMRegressor),
        (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor),
    ),
    "forest": (
        (pw.SLMForestClassifier, pw.SLMForestRegressor),
        (ensemble.RandomForestClassifier, ensemble.RandomForestRegressor),
    ),
    "boosting": (
        (pw.SLMBoostClassifier, pw.SLMBoostRegressor),
        (ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor),
    ),
    "kernel": (
        (pw.MCMClassifier, lambda random_state: pw.MCMRegressor()),
        (lambda random_state: _scaled(SVC()), lambda random_state: _scaled(SVR())),
    ),
}


def _scaled(machine):
    return make_pipeline(StandardScaler(), machine)


def _bundled(load):
    bunch = load()
    return bunch.data, bunch.target, list(bunch.feature_names)


def fit(model, X, y):
    tick = time.perf_counter()
    model.fit(X, y)
    return model, 1000 * (time.perf_counter() - tick)


def split(name):
    X, y, names = SETS[name]()
    strata = None if name in REGRESSION else y
    return *train_test_split(X, y, test_size=0.4, random_state=0, stratify=strata), names


def compare(name, family):
    """One row of the table: held-out quality, size and time of both; and our fitted model."""
    Xa, Xb, ya, yb, _ = split(name)
    regression = name in REGRESSION
    models = [fit(pair[regression](random_state=0), Xa, ya) for pair in FAMILIES[family]]
    row = [name, family, "RMSE" if regression else "accuracy"]
    row += [_quality(model, Xb, yb, regression) for model, _ in models]
    row += [f"{len(zlib.compress(pickle.dumps(model))) / 1000:.1f} kB" for model, _ in models]
    row += [f"{milliseconds:.0f} ms" for _, milliseconds in models]
    return row, models[0][0]


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


def figures():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def as_address(figure):
    """A figure as a PNG inside a data address."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=130)
    figures().close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def cells_picture():
    """The cells of one SLM tree and of one decision tree on the new moons."""
    figure, axes = figures().subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    draw_partition(axes)
    return as_address(figure)


def contributions_picture(model, row, names):
    """What each feature added to one prediction."""
    *parts, usual = model.predict_contributions(row[None])[0]
    parts = np.array(parts)
    order = np.argsort(np.abs(parts))
    figure, axis = figures().subplots(figsize=(9, 3.6), layout="constrained")
    axis.barh([names[j] for j in order], parts[order], color=np.where(parts[order] > 0, "#0072B2", "#D55E00"))
    axis.axvline(0, color="#444", linewidth=0.8)
    axis.set_xlabel(f"added to the mean of {usual:.0f}; together {usual + parts.sum():.0f}")
    return as_address(figure)


HEADER = ["data", "model", "measure", "planewise", "scikit-learn", "size", "size", "fit", "fit"]


def page(rows, words, machine, cells_image, contributions_image):
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
th:nth-child(4), td:nth-child(4) {{ font-weight: 600; }}
img {{ max-width: 100%; }}
</style></head><body>
<h1>planewise: small models you can see through</h1>
<p>Trees, forests and boosting with planes beside scikit-learn's decision tree, random forest and histogram boosting,
and kernel machines with few vectors beside its SVMs, all with their defaults, on 40 % held-out rows. Sizes are
compressed pickles; in each pair the first is planewise.</p>
<table><thead><tr>{head}</tr></thead><tbody>
{cells}
</tbody></table>
<h2>What it sees</h2>
<p>Every line is a plane of one tree; where planes of one node cross, it has up to four children.</p>
<img src="{cells_image}" alt="Cells and planes of both trees on the new moons">
<h2>What it says</h2>
<p>The first planes of the tree for <em>wine</em>, in the data's own units:</p>
<ul>
{planes}
</ul>
<h2>Which rows decide</h2>
<p>{machine}</p>
<h2>Why this number</h2>
<p>What each feature added to boosting's prediction for one held-out patient of <em>diabetes</em>; the parts add up.</p>
<img src="{contributions_image}" alt="Contributions of the features to one prediction">
</body></html>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("planewise-demo.html"))
    args = parser.parse_args()
    rows, words, why, machine = [], [], "", ""
    widths = [14, 10, 10, 10, 13, 10, 10, 8, 8]
    print("".join(f"{cell:<{width}}" for cell, width in zip(HEADER, widths, strict=True)))
    for name in SETS:
        for family in FAMILIES:
            row, model = compare(name, family)
            rows.append(row)
            print("".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)), flush=True)
            *_, names = parts = split(name)
            if (name, family) == ("wine", "one tree"):
                words = planes_in_words(model, names)
            if (name, family) == ("breast cancer", "kernel"):
                machine = f"For <em>{name}</em> the machine keeps {len(model.support_)} of {len(parts[0])} rows."
            if (name, family) == ("diabetes", "boosting"):
                why = contributions_picture(model, parts[1][0], names)
    args.out.write_text(page(rows, words, machine, cells_picture(), why), encoding="utf-8")
    print(f"\nreport: {args.out}")


if __name__ == "__main__":
    main()
