"""A model of a table: its columns and how they are read, and the estimator that learns from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from planewise._params import Limit, check_parameters, one_of, seed
from planewise.data.categories import LONGEST_TEXT, text_array
from planewise.data.columns import (
    COLUMN_KINDS,
    Column,
    LeftOut,
    as_polars,
    find_columns,
    for_estimators,
    in_own_types,
    kind_of,
    longest_text,
    polars,
    require_columns,
)
from planewise.data.problem import all_or_nothing
from planewise.data.values import Columns, tell_kinds, value_in_words
from planewise.evaluate.evaluation import Case, case_of, estimator_in
from planewise.explain.describe import (
    Description,
    Limits,
    TableSection,
    fitted_model,
    require_no_offset,
    require_no_ranking,
)
from planewise.explain.reasons import Reason
from planewise.export.models import PlainModel, Reading, TreeEnsemble, plain_model
from planewise.table.families import FAMILIES, estimator_class, family_of
from planewise.table.intervals import HeldOutErrors, require_intervals
from planewise.table.record import Record, facts_of

LIMITS: dict[str, Limit] = {
    "family": one_of(*FAMILIES),
    "task": one_of("auto", "classification", "regression"),
    "settings": Limit(
        lambda value: value is None or (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)),
        "a dict of the estimator's parameters, or None",
    ),
    "random_state": seed(),
}
MAX_INTEGER_CLASSES = 20


def _has_intervals(model: Any) -> bool:
    check_is_fitted(model)
    return require_intervals(model)


def _has_classes(model: Any) -> bool:
    check_is_fitted(model)
    if model.task_ == "regression":
        raise AttributeError("This model predicts numbers: it has neither classes nor probabilities.")
    return True


class TableModel(BaseEstimator):
    """An estimator together with how it reads tables: names, kinds, gaps and categories of the columns.

    ``planewise fit`` makes one. Identifiers, constant columns and free text are left out. Estimators get missing values
    and categories as they are.

    Parameters
    ----------
    family : {"tree", "forest", "boosting", "kernel", "additive", "recip"}, default="boosting"
        One tree, a forest, boosting, a kernel machine (up to 3,000 rows with a search for its parameters, beyond that
        the large-scale one), a sum of two-feature views, or, for classes, RECIP (the nearest rows
        in two-feature views).
    task : {"auto", "classification", "regression"}, default="auto"
        "auto": regression for numbers, except whole numbers with at most 20 different values; else classification.
    settings : dict or None, default=None
        Parameters of the estimator.
    random_state : int or None, default=None
        Seed of the estimator.

    Attributes
    ----------
    target_ : str
        The column that is predicted.
    task_ : {"classification", "regression"}
    columns_ : list of Column
        The columns that the model reads.
    left_out_ : list of LeftOut
        Columns that were left out, and why.
    estimator_ : estimator
        Fitted on the columns as it takes them.
    n_features_in_, feature_names_in_ : number and names of the columns it reads
    held_out_errors_ : HeldOutErrors or None
        The errors on rows that were not used in ``fit``, from which prediction intervals are made.
    record_ : dict or None
        What is known about the fit: date, files, rows, and quality on held-out rows. ``planewise fit`` writes it.

    Examples
    --------
    >>> import polars as pl
    >>> from planewise.table import TableModel
    >>> table = pl.DataFrame({
    ...     "age": [23.0, 41.0, None, 35.0] * 10, "town": ["Ulm", "Bonn", "Ulm", None] * 10, "buys": ["no", "yes"] * 20
    ... })
    >>> model = TableModel("tree", random_state=0).fit(table, "buys")
    >>> model.predict(table)[:3].tolist()
    ['no', 'yes', 'no']
    """

    parameter_limits: ClassVar[Mapping[str, Limit]] = LIMITS
    target_: str
    task_: str
    columns_: list[Column]
    left_out_: list[LeftOut]
    estimator_: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    held_out_errors_: HeldOutErrors | None = None
    record_: Record | None = None

    def __init__(
        self,
        family: str = "boosting",
        task: str = "auto",
        settings: Mapping[str, Any] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.family = family
        self.task = task
        self.settings = settings
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        table: Any,
        target: str,
        row_numbers: Any = None,
        *,
        left_out: Mapping[str, str] | None = None,
        folds: Iterable[tuple[Any, Any]] | None = None,
    ) -> Self:
        """Look at the columns and learn to predict one of them.

        Parameters
        ----------
        table : data frame
            Of polars, pandas or Arrow. Rows without a target are left out.
        target : str
            The column to predict.
        row_numbers : array of int, default=None
            What explanations call the rows of the table, one number for each, where it is a part of a larger one.
            None: their places in the table, counted from 0.
        left_out : dict of str, default=None
            Columns that the model must not read, each with the reason.
        folds : list of (training rows, held-out rows), default=None
            For estimators that choose parameters by cross-validation (the parameter ``cv``), the folds to use, by
            places in the table. Other estimators do not need them.
        """
        table = as_polars(table)
        require_columns([target], table.columns)
        numbers = _row_numbers(row_numbers, table.height)
        known = table[target].is_not_null()
        table, numbers = table.filter(known), numbers[known.to_numpy()]
        self.look_at(table, target, left_out=left_out)
        y = read_target(table[target], self.task_)
        estimator = self._estimator(len(table))
        with _given_folds(estimator, folds, known.to_numpy()):
            self.estimator_ = estimator.fit(for_estimators(table, self.columns_), y)
        self.tell_estimator()
        if hasattr(self.estimator_, "renumber_rows"):
            self.estimator_.renumber_rows(numbers)
        return self

    def tell_estimator(self) -> None:
        """Let explanations, descriptions and pictures of the estimator write dates and booleans as the table does."""
        place = {str(name): j for j, name in enumerate(self.estimator_.feature_names_in_)}
        kinds = {place[each.name]: each.value_kind for each in self.columns_ if each.value_kind is not None}
        tell_kinds(self.estimator_, kinds)

    def look_at(self, table: Any, target: str, *, left_out: Mapping[str, str] | None = None) -> Self:
        """Decide which columns to use, and how, from a table or a sample of it; `left_out` as in ``fit``.

        ``fit`` does so itself. Sets all attributes but ``estimator_``.
        """
        check_parameters(self)
        table = as_polars(table)
        self.target_ = target
        self.task_ = task_of(table[target]) if self.task == "auto" else self.task
        target_values(table[target], self.task_)  # or an error
        self.columns_, self.left_out_ = find_columns(table, target, left_out)
        for of_earlier_fit in ("held_out_errors_", "record_"):
            self.__dict__.pop(of_earlier_fit, None)
        if not self.columns_:
            reasons = "; ".join(f"{each.name!r} {each.why}" for each in self.left_out_) or "there is no other column"
            raise ValueError(f"No column can be used to predict {target!r}: {reasons}.")
        self.n_features_in_ = len(self.columns_)
        self.feature_names_in_ = np.array([column.name for column in self.columns_], dtype=object)
        self._check_constraints(self._estimator(len(table)))
        return self

    def _estimator(self, n_rows: int) -> Any:
        cls = estimator_class(self.family, self.task_, n_rows)
        settings = dict(self.settings or {})
        known = cls._get_param_names()  # type: ignore[attr-defined]
        if self.random_state is not None and "random_state" in known:
            settings.setdefault("random_state", self.random_state)
        return cls(**settings)

    def _check_constraints(self, estimator: Any) -> None:
        """An error if a constraint does not name columns that the model reads."""
        if not hasattr(estimator, "interaction_cst"):
            return
        check_parameters(estimator)
        named: list[tuple[str, Any]] = []
        signs, groups = estimator.monotonic_cst, estimator.interaction_cst
        if signs is not None:
            named += [("monotonic_cst", each) for each in (signs if isinstance(signs, Mapping) else [None])]
        if groups is not None and not isinstance(groups, str):
            named += [("interaction_cst", each) for group in groups for each in group]
        why = {each.name: each.why for each in self.left_out_} | {self.target_: "is the target"}
        for setting, name in named:
            if not isinstance(name, str):
                example = '{"age": 1}' if setting == "monotonic_cst" else '[["age", "income"]]'
                raise ValueError(
                    f"{setting} of a table needs column names, such as {example}: columns may be left out, and numbers "
                    "would then mean others."
                )
            if name not in self.feature_names_in_:
                reason = f"which is left out: it {why[name]}" if name in why else "which is not a column of the table"
                raise ValueError(f"{setting} names {name!r}, {reason}.")

    def read(self, table: Any) -> Any:
        """The columns of a table as the estimator takes them, a polars data frame."""
        table = as_polars(table)
        return for_estimators(table, self.columns_)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        _has_classes(self)
        return self.estimator_.classes_

    def predict(self, table: Any) -> NDArray[Any]:
        """The class or number of each row of a table with the columns of ``fit``; the target need not be there."""
        check_is_fitted(self)
        return self.estimator_.predict(self.read(table))

    def learn_intervals(self, table: Any) -> Self:
        """Learn from rows that were not used in ``fit`` how wide prediction intervals must be.

        Parameters
        ----------
        table : data frame
            With the target. Rows without a target are left out.
        """
        check_is_fitted(self)
        table = as_polars(table)
        if self.task_ == "classification":
            require_intervals(self)
        for require in (require_no_ranking, require_no_offset):
            require(self.estimator_, "learn_intervals")
        require_columns([self.target_], table.columns)
        table = table.filter(table[self.target_].is_not_null())
        if not table.height:
            raise ValueError(f"The target {self.target_!r} is missing in every row; there are no errors to learn from.")
        self.held_out_errors_ = HeldOutErrors.of(read_target(table[self.target_], self.task_) - self.predict(table))
        return self

    @available_if(_has_intervals)  # type: ignore[untyped-decorator]
    def predict_interval(self, table: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """An interval for the number of each row (split conformal prediction).

        For new rows that are drawn like the held-out ones, the interval holds the number with at least the probability
        `coverage`, over all rows. It is equally wide for every row.

        Returns
        -------
        bounds : array of shape (n_rows, 2)
            Lower and upper bounds.
        """
        assert self.held_out_errors_ is not None
        return self.held_out_errors_.around(np.asarray(self.predict(table), dtype=np.float64), coverage)

    def explain(self, table: Any) -> list[Reason]:
        """Why each row of a table gets its prediction.

        Values are those of the table: dates, booleans and categories appear as they are there.

        Returns
        -------
        reasons : list of planewise.explain.Path, Contributions, Vectors or View
            One per row; which of them depends on the family.
        """
        check_is_fitted(self)
        table = as_polars(table)
        given = self.estimator_.explain(self.read(table))
        rows = in_own_types(table, self.columns_).iter_rows(named=True)
        return [
            reason.with_values(lambda name, row=row: row[self.column_of(name)])
            for reason, row in zip(given, rows, strict=True)
        ]

    def column_of(self, feature: str) -> str:
        """The column a feature of the estimator is made from: "town" for "town=Ulm", which a machine reads."""
        return feature if feature in self.feature_names_in_ else feature.rpartition("=")[0]

    def describe(self, limits: Limits | None = None) -> Description:
        """What the estimator is, and how the columns of a table become what it takes.

        Returns
        -------
        description : planewise.explain.Description
        """
        check_is_fitted(self)
        about: Description = self.estimator_.describe(limits)
        fills = self.family == "kernel"
        rows = []
        for column in self.columns_:
            own, kind = column.missing, column.value_kind
            gap = value_in_words(Columns([], kinds={} if kind is None else {0: kind}).value(0, column.usual), 4)
            if column.kind == "category":
                gap = "a category of its own" if own else "no category"
            elif own:
                gap += ", and marked as missing"
            rows.append([column.name, COLUMN_KINDS[column.kind].adjective, *([gap] if fills else [])])
        present = {column.kind for column in self.columns_}
        special = [kind for name, kind in COLUMN_KINDS.items() if name in present and kind.read_as]
        reads = " and ".join(f"{kind.values} as {kind.read_as}" for kind in special)
        note = f"The model reads {reads}." if reads else ""
        columns = ["column", "kind", *(["missing is read as"] if fills else [])]
        made = len(getattr(self.estimator_, "prepared_feature_names_", rows))
        read = str(len(rows)) if made == len(rows) else f"{len(rows)}, from which {made} are made"
        about.facts[:1] = [("target", self.target_), ("columns", read), *facts_of(self)]
        about.sections.insert(-1, TableSection("Columns", columns, rows, note))
        return about

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, table: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_``."""
        return self.estimator_.predict_proba(self.read(table))


@contextmanager
def _given_folds(estimator: Any, folds: Iterable[tuple[Any, Any]] | None, known: NDArray[np.bool_]) -> Iterator[None]:
    """Let the estimator choose its parameters on these folds of the table's rows; `known` are those that it gets."""
    if folds is None or "cv" not in estimator.get_params():
        yield
        return
    place = np.cumsum(known) - 1
    usual, estimator.cv = estimator.cv, [tuple(place[part[known[part]]] for part in fold) for fold in folds]
    try:
        yield
    finally:
        estimator.cv = usual  # predictions never need the folds, and a file should not hold them


def _row_numbers(given: Any, n_rows: int) -> NDArray[np.intp]:
    if given is None:
        return np.arange(n_rows)
    numbers = np.asarray(given)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu" or (n_rows and numbers.min() < 0):
        raise ValueError(
            f"row_numbers must have one integer of at least 0 for each of the {n_rows} rows of the table; got an array "
            f"of shape {numbers.shape} and type {numbers.dtype}."
        )
    return numbers.astype(np.intp)


def task_of(target: Any) -> str:
    """The task that the values of a target suggest."""
    dtype = target.dtype
    if not dtype.is_numeric():
        return "classification"
    if not dtype.is_integer():
        present = target.drop_nulls()
        if not (present == present.round()).all() or present.n_unique() > 2:
            return "regression"
        return "classification"
    return "classification" if target.drop_nulls().n_unique() <= MAX_INTEGER_CLASSES else "regression"


def target_values(target: Any, task: str) -> NDArray[Any]:
    """The target as estimators take it; an error if it cannot be predicted."""
    if target.drop_nulls().n_unique() < 2:
        value = target.drop_nulls().head(1).to_list()
        what = f"has the value {value[0]!r} in every row" if value else "has no values"
        raise ValueError(f"The target {target.name!r} {what}; there is nothing to learn.")
    if kind_of(target.dtype) == "category" and longest_text(target) > LONGEST_TEXT:
        raise ValueError(
            f"The target {target.name!r} has a class label of {longest_text(target):,} characters; a model can store "
            f"labels of up to {LONGEST_TEXT:,}. Shorten it, or remove its rows."
        )
    return read_target(target, task)


def read_target(target: Any, task: str) -> NDArray[Any]:
    """The target as estimators take it; an error if its values do not suit the task."""
    pl = polars()
    if kind_of(target.dtype) is None and target.dtype not in (pl.Time, pl.Null):
        raise ValueError(f"The target {target.name!r} holds values of type {target.dtype}, which cannot be predicted.")
    if task == "regression":
        if not (target.dtype.is_numeric() or target.dtype == pl.Boolean):
            raise ValueError(f"The target {target.name!r} holds {target.dtype} values; a regression needs numbers.")
        return np.asarray(target.cast(pl.Float64).to_numpy())
    if target.dtype.is_numeric() or target.dtype == pl.Boolean:
        return np.asarray(target.to_numpy())
    return text_array(target.cast(pl.String).to_list())


def as_table_model(model: Any, named: str = "The model") -> TableModel:
    """A TableModel as it is; an estimator that was fitted on a data frame, wrapped.

    Raises
    ------
    ValueError
        If it is not an estimator of planewise that predicts, or does not know the names of its columns.
    """
    if isinstance(model, TableModel):
        return model
    kind, family = type(model).__name__, family_of(model)
    if family is None or not hasattr(model, "predict"):
        raise ValueError(f"{named} holds a {kind}, which cannot predict the rows of a table.")
    if not hasattr(model, "feature_names_in_"):
        raise ValueError(
            f"{named} holds a {kind} that was fitted on an array without column names, so the columns of a table "
            "cannot be matched to it. Fit it on a data frame, or with planewise fit."
        )
    categories = getattr(model, "categories_", {})
    if any(known.dtype.kind in "iuf" for known in categories.values()):
        raise ValueError("The model has categories that are numbers, but categories in a table must be text.")
    wrapped = TableModel(family)
    wrapped.estimator_ = model
    wrapped.target_ = "prediction"
    wrapped.task_ = "classification" if hasattr(model, "classes_") else "regression"
    wrapped.columns_ = [
        Column(name, "category" if j in categories else "number")
        for j, name in enumerate(model.feature_names_in_.tolist())
    ]
    wrapped.left_out_ = []
    wrapped.n_features_in_, wrapped.feature_names_in_ = model.n_features_in_, model.feature_names_in_
    return wrapped


@case_of.register
def _(model: TableModel, X: Any, y: Any) -> Case:
    check_is_fitted(model)
    table = as_polars(X)
    n_given, places = table.height, np.arange(table.height)
    if y is None:
        if model.target_ not in table.columns:
            raise ValueError(f"The table has no column {model.target_!r}, the target; pass y, or the whole table.")
        places = table[model.target_].is_not_null().arg_true().to_numpy().astype(np.intp)
        if not len(places):
            raise ValueError(f"The target {model.target_!r} is missing in every row; there is nothing to measure.")
        table = table[places]
        y = read_target(table[model.target_], model.task_)
    return Case(model.estimator_, model.read(table), y, places, n_given, model, table)


@estimator_in.register
def _(model: TableModel) -> Any:
    return model.estimator_


@plain_model.register
def _(model: TableModel, form: str) -> PlainModel:
    plain = plain_model(fitted_model(model).estimator_, form)
    meaning = {j: COLUMN_KINDS[column.kind].read_as for j, column in enumerate(model.columns_)}
    units = {j: words for j, words in meaning.items() if words}
    if isinstance(plain, TreeEnsemble):  # takes gaps and categories as they are
        return replace(plain, units=units)
    machine = fitted_model(model.estimator_)
    return replace(plain, reading=Reading.by(machine, plain.preparation), units=units)
