"""The machine for many rows, learned by mini-batches."""

from planewise.mcm.large._classifier import LargeScaleMCMClassifier

__all__ = ["LargeScaleMCMClassifier"]
