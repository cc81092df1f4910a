"""Trees, forests and boosting, fitted on dask arrays and data frames.

They have the parameters and attributes of their namesakes, and `client`. Predictions of collections are lazy.
"""

from planewise._optional import require

for _package in ("dask", "distributed"):
    require("planewise.dask", _package, "dask")

from planewise.dask.boosting import SLMBoostClassifier, SLMBoostRegressor  # noqa: E402
from planewise.dask.errors import LostSchedulerError, LostWorkersError, PartitionError  # noqa: E402
from planewise.dask.trees import SLMClassifier, SLMForestClassifier, SLMForestRegressor, SLMRegressor  # noqa: E402

__all__ = [
    "LostSchedulerError",
    "LostWorkersError",
    "PartitionError",
    "SLMBoostClassifier",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
]
