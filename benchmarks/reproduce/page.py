"""One Markdown page with all tables, for docs/reproduction.md."""

from __future__ import annotations

from pathlib import Path

from .results import Results
from .writer import MARK, markdown

OPENING = f"""# The papers, reproduced

Every table of the three papers, run by us. This page is written by

```sh
python -m benchmarks.reproduce all --data DIR --page docs/reproduction.md
```

which runs what is not finished (`--show` runs nothing, `--quick` takes a few seeds, `--jobs 2` two cells at a time) and
keeps every finished cell in `benchmarks/results/cells`: stop it and start it again, and it goes on. Without a name it
lists what there is. `DIR` holds the data sets; without it they come from scikit-learn or OpenML. A table is a
declaration in `benchmarks/reproduce/tables`; all that is tuned, and over what, is in `benchmarks/reproduce/grids.py`.

In each cell stands our figure, mean ± standard deviation over seeded splits or folds, and under it the paper's with the
difference. Ours are tuned inside the training part alone; most of the papers' were searched on the rows they were
tested on, so a printed figure above ours is what one would expect. {MARK} marks a figure that cannot be right, or says
why there is none of ours.
"""


def write_page(everything: list[Results], path: Path) -> None:
    """Writes the page, and pictures into the folder `images` beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [OPENING, summary(everything)]
    for results in everything:
        picture = ""
        if results.table.picture is not None and results.finished:
            (path.parent / "images").mkdir(exist_ok=True)
            picture = f"images/{results.table.name}.png"
            results.table.picture(results, str(path.parent / picture))
        parts.append(markdown(results, picture))
    path.write_text("\n".join(parts), encoding="utf-8")


def summary(everything: list[Results]) -> str:
    """What was meant and what came out, table by table, and how much has been run."""
    lines = ["## What came out", ""]
    for results in everything:
        share = f"{results.finished} of {results.declared} cells" if results.finished < results.declared else "whole"
        lines.append(f"- **{results.table.title}** ({share})")
        lines += [f"  - {claim(results)}" for claim in results.table.claims if results.finished]
    return "\n".join(lines) + "\n"
