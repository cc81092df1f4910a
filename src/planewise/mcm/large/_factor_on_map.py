"""The conformal factor of an explicit feature map: its cores, the eigenproblem block by block, its shrinkage."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from planewise._input import FloatArray
from planewise.mcm._conformal_factor import SHRINKAGES, ConformalFactor, fit_factor_on_features
from planewise.mcm._feature_maps import KernelMap, PrototypeMap
from planewise.mcm._rows import balanced, balanced_draw
from planewise.mcm._scores import choose_class
from planewise.mcm.large._descent import LinearModel, Places, Sample

SHRUNK_BY = 5000  # rows on which shrinkages are tried


def choose_cores(model: LinearModel, sample: Sample, most: int, rng: np.random.Generator) -> FloatArray:
    """Prototypes in use, or, where the map has none, rows; in standard units, evenly from the classes."""
    if not isinstance(model.feature_map, (PrototypeMap, KernelMap)):
        return sample.take(balanced_draw(sample.label, min(most, model.feature_map.n_components), rng)).standard()
    weights = model.weights
    belongs = (weights[:, 0] > 0).astype(np.intp) if weights.shape[1] == 1 else weights.argmax(axis=1)
    return model.feature_map.prototypes[balanced(belongs, np.abs(weights).max(axis=1), most)]


def factor_on_map(
    model: LinearModel, sample: Sample, learned: Places, cores: FloatArray, gamma: float
) -> ConformalFactor:
    """The r that separates the classes best, with features for one block of rows at a time."""

    def blocks() -> Iterator[tuple[FloatArray, FloatArray, NDArray[np.int32], NDArray[np.float64]]]:
        for places in sample.blocks(learned):
            block = sample.take(places)
            rows = block.standard()
            yield rows, model.feature_map.forward(rows).features, block.label, block.weight

    return fit_factor_on_features(blocks(), cores, gamma)


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
