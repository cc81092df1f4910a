"""planewise beside other libraries: run a comparison, or print the tables of docs/benchmarks.md from its results.

    python -m benchmarks.peers run tree                                    # the development sets
    python -m benchmarks.peers run boost --sets report --data DIR --out benchmarks/results/duel_boost_report.json
    python -m benchmarks.peers run svm --only sonar haberman --seeds 1
    python -m benchmarks.peers run field --sets mixed --data DIR --out benchmarks/results/field_mixed.json
    python -m benchmarks.peers run machines --data DIR --out benchmarks/results/field_machines_small.json
    python -m benchmarks.peers table boost [FILE]                          # from benchmarks/results by default

tree, forest, boost and svm: at most 20,000 rows of each data set, text one-hot encoded, missing numbers replaced by
medians for svm. field: at most 30,000 rows as data frames with category columns, classes of at least ten rows;
field-tuned has a learning rate of 0.05 and up to 1,000 rounds with early stopping. machines: small tables.

A seed is a 60/40 split. Every contender has a process of its own, with two threads; they take turns on the same rows,
and the order rotates. Losses are RMSE, log-loss (boost, field) or (errors + 1) / test rows. Fits shorter than two
seconds are timed three times, predictions always, and the median counts. The size is that of the compressed pickle.
Each ratio of losses is clipped to [1/2, 2] before averaging. Our own failure counts as 2; a data set on which a peer
failed does not count for that peer. Peers that are not installed are named and left out (pip install --group peers).

Data sets of benchmarks.data come from --data (or PLANEWISE_DATA), scikit-learn or OpenML. OpenML has the rows of
some sets in another order or form, so that splits and losses differ. The sets of field and machines come from --data
only: a folder with an index.csv (columns name, file and task) and Parquet or CSV files with a column "target". Run the
report sets only for figures that will be published, never to choose a default, and on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from .contenders import THREADS, Contender
from .data import Table, listed, prepare, read
from .families import FAMILIES, Family
from .referee import not_installed, open_corners, run
from .summary import Entry, summarise
from .tables import SECTIONS, tables

DISTRIBUTIONS = {"sklearn": "scikit-learn"}
# `run field --only hr_job_change` on a busy machine, beside field_mixed.json: fits took 410 times as long in LightGBM,
# 180 times in XGBoost, 250 times in scikit-learn, 15 times in CatBoost and 6 times in planewise.
BUSY = 0.5


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="run a comparison")
    running.add_argument("family", choices=FAMILIES)
    running.add_argument("--sets", help="a list of sets.csv; the first of the family by default")
    running.add_argument("--only", nargs="+", metavar="NAME", help="these data sets instead of a list")
    running.add_argument("--without", nargs="+", metavar="PEER", default=[], help="peers that do not take part")
    running.add_argument("--seeds", type=int, help="number of splits; by default that of docs/benchmarks.md")
    running.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets with an index.csv")
    running.add_argument("--out", type=Path, metavar="FILE", help="file of results (JSON)")
    writing = commands.add_parser("table", help="print the tables of a section of docs/benchmarks.md")
    writing.add_argument("section", choices=SECTIONS)
    writing.add_argument("files", nargs="*", type=Path, metavar="FILE", help="benchmarks/results by default")
    args = parser.parse_args(arguments)
    try:
        if args.command == "table":
            print("\n\n".join(tables(args.section, args.files)))
        else:
            _run(args)
    except (OSError, ValueError) as error:
        sys.exit(f"{parser.prog}: {error}")


def _run(args: argparse.Namespace) -> None:
    family = FAMILIES[args.family]
    seeds = family.seeds if args.seeds is None else args.seeds
    if seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {seeds}.")
    if unknown := set(args.without) - (family.contenders.keys() - {family.ours}):
        raise ValueError(f"--without names {sorted(unknown)}; the peers of {args.family} are {_peers(family)}.")
    if args.out and not args.out.parent.is_dir():
        raise FileNotFoundError(f"--out is '{args.out}', but there is no folder '{args.out.parent}'.")
    found = _tables(family, args.family, args)
    load = os.getloadavg()[0]
    if load > BUSY:
        print(f"The machine is busy (load {load:.1f}): losses are valid, times are not.", file=sys.stderr, flush=True)
    chosen = {name: contender for name, contender in family.contenders.items() if name not in args.without}
    left_out = not_installed(chosen)
    for name in left_out:
        print(f"left out: {name}, because {chosen.pop(name).needs} is not installed", flush=True)
    with open_corners(chosen) as corners:
        entries = run(family, found, seeds, corners, _tell)
    summary = summarise(family, entries)
    print(f"\n{args.family}: planewise / peer, geometric means over {len(entries)} data sets; below 1 we are better")
    for key, value in summary.items():
        print(f"  {key:<28} {value:.3f}" if isinstance(value, float) else f"  {key:<28} {value}")
    if args.out:
        about = {
            "seeds": seeds,
            "threads": THREADS,
            "processors": os.cpu_count(),
            "load_before": load,
            "versions": _versions(chosen),
            "left_out": left_out,
        }
        content = {family.key: {"about": about, "summary": summary, "table": entries}}
        args.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _peers(family: Family) -> str:
    return ", ".join(name for name in family.contenders if name != family.ours)


def _tables(family: Family, name: str, args: argparse.Namespace) -> list[Table]:
    """All data sets, read before anything is fitted, so that a missing one is reported at once."""
    lists = listed(family.kind)
    if args.sets and args.sets not in lists:
        raise ValueError(f"--sets must be one of {', '.join(lists)} for {name}, got {args.sets!r}.")
    names = args.only or lists[args.sets or next(iter(lists))]
    found, missing = [], []
    for each in names:
        try:
            found.append(prepare(each, *read(each, args.data), family))
        except FileNotFoundError as error:
            missing.append(str(error))
    if missing:
        raise FileNotFoundError(f"{len(missing)} of {len(names)} data sets cannot be loaded.\n" + "\n".join(missing))
    return found


def _versions(contenders: Mapping[str, Contender]) -> dict[str, str]:
    packages = dict.fromkeys(contender.needs for contender in contenders.values())
    return {package: version(DISTRIBUTIONS.get(package, package)) for package in packages}


def _tell(entry: Entry) -> None:
    cells = [f"{name} {cell['loss']:.4g} ({cell['fit']:.2f} s)" for name, cell in entry["contenders"].items()]
    print(f"{entry['name']:<24} {entry['rows']} × {entry['features']:<4} " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
