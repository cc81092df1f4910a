"""The check of the layers finds what it is there to find; `make lint` runs it on the package itself."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def layers():
    spec = importlib.util.spec_from_file_location("layers", ROOT / "tools" / "layers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["layers"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["layers"]


def package(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("slm/_tree.py", "from planewise.report import report\n", "report does not stand above slm"),
        ("slm/_tree.py", "from planewise.mcm import MCMClassifier\n", "mcm does not stand above slm"),
        ("_input.py", "def f():\n    from planewise.slm import A\n", "slm does not stand above the front door"),
        ("io/_models.py", "from planewise.slm._tree import grow\n", "private to slm"),
        ("io/_models.py", "from planewise.slm import _tree\n", "private to slm"),
        ("io/_models.py", "import planewise.slm._tree\n", "private to slm"),
        ("io/_models.py", "from ..slm._tree import grow\n", "private to slm"),
        ("export/_text.py", "from planewise.report import report\n", "report does not stand above export"),
    ],
)
def test_a_forbidden_import_is_found_and_its_line_named(layers, tmp_path, file, text, fault):
    house = package(tmp_path, {"slm/_tree.py": "", "mcm/_x.py": "", "report/_x.py": "", file: text})
    found = list(layers.faults(house))
    assert len(found) == 1
    assert found[0].startswith(f"{file}:{2 if text.startswith('def') else 1}: ")
    assert found[0].endswith(fault)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("slm/_tree.py", "from planewise._input import rows\nfrom planewise.words import number\n"),
        ("slm/_tree.py", "from planewise.slm._grow import grow\nfrom ._grow import grow\n"),
        ("report/_page.py", "from planewise.plot.style import COLOURS\n"),
        ("cli/_fit.py", "from planewise import SLMClassifier\nfrom planewise.slm.fitted import Forest\n"),
        ("_shown.py", "def html():\n    from planewise.report import summary\n"),
    ],
)
def test_imports_from_above_and_from_public_modules_are_fine(layers, tmp_path, file, text):
    others = {f"{name}/_x.py": "" for name in ("words", "slm", "plot", "report", "cli")}
    assert list(layers.faults(package(tmp_path, others | {file: text}))) == []


def test_a_package_that_no_layer_names_is_found(layers, tmp_path):
    assert "attic/" in next(layers.faults(package(tmp_path, {"attic/_x.py": ""})))


def test_a_function_is_measured_without_its_docstring(layers, tmp_path):
    lines = "\n".join("    x = 1" for _ in range(layers.LONGEST))
    docstring = '    """' + "Words.\n" * 30 + '    """\n'
    house = package(
        tmp_path, {"slm/_tree.py": f"def fits():\n{docstring}{lines}\n\n\ndef longer():\n    y = 1\n{lines}\n"}
    )
    assert [fault.split(": ")[1].split()[0] for fault in layers.long_functions(house)] == ["longer"]
