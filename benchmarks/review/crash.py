"""Kill a review's server in the middle of saving, many times: nothing confirmed may be lost, nothing saved twice.

python benchmarks/review/crash.py --kills 100
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import re
import secrets
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

TOKEN = "t" * 20
PRELOAD = ["planewise.cli._app", "planewise.app", "planewise.app.server", "uvicorn.lifespan.on"]


def _command(arguments: list[str], line: Any) -> None:
    """In the child: the command itself, with what it prints sent to the parent."""
    import sys

    from planewise.cli._app import app

    class Sent:
        def write(self, words: str) -> None:
            with contextlib.suppress(OSError):
                line.send(words)

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return False

    sys.stdout = Sent()  # type: ignore[assignment]
    app(arguments)


def context() -> Any:
    """Processes that begin with everything imported: a start takes a fraction of a second."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(PRELOAD)
    return made


class Server:
    """`planewise review` in a process that can be killed."""

    def __init__(self, files: list[str], who: str | None = "Ada") -> None:
        import httpx

        made = context()
        line, theirs = made.Pipe(duplex=False)
        call = ["review", *files, "--no-browser", *([] if who is None else ["--who", who]), "--token", TOKEN]
        self.process = made.Process(target=_command, args=(call, theirs), daemon=True)
        self.process.start()
        theirs.close()
        said, found = "", None
        while found is None:
            said += line.recv()
            found = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=", said)
        self.address = found.group(1)
        line.close()
        self.http = httpx.Client(base_url=self.address, trust_env=False, timeout=30, headers={"origin": self.address})
        page = self.http.get(f"/?token={TOKEN}", follow_redirects=True)
        self.path = re.match(r"/\w+", page.url.path).group(0)  # type: ignore[union-attr]
        self.http.base_url = self.address + self.path
        self.csrf = re.search(r'name="csrf" value="(\w+)"', page.text).group(1)  # type: ignore[union-attr]

    def accept(self, row: int, key: str) -> Any:
        """Send one decision."""
        note = "x" * random.Random(key).randint(0, 8000)  # the same when it is sent again
        fields = {"csrf": self.csrf, "key": key, "decision": "accept", "note": note}
        return self.http.post(f"/case/{row}/decide", data=fields)

    def kill(self) -> None:
        """As kill -9."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.http.close()


def crash(files: list[str], answers: Path, n_rows: int, kills: int, threads: int = 4, least: int = 1) -> dict[str, int]:
    """Kill the server so many times while threads send decisions; then send all unconfirmed ones again, and compare."""
    import httpx

    from planewise.answers import read_content

    confirmed: dict[str, int] = {}
    tried: dict[str, int] = {}
    for _ in range(kills):
        server, begun = Server(files), len(confirmed)

        def post(server: Server = server) -> None:
            while True:
                key, row = secrets.token_hex(16), random.randrange(n_rows)
                tried[key] = row
                try:
                    answer = server.accept(row, key)
                except httpx.HTTPError:
                    return
                assert answer.status_code == 303, answer.text
                confirmed[key] = row

        sending = [threading.Thread(target=post) for _ in range(threads)]
        for thread in sending:
            thread.start()
        while len(confirmed) < begun + least:
            time.sleep(0.001)
        time.sleep(random.random() * 0.1)
        server.kill()
        for thread in sending:
            thread.join()
    server = Server(files)
    unconfirmed = [key for key in tried if key not in confirmed]
    before = {record.id for record in read_content(answers).records}
    for key in unconfirmed:
        assert server.accept(tried[key], key).status_code == 303
    server.kill()
    saved = [(record.id, record.row) for record in read_content(answers).records]
    return {
        "kills": kills,
        "confirmed": len(confirmed),
        "lost": len(set(confirmed.items()) - set(saved)),
        "doubled": len(saved) - len({key for key, _ in saved}),
        "saved but not confirmed before the kill": len(before & set(unconfirmed)),
        "half lines put aside": len(list(answers.parent.glob(f"{answers.name}.torn*"))),
        "tried": len(tried),
        "saved": len(saved),
    }


def main() -> None:
    """A small model, many kills."""
    import polars as pl

    import planewise
    from planewise.table import TableModel

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=100)
    kills = options.parse_args().kills
    table = pl.DataFrame({"a": [float(k % 17) for k in range(2000)], "y": ["no", "yes"] * 1000})
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        planewise.save(TableModel("slm", random_state=0).fit(table, "y"), "model.planewise")
        table.drop("y").write_csv("cases.csv")
        print(json.dumps(crash(["model.planewise", "cases.csv"], Path("cases.answers.jsonl"), 2000, kills), indent=2))


if __name__ == "__main__":
    main()
