"""RECIP as its paper has it: Algorithm 1, its lassos, voting, and views that are given.

M. Fiterau, A. Dubrawski, "Projection retrieval for classification", NIPS 2012.
"""

from __future__ import annotations

from typing import Any

from planewise.recip import RECIPClassifier

ALL_VIEWS = 10**9  # as max_candidates: every view of up to d features is tried, or refused for its memory
LAM = 9.0  # with alpha = 1/2


def recip(
    d: int = 2,
    k: int = 1,
    alpha: float = 0.5,
    lam: float | None = None,
    *,
    all_features: bool = False,
    scaling: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RECIPClassifier:
    """RECIP as published: Algorithm 1 chooses the views, and eq. 9 classifies each query in one of them.

    The local entropy of a row in a view is the ratio of distances of eq. 5 (``estimate="distances"``). Algorithm 1
    (``selection="recip"``) minimises, round by round, the squared distance to each row's best entropy plus `lam` times
    the penalties of the views, over all views of up to `d` features and all rows (``max_candidates``, ``max_rows``). It
    returns every view that any row uses (``keep="used"``). A query gets the view and class of the smallest ratio
    (eq. 9, ``decide="select"``).

    Parameters
    ----------
    d : int, default=2
        Maximum number of features of a view. The paper uses 2 for its artificial data.
    k : int, default=1
        Which neighbour's distance is taken on both sides. The paper prints no value.
    alpha : float, default=0.5
        Order of the Tsallis divergence in eqs. 2 to 9, below 1. See Notes.
    lam : float or None, default=None
        Lambda of eq. 8: the penalty on using many views. None: 9 · (2 (1 - alpha))², which is 9 for the default alpha.
        See Notes.
    all_features : bool, default=False
        Whether the view of all features is a candidate as well. The paper sets d to the number of features for its real
        data; where that is too many views to try, this adds the one view that it names as chosen (Vowel).
    scaling : {"standard", "arcsinh", None}, default=None
        How columns are scaled before distances are taken. The paper mentions no scaling.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed. Algorithm 1 itself is not random.

    Returns
    -------
    model : RECIPClassifier
        Not fitted.

    See Also
    --------
    recip_voting : The same views, but all of them vote.
    recip_known : Views that are given.
    planewise.RECIPClassifier : Our defaults, and what each setting means.

    Notes
    -----
    What the paper leaves open, and what we chose:

    - **alpha**: "a value close to 1", without a number. It changes neither a row's best view nor eq. 9, only what `lam`
      means: near 1, differences of entropies are proportional to 1 - alpha, so that `lam` must shrink with its square.
      The default of `lam` does; ``set_params(tsallis_order=...)`` afterwards does not change it. We use 1/2, with which
      the entropy in a view of two features is the ratio of distances itself. Of 0.5, 0.9 and 0.99, each with its best
      `lam`, 0.5 is nearest to the recall of Table 1 (``python -m benchmarks.reproduce recip-lam``).
    - **lam**: not printed. With alpha = 1/2 and values around 9, the recall of the main views (below) is nearest
      to Table 1.
    - **Views that are kept**: solved exactly, Algorithm 1 lets some rows use nearly every candidate a little, so that
      the rule ``|B_i| > 0`` keeps most of them, and Table 1's precision is out of reach. ``set_params(keep="best")``
      keeps the views that are the largest part of a row for more than 1 % of the rows (``min_support``).
    - **Convergence**: the loop ends when no penalty changes by 1e-6, or after 50 rounds.
    - **Large ratios**: eq. 5 is unbounded, and infinite where another class has the same values; entropies are capped
      at 10. If both distances are 0, the ratio is 1.
    - **Duplicates**: rows with equal values and label are one row of their total weight.
    - **Ties** of eq. 9: the class whose opponents are farther, then the view of fewer features.
    - **Many features**: all views are tried; if their entropies do not fit in memory, ``fit`` says so.
    - **More than two classes**: "not y" stands for all other classes.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.published import recip
    >>> X = np.random.default_rng(0).uniform(size=(1300, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> model = recip().fit(X[:1000], y[:1000])
    >>> (0, 1) in model.projections_
    True
    >>> main_views = recip().set_params(keep="best").fit(X[:1000], y[:1000])
    >>> main_views.projections_
    [(0, 1)]
    """
    penalty = LAM * (2 * (1 - alpha)) ** 2 if lam is None else lam
    settings = {"lam": penalty, "include_all_features": all_features, "n_jobs": n_jobs, "random_state": random_state}
    return _published(d, k, alpha, scaling, selection="recip", keep="used", **settings)


def recip_voting(
    d: int = 2,
    k: int = 1,
    alpha: float = 0.5,
    lam: float | None = None,
    *,
    scaling: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RECIPClassifier:
    """RECIP's views in a voting model: each view votes for its own class (Table 4).

    The views are those of :func:`recip`. In each of them, eq. 9 finds a class; the class with most votes is the answer
    (``decide="vote"``). A tie goes to the last class, which is class 1 in the paper.

    Parameters
    ----------
    d, k, alpha, lam, scaling, n_jobs, random_state
        As in :func:`recip`.

    Returns
    -------
    model : RECIPClassifier
        Not fitted.

    See Also
    --------
    recip : The same views, one of which answers; what the paper leaves open.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.published import recip, recip_voting
    >>> X = np.random.default_rng(0).uniform(size=(1300, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> model = recip_voting().fit(X[:400], y[:400])
    >>> 0.7 < model.score(X[400:], y[400:]) < recip().fit(X[:400], y[:400]).score(X[400:], y[400:])
    True
    """
    model = recip(d, k, alpha, lam, scaling=scaling, n_jobs=n_jobs, random_state=random_state)
    return model.set_params(decide="vote")


def recip_known(
    projections: Any,
    k: int = 1,
    alpha: float = 0.5,
    *,
    voting: bool = False,
    scaling: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RECIPClassifier:
    """RECIP with views that are known: nothing is chosen, eq. 9 or a vote answers (Tables 2 and 4).

    Parameters
    ----------
    projections : list of tuples
        The views, by column number or name.
    k, alpha, scaling, n_jobs
        As in :func:`recip`.
    voting : bool, default=False
        Whether the views vote, as in Table 4, instead of eq. 9 choosing one of them, as in Table 2.
    random_state : int, RandomState or None, default=None
        Without effect: nothing is random.

    Returns
    -------
    model : RECIPClassifier
        Not fitted.

    See Also
    --------
    recip : The views are found; what the paper leaves open.

    Notes
    -----
    A view that is named twice counts once. In the paper's Table 4, each batch's pair seems to vote, a pair of two
    batches twice (``python -m benchmarks.reproduce recip-known``).

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.published import recip_known
    >>> X = np.random.default_rng(0).uniform(size=(1300, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> model = recip_known([(0, 1)]).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.85
    True
    """
    settings = {"decide": "vote" if voting else "select", "n_jobs": n_jobs, "random_state": random_state}
    return _published(1, k, alpha, scaling, projections=projections, **settings)


def recip_lasso(
    d: int = 2,
    k: int = 1,
    alpha: float = 0.5,
    lam: float | None = None,
    t: int | None = None,
    *,
    scaling: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RECIPClassifier:
    """The paper's comparison: a lasso of the best entropies on the entropies of all views (Section 2.4).

    The coefficients minimise ‖T - Zβ‖₂ + λ‖β‖₁, with Z as it is (``unit_columns=False``). The views that have one are
    kept, and eq. 9 answers. The lasso has one coefficient per view for all rows, so it is not specific to a query.

    Parameters
    ----------
    d, k, alpha, scaling, n_jobs
        As in :func:`recip`.
    lam : float or None, default=None
        The penalty λ. The paper prints no value; None takes the best of four by cross-validation.
    t : int or None, default=None
        Maximum number of views: those of the largest coefficients.
    random_state : int, RandomState or None, default=None
        Seed of the cross-validation folds.

    Returns
    -------
    model : RECIPClassifier
        Not fitted.

    See Also
    --------
    recip_robust_lasso : One view at a time, on reweighted rows.
    recip : What the paper leaves open.

    Notes
    -----
    If the penalty leaves no coefficient, the view of the smallest mean entropy is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.published import recip_lasso
    >>> X = np.random.default_rng(0).uniform(size=(1300, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> len(recip_lasso(t=1, random_state=0).fit(X[:400], y[:400]).projections_)
    1
    """
    settings = {"lam": lam, "max_projections": t, "n_jobs": n_jobs, "random_state": random_state}
    return _published(d, k, alpha, scaling, selection="lasso", unit_columns=False, **settings)


def recip_robust_lasso(
    d: int = 2,
    k: int = 1,
    alpha: float = 0.5,
    lam: float | None = None,
    t: int | None = None,
    *,
    scaling: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> RECIPClassifier:
    """The paper's comparison: the lasso repeated on reweighted rows, one view at a time (Section 2.4).

    Parameters
    ----------
    d, k, alpha, lam, scaling, n_jobs, random_state
        As in :func:`recip_lasso`.
    t : int or None, default=None
        Maximum number of views, one per round; None: up to 20.

    Returns
    -------
    model : RECIPClassifier
        Not fitted.

    See Also
    --------
    recip_lasso : All views at once.
    recip : What the paper leaves open.

    Notes
    -----
    The paper says only that the robust lasso finds projections iteratively, "reweighting the data thus focusing on
    different subsets of it". Here, each round adds the view of the largest coefficient, and a row then weighs what the
    views so far lack to its best entropy. It ends when no row is left open, or when a new view is the best for no row.

    Examples
    --------
    >>> import numpy as np
    >>> from planewise.published import recip_robust_lasso
    >>> X = np.random.default_rng(0).uniform(size=(1300, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> len(recip_robust_lasso(t=2, random_state=0).fit(X[:400], y[:400]).projections_) <= 2
    True
    """
    settings = {"lam": lam, "max_projections": t, "n_jobs": n_jobs, "random_state": random_state}
    return _published(d, k, alpha, scaling, selection="robust_lasso", unit_columns=False, min_support=0.0, **settings)


def _published(d: int, k: int, alpha: float, scaling: str | None, **settings: Any) -> RECIPClassifier:
    """What all of them share: distances (eq. 5), all views, all rows."""
    return RECIPClassifier(
        d,
        k=k,
        estimate="distances",
        tsallis_order=alpha,
        max_candidates=ALL_VIEWS,
        max_rows=None,
        scaling=scaling,
        **settings,
    )
