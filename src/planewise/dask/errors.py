"""What can go wrong on a cluster, each with its own class."""

from __future__ import annotations


class PartitionError(RuntimeError):
    """Computing a partition raised an error, which is the cause of this one."""


class LostWorkersError(RuntimeError):
    """No worker is left, or a worker has not answered for too long."""


class LostSchedulerError(RuntimeError):
    """The connection to the scheduler ended, or the partitions were released by somebody else."""


class WrongPartitionError(ValueError):
    """A partition does not have what a fit needs; the text names it."""
