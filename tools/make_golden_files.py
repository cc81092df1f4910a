"""Write model files of this version, with what the models said, for the tests of all later versions to read.

python tools/make_golden_files.py

Files go to tests/io/golden/schema-N. Once released they stay as they are: a new version of the format gets a folder of
its own, and the reader keeps reading the old ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "io"))

from catalogue import fitted  # noqa: E402
from golden_files import GOLDEN, asked  # noqa: E402

import planewise  # noqa: E402
from planewise.io._versions import SCHEMA  # noqa: E402


def main() -> None:
    folder = ROOT / "tests" / "io" / "golden" / f"schema-{SCHEMA}"
    folder.mkdir(parents=True, exist_ok=True)
    said = {}
    for name, catalogue_name in GOLDEN.items():
        model, X = fitted(catalogue_name)
        planewise.save(model, folder / f"{name}.planewise")
        said[name] = asked(model, X)
    (folder / "answers.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
