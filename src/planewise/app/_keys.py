"""Secrets of one review: the token in the printed address, what follows from it, and a code that is good once.

Browsers keep cookies by host and not by port: whoever serves on another port of this machine, as another user may, is
sent those of 127.0.0.1. So the cookie is bound to a path that nobody can guess, under which all pages are, and the two
are needed together:

- the cookie is not sent to other ports, because nobody can make a browser ask there for that path; and where it is
  known nevertheless, it opens nothing without the path;
- the path is not told to other ports (``referrer-policy: same-origin``); it stands in the address bar and in the
  browser's history, where it opens nothing without the cookie.

A path alone would let in everybody who sees the screen or is sent a link; something in the tab's own memory would ask
for scripts; a host name of its own (``….localhost``) is not understood by every browser.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable

SHORTEST_TOKEN, LONGEST_TOKEN = 16, 200


class Keys:
    """The token, and from it the path of the pages, the session's cookie and the key of forms.

    All are derived, so that an open page goes on working when the server is started again with the same token.
    """

    def __init__(self, token: str | None = None) -> None:
        self.token = secrets.token_urlsafe(32) if token is None else token
        if not SHORTEST_TOKEN <= len(self.token) <= LONGEST_TOKEN or not (
            self.token.isascii() and self.token.isprintable()
        ):
            raise ValueError(
                f"token must be {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits or signs that nobody can guess, "
                'such as python -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
            )
        self.session, self.form = self._derived("session"), self._derived("form")
        self.path = self._derived("path")[:32]
        # A name that servers on other ports do not know, so that they cannot set a cookie in the place of ours.
        self.cookie = f"planewise_review_{self._derived('name')[:12]}"
        self._code, self._no_more = "", _nothing

    def hand_out(self, no_more: Callable[[], None]) -> str:
        """A code that leads in once, in the place of the token; `no_more` is called when it is used or withdrawn."""
        self.withdraw()
        self._code, self._no_more = secrets.token_urlsafe(32), no_more
        return self._code

    def redeem(self, code: str) -> bool:
        """Whether this is the code that was handed out; from now on it is not."""
        right = self._code != "" and same(code, self._code)
        if right:
            self.withdraw()
        return right

    def withdraw(self) -> None:
        """Let the code lead in no more."""
        no_more, self._code, self._no_more = self._no_more, "", _nothing
        no_more()

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), f"planewise review {purpose}".encode(), hashlib.sha256).hexdigest()


def _nothing() -> None: ...


def same(given: str, right: str) -> bool:
    """Whether two texts are equal, in a time that does not say where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), right.encode())
