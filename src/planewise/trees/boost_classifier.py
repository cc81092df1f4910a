"""Second-order boosting of trees of hyperplanes, for classification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from planewise._params import Limit, check_parameters, class_weights, keep_parameters
from planewise.data.problem import all_or_nothing, class_problem, class_targets
from planewise.trees.arrays import Forest
from planewise.trees.boost_data import Data, Floats, Given, training_offset
from planewise.trees.boosting import Boosting, Callback
from planewise.trees.losses import LossLike, RawLoss, classification_loss


class SLMBoostClassifier(ClassifierMixin, Boosting):
    """Gradient boosting with trees of hyperplanes, for classification.

    Second order, as in XGBoost: each round grows a tree (one per class if there are more than two) on the gradient and
    Hessian of the log-loss. Its trees are those of `SLMClassifier`: nodes with several oblique planes, wide and
    shallow. Symbols before a colon, such as ``p:``, are those of the SLM paper.

    Parameters
    ----------
    loss : "log_loss", "auto" or callable, default="auto"
        The loss; "auto" is the log-loss. A callable gets the encoded classes (0, 1, ...) and the raw scores and
        returns the gradient and the Hessian of the loss with respect to the scores. The result is multiplied by the
        sample weights; do not multiply it yourself.
    n_estimators : int, default=100
        Number of rounds.
    learning_rate : float, default=0.1
        How far each tree moves the scores (shrinkage).
    max_depth : int, "auto" or None, default="auto"
        Maximum depth of each tree; None for no limit. "auto" chooses a depth between 1 and 6 by trials: in every fourth
        round, a quarter of the rows is set aside while a tree is grown one level deeper than usual, and the depth that
        serves those rows best is used from then on. When no trials are run (beyond `max_rows_per_tree` rows, with
        `monotonic_cst`, and for the absolute and the quantile loss), it is 3, and 4 for more than 262,144 rows.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. If given, growth is not level by level: each step splits the most promising half of
        the open nodes.
    min_samples_split : int, default=2
        Minimum number of rows for a node to be split.
    min_samples_leaf : int, default=10
        Minimum number of rows in a child; a smaller cell is merged with its nearest neighbour.
    min_child_weight : float, default=1e-3
        Minimum sum of Hessians in a child.
    min_split_gain : float, default=0.0
        Minimum gain of every additional cell, often called gamma. 0 reproduces the paper.
    noise_margin : float, default=0.1
        A split must gain more than this times the gain expected by chance from the best of the same number of random
        planes.
    reg_lambda : float, default=1.0
        Added to the Hessian of every cell. 0 reproduces the paper. It shrinks with the mean Hessian of the rows, as
        does `smoothing`, down to a five-hundredth.
    smoothing : float or "auto", default="auto"
        Weight of the parent's value in a node's value, in units of the Hessian, which is rows for the squared error. 0
        gives plain Newton steps, as in the paper. "auto" chooses a strength between 0 and 32 by the same trials as
        `max_depth` (beyond `max_rows_per_tree` rows, it is 8). Not used by the absolute and the quantile loss, whose
        leaves hold the best constant of their rows.
    subsample : float, default=1.0
        Share of the rows each tree is grown on. Beyond `max_rows_per_tree` rows, the share of the rows that decide its
        values.
    colsample : float, default=1.0
        Share of the columns each tree may use.
    max_planes : int, default=2
        q: maximum number of planes per node, which then has up to 2^q children.
    plane_choice : {"joint", "cosine"}, default="joint"
        How further planes of a node are chosen: "joint" takes the one that gains most on the existing cells; "cosine",
        as in the paper, the good candidate that is least similar to the planes chosen so far.
    max_cosine : float, default=0.7
        theta_minimax: with "cosine", planes more similar than this are not added.
    min_relative_gain : float, default=0.0
        1 - rho: a further plane must gain, on its own, at least this share of what the best candidate gains.
    n_projections : int, default=16
        p: number of oblique candidates per node and round; every single feature is a candidate as well, unless
        `axis_candidates` says otherwise.
    subspace : {"candidate", "node"}, default="candidate"
        Whether each candidate draws its own features, or all candidates of a round share one draw, as in the paper.
    subspace_size : int or list of int, default=3
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
    bins : {"robust", "uniform", "quantile"}, default="robust"
        Bins of equal width, as in the paper ("uniform"); the same, but where a few far values take most of the range,
        only over the range of the others ("robust"); or bins with about equally many rows ("quantile").
    refine_thresholds : bool, default=True
        Test again between the bins next to the best threshold, and put it midway between two rows. False keeps
        thresholds on the edges of bins, as in the paper.
    max_rows_per_node : int, "auto" or None, default="auto"
        Candidates of a node with more rows are judged by this many of them, spread evenly. None uses all rows, which
        takes one byte per row and candidate. "auto" is an eighth of the rows, between 2048 and 8191.
    max_rows_per_tree : int or None, default=65536
        In a larger table, this many rows, drawn anew every eight rounds, decide the planes of the trees; their values
        come from all rows.
    remember_directions : bool, default=True
        Whether a third of the oblique candidates are directions of earlier trees, half of them with one term changed.
        False draws every candidate anew, as in the paper.
    max_ranked_features : int or None, default=None
        Number of features that a node below the root considers: half of them the best of its parent, half random. None
        considers all.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a category data type, or a list of names, numbers or a mask. Planes
        split such a column alone, into two sets of categories. An unseen category goes to the heavier side.
    target_statistics : int, "auto" or None, default="auto"
        Beside a categorical column with more than this many categories, planes also use, as a number like any other,
        the mean target of each category, or the share of each class in it (of the eight most frequent classes, if there
        are more). Categories with few rows are shrunk towards the mean of all rows, which unseen ones have. For a
        training row it is computed from the rows of other folds (there are ten). "auto" is 50; None uses sets alone.
    monotonic_cst : list of int, dict or None, default=None
        By column (or by name): 1 if the score may not fall as the feature rises, -1 if it may not rise, 0 otherwise.
        Nodes then have one plane, and trees `max_depth` times `max_planes` levels. Not for more than two classes.
    interaction_cst : "pairwise", "no_interactions", list of groups or None, default=None
        Which columns may be used together. The columns of all planes on a path from the root to a leaf lie in one
        group, a list or set of names or numbers; columns in no group form a further one. "pairwise" lets any two
        columns meet, "no_interactions" none. Scores are then sums of functions of one group each.
    base_score : float or None, default=None
        Where scores start. None starts at the best constant; with a function as `loss`, at 0. 0 reproduces the paper.
    early_stopping : bool, default=False
        Stop when the validation loss has not improved for `n_iter_no_change` rounds, and keep the rounds up to the
        best one. Validation rows are `X_val` and `y_val` of ``fit``, or else `validation_fraction` of the training
        rows. False grows and keeps all `n_estimators` rounds.
    validation_fraction : float, default=0.1
        Share of the rows set aside for validation by `early_stopping`.
    refit : bool, default=True
        After `early_stopping` on a share of the training rows, grow the same number of rounds again from all of them.
        This takes about as long again. Not with `X_val`, where no training rows were set aside, not with `warm_start`,
        which keeps its trees, and not if a callback ended the fit. `callbacks`, `best_iteration_`, `train_score_` and
        `validation_score_` are those of the first pass.
    n_iter_no_change : int, default=10
        Number of rounds without progress that end the fit.
    tol : float, default=0.0
        Minimum improvement that counts as progress.
    scoring : str, callable or None, default=None
        What is monitored, and decides `early_stopping`, instead of the loss: the name of a scikit-learn scorer such as
        "roc_auc", or a function ``(estimator, X, y)`` that returns a number, the larger the
        better. During the fit, X has the rows as the trees read them, and the estimator can predict only this X.
    callbacks : list of callables or None, default=None
        Each is called after every round with the number of rounds of the model so far and a dict of the losses (or
        scores, with `scoring`) of "train" and "validation"; a true answer ends the fit.
    warm_start : bool, default=False
        Keep the trees of the last fit and grow only the missing rounds. The rows set aside for validation stay the
        same. With `early_stopping` the model ends at its best round, even if that is one of the earlier fit.
    verbose : int, default=0
        1 shows a progress line with the losses or scores.
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
    forest_ : Forest
        All trees as flat arrays; weights and thresholds are in the units of the data.
    base_score_ : array of shape (n_outputs,)
        Where scores started, without offsets.
    n_iter_ : int
        Number of rounds in the model: `best_iteration_` with `early_stopping`.
    best_iteration_ : int or None
        Number of rounds with the best validation score, ``validation_score_[best_iteration_ - 1]``; None without
        validation rows.
    n_stored_numbers_, n_bytes_ : int
        Number of non-zero weights, thresholds and leaf values; and the bytes that prediction needs.
    feature_means_ : float32 array of shape (n_features,) or longer
        Means of the training columns, from their origins; NaN for categories. Those of target statistics, if there
        are any, follow.
    categories_ : dict
        The categories of each categorical column, by its number.
    feature_origins_ : dict
        By the number of the column, for columns that float32 cannot resolve, such as seconds since 1970 over ten
        minutes: the number that is subtracted in float64 before the trees read the column. Empty for ordinary tables.
    target_statistics_ : dict
        By the number of the column, for columns with target statistics: an object with `values` of shape (n_categories,
        n_statistics), in the order of ``categories_``, `prior` of shape (n_statistics,), which unseen categories have,
        and `classes`, the places in ``classes_`` of the classes that the statistics are shares of (None in regression).
    train_score_, validation_score_ : float64 arrays of shape (n_rounds,)
        The score of the training and of the validation rows after each round, from the first round of the model on:
        that of `scoring`, or minus the loss. Empty if there are no validation rows, and for training rows unless
        something is monitored (`verbose`, `callbacks`, `scoring` or validation rows). A custom loss has no value:
        without `scoring` both are empty. With `early_stopping` they also hold the rounds after the best one, which are
        not in the model. After a warm start they hold the scores of all rounds on the rows of the last fit. With target
        statistics, the scores of training rows are computed with those from other folds, as the trees were grown.
    has_offset_ : bool
        Whether ``fit`` was given an offset. Predictions without one are for an offset of zero.
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the planes' gain; see ``get_feature_importances`` for others.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X in ``fit`` was a data frame.

    See Also
    --------
    SLMBoostRegressor : The same for regression.
    SLMClassifier : One tree.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from planewise import SLMBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SLMBoostClassifier(random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.95
    True
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = {
        **Boosting.parameter_limits,
        "class_weight": class_weights(),
    }
    class_weight: Any
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        loss: LossLike = "auto",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | str | None = "auto",
        max_leaf_nodes: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 10,
        min_child_weight: float = 1e-3,
        min_split_gain: float = 0.0,
        noise_margin: float = 0.1,
        reg_lambda: float = 1.0,
        smoothing: float | str = "auto",
        subsample: float = 1.0,
        colsample: float = 1.0,
        max_planes: int = 2,
        plane_choice: str = "joint",
        max_cosine: float = 0.7,
        min_relative_gain: float = 0.0,
        n_projections: int = 16,
        subspace: str = "candidate",
        subspace_size: int | list[int] = 3,
        root_features: int | None = None,
        axis_candidates: str = "all",
        max_coef: int = 5,
        min_coef: int = 1,
        coef_decay: float | list[float] = 0.0,
        rank_decay: float | list[float] = 0.1,
        n_bins: int = 16,
        bins: str = "robust",
        refine_thresholds: bool = True,
        max_rows_per_node: int | str | None = "auto",
        max_rows_per_tree: int | None = 65536,
        remember_directions: bool = True,
        max_ranked_features: int | None = None,
        categorical_features: Any = "from_dtype",
        target_statistics: int | str | None = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        base_score: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        refit: bool = True,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        scoring: Any = None,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        offset_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
            Numbers, or categories in a data frame; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; zero leaves a row out. An integer weighs as much as that many equal rows, but
            `min_samples_leaf`, `noise_margin`, the order of categories and the folds of `target_statistics` count rows.
        offset : array-like of shape (n_samples,), or (n_samples, n_classes) with more than two classes, default=None
            Added to the raw scores from the start, as `init_score` in LightGBM and `base_margin` in XGBoost: to the
            log-odds of the second of two classes, or, with more, to the score of each. The model does not keep it: pass
            it to ``predict_proba`` again.
        X_val, y_val, sample_weight_val, offset_val : like X, y, sample_weight and offset, default=None
            Validation rows: their loss or score after each round is kept in ``validation_score_``. They end the fit
            only with `early_stopping`; without it, all `n_estimators` rounds are grown and kept.
            `class_weight` does not apply to them; it does to a share of the training rows set aside by
            `early_stopping`.

        Returns
        -------
        self
        """
        check_parameters(self)
        problem = class_problem(self, X, y, sample_weight, class_weight=self.class_weight, continues=self._continues())
        classes = problem.classes

        def labels_of(y: Any, rows: NDArray[np.float32], name: str) -> Floats:
            theirs, place = class_targets(self, y, rows)
            strange = theirs[~np.isin(theirs, classes)]
            if len(strange) > 0:
                raise ValueError(
                    f"{name} has the class {strange.tolist()[0]!r}, which no training row has: y lacks it, or all its "
                    "rows weigh zero. Remove these rows."
                )
            return np.searchsorted(classes, theirs)[place].astype(np.float64)

        loss = classification_loss(self.loss, max(2, len(classes)))
        given = Given(X_val, y_val, sample_weight_val, offset_val)
        data = Data(problem.rows, problem.label.astype(np.float64), problem.weight)
        data = data._replace(offset=training_offset(offset, problem, loss))
        self.classes_ = classes
        if len(classes) == 1:
            self._read_given(given, data, loss, labels_of)
            self._keep_constant(data, loss)
        else:
            self._learn(data, loss, given, labels_of, classes)
        return self

    def _keep_constant(self, data: Data, loss: RawLoss) -> None:
        """With one class there is nothing to learn, but the parameters are still checked."""
        self.target_statistics_ = {}
        self._options(len(data.rows), loss)
        self.forest_, self.base_score_, self.has_offset_ = Forest.empty(), np.zeros(1), data.offset is not None
        self._loss, self._seed, self.n_iter_, self.best_iteration_ = RawLoss("constant"), 0, 0, None
        self.train_score_ = self.validation_score_ = np.empty(0)
        self.feature_means_ = np.full(self.n_features_in_, np.nan, dtype=np.float32)

    def decision_function(self, X: Any, *, offset: ArrayLike | None = None, n_rounds: int | None = None) -> Floats:
        """Raw scores: one per row for two classes, else one per row and class.

        Parameters
        ----------
        X : array, sparse matrix, data frame or SpooledTable of shape (n_samples, n_features)
        offset : array-like of shape (n_samples,), or (n_samples, n_classes) with more than two classes, default=None
            Added to the scores, as in ``fit``; None is zero.
        n_rounds : int or None, default=None
            Use the first rounds only.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
        """
        raw = self._raw(X, offset, n_rounds)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_proba(self, X: Any, *, offset: ArrayLike | None = None, n_rounds: int | None = None) -> Floats:
        """Class probabilities, columns in the order of ``classes_``; parameters as in ``decision_function``."""
        raw = self._raw(X, offset, n_rounds)
        return self._loss.probabilities(raw)

    def predict(self, X: Any, *, offset: ArrayLike | None = None, n_rounds: int | None = None) -> NDArray[Any]:
        """The most probable class of each row; parameters as in ``decision_function``."""
        raw = self._raw(X, offset, n_rounds)
        return self.classes_[self._loss.likeliest(raw)]

    def staged_predict_proba(self, X: Any, *, offset: ArrayLike | None = None) -> Iterator[Floats]:
        """Class probabilities after each round; `offset` as in ``decision_function``."""
        for raw in self._staged_raw(X, offset):
            yield self._loss.probabilities(raw)

    def staged_predict(self, X: Any, *, offset: ArrayLike | None = None) -> Iterator[NDArray[Any]]:
        """The most probable class after each round; `offset` as in ``decision_function``."""
        for raw in self._staged_raw(X, offset):
            yield self.classes_[self._loss.likeliest(raw)]

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, offset: ArrayLike | None = None
    ) -> float:
        """Share of correct predictions; `offset` as in ``decision_function``."""
        return float(accuracy_score(y, self.predict(X, offset=offset), sample_weight=sample_weight))
