"""What a family of its own that boosts trees of hyperplanes is built on."""

from planewise.slm._boost_data import Data
from planewise.slm._boosting import Boosting
from planewise.slm._describe import rules_of_tree
from planewise.slm._growth import training_table
from planewise.slm._objectives import RawLoss, classification_loss, regression_loss

__all__ = ["Boosting", "Data", "RawLoss", "classification_loss", "regression_loss", "rules_of_tree", "training_table"]
