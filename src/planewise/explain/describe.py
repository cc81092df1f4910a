"""What a fitted model is, in sections that text and HTML both show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from planewise._text import counted, cut, one_line, shorten, shown

OFFSET_NOT_STORED = "the model was fitted with one and does not store it; pass it to predict"
WITHOUT_OFFSET = "fitted with an offset; this predicts for an offset of zero"
RANKS = "a score to rank the rows of a query by"
LONGEST_CELL = 200  # letters, to which all cells of its column are filled up


@dataclass(frozen=True)
class Limits:
    """How much of a model is shown."""

    max_depth: int | None = None
    max_nodes: int = 200
    max_trees: int = 1
    max_vectors: int = 20
    max_columns: int = 10


@dataclass(frozen=True, repr=False)
class TableSection:
    """Rows under a heading; the first column is text."""

    heading: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""
    weights: list[float] = field(default_factory=list)  # of the rows, for bars where these can be drawn
    ends: list[int] = field(default_factory=list)  # the rows where a sum starts and ends; the others are its parts

    def to_text(self) -> str:
        """Columns side by side below the heading."""
        lines = [self.columns, *self.rows] if self.rows else []
        lines = [[cut(shown(cell), LONGEST_CELL) for cell in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = [
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([self.heading, *rows, *([f"  {shown(self.note)}"] if self.note else [])])

    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"heading": self.heading, "columns": self.columns, "rows": self.rows, "note": self.note}

    def __repr__(self) -> str:
        return one_line(self, f"{self.heading}, {counted(len(self.rows), 'row')}")


@dataclass(frozen=True, repr=False)
class TextSection:
    """Lines under a heading, to be shown as they are."""

    heading: str
    lines: list[str]

    def to_text(self) -> str:
        """The lines, indented below the heading."""
        return "\n".join([self.heading, *(f"  {shown(line)}" for line in self.lines)])

    def data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"heading": self.heading, "lines": self.lines}

    def __repr__(self) -> str:
        return one_line(self, f"{self.heading}, {counted(len(self.lines), 'line')}")


@dataclass(repr=False)
class Description:
    """A model in words: :meth:`to_text` for people, as printed, and :meth:`data` for programs."""

    title: str
    facts: list[tuple[str, str]]
    sections: list[TableSection | TextSection] = field(default_factory=list)

    def to_text(self) -> str:
        """All of it as plain text."""
        head = "\n".join([self.title, *(shown(f"{name}: {value}") for name, value in self.facts)])
        return "\n\n".join([head, *(each.to_text() for each in self.sections)]) + "\n"

    def data(self) -> dict[str, Any]:
        """All of it as strings, lists and dicts, ready for JSON."""
        return {"title": self.title, "facts": dict(self.facts), "sections": [each.data() for each in self.sections]}

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Description of {self.title}: {len(self.facts)} facts, {len(self.sections)} sections>"


def describe(model: Any, limits: Limits = Limits()) -> Description:
    """What there is to say about a fitted estimator of planewise, or the best one of a search."""
    model = fitted_model(model)
    if not hasattr(model, "describe"):
        raise TypeError(f"{type(model).__name__} is not an estimator of planewise; only those can be described.")
    about: Description = model.describe(limits)
    return about


def fitted_model(model: Any) -> Any:
    """The estimator itself, checked: one of ours, and fitted. The winner of a search stands for the search."""
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class; pass a fitted estimator: {model.__name__}(...).fit(X, y).")
    if isinstance(model, Pipeline):
        raise TypeError(
            "A Pipeline cannot be exported or described as a whole; pass its last step (pipeline[-1]) and apply the "
            "steps before it to the rows yourself."
        )
    if hasattr(model, "best_estimator_") and not hasattr(model, "describe"):
        return fitted_model(model.best_estimator_)
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"A fitted estimator of planewise is needed; got {type(model).__name__}.")
    check_is_fitted(model)
    return model


def fitted_with_offset(model: Any) -> bool:
    """Whether the model was fitted with an offset, which it does not store."""
    return getattr(model, "has_offset_", False) is True


def require_no_offset(model: Any, what: str) -> None:
    """ValueError that names `what`, which predicts without offsets, if the model was fitted with one."""
    if fitted_with_offset(model):
        raise ValueError(
            f"{what} predicts without an offset, but this {type(model).__name__} was fitted with one. Use "
            "predict(X, offset=...) instead, and scikit-learn's metrics to measure its predictions."
        )


def ranks_queries(model: Any) -> bool:
    """Whether predictions are scores that order the rows of queries."""
    return getattr(model, "_estimator_type", None) == "ranker"


def require_no_ranking(model: Any, what: str) -> None:
    """ValueError that names `what`, which takes predictions as numbers of their own, if they only order rows."""
    if ranks_queries(model):
        raise ValueError(
            f"{what} takes classifiers and regressors, but this {type(model).__name__} ranks the rows of queries: use "
            "model.score(X, y, qid=...)."
        )


def basic_facts(model: Any) -> list[tuple[str, str]]:
    """Columns and classes of any estimator."""
    facts = [("columns", str(model.n_features_in_))]
    classes = getattr(model, "classes_", None)
    if classes is not None:
        listed = ", ".join(shorten(each) for each in classes[:10].tolist()) + (", …" if len(classes) > 10 else "")
        facts.append(("classes", f"{len(classes)}: {listed}"))
    return facts


def changed_parameters(model: Any) -> TableSection:
    """The parameters that do not have their defaults."""
    default = type(model)().get_params()
    rows = [[name, repr(value)] for name, value in model.get_params().items() if repr(value) != repr(default[name])]
    note = "All parameters have their defaults." if not rows else "The others have their defaults."
    return TableSection("Parameters", ["parameter", "value"], rows, note)
