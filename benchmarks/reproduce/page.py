"""One Markdown page with all tables, for docs/reproduction.md."""

from __future__ import annotations

from pathlib import Path

from .results import Results
from .writer import MARK, markdown, settled, verdicts

OPENING = f"""# Reproducing the papers

This page contains every table and figure of the three papers (SLM, MCM and RECIP), with our results beside the printed
ones, and comparisons with other libraries. It is for readers who want to know whether planewise does what the papers
promise. The page is the output of this command:

```sh
planewise reproduce all peers slm-grids --data DIR --page docs/reproduction.md
```

## How to run it

Run the command in a checkout of the repository (`python -m benchmarks.reproduce ...` works too). `DIR` contains the
data sets; without it, they are loaded from scikit-learn or OpenML.

- A *cell* is one method on one data set with one seed (or one fold). The command runs only the cells that are not
  finished, and keeps every finished cell in `benchmarks/results/cells`. You can stop it and start it again.
- `--show` runs nothing, `--quick` uses a few seeds, and `--jobs 2` runs two cells at a time.
- A finished cell is run again if its declaration changes, but not if other code changes. Without a table name, the
  command lists all tables and says how many cells come from other versions of the code, or from versions that were not
  recorded. `--fresh` runs finished cells again.
- The tables are declared in `benchmarks/reproduce/tables`. The search grids are in `benchmarks/reproduce/grids.py`.

On two cores and without finished cells, `all --jobs 2` took 25 minutes and `all --quick --jobs 2` took 7. Each cell
uses one thread. With the same code and packages, cells give the same figures to the last digit, in whatever order they
run: a second run of all 4,043 cells of `all` gave no difference. Only the times in comparisons with other libraries
vary.

## How to read the tables

Each table entry shows our figure, the mean ± standard deviation over seeded splits or folds. Below it is the figure
printed in the paper, with the difference. Our models are tuned inside the training part only. Most of the papers tuned
theirs on the test rows, so expect a printed figure to be higher than ours. {MARK} refers to a footnote, which says why
a printed figure cannot be right, or why we have no figure.

We set the targets beforehand. A target counts as met or not met only when all cells are finished, not with `--quick`.

Some results are not available: the data set Cell of RECIP's Table 3 is private, and MiniBooNE was not available to us;
the splits a3a, a4a and a8a of MCM's Table 4 were not found, so we use a9a, from which they were drawn. FF-MLP and
BP-MLP of SLM's Table I are run with our own implementation of the published description.
"""


def write_page(everything: list[Results], pictures: dict[str, str], path: Path) -> None:
    """Writes the page; `pictures` has where they are, seen from it, by the names of their tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [OPENING, claims_table(everything), summary(everything)]
    parts += [markdown(results, pictures.get(results.table.name, "")) for results in everything]
    path.write_text("\n".join(parts), encoding="utf-8")


def claims_table(everything: list[Results]) -> str:
    """The papers' claims, one line each: what the experiment says, and the command that runs it."""
    lines = [
        "## The papers' claims",
        "",
        "| paper | claim | verdict | evidence | experiment |",
        "|---|---|---|---|---|",
    ]
    for results in everything:
        for claim, outcome in settled(results):
            parts = (claim.where, claim.claim, f"**{outcome.verdict}**", outcome.evidence, f"`{results.table.name}`")
            lines.append("| " + " | ".join(parts) + " |")
    return "\n".join(lines) + "\n"


def summary(everything: list[Results]) -> str:
    """What was meant and what came out, table by table, and how much has been run."""
    lines = ["## Results", ""]
    for results in everything:
        if said := verdicts(results):
            lines.append(f"- **{results.table.title}**")
            lines += [f"  - {sentence}" for sentence in said]
    return "\n".join(lines) + "\n"
