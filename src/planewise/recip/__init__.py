"""RECIP: the low-dimensional view in which a query is decided."""

from planewise.recip._classifier import RECIPClassifier
from planewise.recip._entropy import conditional_entropy, local_entropy, tsallis_divergence
from planewise.words import ProjectionExplanation, ViewsReport

__all__ = [
    "ProjectionExplanation",
    "RECIPClassifier",
    "ViewsReport",
    "conditional_entropy",
    "local_entropy",
    "tsallis_divergence",
]
