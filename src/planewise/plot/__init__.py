"""Pictures of models: Display classes that keep their data, made by ``from_...`` and drawn by ``plot(ax=...)``."""

from planewise.plot._convergence import ConvergenceDisplay, Curve
from planewise.plot._embedding import EmbeddingDisplay
from planewise.plot._feature_test import FeatureTestDisplay
from planewise.plot._partition import PartitionDisplay
from planewise.plot._projection import ProjectionDisplay
from planewise.plot._selection import SelectionDisplay
from planewise.plot._sparsity import SparsityDisplay
from planewise.plot._tree import TreeDisplay
from planewise.plot._views import ViewsDisplay

__all__ = [
    "ConvergenceDisplay",
    "Curve",
    "EmbeddingDisplay",
    "FeatureTestDisplay",
    "PartitionDisplay",
    "ProjectionDisplay",
    "SelectionDisplay",
    "SparsityDisplay",
    "TreeDisplay",
    "ViewsDisplay",
]
