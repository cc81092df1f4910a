"""One Markdown page with all tables, for docs/reproduction.md."""

from __future__ import annotations

from pathlib import Path

from .results import Results
from .writer import MARK, markdown, verdicts

OPENING = f"""# The papers, reproduced

Every table and figure of the three papers, run by us, and duels with what one might take instead. This page is written
by

```sh
planewise reproduce all peers slm-grids --data DIR --page docs/reproduction.md
```

in a checkout of the repository (or `python -m benchmarks.reproduce ...`). It runs what is not finished (`--show` runs
nothing, `--quick` takes a few seeds, `--jobs 2` two cells at a time) and keeps every finished cell in
`benchmarks/results/cells`: stop it and start it again, and it goes on. A finished cell is run again when its
declaration changes, but not when other code does: without a name, the command lists what there is and says how many
cells come from other code, or from code that was not noted; `--fresh` runs them again. `DIR` holds the data sets;
without it they come from scikit-learn or OpenML. A table is a declaration in `benchmarks/reproduce/tables`; all that is
tuned, and over what, is in `benchmarks/reproduce/grids.py`.

On two cores, from nothing, `all --jobs 2` took 25 minutes and `all --quick --jobs 2` 7. Cells have one thread each and,
with the same code and packages, give the same figures to the last digit whenever and in whichever order they are run:
when all 4,043 cells of `all` were run a second time, none differed. Times in duels do.

In each cell stands our figure, mean ± standard deviation over seeded splits or folds, and under it the paper's with the
difference. Ours are tuned inside the training part alone; most of the papers' were searched on the rows they were
tested on, so a printed figure above ours is what one would expect. {MARK} marks a figure that cannot be right, or says
why there is none of ours. What was meant is met or missed only when all cells are finished, not by `--quick`.

What cannot be had: Cell (private) and MiniBooNE of RECIP's Table 3; the splits a3a, a4a and a8a of MCM's Table 4, in
whose place stands a9a, from which they were drawn; FF-MLP, which has no public code: its figures are quoted.
"""


def write_page(everything: list[Results], pictures: dict[str, str], path: Path) -> None:
    """Writes the page; `pictures` has where they are, seen from it, by the names of their tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [OPENING, summary(everything)]
    parts += [markdown(results, pictures.get(results.table.name, "")) for results in everything]
    path.write_text("\n".join(parts), encoding="utf-8")


def summary(everything: list[Results]) -> str:
    """What was meant and what came out, table by table, and how much has been run."""
    lines = ["## What came out", ""]
    for results in everything:
        if said := verdicts(results):
            lines.append(f"- **{results.table.title}**")
            lines += [f"  - {sentence}" for sentence in said]
    return "\n".join(lines) + "\n"
