"""Run the blocks of the README and of the pages in docs/, and compare what they print with what is shown.

``python tools/pages.py`` runs the README as a reader would who has nothing of planewise installed: the tracked files
are copied to a new folder, with a new virtual environment that holds what the README has said to install up to that
point, and nothing else. ``python tools/pages.py docs/export.md ...`` runs pages with the Python that runs this file,
each in a new folder with the tables of `tools/page_tables.py`; so do the tests, for all pages.

``python`` blocks of a page run in one session, one after another, and ``sh`` blocks in a shell.

- A ``text`` block right after a block, or after the words "This prints:", shows what that prints; "..." on a line
  of its own stands for lines that are not shown. A line of Python that ends in ``# -> text`` prints that text.
- A block whose first line is a comment that begins with "needs", such as ``# needs a cluster``, is not run, nor is a
  shell command that ends in such a comment. The reader sees the reason.
- ``make`` runs on its own: its target must exist. ``pip install`` runs in the README only; in pages, the extras that it
  names must exist.
- ``py`` blocks are programs of other libraries.
"""

from __future__ import annotations

import ast
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUN = ("python", "sh")
KINDS = (*RUN, "text", "py")
PROMISE = re.compile(r"# -> (.*)$", flags=re.M)


@dataclass(frozen=True)
class Block:
    """A block of a page, and the text that the page says it prints."""

    kind: str
    line: int
    code: str
    shown: str | None = None

    @property
    def is_run(self) -> bool:
        return not self.code.startswith("# needs ")


def blocks_of(page: Path) -> list[Block]:
    """The ``python`` and ``sh`` blocks, each with the block that follows it and shows its output, if one does."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end, follows = 0, False
    for match in re.finditer(r"^```(\S*)\n(.*?)^```$", text, flags=re.S | re.M):
        kind, code = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        if kind.startswith("{"):  # a directive of the site
            continue
        if kind not in KINDS:
            raise ValueError(f"{page.name}:{line}: blocks are {', '.join(KINDS)}, not {kind!r}")
        if kind in RUN:
            found.append(Block(kind, line, code))
        elif kind == "text" and follows and text[end : match.start()].strip() in ("", "This prints:"):
            found[-1] = replace(found[-1], shown=code)
        end, follows = match.end(), kind in RUN
    return found


def differs(shown: str, printed: str) -> bool:
    """Whether a page shows something else than what was printed."""
    parts = re.split(r"^\.\.\.\n", shown, flags=re.M)
    return re.fullmatch("(?:.*\n)*?".join(map(re.escape, parts)), printed) is None


class Session:
    """A Python session that runs one block after another, as pasted."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, code: str) -> str:
        """Run a block, statement by statement; what it printed. AssertionError if a line promises something else."""
        lines, kept, whole = code.splitlines(), 0, ""
        for statement in ast.parse(code).body:
            with redirect_stdout(io.StringIO()) as printed:
                exec(compile(ast.Module([statement], []), "page", "exec"), self.names)
            whole += printed.getvalue()
            line = lines[(statement.end_lineno or 1) - 1]
            if promised := PROMISE.search(line):
                if printed.getvalue().strip() != promised[1].strip():
                    raise AssertionError(f"promised: {line.strip()}\nprinted: {printed.getvalue()}")
                kept += 1
        if kept != len(PROMISE.findall(code)):
            raise AssertionError("a promise stands within a statement, or two on one line")
        return whole


class Shell:
    """A shell in a folder."""

    def __init__(self, folder: Path, environment: dict[str, str], with_pip: bool = False) -> None:
        self.folder, self.environment, self.with_pip = folder, environment, with_pip

    def run(self, code: str) -> str:
        """Run a block up to the first command that fails; what it printed."""
        lines = code.splitlines(keepends=True)
        run = [line for line in lines if not re.search(r"(^|\s)# needs ", line) and not self._is_checked(line)]
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "".join(run)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise AssertionError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def _is_checked(self, line: str) -> bool:
        """Whether a command is not run, because it runs elsewhere; an error if it cannot be right."""
        if make := re.match(r"make ([\w-]+)", line):
            if not re.search(rf"^{make[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M):
                raise AssertionError(f"the Makefile has no target {make[1]}")
            return True
        if self.with_pip or not re.match(r"(python -m )?pip ", line):
            return False
        known = re.findall(r"^([\w-]+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), flags=re.M)
        for extras in re.findall(r"(?:\.|planewise)\[([\w,-]+)\]", line):
            if unknown := set(extras.split(",")) - set(known):
                raise AssertionError(f"there is no extra {', '.join(unknown)}")
        return True


def run_page(
    page: Path,
    python: Callable[[str], str],
    shell: Callable[[str], str] | None,
    told: Callable[[str], object] = lambda _: None,
) -> str:
    """Run all blocks of a page, without `shell` only those of Python; what they printed.

    AssertionError if one fails or prints something else than shown.
    """
    whole = ""
    for block in blocks_of(page):
        run = python if block.kind == "python" else shell
        if run is None or not block.is_run:
            continue
        began = time.perf_counter()
        where = f"{page.name}:{block.line}"
        try:
            printed = run(block.code)
        except Exception as error:
            raise AssertionError(f"{where}: this block failed:\n{block.code}\n{error}") from error
        if block.shown is not None and differs(block.shown, printed):
            raise AssertionError(f"{where}: it shows\n{block.shown}\nand this was printed\n{printed}")
        told(f"{where}: {block.kind}, {time.perf_counter() - began:.1f} s")
        whole += printed
    return whole


def environment_of(python: Path, home: Path) -> dict[str, str]:
    """What a reader's shell has, with the commands of this Python in front."""
    return {"HOME": str(home), "LANG": "C.UTF-8", "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}


def run_anew(page: Path, told: Callable[[str], object] = lambda _: None) -> str:
    """Run a page as somebody would who has a clone and a new virtual environment; what it printed."""
    with tempfile.TemporaryDirectory() as name:
        clone, python = Path(name, "planewise"), Path(name, "venv", "bin", "python")
        for tracked in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
            if tracked and (ROOT / tracked).is_file():
                (clone / tracked).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / tracked, clone / tracked)
        subprocess.run([sys.executable, "-m", "venv", Path(name, "venv")], check=True)
        environment = environment_of(python, Path(name)) | {"PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        command, pipe = [python, __file__, "--session"], subprocess.PIPE
        with subprocess.Popen(command, cwd=clone, env=environment, stdin=pipe, stdout=pipe, text=True) as session:

            def run_python(code: str) -> str:
                assert session.stdin is not None and session.stdout is not None
                print(json.dumps(code), file=session.stdin, flush=True)
                if not (line := session.stdout.readline()):
                    raise AssertionError(f"Python itself ended, with exit code {session.wait()}")
                printed, failed = json.loads(line)
                if failed:
                    raise AssertionError(failed)
                return str(printed)

            return run_page(page, run_python, Shell(clone, environment, with_pip=True).run, told)


def serve_session() -> None:
    """Run the blocks that come in on the standard input, for `run_anew`."""
    session = Session()
    for line in sys.stdin:
        importlib.invalidate_caches()  # a package may have been installed meanwhile
        printed, failed = "", ""
        try:
            printed = session.run(json.loads(line))
        except BaseException:
            failed = traceback.format_exc()
        print(json.dumps([printed, failed]), flush=True)


def run_here(page: Path, folder: Path, told: Callable[[str], object] = lambda _: None) -> str:
    """Run a page with this Python, in a folder that gets the tables it reads; what it printed."""
    from page_tables import write_tables

    os.chdir(folder)
    for name in ("benchmarks", "examples", "tools"):  # commands name scripts as in a clone
        (folder / name).symlink_to(ROOT / name)
    write_tables(page.name, folder)
    shell = Shell(folder, environment_of(Path(sys.executable), folder))
    return run_page(page, Session().run, shell.run, told)


def main() -> int:
    """Run the README, or the pages that the command line names; 1 if one of them is wrong."""
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    try:
        if not pages:
            run_anew(ROOT / "README.md", lambda line: print(line, flush=True))
        for page in pages:
            with tempfile.TemporaryDirectory() as folder:
                run_here(page, Path(folder), lambda line: print(line, flush=True))
    except AssertionError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(serve_session() if sys.argv[1:] == ["--session"] else main())
