"""All that is tuned, and over what: each method of an experiment has equally many points.

The point with the best mean score on folds of the training part is taken; of equally good ones the first, so the
plainest values stand first.
"""

from __future__ import annotations

import math

# ------------------------------------------------- the SLM paper's tables: nine points a method
# The paper does not search for its decision tree ("DT"); "DT, tuned" has as many points as the others.
DECISION_TREE = {"max_depth": [None, 8, 4], "min_samples_leaf": [1, 5, 15]}
RANDOM_FOREST = {"max_depth": [None, 8, 4], "max_features": ["sqrt", 0.5, 1.0]}
XGBOOST = {"max_depth": [6, 4, 2], "learning_rate": [0.1, 0.05, 0.3]}
LINEAR_SVM = {"C": [1.0, 0.01, 0.03, 0.1, 0.3, 3.0, 10.0, 30.0, 100.0]}
RBF_SVM = {"C": [1.0, 10.0, 100.0], "gamma": ["scale", 0.02, 0.5]}
LINEAR_SVR = {"C": [1.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 3.0, 10.0]}
RBF_SVR = {"C": [10.0, 1.0, 100.0], "gamma": ["scale", 0.02, 0.5]}
NETWORK = {"n_components": [2, 1, 3, 4, 6, (4, 1), (1, 4), (6, 1), (1, 6)]}  # Gaussian components per class
# Ours were chosen from a few by nested folds inside the training parts of twelve development sets, none of which is in
# these tables, by one criterion (tables/choice.py; ``slm-grids``); the estimators' defaults stand first. The choice is
# flat.
SLM_BASELINE = {"noise_margin": [0.75, 0.25, 1.5], "smoothing": [4.0, 1.0, 16.0]}
SLM_FOREST = {"subspace_size": [6, 3, 12], "min_samples_leaf": [3, 1, 8]}
SLM_BOOST = {"subspace_size": [3, 2, 6], "learning_rate": [0.1, 0.05, 0.3]}
# The published methods vary parameters of the paper, chosen in the same way: D0 (root_features or, in forests,
# subspace_size), the minimum number of samples of a node (min_samples_split), and XGBoost's depth and rate.
ALL = 10**6  # features: more than there are
SLM_BASELINE_PUBLISHED = {"min_samples_split": [2, 10, 30], "root_features": [None, 8, 4]}
SLM_FOREST_PUBLISHED = {"subspace_size": [5, 3, 8], "min_samples_split": [2, 5, 15]}
SLM_BOOST_PUBLISHED = {"max_depth": [6, 4, 2], "learning_rate": [0.3, 0.1, 0.05]}

# ------------------------------------------------- the MCM paper's Tables 2 and 3: twelve points a method
# The machine's own search has four gammas (parts of 1 / columns), and there are three mu, shares of C: the middles of
# equal parts of the range of its own search, 0.05 to 0.00001, or 0.1 to 0.0001 with a price of the norm. A conformal
# machine tries each of these twelve points with two gamma_c, and a shrunk one with three shrinkages as well.
_C = 1000.0


def _middles(highest: float, lowest: float) -> tuple[float, ...]:
    step = (math.log10(highest) - math.log10(lowest)) / 3
    return tuple(float(f"{_C * highest * 10 ** (-step * (place + 0.5)):.3g}") for place in range(3))


MCM = {"Cs": (_C,), "mus": _middles(0.05, 1e-5), "rhos": (0.0,)}
MCM_WITH_NORM = {"Cs": (_C,), "mus": _middles(0.1, 1e-4), "rhos": (1e-3 * _C,)}
SVC = {"C": [1.0, 10.0, 100.0], "gamma": ["scale", 0.01, 0.03, 0.1]}
PEER_SVC = {"C": [1.0, 0.1, 0.3, 3.0, 10.0, 100.0], "gamma": ["scale", 0.01, 0.1]}  # of duels
# The published machines, over an even part of the paper's grid: of its 11 C, 5 gamma and 22 multiples of gamma for
# gamma_c, these. All of it would be 1,210 points, most of them the same machine: where the labels can be interpolated,
# C does not matter.
MCM_PUBLISHED = {"C": (2.0**-19, 2.0**-13, 2.0**-5, 2.0**1), "gamma": (2.0**-10, 2.0**-12, 2.0**-8)}
# An SVM's grid that is as wide: the same factors between values, in the middle of the range that LIBSVM's guide
# recommends (C from 2^-5 to 2^15, gamma from 2^-15 to 2^3).
WIDE_SVC = {"C": [2.0**-5, 2.0**1, 2.0**9, 2.0**15], "gamma": [2.0**-6, 2.0**-8, 2.0**-4]}
MCM_CONFORMAL_PUBLISHED = MCM_PUBLISHED | {"gamma_c": (2.0, 20.0, 1000.0)}

# ------------------------------------------------- its Table 4, and what a conformal machine tries at the best point
LARGE_SCALE_MCM = {"mu": [0.01, 0.1, 1.0], "C": [1000.0, 100.0]}
LARGE_SCALE_PUBLISHED = {"C": [1.0, 2.0**-5, 2.0**-10], "gamma": ["scale", 2.0**-8]}
LARGE_SCALE_GAMMA_C = (1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2)

# ------------------------------------------------- the RECIP paper's Table 3: four points a method
RECIP = {"include_all_features": [False, True], "estimate": ["counts", "distances"]}
RECIP_PUBLISHED = {"lam": [30.0, 1.0], "k": [1, 3]}
NEIGHBOURS = {"n_neighbors": [1, 3, 5, 9]}
