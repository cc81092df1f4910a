"""Callbacks of scikit-learn 1.9 and later (``set_callbacks``), in one place: earlier versions have none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def _with_callbacks(fit: Any) -> Any:
        return fit


__all__ = ["CallbackSupportMixin", "FitTasks", "with_callbacks"]


def with_callbacks(fit: Fit) -> Fit:
    """Tear the callbacks down after `fit`, even if it fails."""
    return cast(Fit, _with_callbacks(fit))


class FitTasks:
    """Tells an estimator's callbacks about its fit and each step of it. Falsy if the estimator has no callbacks.

    Parameters
    ----------
    estimator : estimator
        Its ``fit`` is decorated with `with_callbacks`.
    X, y, sample_weight
        As passed to ``fit``.
    name : str
        What a step is called, such as "round".
    max_steps : int
        Number of steps, if none is left out.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, name: str, max_steps: int) -> None:
        self._estimator, self._name = estimator, name
        self._seen = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        self._fit: Any = None
        self._step: Any = None
        if getattr(estimator, "_skl_callbacks", None):
            self._fit = estimator._init_callback_context(max_subtasks=max_steps)
            self._fit.call_on_fit_task_begin(estimator=estimator, **self._seen)

    def __bool__(self) -> bool:
        return self._fit is not None

    def begin(self, name: str | None = None) -> None:
        """A step begins."""
        if self._fit is not None:
            self._step = self._fit.subcontext(task_name=name or self._name)
            self._step.call_on_fit_task_begin(estimator=self._estimator, **self._seen)

    def end(self, fitted: Callable[[], Mapping[str, Any]] | None = None) -> bool:
        """The step ends; `fitted` makes the attributes of the model so far. Returns whether a callback asks to stop."""
        return self._end(self._step, fitted)

    def end_all(self) -> None:
        """The fit ends; the estimator has its attributes."""
        self._end(self._fit, lambda: {})

    def _end(self, context: Any, fitted: Callable[[], Mapping[str, Any]] | None) -> bool:
        if context is None:
            return False
        asked = context.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes=fitted, **self._seen)
        return bool(asked)
