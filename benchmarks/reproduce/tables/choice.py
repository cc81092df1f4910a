"""How the grids of our trees were chosen: inside training parts of development sets, none of them in the SLM tables.

Each candidate has nine points. The first ones are mirrors of what the baselines search, the others vary what the paper
calls its hyper-parameters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import methods as m
from ..claims import Claim, Verdict
from ..data import DEVELOP
from ..declaration import Edge, Experiment, Method, Table
from ..grids import ALL
from ..protocols import InsideTraining
from ..results import Results

MARGINS = [0.75, 0.25, 1.5]
CANDIDATES: dict[str, tuple[Method, dict[str, dict[str, list]]]] = {
    "Baseline": (
        m.SLM_BASELINE,
        {
            "depth, leaf": {"max_depth": [None, 4, 2], "min_samples_leaf": [1, 5, 15]},
            "margin, depth": {"noise_margin": MARGINS, "max_depth": [None, 4, 2]},
            "margin, smoothing": {"noise_margin": MARGINS, "smoothing": [4.0, 1.0, 16.0]},
            "margin, terms": {"noise_margin": MARGINS, "subspace_size": [2, 3, 5]},
            "terms, projections": {"subspace_size": [2, 3, 5], "n_projections": [200, 50, 800]},
        },
    ),
    "Forest": (
        m.SLM_FOREST,
        {
            "depth, terms": {"max_depth": [None, 8, 4], "subspace_size": [6, 3, 12]},
            "terms, leaf": {"subspace_size": [6, 3, 12], "min_samples_leaf": [3, 1, 8]},
            "margin, terms": {"noise_margin": [0.0, 0.25, 0.75], "subspace_size": [6, 3, 12]},
            "margin, smoothing": {"noise_margin": [0.0, 0.25, 0.75], "smoothing": [0.0, 1.0, 4.0]},
            "terms, projections": {"subspace_size": [6, 3, 12], "n_projections": [50, 15, 150]},
        },
    ),
    "Boost": (
        m.SLM_BOOST,
        {
            "depth, rate": {"max_depth": [3, 2, 1], "learning_rate": [0.1, 0.05, 0.3]},
            "lambda, rate": {"reg_lambda": [1.0, 5.0, 20.0], "learning_rate": [0.1, 0.05, 0.3]},
            "terms, rate": {"subspace_size": [3, 2, 6], "learning_rate": [0.1, 0.05, 0.3]},
            "depth, margin": {"max_depth": [3, 2, 1], "noise_margin": [0.1, 0.0, 0.4]},
        },
    ),
    "Published baseline": (
        m.SLM_BASELINE_PUBLISHED,
        {
            "samples, alpha": {"min_samples_split": [2, 10, 30], "coef_decay": [0.5, 0.2, 0.05]},
            "samples, R": {"min_samples_split": [2, 10, 30], "subspace_size": [ALL, 5, 3]},
            "samples, A": {"min_samples_split": [2, 10, 30], "max_coef": [10, 5, 2]},
            "samples, D0": {"min_samples_split": [2, 10, 30], "root_features": [None, 8, 4]},
        },
    ),
    "Published forest": (
        m.SLM_FOREST_PUBLISHED,
        {
            "D0, samples": {"subspace_size": [5, 3, 8], "min_samples_split": [2, 5, 15]},
            "D0, alpha": {"subspace_size": [5, 3, 8], "coef_decay": [0.5, 0.2, 0.05]},
            "D0, beta": {"subspace_size": [5, 3, 8], "rank_decay": [0.1, 0.03, 0.3]},
        },
    ),
    "Published boost": (
        m.SLM_BOOST_PUBLISHED,
        {
            "depth, rate": {"max_depth": [6, 4, 2], "learning_rate": [0.3, 0.1, 0.05]},
            "D0, rate": {"subspace_size": [5, 3, 8], "learning_rate": [0.3, 0.1, 0.05]},
            "samples, rate": {"min_samples_split": [2, 10, 30], "learning_rate": [0.3, 0.1, 0.05]},
        },
    ),
}
METHODS = (
    *(
        replace(method, name=f"{family}: {name}", grid=grid)
        for family, (method, grids) in CANDIDATES.items()
        for name, grid in grids.items()
    ),
    *(m.SLM_DEFAULTS, m.TUNED_DECISION_TREE, m.XGBOOST),
)
TAKEN = {
    "Baseline": "margin, smoothing",
    "Forest": "terms, leaf",
    "Boost": "terms, rate",
    "Published baseline": "samples, D0",
    "Published forest": "D0, samples",
    "Published boost": "depth, rate",
}
CHOICE = Experiment(
    "slm-grids",
    InsideTraining(),
    DEVELOP,
    METHODS,
    seeds=3,
    quick_seeds=1,
    fewer_seeds={method.name: 1 for method in METHODS if "aseline" not in method.name},
)


def standing(family: str) -> Claim:
    """The candidates' errors, which of them is lowest and which was taken."""

    def claim(results: Results) -> Verdict:
        errors = relative_errors(family, results)
        if not errors:
            return Verdict(f"{family}: not all of it yet.")
        said = "; ".join(f"{error:.3f} ({name})" for name, error in errors.items())
        lowest = min(errors, key=errors.__getitem__)
        chosen = TAKEN[family]
        return Verdict(
            f"{family}, error relative to the first grid (grids are named after the parameters they vary): {said}. "
            f"Lowest: “{lowest}”. Chosen: “{chosen}”."
        )

    return claim


def relative_errors(family: str, results: Results) -> dict[str, float]:
    """The one criterion: the share of wrong answers or RMSE by the first candidate's, geometric mean over all sets.

    Empty as long as not everything has been run.
    """
    found: dict[str, np.ndarray] = {}
    for name in CANDIDATES[family][1]:
        entries = [results[f"{family}: {name}", data.name] for data in DEVELOP]
        if not all(entry.values for entry in entries):
            return {}
        found[name] = np.array(
            [
                100 - entry.mean if data.task == "classification" else entry.mean
                for data, entry in zip(DEVELOP, entries, strict=True)
            ]
        )
    first = next(iter(found.values()))
    return {name: float(np.exp(np.mean(np.log(errors / first)))) for name, errors in found.items()}


TABLE = Table(
    "slm-grids",
    "How the grids of SLM Baseline, Forest and Boost were chosen",
    CHOICE,
    rows=tuple(Edge(method.name, method=method.name) for method in METHODS),
    columns=tuple(
        Edge(data.name, data=data.name, metric="accuracy" if data.task == "classification" else "rmse")
        for data in DEVELOP
    ),
    digits=2,
    notes=(
        "Accuracy (%) or RMSE, by nested cross-validation inside 600 rows of the training parts of development sets. "
        "None of these data sets is in the SLM paper's tables, and their test parts were not used. Each candidate grid "
        "has nine points. Single trees use all three outer folds; forests and boosting use only the first.",
        "For each kind of model, we chose the grid with the lowest error (error rate or RMSE) relative to that of the "
        "first grid, as a geometric mean over all twelve data sets. A fold of 200 rows has a standard error of two or "
        "three points, so grids that are a few percent apart may not really differ.",
        "An earlier version had chosen the same grids for single trees and forests by accuracy on test parts, "
        "including some of the data sets in the tables. This choice confirms them.",
    ),
    claims=tuple(map(standing, CANDIDATES)),
)
