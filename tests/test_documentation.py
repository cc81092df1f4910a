"""What the README and the examples promise runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_first_example_of_the_readme_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.S)
    exec(compile(code, "README.md", "exec"), {})
    accuracy = float(capsys.readouterr().out.split()[0])
    assert accuracy > 0.9


def test_the_links_of_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


@pytest.mark.parametrize("script", ["demo.py", "partition.py"])
def test_the_examples_make_their_pictures(script, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / ("demo.html" if script == "demo.py" else "partition.png")
    arguments = ["--out", str(out)] if script == "demo.py" else [str(out)]
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / script), *arguments], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert str(out) in done.stdout
    content = out.read_bytes()
    assert content[:4] == b"\x89PNG" or b"data:image/png;base64," in content
