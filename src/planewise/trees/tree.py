"""One tree of hyperplanes: the subspace learning machine (SLM) and its regressor (SLR)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._params import Limit, check_parameters, class_weights, keep_parameters, one_of
from planewise.data.problem import (
    SQUARED,
    all_or_nothing,
    class_problem,
    number_problem,
    prediction_rows,
    thread_count,
)
from planewise.trees.arrays import Forest
from planewise.trees.constraints import constrain
from planewise.trees.explain import ExplainsByPath
from planewise.trees.growth import (
    SINGLE_TREE_LIMITS,
    TreeEstimator,
    most_terms,
    training_table,
    tree_options,
)


class _SLMTree(ExplainsByPath, TreeEstimator):
    """What the classifier and the regressor share."""

    parameter_limits: ClassVar[Mapping[str, Limit]] = SINGLE_TREE_LIMITS
    tree_: Forest
    feature_means_: NDArray[np.float32]

    def _options(self, n_classes: int = 1) -> _core.GrowOptions:
        options = tree_options(self, self._new_seed())
        constrain(options, self, n_classes)
        return options

    def _keep(
        self,
        tree: _core.Forest,
        totals: NDArray[np.float64],
        means: NDArray[np.float32],
        options: _core.GrowOptions,
        centre: float = 0.0,
    ) -> None:
        """Make the grown tree this estimator's; `totals` are sums by leaf, the weight last."""
        self.tree_ = Forest(tree.with_means(totals, self.smoothing, centre, options.monotone))
        self.feature_means_ = means
        self.depth_ = self.tree_.max_depth
        self.n_planes_ = self.tree_.n_planes
        self.n_parameters_ = self.n_planes_ * (most_terms(self) + 1)
        self.nodes_per_level_ = self.tree_.nodes_per_level

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The node in which each row ends.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)

        Returns
        -------
        nodes : int32 array of shape (n_samples,)
            A leaf; or, for a row in a cell without training rows, the inner node whose value it gets.
        """
        check_is_fitted(self)
        return self.tree_.apply(prediction_rows(self, X), thread_count(self.n_jobs))[:, 0]

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes each row passes, as a sparse indicator matrix of shape (n_samples, n_nodes)."""
        nodes = self.apply(X)
        return self.tree_.decision_path(nodes)

    def get_depth(self) -> int:
        """Number of levels below the root."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of nodes without planes."""
        check_is_fitted(self)
        return self.tree_.n_leaves


class SLMClassifier(ClassifierMixin, _SLMTree):
    """A wide and shallow classification tree whose nodes split by several oblique planes at once.

    Each node ranks the features by a one-dimensional test, draws sparse integer directions that favour the better
    ones, and keeps up to ``max_planes`` planes; with q planes it has up to 2^q children. Weights and thresholds of the
    fitted planes are in the units of the data. Symbols before a colon, such as ``p:``, are those of the SLM paper.

    Parameters
    ----------
    criterion : {"entropy", "gini"}, default="entropy"
        Loss of a node.
    max_depth : int or None, default=None
        Maximum depth of the tree; None for no limit.
    min_samples_split : int, default=2
        Minimum number of rows for a node to be split.
    min_samples_leaf : int, default=1
        Minimum number of rows in a child; a smaller cell is merged with its nearest neighbour.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. If given, growth is not level by level: each step splits the most promising half of
        the open nodes.
    min_impurity_decrease : float, default=0.0
        A split must lower the loss, divided by the weight of all rows, by at least this. Entropy is in nats.
    min_loss : float, default=0.0
        A node whose mean loss is at most this is a leaf.
    noise_margin : float, default=0.75
        A split must gain more than this times the gain expected by chance from the best of the same number of random
        planes. 0 keeps every split, as in the paper.
    smoothing : float, default=4.0
        Weight of the parent's value in a node's value, in rows. 0 gives plain means, as in the paper.
    max_planes : int, default=2
        q: maximum number of planes per node, which then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default="joint"
        How further planes of a node are chosen: "joint" takes the one that gains most on the existing cells; "cosine",
        as in the paper, the good candidate that is least similar to the planes chosen so far.
    max_cosine : float, default=0.7
        theta_minimax: with "cosine", planes more similar than this are not added.
    min_relative_gain : float, default=0.5
        1 - rho: a further plane must gain, on its own, at least this share of what the best candidate gains.
    n_projections : int, default=200
        p: number of oblique candidates per node and round; every single feature is a candidate as well, unless
        `axis_candidates` says otherwise.
    subspace : {"candidate", "node"}, default="candidate"
        Whether each candidate draws its own features, or all candidates of a round share one draw, as in the paper.
    subspace_size : int or list of int, default=2
        R: maximum number of features in a plane. A list gives several rounds, whose candidates are pooled.
    root_features : int or None, default=None
        D0: number of features that a tree may use, those that separate best at its root. None allows all.
    axis_candidates : {"all", "subspace", "none"}, default="all"
        Which features are candidates on their own: all of them, those in the node's draw (as in the paper; needs
        ``subspace="node"``), or none. Categorical columns always are. With "none", a node in which fewer than two
        features can be combined is a leaf.
    max_coef : int, default=5
        A_int: largest coefficient, on standardised features.
    min_coef : {0, 1}, default=1
        Lower limit of the largest coefficient of a feature. 0, as in the paper, lets features of low rank fade out.
    coef_decay : float or list of float, default=0.0
        alpha: the largest coefficient of the feature of rank d is max(min_coef, floor(max_coef * exp(-alpha * d))).
    rank_decay : float or list of float, default=0.1
        beta: the feature of rank d is drawn with probability proportional to exp(-beta * d).
    n_bins : int, default=16
        B: number of bins of the one-dimensional test.
    bins : {"uniform", "robust", "quantile"}, default="uniform"
        Bins of equal width, as in the paper ("uniform"); the same, but where a few far values take most of the range,
        only over the range of the others ("robust"); or bins with about equally many rows ("quantile").
    refine_thresholds : bool, default=True
        Test again between the bins next to the best threshold, and put it midway between two rows. False keeps
        thresholds on the edges of bins, as in the paper.
    max_rows_per_node : int or None, default=4096
        Candidates of a node with more rows are judged by this many of them, spread evenly. None uses all rows, which
        takes one byte per row and candidate.
    max_ranked_features : int or None, default=None
        Number of features that a node below the root considers: half of them the best of its parent, half random. None
        considers all.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask. Planes
        split such a column alone, into two sets of categories. An unseen category goes to the heavier side.
    monotonic_cst : list of int, dict or None, default=None
        By column (or by name): 1 if the probability of the second class may not fall as the feature rises, -1 if it may
        not rise, 0 otherwise. Nodes then have one plane, and trees `max_depth` times `max_planes` levels. Not for more
        than two classes.
    interaction_cst : "pairwise", "no_interactions", list of groups or None, default=None
        Which columns may be used together. The columns of all planes on a path from the root to a leaf lie in one
        group, a list or set of names or numbers; columns in no group form a further one. "pairwise" lets any two
        columns meet, "no_interactions" none. A tree without interactions uses a single column.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    tree_ : Forest
        The fitted tree as flat arrays; weights and thresholds are in the units of the data.
    depth_ : int
        Number of levels below the root.
    n_planes_ : int
        Number of planes in the tree.
    n_parameters_ : int
        Model size as the paper counts it (eq. 37): planes * (D0 + 1).
    n_stored_numbers_, n_bytes_ : int
        Number of non-zero weights, thresholds and leaf values; and the bytes that prediction needs.
    nodes_per_level_ : list of int
        Number of nodes on each level.
    feature_means_ : float32 array of shape (n_features,)
        Means of the training columns, from their origins; NaN for categories.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    categories_ : dict
        The categories of each categorical column, by its number.
    feature_origins_ : dict
        By the number of the column, for columns that float32 cannot resolve, such as seconds since 1970 over ten
        minutes: the number that is subtracted in float64 before the trees read the column. Empty for ordinary tables.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.

    See Also
    --------
    SLMRegressor : The same tree for regression.

    References
    ----------
    .. [1] H. Fu, Y. Yang, V. K. Mishra, C.-C. J. Kuo, "Subspace Learning Machine (SLM): Methodology and
       Performance", 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import SLMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = SLMClassifier(random_state=0).fit(X, y)
    >>> tree.score(X, y) > 0.95
    True
    >>> tree.n_planes_ < 10
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = SINGLE_TREE_LIMITS | {
        "criterion": one_of("entropy", "gini"),
        "class_weight": class_weights(),
    }
    criterion: str
    class_weight: Any
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_loss: float = 0.0,
        noise_margin: float = 0.75,
        smoothing: float = 4.0,
        max_planes: int = 2,
        plane_choice: str = "joint",
        max_cosine: float = 0.7,
        min_relative_gain: float = 0.5,
        n_projections: int = 200,
        subspace: str = "candidate",
        subspace_size: int | list[int] = 2,
        root_features: int | None = None,
        axis_candidates: str = "all",
        max_coef: int = 5,
        min_coef: int = 1,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 4096,
        max_ranked_features: int | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; an integer weighs as much as that many equal rows, and zero leaves a row out. `noise_margin`
            and `smoothing` therefore see more evidence in larger weights: scale weights that are not counts to a mean
            of one. (`min_samples_leaf` and `min_samples_split` count rows.)

        Returns
        -------
        self
        """
        check_parameters(self)
        problem = class_problem(self, X, y, sample_weight, class_weight=self.class_weight)
        label, weight, n_classes = problem.label, problem.weight, len(problem.classes)
        options, threads = self._options(n_classes), thread_count(self.n_jobs)
        table = training_table(self, problem.rows, weight, threads)
        tree, leaf = _core.grow_classes(table, label, weight, n_classes, self.criterion == "gini", options, threads)
        counts = _sums_by(leaf * np.int64(n_classes) + label, weight, len(tree.parent) * n_classes)
        counts = counts.reshape(-1, n_classes)
        self._keep(tree, np.column_stack([counts, counts.sum(axis=1)]), table.mean, options)
        self.classes_ = problem.classes
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``."""
        nodes = self.apply(X)
        return self.tree_.value[nodes]

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        nodes = self.apply(X)
        return self.classes_[self.tree_.value.argmax(axis=1)][nodes]


class SLMRegressor(RegressorMixin, _SLMTree):
    """A wide and shallow regression tree whose nodes split by several oblique planes at once (the paper's SLR).

    Symbols before a colon, such as ``p:``, are those of the SLM paper.

    Parameters
    ----------
    max_depth : int or None, default=None
        Maximum depth of the tree; None for no limit.
    min_samples_split : int, default=2
        Minimum number of rows for a node to be split.
    min_samples_leaf : int, default=5
        Minimum number of rows in a child; a smaller cell is merged with its nearest neighbour.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. If given, growth is not level by level: each step splits the most promising half of
        the open nodes.
    min_impurity_decrease : float, default=0.0
        A split must lower the loss, divided by the weight of all rows, by at least this. Entropy is in nats.
    min_loss : float, default=0.0
        A node whose mean loss is at most this is a leaf.
    noise_margin : float, default=0.75
        A split must gain more than this times the gain expected by chance from the best of the same number of random
        planes. 0 keeps every split, as in the paper.
    smoothing : float, default=4.0
        Weight of the parent's value in a node's value, in rows. 0 gives plain means, as in the paper.
    max_planes : int, default=2
        q: maximum number of planes per node, which then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default="joint"
        How further planes of a node are chosen: "joint" takes the one that gains most on the existing cells; "cosine",
        as in the paper, the good candidate that is least similar to the planes chosen so far.
    max_cosine : float, default=0.7
        theta_minimax: with "cosine", planes more similar than this are not added.
    min_relative_gain : float, default=0.5
        1 - rho: a further plane must gain, on its own, at least this share of what the best candidate gains.
    n_projections : int, default=200
        p: number of oblique candidates per node and round; every single feature is a candidate as well, unless
        `axis_candidates` says otherwise.
    subspace : {"candidate", "node"}, default="candidate"
        Whether each candidate draws its own features, or all candidates of a round share one draw, as in the paper.
    subspace_size : int or list of int, default=2
        R: maximum number of features in a plane. A list gives several rounds, whose candidates are pooled.
    root_features : int or None, default=None
        D0: number of features that a tree may use, those that separate best at its root. None allows all.
    axis_candidates : {"all", "subspace", "none"}, default="all"
        Which features are candidates on their own: all of them, those in the node's draw (as in the paper; needs
        ``subspace="node"``), or none. Categorical columns always are. With "none", a node in which fewer than two
        features can be combined is a leaf.
    max_coef : int, default=5
        A_int: largest coefficient, on standardised features.
    min_coef : {0, 1}, default=1
        Lower limit of the largest coefficient of a feature. 0, as in the paper, lets features of low rank fade out.
    coef_decay : float or list of float, default=0.0
        alpha: the largest coefficient of the feature of rank d is max(min_coef, floor(max_coef * exp(-alpha * d))).
    rank_decay : float or list of float, default=0.1
        beta: the feature of rank d is drawn with probability proportional to exp(-beta * d).
    n_bins : int, default=16
        B: number of bins of the one-dimensional test.
    bins : {"uniform", "robust", "quantile"}, default="uniform"
        Bins of equal width, as in the paper ("uniform"); the same, but where a few far values take most of the range,
        only over the range of the others ("robust"); or bins with about equally many rows ("quantile").
    refine_thresholds : bool, default=True
        Test again between the bins next to the best threshold, and put it midway between two rows. False keeps
        thresholds on the edges of bins, as in the paper.
    max_rows_per_node : int or None, default=4096
        Candidates of a node with more rows are judged by this many of them, spread evenly. None uses all rows, which
        takes one byte per row and candidate.
    max_ranked_features : int or None, default=None
        Number of features that a node below the root considers: half of them the best of its parent, half random. None
        considers all.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask. Planes
        split such a column alone, into two sets of categories. An unseen category goes to the heavier side.
    monotonic_cst : list of int, dict or None, default=None
        By column (or by name): 1 if the prediction may not fall as the feature rises, -1 if it may not rise, 0
        otherwise. Nodes then have one plane, and trees `max_depth` times `max_planes` levels.
    interaction_cst : "pairwise", "no_interactions", list of groups or None, default=None
        Which columns may be used together. The columns of all planes on a path from the root to a leaf lie in one
        group, a list or set of names or numbers; columns in no group form a further one. "pairwise" lets any two
        columns meet, "no_interactions" none. A tree without interactions uses a single column.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed.

    Attributes
    ----------
    tree_ : Forest
        The fitted tree as flat arrays; weights and thresholds are in the units of the data.
    depth_ : int
        Number of levels below the root.
    n_planes_ : int
        Number of planes in the tree.
    n_parameters_ : int
        Model size as the paper counts it (eq. 37): planes * (D0 + 1).
    n_stored_numbers_, n_bytes_ : int
        Number of non-zero weights, thresholds and leaf values; and the bytes that prediction needs.
    nodes_per_level_ : list of int
        Number of nodes on each level.
    feature_means_ : float32 array of shape (n_features,)
        Means of the training columns, from their origins; NaN for categories.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    categories_ : dict
        The categories of each categorical column, by its number.
    feature_origins_ : dict
        By the number of the column, for columns that float32 cannot resolve, such as seconds since 1970 over ten
        minutes: the number that is subtracted in float64 before the trees read the column. Empty for ordinary tables.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.

    See Also
    --------
    SLMClassifier : The same tree for classification.

    Examples
    --------
    >>> from planewise import SLMRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> tree = SLMRegressor(random_state=0).fit(X[:600], y[:600])
    >>> tree.score(X[600:], y[600:]) > 0.6
    True
    """

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 5,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_loss: float = 0.0,
        noise_margin: float = 0.75,
        smoothing: float = 4.0,
        max_planes: int = 2,
        plane_choice: str = "joint",
        max_cosine: float = 0.7,
        min_relative_gain: float = 0.5,
        n_projections: int = 200,
        subspace: str = "candidate",
        subspace_size: int | list[int] = 2,
        root_features: int | None = None,
        axis_candidates: str = "all",
        max_coef: int = 5,
        min_coef: int = 1,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 4096,
        max_ranked_features: int | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; an integer weighs as much as that many equal rows, and zero leaves a row out. `noise_margin`
            and `smoothing` therefore see more evidence in larger weights: scale weights that are not counts to a mean
            of one. (`min_samples_leaf` and `min_samples_split` count rows.)

        Returns
        -------
        self
        """
        check_parameters(self)
        problem = number_problem(self, X, y, sample_weight, targets=SQUARED)
        options, threads = self._options(), thread_count(self.n_jobs)
        weight = problem.weight
        centre = np.average(problem.target, weights=weight)
        centred = problem.target - centre
        table = training_table(self, problem.rows, weight, threads)
        tree, leaf = _core.grow_numbers(table, centred, weight, options, threads)
        n_nodes = len(tree.parent)
        totals = np.column_stack([_sums_by(leaf, weight * centred, n_nodes), _sums_by(leaf, weight, n_nodes)])
        self._keep(tree, totals, table.mean, options, float(centre))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        nodes = self.apply(X)
        return self.tree_.value[:, 0][nodes]


def _sums_by(group: NDArray[Any], values: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)
