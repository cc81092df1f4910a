"""POST /predict."""

from __future__ import annotations

import asyncio
from typing import Any

from planewise.serve._door import respond
from planewise.serve._errors import RefusedError
from planewise.serve._limits import Limits
from planewise.serve._metrics import Metrics
from planewise.serve._scoring import Question, Scorer
from planewise.serve._work import Work

AT_ONCE_SECONDS = 0.002  # what takes less is answered in the event loop: a thread would take longer
AT_ONCE_BYTES = 50_000


class Predict:
    """The endpoint, an ASGI application."""

    def __init__(self, scorer: Scorer, work: Work, limits: Limits, metrics: Metrics) -> None:
        self.scorer, self.work, self.limits, self.metrics = scorer, work, limits, metrics
        self._rows_at_once = AT_ONCE_SECONDS / max(scorer.seconds_per_row(), 1e-9)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        _require_json(scope["headers"])
        body = await _whole_body(scope["headers"], receive, self.limits)
        n_rows, answer = await self._answer(body)
        self.metrics.n_rows += n_rows
        await respond(send, 200, answer)

    async def _answer(self, body: bytes) -> tuple[int, bytes]:
        if len(body) > AT_ONCE_BYTES:
            return await self.work.run(lambda: self._scored(self.scorer.read(body)))
        question = self.scorer.read(body)
        if question.reasons or question.interval is not None or len(question.rows) > self._rows_at_once:
            return await self.work.run(lambda: self._scored(question))
        return self._scored(question)

    def _scored(self, question: Question) -> tuple[int, bytes]:
        return len(question.rows), self.scorer.answer(question)


def _require_json(headers: list[tuple[bytes, bytes]]) -> None:
    kinds = [value for name, value in headers if name == b"content-type"]
    if len(kinds) != 1 or kinds[0].partition(b";")[0].strip().lower() != b"application/json":
        raise RefusedError(415, "the body must be JSON, with the header 'Content-Type: application/json'.")


async def _whole_body(headers: list[tuple[bytes, bytes]], receive: Any, limits: Limits) -> bytes:
    """The body; an error if it is too large or too slow, also if its length was not given before."""
    for name, value in headers:
        if name == b"content-length" and (len(value) > 18 or not value.isdigit() or int(value) > limits.max_bytes):
            raise _too_large(limits)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedError(400, "the request ended early.")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limits.max_bytes:
                    raise _too_large(limits)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise RefusedError(
            408, f"the body took more than {limits.seconds:g} seconds to arrive.", headers={"connection": "close"}
        ) from None


def _too_large(limits: Limits) -> RefusedError:
    return RefusedError(
        413,
        f"the body is too large; a request may have up to {limits.max_bytes} bytes.",
        headers={"connection": "close"},
    )
