"""The papers' figures that have no numbers: each is what an example draws."""

from __future__ import annotations

from typing import Any

from ..declaration import Experiment, Table
from ..pictures import example
from ..protocols import Shapes

NOTHING_TO_RUN = Experiment("figures", Shapes(), (), (), seeds=0, quick_seeds=0)


def figure(name: str, title: str, script: str, note: str, *, file: str = "", data: bool = False) -> Table:
    """A table without rows, and its picture."""
    more: dict[str, Any] = {"picture": example(script, data=data), "picture_file": f"{file or script}.png"}
    return Table(name, title, NOTHING_TO_RUN, (), (), notes=(f"`examples/{script}.py`. {note}",), **more)


SLM = (
    figure(
        "slm-figure-1",
        "SLM, Figure 1: two planes part a space into four cells, and their tree",
        "split_and_tree",
        "The paper's is a sketch; this is a fitted tree of one node.",
    ),
    figure(
        "slm-figure-2",
        "SLM, Figure 2: the envelope of the coefficients",
        "selection",
        "The paper's D = 10, R = 5, A = 10, alpha = 0.5.",
    ),
    figure(
        "slm-figure-4",
        "SLM, Figure 4: the artificial sets, and what one tree answers",
        "artificial_sets",
        "Training rows, test rows, and the test rows as predicted; seed 0, nothing tuned.",
    ),
)
MCM = (
    figure(
        "mcm-figure-2",
        "MCM, Figure 2: rows by the data, by a kernel, and by the optimised kernel",
        "embedding",
        "Glass without its row number, with the paper's C = 2, gamma = .002 and gamma_c = .0078; without a directory "
        "of data sets, two wines of scikit-learn's instead.",
        file="glass_embedding",
        data=True,
    ),
)
RECIP = (
    figure(
        "recip-figure-1",
        "RECIP, Figure 1: queries of Spam in the views that decided them",
        "views",
        "The paper's two views are of the lengths of capital letters and the word “your”; with this library's defaults "
        "others lead. Without a directory of data sets, the paper's generator instead.",
        file="spam_views",
        data=True,
    ),
)
