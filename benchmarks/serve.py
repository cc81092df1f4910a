"""planewise serve beside a plain FastAPI + LightGBM service: requests per second and latencies, on one machine.

    python benchmarks/serve.py [--seconds 5] [--repeats 5] [--connections 8]

All services run in one process each, with the same uvicorn, the same protocol and event loop, on the same table, and
are loaded by turns by the same client, which keeps some connections open and sends the next request on each when the
answer to the last one has come. LightGBM predicts with one thread, which is quicker for few rows. All models are
boosted trees; their accuracies on held-out rows are printed, so that nobody compares a small model with a large one.
Results go to ``benchmarks/results/serve.json``. Needs the group ``peers``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROWS = (1, 100)
N_TRAINING, N_HELD_OUT = 20_000, 5_000
RESULTS = Path(__file__).parent / "results" / "serve.json"

PLAIN = """
import lightgbm, pandas, pydantic, uvicorn
from fastapi import FastAPI

model = lightgbm.Booster(model_file="plain.txt")
towns = TOWNS
app = FastAPI()

class Row(pydantic.BaseModel):
{fields}
    town: str | None

class Request(pydantic.BaseModel):
    rows: list[Row]

@app.post("/predict")
def predict(request: Request):
    table = pandas.DataFrame([row.model_dump() for row in request.rows])
    table["town"] = pandas.Categorical(table["town"], categories=towns)
    shares = model.predict(table, num_threads=1)
    return {{"answers": [{{"prediction": bool(p > 0.5), "probability": p}} for p in shares.tolist()]}}

uvicorn.run(app, port=PORT, http="HTTP", loop="auto", log_level="error", access_log=False)
"""

PLAINEST = """
import json
import lightgbm, numpy, uvicorn
from fastapi import FastAPI, Request, Response

model = lightgbm.Booster(model_file="plain.txt")
towns = {{name: float(k) for k, name in enumerate(TOWNS)}}
names = {names}
app = FastAPI()

@app.post("/predict")
async def predict(request: Request):
    rows = (await request.json())["rows"]
    table = numpy.array([[row[name] for name in names] + [towns.get(row["town"], -1.0)] for row in rows], dtype=float)
    shares = model.predict(table, num_threads=1).tolist()
    return Response(json.dumps({{"answers": [{{"prediction": p > 0.5, "probability": p}} for p in shares]}}))

uvicorn.run(app, port=PORT, http="HTTP", loop="auto", log_level="error", access_log=False)
"""


def make_table(n_rows: int, seed: int) -> pl.DataFrame:
    """Twenty numbers, some missing, and a category; two classes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 20)).round(4)
    town = rng.choice(["Bonn", "Köln", "Ulm"], n_rows)
    score = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + np.abs(numbers[:, 3]) + (town == "Ulm")
    table = pl.DataFrame({f"x{j}": numbers[:, j] for j in range(20)} | {"town": town})
    holes = pl.Series(rng.random(n_rows) < 0.05)
    table = table.with_columns(x4=pl.when(holes).then(None).otherwise(pl.col("x4")))
    return table.with_columns(y=pl.Series(score + rng.normal(0, 0.5, n_rows) > 1.3))


def fit_both(folder: Path) -> dict[str, float]:
    """Write both models; their accuracies on held-out rows."""
    import lightgbm

    from planewise import save
    from planewise.table import TableModel

    table, held_out = make_table(N_TRAINING, 0), make_table(N_HELD_OUT, 1)
    ours = TableModel("boost", random_state=0).fit(table, "y")
    save(ours, folder / "m.planewise")
    frames = [each.drop("y").to_pandas() for each in (table, held_out)]
    for frame in frames:
        frame["town"] = frame["town"].astype("category")
    theirs = lightgbm.LGBMClassifier(n_estimators=200, random_state=0, verbose=-1).fit(frames[0], table["y"].to_numpy())
    theirs.booster_.save_model(folder / "plain.txt")
    truth = held_out["y"].to_numpy()
    return {
        "planewise": float((ours.predict(held_out) == truth).mean()),
        "lightgbm": float((theirs.predict(frames[1]) == truth).mean()),
    }


def bodies() -> dict[int, bytes]:
    rows = make_table(200, 2).drop("y").to_dicts()
    return {n: json.dumps({"rows": rows[:n]}).encode() for n in ROWS}


async def load(port: int, body: bytes, seconds: float, connections: int) -> list[float]:
    """The time of every request that was answered."""
    head = (
        f"POST /predict HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    request, took, end = head.encode() + body, [], time.perf_counter() + seconds

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (start := time.perf_counter()) < end:
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200"), answer
            length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            took.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(connections)))
    return took


def start(folder: Path, http: str) -> dict[str, tuple[subprocess.Popen[bytes], int]]:
    """The services, each on a port of its own."""
    names = [f"x{j}" for j in range(20)]
    fields = "\n".join(f"    {name}: float | None" for name in names)
    towns = repr(["Bonn", "Köln", "Ulm"])
    codes = {
        "FastAPI + LightGBM, pydantic and pandas": PLAIN.format(fields=fields),
        "FastAPI + LightGBM, by hand": PLAINEST.format(names=names),
    }
    calls = {
        "planewise serve": [sys.executable, "-m", "planewise.cli", "serve", "m.planewise", "--rate", "0", "--port"],
    }
    services, port = {}, 8701
    for name, call in calls.items():
        services[name] = subprocess.Popen([*call, str(port)], cwd=folder, stdout=subprocess.DEVNULL), port
        port += 1
    for name, code in codes.items():
        text = code.replace("PORT", str(port)).replace("HTTP", http, 1).replace("TOWNS", towns)
        text = text.replace('http="HTTP"', f'http="{http}"')
        services[name] = subprocess.Popen([sys.executable, "-c", text], cwd=folder), port
        port += 1
    return services


def cpu_seconds(process: int) -> float:
    """What a process has used so far, on Linux: unlike the latency, it hardly depends on what else the machine does."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(port: int, body: bytes) -> None:
    for _ in range(600):
        try:
            if asyncio.run(load(port, body, 0.01, 1)):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"nothing listens on port {port}")


def measure(seconds: float, repeats: int, connections: int) -> dict[str, Any]:
    asked, load_before = bodies(), os.getloadavg()[0]
    http = "httptools" if _has("httptools") else "h11"
    with tempfile.TemporaryDirectory() as name:
        accuracy = fit_both(Path(name))
        services = start(Path(name), http)
        try:
            for _, port in services.values():
                wait_for(port, asked[1])
            found: dict[str, Any] = {}
            for n_rows in ROWS:
                runs: dict[str, list[dict[str, float]]] = {service: [] for service in services}
                for _ in range(repeats):
                    for service, (process, port) in services.items():
                        before = cpu_seconds(process.pid)
                        took = sorted(asyncio.run(load(port, asked[n_rows], seconds, connections)))
                        runs[service].append(
                            {
                                "requests_per_second": len(took) / seconds,
                                "p50_ms": 1e3 * took[len(took) // 2],
                                "p99_ms": 1e3 * took[int(0.99 * (len(took) - 1))],
                                "cpu_ms_per_request": 1e3 * (cpu_seconds(process.pid) - before) / len(took),
                            }
                        )
                found[f"{n_rows}_rows"] = {
                    service: {key: statistics.median(run[key] for run in each) for key in each[0]}
                    for service, each in runs.items()
                }
        finally:
            for process, _ in services.values():
                process.terminate()
            for process, _ in services.values():
                process.wait(30)
    machine = {"processors": os.cpu_count(), "load_before": load_before, "python": platform.python_version()}
    loop = "uvloop" if _has("uvloop") else "asyncio"
    settings = {"seconds": seconds, "repeats": repeats, "connections": connections, "protocol": http, "loop": loop}
    return {"settings": settings, "machine": machine, "accuracy": accuracy, **found}


def _has(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--connections", type=int, default=8)
    given = parser.parse_args()
    found = measure(given.seconds, given.repeats, given.connections)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
