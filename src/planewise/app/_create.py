"""The application: a review behind its guard, for any ASGI server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from os import PathLike
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from planewise.answers import NotSavedError
from planewise.app._guard import Guard, Keys
from planewise.app._pages import Pages
from planewise.app._queue import Ahead
from planewise.app._review import RefusedError, Review
from planewise.app._routes import BadRequestError, NameFirstError, router
from planewise.app._why import Explainer

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def create_app(
    model: Any,
    table: Any,
    *,
    answers: str | PathLike[str],
    who: str | None = None,
    suggested: str = "",
    id_column: str | None = None,
    source: str | PathLike[str] | None = None,
    original: Callable[[], Any] | None = None,
    token: str | None = None,
    hosts: Sequence[str] = LOOPBACK,
    title: str = "Review",
) -> FastAPI:
    """A page on which a person goes through a model's predictions, accepts or overrides them, and adds notes.

    Parameters
    ----------
    model : TableModel or estimator
        What ``planewise fit`` writes, or any estimator of planewise that was fitted on a data frame.
    table : data frame
        The cases, a data frame of polars, pandas or Arrow with the columns of the fit.
    answers : path
        The file of answers: JSON lines, one per decision. It is created if it does not exist, continued if it is about
        the same model and table, and refused otherwise or while another review has it open.
    who : str or None, default=None
        The name of the person who decides, kept with every answer. None: that of the last answer in the file; in a new
        file, the page asks for it. It can be changed on the page.
    suggested : str, default=""
        A name for the page to suggest.
    id_column : str or None, default=None
        The column with the names of the cases. None: the one that the file of answers was started with, or else the row
        number, counted from 0.
    source : path or None, default=None
        The file of the table: the file of answers keeps its name and checksum, so that ``planewise fit --corrections``
        can find the rows.
    original : callable or None, default=None
        Returns the table as it was written, for exports; None: `table` itself.
    token : str or None, default=None
        Secret that the address must contain at the first visit; None: a random one (``app.state.token``).
    hosts : sequence of str, default=("127.0.0.1", "localhost", "[::1]")
        Host names under which the page is served, without ports; requests for others are refused.
    title : str, default="Review"

    Returns
    -------
    app : FastAPI
        An ASGI application. ``app.state.review`` is the review; its ``close()`` lets others open the file of answers,
        as the end of the server does.

    Raises
    ------
    AnswersFileError
        If the file is about another model or table, is damaged, or is open in another review.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from pathlib import Path
    >>> from planewise.app import create_app
    >>> from planewise.table import TableModel
    >>> table = pl.DataFrame({"age": [23.0, 41.0, 30.0, 35.0] * 10, "buys": ["no", "yes"] * 20})
    >>> model = TableModel("slm", random_state=0).fit(table, "buys")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     app = create_app(model, table, answers=Path(folder) / "answers.jsonl", who="Ada")
    ...     app.state.review.queue.counts()["open"]
    ...     app.state.review.close()
    40
    """
    keys = Keys(token)
    review = Review(model, table, answers, who, id_column, source, original)
    try:
        explainer = Explainer(review.model)
    except BaseException:
        review.close()
        raise
    ahead = Ahead(lambda row: explainer(review.one(row)))

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        ahead.prepare(int(review.queue.order[0]))
        yield
        keys.withdraw()
        ahead.close()
        review.close()

    app = FastAPI(
        title=title,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=running,
        middleware=[Middleware(Guard, keys=keys, hosts=hosts)],
    )
    app.state.review, app.state.keys, app.state.token = review, keys, keys.token
    app.state.explainer, app.state.ahead, app.state.pages = explainer, ahead, Pages(review, keys, title, suggested)
    app.include_router(router)
    _answer_problems(app)
    return app


def _answer_problems(app: FastAPI) -> None:
    """Answer every error with a message: as plain text to the page's script, else on a page."""

    def respond(request: Request, status: int, words: str) -> Response:
        if request.headers.get("hx-request") == "true":
            return PlainTextResponse(words, status)
        return HTMLResponse(request.app.state.pages.problem(request, status, words), status)

    def bad_request(request: Request, error: Exception) -> Response:
        assert isinstance(error, BadRequestError)
        return respond(request, error.status, error.words)

    def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return respond(request, 409 if error.late else 422, str(error))

    def not_saved(request: Request, error: Exception) -> Response:
        assert isinstance(error, NotSavedError)
        return respond(request, 507, error.strerror or "The answer could not be saved.")

    def of_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return respond(request, status, "There is no such page." if status == 404 else "This is not possible here.")

    def name_first(request: Request, error: Exception) -> Response:
        return RedirectResponse(f"{request.scope.get('root_path', '')}/name", 303)

    app.add_exception_handler(NameFirstError, name_first)
    app.add_exception_handler(BadRequestError, bad_request)
    app.add_exception_handler(RefusedError, refused)
    app.add_exception_handler(NotSavedError, not_saved)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_http)
