"""``python -m benchmarks.reproduce [table ...]``: runs what is not finished and writes the tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .declaration import Table
from .page import write_page
from .results import Results, collect
from .runner import cells_of, is_finished, run
from .store import Store
from .tables import TABLES
from .writer import as_html, as_json, markdown, terminal

HERE = Path(__file__).resolve().parent
CELLS = HERE.parent / "results" / "cells"


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    args = _parser().parse_args(arguments)
    store = Store(args.cells)
    if not args.tables:
        print(listing(store))
        return 0
    tables = list(TABLES.values()) if "all" in args.tables else [TABLES[name] for name in args.tables]
    status = 0
    if not args.show:
        status = _run(tables, store, args)
    everything = [collect(table, store, quick=args.quick) for table in tables]
    for results in everything:
        print(terminal(results) + "\n")
        if args.out:
            _write(results, args.out)
    if args.page:
        write_page(everything, args.page)
    return status


def _run(tables: list[Table], store: Store, args: argparse.Namespace) -> int:
    try:
        report = run(
            tables, store, quick=args.quick, fresh=args.fresh, jobs=args.jobs, data_home=args.data,
            progress=not args.quiet,
        )  # fmt: skip
    except KeyboardInterrupt:
        print("\nStopped. What is finished is kept: the same command goes on from here.", file=sys.stderr)
        return 130
    print(f"{report.ran} cells run, {report.kept} were finished before.", file=sys.stderr)
    for package, methods in report.missing.items():
        print(f"{package} is not installed: {', '.join(methods)} left out (pip install {package}).", file=sys.stderr)
    for failure in report.failed:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if report.failed else 0


def listing(store: Store) -> str:
    """All tables, and how much of each is finished."""
    lines = ["What can be reproduced (cells finished / all):"]
    for table in TABLES.values():
        cells = cells_of(table.experiment, quick=False)
        done = sum(is_finished(cell, store) for cell in cells)
        lines.append(f"  {table.name:<14}{done:>6} /{len(cells):>5}  {table.title}")
    return "\n".join([*lines, "", "python -m benchmarks.reproduce slm-table-1 (or several, or all)"])


def _write(results: Results, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table, picture = results.table, ""
    if table.picture is not None and results.finished:
        picture = f"{table.name}.png"
        table.picture(results, str(folder / picture))
    (folder / f"{table.name}.md").write_text(markdown(results, picture), encoding="utf-8")
    (folder / f"{table.name}.json").write_text(as_json(results), encoding="utf-8")
    (folder / f"{table.name}.html").write_text(as_html(results), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, "all", []], metavar="table", help="none: list them")
    parser.add_argument("--quick", action="store_true", help="a few seeds only")
    parser.add_argument("--jobs", type=int, default=1, help="cells run side by side")
    parser.add_argument("--data", help="directory of data sets (else PLANEWISE_DATA, scikit-learn or OpenML)")
    parser.add_argument("--out", type=Path, help="folder for Markdown, JSON, HTML and pictures")
    parser.add_argument("--page", type=Path, help="file for one Markdown page with all these tables")
    parser.add_argument("--show", action="store_true", help="run nothing, write what is finished")
    parser.add_argument("--fresh", action="store_true", help="run finished cells again")
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    parser.add_argument("--cells", type=Path, default=CELLS, help="folder of finished cells")
    return parser


if __name__ == "__main__":
    sys.exit(main())
