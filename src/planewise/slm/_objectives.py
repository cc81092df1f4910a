"""What boosting lowers: the name the core knows a loss by, where scores start, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from planewise import _core

Floats = NDArray[np.float64]
# (target, raw score) -> (gradient, hessian), each shaped like the score.
OwnLoss = Callable[[Floats, Floats], tuple[Floats, Floats]]
LossLike = str | OwnLoss

_CORE_NAMES = {  # of the regression losses
    "squared_error": "squared",
    "absolute_error": "absolute",
    "huber": "huber",
    "quantile": "quantile",
    "poisson": "poisson",
}

# The core's names of losses, as `RawLoss.core` has them.
REGRESSION_LOSSES = tuple(_CORE_NAMES.values())
CLASSIFICATION_LOSSES = ("constant", "logistic", "softmax")  # of one class, of two, of more

# What no row shows is not impossible: rows set aside for validation can be all of a rare class.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class RawLoss:
    """A loss on raw scores.

    ``core`` is the core's name for it; ``own`` a user's derivatives, used instead of the core's when given.
    """

    core: str
    n_outputs: int = 1
    alpha: float = 0.5
    own: OwnLoss | None = None

    def start(self, target: Floats, weight: Floats) -> Floats:
        """The best constant score: what is known before any tree."""
        if self.own is not None:
            return np.zeros(self.n_outputs)
        if self.core == "softmax":
            share = np.bincount(target.astype(np.intp), weights=weight, minlength=self.n_outputs)
            return np.log(np.maximum(share / share.sum(), _LEAST_SHARE))
        mean = float(np.average(target, weights=weight))
        if self.core == "logistic":
            mean = min(max(mean, _LEAST_SHARE), 1 - _LEAST_SHARE)
            return np.array([np.log(mean / (1 - mean))])
        if self.core == "poisson":
            return np.array([np.log(max(mean, _LEAST_SHARE))])
        if self.core == "squared":
            return np.array([mean])
        if self.core in ("absolute", "huber"):
            return np.array([_weighted_quantile(target, weight, 0.5)])
        if self.core == "quantile":
            return np.array([_weighted_quantile(target, weight, self.alpha)])
        raise ValueError(f"No initial constant is defined for the loss {self.core!r}.")

    def mean(self, target: Floats, weight: Floats, score: Floats) -> float:
        """The weighted mean loss of raw scores."""
        return _core.mean_loss(self.core, self.alpha, target, weight, score)

    def derivatives(self, target: Floats, score: Floats) -> tuple[Floats, Floats]:
        """A user's gradient and Hessian, checked and brought to the score's shape."""
        assert self.own is not None
        given = self.own(target, score[:, 0] if self.n_outputs == 1 else score)
        if not isinstance(given, tuple) or len(given) != 2:
            raise ValueError("A custom loss must return two arrays: the gradient and the Hessian.")
        parts = [np.asarray(part, dtype=np.float64) for part in given]
        expected = score.shape if self.n_outputs > 1 else (len(score),)
        for name, part in zip(("gradient", "Hessian"), parts, strict=True):
            if part.shape not in (expected, score.shape):
                raise ValueError(f"The {name} of your loss has shape {part.shape}; expected {expected}.")
            if not np.isfinite(part).all():
                raise ValueError(f"The {name} of your loss has values that are not finite.")
        if (parts[1] < 0).any():
            raise ValueError("The Hessian of your loss has negative values; it must be zero or more everywhere.")
        gradient, hessian = (np.ascontiguousarray(part.reshape(score.shape)) for part in parts)
        return gradient, hessian

    @property
    def n_classes(self) -> int | None:
        """How many classes it is about; None if it is about numbers."""
        return {"constant": 1, "logistic": 2, "softmax": self.n_outputs}.get(self.core)

    @property
    def link(self) -> str:
        """How a raw score becomes a prediction: "identity", "exp", "logistic" or "softmax"."""
        return {"poisson": "exp", "logistic": "logistic", "softmax": "softmax"}.get(self.core, "identity")

    def numbers(self, score: Floats) -> Floats:
        """Predicted numbers of raw scores."""
        return np.exp(score[:, 0]) if self.link == "exp" else score[:, 0]

    def probabilities(self, score: Floats) -> Floats:
        """Class probabilities of raw scores."""
        if self.core == "constant":
            return np.ones((len(score), 1))
        if self.n_outputs == 1:
            right = expit(score[:, 0])
            return np.column_stack([1 - right, right])
        return softmax(score, axis=1)


def regression_loss(loss: LossLike, alpha: float, target: Floats, base_score: float | None = None) -> RawLoss:
    """The loss a regressor was asked for."""
    if callable(loss):
        return RawLoss("squared", own=loss)
    name = "squared_error" if loss == "auto" else loss
    if name not in _CORE_NAMES:
        raise ValueError(
            f"The parameter 'loss' must be one of {tuple(_CORE_NAMES)} or a function (target, score) -> "
            f"(gradient, Hessian); got {loss!r}."
        )
    if name in ("huber", "quantile") and not 0 < alpha < 1:
        raise ValueError(f"The parameter 'alpha' must lie between 0 and 1 for loss={name!r}; got {alpha!r}.")
    if name == "poisson" and base_score is not None and abs(base_score) > 700:
        raise ValueError(f"base_score is a logarithm for loss='poisson' and must lie within 700; got {base_score!r}.")
    if name == "poisson" and ((target < 0).any() or not target.any()):
        raise ValueError("loss='poisson' needs targets of zero or more, not all of them zero.")
    return RawLoss(_CORE_NAMES[name], alpha=alpha)


def classification_loss(loss: LossLike, n_classes: int) -> RawLoss:
    """Logistic for two classes, softmax for more, or a user's own derivatives of either's scores."""
    if not callable(loss) and loss not in ("auto", "log_loss"):
        raise ValueError(
            "The parameter 'loss' must be 'log_loss' or a function (target, score) -> (gradient, Hessian); "
            f"got {loss!r}."
        )
    own = loss if callable(loss) else None
    return RawLoss(class_loss_name(n_classes), n_classes if n_classes > 2 else 1, own=own)


def class_loss_name(n_classes: int) -> str:
    """The core's name of the loss for this many classes; "constant" for one, where nothing is to be learnt."""
    return CLASSIFICATION_LOSSES[min(n_classes, 3) - 1]


def _weighted_quantile(values: Floats, weight: Floats, level: float) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = level * reached[-1]
    at = min(int(np.searchsorted(reached, wanted)), len(values) - 1)
    # Exactly as much on each side: the middle, as in the leaves.
    after = min(at + 1, len(values) - 1) if reached[at] == wanted else at
    return float((values[order[at]] + values[order[after]]) / 2)
