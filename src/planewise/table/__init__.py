"""Tables with named, typed columns: how a table in a file becomes the input of an estimator."""

from planewise.table._columns import (
    COLUMN_KINDS,
    Column,
    LeftOut,
    as_polars,
    first_unread,
    kind_of,
    polars,
    require_columns,
    unread_value,
    with_dates,
)
from planewise.table._families import (
    FAMILIES,
    ON_CLUSTERS,
    TREES,
    estimator_class,
    estimator_name,
    for_many_rows,
    max_rows,
    read_setting,
)
from planewise.table._model import TableModel, as_table_model, read_as, read_target, target_values, task_of

__all__ = [
    "COLUMN_KINDS",
    "FAMILIES",
    "ON_CLUSTERS",
    "TREES",
    "Column",
    "LeftOut",
    "TableModel",
    "as_polars",
    "as_table_model",
    "estimator_class",
    "estimator_name",
    "first_unread",
    "for_many_rows",
    "kind_of",
    "max_rows",
    "polars",
    "read_as",
    "read_setting",
    "read_target",
    "require_columns",
    "target_values",
    "task_of",
    "unread_value",
    "with_dates",
]
