"""Measure a model on rows with known targets."""

from planewise.evaluate.calibration import calibration
from planewise.evaluate.confusion import confusion
from planewise.evaluate.evaluation import Evaluation, evaluate, worst_rows
from planewise.evaluate.quality import quality

__all__ = ["Evaluation", "calibration", "confusion", "evaluate", "quality", "worst_rows"]
