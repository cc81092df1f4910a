"""Run every block of the README in order, as a reader would who has nothing of planewise installed.

``python tools/readme.py`` copies the tracked files to a new folder, makes a new virtual environment and goes through
the README: shell blocks run in a shell (so the environment holds what the README has said to install up to that point,
and nothing else), Python blocks in one session of that environment's Python. A ``text`` block shows what the block
before it prints, and must be exactly that; "..." on a line of its own stands for lines that are not shown.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = ("python", "sh")
# A Python that runs one block after another, as pasted: {"code": ...} comes in, {"out": ..., "failed": ...} goes back.
SESSION = """
import contextlib, importlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    importlib.invalidate_caches()  # a package may have been installed meanwhile
    out, failed = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(json.loads(line), "README", "exec"), names)
        except BaseException:
            failed = traceback.format_exc()
    print(json.dumps({"out": out.getvalue(), "failed": failed}), flush=True)
"""


@dataclass(frozen=True)
class Block:
    """A block of a page, and the text that the page says it prints."""

    kind: str
    line: int
    code: str
    shown: str | None


def blocks_of(page: Path) -> list[Block]:
    """The blocks that run, each with the ``text`` block that follows it, if one does."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.S | re.M):
        kind, code = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        if kind not in (*RUN, "text", "json", "toml", "c", "py"):  # py: programs of other libraries, which do not run
            raise ValueError(f"{page.name}:{line}: blocks are python, py, sh, text, json, toml or c, not {kind!r}")
        if kind in RUN:
            found.append(Block(kind, line, code, None))
        elif kind == "text" and found:
            found[-1] = Block(found[-1].kind, found[-1].line, found[-1].code, code)
    return found


def differs(shown: str, printed: str) -> bool:
    """Whether a page shows something else than what was printed."""
    parts = re.split(r"^\.\.\.\n", shown, flags=re.M)
    return re.fullmatch("(?:.*\n)*?".join(map(re.escape, parts)), printed) is None


class Reader:
    """Somebody who goes through the page in a folder of their own, with a new virtual environment."""

    def __init__(self, folder: Path) -> None:
        self.clone, venv = folder / "planewise", folder / "venv"
        self.clone.mkdir()
        for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
            if name and (ROOT / name).is_file():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.clone / name)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        self.environment = {
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PIP_QUIET": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        self._session: subprocess.Popen[str] | None = None

    def python(self, code: str) -> str:
        """Run a block in the session; what it printed."""
        if self._session is None:
            self._session = self._start([str(Path(self.environment["HOME"]) / "venv/bin/python"), "-c", SESSION])
        assert self._session.stdin is not None and self._session.stdout is not None
        self._session.stdin.write(json.dumps(code) + "\n")
        self._session.stdin.flush()
        line = self._session.stdout.readline()
        if not line:
            raise AssertionError(f"Python itself ended, with exit code {self._session.wait()}")
        answer = json.loads(line)
        if answer["failed"]:
            raise AssertionError(answer["failed"])
        return str(answer["out"])

    def sh(self, code: str) -> str:
        """Run a block in a shell, up to the first command that fails; what it printed."""
        commands = [line for line in code.splitlines(keepends=True) if not line.startswith("make ")]  # run on their own
        serving = [line for line in commands if line.startswith(("planewise review", "planewise serve"))]
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "".join(line for line in commands if line not in serving)],
            cwd=self.clone,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        if done.returncode:
            raise AssertionError(f"exit code {done.returncode}\n{done.stdout}")
        for line in serving:
            self._serve(line)
        return done.stdout

    def _serve(self, command: str) -> None:
        """Run a command that serves until it is interrupted, and interrupt it once it has said where."""
        quietly = "--no-browser" if command.startswith("planewise review") else "--port 0"
        with self._start(["bash", "-c", f"exec {command.split('#')[0]} {quietly}"]) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            process.stdout.read()
        if "http://127.0.0.1:" not in first:
            raise AssertionError(f"{command}: printed {first!r}")

    def _start(self, command: list[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.clone, env=self.environment, stdin=pipe, stdout=pipe, text=True)

    def close(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.communicate()


@contextmanager
def new_reader() -> Iterator[Reader]:
    """A reader whose folder goes when they do."""
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder))
        try:
            yield reader
        finally:
            reader.close()


def main() -> int:
    """Go through the README; 1 if a block fails or prints something else than the README shows."""
    with new_reader() as reader:
        for block in blocks_of(ROOT / "README.md"):
            began = time.perf_counter()
            try:
                printed = (reader.python if block.kind == "python" else reader.sh)(block.code)
            except AssertionError as error:
                print(f"README.md:{block.line}: this block failed:\n{block.code}\n{error}")
                return 1
            if block.shown is not None and differs(block.shown, printed):
                print(f"README.md:{block.line}: it shows\n{block.shown}\nand this was printed\n{printed}")
                return 1
            print(f"README.md:{block.line}: {block.kind}, {time.perf_counter() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
