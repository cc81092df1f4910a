"""Run the tests that docs/reliability.md names, so that each promise of the page is checked by its own tests.

    python tools/reliability.py [pytest options]

``make reliability`` calls this. `named_tests` is also what a test compares with the files: a test that was renamed or
removed must be so on the page.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reliability.md"


def named_tests() -> list[str]:
    """The tests and files of tests that the page names, such as ``tests/io/test_bad_files.py::test_links``."""
    found = re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", PAGE.read_text(encoding="utf-8"))
    return list(dict.fromkeys(found))


def main() -> None:
    command = [sys.executable, "-m", "pytest", "-q", *sys.argv[1:], *named_tests()]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
