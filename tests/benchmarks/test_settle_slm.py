"""Claims of the SLM paper, settled by a rule."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.reproduce.settle_slm import outperform


@pytest.mark.parametrize(
    ("rival", "everywhere", "verdict"),
    [
        ([89, 79, 70], True, "holds"),
        ([91, 79, 69], False, "holds"),
        ([91, 79, 69], True, "holds in part"),
        ([91, 81, 69], True, "does not hold"),
    ],
)
def test_a_claim_is_settled_by_the_figures(rival, everywhere, verdict):
    def entries(means):
        return [SimpleNamespace(mean=mean, values=(mean - 0.1, mean + 0.1)) for mean in means]

    found = list(zip("abc", entries([90, 80, 70]), entries(rival), strict=True))
    results = SimpleNamespace(
        pairs=lambda ours, theirs: iter(found), standard_error=lambda title, differences: np.std(differences)
    )
    settled = outperform(("SLM",), ("MLP",), everywhere=everywhere)(results)
    assert settled.verdict == verdict
    assert ("two standard errors behind on a" in settled.evidence) == (rival[0] > 90)
