"""Writes the texts that tests compare with: run it when a change of an export's text is meant, and look at the diff.

python tests/export/keep_golden.py
"""

from test_c_machines import golden_machine
from test_c_trees import GOLDEN, golden_forest, golden_tree

from planewise.export import to_c, to_text
from planewise.export.c import _machine, _trees

if __name__ == "__main__":
    texts = {
        "tree.h": to_c(golden_tree(), name="golden"),
        "tree.txt": to_text(golden_tree()),
        "forest.h": _trees(golden_forest(), "golden", compact=False),
        "forest_compact.h": _trees(golden_forest(), "golden", compact=True),
        "machine.h": _machine(golden_machine(), "golden", compact=True),
    }
    for name, text in texts.items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
