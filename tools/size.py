"""Compare the size of the repository with its budget, the table ``tool.planewise.size`` of pyproject.toml.

``python tools/size.py`` prints each size beside its limit, lines and tokens per room, and exits with 1 if a limit is
exceeded. Tokens of Python leave out comments, docstrings and layout, so that neither documentation nor dense formatting
counts; in JavaScript, CSS and HTML every word, number and sign is a token. Only files that git tracks count.
"""

from __future__ import annotations

import inspect
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
PAGES = {".js", ".css", ".html", ".jinja"}


def tracked() -> list[Path]:
    """Return the files of the checkout, relative to its root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if name and (ROOT / (path := Path(name))).is_file()]


def n_lines(path: Path) -> int:
    return len((ROOT / path).read_bytes().splitlines())


def n_tokens(path: Path) -> int:
    """Count the tokens of a source file; other files have none."""
    text = (ROOT / path).read_text(encoding="utf-8") if path.suffix in PAGES | {".py"} else ""
    if path.suffix != ".py":
        return len(re.findall(r"\w+|[^\w\s]", text))
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.COMMENT]
    count = 0
    for before, token in pairwise([None, *tokens]):
        is_docstring = token.type == tokenize.STRING and (before is None or before.type in LAYOUT)
        count += token.type not in LAYOUT and not is_docstring
    return count


def below(folder: str, suffix: str, paths: list[Path]) -> list[Path]:
    return [path for path in paths if path.parts[0] == folder and path.suffix in suffix.split()]


def n_parameters(name: str) -> int:
    import planewise

    return len(inspect.signature(getattr(planewise, name)).parameters)


def sizes(paths: list[Path]) -> dict[str, int]:
    """Return what the budget limits, by the names it has there."""
    source, tools = below("src", ".py", paths), below("tools", ".py", paths) + below("benchmarks", ".py", paths)
    return {
        "src lines": sum(map(n_lines, source)),
        "src tokens": sum(map(n_tokens, below("src", " ".join(PAGES | {".py"}), paths))),
        "tests lines": sum(map(n_lines, below("tests", ".py", paths))),
        "tools and benchmarks tokens": sum(map(n_tokens, tools)),
        "native lines": sum(map(n_lines, below("native", ".cpp .hpp", paths))),
        "tracked files": len(paths),
        "parameters of boosting": n_parameters("SLMBoostRegressor"),
        "parameters of a tree": n_parameters("SLMClassifier"),
        "parameters of a kernel machine": n_parameters("MCMClassifierCV"),
    }


def rooms(paths: list[Path]) -> dict[str, tuple[int, int, int]]:
    """Return files, lines and tokens of Python per folder of the package."""
    files, lines, tokens = Counter[str](), Counter[str](), Counter[str]()
    for path in below("src", ".py", paths):
        room = path.parts[2] if len(path.parts) > 3 else "planewise"
        files[room] += 1
        lines[room] += n_lines(path)
        tokens[room] += n_tokens(path)
    return {room: (files[room], lines[room], tokens[room]) for room in sorted(files)}


def main() -> int:
    paths = tracked()
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["planewise"]["size"]
    found = sizes(paths)
    for name in limits.keys() | found.keys():
        assert name in limits and name in found, f"{name!r} needs a size and a limit"
    for room, counts in rooms(paths).items():
        print(f"{room:32} {counts[0]:4} files {counts[1]:7,} lines {counts[2]:8,} tokens")
    for name, size in found.items():
        print(f"{name:32} {size:8,} of {limits[name]:8,}{'' if size <= limits[name] else '  TOO LARGE'}")
    return int(any(size > limits[name] for name, size in found.items()))


if __name__ == "__main__":
    sys.exit(main())
