"""Draw the pictures of the examples into files.

``python tools/draw_examples.py [NAME ...] [--out FOLDER] [--data FOLDER]`` runs ``examples/NAME.py``, without a name
all of them, and writes what each shows as a small PNG. Examples that can use the papers' data sets do so with
``--data``.
"""

from __future__ import annotations

import argparse
import os
import runpy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib
import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
# Pictures of the papers' data sets have names of their own: both kinds can be in one folder.
OF_PAPERS = {"published_views": "spam_published_views", "views": "spam_views"}


def names() -> list[str]:
    """The examples that draw a picture; ``with_...`` are about other packages, which tests/toolchain has."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("with_"))


def draw(name: str, folder: Path, data: str | None = None) -> Path:
    """Run an example and write the one picture that it shows."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    with (
        patch.dict(os.environ, {"PLANEWISE_DATA": data or ""}),
        patch.object(plt, "show"),
        matplotlib.rc_context({"figure.dpi": 110}),
    ):
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    (number,) = plt.get_fignums()
    path = folder / f"{OF_PAPERS.get(name, name) if data else name}.png"
    save(plt.figure(number), path)
    return path


def save(figure: Any, path: Path) -> None:
    """Write a figure as a small PNG, and close it."""
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    small = Image.fromarray(pixels).quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    plt.close(figure)


def main() -> None:
    """Draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help="examples, such as partition (default: all)")
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=ROOT / "docs/images", help="default: docs/images")
    parser.add_argument("--data", metavar="FOLDER", help="folder with the papers' data sets (default: bundled data)")
    args = parser.parse_args()
    if unknown := set(args.names) - set(names()):
        parser.error(f"there is no example {', '.join(sorted(unknown))}; examples are {', '.join(names())}")
    for name in args.names or names():
        print(draw(name, args.out, args.data), flush=True)


if __name__ == "__main__":
    main()
