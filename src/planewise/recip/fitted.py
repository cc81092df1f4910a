"""What a fitted RECIP consists of, for the packages that save and draw it."""

from planewise._scaling import Scaling
from planewise.recip._estimates import Counts, Distances
from planewise.recip._neighbours import nearest_class_weights
from planewise.recip._rows import Coordinates, DistinctRows

__all__ = ["Coordinates", "Counts", "Distances", "DistinctRows", "Scaling", "nearest_class_weights"]
