"""Projection retrieval (RECIP): each row is decided in one low-dimensional projection."""

from planewise.recip.classifier import RECIPClassifier
from planewise.recip.entropy import conditional_entropy, local_entropy, tsallis_divergence

__all__ = ["RECIPClassifier", "conditional_entropy", "local_entropy", "tsallis_divergence"]
