"""Every system has the settings of its paper, and every symbol of the paper sets its parameter."""

from __future__ import annotations

import inspect

import pytest

from planewise import published

# What is ours, and the value that switches it off.
TREE = {
    **{"noise_margin": 0.0, "smoothing": 0.0, "plane_choice": "cosine", "min_relative_gain": 0.5, "bins": "uniform"},
    **{"refine_thresholds": False, "axis_candidates": "subspace", "subspace": "node", "min_coef": 0},
    **{"min_samples_leaf": 1, "max_leaf_nodes": None, "max_rows_per_node": None, "max_ranked_features": None},
    **{"monotonic_cst": None, "interaction_cst": None, "n_bins": 16, "max_planes": 2, "max_cosine": 0.7},
    **{"max_coef": 10, "coef_decay": 0.5, "rank_decay": 0.1, "min_samples_split": 2},
}
ALONE = TREE | {"min_impurity_decrease": 0.0, "n_projections": 200, "subspace_size": 10**6, "max_depth": None}
FOREST = ALONE | {"n_projections": 50, "subspace_size": 5, "rows_per_projection": 0, "bootstrap": False}
BOOST = TREE | {
    **{"reg_lambda": 0.0, "min_split_gain": 0.0, "base_score": 0.0, "subsample": 1.0, "colsample": 1.0},
    **{"max_rows_per_tree": None, "remember_directions": False, "target_statistics": None, "early_stopping": False},
    **{"n_projections": 50, "subspace_size": 5, "max_depth": 6, "learning_rate": 0.3, "min_child_weight": 1.0},
}
PROGRAM = {"slack": "sum", "relaxation": 1.0, "scaling": "standard", "multi_class": "ovr", "kernel": "rbf"}
MACHINE = PROGRAM | {"mu": 0.0, "rho": 0.0, "C": 1.0, "gamma": 2.0**-10}
SEARCH = PROGRAM | {"mus": (0.0,), "rhos": (0.0,), "selection": "first", "max_support": 1.0, "n_repeats": 1, "cv": 5}
LARGE = {"mu": 0.0, "slack": "sum", "refine": False, "early_stopping": False, "scaling": "standard", "C": 1.0}
LARGE |= {"gamma": "scale", "n_components": "auto"}
NO_FACTOR, FACTOR = {"conformal": "none"}, {"conformal": "signed"}
SECOND_DESCENT = {"conformal_start": "after_fit", "equal_cores": True, "gamma_conformal": "auto"}
VIEWS = {"estimate": "distances", "max_candidates": 10**9, "max_rows": None, "scaling": None, "k": 1}
VIEWS |= {"tsallis_order": 0.5, "class_weight": None, "include_all_features": False}
ALGORITHM_1 = VIEWS | {"selection": "recip", "keep": "used", "max_projections": None, "lam": 9.0, "max_dim": 2}
LASSO = VIEWS | {"unit_columns": False, "decide": "select", "lam": None, "max_projections": None}
SETTINGS = {
    "slm_classifier": ALONE | {"criterion": "entropy", "root_features": None},
    "slr_regressor": ALONE | {"root_features": None},
    "slm_forest_classifier": FOREST | {"criterion": "entropy", "voting": "hard", "n_estimators": 20},
    "slr_forest_regressor": FOREST | {"n_estimators": 20},
    "slm_boost_classifier": BOOST | {"loss": "log_loss", "n_estimators": 100},
    "slr_boost_regressor": BOOST | {"loss": "squared_error", "n_estimators": 100},
    "mcm": MACHINE | NO_FACTOR,
    "mcm_conformal": MACHINE | FACTOR | {"gamma_conformal": "auto"},
    "mcm_search": SEARCH | NO_FACTOR,
    "mcm_conformal_search": SEARCH | FACTOR,
    "ls_mcm": LARGE | NO_FACTOR,
    "ls_mcm_conformal": LARGE | FACTOR | SECOND_DESCENT,
    "recip": ALGORITHM_1 | {"decide": "select"},
    "recip_voting": ALGORITHM_1 | {"decide": "vote"},
    "recip_known": VIEWS | {"projections": [(0, 1)], "decide": "select"},
    "recip_lasso": LASSO | {"selection": "lasso"},
    "recip_robust_lasso": LASSO | {"selection": "robust_lasso", "min_support": 0.0},
}
# By symbol: a value, and what it sets; other parameters for searches, forests and boosting.
SYMBOLS = {
    **{"D0": (7, "root_features", 7), "R": (3, "subspace_size", 3), "p": (11, "n_projections", 11)},
    **{"A_int": (6, "max_coef", 6), "beta": (0.2, "rank_decay", 0.2), "q": (3, "max_planes", 3)},
    **{"theta_minimax": (0.4, "max_cosine", 0.4), "B": (9, "n_bins", 9), "min_samples": (8, "min_samples_split", 8)},
    **{name: (value, name, value) for name, value in {"max_depth": 5, "min_loss": 0.1, "n_estimators": 13}.items()},
    **{name: (value, name, value) for name, value in {"learning_rate": 0.2, "min_child_weight": 2.0}.items()},
    **{name: (value, name, value) for name, value in {"cv": 4, "n_jobs": 2, "random_state": 3, "k": 4}.items()},
    **{name: (value, name, value) for name, value in {"kernel": "poly", "n_components": 33, "lam": 2.5}.items()},
    **{name: (value, name, value) for name, value in {"scaling": "arcsinh", "C": 7.0, "gamma": 0.7}.items()},
    **{"gamma_c": (9.0, "gamma_conformal", 9.0), "printed": (True, "conformal", "printed"), "d": (3, "max_dim", 3)},
    **{"all_features": (True, "include_all_features", True), "voting": (True, "decide", "vote")},
    **{"t": (5, "max_projections", 5), "projections": ([(2,)], "projections", [(2,)])},
}
LISTS = {"C": ([7.0], "Cs", (7.0,)), "gamma": ([0.7], "gammas", (0.7,)), "gamma_c": ([9.0], "gammas_conformal", (9.0,))}
REQUIRED = {"recip_known": {"projections": [(0, 1)]}}


def meaning(name, symbol):
    if symbol == "alpha":
        return 0.3, "tsallis_order" if name.startswith("recip") else "coef_decay", 0.3
    if symbol == "D0" and ("forest" in name or "boost" in name):
        return 7, "subspace_size", 7
    return LISTS[symbol] if "search" in name and symbol in LISTS else SYMBOLS[symbol]


@pytest.mark.parametrize("name", SETTINGS)
def test_nothing_of_ours_is_switched_on(name):
    given = getattr(published, name)(**REQUIRED.get(name, {})).get_params()
    assert {key: given[key] for key in SETTINGS[name]} == SETTINGS[name]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_symbol_sets_its_parameter(name):
    make = getattr(published, name)
    for symbol in inspect.signature(make).parameters:
        value, parameter, expected = meaning(name, symbol)
        assert make(**REQUIRED.get(name, {}) | {symbol: value}).get_params()[parameter] == expected, symbol


def test_an_unknown_symbol_is_an_error():
    with pytest.raises(TypeError, match=r"^slm_classifier\(\) got an unexpected keyword argument 'Q'"):
        published.slm_classifier(Q=3)
