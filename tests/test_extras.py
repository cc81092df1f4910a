"""What needs an extra says which one, and how to install it where there is no release to get it from."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from clean_shell import run_python
from planewise import SLMClassifier
from planewise._optional import require
from planewise.export import to_onnx
from planewise.plot import TreeDisplay
from planewise.table import TableModel

ROOT = Path(__file__).resolve().parents[1]
MAIN = "from planewise.cli import main; main()"


def without(monkeypatch, *packages):
    """As if the packages were not installed, whatever of them is loaded already."""
    for name in list(sys.modules):
        if name.partition(".")[0] in packages:
            monkeypatch.setitem(sys.modules, name, None)
    for name in packages:
        monkeypatch.setitem(sys.modules, name, None)


def sentence(what, package, extra):
    return (
        f"{what} needs {package}, which is not installed: install planewise with its extra '{extra}' "
        f"(in a checkout: pip install '.[{extra}]')."
    )


@pytest.fixture(scope="module")
def tree():
    return SLMClassifier(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5)


@pytest.mark.parametrize(
    ("packages", "extra", "what"),
    [("matplotlib", "plot", "planewise.plot"), ("onnx", "export", "to_onnx"), ("polars", "cli", "A table model")],
)
def test_a_missing_package_is_named_with_its_extra(tree, monkeypatch, packages, extra, what):
    without(monkeypatch, packages)
    ask = {
        "plot": lambda: TreeDisplay.from_estimator(tree).plot(),
        "export": lambda: to_onnx(tree),
        "cli": lambda: TableModel("tree").fit({"a": [1]}, "a"),
    }
    with pytest.raises(ModuleNotFoundError) as told:
        ask[extra]()
    assert str(told.value) == sentence(what, packages, extra)
    assert told.value.name == packages


@pytest.mark.parametrize("missing", ["typer", "polars", "rich"])
def test_the_command_names_its_extra(missing):
    done = run_python("-c", f"import sys; sys.modules[{missing!r}] = None\n{MAIN}", "--help")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"planewise: {sentence('The command line', missing, 'cli')}\n"


def test_every_extra_that_is_named_exists_and_no_text_asks_for_a_release():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    files = [*ROOT.glob("docs/*.md"), *ROOT.glob("src/planewise/**/*.py")]
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in files}
    assert [path for path, text in texts.items() if re.search(r"pip install\b[^\n`]* '?planewise\b", text)] == []
    named = {
        name for text in texts.values() for found in re.findall(r"\.\[([a-z,]+)\]", text) for name in found.split(",")
    }
    assert {"cli", "plot", "export"} <= named <= set(extras)


def test_a_package_that_is_there_and_broken_is_not_called_missing(monkeypatch, tmp_path):
    (tmp_path / "broken_package.py").write_text("raise ImportError('libfreetype.so.6: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"libfreetype.so.6"):
        require("A picture", "broken_package", "plot")
    (tmp_path / "needy_package.py").write_text("import something_else_that_is_missing")
    with pytest.raises(ModuleNotFoundError, match="something_else_that_is_missing"):
        require("A picture", "needy_package", "plot")
