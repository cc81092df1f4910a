"""Use another build of the compiled module than the installed one.

``python tools/other_core.py FOLDER TEST ...`` runs tests with the core of a build folder that was compiled with the
thread sanitizer.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path


def use_core(path: str) -> None:
    """Let planewise import the build at `path`; to be called before planewise is imported."""
    spec = importlib.util.spec_from_file_location("planewise._core", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planewise._core"] = module
    spec.loader.exec_module(module)


def main() -> None:
    """Replace this process by one with the sanitizer's libraries, which runs the tests."""
    folder, *tests = sys.argv[1:]
    if "LD_PRELOAD" in os.environ:
        (core,) = Path(folder).glob("_core*.so")
        use_core(str(core))
        import pytest

        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *tests]))
    compiler = os.environ.get("CXX", "c++")
    libraries = [
        subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()
        for name in ("libtsan.so", "libstdc++.so")
    ]
    # Libraries that were compiled without the sanitizer have locks that it does not know.
    options = "exitcode=66:report_thread_leaks=0:ignore_noninstrumented_modules=1:history_size=4"
    more = {"LD_PRELOAD": " ".join(libraries), "TSAN_OPTIONS": options, "OPENBLAS_NUM_THREADS": "1"}
    os.execve(sys.executable, [sys.executable, __file__, folder, *tests], os.environ | more)


if __name__ == "__main__":
    main()
