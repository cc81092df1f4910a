"""Try inputs again, with the installed core: python tools/fuzz/again.py TARGET FILE..."""

from __future__ import annotations

import sys
from pathlib import Path

from target import target

if __name__ == "__main__":
    for file in sys.argv[2:]:
        print(file, target(sys.argv[1]).case(Path(file).read_bytes()), sep=": ", flush=True)
