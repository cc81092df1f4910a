"""What the estimators on a cluster share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, ClassVar, Self

import numpy as np
from distributed import Client, get_client, get_worker, worker_client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from planewise._params import check_parameters
from planewise.dask.gather import fit_on_worker, worker_threads
from planewise.dask.look import Look, look_at
from planewise.dask.partitions import Partitions, Rows, is_collection
from planewise.dask.predictions import lazy_answer

# These methods, and staged_..., take no collections.
IN_MEMORY = {"apply", "decision_path", "explain", "predict_contributions"}


class OnDask:
    """An estimator that is fitted on dask collections; the class beside it in the bases is its namesake in memory."""

    namesake: ClassVar[type[Any]]
    client: Client | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__[1:]:
            if base.__name__ == cls.__name__:
                cls.namesake = base
                cls.__init__ = _init_of(base)  # type: ignore[method-assign]
                for name in dir(cls):
                    if name in IN_MEMORY or name.startswith("staged_"):
                        setattr(cls, name, _in_memory(getattr(cls, name)))

    # -------------------------------------------------------------------------------------------------- the client
    def _get_client(self) -> Client:
        if self.client is not None:
            return self.client
        try:
            return get_client()
        except ValueError:
            raise ValueError(
                f"{type(self).__name__} needs a cluster: create a client first (dask.distributed.Client()), or pass "
                "one as client=."
            ) from None

    def _run(self, work: Callable[[Client], Any]) -> Any:
        """Return the result of the work."""
        if self.client is None and _is_in_task():
            with worker_client() as client:  # other tasks may use the thread of this one meanwhile
                return work(client)
        client = self._get_client()
        if client.asynchronous:
            raise ValueError(f"{type(self).__name__} needs a client that is not asynchronous: Client(address).")
        return work(client)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Self:
        """A clone has the same client: it cannot be copied."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        client = parameters.pop("client")
        cls: Any = type(self)
        made: Self = cls(client=client, **{name: clone(each, safe=False) for name, each in parameters.items()})
        return made

    def to_local(self) -> Any:
        """The ordinary estimator: with the same parameters and, after ``fit``, the same model.

        Returns
        -------
        estimator : estimator
            Of the class with the same name in ``planewise``.
        """
        made: Any = object.__new__(self.namesake)
        made.__dict__ = {name: value for name, value in vars(self).items() if name != "client"}
        return made

    # --------------------------------------------------------------------------------------------------------- fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model on dask collections.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            As in ``fit`` of the ordinary estimator. It is computed at least twice, to look at it and to learn from it:
            call ``persist`` first if that takes long.
        y : dask array, series or data frame of shape (n_samples,)
            Targets, in partitions that correspond to those of X. Arrays are rechunked if need be.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weights; zero leaves a row out.

        Returns
        -------
        self
        """
        return self._run(partial(self._fit_collections, X=X, y=y, sample_weight=sample_weight))

    def _fit_collections(self, client: Client, X: Any, y: Any, sample_weight: Any) -> Self:
        check_parameters(self)
        partitions = Partitions(client, X, y, sample_weight, self)
        return self._adopt(self._fitted_on(client, partitions, look_at(partitions, self, surveys=True)))

    def _fitted_on(self, client: Client, partitions: Partitions, looks: list[Look]) -> Any:
        """The fitted ordinary estimator."""
        [made] = fit_on_worker(client, partitions, looks, [fit_ordinary], self.to_local())
        return made

    def _adopt(self, made: Any) -> Self:
        """Make the model of a fitted ordinary estimator this one's."""
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        learned = {name: value for name, value in vars(made).items() if name not in parameters}
        self.__dict__ = {**parameters, **learned}
        return self

    # ----------------------------------------------------------------------------------------------------- answers
    def _answer_to(self, method: str, X: Any, **options: Any) -> Any:
        """Eager for a table in memory, lazy for a collection."""
        check_is_fitted(self)
        options = {name: value for name, value in options.items() if value is not None}
        if not is_collection(X):
            return getattr(super(), method)(X, **options)
        if "offset" in options:
            raise ValueError(
                f"{method} of a dask collection takes no offset. Use X.map_partitions with the model of to_local()."
            )
        return lazy_answer(self.to_local(), method, X, **options)

    def predict(self, X: Any, **options: Any) -> Any:
        """Predictions: lazy for a dask array (an array) or data frame (a series), at once for a table in memory.

        Parameters
        ----------
        X : dask array, dask data frame or table of shape (n_samples, n_features)
        **options
            As in ``predict`` of the ordinary estimator.
        """
        return self._answer_to("predict", X, **options)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Any:
        """Return the score of the ordinary estimator; only predictions and targets of collections are gathered."""
        if not is_collection(X):
            return float(super().score(X, y, sample_weight, **options))  # type: ignore[misc]
        return self._run(partial(self._score_of, self.predict(X, **options), y, sample_weight))

    def _score_of(self, predicted: Any, y: Any, sample_weight: Any, client: Client) -> float:
        found, y, weight = client.gather(client.compute([predicted, y, sample_weight]))
        judged = self.to_local()
        judged.predict = lambda *_, **__: np.asarray(found)
        return float(judged.score(found, np.asarray(y), weight))


def _is_in_task() -> bool:
    """Whether this runs in a task on a worker."""
    try:
        get_worker()
    except ValueError:
        return False
    return True


def _init_of(namesake: type[Any]) -> Any:
    """An ``__init__`` with the parameters of the namesake, and the client."""

    def __init__(self: Any, *args: Any, client: Client | None = None, **parameters: Any) -> None:
        namesake.__init__(self, *args, **parameters)
        self.client = client

    theirs = inspect.signature(namesake.__init__)
    own = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)
    __init__.__signature__ = theirs.replace(parameters=[*theirs.parameters.values(), own])  # type: ignore[attr-defined]
    return __init__


def _in_memory(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of the namesake, which refuses dask collections by name."""

    @wraps(method)
    def checked(self: Any, *args: Any, **options: Any) -> Any:
        if any(is_collection(each) for each in (*args, *options.values())):
            name = method.__name__
            raise TypeError(
                f"{name} takes tables in memory, not dask collections. Use it on a sample of the rows: "
                f"model.to_local().{name}(X.partitions[0].compute()), or X.blocks[0] for arrays."
            )
        return method(self, *args, **options)

    return checked


def on_worker_threads(estimator: Any) -> Any:
    """A copy that uses all threads of the worker that this runs on, unless the estimator says how many."""
    made = copy(estimator)
    if made.n_jobs is None:
        made.n_jobs = worker_threads()
    return made


def fit_ordinary(rows: Rows, estimator: Any) -> Any:
    """Fit an ordinary estimator on a worker."""
    made = on_worker_threads(estimator).fit(rows.X, rows.y, sample_weight=rows.sample_weight)
    made.n_jobs = estimator.n_jobs
    return made


class AnswersProbabilities(OnDask):
    """Classifiers."""

    def predict_proba(self, X: Any, **options: Any) -> Any:
        """Class probabilities, columns in the order of ``classes_``; lazy for dask collections, as ``predict``."""
        return self._answer_to("predict_proba", X, **options)


class AnswersScores(OnDask):
    """Classifiers with a decision function."""

    def decision_function(self, X: Any, **options: Any) -> Any:
        """Raw scores; lazy for dask collections, as ``predict``."""
        return self._answer_to("decision_function", X, **options)
