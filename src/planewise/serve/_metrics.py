"""Counts for monitoring, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """What was asked and answered since the start; only the event loop changes it."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()  # by path and status
        self.n_rows = self.n_running = 0
        self._counts = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request; the times of predictions alone are kept."""
        self.requests[path, status] += 1
        if path == "/predict":
            self._counts[bisect_left(BUCKETS, seconds)] += 1
            self._seconds += seconds

    def text(self, n_waiting: int) -> str:
        """All of it."""
        errors = sum(count for (_, status), count in self.requests.items() if status >= 400)
        lines = [*_head("planewise_requests_total", "counter", "Requests by path and status.")]
        lines += [
            f'planewise_requests_total{{path="{path}",status="{status}"}} {count}'
            for (path, status), count in sorted(self.requests.items())
        ]
        for name, kind, words, value in (
            ("planewise_errors_total", "counter", "Requests with a status of 400 or more.", errors),
            ("planewise_rows_total", "counter", "Rows that were predicted.", self.n_rows),
            ("planewise_running_requests", "gauge", "Requests being answered now.", self.n_running),
            ("planewise_waiting_requests", "gauge", "Requests waiting for a thread.", n_waiting),
        ):
            lines += [*_head(name, kind, words), f"{name} {value}"]
        return "\n".join([*lines, *self._histogram()]) + "\n"

    def _histogram(self) -> list[str]:
        name, total = "planewise_predict_seconds", 0
        lines = _head(name, "histogram", "Time from the end of the headers to the end of the answer of POST /predict.")
        for bound, count in zip((*BUCKETS, "+Inf"), self._counts, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {self._seconds:.6f}", f"{name}_count {total}"]


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
