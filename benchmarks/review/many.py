"""A review of 100,000 rows: the list, a rule that accepts many cases at once, its undo, and the export.

python benchmarks/review/many.py
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.review.crash import Server
from benchmarks.review.scale import make_table


def main() -> None:
    """Print one JSON text: seconds, as a client sees them."""
    import planewise
    from planewise.table import TableModel

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    n_rows = options.parse_args().rows
    found: dict[str, Any] = {}

    def timed(name: str, act: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        answer = act()
        found[name] = round(time.perf_counter() - begun, 2)
        return answer

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        model = TableModel("boost", random_state=0).fit(make_table(3000, 1).drop("id"), "kind")
        planewise.save(model, "model.planewise")
        make_table(n_rows, 2).drop("kind").write_parquet("cases.parquet")
        server = Server(["model.planewise", "cases.parquet"])
        for sort in ("case", "probability", "decision"):
            timed(f"list sorted by {sort}", lambda sort=sort: server.http.get(f"/queue?show=all&sort={sort}"))
        page = timed("preview of a rule", lambda: server.http.get("/accept?class=0&least=0.6"))
        text = re.search(r'<form id="accept-all".*?</form>', page.text, re.S).group()  # type: ignore[union-attr]
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text))
        found["cases of the rule"] = int(form["n_cases"])
        answer = timed("accept all of them", lambda: server.http.post("/accept", data=form, timeout=60))
        assert answer.status_code == 303, answer.text
        page = server.http.get("/accept")
        text = re.search(r'<form id="undo".*?</form>', page.text, re.S).group()  # type: ignore[union-attr]
        export = timed("export of all rows as CSV", lambda: server.http.get("/export/file?rows=all", timeout=60))
        found["MB of the export"] = round(len(export.content) / 1e6, 1)
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text))
        assert timed("undo all of them", lambda: server.http.post("/undo", data=form)).status_code == 303
        server.kill()
        timed("start again, with all predictions", lambda: Server(["model.planewise", "cases.parquet"])).kill()
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
