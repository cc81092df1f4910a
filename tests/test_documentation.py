"""What the README, the pages and the API reference promise is so."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest
from tools.pages import Session, blocks_of, differs, run_here, run_page

import planewise

ROOT = Path(__file__).resolve().parents[1]
# tool_chain.md needs more packages: tests/toolchain runs it.
PAGES = sorted({*(ROOT / "docs").glob("*.md")} - {ROOT / "docs" / "tool_chain.md"})
# Packages that not every platform has, and the pages that are about them.
NEEDS = {"export.md": "onnx", "scale.md": "distributed"}
# What a page prints beyond what it shows.
PRINTS = {
    "command_line.md": "['age', 'town']",
    "export.md": "['label', 'probabilities']",
    "files.md": "half.planewise' is not a model file, or is truncated or damaged",
    "tables.md": "admitted date day first, %d.%m.%Y",
    "recip.md": "nearest rows in the view area error × worst concave points",
}


@pytest.fixture(autouse=True)
def no_windows(monkeypatch, tmp_path):
    """Files go to a folder of their own, pictures go nowhere, and none stays open."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(ROOT / "tools")
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page, tmp_path, capfd):
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    if not shutil.which("bash") and any(block.kind == "sh" for block in blocks_of(page)):
        pytest.skip("needs bash")
    assert PRINTS.get(page.name, "") in run_here(page, tmp_path)
    if all(block.kind == "python" for block in blocks_of(page)):
        assert capfd.readouterr().err == ""


def test_the_pages_named_here_exist():
    assert {*NEEDS, *PRINTS} <= {page.name for page in PAGES}


def test_the_python_of_the_readme_runs():
    """In this environment; ``make test-readme`` runs all blocks where only what the README names is installed."""
    run_page(ROOT / "README.md", Session().run, shell=None)


def test_machines_are_accurate_with_few_vectors(tmp_path):
    sparse, balanced, *_ = run_here(ROOT / "docs" / "machines.md", tmp_path).splitlines()
    assert float(sparse.split()[0]) > 0.93 and sparse.endswith("fewer than 20 vectors: True")
    assert float(balanced.split()[0]) > 0.95


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```python\nprint(1 + 1)  # -> 2\nprint(2)  # -> 3\n```\n", r"page.md:2: .*promised: print\(2\)  # -> 3"),
        ("```python\nprint(2)\n```\n\n```text\n3\n```\n", "page.md:2: it shows\n3\n"),
        ("```sh\necho a; false\n```\n", "page.md:2: .*exit code 1\na"),
        ("```sh\necho a\n```\n\nThis prints:\n\n```text\nb\n```\n", "it shows\nb\n"),
        ("```sh\nmake tea\n```\n", "the Makefile has no target tea"),
        ("```sh\npip install '.[cli,tea]'\n```\n", "there is no extra tea"),
    ],
)
def test_a_page_that_is_wrong_is_found_out(tmp_path, text, message):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(AssertionError, match=f"(?s){message}"):
        run_here(page, tmp_path)


def test_commands_that_need_more_are_not_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\n# needs a moon\nfalse\n```\n\n```sh\nfalse  # needs a sun\necho b\n```\n\n```text\nb\n```\n"
    )
    assert run_here(page, tmp_path) == "b\n"


def test_a_page_that_shows_something_else_is_found_out():
    printed = "1\n2\n3\n"
    assert not any(differs(shown, printed) for shown in ("1\n2\n3\n", "1\n...\n3\n", "...\n3\n", "1\n...\n", "...\n"))
    assert all(differs(shown, printed) for shown in ("1\n2\n", "2\n...\n", "...\n2\n", "1\n2\n4\n", ""))


def listed():
    """Return the names on the page of the API, by module."""
    names, module = {}, ""
    for line in (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            names.setdefault(module, set()).add(line.strip())
    return names


def test_the_api_page_lists_every_public_name_and_no_other():
    names, first = listed(), {*planewise.__all__} - {"__version__"}
    public = {"planewise": first}
    for room in planewise._ROOMS:
        own = {*importlib.import_module(f"planewise.{room}").__all__}
        public[f"planewise.{room}"] = own if room == "dask" else own - first
    assert names == {module: found for module, found in public.items() if found}
    assert sum(map(len, names.values())) <= 80


def test_the_links_of_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
