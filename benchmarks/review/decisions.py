"""10,000 decisions in a row, sent to a running server: the first and the last thousand, and the file afterwards.

python benchmarks/review/decisions.py
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.review.crash import Server
from benchmarks.review.scale import make_table, resident


def processor(pid: int) -> float:
    """Seconds that a process has computed (Linux): unlike the time that passed, without its neighbours' part."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def in_process(n_decisions: int, n_rows: int) -> None:
    """Decide, and look for the next case, a thousand at a time."""
    from planewise.app._queue import Filter
    from planewise.app._review import Asked, Review
    from planewise.table import TableModel

    model = TableModel("slm", random_state=0).fit(make_table(3000, 1).drop("id"), "kind")
    table, spent = make_table(n_rows, 2).drop("kind"), []
    with tempfile.TemporaryDirectory() as folder:
        review = Review(model, table, Path(folder) / "answers.jsonl", "Ada")
        for first in range(0, n_decisions, 1000):
            begun = time.process_time()
            for row in range(first, first + 1000):
                review.decide(row, Asked(secrets.token_hex(16), "accept", None, "a note"))
                review.queue.following(row, Filter())
            spent.append(round(time.process_time() - begun, 2))
        review.close()
    print(json.dumps({"processor time of each thousand, s": spent}))


def main() -> None:
    """Print one JSON text."""
    import planewise
    from planewise.answers import read_content
    from planewise.table import TableModel

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--decisions", type=int, default=10_000)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--in-process", action="store_true", help="without a server: what saving itself costs")
    given = options.parse_args()
    if given.in_process:
        return in_process(given.decisions, given.rows)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        planewise.save(TableModel("slm", random_state=0).fit(make_table(3000, 1).drop("id"), "kind"), "model.planewise")
        make_table(given.rows, 2).drop("kind").write_parquet("cases.parquet")
        server = Server(["model.planewise", "cases.parquet"])
        pid = server.process.pid
        memory, took, spent = [resident(pid)], [], []
        for row in range(given.decisions):
            if row % 1000 == 0:
                spent.append(processor(pid))
            begun = time.perf_counter()
            answer = server.http.post(
                f"/case/{row}/decide",
                data={"csrf": server.csrf, "key": secrets.token_hex(16), "decision": "accept", "note": f"number {row}"},
            )
            took.append(time.perf_counter() - begun)
            assert answer.status_code == 303
        memory.append(resident(pid))
        spent.append(processor(pid))
        server.kill()
        records = read_content(Path("cases.answers.jsonl")).records
        print(
            json.dumps(
                {
                    "decisions": given.decisions,
                    "first thousand, s": round(sum(took[:1000]), 3),
                    "last thousand, s": round(sum(took[-1000:]), 3),
                    "first thousand, processor time of the server, s": round(spent[1] - spent[0], 3),
                    "last thousand, processor time of the server, s": round(spent[-1] - spent[-2], 3),
                    "each, ms": round(1000 * sum(took) / len(took), 2),
                    "file intact": [record.row for record in records] == list(range(given.decisions)),
                    "memory before and after, MB": [round(each) for each in memory],
                },
                indent=2,
            )
        )


if __name__ == "__main__":
    main()
