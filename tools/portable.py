"""Check that the core is C++17 that every compiler accepts, MSVC included, on systems with a `long` of 32 bits too.

``python tools/portable.py`` looks for words that only some compilers or systems know, as `make lint` does. With
``--compile``, as `make portable` does, it also compiles every file of the core that needs no Python with each of
`COMPILERS` that is installed: clang in its strictest reading of the standard, and GCC for Windows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The headers that may ask which compiler it is; each has a way for compilers they do not know.
GUARDED = {"bits.hpp", "dispatch.hpp"}
ONLY_THERE = {
    r"__builtin_\w+": "is known to GCC and clang only",
    r"__attribute__": "is known to GCC and clang only",
    r"__declspec": "is known to MSVC only",
    r"__forceinline": "is known to MSVC only",
    r"_mm\d*_\w+|_BitScan\w+": "is known to x86 processors or MSVC only",
    r"__(?:GNUC|clang|x86_64|aarch64|GLIBC)__|_MSC_VER|_M_X64": "asks for a compiler or a processor",
    r"(?<!long )\blong\b(?! long| double)": "has 32 bits on Windows; use std::int64_t or std::size_t",
    r"_Pragma|#\s*pragma (?!once)[\w ]*": "is obeyed by some compilers only",
}
NOWHERE = {
    r"__int128\w*": "is not known to MSVC",
    r"__typeof__|typeof": "is not known to MSVC",
    r"\bssize_t\b": "is not known to MSVC; use std::ptrdiff_t",
    r"M_(?:PI|E|SQRT2|LN2)\w*": "is not in the standard; write the number",
    r"\balloca": "is not in the standard",
    r"#\s*include <(?:unistd|pthread|dlfcn|sched|strings|sys/\w+|bits/[\w+]+)(?:\.h)?>": "is not there on Windows",
    r"\b(?:and|or|not|bitand|bitor|xor|compl|and_eq|or_eq|not_eq)\b": "needs a switch of MSVC; use the sign",
    r"(?<=[{,])\s*\.\w+ = ": "names a member in an initialiser, which is C++20",
}
# What is left of a file without these is code.
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', flags=re.S)
STANDARD = (
    "-std=c++17",
    "-pedantic-errors",
    "-Werror",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-fsyntax-only",
)
COMPILERS = {
    "clang++": (*STANDARD, "-Wgnu", "-Wvla", "-Wc++20-extensions", "-Wimplicit-fallthrough", "-Wsign-compare"),
    "x86_64-w64-mingw32-g++-posix": (*STANDARD, "-Wvla"),
}


def code_of(text: str) -> str:
    """The text with comments and strings blanked out, line by line where it was."""

    def blank(match: re.Match[str]) -> str:
        included = re.search(r"#\s*include\s*$", match.string[: match.start()])
        return match.group() if included else re.sub(r"[^\n]", " ", match.group())

    return NOT_CODE.sub(blank, text)


def faults(native: Path) -> Iterator[str]:
    """One line per word that some compiler or system does not know."""
    for path in sorted([*native.glob("*.hpp"), *native.glob("*.cpp")]):
        code = code_of(path.read_text(encoding="utf-8"))
        for pattern, why in (NOWHERE | ({} if path.name in GUARDED else ONLY_THERE)).items():
            for match in re.finditer(pattern, code):
                line = code.count("\n", 0, match.start() + len(match.group()) - len(match.group().lstrip())) + 1
                where = (
                    "" if pattern in NOWHERE else f"; only {' and '.join(sorted(GUARDED))} may have it, with a guard"
                )
                yield f"{native.name}/{path.name}:{line}: {match.group().strip()} {why}{where}"


def compile_with(compiler: str, options: tuple[str, ...]) -> bool:
    """Whether a compiler accepts every file of the core that needs no Python."""
    files = [
        path for path in sorted((ROOT / "native").glob("*.cpp")) if "python.hpp" not in path.read_text(encoding="utf-8")
    ]

    def accepts(path: Path) -> bool:
        return subprocess.run([compiler, *options, "-I", ROOT / "native", path]).returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        accepted = sum(pool.map(accepts, files))
    print(f"{compiler}: accepts {accepted} of {len(files)} files", flush=True)
    return accepted == len(files)


def main() -> int:
    found = list(faults(ROOT / "native"))
    for fault in found:
        print(fault)
    good = not found
    if "--compile" in sys.argv[1:]:
        installed = {name: options for name, options in COMPILERS.items() if shutil.which(name)}
        if not installed:
            names = ", ".join(COMPILERS)
            print(f"none of these is installed: {names} (Debian: apt-get install clang g++-mingw-w64-x86-64-posix)")
            return 1
        for name in COMPILERS.keys() - installed.keys():
            print(f"{name}: not installed, so not tried")
        good = all([compile_with(name, options) for name, options in installed.items()]) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
