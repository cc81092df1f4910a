"""Scores of a kernel machine in plain NumPy and in a chosen precision, to know what float32 would change."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.data.scaling import TAIL_FACTOR
from planewise.export.models import Floats, KernelMachine
from planewise.machines.scores import class_scores, probabilities

ROWS_TRIED, ROWS_AT_ONCE = 128, 16
FINE_ENOUGH = 4e-6  # of a probability, or of the range of numbers; 1e-5 is promised


def float_is_enough(machine: KernelMachine) -> bool:
    """Whether float32 gives nearly the results of float64 on rows like the machine's vectors."""
    rows = _trial_rows(machine)
    answers = [_answers(machine, raw_scores(machine, rows, kind)) for kind in (np.float64, np.float32)]
    size = np.ptp(answers[0]) if machine.classes is None else 1.0
    return bool(np.abs(answers[0] - answers[1]).max(initial=0) <= FINE_ENOUGH * max(float(size), 1e-300))


def _answers(machine: KernelMachine, raw: NDArray[Any]) -> Floats:
    raw = raw.astype(np.float64)
    if machine.classes is None:
        return raw
    scores = class_scores(raw, len(machine.classes), machine.multi_class)
    return probabilities(scores, 1.0 if machine.slope is None else machine.slope)


def _trial_rows(machine: KernelMachine) -> NDArray[np.float32]:
    """Rows in the user's units: around the vectors, or around the mean if there are no vectors."""
    rng = np.random.default_rng(0)
    width = machine.n_features
    centres = machine.vectors if machine.kernel != "linear" else np.zeros((1, width))
    centres = centres if len(centres) else np.zeros((1, width))
    z = centres[rng.integers(len(centres), size=ROWS_TRIED)] + rng.normal(size=(ROWS_TRIED, width))
    if machine.tails is not None:
        z = np.sinh(np.clip(z * machine.tails[1] + machine.tails[0], -5, 5)) / TAIL_FACTOR
    return (z * machine.spread + machine.mean).astype(np.float32)


def raw_scores(machine: KernelMachine, rows: NDArray[Any], kind: Any) -> NDArray[Any]:
    """Scores by machine, term after term as the C code adds them."""
    parts = [rows[first : first + ROWS_AT_ONCE] for first in range(0, len(rows), ROWS_AT_ONCE)]
    return np.concatenate([_block(machine, part.astype(kind), kind) for part in parts])


def _block(machine: KernelMachine, rows: NDArray[Any], kind: Any) -> NDArray[Any]:
    def to(values: Any) -> NDArray[Any]:
        return np.asarray(values, kind)

    if machine.kernel == "linear":
        terms = (rows - to(machine.mean))[:, None, :] * to(machine.coefficients / machine.spread)
        return _added(terms) + to(machine.intercept)
    z = (rows - to(machine.mean)) * to(1 / machine.spread)
    if machine.tails is not None:
        z = (np.arcsinh(to(TAIL_FACTOR) * z) - to(machine.tails[0])) * to(1 / machine.tails[1])
    values = _kernel_values(machine, z, to)
    score = _added(values[:, None, :] * to(machine.coefficients))
    if machine.factor is not None:
        bumps = machine.factor
        apart = _added((z[:, None, :] - to(bumps.cores)) ** 2)
        r = _added(np.exp(-to(bumps.gamma) * apart) * to(bumps.coef)) + to(bumps.constant)
        score = score * (to(1 - bumps.shrinkage) + to(bumps.shrinkage) * r)[:, None]
    return score + to(machine.intercept)


def _kernel_values(machine: KernelMachine, z: NDArray[Any], to: Any) -> NDArray[Any]:
    vectors = to(machine.vectors)
    if machine.kernel == "rbf":
        apart = z[:, None, :] - vectors
        size = apart * apart
        return np.exp(-to(machine.gamma) * _added(size if machine.metric is None else size * to(machine.metric)))
    product = _added(z[:, None, :] * vectors)
    if machine.kernel == "product":
        return product
    return (to(machine.gamma) * product + to(machine.coef0)) ** machine.degree  # "poly"


def _added(terms: NDArray[Any]) -> NDArray[Any]:
    """Sums along the last axis, one term after another."""
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1], terms.dtype)
    return np.add.accumulate(terms, axis=-1)[..., -1]


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """The classes of each one-versus-one machine."""
    return list(combinations(range(n_classes), 2))
