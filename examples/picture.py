"""What all examples share: the folder their picture goes to, and how it is written."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

DEFAULT = Path("docs/images") if Path("docs/images").is_dir() else Path()


def arguments(about, data=False):
    """The command line: --out FOLDER, and --data FOLDER where an example can use the papers' own tables."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DEFAULT, help=f"folder of the picture (default: {DEFAULT})")
    if data:
        parser.add_argument("--data", type=Path, help="folder of the papers' data sets; else bundled data are used")
    return parser.parse_args()


def save(figure, folder, name, dpi=110):
    """Write a small PNG and say where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.set_dpi(dpi)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    path = folder / f"{name}.png"
    Image.fromarray(pixels).quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    plt.close(figure)
    print(path)
