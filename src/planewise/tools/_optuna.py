"""Stop trials of Optuna that will not become good, after a few rounds of boosting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from planewise._extras import require


class OptunaPruning:
    """A callback of boosting that reports every round to an Optuna trial and ends the fit if the trial is pruned.

    Pass it to ``callbacks`` of :class:`~planewise.SLMBoostClassifier`, :class:`~planewise.SLMBoostRegressor` or
    :class:`~planewise.SLMBoostRanker`. If the pruner of the study decides to prune, ``fit`` raises
    ``optuna.TrialPruned``, which Optuna counts as a pruned trial. A trial that is not pruned has the same model as
    without the callback.

    Use it for one fit per trial. ``cross_val_score`` would count a pruned fit as a failed one and go on.

    Parameters
    ----------
    trial : optuna.trial.Trial
        The trial that the objective function was called with.
    metric : {"validation", "train"}, default="validation"
        The rows whose loss is reported: the validation rows (``X_val``, or the rows that ``early_stopping=True`` sets
        aside), or the training rows. With `scoring` it is their score. A loss is minimized, a score maximized: the
        direction of the study must be the same.
    every : int, default=1
        Report only every so many rounds. Each report is a write to the storage of the study.

    Examples
    --------
    >>> import optuna
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from planewise import SLMBoostClassifier
    >>> from planewise.tools import OptunaPruning
    >>> X, X_val, y, y_val = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    >>> def objective(trial):
    ...     model = SLMBoostClassifier(
    ...         n_estimators=20,
    ...         learning_rate=trial.suggest_float("learning_rate", 0.01, 0.5, log=True),
    ...         callbacks=[OptunaPruning(trial)],
    ...         random_state=0,
    ...     )
    ...     model.fit(X, y, X_val=X_val, y_val=y_val)
    ...     return -model.validation_score_[-1]
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0), pruner=optuna.pruners.MedianPruner())
    >>> study.optimize(objective, n_trials=3)
    >>> len(study.trials)
    3
    """

    def __init__(self, trial: Any, metric: str = "validation", *, every: int = 1) -> None:
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ValueError(f"every must be an integer of at least 1; got {every!r}.")
        self.trial, self.metric, self.every = trial, metric, every

    def __call__(self, number: int, losses: Mapping[str, float]) -> bool:
        """Report a round; never asks boosting to stop, because a pruned fit ends with an error."""
        if self.metric not in losses:
            raise ValueError(self._not_there(losses))
        if number % self.every:
            return False
        self.trial.report(losses[self.metric], number)
        if self.trial.should_prune():
            optuna = require("OptunaPruning", "optuna")
            raise optuna.TrialPruned(f"Pruned after round {number}: {self.metric} {losses[self.metric]:.6g}.")
        return False

    def __deepcopy__(self, memo: dict[int, Any]) -> OptunaPruning:
        """Itself: scikit-learn's ``clone`` copies parameters, but a copy of a trial would report to nobody."""
        return self

    def _not_there(self, losses: Mapping[str, float]) -> str:
        known = ", ".join(repr(name) for name in losses)
        advice = ""
        if self.metric.startswith("validation") and "validation" not in losses:
            advice = " Pass X_val and y_val to fit, or use early_stopping=True."
        return f"metric={self.metric!r} of OptunaPruning is not reported by this fit, which reports {known}.{advice}"
