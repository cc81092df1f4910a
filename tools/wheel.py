"""Build the wheel and the source distribution, check them, install each in an empty environment, and test the wheel.

``make wheel`` runs it. In order:

1. ``python -m build``: the source distribution from this checkout, and the wheel from the source distribution.
2. abi3audit, auditwheel, ``twine check --strict``, and an own check that both hold exactly the files they should.
3. In a new environment of each Python of 3.12 or newer: the wheel is installed with no compiler on the PATH, imported
   and used. In one of them, the tests run from a copy of the repository, against the installed package.
4. In a new environment of the oldest Python: the source distribution is compiled, installed and used.
5. A table of files, checks and start-up times.

The Pythons are the one that runs this script, every ``python3.N`` on the PATH, those of pyenv, and those given by
``--also``.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
OLDEST, STABLE_ABI = (3, 11), (3, 12)  # the first version with a wheel, and the first that shares the one of 3.12
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl", "cmake", "ninja", "make")
# Besides the package and the core. The README and the changelog are read by people who look into the archive.
SOURCE_FILES = {"CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
SOURCE_FOLDERS = ("native/", "src/planewise/")
# What a new process does first, and the same with scikit-learn. Importing planewise alone loads nothing.
DATA = "import numpy as np; X = np.random.default_rng(0).normal(size=(1000, 10)); y = (X[:, 0] > X[:, 1]).astype(int)"
STARTS = {
    "import planewise": "import planewise",
    "import sklearn": "import sklearn",
    "from planewise import SLMClassifier": "from planewise import SLMClassifier",
    "from sklearn.tree import DecisionTreeClassifier": "from sklearn.tree import DecisionTreeClassifier",
    "SLMClassifier().fit(X, y), imports included": (
        f"{DATA}; from planewise import SLMClassifier; SLMClassifier().fit(X, y)"
    ),
    "DecisionTreeClassifier().fit(X, y), imports included": (
        f"{DATA}; from sklearn.tree import DecisionTreeClassifier; DecisionTreeClassifier().fit(X, y)"
    ),
}
FIRST_USE = """
import numpy as np, planewise
X = np.random.default_rng(0).normal(size=(300, 4)); y = (X[:, 0] + X[:, 1] > 0).astype(int)
accuracy = planewise.SLMClassifier(random_state=0).fit(X, y).score(X, y)
assert accuracy > 0.95, accuracy
print(f"planewise {planewise.__version__} in {planewise.__file__}: accuracy {accuracy:.3f}")
"""


class Fault(Exception):
    """Why the files must not be published."""


# -- Pythons and environments ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Python:
    """A Python on this machine."""

    path: str
    version: tuple[int, int]
    name: str  # "3.13.0", or "3.14.0t" without the GIL

    @property
    def shares_the_wheel(self) -> bool:
        """Whether the wheel with the stable ABI is for it."""
        return self.version >= STABLE_ABI and not self.name.endswith("t")


def python_at(path: str) -> Python | None:
    """The Python at a path, or None if nothing there runs: launchers of version managers may find no Python."""
    ask = (
        "import platform, sys, sysconfig, venv, ensurepip; free = bool(sysconfig.get_config_var('Py_GIL_DISABLED'));"
        "print(*sys.version_info[:2], platform.python_version() + 't' * free)"
    )
    try:
        done = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=True, env=plain_environment())
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor, name = done.stdout.split()
    return Python(path, (int(major), int(minor)), name)


def pythons_on_path() -> Iterator[str]:
    """Programs called python3.N on the PATH, and the Pythons that pyenv has behind its launchers, active or not."""
    for minor in range(OLDEST[1], OLDEST[1] + 10):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        if folder.name == "shims":
            yield from map(str, sorted(folder.parent.glob("versions/3.*/bin/python3")))


def pythons_here(also: Iterable[str]) -> list[Python]:
    """One Python per version, oldest first; those given by the user must run."""
    for path in also:
        if python_at(path) is None:
            raise Fault(f"--also {path}: does not run, or has no venv module; give the path of a Python executable")
    pythons: dict[tuple[tuple[int, int], bool], Python] = {}
    for path in (sys.executable, *also, *pythons_on_path()):
        python = python_at(path)
        if python is not None and python.version >= OLDEST:
            pythons.setdefault((python.version, python.name.endswith("t")), python)
    return [pythons[key] for key in sorted(pythons)]


def plain_environment(path: str | None = None) -> dict[str, str]:
    """This process's environment without what changes which compiler or which modules are found."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CMAKE", "VIRTUAL_ENV", "SKBUILD"))}
    for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS"):
        kept.pop(name, None)
    return kept | ({} if path is None else {"PATH": path})


@dataclass
class Environment:
    """A new virtual environment; `path` is what its programs find of the machine's."""

    python: Python
    folder: Path
    path: str

    def __post_init__(self) -> None:
        subprocess.run([self.python.path, "-m", "venv", self.folder], check=True, env=plain_environment())
        self.bin = self.folder / ("Scripts" if os.name == "nt" else "bin")
        self.path = os.pathsep.join(filter(None, (str(self.bin), self.path)))
        self.pip("install", "--upgrade", "pip>=25.1")

    def run(
        self, *command: str | Path, cwd: Path | None = None, path: str | None = None, **how
    ) -> subprocess.CompletedProcess:
        """Run Python of this environment, in its folder unless told otherwise."""
        env = plain_environment(path or self.path)
        return subprocess.run([self.bin / "python", *command], cwd=cwd or self.folder, env=env, check=True, **how)

    def pip(self, *args: str | Path) -> None:
        """Run pip, which prints errors only."""
        self.run("-m", "pip", "-qq", "--disable-pip-version-check", *args)

    def compilers(self) -> list[str]:
        """The compilers and build tools that a program of this environment would find."""
        return [found for name in COMPILERS if (found := shutil.which(name, path=self.path))]


# -- Contents ----------------------------------------------------------------------------------------------------------


def tracked(*folders: str) -> set[str]:
    """The files of the repository in these folders, as the working tree has them."""
    listed = subprocess.check_output(["git", "ls-files", "-z", *folders], cwd=ROOT, text=True).split("\0")
    return {name for name in listed if name and (ROOT / name).is_file()}


def licences(root: Path = ROOT) -> set[str]:
    """The licence files that pyproject.toml names, ours and those of what we ship."""
    patterns = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license-files"]
    return {path.relative_to(root).as_posix() for pattern in patterns for path in root.glob(pattern)}


def differences(kind: str, found: set[str], wanted: set[str]) -> Iterator[str]:
    """One line per file too many or too few."""
    yield from (f"{kind}: {name} should not be in it" for name in sorted(found - wanted))
    yield from (f"{kind}: {name} is missing" for name in sorted(wanted - found))


def wheel_faults(wheel: Path, package: set[str], licence_files: set[str]) -> Iterator[str]:
    """What is wrong with the files of a wheel, which may hold the package, its core with a stub, and metadata."""
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if not name.endswith("/")}
    core = {name for name in found if name.startswith("planewise/_core.") and name.endswith((".so", ".pyd"))}
    if len(core) != 1:
        yield f"wheel: one compiled core is wanted, found {sorted(core) or 'none'}"
    info = "-".join(wheel.name.split("-")[:2]) + ".dist-info/"
    metadata = {info + name for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    wanted = {name.removeprefix("src/") for name in package} | {"planewise/_core.pyi"}
    yield from differences(
        "wheel", found - core, wanted | metadata | {f"{info}licenses/{name}" for name in licence_files}
    )


def sdist_faults(sdist: Path, sources: set[str]) -> Iterator[str]:
    """What is wrong with the files of a source distribution."""
    with tarfile.open(sdist) as archive:
        members = [member for member in archive if not member.isdir()]
    yield from (f"sdist: {each.name} is not an ordinary file" for each in members if not each.isfile())
    folder = sdist.name.removesuffix(".tar.gz") + "/"
    yield from differences("sdist", {each.name.removeprefix(folder) for each in members}, sources | SOURCE_FILES)


# -- Steps -------------------------------------------------------------------------------------------------------------


def build(python: Python, folder: Path) -> tuple[Environment, Path, Path]:
    """The environment of the tools, the wheel and the source distribution, in dist/ alone."""
    tools = Environment(python, folder / "tools", os.environ["PATH"])
    tools.pip("install", "--group", f"{ROOT / 'pyproject.toml'}:release")
    for old in DIST.glob("planewise-*"):
        old.unlink()
    tools.run("-m", "build", "--outdir", DIST, ROOT, stdout=subprocess.DEVNULL)
    (wheel,), (sdist,) = DIST.glob("planewise-*.whl"), DIST.glob("planewise-*.tar.gz")
    return tools, wheel, sdist


def check(tools: Environment, wheel: Path, sdist: Path) -> list[str]:
    """Run every check of the files; the names of those that passed."""
    package = tracked(SOURCE_FOLDERS[1])
    faults = [*wheel_faults(wheel, package, licences()), *sdist_faults(sdist, tracked(*SOURCE_FOLDERS))]
    if faults:
        raise Fault("\n".join(faults))
    passed = ["contents"]
    tools.run("-m", "twine", "check", "--strict", wheel, sdist)
    passed.append("twine --strict")
    if "-abi3-" in wheel.name:
        tools.run("-m", "abi3audit", "--strict", "--summary", wheel)
        passed.append("abi3audit")
    if sys.platform == "linux":
        tools.run("-m", "auditwheel", "show", wheel)
        passed.append("auditwheel show")
    return passed


def install_wheel(python: Python, wheel: Path, folder: Path) -> Environment:
    """The wheel and what it requires, in a new environment whose programs find no compiler."""
    made = Environment(python, folder / f"wheel-{python.name}", path="")
    if made.compilers():
        raise Fault(f"a compiler is on the PATH of an environment that should have none: {made.compilers()}")
    print(f"\nPython {python.name}: none of {', '.join(COMPILERS)} is on the PATH {made.path}", flush=True)
    made.pip("install", "--only-binary", ":all:", wheel)
    made.run("-c", FIRST_USE)
    return made


def install_sdist(python: Python, sdist: Path, folder: Path) -> None:
    """The source distribution, compiled by pip in a new environment."""
    made = Environment(python, folder / f"sdist-{python.name}", os.environ["PATH"])
    print(f"\nPython {python.name}: compiling {sdist.name}", flush=True)
    made.pip("install", "--no-binary", "planewise", sdist)
    made.run("-c", FIRST_USE)


def test(environment: Environment, wheel: Path, folder: Path, arguments: str) -> None:
    """Run pytest in a copy of the repository, where only the installed package can be imported."""
    copy = folder / "elsewhere"
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    group = f"{ROOT / 'pyproject.toml'}:test"
    environment.pip("install", "--only-binary", ":all:", f"{wheel}[all]", "--group", group)
    path = f"{environment.bin}{os.pathsep}{os.environ['PATH']}"  # tests of exported C compile it
    asked = environment.run(
        "-c", "import planewise; print(planewise.__file__)", cwd=copy, stdout=subprocess.PIPE, text=True
    )
    if environment.folder.resolve() not in Path(asked.stdout.strip()).resolve().parents:
        raise Fault(f"the tests would import {asked.stdout.strip()} instead of the installed package")
    environment.run("-m", "pytest", "-q", *shlex.split(arguments), cwd=copy, path=path)


def start_times(environment: Environment, runs: int) -> dict[str, float]:
    """Median seconds of each start over new processes, which take turns; what Python needs to start is not counted."""
    timed = "import time\nbegan = time.perf_counter()\n{code}\nprint(time.perf_counter() - began)"
    seconds: dict[str, list[float]] = {name: [] for name in STARTS}
    for turn in range(runs + 1):
        for name, code in STARTS.items():
            done = environment.run("-c", timed.format(code=code), stdout=subprocess.PIPE, text=True)
            if turn:  # the first turn writes bytecode and fills the disk cache
                seconds[name].append(float(done.stdout))
    return {name: statistics.median(all_runs) for name, all_runs in seconds.items()}


def table(files: dict[Path, list[str]], times: dict[str, float], pythons: dict[str, str], runs: int) -> str:
    """What was built and found, as Markdown."""
    lines = ["| file | size | checks |", "|---|---|---|"]
    lines += [
        f"| {path.name} | {path.stat().st_size / 1e3:,.0f} kB | {', '.join(done)} |" for path, done in files.items()
    ]
    lines += ["", "| Python | |", "|---|---|", *(f"| {name} | {what} |" for name, what in pythons.items())]
    lines += ["", f"| start, median of {runs} processes | ms | beside scikit-learn |", "|---|---|---|"]
    names = list(STARTS)
    for ours, theirs in zip(names[::2], names[1::2], strict=True):
        ratio = f"{times[ours] / times[theirs]:.2f} of `{theirs}` ({1e3 * times[theirs]:.0f} ms)"
        lines.append(f"| `{ours}` | {1e3 * times[ours]:.1f} | {ratio} |")
    return "\n".join(lines)


def run(arguments: argparse.Namespace, folder: Path) -> str:
    """All steps; the table of results."""
    pythons = pythons_here(arguments.also)
    sharing = [python for python in pythons if python.shares_the_wheel]
    if not sharing:
        raise Fault("the wheel needs Python 3.12 or newer: give one, as in make wheel ALSO=/path/to/python3.13")
    tools, wheel, sdist = build(sharing[0], folder)
    passed = check(tools, wheel, sdist)
    environments = [install_wheel(python, wheel, folder) for python in sharing]
    said = {python.name: "wheel installed without a compiler, and used" for python in sharing}
    times = start_times(environments[-1], arguments.runs)
    said[sharing[-1].name] += "; start-up times"
    if arguments.tests:
        test(environments[-1], wheel, folder, arguments.tests)
        said[sharing[-1].name] += f"; passed: pytest {arguments.tests}"
    install_sdist(pythons[0], sdist, folder)
    compiled = "source distribution compiled, installed, and used"
    said[pythons[0].name] = "; ".join(filter(None, (said.get(pythons[0].name), compiled)))
    for python in pythons:
        said.setdefault(python.name, "not tried: has a wheel of its own")
    shared = [name for name in passed if name in ("contents", "twine --strict")]
    return table({wheel: passed, sdist: shared}, times, said, arguments.runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--also", action="append", default=[], metavar="PYTHON", help="one more Python to install in")
    parser.add_argument(
        "--tests",
        default="-n 2 tests --pyargs planewise",
        help="arguments of pytest; empty: no tests (default: %(default)s)",
    )
    parser.add_argument("--runs", type=int, default=11, help="processes per start-up time (default: %(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="planewise-wheel-") as folder:
        try:
            results = run(arguments, Path(folder))
        except Fault as fault:
            print(fault, file=sys.stderr)
            return 1
        except subprocess.CalledProcessError as failed:
            print(f"failed: {shlex.join(map(str, failed.cmd))}", file=sys.stderr)
            return 1
    print(f"\n{platform.platform()}\n\n{results}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
