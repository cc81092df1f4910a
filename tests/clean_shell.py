"""The environment that tests start programs in: that of a new shell, whatever the shell of the tests has set.

What a developer's shell or a CI service sets changes what Python and the libraries do: PYTHONUNBUFFERED how streams
fail, PYTHONDONTWRITEBYTECODE which files are written, COLUMNS, TERM, NO_COLOR, FORCE_COLOR and GITHUB_ACTIONS how text
looks, LANG how it is encoded. A test that depends on one of them sets it.
"""

from __future__ import annotations

import os
import subprocess
import sys

KEPT = (
    *("PATH", "HOME", "TMPDIR"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS"),  # a core with sanitizers needs them
    *("SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),  # of Windows
)


def clean_environment(**more: str) -> dict[str, str]:
    """The environment of a new shell, and what is given; for ``env=`` of subprocesses."""
    return {name: os.environ[name] for name in KEPT if name in os.environ} | {"LANG": "C.UTF-8"} | more


def enter_clean_shell(monkeypatch, **more: str) -> None:
    """The same for what a test runs in its own process."""
    clean = clean_environment(**more)
    for name in [name for name in os.environ if name not in clean and not name.startswith("PYTEST")]:
        monkeypatch.delenv(name)
    for name, value in clean.items():
        monkeypatch.setenv(name, value)


def small_files(n_bytes: int) -> str:
    """Python code after which no file can grow longer, as on a full disk.

    Python must write no bytecode then: it would leave a part of a file, and fail on it whenever it reads it.
    """
    return f"""
import resource, sys
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, ({n_bytes}, {n_bytes}))
"""


# Python code that defines a function. getrusage would count the process that a program was started from as well.
PEAK_MEMORY = """
def peak_memory():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
"""


def run_python(*args: str, env: dict[str, str] | None = None, **how) -> subprocess.CompletedProcess:
    """Run Python with these arguments to its end; in a clean environment, unless another one is given."""
    command = [sys.executable, *args]
    given = {"capture_output": True, "text": True, "check": False, "env": clean_environment() if env is None else env}
    return subprocess.run(command, **given | how)
