"""The text of the parameters and attributes that all trees share, written once."""

from __future__ import annotations

import inspect
from typing import TypeVar

T = TypeVar("T")

_SHARED_PARAMETERS = """\
    max_depth : int or None, default=<max_depth>
        Most levels below the root.
    min_samples_split : int, default=<min_samples_split>
        A node with fewer rows is a leaf.
    min_samples_leaf : int, default=<min_samples_leaf>
        Fewest rows a child may have; a smaller cell joins its nearest neighbour.
    max_leaf_nodes : int or None, default=<max_leaf_nodes>
        Most leaves; if given, nodes are not split level by level, but each time the better half of those that wait.
    max_planes : int, default=<max_planes>
        q: most planes a node may have; it then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default=<plane_choice>
        How further planes of a node are chosen: by what they gain on the cells that exist, or (published) as the good
        candidate whose largest cosine with the chosen planes is smallest.
    max_cosine : float, default=<max_cosine>
        theta_minimax: with "cosine", planes more alike than this end the choice.
    min_relative_gain : float, default=<min_relative_gain>
        1 - rho: candidates whose own gain is below this share of the best one's cannot become a further plane.
    n_projections : int, default=<n_projections>
        p: oblique candidates a node and round; every feature alone is a candidate as well.
    subspace : {"candidate", "node"}, default=<subspace>
        Whether each candidate draws its own features, or (published) all candidates of a round share one draw.
    subspace_size : int or list of int, default=<subspace_size>
        D0 (R): most features a plane may combine. A list means several rounds, their candidates pooled.
    max_coef : int, default=<max_coef>
        A_int: largest coefficient, on standardised features.
    coef_decay : float or list of float, default=<coef_decay>
        alpha: the largest coefficient of the feature of rank d is max(1, floor(max_coef * exp(-alpha * d))).
    rank_decay : float or list of float, default=<rank_decay>
        beta: the feature of rank d is drawn with probability proportional to exp(-beta * d).
    n_bins : int, default=<n_bins>
        B: bins of the one-dimensional test.
    bins : {"uniform", "quantile"}, default=<bins>
        Bins of equal width (published), or of about equally many rows.
    refine_thresholds : bool, default=<refine_thresholds>
        Test again between the bins next to the winner's threshold and put it into the middle of the gap between rows.
        False: thresholds are bin edges (published).
    max_rows_per_node : int{auto_rows} or None, default=<max_rows_per_node>
        Candidates of a node with more rows are judged by that many of them, spread evenly. None: by all, which takes a
        byte a row and candidate.{auto_rows_note}
    max_ranked_features : int or None, default=<max_ranked_features>
        Features a node below the root looks at: half of them the best of its parent, half random. None: all.
    categorical_features : "from_dtype", list or None, default=<categorical_features>
        Which columns are categories: those of a category data type, or the names, numbers or a mask of columns. They
        are split into two sets of categories, alone and never as part of an oblique plane. A category that was not
        there in training goes to the heavier side."""

_TREE_PARAMETERS = """\
    min_impurity_decrease : float, default=<min_impurity_decrease>
        A split must lower the loss, divided by the weight of all rows, by at least this. Entropy is in nats.
    min_loss : float, default=<min_loss>
        A node whose mean loss is not above this is a leaf.
    noise_margin : float, default=<noise_margin>
        A subtree is cut back unless its planes gain more than this times what the best of as many random planes would
        gain by chance. 0 keeps every split (published).
    smoothing : float, default=<smoothing>
        Each node's value is mixed with its parent's as if that many rows more had it. 0: plain means (published)."""

_BOOST_PARAMETERS = """\
    n_estimators : int, default=<n_estimators>
        Rounds.
    learning_rate : float, default=<learning_rate>
        How far each tree moves the scores (shrinkage).
    reg_lambda : float, default=<reg_lambda>
        Added to the Hessian of every cell. 0: published. It shrinks with the mean Hessian of the rows, and so does
        `smoothing` (not below a fiftieth): where a loss makes rows certain, as the log-loss does, less is needed.
    smoothing : float or "auto", default=<smoothing>
        Each node's value is mixed with its parent's as if by that much Hessian more. 0: plain Newton steps (published).
        "auto": found as boosting goes on, between 0 and 32. Every fourth round a fourth of the rows is set aside while
        its trees' planes are chosen, and the strength that would have served these rows best is taken (of a
        weight of two, each half goes by itself). With more than `max_rows_per_tree` rows it is 8. Not for the
        absolute and the quantile loss, whose leaves hold the best constant of their rows.
    min_split_gain : float, default=<min_split_gain>
        What every further cell must gain (often called gamma). 0: published.
    min_child_weight : float, default=<min_child_weight>
        Least sum of Hessians in a child.
    noise_margin : float, default=<noise_margin>
        A split must gain more than this times what the best of as many random cuts would gain by chance.
    max_rows_per_tree : int or None, default=<max_rows_per_tree>
        Of a larger table so many rows, drawn anew for each tree, decide its planes; its values come from all rows.
    subsample : float, default=<subsample>
        Share of the rows each tree is grown on.
    colsample : float, default=<colsample>
        Share of the columns each tree may use.
    monotonic_cst : list of int, dict or None, default=<monotonic_cst>
        By column (or by name): 1 if the score may not fall as the feature rises, -1 if it may not rise, 0 otherwise.
        Nodes then have one plane, and `max_depth` times `max_planes` levels. Not for more than two classes.
    base_score : float or None, default=<base_score>
        Where scores start. None: at the best constant; 0: published.
    early_stopping : bool, default=<early_stopping>
        True stops when the loss on watched rows has not fallen for `n_iter_no_change` rounds, and keeps the rounds up
        to the best one. The rows are `X_val`, `y_val` of ``fit``, or else `validation_fraction` of the training rows.
        False grows and keeps all `n_estimators` rounds, and `X_val`, `y_val` are only watched.
    validation_fraction : float, default=<validation_fraction>
        Share of the rows set aside to be watched.
    n_iter_no_change : int, default=<n_iter_no_change>
        How many rounds without progress end the fit.
    tol : float, default=<tol>
        Minimum improvement that counts as progress.
    callbacks : list of callables or None, default=<callbacks>
        Each is called after every round with the number of rounds so far (1 after the first round of the model, also
        with `warm_start` and from a checkpoint) and a dict of losses; a true answer ends the fit.
    checkpoint : path or None, default=<checkpoint>
        A file for the trees so far, replaced every `checkpoint_every` rounds. A fit on the same data with the same
        parameters goes on from it, to the same model as an undisturbed fit. Needs a whole number as `random_state`.
    checkpoint_every : int, default=<checkpoint_every>
        Rounds between two writes.
    warm_start : bool, default=<warm_start>
        Keep the trees of the last fit and grow only the rounds that are missing. Rounds are counted from the first fit
        on. The rows set aside by `validation_fraction` stay the same. With `early_stopping` the model ends at its best
        round, even if that is one of the earlier fit.
    verbose : int, default=<verbose>
        1 shows a progress line with the losses."""

_BOOST_ATTRIBUTES = """\
    forest_ : FlatForest
        All trees as flat arrays; weights and thresholds are in the units of the data.
    base_score_ : array of shape (n_outputs,)
        Where scores started.
    n_iter_ : int
        Number of rounds in the model: `best_iteration_` with `early_stopping`.
    best_iteration_ : int or None
        Number of rounds with the lowest validation loss, ``evals_result_["validation"][best_iteration_ - 1]``; None if
        no rows were watched.
    feature_means_ : float32 array of shape (n_features,)
        Means of the training columns; NaN for categories.
    categories_ : dict
        The categories of each categorical column, by its number.
    evals_result_ : dict
        Lists with one loss per round, from the first round of the model on: "train" if the training loss was monitored
        (`verbose`, `callbacks`, `checkpoint` or watched rows; built-in losses only), "validation" if rows were watched.
        With `early_stopping` they also hold the rounds after the best one, which are not in the model. After a warm
        start they hold the losses of all rounds on the rows of the last fit.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame."""

_AUTO_ROWS = """ "auto": an eighth of the table's rows, within 2048
        and 8191."""

_FOREST_PARAMETERS = """\
    rows_per_projection : int, default=<rows_per_projection>
        A small node draws at most one oblique candidate for so many of its rows. 0: always `n_projections` (published).
    bootstrap : bool, default=<bootstrap>
        Whether each tree is grown on rows drawn with replacement. False (published): on all rows.
    max_samples : int, float or None, default=<max_samples>
        How many rows are drawn for each tree with `bootstrap`: a number, a share, or as many as there are.
    oob_score : bool or callable, default=<oob_score>
        Whether to judge the forest by its out-of-bag rows: each by the trees that have not seen it. By accuracy or R2,
        or by a function of the true and the predicted targets."""

_FOREST_CLOSING_PARAMETERS = """\
    warm_start : bool, default=<warm_start>
        Keep the trees of the last fit and grow only those that are missing; the same as growing all at once.
    verbose : int, default=<verbose>
        1 shows a progress line."""

_FOREST_ATTRIBUTES = """\
    forest_ : FlatForest
        All trees as flat arrays; weights and thresholds are in the units of the data. Values are the probabilities (of
        the second class alone if there are two), or what a tree adds to the mean of the targets.
    n_planes_ : int
        Planes in the whole forest.
    n_parameters_ : int
        Model size as the paper counts it (eq. 37): planes * (D0 + 1).
    n_stored_numbers_, n_bytes_ : int
        Non-zero weights, thresholds and leaf values; and the bytes prediction needs.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    feature_means_ : float32 array of shape (n_features,)
        Means of the training columns; NaN for categories.
    categories_ : dict
        The categories of each categorical column, by its number.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame.
    oob_score_ : float
        The score of the out-of-bag predictions, if `oob_score`."""

_CLOSING_PARAMETERS = """\
    n_jobs : int or None, default=<n_jobs>
        Threads; -1 means all cores. The model is the same for any number of them.
    random_state : int, RandomState or None, default=<random_state>
        Seed of all that is drawn: candidates, rows, columns, a validation part."""

_TREE_ATTRIBUTES = """\
    tree_ : FlatTree
        The fitted tree as flat arrays; weights and thresholds are in the units of the data.
    depth_ : int
        Levels below the root.
    n_planes_ : int
        Planes in the whole tree.
    n_parameters_ : int
        Model size as the paper counts it (eq. 37): planes * (D0 + 1).
    n_stored_numbers_, n_bytes_ : int
        Non-zero weights, thresholds and leaf values; and the bytes prediction needs.
    nodes_per_level_ : list of int
        How many nodes each level has.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain.
    categories_ : dict
        The categories of each categorical column, by its number.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame."""


def document_growth(cls: type[T]) -> type[T]:
    """Fill the shared parts into a class docstring, with the class's own defaults."""
    text = cls.__doc__ or ""
    for name, part in (
        ("growth_parameters", _SHARED_PARAMETERS),
        ("tree_parameters", _TREE_PARAMETERS),
        ("boost_parameters", _BOOST_PARAMETERS),
        ("forest_parameters", _FOREST_PARAMETERS),
        ("forest_closing_parameters", _FOREST_CLOSING_PARAMETERS),
        ("forest_attributes", _FOREST_ATTRIBUTES),
        ("closing_parameters", _CLOSING_PARAMETERS),
        ("tree_attributes", _TREE_ATTRIBUTES),
        ("boost_attributes", _BOOST_ATTRIBUTES),
    ):
        text = text.replace("    {" + name + "}", part)
    boosts = "max_rows_per_tree" in inspect.signature(cls).parameters
    text = text.replace("{auto_rows}", ', "auto"' if boosts else "")
    text = text.replace("{auto_rows_note}", _AUTO_ROWS if boosts else "")
    for name, parameter in inspect.signature(cls).parameters.items():
        default = parameter.default
        text = text.replace(f"<{name}>", f'"{default}"' if isinstance(default, str) else repr(default))
    cls.__doc__ = text
    return cls
