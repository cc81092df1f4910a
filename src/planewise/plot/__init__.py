"""Plots of models and predictions, as `Display` classes."""

from planewise.plot.partition import PartitionDisplay
from planewise.plot.projection import ProjectionDisplay
from planewise.plot.tree import TreeDisplay
from planewise.plot.views import ViewsDisplay

__all__ = ["PartitionDisplay", "ProjectionDisplay", "TreeDisplay", "ViewsDisplay"]
