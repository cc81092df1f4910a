"""Hostile clients against a running review: memory before, during and after, and whether a person still gets in.

python benchmarks/review/hostile.py
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.review.crash import TOKEN, Server
from benchmarks.review.scale import make_table, resident

CONNECTIONS = 200


def main() -> None:
    """Print one JSON text."""
    import planewise
    from planewise.table import TableModel

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        planewise.save(TableModel("slm", random_state=0).fit(make_table(3000, 1).drop("id"), "kind"), "model.planewise")
        make_table(5000, 2).drop("kind").write_parquet("cases.parquet")
        server = Server(["model.planewise", "cases.parquet"])
        port, pid = urlsplit(server.address).port or 0, server.process.pid
        cookie = "; ".join(f"{name}={value}" for name, value in server.http.cookies.items())
        undo = f"POST {server.path}/undo HTTP/1.1\r\nHost: localhost\r\n"
        known = f"{undo}Origin: http://localhost\r\nCookie: {cookie}\r\n".encode()
        stranger = b"POST /undo HTTP/1.1\r\nHost: localhost\r\n"
        chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"

        def large(head: bytes) -> Callable[[socket.socket], None]:
            def send(line: socket.socket) -> None:
                line.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
                for _ in range(1000):  # 64 MB each
                    line.sendall(chunk)

            return send

        def slow(line: socket.socket) -> None:
            line.sendall(known + b"Content-Length: 60000\r\n\r\n")
            for _ in range(15):
                line.sendall(b"a")
                time.sleep(1)

        def headers(line: socket.socket) -> None:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            for number in range(100_000):
                line.sendall(b"X-%d: " % number + b"b" * 1000 + b"\r\n")

        def idle(line: socket.socket) -> None:
            line.recv(1)

        def unread(line: socket.socket) -> None:
            queue = f"GET {server.path}/queue?show=all HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode()
            for _ in range(500):
                line.sendall(queue)
            time.sleep(12)

        out: dict[str, object] = {"memory before, MB": round(resident(pid))}
        for name, attack in (
            ("64 MB bodies with the cookie", large(known)),
            ("64 MB bodies without it", large(stranger)),
            ("endless headers", headers),
            ("a letter a second", slow),
            ("silence", idle),
            ("answers that nobody reads", unread),
        ):
            out[f"{CONNECTIONS} × {name}"] = _under(attack, port, pid, server)
        out["memory after, MB"] = round(resident(pid))
        server.kill()
        print(json.dumps(out, indent=2))


def _under(attack: Callable[[socket.socket], None], port: int, pid: int, server: Server) -> dict[str, object]:
    def one() -> None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=30) as line:
            attack(line)

    threads = [threading.Thread(target=one, daemon=True) for _ in range(CONNECTIONS)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    most, let_in = resident(pid), None
    while any(thread.is_alive() for thread in threads) or let_in is None:
        most = max(most, resident(pid))
        if let_in is None:
            with contextlib.suppress(Exception):
                if server.http.get("/case/0", timeout=2).status_code == 200:
                    let_in = time.perf_counter() - begun
        time.sleep(0.05)
        if time.perf_counter() - begun > 25:
            break
    return {"most memory, MB": round(most), "a person got in after, s": None if let_in is None else round(let_in, 1)}


if __name__ == "__main__":
    assert TOKEN
    main()
