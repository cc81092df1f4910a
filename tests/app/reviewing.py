"""What tests of the review share: a table, a server, and a person with a browser."""

from __future__ import annotations

import re
import threading
import time
from contextlib import contextmanager

import httpx
import numpy as np
import polars as pl

TOKEN = "a-token-for-tests-0123456789"


def make_table(n=120, seed=0):
    """Two numbers that decide, a third, words with gaps, an id; the target is a class and a number."""
    rng = np.random.default_rng(seed)
    size, age = rng.normal(50, 10, n).round(3), rng.uniform(1, 90, n).round(3)
    town = rng.choice(["Bonn", "Köln", "Ulm"], n)
    price = size * 2 + 30 * (town == "Köln") - 0.3 * age + rng.normal(0, 6, n)
    return pl.DataFrame(
        {
            "key": [f"P-{k:04d}" for k in range(n)],
            "size": [None if k % 17 == 5 else value for k, value in enumerate(size.tolist())],
            "age": age,
            "town": [None if k % 19 == 7 else value for k, value in enumerate(town.tolist())],
            "price": price.round(2),
            "class": np.where(price > 118, "dear", np.where(price > 95, "fair", "cheap")),
        }
    )


@contextmanager
def serving(app):
    """The application on a free port of this machine."""
    import uvicorn

    from planewise.app.server import server_config

    server = uvicorn.Server(server_config(app, "127.0.0.1", 0))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


class Person:
    """A browser with the cookie, on the review's own path: reads pages, and sends the forms that are on them."""

    def __init__(self, port, token=TOKEN):
        self.home = f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=self.home, follow_redirects=True, timeout=30, trust_env=False)
        self.page = self.http.get("/", params={"token": token})
        self.path = "/" + self.page.url.path.split("/")[1]
        self.http.base_url = self.home + self.path

    @property
    def row(self):
        return int(re.search(r"/case/(\d+)", str(self.page.url)).group(1))

    @property
    def said(self):
        return re.search(r'<p id="said"[^>]*>(.*?)</p>', self.page.text, re.S).group(1)

    @property
    def sentence(self):
        return re.search(r'<p class="sentence"[^>]*>(.*?)</p>', self.page.text, re.S).group(1)

    def open(self, path):
        self.page = self.http.get(path)
        return self.page

    def hidden(self, form):
        """The hidden fields of a form of the page, by its id or a part of its address."""
        text = re.search(rf"<form[^>]*{form}.*?</form>", self.page.text, re.S).group(0)
        return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text))

    def send(self, path, fields, **headers):
        return self.http.post(path, data=fields, headers={"origin": self.home, **headers})

    def decide(self, decision, note="", **more):
        fields = self.hidden('id="decide"') | {"decision": decision, "note": note, **more}
        self.page = self.send(f"/case/{self.row}/decide", fields)
        return self.page

    def undo(self):
        self.page = self.send("/undo", self.hidden('id="undo"'))
        return self.page

    def what_if(self, **values):
        return self.send(f"/case/{self.row}/what-if", self.hidden("what-if") | values)
