"""One tree of hyperplanes: the subspace learning machine (SLM) and its regressor (SLR)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from planewise import _core
from planewise._input import (
    all_or_nothing,
    category_counts,
    counted_classes,
    prediction_rows,
    real_targets,
    row_weights,
    thread_count,
    training_rows,
    without_zero_weights,
)
from planewise._params import (
    Limit,
    NamesItself,
    check_parameters,
    class_weights,
    one_of,
    real,
)
from planewise._shown import ShownInNotebooks
from planewise.slm._documentation import document_growth
from planewise.slm._explain import ExplainsByPath
from planewise.slm._flat_tree import FlatTree, from_arrays
from planewise.slm._growth import GROWTH_LIMITS, most_terms, tree_options

TREE_LIMITS = GROWTH_LIMITS | {
    "min_impurity_decrease": real(0),
    "min_loss": real(0),
    "noise_margin": real(0),
    "smoothing": real(0),
}
CLASSIFIER_LIMITS = TREE_LIMITS | {"criterion": one_of("entropy", "gini"), "class_weight": class_weights()}


class _SLMTree(NamesItself, ExplainsByPath, ShownInNotebooks, BaseEstimator):
    """What the classifier and the regressor share."""

    tree_: FlatTree
    n_features_in_: int

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
        max_coef: int = 5,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 4096,
        max_ranked_features: int | None = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.min_loss = min_loss
        self.noise_margin = noise_margin
        self.smoothing = smoothing
        self.max_planes = max_planes
        self.plane_choice = plane_choice
        self.max_cosine = max_cosine
        self.min_relative_gain = min_relative_gain
        self.n_projections = n_projections
        self.subspace = subspace
        self.subspace_size = subspace_size
        self.max_coef = max_coef
        self.coef_decay = coef_decay
        self.rank_decay = rank_decay
        self.n_bins = n_bins
        self.bins = bins
        self.refine_thresholds = refine_thresholds
        self.max_rows_per_node = max_rows_per_node
        self.max_ranked_features = max_ranked_features
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _keep(self, grown: dict[str, Any], totals: NDArray[np.float64]) -> None:
        """Makes the grown arrays this estimator's tree; `totals` are sums by leaf, the weight last."""
        tree = from_arrays(grown)
        tree.set_values(totals, self.smoothing)
        self.tree_ = tree
        self.depth_ = tree.max_depth
        self.n_planes_ = tree.n_planes
        self.n_parameters_ = tree.n_planes * (most_terms(self) + 1)
        self.nodes_per_level_ = tree.nodes_per_level

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The node in which each row ends.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        nodes : int32 array of shape (n_samples,)
            A leaf; or, for a row in a cell without training rows, the inner node whose value it gets.
        """
        check_is_fitted(self)
        return self._apply_rows(prediction_rows(self, X))

    def _apply_rows(self, rows: NDArray[np.float32]) -> NDArray[np.int32]:
        return self.tree_.apply(rows, thread_count(self.n_jobs))

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes each row passes, as a sparse indicator matrix of shape (n_samples, n_nodes)."""
        nodes = self.apply(X)
        return self.tree_.path(nodes)

    def get_depth(self) -> int:
        """Levels below the root."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Nodes without planes."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the planes' gain; a plane's gain is shared by the size of its coefficients."""
        check_is_fitted(self)
        return self.tree_.importances(self.n_features_in_)

    @property
    def n_stored_numbers_(self) -> int:
        """Non-zero weights, thresholds and leaf values: an honest count of what the model holds."""
        check_is_fitted(self)
        return self.tree_.stored_numbers()

    @property
    def n_bytes_(self) -> int:
        """Bytes of the arrays that prediction needs."""
        check_is_fitted(self)
        return self.tree_.nbytes()


@document_growth
class SLMClassifier(ClassifierMixin, _SLMTree):
    """A wide and shallow classification tree whose nodes split by several oblique planes at once.

    Each node ranks the features by a one-dimensional test, draws sparse integer directions that favour the better
    ones, and keeps up to ``max_planes`` planes; with q planes it has up to 2^q children. Weights and thresholds of the
    fitted planes are in the units of the data.

    Parameters
    ----------
    criterion : {"entropy", "gini"}, default="entropy"
        Loss of a node.
    {growth_parameters}
    {tree_parameters}
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the sample weights; zero leaves a class out.
    {closing_parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    {tree_attributes}

    See Also
    --------
    SLMRegressor : The same tree for numbers.

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

    parameter_limits: ClassVar[Mapping[str, Limit]] = CLASSIFIER_LIMITS

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
        max_coef: int = 5,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "uniform",
        refine_thresholds: bool = True,
        max_rows_per_node: int | None = 4096,
        max_ranked_features: int | None = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            min_loss=min_loss,
            noise_margin=noise_margin,
            smoothing=smoothing,
            max_planes=max_planes,
            plane_choice=plane_choice,
            max_cosine=max_cosine,
            min_relative_gain=min_relative_gain,
            n_projections=n_projections,
            subspace=subspace,
            subspace_size=subspace_size,
            max_coef=max_coef,
            coef_decay=coef_decay,
            rank_decay=rank_decay,
            n_bins=n_bins,
            bins=bins,
            refine_thresholds=refine_thresholds,
            max_rows_per_node=max_rows_per_node,
            max_ranked_features=max_ranked_features,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.criterion = criterion
        self.class_weight = class_weight

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a whole number weighs as much as that many equal rows, and zero leaves a row out. `noise_margin`
            and `smoothing` therefore see more evidence in larger weights: bring weights that are not counts to a mean
            of one. (`min_samples_leaf` and `min_samples_split` count rows.)

        Returns
        -------
        self
        """
        check_parameters(self)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        options, threads = tree_options(self, seed), thread_count(self.n_jobs)
        rows = training_rows(self, X)
        classes, label, weight = counted_classes(self, y, rows, sample_weight, self.class_weight)
        rows, label, weight = without_zero_weights(rows, label, weight)
        table = _core.Table(rows, weight, threads, category_counts(self))
        grown, leaf = _core.grow_classes(table, label, weight, len(classes), self.criterion == "gini", options, threads)
        self.classes_ = classes
        counts = _sums_by(leaf * np.int64(len(classes)) + label, weight, len(grown["parent"]) * len(classes))
        counts = counts.reshape(-1, len(classes))
        self._keep(grown, np.column_stack([counts, counts.sum(axis=1)]))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``."""
        nodes = self.apply(X)
        return self.tree_.value[nodes]

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        nodes = self.apply(X)
        return self.classes_[self.tree_.value.argmax(axis=1)][nodes]


@document_growth
class SLMRegressor(RegressorMixin, _SLMTree):
    """A wide and shallow regression tree whose nodes split by several oblique planes at once (the paper's SLR).

    Parameters
    ----------
    {growth_parameters}
    {tree_parameters}
    {closing_parameters}

    Attributes
    ----------
    {tree_attributes}

    See Also
    --------
    SLMClassifier : The same tree for classes.

    Examples
    --------
    >>> from planewise import SLMRegressor
    >>> from planewise.datasets import make_friedman
    >>> X, y = make_friedman(1, random_state=0)
    >>> tree = SLMRegressor(random_state=0).fit(X[:600], y[:600])
    >>> tree.score(X[600:], y[600:]) > 0.6
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = TREE_LIMITS

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a whole number weighs as much as that many equal rows, and zero leaves a row out. `noise_margin`
            and `smoothing` therefore see more evidence in larger weights: bring weights that are not counts to a mean
            of one. (`min_samples_leaf` and `min_samples_split` count rows.)

        Returns
        -------
        self
        """
        check_parameters(self)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        options, threads = tree_options(self, seed), thread_count(self.n_jobs)
        rows = training_rows(self, X)
        target = real_targets(self, y, rows)
        weight = row_weights(sample_weight, rows)
        rows, target, weight = without_zero_weights(rows, target, weight)
        table = _core.Table(rows, weight, threads, category_counts(self))
        centre = np.average(target, weights=weight)
        apart = target - centre
        grown, leaf = _core.grow_numbers(table, apart, weight, options, threads)
        n_nodes = len(grown["parent"])
        totals = np.column_stack([_sums_by(leaf, weight * apart, n_nodes), _sums_by(leaf, weight, n_nodes)])
        self._keep(grown, totals)
        self.tree_.value += centre
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row."""
        nodes = self.apply(X)
        return self.tree_.value[:, 0][nodes]


def _sums_by(group: NDArray[Any], values: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.float64, copy=False)
