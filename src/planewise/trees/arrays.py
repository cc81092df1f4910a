"""What a fitted tree, forest or boosting consists of: flat arrays with documented names, and what they answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from planewise import _core
from planewise._text import counted, feature_names, one_line
from planewise.data.problem import prediction_rows
from planewise.trees.target_statistics import Statistics, statistic_places, with_statistics

IntArray = NDArray[np.int32]
_T = TypeVar("_T")

_NOT_FOR_PREDICTION = {"n_samples", "weight", "impurity", "gain", "plane_gain", "term_coefficient"}


class _Fixed(Generic[_T]):
    """An array of trees. They were checked as a whole when the trees were made: none of them can be replaced alone."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, trees: Forest | None, owner: type | None = None) -> _T:
        if trees is None:
            raise AttributeError(self._name)  # the class has none
        try:
            return cast(_T, trees._fixed[self._name])
        except KeyError:
            raise AttributeError(f"These trees have no {self._name}.") from None

    def __set__(self, trees: Forest, value: Any) -> None:
        raise AttributeError(
            f"{self._name} of fitted trees cannot be set; with_arrays({self._name}=...) makes other trees."
        )


class Forest:
    """Trees of hyperplanes as flat, read-only arrays, one tree after another. A single tree is a forest of one.

    The nodes of a tree are numbered level by level, its root first.

    Attributes
    ----------
    node_start : int32 array of shape (n_trees + 1,)
        Tree ``t`` has the nodes ``node_start[t]:node_start[t + 1]``.
    plane_start : int32 array of shape (n_nodes + 1,)
        Node ``i`` has the planes ``plane_start[i]:plane_start[i + 1]``; a leaf has none.
    child_start : int32 array of shape (n_nodes + 1,)
        Its children are ``children[child_start[i]:child_start[i + 1]]``.
    children : int32 array
        The child for every code, ``2 ** n_planes`` of them per node, counted from the root of the tree. The code of a
        row is the sum of ``2 ** k`` over the node's planes ``k`` on whose right side it lies. An entry that names the
        node itself is a cell without training rows: such a row stays, and gets the node's own value. A leaf's one
        entry is itself.
    parent, depth : int32 arrays of shape (n_nodes,)
        Parent (-1 for a root), counted from the root of the tree, and level of each node.
    n_samples : int64 array of shape (n_nodes,)
        Number of training rows in each node.
    weight, impurity, gain : float64 arrays of shape (n_nodes,)
        Weight of those rows, their summed loss, and by how much the node's planes lowered it. Only for a single tree.
    value : array of shape (n_nodes, n_values)
        float64 for a single tree: class probabilities, or the predicted number. float32 in forests and boosting.
    term_start : int32 array of shape (n_planes + 1,)
        Plane ``k`` has the terms ``term_start[k]:term_start[k + 1]``.
    threshold : float32 array of shape (n_planes,)
        A row is on the right side of a plane when its weighted sum is ``>=`` this.
    missing_right : uint8 array of shape (n_planes,)
        Whether a row with a missing value among the plane's terms goes right.
    plane_gain : float64 array of shape (n_planes,)
        By how much each plane lowered the loss when it was added.
    term_feature : int32 array
        The column of each term.
    term_weight : float32 array
        Its weight, in the user's own units.
    term_coefficient : int32 array
        The integer it came from, on standardised features.
    set_start, set_category : int32 arrays
        A plane ``k`` on a categorical column has the categories ``set_category[set_start[k]:set_start[k + 1]]``, and
        its one term reads 1 for a row whose category is among them, else 0. Other planes have no categories.
        Categories are numbered by their place in the estimator's ``categories_``.
    n_outputs : int
        Number of values per row. In boosting with more than two classes, trees take turns with the classes.
    """

    node_start: _Fixed[IntArray] = _Fixed()
    plane_start: _Fixed[IntArray] = _Fixed()
    child_start: _Fixed[IntArray] = _Fixed()
    children: _Fixed[IntArray] = _Fixed()
    parent: _Fixed[IntArray] = _Fixed()
    depth: _Fixed[IntArray] = _Fixed()
    n_samples: _Fixed[NDArray[np.int64]] = _Fixed()
    weight: _Fixed[NDArray[np.float64]] = _Fixed()
    impurity: _Fixed[NDArray[np.float64]] = _Fixed()
    gain: _Fixed[NDArray[np.float64]] = _Fixed()
    value: _Fixed[NDArray[Any]] = _Fixed()
    term_start: _Fixed[IntArray] = _Fixed()
    threshold: _Fixed[NDArray[np.float32]] = _Fixed()
    missing_right: _Fixed[NDArray[np.uint8]] = _Fixed()
    plane_gain: _Fixed[NDArray[np.float64]] = _Fixed()
    term_feature: _Fixed[IntArray] = _Fixed()
    term_coefficient: _Fixed[IntArray] = _Fixed()
    term_weight: _Fixed[NDArray[np.float32]] = _Fixed()
    set_start: _Fixed[IntArray] = _Fixed()
    set_category: _Fixed[IntArray] = _Fixed()
    n_outputs: _Fixed[int] = _Fixed()

    def __init__(self, native: _core.Forest) -> None:
        self._native = native
        others = {"parent": native.parent, "depth": native.depth, "n_outputs": native.n_outputs}
        self._fixed = MappingProxyType(native.arrays() | others)
        self._votes: Forest | None = None

    @classmethod
    def from_arrays(cls, **arrays: Any) -> Forest:
        """A forest from all arrays but `parent` and `depth`, by name; one tree without `node_start`.

        ValueError says what is wrong if they do not make trees, so that nothing is read out of bounds.
        """
        return cls(_core.Forest(**arrays))

    @classmethod
    def empty(cls) -> Forest:
        """No tree at all."""
        return cls(_core.Forest.joined([]))

    @classmethod
    def joined(cls, forests: Sequence[Forest]) -> Forest:
        """The trees of all these forests, one forest's after another's; ValueError if their arrays differ in type."""
        return cls(_core.Forest.joined([forest._native for forest in forests]))

    def __repr__(self) -> str:
        trees = "" if self.n_trees == 1 else f"n_trees={self.n_trees}, "
        return one_line(self, f"{trees}n_planes={self.n_planes}, n_leaves={self.n_leaves}")

    # ------------------------------------------------------------------------------------------------------- numbers
    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.node_start) - 1

    @property
    def trees_per_round(self) -> int:
        """In boosting: one, or one per class if there are more than two."""
        return self.n_outputs if self.value.shape[1] == 1 else 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.parent)

    @property
    def n_planes(self) -> int:
        """Number of planes of all trees."""
        return len(self.threshold)

    @property
    def max_depth(self) -> int:
        """Number of levels below the root of the deepest tree."""
        return int(self.depth.max(initial=0))

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf: it has no planes."""
        return np.diff(self.plane_start) == 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int(self.is_leaf.sum())

    @property
    def nodes_per_level(self) -> list[int]:
        """Number of nodes on each level, the root's first."""
        return [int(count) for count in np.unique(self.depth, return_counts=True)[1]]

    def stored_numbers(self) -> int:
        """Non-zero weights, thresholds and values: the numbers prediction needs.

        A node's value is needed when rows can end there: in leaves, and in inner nodes with a cell no training row fell
        into. Both are a child of their own.
        """
        root = np.repeat(self.node_start[:-1], np.diff(self.node_start))
        entries = np.diff(self.child_start)
        node = np.repeat(np.arange(self.n_nodes), entries)
        ends = np.unique(node[self.children + np.repeat(root, entries) == node])
        return len(self.term_weight) + len(self.set_category) + self.n_planes + len(ends) * self.value.shape[1]

    def nbytes(self) -> int:
        """Bytes of the arrays that prediction needs."""
        skipped = _NOT_FOR_PREDICTION | ({"node_start"} if self.n_trees == 1 else set())
        return sum(array.nbytes for name, array in self.arrays().items() if name not in skipped)

    def importances(self, n_features: int, kind: str = "gain") -> NDArray[np.float64]:
        """Share of each feature in the planes: by ``"gain"``, by ``"split"`` count or by ``"cover"`` (rows).

        What a plane is worth is shared among its terms by the size of their coefficients. Shares sum to one.
        """
        if kind == "split":
            worth = np.ones(self.n_planes)
        elif kind == "cover":
            node = np.repeat(np.arange(self.n_nodes), np.diff(self.plane_start))
            worth = self.n_samples[node].astype(np.float64)
        elif kind == "gain":
            worth = self.plane_gain
        else:
            raise ValueError(f"kind must be 'gain', 'split' or 'cover'; got {kind!r}.")
        size = np.abs(self.term_coefficient).astype(np.float64)
        plane = np.repeat(np.arange(len(worth)), np.diff(self.term_start))
        part = size / np.bincount(plane, weights=size, minlength=len(worth))[plane]
        shares = np.zeros(n_features)
        np.add.at(shares, self.term_feature, part * worth[plane])  # unlike np.bincount, never writes outside
        total = shares.sum()
        return shares / total if total > 0 else shares

    # ------------------------------------------------------------------------------------------------------- answers
    def apply(self, rows: NDArray[np.float32], n_threads: int = 1) -> IntArray:
        """The node in which each row (C-ordered float32) ends, counted from its tree's root: (rows, trees)."""
        return self._native.apply(rows, n_threads)

    def predict(
        self,
        rows: NDArray[np.float32],
        base: NDArray[np.float64],
        first: int = 0,
        last: int | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """``base`` plus the values of trees first .. last-1, for each row (C-ordered float32): (rows, outputs)."""
        return self._native.predict(rows, base, first, self.n_trees if last is None else last, n_threads)

    def stages(
        self, rows: NDArray[np.float32], base: NDArray[np.float64], n_threads: int = 1
    ) -> Iterator[NDArray[np.float64]]:
        """Boosting's scores of each row after the first round, the second and so on; `base` can differ by row."""
        k, nothing = self.trees_per_round, np.zeros(self.n_outputs)
        score = np.broadcast_to(base, (len(rows), self.n_outputs))
        for first in range(0, self.n_trees, k):
            score = score + self.predict(rows, nothing, first, first + k, n_threads)
            yield score

    def trace(
        self, row: NDArray[np.float32], tree: int = 0
    ) -> tuple[IntArray, IntArray, NDArray[np.float32], NDArray[np.uint8]]:
        """The planes that one row meets on its way through a tree.

        Parameters
        ----------
        row : float32 array of shape (n_features,)
        tree : int, default=0

        Returns
        -------
        node, plane, value, right : arrays of equal length
            One entry per plane, from the root down; a node with several planes has several entries. `node` is counted
            from the root of the tree, `plane` over all planes of the forest. `value` is the plane's weighted sum in
            float32, for a plane on categories the row's category (NaN if missing). `right` is 1 if the row went to
            the right side, else 0. ``apply`` gives the node in which the row ends.
        """
        return self._native.trace(row, tree)

    def decision_path(self, nodes: IntArray, tree: int = 0) -> csr_matrix:
        """Indicator matrix of the nodes on the way from the root to each of `nodes` of a tree."""
        start, passed = self._native.decision_path(np.ascontiguousarray(nodes), tree)
        n_nodes = int(self.node_start[tree + 1] - self.node_start[tree])
        return csr_matrix((np.ones(len(passed), dtype=np.int64), passed, start), shape=(len(nodes), n_nodes))

    def contributions(
        self, rows: NDArray[np.float32], means: NDArray[np.float32], n_threads: int = 1
    ) -> NDArray[np.float64]:
        """What each feature added to the sum, and last what does not depend on the row: (rows, outputs, features + 1).

        Every step from a node to its child changes the value that training rows get on average, and the change is
        shared among the terms of the node's planes by how far they are from their means.
        """
        return self._native.contributions(rows, means, n_threads)

    def route(
        self,
        rows: _core.BoostRows,
        sizes: NDArray[np.float64],
        bag: tuple[int, float],
        n_threads: int,
    ) -> NDArray[np.int64]:
        """Send rows of a boosting fit down the trees of a round: sums by the node in which they end."""
        return rows.route(self._native, sizes, *bag, n_threads)

    def move(self, rows: _core.BoostRows, n_threads: int) -> None:
        """Move the scores of rows by the values of the nodes that `route` sent them to."""
        rows.move(self._native, n_threads)

    def follow(self, rows: _core.BoostRows, n_threads: int) -> None:
        """Move the scores of rows by all trees."""
        rows.follow(self._native, n_threads)

    def teach(self, boosting: _core.Boosting) -> None:
        """Let a fit that continues from these trees try their good directions again."""
        boosting.recall(self._native)

    def check_columns(self, category_counts: list[int]) -> None:
        """ValueError if planes use other columns or categories; `category_counts` has 0 for columns of numbers."""
        self._native.check_columns(category_counts)

    # ------------------------------------------------------------------------------------------------- other forests
    def part(self, first: int, last: int) -> Forest:
        """Trees first .. last-1 alone."""
        return Forest(self._native.part(first, last))

    def head(self, n_trees: int) -> Forest:
        """The first trees alone."""
        return self.part(0, n_trees)

    def pruned(self, cut: NDArray[Any]) -> Forest:
        """The same trees with the nodes marked in `cut` (one entry per node) as leaves."""
        return Forest(self._native.pruned(np.ascontiguousarray(cut, dtype=np.uint8)))

    def with_arrays(self, **changed: NDArray[Any]) -> Forest:
        """The same trees with other values, thresholds, ..., by the names of the arrays."""
        value = changed.get("value", self.value)
        if value.ndim != 2:
            raise ValueError(f"value must have one row per node and one column per value; got shape {value.shape}.")
        n_outputs = self.n_outputs if value.shape[1] == self.value.shape[1] else value.shape[1]
        return Forest.from_arrays(**self.arrays() | changed, n_outputs=n_outputs)

    def as_votes(self) -> Forest:
        """The same trees, with values whose mean over T trees is proportional to votes / T + mean / (2 T).

        A tree votes for its likeliest class, and adds so little of its probabilities that they can only decide ties.
        A single value per node is the probability of the second of two classes.
        """
        if self._votes is None:
            probability, little = self.value.astype(np.float64), 0.5 / max(self.n_trees, 1)
            if probability.shape[1] == 1:
                vote = (probability > 0.5).astype(np.float64)
            else:
                vote = np.eye(probability.shape[1])[probability.argmax(axis=1)]
            value = (vote + little * probability) / (1 + little)
            self._votes = self.with_arrays(value=value.astype(np.float32))
        return self._votes

    # ------------------------------------------------------------------------------------------------- files, pickles
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that make the forest, by name: all but `parent` and `depth`, which follow from the children."""
        return self._native.arrays()

    def __copy__(self) -> Forest:
        """A forest with the same arrays: they never change."""
        return Forest(self._native)

    def __deepcopy__(self, memo: dict[int, Any]) -> Forest:
        """A forest with the same arrays: they never change."""
        return Forest(self._native)

    def __getstate__(self) -> dict[str, Any]:
        """Numbers in the smallest type that holds them, starts as differences: most fit into a byte."""
        small = {
            name: _smallest(np.diff(array) if name.endswith("_start") else array)
            for name, array in self.arrays().items()
        }
        return small | {"n_outputs": self.n_outputs, "float32": self.value.dtype == np.float32}

    def __setstate__(self, state: dict[str, Any]) -> None:
        try:
            arrays = {
                name: np.concatenate([[0], np.cumsum(each, dtype=np.int64)]) if name.endswith("_start") else each
                for name, each in state.items()
                if name != "float32"
            }
            arrays["value"] = arrays["value"].astype(np.float32 if state["float32"] else np.float64)
            native = _core.Forest(**arrays)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(
                f"This pickle of trees is damaged or of another version of planewise ({error})."
            ) from error
        Forest.__init__(self, native)


def require_finite_values(forest: Forest) -> None:
    """ValueError if boosting ran away: each round then corrects the one before by more than that was wrong."""
    if not np.isfinite(forest.value).all():
        raise ValueError(
            "Boosting diverged: the values of its trees became larger than float32 can hold (3.4e38). Use a smaller "
            "learning_rate, and a base_score and offsets of the size of the target."
        )


class Trials(NamedTuple):
    """What boosting's trials of depths and strengths of smoothing have found so far."""

    losses: NDArray[np.float64]  # outputs x (strengths x depths)
    left_out: NDArray[np.float64]  # rows x outputs: scores without the row's own part in them

    @classmethod
    def of(cls, boosting: Any) -> Trials:
        """Those of a fit so far: of ``_core.Boosting``, or of `BoostingInParts`."""
        return cls(boosting.trial_losses(), boosting.left_out())

    def __repr__(self) -> str:
        return one_line(self, f"{counted(len(self.losses), 'output')}, {counted(len(self.left_out), 'row')}")


def start_and_link(model: Any) -> tuple[NDArray[np.float64], str]:
    """What the values of an estimator's trees are added to, and how the sum, or the mean, becomes a prediction.

    The link is "probability" (it is one), "identity", "exp", "logistic" or "softmax".
    """
    classes = getattr(model, "classes_", None)
    if hasattr(model, "base_score_"):  # boosting
        return np.asarray(model.base_score_, np.float64), model._loss.link
    if classes is not None:
        trees = model.tree_ if hasattr(model, "tree_") else model.forest_
        return np.zeros(trees.n_outputs), "probability"
    return np.array([0.0 if hasattr(model, "tree_") else model._centre]), "identity"


def tree_rows(model: Any, X: Any) -> NDArray[np.float32]:
    """X as the rows that an estimator's trees read, checked: its columns, then target statistics of categories."""
    return with_statistics(prediction_rows(model, X), _statistics_of(model))


def tree_column_names(model: Any, given: Sequence[Any] | None = None) -> list[str]:
    """Names of the columns that an estimator's trees read, such as "city" and "city (share of 'yes')".

    `given` are names of the columns of X to use instead of the model's own.
    """
    names, statistics = feature_names(model, given), _statistics_of(model)
    worded = {source: known.names(getattr(model, "classes_", None)) for source, known in statistics.items()}
    return names + [f"{names[source]} ({worded[source][k]})" for source, k in statistic_places(statistics)]


def _statistics_of(model: Any) -> Statistics:
    return getattr(model, "target_statistics_", {})


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            small = array.astype(np.float32)
        return small if np.array_equal(small, array) else array
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    return array.astype(np.promote_types(np.min_scalar_type(array.min()), np.min_scalar_type(array.max())))
