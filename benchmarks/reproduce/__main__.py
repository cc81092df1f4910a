"""Runs what is not finished of the papers' tables and figures, and writes them; without a name, lists them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from planewise._atomic import write_whole

from . import pictures
from .declaration import Table
from .methods import PIP_NAMES
from .page import write_page
from .results import Results, collect
from .runner import cells_of, experiments_of, is_finished, metrics_shown, run
from .sources import code_hash
from .store import Store
from .tables import GROUPS, TABLES
from .writer import as_html, as_json, markdown, terminal

CELLS = Path(__file__).resolve().parents[1] / "results" / "cells"
COMMAND = "python -m benchmarks.reproduce"


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    args = _parser().parse_args(arguments)
    store = Store(args.cells)
    if not args.names:
        print(listing(store))
        return 0
    tables = _tables(args.names)
    status = 0 if args.show else _run(tables, store, args)
    everything = [collect(table, store, quick=args.quick) for table in tables]
    if status == 130:
        return status
    for results in everything:
        _write(results, args.out, _picture(results, args.out, args))
        print(terminal(results) + "\n")
    print(f"Written to {args.out}: Markdown, JSON, HTML and pictures.", file=sys.stderr)
    if args.page:
        folder = args.page.parent / "images"
        shown = {results.table.name: _picture(results, folder, args) for results in everything}
        write_page(everything, {name: f"images/{file}" for name, file in shown.items() if file}, args.page)
    return status


def _tables(names: list[str]) -> list[Table]:
    found: dict[str, Table] = {}
    for name in names:
        found |= GROUPS.get(name) or {name: TABLES[name]}
    return list(found.values())


def _run(tables: list[Table], store: Store, args: argparse.Namespace) -> int:
    try:
        report = run(
            tables, store, quick=args.quick, fresh=args.fresh, jobs=args.jobs, data_home=args.data,
            progress=not args.quiet, methods=args.method or ("*",),
        )  # fmt: skip
    except KeyboardInterrupt:
        print("\nStopped. What is finished is kept: the same command goes on from here.", file=sys.stderr)
        return 130
    print(f"{report.ran} cells run, {report.kept} were finished before.", file=sys.stderr)
    for package, methods in report.missing.items():
        pip = f"pip install {PIP_NAMES.get(package, package)}"
        print(f"{package} is not installed: {', '.join(methods)} left out ({pip}).", file=sys.stderr)
    for failure in report.failed:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if report.failed else 0


def listing(store: Store) -> str:
    """All tables and figures, and how much of each is finished."""
    lines = ["What can be reproduced (cells finished / all):"]
    for table in TABLES.values():
        cells = cells_of(table.experiment, quick=False)
        shown = metrics_shown([table])
        done = sum(is_finished(cell, store, shown.get(cell.place, ())) for cell in cells)
        share = f"{done:>6} /{len(cells):>5}" if cells else f"{'drawn':>13}"
        lines.append(f"  {table.name:<15}{share}  {table.title}")
    lines += _of_other_code(store)
    groups = "; ".join(f"{group}: {', '.join(tables)}" for group, tables in GROUPS.items() if group != "all")
    return "\n".join([*lines, "", f"{COMMAND} slm-table-1 (or several; all: the papers'; {groups})"])


def _of_other_code(store: Store) -> list[str]:
    """A warning if finished cells are not known to come from the sources as they are now."""
    finished = [
        store.cells(experiment.name)[cell.key].code
        for experiment in experiments_of(TABLES.values())
        for cell in cells_of(experiment, quick=False)
        if is_finished(cell, store)
    ]
    unknown = finished.count("")
    other = len(finished) - unknown - finished.count(code_hash())
    counts = [f"{other} cells from other code"] * bool(other) + [f"{unknown} from unknown code"] * bool(unknown)
    return ["", f"{', '.join(counts)}; --fresh runs them again."] if counts else []


def _picture(results: Results, folder: Path, args: argparse.Namespace) -> str:
    return pictures.put(results, folder, args.data, draw=not args.show, fresh=args.fresh)


def _write(results: Results, folder: Path, picture: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = results.table.name
    inside = (folder / picture).read_bytes() if picture else None
    write_whole(folder / f"{name}.md", markdown(results, picture))
    write_whole(folder / f"{name}.json", as_json(results))
    write_whole(folder / f"{name}.html", as_html(results, inside))


def _name(text: str) -> str:
    if text not in TABLES and text not in GROUPS:
        raise argparse.ArgumentTypeError(f"there is no {text!r}; there are {', '.join([*GROUPS, *TABLES])}")
    return text


class _Parser(argparse.ArgumentParser):
    """Whose refusals are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help lists what there is.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=COMMAND, description=__doc__)
    parser.add_argument("names", nargs="*", type=_name, metavar="name", help="of a table, or all, or peers")
    parser.add_argument("--quick", action="store_true", help="a few seeds only")
    parser.add_argument("--jobs", type=int, default=1, help="cells run side by side")
    parser.add_argument("--data", help="directory of data sets (else PLANEWISE_DATA, scikit-learn or OpenML)")
    parser.add_argument(
        "--out", type=Path, default=Path("planewise-reproduction"),
        help="folder for Markdown, JSON, HTML and pictures (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, help="file for one Markdown page with all these tables")
    parser.add_argument("--show", action="store_true", help="run nothing, write what is finished")
    parser.add_argument("--fresh", action="store_true", help="run finished cells again")
    parser.add_argument("--method", action="append", help="run this one alone: a pattern, 'SLM*'; may be repeated")
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    parser.add_argument("--cells", type=Path, default=CELLS, help="folder of finished cells")
    return parser


if __name__ == "__main__":
    sys.exit(main())
