"""A model of a table with named, typed columns."""

from planewise.table.model import TableModel, as_table_model

__all__ = ["TableModel", "as_table_model"]
