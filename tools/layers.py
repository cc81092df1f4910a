"""Check that a room of planewise imports only from the rooms above it.

``python tools/layers.py`` prints each import that points upwards and exits with 1 if there is any. A room is a folder
or a single module of the package; `ROOMS` lists them from top to bottom. Modules whose names begin with an underscore
are above all rooms.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "planewise"
ROOMS = (
    *("data", "explain", "store", "trees", "additive", "machines", "recip", "published"),
    *("export", "plot", "evaluate", "report", "table", "dask", "cli"),
)
# Public names on request, and the HTML of estimators in notebooks: imported when they are first used; and the command.
EXCEPTIONS = {"__init__.py", "__main__.py", "explain/estimator.py"}


def rank(parts: tuple[str, ...]) -> int:
    """Return the place of a module's room; 0 for what is above all rooms."""
    room = parts[0].removesuffix(".py") if parts else ""
    if room in ROOMS:
        return ROOMS.index(room) + 1
    if len(parts) > 1:
        raise SystemExit(f"{room}/ is not in ROOMS of tools/layers.py")
    return 0


def imported(node: ast.AST, file: Path) -> Iterator[tuple[str, ...]]:
    """Yield the modules below planewise that an import statement names; with ``from``, each with the name itself."""
    if isinstance(node, ast.Import):
        modules = [name.name.split(".") for name in node.names]
    elif isinstance(node, ast.ImportFrom):
        here = ["planewise", *file.parts[:-1]]
        base = here[: len(here) - node.level + 1] if node.level else []
        base += node.module.split(".") if node.module else []
        modules = [[*base, name.name] for name in node.names]
    else:
        return
    yield from (tuple(module[1:]) for module in modules if module[0] == "planewise")


def upward_imports(package: Path) -> Iterator[str]:
    """Yield one line for each import from a room further down."""
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package)
        if file.as_posix() in EXCEPTIONS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module in imported(node, file):
                if rank(module[:1]) > rank(file.parts):
                    yield f"{file}:{node.lineno}: {file.parts[0]} imports {'.'.join(module)} from further down"


def main() -> int:
    faults = list(upward_imports(PACKAGE))
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
