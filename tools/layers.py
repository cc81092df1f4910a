"""Check that layers import downwards only, and that no package imports private modules of another.

``python tools/layers.py`` prints one line per fault and exits with 1 if there is any. `LAYERS` is the house: a package
imports only from layers above its own in the list, plus what `BESIDE` allows. A module whose path has an underscore
belongs to its package alone, and so does a name with a leading underscore; modules directly below ``planewise`` are the
front door and open to all. Functions longer than `LONGEST` lines, docstring not counted, are faults as well.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FRONT_DOOR = "the front door"  # the modules directly below planewise
LAYERS = (
    (FRONT_DOOR,),
    ("words",),
    ("parts",),
    ("slm", "mcm", "recip"),
    ("views",),
    ("published",),
    ("table",),
    ("files",),
    ("evaluate",),
    ("io", "export", "plot", "report", "tools"),
    ("dask",),
    ("cli",),
)
BESIDE = {("report", "plot")}  # who may import from its own layer, and from whom
UPWARDS = {"__init__.py", "_shown.py"}  # public names on request; the HTML of estimators in notebooks
LONGEST = 60


@dataclass(frozen=True)
class Import:
    """One imported name."""

    file: Path  # relative to the package
    line: int
    module: tuple[str, ...]  # below planewise
    name: str

    @property
    def importer(self) -> str:
        return self.file.parts[0] if len(self.file.parts) > 1 else FRONT_DOOR

    def imported(self, packages: set[str]) -> str:
        """The package the name comes from; estimators are also imported from planewise itself."""
        first = self.module[0] if self.module else self.name
        return first if first in packages else FRONT_DOOR

    @property
    def is_private(self) -> bool:
        return any(part.startswith("_") for part in (*self.module[1:], self.name))


def imports_of(package: Path) -> Iterator[Import]:
    """Every import from planewise, wherever in a file it stands."""
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                module = _absolute(node, file)
                if module[0] == "planewise":
                    yield from (Import(file, node.lineno, module[1:], each.name) for each in node.names)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    first, *module_path = each.name.split(".")
                    if first == "planewise" and module_path:
                        yield Import(file, node.lineno, tuple(module_path), "")


def _absolute(node: ast.ImportFrom, file: Path) -> tuple[str, ...]:
    named = tuple(node.module.split(".")) if node.module else ()
    if not node.level:
        return named
    here = ("planewise", *file.parts[:-1])
    return here[: len(here) - node.level + 1] + named


def faults(package: Path) -> Iterator[str]:
    """What is wrong, one line per fault."""
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    rank = {name: level for level, layer in enumerate(LAYERS) for name in layer}
    for unknown in sorted(packages - rank.keys()):
        yield f"{unknown}/: is not in LAYERS of tools/layers.py; add it to the layer it belongs to"
    for each in imports_of(package):
        source, target = each.importer, each.imported(packages)
        if source == target or (source == FRONT_DOOR and each.file.name in UPWARDS):
            continue
        where = f"{each.file}:{each.line}"
        what = ".".join(filter(None, ("planewise", *each.module, each.name)))
        if target != FRONT_DOOR and each.is_private:
            yield f"{where}: imports {what}, which is private to {target}"
        if rank.get(target, 0) >= rank.get(source, 0) and (source, target) not in BESIDE:
            yield f"{where}: {source} imports {what}, but {target} does not stand above {source}"


def long_functions(package: Path) -> Iterator[str]:
    """Functions with too many lines to be read at a glance."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            lines = node.end_lineno - body[0].lineno + 1 if body else 0
            if lines > LONGEST:
                yield f"{path.relative_to(package)}:{node.lineno}: {node.name} has {lines} lines; at most {LONGEST}"


def python_in_the_core(native: Path) -> Iterator[str]:
    """Files of the core that know Python without being bindings."""
    for path in sorted([*native.glob("*.hpp"), *native.glob("*.cpp")]):
        if path.name == "python.hpp" or path.name.startswith("bind"):
            continue
        if re.search(r'#include\s+(<nanobind|<Python|"python\.hpp")', path.read_text(encoding="utf-8")):
            yield f"native/{path.name}: includes Python's headers, which only python.hpp and bind*.cpp may do"


def main() -> int:
    package = ROOT / "src" / "planewise"
    found = [*faults(package), *long_functions(package), *python_in_the_core(ROOT / "native")]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
