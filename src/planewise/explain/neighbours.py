"""A case in the view that decided it, as an object: what RECIP and sums of views explain by."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

from planewise.explain.reasons import View


class Batch(Protocol):
    """The answers to some queries, from which explanations are made when asked for."""

    def describe(self, query: int) -> dict[str, Any]: ...

    def sentence(self, data: dict[str, Any]) -> str: ...

    @property
    def model(self) -> Any: ...


class ProjectionExplanation(View):
    """The view in which one query was decided, the rows that decided it, and what speaks against the answer.

    Returned by ``explain`` of :class:`RECIPClassifier`, :class:`AdditiveClassifier` and :class:`AdditiveRegressor`. It
    describes the model as it was then: fitting the model again changes nothing here.

    Attributes
    ----------
    prediction : object
        The predicted class or number.
    probability : float
        Its probability; regressors have none.
    view : dict or None
        The features, their columns, units and scaling; None if no view could judge the query.
    ratio : float or None
        How far the predicted class is relative to the other classes (eq. 9): below 1 supports it. Classes of RECIP
        only; views that are added up have a ``score`` instead.
    undecided : bool
        Whether the case is close and a person should look at it; ``reasons`` say why.
    reasons : list of str
        Why it is undecided; empty if it is not.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from planewise import RECIPClassifier
    >>> iris = load_iris()
    >>> model = RECIPClassifier(random_state=0).fit(iris.data[1:], iris.target_names[iris.target[1:]])
    >>> explanation = model.explain(iris.data[:1], feature_names=iris.feature_names)[0]
    >>> str(explanation.prediction), explanation.undecided
    ('setosa', False)
    >>> sorted(explanation.data()["neighbours"])
    ['against', 'for']
    """

    def __init__(self, batch: Batch, query: int) -> None:
        self._batch, self._query = batch, query

    @cached_property
    def _known(self) -> dict[str, Any]:
        return self._batch.describe(self._query)

    @property
    def model(self) -> Any:
        """The model as it was when it explained."""
        return self._batch.model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._known:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return self._known[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._known})

    def data(self) -> dict[str, Any]:
        """Everything as plain numbers, words, lists and dicts, ready for JSON; changing it changes nothing here."""
        return self._batch.describe(self._query)

    def sentence(self) -> str:
        """One sentence for people, which says so where the case is not clear."""
        return self._batch.sentence(self._known)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sentence, the plot of the view, and the nearest training rows."""
        from planewise.report.notebook import explanation_html  # a report is made of explanations, not the other way

        return explanation_html(self)


def as_fitted(estimator: Any) -> Any:
    """The estimator as it is now, whatever is fitted later: a fit makes new arrays, so that none need be copied."""
    kept = object.__new__(type(estimator))
    kept.__dict__.update(estimator.__dict__)
    return kept


def units_of_features(given: Any, names: list[str]) -> list[str | None]:
    """Units by feature, as a dict by name or a list gives them."""
    if given is None:
        return [None] * len(names)
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"units names {unknown[0]!r}, which is not a feature.")
        return [given.get(name) for name in names]
    if isinstance(given, str) or len(given) != len(names):
        raise ValueError(
            f"units must be a dict by feature name, or a list of {len(names)} units (None where there is no unit)."
        )
    return list(given)
