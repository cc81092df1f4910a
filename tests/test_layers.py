"""The check of the layers finds an import that points upwards; `make lint` runs it on the package itself."""

from __future__ import annotations

import pytest
from tools.layers import upward_imports


def found(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return list(upward_imports(folder))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("trees/tree.py", "from planewise.report import report\n"),
        ("trees/tree.py", "from ..cli.fit import fit\n"),
        ("trees/tree.py", "def f():\n    import planewise.export.c\n"),
        ("trees/tree.py", "from planewise import published\n"),
        ("_text.py", "from planewise.data import frames\n"),
    ],
)
def test_an_import_from_further_down_is_found(tmp_path, file, text):
    (line,) = found(tmp_path, {file: text})
    assert line.startswith(f"{file}:{text.count(chr(10))}: ")


def test_imports_from_above_and_from_the_same_room_are_fine(tmp_path):
    text = "from planewise import _core\nfrom planewise._text import number\nfrom planewise.data import frames\n"
    files = {"trees/forest.py": f"{text}from . import tree\n", "cli/fit.py": "from planewise.trees.tree import grow\n"}
    assert found(tmp_path, files) == []


def test_a_folder_that_is_no_room_is_found(tmp_path):
    with pytest.raises(SystemExit, match="attic"):
        found(tmp_path, {"attic/x.py": "import planewise.trees\n"})
