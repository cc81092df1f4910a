from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def quiet_figures():
    """No window, and no figure left open."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def paint():
    """Draws a figure into pixels and returns them; fails where type cannot be drawn."""

    def pixels(figure):
        figure.canvas.draw()
        return np.asarray(figure.canvas.buffer_rgba())

    return pixels
