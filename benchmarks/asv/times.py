"""Seconds and memory of the cases that `make bench` counts, for airspeed velocity: how they changed over commits."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # asv imports this folder by itself

from benchmarks.instructions import cases


class Case:
    """One of the small fits and predictions."""

    param_names = ("case",)
    params = (list(cases()),)

    def setup(self, case: str) -> None:
        self.work = cases()[case]

    def time_case(self, _case: str) -> None:
        self.work()

    def peakmem_case(self, _case: str) -> None:
        self.work()
