"""Trees, forests and boosting, fitted on dask arrays and data frames.

They have the parameters and attributes of their namesakes, and `client`. Predictions of collections are lazy.
"""

from planewise import _extras

_extras.require_all("planewise.dask", ("dask", "distributed"), "dask")

from planewise.dask._boosting import SLMBoostClassifier, SLMBoostRegressor  # noqa: E402
from planewise.dask._engine import DaskParts  # noqa: E402
from planewise.dask._errors import LostSchedulerError, LostWorkersError, PartitionError  # noqa: E402
from planewise.dask._trees import SLMClassifier, SLMForestClassifier, SLMForestRegressor, SLMRegressor  # noqa: E402

__all__ = [
    "DaskParts",
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
