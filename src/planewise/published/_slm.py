"""Trees, forests and boosting of hyperplanes as in the SLM paper."""

from __future__ import annotations

from typing import Any

from planewise.slm import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)

EVERY = 10**6  # as a number of features: more than a table has, so all of them
# What is ours and switched off: in trees that stand alone or vote, in forests, in boosting.
_ALONE: dict[str, Any] = {"noise_margin": 0.0, "smoothing": 0.0, "min_impurity_decrease": 0.0}
_FOREST: dict[str, Any] = {"rows_per_projection": 0, "bootstrap": False}
_BOOST: dict[str, Any] = {
    "reg_lambda": 0.0,
    "min_split_gain": 0.0,
    "noise_margin": 0.0,
    "smoothing": 0.0,
    "base_score": 0.0,
    "subsample": 1.0,
    "colsample": 1.0,
    "max_rows_per_tree": None,
    "remember_directions": False,
    "target_statistics": None,
}


def slm_classifier(
    *,
    D0: int | None = None,
    R: int | None = None,
    p: int = 200,
    A_int: int = 10,
    alpha: float = 0.5,
    beta: float = 0.1,
    q: int = 2,
    theta_minimax: float = 0.7,
    B: int = 16,
    max_depth: int | None = None,
    min_samples: int = 2,
    min_loss: float = 0.0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SLMClassifier:
    """The subspace learning machine (SLM) of the paper, unfitted.

    Each node ranks the features of the subspace S0 by the one-dimensional test (eqs 11 to 15), draws R of them (eq.
    19), tests p directions with integer coefficients within the envelope of their ranks (eqs 20 and 21), and splits
    by up to q of them, the best first and then those with the smallest largest cosine (Section II-B3).

    Parameters
    ----------
    D0 : int or None, default=None
        Dimension of S0: the features with the lowest one-dimensional loss at the root, the only ones that the tree
        may use. None uses all, as the paper does "if the dimension of X is low".
    R : int or None, default=None
        Number of features drawn from S0 at each node, with probability proportional to exp(-beta * rank). None draws
        all D0.
    p : int, default=200
        Number of directions tested at each node. All directions are tested if there are at most p.
    A_int : int, default=10
        alpha_0 of eq. 21: largest coefficient of the best feature.
    alpha : float, default=0.5
        The coefficients of the feature of rank d are at most floor(A_int * exp(-alpha * d)), which can be 0.
    beta : float, default=0.1
        Decay of the probability of a feature with its rank (eq. 19).
    q : int, default=2
        Maximum number of planes per node.
    theta_minimax : float, default=0.7
        No plane is added whose cosine with one of the others is larger.
    B : int, default=16
        Number of bins of the one-dimensional test.
    max_depth : int or None, default=None
        First stopping criterion: the depth of a node.
    min_samples : int, default=2
        Second stopping criterion: a node with fewer rows is not split.
    min_loss : float, default=0.0
        Third stopping criterion: a node whose entropy (in nats) is not larger is not split.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed.

    Returns
    -------
    tree : SLMClassifier
        Not fitted.

    Notes
    -----
    The paper leaves the following open, and we chose:

    - *Scale of the features.* Integer coefficients depend on it. Features are standardised for the search.
    - *Values of the parameters.* They were searched on each data set and are not printed. ``A_int`` and ``alpha`` are
      those of the example in Figure 2; ranks count from 0.
    - *D0 and R.* Section II-B4 selects D0 features, Section II-B2 draws R of them. Here the first happens once, at
      the root, and the second at every node.
    - *Single features.* Those of the draw are candidates (their loss is known from the ranking), others are not.
    - *Features that have faded out.* With the default `A_int` and `alpha`, only the five best features of a node can
      have coefficients. If none of the drawn features can, the best of them is the only candidate.
    - *Which projections are "effective"* (eq. 23). Those that gain at least half as much as the best one.
    - *When to stop adding planes*, apart from theta_minimax and q. A plane must make a new cell and lower the loss.
    - *Empty cells.* They get no child. A new row that falls into one gets the value of the node.

    The text says that p projections give 2p hyperplanes and q partitions 2q subspaces. We read p and 2^q.

    References
    ----------
    .. [1] H. Fu, Y. Yang, V. K. Mishra, C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and
       Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import published
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = published.slm_classifier(random_state=0).fit(X, y)
    >>> tree.score(X, y)
    1.0
    """
    drawn = _drawn(R, D0, p, A_int, alpha, beta)
    tree = _tree(q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state)
    return SLMClassifier(criterion="entropy", root_features=D0, min_loss=min_loss, **_ALONE, **drawn, **tree)


def slr_regressor(
    *,
    D0: int | None = None,
    R: int | None = None,
    p: int = 200,
    A_int: int = 10,
    alpha: float = 0.5,
    beta: float = 0.1,
    q: int = 2,
    theta_minimax: float = 0.7,
    B: int = 16,
    max_depth: int | None = None,
    min_samples: int = 2,
    min_loss: float = 0.0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SLMRegressor:
    """The subspace learning regressor (SLR) of the paper, unfitted.

    The tree of `slm_classifier` with the mean squared error as the loss (Section V).

    Parameters
    ----------
    D0, R, p, A_int, alpha, beta, q, theta_minimax, B, max_depth, min_samples, min_loss, n_jobs, random_state
        As in `slm_classifier`, where the choices are named that the paper leaves open. `min_loss` is a mean squared
        error.

    Returns
    -------
    tree : SLMRegressor
        Not fitted.

    Examples
    --------
    >>> from planewise import published
    >>> from sklearn.datasets import make_friedman2
    >>> X, y = make_friedman2(1000, random_state=0)
    >>> published.slr_regressor(min_samples=10, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """
    drawn = _drawn(R, D0, p, A_int, alpha, beta)
    tree = _tree(q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state)
    return SLMRegressor(root_features=D0, min_loss=min_loss, **_ALONE, **drawn, **tree)


def slm_forest_classifier(
    *,
    n_estimators: int = 20,
    D0: int | None = 5,
    p: int = 50,
    A_int: int = 10,
    alpha: float = 0.5,
    beta: float = 0.1,
    q: int = 2,
    theta_minimax: float = 0.7,
    B: int = 16,
    max_depth: int | None = None,
    min_samples: int = 2,
    min_loss: float = 0.0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SLMForestClassifier:
    """SLM Forest of the paper, unfitted.

    Trees of `slm_classifier` on all rows, which differ by what they draw; the majority of their votes decides (Section
    III-A).

    Parameters
    ----------
    n_estimators : int, default=20
        Number of trees.
    D0 : int or None, default=5
        Number of features drawn at each node, with probability proportional to exp(-beta * rank). None draws all.
    p : int, default=50
        Number of directions tested at each node. All directions are tested if there are at most p.
    A_int, alpha, beta, q, theta_minimax, B, max_depth, min_samples, min_loss, n_jobs, random_state
        As in `slm_classifier`.

    Returns
    -------
    forest : SLMForestClassifier
        Not fitted.

    Notes
    -----
    The paper leaves the following open, apart from what `slm_classifier` names, and we chose:

    - *D0.* In a forest it is drawn at each node: "for partitioning at a node, we allow a probabilistic selection of D0
      dimensions". 5 is the value printed for B.C.W. and Ionosphere (for single trees).
    - *p.* Fewer than for a single tree: what one tree misses, others find.
    - *Ties of the vote.* They go to the class with the larger mean probability.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from planewise import published
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = published.slm_forest_classifier(random_state=0).fit(X[::2], y[::2])
    >>> forest.score(X[1::2], y[1::2]) > 0.9
    True
    """
    drawn = _drawn(D0, None, p, A_int, alpha, beta)
    tree = _tree(q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state)
    return SLMForestClassifier(
        n_estimators=n_estimators, criterion="entropy", voting="hard", min_loss=min_loss, **_ALONE, **_FOREST, **drawn,
        **tree,
    )  # fmt: skip


def slr_forest_regressor(
    *,
    n_estimators: int = 20,
    D0: int | None = 5,
    p: int = 50,
    A_int: int = 10,
    alpha: float = 0.5,
    beta: float = 0.1,
    q: int = 2,
    theta_minimax: float = 0.7,
    B: int = 16,
    max_depth: int | None = None,
    min_samples: int = 2,
    min_loss: float = 0.0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SLMForestRegressor:
    """SLR Forest of the paper, unfitted.

    Trees of `slr_regressor` on all rows, which differ by what they draw; their mean is the prediction (Section V).

    Parameters
    ----------
    n_estimators, D0, p
        As in `slm_forest_classifier`.
    A_int, alpha, beta, q, theta_minimax, B, max_depth, min_samples, min_loss, n_jobs, random_state
        As in `slr_regressor`.

    Returns
    -------
    forest : SLMForestRegressor
        Not fitted.

    Examples
    --------
    >>> from planewise import published
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> forest = published.slr_forest_regressor(min_samples=5, random_state=0).fit(X[::2], y[::2])
    >>> forest.score(X[1::2], y[1::2]) > 0.7
    True
    """
    drawn = _drawn(D0, None, p, A_int, alpha, beta)
    tree = _tree(q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state)
    return SLMForestRegressor(n_estimators=n_estimators, min_loss=min_loss, **_ALONE, **_FOREST, **drawn, **tree)


def slm_boost_classifier(
    *,
    n_estimators: int = 100,
    learning_rate: float = 0.3,
    D0: int | None = 5,
    p: int = 50,
    A_int: int = 10,
    alpha: float = 0.5,
    beta: float = 0.1,
    q: int = 2,
    theta_minimax: float = 0.7,
    B: int = 16,
    max_depth: int | None = 6,
    min_samples: int = 2,
    min_child_weight: float = 1.0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SLMBoostClassifier:
    """SLM Boost of the paper, unfitted.

    Second-order boosting as in XGBoost, with trees of `slm_classifier` in place of decision trees: the gain of a split
    and the values of its leaves minimise eq. 35, which has no penalties, and scores start at 0 (eq. 27).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds.
    learning_rate : float, default=0.3
        Shrinkage.
    D0 : int or None, default=5
        Number of features drawn at each node, as in `slm_forest_classifier`.
    p : int, default=50
        Number of directions tested at each node.
    A_int, alpha, beta, q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state
        As in `slm_classifier`.
    min_child_weight : float, default=1.0
        Minimum sum of Hessians in a cell.

    Returns
    -------
    boosting : SLMBoostClassifier
        Not fitted.

    Notes
    -----
    The paper leaves the following open, apart from what `slm_classifier` and `slm_forest_classifier` name, and we
    chose:

    - *Learning rate, depth and minimum weight of a child.* The paper searches the first two for XGBoost and prints no
      value. These are the defaults of XGBoost. Without a minimum weight, the Newton step of a single wrong but sure
      row, divided by a Hessian near 0, would have no bound.
    - *Several classes.* One tree per class and round on the derivatives of the softmax, as in XGBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from planewise import published
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boosting = published.slm_boost_classifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> boosting.score(X[1::2], y[1::2]) > 0.9
    True
    """
    drawn = _drawn(D0, None, p, A_int, alpha, beta)
    tree = _tree(q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state)
    return SLMBoostClassifier(
        loss="log_loss", n_estimators=n_estimators, learning_rate=learning_rate, min_child_weight=min_child_weight,
        **_BOOST, **drawn, **tree,
    )  # fmt: skip


def slr_boost_regressor(
    *,
    n_estimators: int = 100,
    learning_rate: float = 0.3,
    D0: int | None = 5,
    p: int = 50,
    A_int: int = 10,
    alpha: float = 0.5,
    beta: float = 0.1,
    q: int = 2,
    theta_minimax: float = 0.7,
    B: int = 16,
    max_depth: int | None = 6,
    min_samples: int = 2,
    min_child_weight: float = 1.0,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SLMBoostRegressor:
    """SLR Boost of the paper, unfitted.

    As `slm_boost_classifier`, with the squared error (Section V).

    Parameters
    ----------
    n_estimators, learning_rate, D0, p, min_child_weight
        As in `slm_boost_classifier`.
    A_int, alpha, beta, q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state
        As in `slr_regressor`.

    Returns
    -------
    boosting : SLMBoostRegressor
        Not fitted.

    Examples
    --------
    >>> from planewise import published
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> boosting = published.slr_boost_regressor(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> boosting.score(X[1::2], y[1::2]) > 0.7
    True
    """
    drawn = _drawn(D0, None, p, A_int, alpha, beta)
    tree = _tree(q, theta_minimax, B, max_depth, min_samples, n_jobs, random_state)
    return SLMBoostRegressor(
        loss="squared_error", n_estimators=n_estimators, learning_rate=learning_rate,
        min_child_weight=min_child_weight, **_BOOST, **drawn, **tree,
    )  # fmt: skip


def _drawn(R: int | None, D0: int | None, p: int, A_int: int, alpha: float, beta: float) -> dict[str, Any]:
    """How the directions of a node are drawn: R of D0 features."""
    if R is not None and D0 is not None and R > D0:
        raise ValueError(f"R={R} features cannot be drawn from a subspace of D0={D0}; R must be at most D0.")
    return {
        "subspace": "node",
        "subspace_size": next((size for size in (R, D0) if size is not None), EVERY),
        "axis_candidates": "subspace",
        "n_projections": p,
        "max_coef": A_int,
        "min_coef": 0,
        "coef_decay": alpha,
        "rank_decay": beta,
    }


def _tree(
    q: int,
    theta_minimax: float,
    B: int,
    max_depth: int | None,
    min_samples: int,
    n_jobs: int | None,
    random_state: Any,
) -> dict[str, Any]:
    """How nodes choose their planes, and when they stop."""
    return {
        "max_planes": q,
        "plane_choice": "cosine",
        "max_cosine": theta_minimax,
        "min_relative_gain": 0.5,
        "n_bins": B,
        "bins": "uniform",
        "refine_thresholds": False,
        "max_rows_per_node": None,
        "max_ranked_features": None,
        "max_depth": max_depth,
        "max_leaf_nodes": None,
        "min_samples_split": min_samples,
        "min_samples_leaf": 1,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
