"""The front door of every fit: tables, targets and weights of any kind become checked arrays, in one place."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeVar, cast

import narwhals.stable.v1 as nw
import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from planewise.data.categories import (
    Categories,
    Coded,
    as_label_array,
    categorical_columns,
    encode,
    is_missing,
    learn_categories,
)
from planewise.data.float32 import (
    LARGEST,
    Origins,
    fill,
    find_origins,
    require_dense_size,
    stretches,
)
from planewise.data.frames import block, coded, column_at, column_to_floats, plain_columns, refuse_patterns
from planewise.data.mapped import MappedTable

FloatArray = NDArray[np.float32]
Fit = TypeVar("Fit", bound=Callable[..., Any])
Reader = Callable[..., NDArray[Any]]  # of an estimator and X: the rows that the estimator takes

MOST_THREADS = 256
LARGEST_WEIGHT = 2.0**64  # and its reciprocal: beyond these, weights are scaled

# Number types of arrays that are kept until their values are read; all others become the first.
_KINDS = [np.float64, np.float32, np.bool_]
_KINDS += [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def all_or_nothing(fit: Fit) -> Fit:
    """Let `fit` work on a copy, so that one that fails or is interrupted leaves the estimator as it was."""

    @functools.wraps(fit)
    def whole(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        trial = copy(estimator)
        fit(trial, *args, **kwargs)
        estimator.__dict__ = trial.__dict__
        return estimator

    return cast(Fit, whole)


@dataclass(frozen=True)
class Problem:
    """What a fit learns from: the rows of X that count, that is, have a weight above zero."""

    table: NDArray[Any]  # all rows of X, as numbers
    counts: NDArray[np.bool_]  # which of them count
    rows: NDArray[Any]  # those that count
    weight: NDArray[np.float64]  # of the rows that count, class weights included

    @property
    def kept(self) -> NDArray[np.intp]:
        """The places in X of the rows that count."""
        return np.flatnonzero(self.counts)


@dataclass(frozen=True)
class ClassProblem(Problem):
    """Rows with classes."""

    classes: NDArray[Any]  # the labels of rows that count, sorted
    label: NDArray[np.int32]  # the place of each row's class in `classes`
    sample_weight: NDArray[np.float64]  # of the rows that count, without class weights


@dataclass(frozen=True)
class NumberProblem(Problem):
    """Rows with numbers to predict."""

    target: NDArray[np.float64]


@dataclass(frozen=True)
class TargetRange:
    """Which targets an estimator can compute with."""

    largest: float  # size of a target
    narrowest: float  # range of all targets, unless they are equal
    why: str  # in words, after the estimator's name

    def check(self, estimator: str, target: NDArray[np.float64], counts: NDArray[np.bool_]) -> None:
        """ValueError that names the first row whose target is too large, or says that all are too close."""
        self.check_size(estimator, target, counts)
        self._check_spread(estimator, target[counts])

    def check_size(
        self, estimator: str, target: NDArray[np.float64], counts: NDArray[np.bool_], name: str = "y"
    ) -> None:
        """The first of the two."""
        size = np.abs(target)
        wrong = np.flatnonzero((size > self.largest) & counts)
        if len(wrong):
            raise ValueError(
                f"{name} contains {size[wrong[0]]:.3g} (absolute value) in row {wrong[0]}; {estimator} {self.why} and "
                f"accepts at most {self.largest:.2g}. Divide {name} by a constant."
            )

    def _check_spread(self, estimator: str, target: NDArray[np.float64]) -> None:
        spread = np.ptp(target)
        if 0 < spread < self.narrowest:
            raise ValueError(
                f"The values of y differ by at most {spread:.3g}; {estimator} {self.why} and needs differences of at "
                f"least {self.narrowest:.2g}. Multiply y by a constant."
            )


IN_FLOAT32 = TargetRange(LARGEST / 2, 1e-37, "predicts in float32")
SQUARED = TargetRange(1e150, 1e-140, "squares the differences of targets")


def training_rows(
    estimator: Any, X: Any, *, counts: NDArray[np.bool_] | None = None, origins: Origins | None = None
) -> FloatArray:
    """X as float32 rows (C order), checked; sets ``n_features_in_``, ``feature_names_in_`` and ``feature_origins_``.

    Origins are those given, or found from the rows that count. Values too large for float32 become infinities.
    """
    if isinstance(X, MappedTable):
        return X.training_rows(estimator, origins)
    return _checked(estimator, X, _Columns(True, counts, origins))


def values_as_given(estimator: Any, X: Any, *, reset: bool = True) -> NDArray[np.float64]:
    """The same as float64, for estimators that show values again; `reset` in ``fit``."""
    rows = _checked(estimator, X, _Columns(reset), np.float64)
    refuse_infinity(estimator, rows, X)
    return rows


def precise_rows(estimator: Any, X: Any, *, reset: bool = True) -> NDArray[np.float64]:
    """X as float64 rows without missing values and categories, such as a kernel matrix; `reset` in ``fit``."""
    return _without_gaps(estimator, X, reset, np.float64)


def unshifted_rows(
    estimator: Any, X: Any, *, reset: bool = True, counts: NDArray[np.bool_] | None = None
) -> NDArray[Any]:
    """X as float32 rows, or float64 if a column has an origin, which is not subtracted: scaling does that.

    Sets ``feature_origins_`` in ``fit``, from the rows that count.
    """
    if reset:
        estimator.feature_origins_ = {} if estimator.scaling is None else _origins_in(estimator, X, counts)
    rows = None if reset else _quickly_checked(estimator, X)
    if rows is None:
        dtype = np.float64 if estimator.feature_origins_ else np.float32
        rows = _checked(estimator, X, _Columns(reset, origins={}), dtype)
        refuse_infinity(estimator, rows, X)
    return rows


def _origins_in(estimator: Any, X: Any, counts: NDArray[np.bool_] | None) -> Origins:
    _refuse_unread(estimator, X)
    if not is_table(X):
        numbers = numbers_of(estimator, without_words(estimator, X, True), True, np.float32)
        found, chosen = find_origins(numbers, counts), set(categorical_in_array(estimator, numbers.shape[1], True))
        return {j: origin for j, origin in found.items() if j not in chosen}
    frame, found = nw.from_native(X, eager_only=True), Origins()
    plain = plain_columns(frame)
    chosen = set(categorical_in_frame(estimator, frame, plain))
    for places in plain.values():
        found |= _renumbered(find_origins(block(frame, places), counts), places)
    for j in sorted(set(range(frame.shape[1])).difference(*plain.values(), chosen)):
        column = column_at(frame, j)
        if column.dtype.is_numeric():
            values = column_to_floats(estimator, column, np.float64, in_fit=True)
            found |= _renumbered(find_origins(values[:, None], counts), [j])
    return {j: origin for j, origin in found.items() if j not in chosen}


def _without_gaps(estimator: Any, X: Any, reset: bool, dtype: Any) -> NDArray[Any]:
    _refuse_unread(estimator, X)
    if is_table(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        frame = nw.from_native(X, eager_only=True)
        rows = np.empty(frame.shape, dtype=dtype)
        for j in _fill_plain(frame, plain_columns(frame), set(), rows, lambda table, places: {}):
            rows[:, j] = column_to_floats(estimator, column_at(frame, j), dtype, in_fit=reset)
        _require_rows(rows)
        names = frame.columns
    else:
        rows = _dense(numbers_of(estimator, X, reset, dtype), dtype)
        names = range(rows.shape[1])
    missing = _columns_with(lambda values: ~np.isfinite(values), rows)
    if len(missing):
        raise ValueError(
            f"Column {names[missing[0]]!r} of X contains NaN or infinity, which {type(estimator).__name__} does not "
            "accept in a kernel matrix; compute the kernel from rows without missing values, or pass the rows "
            "themselves and a kernel such as 'rbf'."
        )
    return rows


def numbers_of(estimator: Any, X: Any, reset: bool, dtype: Any) -> Any:
    """What is not a data frame: an array or a CSR table of numbers of its own type, to be read as `dtype`."""
    X = validate_data(estimator, X, reset=reset, dtype=_KINDS, accept_sparse="csr", ensure_all_finite=False)
    if issparse(X):
        require_dense_size(X, dtype)
    return X


def _dense(values: Any, dtype: Any, origins: Origins | None = None) -> NDArray[Any]:
    """An array or a CSR table as rows in C order; what already is so is not copied."""
    if isinstance(values, np.ndarray) and values.dtype == dtype and values.flags.c_contiguous and not origins:
        return values
    rows = np.empty(values.shape, dtype=dtype)
    fill(rows, slice(None), values, origins or {})
    return rows


def _refuse_unread(estimator: Any, X: Any) -> None:
    """An error for what has no rows in memory."""
    if nw.dependencies.is_polars_lazyframe(X):
        raise TypeError(
            "X is a polars LazyFrame, which has no rows yet; pass X.collect() instead. If these are more rows than fit "
            "into memory, planewise.data.from_batches(X.collect_batches, target=...) reads them for trees."
        )
    if nw.dependencies.is_polars_dataframe(X):
        refuse_patterns(X.columns, "X")
    if isinstance(X, MappedTable):
        raise TypeError(
            f"X is a {type(X).__name__}, which only trees take (SLM, forests, boosting), not "
            f"{type(estimator).__name__}; pass a data frame with a sample of the rows instead."
        )


def prediction_rows(estimator: Any, X: Any) -> FloatArray:
    """X as float32 rows (C order), checked against what the estimator was fitted on."""
    if isinstance(X, MappedTable):
        return X.prediction_rows(estimator)
    rows = _quickly_checked(estimator, X)
    return _checked(estimator, X, _Columns(reset=False)) if rows is None else rows


def _quickly_checked(estimator: Any, X: Any) -> FloatArray | None:
    """The plain case without scikit-learn's hundred microseconds: a clean float array of the right width."""
    if getattr(estimator, "categories_", None) or getattr(estimator, "feature_origins_", None):
        return None
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind != "f":
        return None
    if hasattr(estimator, "feature_names_in_"):
        return None
    if X.shape[0] == 0 or X.shape[1] != estimator.n_features_in_:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # infinities of both signs add up to NaN
        rows = np.ascontiguousarray(X, dtype=np.float32)
        clean = np.isfinite(np.add.reduce(rows, axis=None)) or not np.isinf(rows).any()
    return rows if clean else None


def _renumbered(origins: Origins, places: list[int]) -> Origins:
    """By the places in X of a part's columns."""
    return {places[j]: origin for j, origin in origins.items()}


@dataclass
class _Columns:
    """What is known of the columns when a table is read, or is to be found out in ``fit``."""

    reset: bool  # in fit
    counts: NDArray[np.bool_] | None = None  # the rows to find origins from
    origins: Origins | None = None

    def origins_of(self, estimator: Any, values: Any, places: list[int] | None, dtype: Any, skipped: Any) -> Origins:
        """The origins of a table's columns, which have these places in X; remembered in ``fit``."""
        if dtype != np.float32:
            return {}
        known = self.origins if self.reset else getattr(estimator, "feature_origins_", {})
        if known is None:
            found = find_origins(values, self.counts)
            found = found if places is None else _renumbered(found, places)
            known = {j: origin for j, origin in found.items() if j not in skipped}
            estimator.feature_origins_ |= known
        if places is None:
            return known
        return {at: known[j] for at, j in enumerate(places) if j in known} if known else {}


def _checked(estimator: Any, X: Any, columns: _Columns, dtype: Any = np.float32) -> NDArray[Any]:
    _refuse_unread(estimator, X)
    if columns.reset and dtype == np.float32:
        estimator.feature_origins_ = dict(columns.origins or {})
    if is_table(X):
        validate_data(estimator, X, reset=columns.reset, skip_check_array=True)
        rows = _frame_to_array(estimator, X, columns, dtype)
        _require_rows(rows)
    else:
        numbers = numbers_of(estimator, without_words(estimator, X, columns.reset), columns.reset, dtype)
        chosen = categorical_in_array(estimator, numbers.shape[1], columns.reset)
        rows = _dense(numbers, dtype, columns.origins_of(estimator, numbers, None, dtype, set(chosen)))
        rows = _with_categories(estimator, X, numbers, rows, chosen, columns.reset)
    return rows


def class_problem(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    class_weight: Any = None,
    read: Reader = training_rows,
    continues: bool = False,
    min_classes: int = 1,
) -> ClassProblem:
    """X, y and weights of a classifier's fit, checked; sets ``n_features_in_`` and what else ``fit`` learns of columns.

    A weight of zero, be it the row's own or its class's, leaves the row out, and with its last row the class.

    Parameters
    ----------
    estimator : estimator
        Named in errors.
    X, y, sample_weight
        As passed to ``fit``.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    read : function of (estimator, X)
        Which rows the estimator takes: `training_rows` (float32, categories, NaN), `unshifted_rows` (the same, origins
        not subtracted), `values_as_given` (float64, categories, NaN), `precise_rows` (float64, numbers only, no NaN).
    continues : bool
        Whether this is a warm start: X and y must have the columns, categories and classes of the earlier fit.
    min_classes : int
        1, or 2 for an estimator that cannot learn from a single class.
    """
    table = _read_again(estimator, X, read) if continues else read(estimator, X)
    classes, label = class_targets(estimator, y, table)
    own = row_weights(sample_weight, table)
    classes, label, weight = _weighted_classes(classes, label, own, class_weight)
    if len(classes) < min_classes:
        raise ValueError(
            f"{type(estimator).__name__} needs rows of at least two classes; there is only one class among the rows "
            f"that count: {classes.tolist()[0]!r}."
        )
    if continues and not np.array_equal(classes, estimator.classes_):
        raise ValueError("y has different classes than the earlier fit that warm_start=True continues from.")
    counts = weight > 0
    _refuse_zeros_in_file(X, counts)
    table = _with_origins_of(counts, table, estimator, X, read, continues)
    rows, label, weight, own = _those(counts, table, label, weight, own)
    return ClassProblem(table, counts, rows, weight, classes, label, own)


def number_problem(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    read: Reader = training_rows,
    continues: bool = False,
    targets: TargetRange | None = None,
) -> NumberProblem:
    """X, y and weights of a regressor's fit, checked; the parameters are those of `class_problem`.

    `targets`: which ones the estimator can compute with, None for all.
    """
    table = _read_again(estimator, X, read) if continues else read(estimator, X)
    target = real_targets(estimator, y, table)
    weight = row_weights(sample_weight, table)
    counts = weight > 0
    if targets is not None:
        targets.check(type(estimator).__name__, target, counts)
    _refuse_zeros_in_file(X, counts)
    table = _with_origins_of(counts, table, estimator, X, read, continues)
    rows, target, weight = _those(counts, table, target, weight)
    return NumberProblem(table, counts, rows, weight, target)


def _read_again(estimator: Any, X: Any, read: Reader) -> NDArray[Any]:
    """The rows of a fit that continues from an earlier one: the same columns, with the same categories."""
    n_features, categories = estimator.n_features_in_, estimator.categories_
    names = getattr(estimator, "feature_names_in_", None)
    rows = read(estimator, X, origins=estimator.feature_origins_)
    if rows.shape[1] != n_features:
        raise ValueError(
            f"X has {rows.shape[1]} features, but warm_start=True continues from a fit on {n_features} features."
        )
    now_named = getattr(estimator, "feature_names_in_", None)
    if names is not None and now_named is not None and list(names) != list(now_named):
        raise ValueError(
            "X has different columns than the earlier fit that warm_start=True continues from, or a different order of "
            "them."
        )
    for column in sorted(categories.keys() | estimator.categories_.keys()):
        before, now = categories.get(column), estimator.categories_.get(column)
        if before is None or now is None or not np.array_equal(before, now):
            name = column if names is None else names[column]
            raise ValueError(
                f"Column {name!r} has different categories than in the earlier fit that warm_start=True continues from."
            )
    return rows


def _refuse_zeros_in_file(X: Any, counts: NDArray[np.bool_]) -> None:
    if isinstance(X, MappedTable) and not counts.all():
        raise ValueError(
            f"Row {np.flatnonzero(~counts)[0]} has a weight of 0, by sample_weight or class_weight, but rows in a file "
            "cannot be left out of a fit. Pass weight= to planewise.data.from_batches, or leave the rows out there."
        )


def _with_origins_of(
    counts: NDArray[np.bool_], table: NDArray[Any], estimator: Any, X: Any, read: Reader, continues: bool
) -> NDArray[Any]:
    """The table again, with origins from the rows that count."""
    if read not in (training_rows, unshifted_rows) or continues or counts.all():
        return table
    return read(estimator, X, counts=counts)


def _those(counts: NDArray[np.bool_], *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """What counts of each array; the arrays themselves if all does."""
    return arrays if counts.all() else tuple(array[counts] for array in arrays)


def class_targets(estimator: Any, y: Any, X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The sorted class labels, and each row's place among them."""
    y = one_target_per_row(estimator, y, X)
    check_classification_targets(y)
    classes, label = np.unique(y), np.empty(len(y), dtype=np.int32)
    for rows, part in stretches(y[:, None]):  # np.unique's own inverse takes 24 bytes per row
        label[rows] = np.searchsorted(classes, part[:, 0])
    return classes, label


def _weighted_classes(
    classes: NDArray[Any], label: NDArray[np.int32], weight: NDArray[np.float64], class_weight: Any
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.float64]]:
    """The classes of rows that count, each row's place among them (-1: none), and weights with those of classes."""
    if class_weight is not None:
        if isinstance(class_weight, str):
            weight = weight * compute_sample_weight(class_weight, label, indices=np.flatnonzero(weight))
        else:
            weight = near_one(weight * near_one(weights_by_class(class_weight, classes))[label])
        if not weight.any():
            raise ValueError("class_weight gives every class a weight of 0; at least one must be positive.")
    counts = weight > 0
    if not counts.all():
        present = np.unique(label[counts])
        place = np.full(len(classes), -1, dtype=np.int32)
        place[present] = np.arange(len(present))
        classes, label = classes[present], np.where(counts, place[label], np.int32(-1))
    return classes, label, weight


def weights_by_class(class_weight: Mapping[Any, float], classes: NDArray[Any]) -> NDArray[np.float64]:
    """The weight of each class by a user's dict; those it does not name have a weight of one.

    Not scikit-learn's function: it reads labels such as "1" as numbers, and so does not find them in the dict.
    """
    labels = classes.tolist()
    missing, unknown = [each for each in labels if each not in class_weight], [*class_weight.keys() - set(labels)]
    if missing and unknown:
        raise ValueError(
            f"class_weight names the class {unknown[0]!r}, which y does not have, and not the class {missing[0]!r}, "
            "which it has."
        )
    return np.array([float(class_weight.get(each, 1.0)) for each in labels])


def real_targets(estimator: Any, y: Any, X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the targets as finite float64, one per row."""
    y = one_target_per_row(estimator, y, X)
    try:
        y = y.astype(np.float64, order="C")
    except (TypeError, ValueError):
        name = type(estimator).__name__
        raise ValueError(f"y must hold numbers for {name}; got dtype {y.dtype}.") from None
    assert_all_finite(y, input_name="y")
    return y


def one_target_per_row(estimator: Any, y: Any, X: NDArray[Any] | None = None) -> NDArray[Any]:
    """Targets of any kind as one array, as long as X if that is given, none missing."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    y = as_label_array(y)
    if y.ndim == 2 and y.shape[1] > 1:
        kind = "Classifier" if is_classifier(estimator) else "Regressor"
        raise ValueError(
            f"y should be a 1d array, got an array of shape {y.shape} instead: {type(estimator).__name__} predicts "
            f"one target. sklearn.multioutput.MultiOutput{kind} fits one model per column of y."
        )
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    elif y.dtype.kind == "O":
        missing = [row for row, value in enumerate(y) if is_missing(value)]
        if missing:
            raise ValueError(f"Input y contains NaN or None: row {missing[0]} has no target.")
    return y


def row_weights(sample_weight: Any, X: NDArray[Any]) -> NDArray[np.float64]:
    """Weights as float64, one per row, none negative, not all zero."""
    if sample_weight is None:
        return np.ones(len(X))
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    return near_one(weight)


def near_one(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights; if the largest is so large or small that sums would overflow or vanish, scaled by a power of two.

    Only their ratios matter then. A positive weight stays positive.
    """
    largest = float(weight.max(initial=0.0))
    if largest == 0.0 or 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT or not np.isfinite(largest):
        return weight
    scaled = np.ldexp(weight, 1 - int(np.frexp(largest)[1]))
    return np.where(weight > 0, np.maximum(scaled, np.finfo(np.float64).tiny), 0.0)


def thread_count(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means: None is one (or what joblib's context says), -1 all cores it may use.

    Not joblib's own count for numbers: it answers 1 inside any worker process, where it could start no processes; our
    threads can.
    """
    if n_jobs is None:
        return min(effective_n_jobs(None), MOST_THREADS)
    return min(n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs), MOST_THREADS)


def is_table(X: Any) -> bool:
    """Whether X is a data frame (pandas, polars, Arrow, ...) rather than an array."""
    return nw.dependencies.is_into_dataframe(X)


def without_words(estimator: Any, X: Any, reset: bool) -> Any:
    """X; an array of objects with zeros in place of categorical columns that hold words."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O" or X.ndim != 2:
        return X
    words = [j for j in categorical_in_array(estimator, X.shape[1], reset) if j < X.shape[1] and holds_words(X, j)]
    if not words:
        return X
    numbers = X.copy()
    numbers[:, words] = 0
    return numbers


def holds_words(X: Any, j: int) -> bool:
    """Whether a column of an array of objects has anything but numbers and missing values."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O":
        return False
    return not all(isinstance(value, Real) or is_missing(value) for value in X[:, j])


def categorical_in_array(estimator: Any, width: int, reset: bool) -> list[int]:
    """The columns of an array that are categorical."""
    if reset:
        return categorical_columns(getattr(estimator, "categorical_features", None), None, width, [])
    return list(getattr(estimator, "categories_", {}))


def _with_categories(
    estimator: Any, X: Any, numbers: Any, rows: NDArray[Any], chosen: list[int], reset: bool
) -> NDArray[Any]:
    """Plain rows, the columns named as categorical encoded; `numbers` are the same before they were rounded."""
    values = {j: X[:, j] if holds_words(X, j) else _category_values(estimator, numbers, rows, j, reset) for j in chosen}
    if reset:
        estimator.categories_ = {j: learn_categories(values[j], str(j)) for j in chosen}
    if not chosen:
        return rows
    encoded = rows.copy()
    for j in chosen:
        encoded[:, j] = encode(values[j], estimator.categories_[j], str(j))
    return encoded


def _category_values(estimator: Any, numbers: Any, rows: NDArray[Any], j: int, reset: bool) -> NDArray[Any]:
    """A categorical column of numbers: as in the rows, or as given if its categories would be rounded."""
    given = array_column(numbers, j)
    if reset:
        keep = len(np.unique(given)) != len(np.unique(rows[:, j]))
    else:
        keep = estimator.categories_[j].dtype.kind in "iuf" and estimator.categories_[j].dtype != np.float32
    return given if keep else rows[:, j]


def array_column(numbers: Any, j: int) -> NDArray[Any]:
    """A column of an array or a CSR table."""
    return np.asarray(numbers[:, [j]].toarray()[:, 0] if issparse(numbers) else numbers[:, j])


def category_counts(estimator: Any) -> list[int]:
    """How many categories each column has, 0 for numbers; an empty list if all are numbers."""
    categories: Categories = estimator.categories_
    return [len(categories.get(j, ())) for j in range(estimator.n_features_in_)] if categories else []


def _frame_to_array(estimator: Any, X: Any, columns: _Columns, dtype: Any) -> NDArray[Any]:
    frame, reset = nw.from_native(X, eager_only=True), columns.reset
    plain = plain_columns(frame)
    chosen = categorical_in_frame(estimator, frame, plain) if reset else sorted(getattr(estimator, "categories_", {}))
    others, names = set(chosen), frame.columns
    values: dict[int, Coded] = {}
    if reset:
        values = {j: coded(column_at(frame, j)) for j in chosen}
        estimator.categories_ = {j: learn_categories(values[j].distinct, names[j]) for j in chosen}
    out = np.empty(frame.shape, dtype=dtype)

    def origins_of(table: NDArray[Any], places: list[int]) -> Origins:
        return columns.origins_of(estimator, table, places, dtype, others)

    for j in _fill_plain(frame, plain, others, out, origins_of):
        column = column_at(frame, j)
        if j in others:
            value = values[j] if reset else coded(column)
            out[:, j] = encode(value.distinct, estimator.categories_[j], column.name)[value.place]
        else:
            table = column_to_floats(estimator, column, np.float64, in_fit=reset)[:, None]
            fill(out, [j], table, origins_of(table, [j]))
    return out


def categorical_in_frame(estimator: Any, frame: nw.DataFrame[Any], plain: dict[str, list[int]]) -> list[int]:
    """The columns of a training table that are categorical."""
    given, width = getattr(estimator, "categorical_features", None), frame.shape[1]
    by_dtype: list[int] = []
    if isinstance(given, str):
        others = sorted(set(range(width)).difference(*plain.values()))
        by_dtype = [j for j in others if column_at(frame, j).dtype in (nw.Categorical, nw.Enum)]
    return categorical_columns(given, [str(name) for name in frame.columns], width, by_dtype)


def _fill_plain(
    frame: nw.DataFrame[Any],
    plain: dict[str, list[int]],
    others: set[int],
    out: NDArray[Any],
    origins_of: Callable[[NDArray[Any], list[int]], Origins],
) -> list[int]:
    """Write the plain columns, those of one type at once, into `out`; returns which columns are left, with `others`."""
    left = set(range(out.shape[1]))
    for places in plain.values():
        wanted = [j for j in places if j not in others]
        if wanted:
            table = block(frame, wanted)
            fill(out, slice(None) if len(wanted) == out.shape[1] else wanted, table, origins_of(table, wanted))
        left.difference_update(wanted)
    return sorted(left)


def refuse_infinity(estimator: Any, rows: NDArray[Any], X: Any) -> None:
    """ValueError that names the first column of X in which the rows have an infinity."""
    infinite = _columns_with(np.isinf, rows)
    if len(infinite):
        name: Any = int(infinite[0])
        if is_table(X):
            name = str(nw.from_native(X, eager_only=True).columns[name])
        raise ValueError(
            f"Column {name!r} contains infinity or a value too large for {rows.dtype}; "
            f"{type(estimator).__name__} accepts NaN as a missing value, but not infinity."
        )


def _columns_with(is_wrong: Callable[[NDArray[Any]], NDArray[np.bool_]], rows: NDArray[Any]) -> NDArray[np.intp]:
    """The columns in which some value is wrong, where only infinities or NaN can be."""
    with np.errstate(invalid="ignore", over="ignore"):  # infinities of both signs add up to NaN
        if np.isfinite(rows.sum(dtype=np.float64)):  # one pass finds most tables clean
            return np.empty(0, dtype=np.intp)
    return np.flatnonzero(is_wrong(rows).any(axis=0))


def _require_rows(rows: NDArray[Any]) -> None:
    if rows.shape[0] == 0 or rows.shape[1] == 0:
        what = "sample(s)" if rows.shape[0] == 0 else "feature(s)"
        raise ValueError(f"Found array with 0 {what} (shape={rows.shape}) while a minimum of 1 is required.")
