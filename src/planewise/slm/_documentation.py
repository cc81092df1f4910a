"""The text of the parameters and attributes that all trees share, written once."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

_SHARED_PARAMETERS = """\
    max_depth : int or None, default=None
        Most levels below the root.
    min_samples_split : int, default=2
        A node with fewer rows is a leaf.
    min_samples_leaf : int, default=1 for classes, 5 for numbers
        Fewest rows a child may have; a smaller cell joins its nearest neighbour.
    max_leaf_nodes : int or None, default=None
        Most leaves; if given, the node with the largest gain is split first instead of level by level.
    min_impurity_decrease : float, default=0.0
        A split must lower the loss, divided by the weight of all rows, by at least this. Entropy is in nats.
    min_loss : float, default=0.0
        A node whose mean loss is not above this is a leaf.
    noise_margin : float, default=0.75
        A subtree is cut back unless its planes gain more than this times what the best of as many random planes would
        gain by chance. 0 keeps every split (published).
    smoothing : float, default=4.0
        Each node's value is mixed with its parent's as if that many rows more had it. 0: plain means (published).
    max_planes : int, default=2
        q: most planes a node may have; it then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default="joint"
        How further planes of a node are chosen: by what they gain on the cells that exist, or (published) as the good
        candidate whose largest cosine with the chosen planes is smallest.
    max_cosine : float, default=0.7
        theta_minimax: with "cosine", planes more alike than this end the choice.
    min_relative_gain : float, default=0.5
        1 - rho: candidates whose own gain is below this share of the best one's cannot become a further plane.
    n_projections : int, default=200
        p: oblique candidates a node and round; every feature alone is a candidate as well.
    subspace : {"candidate", "node"}, default="candidate"
        Whether each candidate draws its own features, or (published) all candidates of a round share one draw.
    subspace_size : int or list of int, default=2
        D0 (R): most features a plane may combine. A list means several rounds, their candidates pooled.
    max_coef : int, default=5
        A_int: largest coefficient, on standardised features.
    coef_decay : float or list of float, default=0.0
        alpha: the largest coefficient of the feature of rank d is max(1, floor(max_coef * exp(-alpha * d))).
    rank_decay : float or list of float, default=0.1
        beta: the feature of rank d is drawn with probability proportional to exp(-beta * d).
    n_bins : int, default=16
        B: bins of the one-dimensional test.
    bins : {"uniform", "quantile"}, default="uniform"
        Bins of equal width (published), or of about equally many rows.
    refine_thresholds : bool, default=True
        Test again between the bins next to the winner's threshold and put it into the middle of the gap between rows.
        False: thresholds are bin edges (published).
    max_rows_per_node : int or None, default=4096
        Candidates of a node with more rows are judged by that many of them, spread evenly. None: by all.
    max_features : int or None, default=None
        Features a node below the root looks at: half of them the best of its parent, half random. None: all."""

_CLOSING_PARAMETERS = """\
    n_jobs : int or None, default=None
        Threads; -1 means all cores. The model is the same for any number of them.
    random_state : int, RandomState or None, default=None
        Seed of the drawn candidates."""

_ATTRIBUTES = """\
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
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``fit`` got a data frame."""


def document_growth(cls: type[T]) -> type[T]:
    """Fill the shared parts into a class docstring."""
    text = cls.__doc__ or ""
    for name, part in (
        ("shared_parameters", _SHARED_PARAMETERS),
        ("closing_parameters", _CLOSING_PARAMETERS),
        ("attributes", _ATTRIBUTES),
    ):
        text = text.replace("    {" + name + "}", part)
    cls.__doc__ = text
    return cls
