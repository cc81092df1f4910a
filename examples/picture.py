"""Shared by all examples: the command line, and how a picture is written."""

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
    """Parse the command line: --out FOLDER and, if an example can use the papers' data sets, --data FOLDER."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DEFAULT, help=f"folder for the picture (default: {DEFAULT})")
    if data:
        parser.add_argument("--data", type=Path, help="folder with the papers' data sets (default: bundled data)")
    return parser.parse_args()


def save(figure, folder, name, dpi=110):
    """Write a small PNG and print its path."""
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
