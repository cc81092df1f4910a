"""The conformal factor of an explicit feature map: its cores, the eigenproblem block by block, its shrinkage."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from planewise.data.problem import FloatArray
from planewise.machines.conformal_factor import SHRINKAGES, ConformalFactor, fit_factor_on_features
from planewise.machines.descent import LinearModel, Places, Sample
from planewise.machines.rows import balanced
from planewise.machines.scores import choose_class

SHRUNK_BY = 5000  # rows on which shrinkages are tried


def choose_cores(model: LinearModel, most: int) -> FloatArray:
    """Choose prototypes in use, in standard units, evenly from the classes."""
    weights = model.weights
    return model.feature_map.prototypes[balanced(_voted(weights), np.abs(weights).max(axis=1), most)]


def choose_equal_cores(model: LinearModel, sample: Sample, most: int) -> tuple[FloatArray, NDArray[np.intp]]:
    """Cores of which all classes have equally many, and how many of each class there were to choose from.

    The least important of the larger classes are left out.
    """
    cores, weights = model.feature_map.prototypes, model.weights
    belongs, importance = classes_of(cores, weights, sample), np.abs(weights).max(axis=1)
    counts = np.bincount(belongs, minlength=max(2, len(sample.outputs)))
    most = min(most // len(counts), int(counts.min())) * len(counts)
    return cores[balanced(belongs, importance, most)], counts


def _voted(weights: FloatArray) -> NDArray[np.intp]:
    """The class that the weight of a prototype speaks for."""
    return (weights[:, 0] > 0).astype(np.intp) if weights.shape[1] == 1 else weights.argmax(axis=1)


def classes_of(prototypes: FloatArray, weights: FloatArray, sample: Sample) -> NDArray[np.intp]:
    """The class of the row that a prototype is; of one that was moved, the class that its weight speaks for."""
    wanted = {row.tobytes() for row in prototypes}
    known: dict[bytes, int] = {}
    for places in sample.blocks():
        block = sample.take(places)
        for row, label in zip(block.standard(), block.label, strict=True):
            if (name := row.tobytes()) in wanted:
                known.setdefault(name, int(label))
    voted = _voted(weights)
    return np.array([known.get(row.tobytes(), vote) for row, vote in zip(prototypes, voted, strict=True)], np.intp)


def factor_on_map(
    model: LinearModel, sample: Sample, learned: Places, cores: FloatArray, gamma: float, *, printed: bool = False
) -> ConformalFactor:
    """The r that separates the classes best, with features for one block of rows at a time."""

    def blocks() -> Iterator[tuple[FloatArray, FloatArray, NDArray[np.int32], NDArray[np.float64]]]:
        for places in sample.blocks(learned):
            block = sample.take(places)
            rows = block.standard()
            yield rows, model.feature_map.forward(rows).features, block.label, block.weight

    return fit_factor_on_features(blocks(), cores, gamma, printed=printed)


def choose_shrinkage(
    factor: ConformalFactor,
    model: LinearModel,
    sample: Sample,
    learned: Places,
    watched: Places,
    rng: np.random.Generator,
) -> float:
    """The s of (1 - s) + s r with which least squares on the features serve rows not learned from best."""
    if len(model.weights) == 0:  # mu has left no feature to judge by
        return 0.0
    learned = rng.permutation(learned)[:SHRUNK_BY]
    if len(watched) == 0:
        cut = max(1, len(learned) // 4)
        watched, learned = learned[:cut], learned[cut:]
    fitted, judged = sample.take(learned), sample.take(watched)
    parts = []
    for part in (fitted, judged):
        rows = part.standard()
        parts.append((model.feature_map.forward(rows).features, factor(rows)))

    def accuracy(shrinkage: float) -> float:
        z, z_judged = (features * factor.blend(r, shrinkage)[:, None] for features, r in parts)
        machine = Ridge(alpha=1e-3 * len(z)).fit(z, fitted.signs(), fitted.weight)
        decided = choose_class(machine.predict(z_judged).reshape(len(z_judged), -1))
        return float(np.average(decided == judged.label, weights=judged.weight))

    return max(SHRINKAGES, key=accuracy)  # of equals the smallest
