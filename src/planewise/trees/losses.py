"""What boosting lowers: the name the core knows a loss by, where scores start, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

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
    "gamma": "gamma",
    "tweedie": "tweedie",
}
_POWERS = {"poisson": 1.0, "gamma": 2.0}  # that of "tweedie" is a parameter

# The core's names of losses, as `RawLoss.core` has them.
REGRESSION_LOSSES = tuple(_CORE_NAMES.values())
CLASSIFICATION_LOSSES = ("constant", "logistic", "softmax")  # of one class, of two, of more

# What no row shows is not impossible: rows set aside for validation can be all of a rare class.
_LEAST_SHARE = 1e-9


class Ranks(NamedTuple):
    """How a ranking is judged."""

    places: int  # that count in the loss; 0: all
    truncation: int  # rows are compared if one of the two is among so many first places; 0: always
    linear_gain: bool  # a row is worth its grade y, rather than 2^y - 1


@dataclass(frozen=True)
class RawLoss:
    """A loss on raw scores.

    ``core`` is the core's name for it; ``own`` a user's derivatives, used instead of the core's when given. Only
    "softmax" has several outputs, one per class. ``power`` belongs to the losses whose scores are logarithms: the
    variance that they assume is proportional to this power of the mean. ``ranks`` belongs to "ranking", whose targets
    are a grade and the number of the query; the rows of a query follow each other.
    """

    core: str
    n_outputs: int = 1
    alpha: float = 0.5
    own: OwnLoss | None = None
    power: float = 1.0
    ranks: Ranks | None = None

    def start(self, target: Floats, weight: Floats, offset: Floats | None = None) -> Floats:
        """The best constant of each output to add to the offsets (none: zero): what is known before any tree."""
        if self.own is not None or self.core == "ranking":
            return np.zeros(self.n_outputs)
        if offset is not None and self.n_classes is not None:
            return best_class_constants(target.astype(np.intp), weight, offset)
        if offset is None and self.starts_at_mean:
            return self.start_of_sums(self.sums(target, weight)[None])
        if offset is not None and self.link == "exp":
            return np.array([self._best_logarithm(target, weight, offset[:, 0])])
        if offset is not None:
            target, weight = self.without_offset(target, weight, offset)
        return np.array([self._best_constant(target, weight)])

    def _best_constant(self, target: Floats, weight: Floats) -> float:
        if self.core in ("absolute", "huber"):
            return _weighted_quantile(target, weight, 0.5)
        if self.core == "quantile":
            return _weighted_quantile(target, weight, self.alpha)
        if self.core == "squared":
            return float(np.average(target, weights=weight))
        raise ValueError(f"No initial constant is defined for the loss {self.core!r}.")

    @property
    def starts_at_mean(self) -> bool:
        """Whether the best constant follows from sums over the rows."""
        return self.core in ("squared", "logistic", "softmax") or self.link == "exp"

    def sums(self, target: Floats, weight: Floats) -> Floats:
        """What `start_of_sums` needs of some rows: the digits of sums that are exact in any order (sums x digits).

        These are the weights of each class; or the weighted targets, then the weights.
        """
        if self.core == "softmax":
            terms = [weight[target == k] for k in range(self.n_outputs)]
        else:
            terms = [target * weight, weight]
        return np.stack([_core.exact_sum(np.ascontiguousarray(each)) for each in terms])

    def start_of_sums(self, sums: Floats) -> Floats:
        """The best constant of each output from the sums of all parts of the rows (parts x sums x digits)."""
        totals = np.array([_core.exact_total(np.ascontiguousarray(sums[:, k])) for k in range(sums.shape[1])])
        if self.core == "softmax":
            return _logarithms(np.maximum(totals / totals.sum(), _LEAST_SHARE))
        mean = totals[:-1] / totals[-1]
        if self.core == "logistic":
            mean = np.clip(mean, _LEAST_SHARE, 1 - _LEAST_SHARE)
            return _logarithms(mean / (1 - mean))
        if self.link == "exp":
            return _logarithms(np.where(mean > 0, mean, _LEAST_SHARE))
        return mean

    def _best_logarithm(self, target: Floats, weight: Floats, offset: Floats) -> float:
        """Return the logarithm of the mean of what offsets leave, without exponentials that overflow."""
        some = target.any()
        total = logsumexp((1 - self.power) * offset, b=weight * target if some else weight)
        found = float(total - logsumexp((2 - self.power) * offset, b=weight))
        return found if some else found + float(np.log(_LEAST_SHARE))

    def core_options(self) -> _core.BoostOptions:
        """The core's options with this loss, all others at their defaults."""
        options = _core.BoostOptions()
        options.loss, options.alpha = self.core, self.alpha
        options.power = self.power
        options.places, options.truncation, options.linear_gain = self.ranks or (0, 0, False)
        return options

    def without_offset(self, target: Floats, weight: Floats, offset: Floats) -> tuple[Floats, Floats]:
        """Return targets and weights whose loss without offsets is that with them, but for a constant.

        These are the numbers that are left to be predicted. The weights have the mean of those given, whatever the unit
        of the offsets (rows x 1).
        """
        offset = offset[:, 0]
        if self.link != "exp":
            return target - offset, weight
        exponent = (2 - self.power) * offset
        weights = weight * np.exp(exponent - exponent.max())
        with np.errstate(over="ignore"):
            left = np.minimum(target * np.exp(-offset), np.finfo(np.float32).max)  # what trees can read
        return left, weights * (weight.mean() / weights.mean())

    def mean(self, target: Floats, weight: Floats, score: Floats) -> float:
        """The weighted mean loss of raw scores, over all outputs."""
        return _core.mean_loss(self.core_options(), target, weight, score)

    def is_like(self, other: RawLoss) -> bool:
        """Whether scores mean the same with the other loss."""
        kept = ["core", "n_outputs", "power"]
        kept += ["alpha"] if self.core in ("quantile", "huber") else []
        return all(getattr(self, name) == getattr(other, name) for name in kept)

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
                raise ValueError(f"The {name} of the custom loss has shape {part.shape}; expected {expected}.")
            if not np.isfinite(part).all():
                raise ValueError(f"The {name} of the custom loss has values that are not finite.")
        if (parts[1] < 0).any():
            raise ValueError("The Hessian of the custom loss has negative values; it must be zero or more everywhere.")
        gradient, hessian = (np.ascontiguousarray(part.reshape(score.shape)) for part in parts)
        return gradient, hessian

    @property
    def n_classes(self) -> int | None:
        """How many classes it is about; None if it is about numbers."""
        return {"constant": 1, "logistic": 2, "softmax": self.n_outputs}.get(self.core)

    @property
    def link(self) -> str:
        """How a raw score becomes a prediction: "identity", "exp", "logistic" or "softmax"."""
        named = {"logistic": "logistic", "softmax": "softmax", **dict.fromkeys((*_POWERS, "tweedie"), "exp")}
        return named.get(self.core, "identity")

    def numbers(self, score: Floats) -> Floats:
        """Return the predicted numbers of raw scores."""
        return np.exp(score[:, 0]) if self.link == "exp" else score[:, 0]

    def probabilities(self, score: Floats) -> Floats:
        """Class probabilities of raw scores."""
        if self.core == "constant":
            return np.ones((len(score), 1))
        if self.n_outputs == 1:
            right = expit(score[:, 0])
            return np.column_stack([1 - right, right])
        return softmax(score, axis=1)

    def likeliest(self, score: Floats) -> NDArray[np.intp]:
        """The number of the most probable class; at one half, the first of two."""
        if self.core == "constant":
            return np.zeros(len(score), np.intp)
        return (score[:, 0] > 0).astype(np.intp) if self.n_outputs == 1 else score.argmax(axis=1)


def regression_loss(
    loss: LossLike,
    alpha: float,
    target: Floats,
    base_score: float | None = None,
    power: float = 1.5,
    rows: NDArray[np.intp] | None = None,
) -> RawLoss:
    """The loss a regressor was asked for; `rows` are the places of the targets in y, where they are not all of it."""
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
    power = power if name == "tweedie" else _POWERS.get(name, 1.0)
    found = RawLoss(_CORE_NAMES[name], alpha=float(alpha), power=float(power))
    if found.link == "exp":
        if base_score is not None and abs(base_score) > 700:
            raise ValueError(
                f"base_score is a logarithm for loss={name!r} and must lie within 700; got {base_score!r}."
            )
        check_targets(found, target, "y", rows)
        if not target.any():
            raise ValueError(f"loss={name!r} needs targets of zero or more, not all of them zero.")
    return found


def check_targets(loss: RawLoss, target: Floats, name: str, rows: NDArray[np.intp] | None = None) -> None:
    """ValueError if the loss is not defined for a target of the array with this name."""
    if loss.own is not None or loss.link != "exp":
        return
    wrong = target <= 0 if loss.core == "gamma" else target < 0
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        row = first if rows is None else int(rows[first])
        least = "above zero" if loss.core == "gamma" else "of zero or more"
        value = float(target[first])
        raise ValueError(f"loss={loss.core!r} needs targets {least}; row {row} of {name} has {value!r}.")


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


def _logarithms(values: Floats) -> Floats:
    """One by one: NumPy has other loops, whose last digits differ, for other vector widths."""
    return np.array([math.log(value) for value in values])


def best_class_constants(label: NDArray[np.intp], weight: Floats, offset: Floats) -> Floats:
    """The constants that, added to the offsets, minimise the log-loss: one for two classes, else one per class."""
    weight = weight / weight.sum()
    two = offset.shape[1] == 1
    scores = np.hstack([np.zeros_like(offset), offset]) if two else offset
    share = np.maximum(np.bincount(label, weights=weight, minlength=scores.shape[1]), _LEAST_SHARE)
    share /= share.sum()

    def loss_at(constants: Floats) -> float:
        return float(weight @ logsumexp(scores + constants, axis=1) - share @ constants)

    constants, now = np.log(share), np.inf
    for _ in range(100):
        probability = softmax(scores + constants, axis=1)
        mean = weight @ probability
        before, now = now, loss_at(constants)
        if np.abs(mean - share).max() < 1e-12 or not now < before:
            break
        hessian = np.diag(mean) - (probability * weight[:, None]).T @ probability
        newton = np.linalg.lstsq(hessian, share - mean, rcond=None)[0]
        # Newton's step can overshoot, and is halved until it does not; the other one never does (Jensen's inequality),
        # but can be slow. Flat stretches between rows with far offsets need both.
        steps = [newton * 0.5**halvings for halvings in range(10)] + [np.log(share / np.maximum(mean, 1e-300))]
        constants = constants + steps[int(np.argmin([loss_at(constants + step) for step in steps]))]
    return constants[1:] - constants[:1] if two else constants


def _weighted_quantile(values: Floats, weight: Floats, level: float) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = level * reached[-1]
    at = min(int(np.searchsorted(reached, wanted)), len(values) - 1)
    # Exactly as much on each side: the middle, as in the leaves.
    after = min(at + 1, len(values) - 1) if reached[at] == wanted else at
    return float((values[order[at]] + values[order[after]]) / 2)
