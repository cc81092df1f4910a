"""Boosting on a table larger than memory: from a memory-mapped file under a limit, and from memory without one.

    python benchmarks/duels/out_of_core.py [--rows 1e7] [--rounds 20] [--limit-mb 1024] [--folder DIR] [--out FILE]

Writes a table of 28 float32 columns as Parquet files, then fits it twice, each time in a new process: "file" reads it
by `planewise.data.from_batches` with at most `--limit-mb` of anonymous memory (RLIMIT_DATA, as `ulimit -d`; address
space that is only reserved counts, so polars and BLAS get one thread); "memory" reads it whole. Seconds, the growth of
anonymous memory during the fit in bytes per row, and whether both models are the same. `--only file` leaves the second
one out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
N_COLUMNS = 28
PER_FILE = 1_000_000


def write_files(folder, n_rows):
    import polars as pl
    from benchmarks.data import labels_of, normal_features

    for seed in range(max(1, n_rows // PER_FILE)):
        X = normal_features(seed, min(n_rows, PER_FILE))
        columns = {f"x{j}": X[:, j] for j in range(N_COLUMNS)}
        table = pl.DataFrame(columns | {"y": labels_of(X, seed).astype(np.int8)})
        table.write_parquet(folder / f"{seed:03}.parquet", compression="uncompressed")


def anonymous_mb():
    return int(Path("/proc/self/status").read_text().split("RssAnon:")[1].split()[0]) / 1024


def fit(kind, folder, n_rounds):
    """In a process of its own: read, fit and report."""
    import polars as pl

    from planewise import SLMBoostClassifier
    from planewise.data import from_batches

    start = time.perf_counter()
    if kind == "file":
        query = pl.scan_parquet(f"{folder}/*.parquet")
        batches = partial(query.collect_batches, chunk_size=2**15, maintain_order=True)
        X, y = from_batches(batches, target="y", folder=folder)
    else:
        table = pl.read_parquet(f"{folder}/*.parquet")
        X, y = table.drop("y").to_numpy(), table["y"].to_numpy()
        del table
    read, before, most, done = time.perf_counter() - start, anonymous_mb(), [0.0], threading.Event()

    def look():
        while not done.wait(0.05):
            most[0] = max(most[0], anonymous_mb())

    looking = threading.Thread(target=look)
    looking.start()
    start = time.perf_counter()
    model = SLMBoostClassifier(n_estimators=n_rounds, n_jobs=2, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    done.set()
    looking.join()
    arrays = b"".join(array.tobytes() for array in model.forest_.arrays().values())
    print(json.dumps({
        "read_seconds": round(read, 1),
        "fit_seconds": round(seconds, 1),
        "anonymous_mb_before": round(before),
        "anonymous_mb_most": round(most[0]),
        "bytes_per_row": round((most[0] - before) * 2**20 / len(y), 1),
        "model": hashlib.sha256(arrays).hexdigest()[:16],
    }))  # fmt: skip


def in_a_new_process(kind, folder, args):
    limited = kind == "file"

    def limit():
        if limited:
            resource.setrlimit(resource.RLIMIT_DATA, (args.limit_mb * 2**20,) * 2)

    command = [sys.executable, __file__, "--child", kind, "--folder", str(folder), "--rounds", str(args.rounds)]
    threads = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} if limited else {}
    found = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=limit, env=os.environ | threads, check=False
    )
    if found.returncode:
        return {"failed": found.stderr.strip().splitlines()[-1]}
    return json.loads(found.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--limit-mb", type=int, default=1024)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", choices=["file", "memory"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return fit(args.child, args.folder, args.rounds)
    answer = {"rows": args.rows, "rounds": args.rounds, "limit_mb": args.limit_mb}
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        write_files(Path(name), args.rows)
        for kind in [args.only] if args.only else ["file", "memory"]:
            answer[kind] = in_a_new_process(kind, Path(name), args)
    if "file" in answer and "memory" in answer:
        answer["same_model"] = answer["file"].get("model") == answer["memory"].get("model")
    print(json.dumps(answer, indent=2))
    if args.out is not None:
        args.out.write_text(json.dumps(answer, indent=2) + "\n")


if __name__ == "__main__":
    main()
