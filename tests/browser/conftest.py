"""Pages in the system's Chromium: opened, watched, judged by axe-core, and printed.

Every test in this folder carries the mark `browser`, which plain `pytest` leaves out and `make test-browser` asks for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from chromium import path_of_chromium, what_is_missing

HERE = Path(__file__).parent
NEVER_SENT = ("data", "blob", "about")  # addresses that stay inside the page


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium, started once."""
    if missing := what_is_missing():
        pytest.exit(missing, returncode=1)
    from playwright.sync_api import sync_playwright

    root = getattr(os, "geteuid", lambda: 1)() == 0  # for whom Chromium has no sandbox
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path_of_chromium(), args=["--no-sandbox"] if root else [], handle_sigint=False
        )
        yield chromium
        chromium.close()


@dataclass
class Record:
    """What a page did while it was open."""

    home: str
    console_errors: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def left(self) -> list[str]:
        """Requests for anything but the page itself: of a file every other one, of a server those to other servers."""
        return [address for address in self.requests if not self._at_home(address)]

    def _at_home(self, address: str) -> bool:
        there, home = urlsplit(address), urlsplit(self.home)
        if there.scheme in NEVER_SENT:
            return True
        if home.scheme == "file":
            return there._replace(fragment="") == home._replace(fragment="")
        return (there.scheme, there.netloc) == (home.scheme, home.netloc)

    def check(self) -> None:
        """Nothing went wrong, and nothing left."""
        assert self.page_errors == [], f"errors of scripts in {self.home}"
        assert self.console_errors == [], f"errors in the console of {self.home}"
        assert self.dialogs == [], f"dialogs opened by {self.home}"
        assert self.left == [], f"requests that left {self.home}"


class Visits:
    """Opens pages, each in a browser of its own without memory, and keeps what they did."""

    def __init__(self, browser: Any):
        self.browser = browser
        self.records: dict[Any, Record] = {}
        self.contexts: list[Any] = []

    def __call__(
        self,
        where: str | os.PathLike[str],
        width: int = 1280,
        *,
        height: int = 900,
        dark: bool = False,
        **settings: Any,
    ) -> Any:
        """The page of Playwright at a path or an address, once it has loaded; `settings` are those of a new context."""
        home = where if isinstance(where, str) and "://" in where else Path(where).resolve().as_uri()
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", **settings
        )
        self.contexts.append(context)
        page, record = context.new_page(), Record(home)
        self.records[page] = record
        page.on("console", lambda said: record.console_errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: record.page_errors.append(str(error)))
        page.on("dialog", lambda dialog: (record.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: record.requests.append(request.url))
        # what would leave is refused, so that a test means the same with a network and without
        context.route(lambda address: not record._at_home(address), lambda route: route.abort())
        page.goto(home, wait_until="load")
        return page

    def record(self, page: Any) -> Record:
        """What a page did so far."""
        return self.records[page]

    def close(self) -> None:
        """Close all pages, then judge each."""
        for context in self.contexts:
            context.close()
        for record in self.records.values():
            record.check()


@pytest.fixture
def open_page(browser) -> Iterator[Visits]:
    """`open_page(path or address, width=1280, dark=False)`: a page of Playwright.

    At the end of the test no page may have had an error or a dialog, nor asked for anything but itself (or its own
    server). A test about such things reads `open_page.record(page)`.
    """
    visits = Visits(browser)
    yield visits
    visits.close()


@pytest.fixture(scope="session")
def axe() -> Callable[[Any], list[str]]:
    """`axe(page)`: the serious and critical violations that axe-core finds, a line each with where it is."""
    from axe_playwright_python.sync_playwright import Axe

    judge = Axe()

    def violations(page: Any) -> list[str]:
        found = judge.run(page).response["violations"]
        return [
            f"{each['impact']}: {each['id']} ({each['help']}) at {node['target']}: {node['html'][:120]}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    return violations


@pytest.fixture(scope="session")
def pdf() -> Callable[[Any], bytes]:
    """`pdf(page)`: the page as it prints on A4."""

    def printed(page: Any) -> bytes:
        made = page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "15mm"))
        assert made.startswith(b"%PDF-")
        return made

    return printed


@pytest.fixture(scope="session")
def too_broad() -> Callable[[Any], int]:
    """`too_broad(page)`: by how many pixels the whole page would have to be moved sideways; 0 is right."""

    def beyond(page: Any) -> int:
        return page.evaluate("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)")

    return beyond
