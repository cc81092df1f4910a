"""One way to measure a model: quality with 95 % confidence intervals beside simple models, calibration, mistakes.

``planewise fit``, ``planewise demo`` and :func:`planewise.report.report` all take their figures from here.
"""

from planewise.evaluate._calibration import Calibration, Group, calibration
from planewise.evaluate._comparison import ConstantComparison, LinearComparison
from planewise.evaluate._confusion import Confusion, confusion
from planewise.evaluate._evaluation import Evaluation, evaluate, worst_rows
from planewise.evaluate._importance import leading_features
from planewise.evaluate._measured import Measured
from planewise.evaluate._quality import MEASURES, Quality, in_words, measures, quality, score

__all__ = [
    "MEASURES",
    "Calibration",
    "Confusion",
    "ConstantComparison",
    "Evaluation",
    "Group",
    "LinearComparison",
    "Measured",
    "Quality",
    "calibration",
    "confusion",
    "evaluate",
    "in_words",
    "leading_features",
    "measures",
    "quality",
    "score",
    "worst_rows",
]
