"""One Markdown page with all tables, for docs/reproduction.md."""

from __future__ import annotations

from pathlib import Path

from .results import Results
from .writer import MARK, markdown, settled, verdicts

MINUTES = 32  # that all cells took on two cores, two at a time

OPENING = f"""# Reproducing the papers

The first table lists the claims of the three papers (SLM, MCM and RECIP) and what our experiments say about them. Fixed
rules compute the verdicts from the results of the published methods (`planewise.published`, see
[the settings of the papers](published.md)), which are tuned inside training parts: a claim *holds*, *holds when* a
condition is met, *holds in part* if it is true in more than half of its comparisons, or *does not hold*. “Ours” are the
variants of this library. Each line ends with the command that reproduces it. All of them together,
`python -m benchmarks.reproduce all --jobs 2`, took {MINUTES} minutes on two cores.

After the claims come all tables and figures of the papers, with the printed figures beside ours, and comparisons with
other libraries.
"""

READING = f"""\
The rules are in `benchmarks/reproduce` (`settle_*.py` and `convergence.py`).

## How to run it

This page is the output of the following command, run in a checkout of the repository. `DIR` contains the data sets;
without it, they are loaded from scikit-learn or OpenML.

```sh
# needs a checkout, the papers' data sets in DIR, and hours
python -m benchmarks.reproduce all peers slm-grids --jobs 2 --data DIR --page docs/reproduction.md
```

- A *cell* is one method on one data set with one seed (or one fold). The command runs only the cells that are not
  finished, and keeps every finished cell in `benchmarks/results/cells`. You can stop it and start it again.
- `--show` runs nothing, `--quick` uses a few seeds, and `--jobs 2` runs two cells at a time.
- A finished cell is run again if its declaration changes, but not if other code changes. Without a table name, the
  command lists all tables and says how many cells come from other versions of the code, or from versions that were not
  recorded. `--fresh` runs finished cells again.
- The tables are declared in `benchmarks/reproduce/tables`. The search grids are in `benchmarks/reproduce/grids.py`.

Each cell uses one thread. With the same code and packages, cells give the same figures to the last digit, in whatever
order they run. The cells of `all` were run twice without a difference, three quarters of them the first time with
slightly older code; those of `mcm-table-2`, `-3`, `-4` and `mcm-conformal` were run once since the search for kernel
machines changed. Only the times in comparisons with other libraries vary. The comparisons (`peers`) and the choice of
the SLM grids (`slm-grids`) are not part of `all`; their cells add up to 18 minutes of processor time.

## How to read the tables

Each table entry shows our figure, the mean ± standard deviation over seeded splits or folds. Below it is the figure
printed in the paper, with the difference. Our models are tuned inside the training part only. Most of the papers tuned
theirs on the test rows, so expect a printed figure to be higher than ours. {MARK} refers to a footnote, which says why
a printed figure cannot be right, or why we have no figure.

Targets are goals for this library's variants. A target counts as met or not met only when all cells are finished, not
with `--quick`.

Some results are not available: the data set Cell of RECIP's Table 3 is private, and MiniBooNE was not available to us;
the splits a3a, a4a and a8a of MCM's Table 4 were not found, so we use a9a, from which they were drawn; the networks
FF-MLP and BP-MLP are our own implementation of the published description.
"""


def write_page(everything: list[Results], pictures: dict[str, str], path: Path) -> None:
    """Writes the page; `pictures` has where they are, seen from it, by the names of their tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [OPENING, claims_table(everything), READING, summary(everything)]
    parts += [markdown(results, pictures.get(results.table.name, "")) for results in everything]
    path.write_text("\n".join(parts), encoding="utf-8")


def claims_table(everything: list[Results]) -> str:
    """The papers' claims, one line each: what the experiment says, and the command that runs it."""
    lines = [
        "## The papers' claims",
        "",
        "| paper | claim | verdict | evidence | command |",
        "|---|---|---|---|---|",
    ]
    for results in everything:
        for claim, outcome in settled(results):
            parts = (
                claim.where,
                claim.claim,
                f"**{outcome.words}**",
                outcome.evidence,
                f"`python -m benchmarks.reproduce {results.table.name}`",
            )
            lines.append("| " + " | ".join(part.replace("|", "\\|") for part in parts) + " |")
    return "\n".join(lines) + "\n"


def summary(everything: list[Results]) -> str:
    """What was meant and what came out, table by table, and how much has been run."""
    lines = ["## Results", ""]
    for results in everything:
        if said := verdicts(results):
            lines.append(f"- **{results.table.title}**")
            lines += [f"  - {sentence}" for sentence in said]
    return "\n".join(lines) + "\n"
