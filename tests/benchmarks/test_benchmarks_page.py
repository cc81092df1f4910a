"""benchmarks/README.md names what there is, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parents[2] / "benchmarks"
PAGE = (HERE / "README.md").read_text(encoding="utf-8")


def test_every_script_is_named_and_every_named_script_exists():
    packages = {path.parent for path in HERE.glob("*/__main__.py")}
    scripts = {
        str(path.relative_to(HERE))
        for path in HERE.rglob("*.py")
        if path.name != "__init__.py" and not packages & set(path.parents)
    }
    named = {name.removeprefix("benchmarks/") for name in re.findall(r"[\w/]+\.py\b", PAGE)}
    assert named == scripts
    assert set(re.findall(r"python -m benchmarks\.(\w+)", PAGE)) == {path.name for path in packages}


def test_every_file_of_results_is_named_and_every_named_one_exists():
    assert set(re.findall(r"`(\w+\.json)`", PAGE)) == {path.name for path in (HERE / "results").glob("*.json")}


def test_links_lead_to_sections():
    links = re.findall(r"\]\(\.\./([\w/]+\.md)#?([\w-]*)\)", PAGE)
    assert len(links) > 20
    for page, section in links:
        headings = re.findall(r"^#+ (.*)$", (HERE.parent / page).read_text(encoding="utf-8"), flags=re.M)
        slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not section or section in slugs, f"{page} has no section {section}"
