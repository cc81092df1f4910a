"""Why a request is not answered, in words and as a status of HTTP."""

from __future__ import annotations

from typing import Any


class RefusedError(Exception):
    """A request that gets an error; the body of the answer is `data`."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        row: int | None = None,
        column: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.row, self.column, self.headers = status, row, column, headers or {}

    def data(self) -> dict[str, Any]:
        """The message, and the place of what is wrong if it has one."""
        place = {"row": self.row, "column": self.column}
        return {"error": str(self), **{name: value for name, value in place.items() if value is not None}}
