"""Where the system's Chromium is, and how to get what is missing. Run by itself, it says so and fails."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PACKAGES = ("playwright", "axe_playwright_python")


def path_of_chromium() -> str | None:
    """PLANEWISE_CHROMIUM if it is set, otherwise the first that the PATH has."""
    given = os.environ.get("PLANEWISE_CHROMIUM")
    if given:
        return shutil.which(given)
    return next((found for found in map(shutil.which, NAMES) if found), None)


def what_is_missing() -> str:
    """In plain words, with the way to get it; empty if all is there."""
    absent = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        return (
            f"The tests in a browser need {' and '.join(absent)}, which are not installed here. "
            "`make test-browser` installs them; by hand: python -m pip install --group browser"
        )
    if path_of_chromium() is None:
        given = os.environ.get("PLANEWISE_CHROMIUM")
        reason = f"PLANEWISE_CHROMIUM is {given!r}, which is no program" if given else "none was found"
        return (
            f"The tests in a browser need Chromium or Chrome, and {reason}. Install one (Debian: apt-get install "
            "chromium; Fedora: dnf install chromium; macOS: brew install --cask chromium), or set PLANEWISE_CHROMIUM "
            "to the program."
        )
    return ""


if __name__ == "__main__":
    if missing := what_is_missing():
        sys.exit(missing)
