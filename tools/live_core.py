"""Compile the tree of the live example to WebAssembly: writes docs/_static/live_core.js. Run by ``make live``.

The compiler is Zig's clang from PyPI, in one fixed version, so that the file changes only when its sources do.
"""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "_static" / "live_core.js"
PARTS = ("forest", "grow", "interactions", "matrix", "measure", "propose", "route", "statistics")
OPTIONS = (
    *("-target", "wasm32-wasi", "-mexec-model=reactor", "-std=c++17", "-Os", "-g0", "-DPLANEWISE_NO_THREADS"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fexceptions"),  # as in CMakeLists.txt
    *("-Inative", "-Wl,--gc-sections", "-Wl,--strip-all"),
)
HEADER = "// Made by `make live` from packaging/wasm/live_tree.cpp and native/. Do not edit.\n"


def compiled() -> bytes:
    """The module; paths are relative to the repository, so that none of this machine gets into it."""
    sources = ["packaging/wasm/live_tree.cpp", *(f"native/{part}.cpp" for part in PARTS)]
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "live.wasm"
        environment = os.environ | {"ZIG_LOCAL_CACHE_DIR": str(ROOT / "build" / "zig")}
        subprocess.run(
            [sys.executable, "-m", "ziglang", "c++", *OPTIONS, *sources, "-o", str(module)],
            cwd=ROOT, env=environment, check=True,
        )  # fmt: skip
        return module.read_bytes()


def main() -> None:
    module = compiled()
    text = base64.b64encode(module).decode()
    OUT.write_text(f'{HEADER}window.planewiseCore = "{text}";\n', encoding="utf-8")
    print(f"{OUT.relative_to(ROOT)}: a module of {len(module):,} bytes")


if __name__ == "__main__":
    main()
