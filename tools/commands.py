"""planewise commands in processes of their own, and a browser for planewise review: what the other tools share."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

KEPT = ("PATH", "HOME", "TMPDIR", "LD_PRELOAD", "TSAN_OPTIONS")
PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
FORM = "application/x-www-form-urlencoded"
TOKEN = "a-token-for-the-tools-0123456789"


def clean_environment(**more: str) -> dict[str, str]:
    """The environment of a new shell, and what is given."""
    return {name: os.environ[name] for name in KEPT if name in os.environ} | {"LANG": "C.UTF-8"} | more


def start(*args: object, **how: Any) -> subprocess.Popen[str]:
    """Start a command as a new shell would."""
    call = [sys.executable, "-c", "from planewise.cli import main; main()", *map(str, args)]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "env": clean_environment()}
    return subprocess.Popen(call, **(given | how))


def port_in(lines: Iterable[str]) -> int:
    """The port that a command says it listens on."""
    said = []
    for line in lines:
        said.append(line)
        if found := PORT.search(line):
            return int(found.group(1))
    raise RuntimeError(f"The command ended without listening: {''.join(said)}")


@contextmanager
def listening(*args: object, **how: Any) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that listens on a free port until the block ends, and the port."""
    with start(*args, "--port", 0, **how) as process:
        try:
            assert process.stdout is not None
            yield process, port_in(process.stdout)
        finally:
            process.kill()


def write_cases(folder: Path, n_rows: int, copies: int = 1) -> None:
    """A model of a table, and cases to predict, which are all rows so many times."""
    import polars as pl

    import planewise
    from planewise.table import TableModel

    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"size": rng.normal(50, 10, n_rows).round(2), "town": rng.choice(["Bonn", "Ulm"], n_rows)})
    label = pl.when(pl.col("size") > 50).then(pl.lit("dear")).otherwise(pl.lit("cheap")).alias("y")
    planewise.save(TableModel("boost", random_state=0).fit(rows.with_columns(label), "y"), folder / "model.planewise")
    pl.concat([rows] * copies).write_csv(folder / "cases.csv")


def review_of(folder: Path) -> tuple[object, ...]:
    """The arguments of a review of what `write_cases` wrote, without those of the port."""
    given = ("--token", TOKEN, "--who", "Ada", "--no-browser", "--answers", folder / "answers.jsonl")
    return ("review", folder / "model.planewise", folder / "cases.csv", *given)


class Browser:
    """Somebody who opened a review by its link."""

    def __init__(self, port: int) -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers: dict[str, str] = {"Origin": f"http://127.0.0.1:{port}"}
        self.saved: list[str] = []  # ids of records that the browser was told of
        got, _ = self.ask("GET", f"/?token={TOKEN}")
        self.path = "/" + got.getheader("location", "").split("/")[1]
        self.headers["Cookie"] = got.getheader("set-cookie", "").partition(";")[0]

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[http.client.HTTPResponse, str]:
        """A request and its answer."""
        headers = self.headers | ({"Content-Type": FORM} if form else {})
        self.link.request(method, path, urlencode(form) if form else None, headers)
        got = self.link.getresponse()
        return got, got.read().decode()

    def hidden(self, row: int) -> dict[str, str]:
        """What the form for a decision holds besides the decision."""
        _, page = self.ask("GET", f"{self.path}/case/{row}")
        form = re.search(r'<form[^>]*id="decide".*?</form>', page, re.S)
        if form is None:
            raise RuntimeError(f"The page of case {row} has no form for a decision: {page[:500]}")
        return dict(HIDDEN.findall(form[0]))

    def decide(self, row: int) -> tuple[int, str]:
        """Accept a case: the status, and the page."""
        form = self.hidden(row) | {"decision": "accept"}
        got, words = self.ask("POST", f"{self.path}/case/{row}/decide", form)
        found = re.search(r"saved=([0-9a-f]{32})", got.getheader("location", ""))
        if got.status == 303 and found:
            self.saved.append(found[1])
        return got.status, words
