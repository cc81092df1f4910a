"""Tables with names, gaps and words: what stands between a file on the disk and an estimator."""

from planewise.table._model import TableModel

__all__ = ["TableModel"]
