"""The text of the parameters and attributes that the classifier and the regressor share, written once."""

from __future__ import annotations

import inspect
from typing import TypeVar

T = TypeVar("T")

_PARTS = {
    "search_parameters": """\
    max_dim : int, default=<max_dim>
        d: most features of a view. All views of one and two features are candidates; larger ones are all of them where
        they fit into `max_candidates`, else they are grown from the best smaller ones, which can miss a parity of three
        features no pair of which says anything.""",
    "choice_parameters": """\
    lam : float or None, default=<lam>
        lambda of "recip": the price of spreading rows over many views; larger means fewer views. None: found by
        cross-validation over 0.3, 1, 3 and 10, unless `max_projections` is given. For "lasso" and "robust_lasso" the
        weight of the absolute coefficients; None: cross-validation over shares of the largest that leaves a view.
    max_projections : int or None, default=<max_projections>
        t: most views to keep. "recip" without `lam` then chooses them greedily, with swaps.
    min_support : float, default=<min_support>
        Views that are the best for no more than this share of the rows are dropped; "answers" and "greedy" end when a
        view adds less than making so many rows clear.
    max_candidates : int or None, default=<max_candidates>
        Most candidate views. If there are more, they are screened on a few hundred rows. Every candidate takes four
        bytes a row. None: all of one and two features.
    max_rows : int or None, default=<max_rows>
        Most rows that choose the views, drawn at random; their neighbours are sought among all rows. None: all.
    projections : list of tuples or None, default=<projections>
        Views to use as they are, by column number or name, instead of a search.
    include_all_features : bool, default=<include_all_features>
        Whether the view of all features is one more candidate.""",
    "table_parameters": """\
    categorical_features : "from_dtype", list or None, default=<categorical_features>
        Columns that hold categories: those with a category dtype, or these (names, numbers or a mask). Two different
        categories are so far apart that the mean squared distance of two rows is that of a standardised column. Ordered
        categories (pandas' ordered, polars' Enum) count by their ranks, as do numbers that are ranks.
    scale : {"standard", True, False}, default=<scale>
        "standard": columns are standardised. True: and their long tails drawn in (arcsinh). False: as they are.""",
    "closing_parameters": """\
    n_jobs : int or None, default=<n_jobs>
        Threads; -1 means all cores. The model is the same for any number of them.
    verbose : int or bool, default=<verbose>
        Whether to show progress on stderr.
    random_state : int, RandomState or None, default=<random_state>
        Seed of the folds of the cross-validation and of the rows for screening; nothing else is random.""",
    "attributes": """\
    projections_ : list of tuples of int
        The features of each kept view, the most used view first.
    projection_names_ : list of tuples of str
        Their names.
    projection_support_ : array of shape (n_views,)
        The share of the training rows (by weight) that each view serves best.
    projection_entropy_ : array of shape (n_views,)
        The mean loss of those rows in it: eq. 3, up to its constant; the smaller the better.
    optimality_gap_ : float
        Mean loss by the kept views, less the bound (7): every row's best candidate view.
    n_candidates_ : int
        Candidate views judged on all rows.
    lam_ : float or None
        The price used; None where none was needed.
    lam_losses_ : dict or None
        The held-out loss of every price tried.
    objective_ : array of shape (n_rounds,)
        The objective by round of Algorithm 1; it never rises.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.""",
}


def document_views(cls: type[T]) -> type[T]:
    """Fill the shared parts into a class docstring, with the class's own defaults."""
    text = cls.__doc__ or ""
    for name, part in _PARTS.items():
        text = text.replace("    {" + name + "}", part)
    for name, parameter in inspect.signature(cls).parameters.items():
        default = parameter.default
        text = text.replace(f"<{name}>", f'"{default}"' if isinstance(default, str) else repr(default))
    cls.__doc__ = text
    return cls
