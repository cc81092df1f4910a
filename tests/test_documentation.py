"""What the README and the examples promise runs as it stands."""

from __future__ import annotations

import ast
import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from tools.readme import blocks_of, differs

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def no_windows(monkeypatch, tmp_path):
    """Files go to a folder of their own, pictures go nowhere, and none stays open."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


PROMISE = re.compile(r"# -> (.*)$", flags=re.M)


def python_blocks(page):
    return [block for block in blocks_of(page) if block.kind == "python"]


def run_blocks(page):
    """All Python blocks of a page, one after another, as a reader would paste them.

    A line that ends in ``# -> text`` must print that text, and a block before a block of text what that shows.
    """
    names = {}
    for block in python_blocks(page):
        where, lines, kept, whole = f"{page.name}:{block.line}", block.code.splitlines(), 0, ""
        for statement in ast.parse(block.code).body:
            with redirect_stdout(io.StringIO()) as printed:
                exec(compile(ast.Module([statement], []), where, "exec"), names)
            whole += printed.getvalue()
            line = lines[statement.end_lineno - 1]
            if promised := PROMISE.search(line):
                assert printed.getvalue().strip() == promised.group(1).strip(), f"{where} promises: {line}"
                kept += 1
        assert kept == len(PROMISE.findall(block.code)), f"{where} promises a text within a statement, or twice"
        assert block.shown is None or not differs(block.shown, whole), f"{where} printed {whole}"
        sys.stdout.write(whole)


def test_an_example_that_prints_something_else_than_promised_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)  # -> 2\nprint(2)  # -> 3\n```\n")
    with pytest.raises(AssertionError, match=r"page.md:2 promises: print\(2\)  # -> 3"):
        run_blocks(page)


def test_no_page_with_examples_is_forgotten_here():
    run_here = set(re.findall(r'run_blocks\(ROOT / "docs" / "(\w+\.md)"\)', Path(__file__).read_text(encoding="utf-8")))
    run_elsewhere = {"tool_chain.md"}  # by make test-toolchain, which installs what it needs
    assert run_here | run_elsewhere == {page.name for page in (ROOT / "docs").glob("*.md") if python_blocks(page)}


def test_the_examples_of_the_page_on_published_settings_run():
    run_blocks(ROOT / "docs" / "published.md")


def test_the_examples_of_the_page_on_tables_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("patients.csv").write_text("weight;admitted\n80,5;31.01.2024\ntbd;02.02.2024\n", encoding="cp1252")
    run_blocks(ROOT / "docs" / "tables.md")
    assert "admitted date day first, %d.%m.%Y" in capsys.readouterr().out


def test_the_examples_of_the_readme_run():
    """In this environment; ``make test-readme`` runs all blocks where only what the README names is installed."""
    run_blocks(ROOT / "README.md")


def test_a_page_that_shows_something_else_is_found_out():
    printed = "1\n2\n3\n"
    assert not any(differs(shown, printed) for shown in ("1\n2\n3\n", "1\n...\n3\n", "...\n3\n", "1\n...\n", "...\n"))
    assert all(differs(shown, printed) for shown in ("1\n2\n", "2\n...\n", "...\n2\n", "1\n2\n4\n", ""))


def test_the_examples_of_the_guide_to_ensembles_run(capsys):
    run_blocks(ROOT / "docs" / "ensembles.md")
    assert len(PROMISE.findall((ROOT / "docs" / "ensembles.md").read_text(encoding="utf-8"))) >= 5
    assert capsys.readouterr().err == ""


def test_the_examples_of_the_guide_to_large_tables_run(capsys):
    pytest.importorskip("distributed")
    run_blocks(ROOT / "docs" / "scale.md")
    assert capsys.readouterr().err == ""


def test_the_examples_for_users_of_other_libraries_run(capsys):
    run_blocks(ROOT / "docs" / "coming_from.md")
    assert capsys.readouterr().err == ""


def test_the_examples_of_the_page_on_explanations_run(capsys):
    run_blocks(ROOT / "docs" / "explanations.md")
    assert capsys.readouterr().err == ""


def test_the_examples_of_the_guide_to_machines_run(capsys):
    run_blocks(ROOT / "docs" / "machines.md")
    sparse, balanced, *_ = capsys.readouterr().out.splitlines()
    accuracy, _, vectors, *_ = sparse.split()
    assert float(accuracy) > 0.93 and int(vectors) < 20
    assert float(balanced.split()[0]) > 0.95


def test_the_examples_of_the_guide_to_exports_run(capsys):
    pytest.importorskip("onnx")
    run_blocks(ROOT / "docs" / "export.md")
    assert "['label', 'probabilities']" in capsys.readouterr().out


def test_the_examples_of_the_page_on_files_run(capsys):
    run_blocks(ROOT / "docs" / "files.md")
    assert "half.planewise' is not a model file, or is truncated or damaged" in capsys.readouterr().out


def test_the_examples_of_the_page_on_the_command_line_run(capsys):
    run_blocks(ROOT / "docs" / "command_line.md")
    assert "['age', 'town']" in capsys.readouterr().out


def test_the_examples_of_the_guide_to_pictures_run():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    run_blocks(ROOT / "docs" / "pictures.md")
    assert len(pyplot.get_fignums()) == 13


def test_the_examples_of_the_guide_to_views_run(capsys):
    run_blocks(ROOT / "docs" / "views.md")
    assert "nearest rows in the view area error × worst concave points" in capsys.readouterr().out


def test_the_examples_of_the_guide_to_sums_of_views_run():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    run_blocks(ROOT / "docs" / "sums_of_views.md")
    pyplot.close("all")


def test_the_examples_of_the_page_on_reviews_run(capsys):
    pytest.importorskip("fastapi")
    run_blocks(ROOT / "docs" / "review.md")
    assert "'open': 40" in capsys.readouterr().out


def test_the_examples_of_the_page_on_serving_run(capsys):
    pytest.importorskip("fastapi")
    run_blocks(ROOT / "docs" / "serve.md")
    assert "Predictions of buys" in capsys.readouterr().out


def test_the_links_of_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
