"""The papers' figures that have no numbers: most are what an example draws."""

from __future__ import annotations

from typing import Any

from ..declaration import Experiment, Table
from ..drawings import draw_envelope, draw_kernels
from ..pictures import Draw, example
from ..protocols import Shapes

NOTHING_TO_RUN = Experiment("figures", Shapes(), (), (), seeds=0, quick_seeds=0)


def figure(name: str, title: str, note: str, file: str, draw: Draw) -> Table:
    """Return a table without rows, and its picture."""
    more: dict[str, Any] = {"picture": draw, "picture_file": f"{file}.png"}
    return Table(name, title, NOTHING_TO_RUN, (), (), notes=(note,), **more)


def figure_of_example(name: str, title: str, script: str, note: str, *, file: str = "", data: bool = False) -> Table:
    """Return the same, with the picture of ``examples/<script>.py``."""
    return figure(name, title, f"`examples/{script}.py`. {note}", file or script, example(script, data=data))


SLM = (
    figure_of_example(
        "slm-figure-1",
        "SLM, Figure 1: two planes divide the space into four cells, and their tree",
        "split_and_tree",
        "The paper shows a sketch; this is a fitted tree with one node.",
    ),
    figure(
        "slm-figure-2",
        "SLM, Figure 2: the envelope of the coefficients",
        "With the paper's D = 10, R = 5, A = 10 and alpha = 0.5.",
        "selection",
        draw_envelope,
    ),
    figure_of_example(
        "slm-figure-4",
        "SLM, Figure 4: the artificial data sets, and the predictions of one tree",
        "artificial_sets",
        "Training rows, test rows, and predictions for the test rows; seed 0, nothing is tuned.",
    ),
)
MCM = (
    figure(
        "mcm-figure-2",
        "MCM, Figure 2: rows in the data space, in the kernel space and in the optimised kernel space",
        "Glass without its row number, with the paper's C = 2, gamma = .002 and gamma_c (`gamma_conformal`) = .0078. "
        "Without a directory of data sets, the picture shows two of scikit-learn's wines instead.",
        "glass_embedding",
        draw_kernels,
    ),
)
RECIP = (
    figure_of_example(
        "recip-figure-1",
        "RECIP, Figure 1: spam queries in the views in which they were classified",
        "published_views",
        "A query is a row to predict, and a view is one feature or a pair. Above: the paper's two views alone "
        "(`planewise.published.recip_known`). Below: the two views that classify most queries if the published "
        "method chooses them (`planewise.published.recip`). A view of one feature is drawn with a row for each "
        "class. Figures: `recip-spam`. Without a directory of data sets, the picture shows the paper's synthetic "
        "data instead.",
        file="spam_published_views",
        data=True,
    ),
)
