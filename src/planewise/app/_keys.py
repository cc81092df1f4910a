"""Secrets of one review: the token in the printed address, and what follows from it."""

from __future__ import annotations

import hashlib
import hmac
import secrets

SHORTEST_TOKEN, LONGEST_TOKEN = 16, 200


class Keys:
    """The token, and from it the session's cookie and the key of forms.

    Both are derived, so that an open page goes on working when the server is started again with the same token.
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
        # Cookies do not know of ports: two reviews on one machine need two names.
        self.cookie = f"planewise_review_{self._derived('name')[:12]}"

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), f"planewise review {purpose}".encode(), hashlib.sha256).hexdigest()


def same(given: str, right: str) -> bool:
    """Whether two texts are equal, in a time that does not say where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), right.encode())
