"""Pictures of models: Display classes that keep their data, made by ``from_...`` and drawn by ``plot(ax=...)``."""

from planewise.plot._partition import PartitionDisplay
from planewise.plot._projection import ProjectionDisplay
from planewise.plot._tree import TreeDisplay
from planewise.plot._views import ViewsDisplay

__all__ = [
    "PartitionDisplay",
    "ProjectionDisplay",
    "TreeDisplay",
    "ViewsDisplay",
]
