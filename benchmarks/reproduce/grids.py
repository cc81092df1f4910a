"""All that is tuned, and over what: each method of an experiment has equally many points.

The point with the best mean score on folds of the training part is taken; of equally good ones the first, so the
plainest values stand first.
"""

from __future__ import annotations

# ------------------------------------------------- the SLM paper's tables: nine points a method
# The paper does not search for its decision tree ("DT"); "DT, tuned" has as many points as the others.
DECISION_TREE = {"max_depth": [None, 8, 4], "min_samples_leaf": [1, 5, 15]}
RANDOM_FOREST = {"max_depth": [None, 8, 4], "max_features": ["sqrt", 0.5, 1.0]}
XGBOOST = {"max_depth": [6, 4, 2], "learning_rate": [0.1, 0.05, 0.3]}
LINEAR_SVM = {"C": [1.0, 0.01, 0.03, 0.1, 0.3, 3.0, 10.0, 30.0, 100.0]}
RBF_SVM = {"C": [1.0, 10.0, 100.0], "gamma": ["scale", 0.02, 0.5]}
LINEAR_SVR = {"C": [1.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 3.0, 10.0]}
RBF_SVR = {"C": [10.0, 1.0, 100.0], "gamma": ["scale", 0.02, 0.5]}
NETWORK = {"activation": ["relu", "tanh", "logistic"], "alpha": [0.1, 1.0, 10.0]}
# Ours were chosen from a few by nested folds inside the training parts of twelve development sets, none of which is in
# these tables, by one criterion (tables/choice.py; ``slm-grids``); the estimators' defaults stand first. The choice is
# flat.
SLM_BASELINE = {"noise_margin": [0.75, 0.25, 1.5], "smoothing": [4.0, 1.0, 16.0]}
SLM_FOREST = {"subspace_size": [6, 3, 12], "min_samples_leaf": [3, 1, 8]}
SLM_BOOST = {"subspace_size": [3, 2, 6], "learning_rate": [0.1, 0.05, 0.3]}

# ------------------------------------------------- the MCM paper's Tables 2 and 3: eighteen points a method
# The machine's own search has three gammas (parts of 1 / columns), a conformal one two gamma_c and a shrunk one three
# shrinkages as well. What is left of the points goes to mu, a share of C: the middles of so many equal parts of the
# range of its own search, 0.1 to 0.0001.
_C = 1000.0


def _mus(number: int) -> tuple[float, ...]:
    return tuple(float(f"{_C * 10 ** (-1 - 3 * (place + 0.5) / number):.3g}") for place in range(number))


MCM = {"Cs": (_C,), "mus": _mus(6)}
MCM_CONFORMAL = {"Cs": (_C,), "mus": _mus(3)}
MCM_SHRUNK = {"Cs": (_C,), "mus": _mus(1)}
SVC = {"C": [1.0, 0.1, 0.3, 3.0, 10.0, 100.0], "gamma": ["scale", 0.01, 0.1]}

# ------------------------------------------------- its Table 4: six points a method
LARGE_SCALE_MCM = {"mu": [0.01, 0.1, 1.0], "C": [1000.0, 100.0]}
LARGE_SCALE_CONFORMAL = {"mu": [0.01, 0.1, 1.0], "gamma_conformal": ["auto", 0.01]}

# ------------------------------------------------- the RECIP paper's Table 3: four points a method
RECIP = {"include_all_features": [False, True], "estimate": ["counts", "distances"]}
NEIGHBOURS = {"n_neighbors": [1, 3, 5, 9]}
