"""What a fitted RECIP consists of, for the packages that save, draw and review it."""

from planewise._scaling import Scaling
from planewise.recip._estimates import Counts, Distances
from planewise.recip._neighbours import nearest_class_weights
from planewise.recip._rows import Coordinates, DistinctRows
from planewise.recip._triage import Triage, triage

__all__ = ["Coordinates", "Counts", "Distances", "DistinctRows", "Scaling", "Triage", "nearest_class_weights", "triage"]
