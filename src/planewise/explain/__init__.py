"""Explanations of predictions and descriptions of models, as data and text."""

from planewise.explain.describe import Description, describe
from planewise.explain.neighbours import ProjectionExplanation
from planewise.explain.reasons import Contributions, Path, Reason, Vectors, View

__all__ = ["Contributions", "Description", "Path", "ProjectionExplanation", "Reason", "Vectors", "View", "describe"]
