"""The application, for any ASGI server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from planewise.serve._door import Door, check_token
from planewise.serve._limits import Limits, Rate
from planewise.serve._metrics import Metrics
from planewise.serve._openapi import docs_page, openapi
from planewise.serve._predict import Predict
from planewise.serve._scoring import Scorer, dumps
from planewise.serve._work import Work
from planewise.table import as_table_model


def create_app(
    model: Any, *, limits: Limits | None = None, token: str | None = None, hosts: Sequence[str] | None = None
) -> FastAPI:
    """A service that predicts rows it gets as JSON.

    ``POST /predict`` answers. ``GET /model``, ``/docs``, ``/openapi.json``, ``/health``, ``/ready`` and ``/metrics``
    tell about the service.

    Parameters
    ----------
    model : TableModel or estimator
        What ``planewise fit`` writes, or any estimator of planewise that was fitted on a data frame.
    limits : Limits or None, default=None
        Limits on size, rate and time; None for the defaults.
    token : str or None, default=None
        Secret that requests must have in a header ``Authorization: Bearer ...``; None lets everybody in.
    hosts : sequence of str or None, default=None
        Host names under which the service is reached, without ports; requests for others are refused. None: any.

    Returns
    -------
    app : FastAPI
        An ASGI application.

    Examples
    --------
    >>> import polars as pl
    >>> from planewise.serve import create_app
    >>> from planewise.table import TableModel
    >>> table = pl.DataFrame({"age": [23.0, 41.0, 30.0, 35.0] * 10, "buys": ["no", "yes"] * 20})
    >>> app = create_app(TableModel("slm", random_state=0).fit(table, "buys"))
    >>> app.title, app.openapi()["components"]["schemas"]["Row"]["required"]
    ('Predictions of buys', ['age'])
    """
    limits = limits or Limits()
    if token is not None:
        check_token(token)
    scorer, metrics, work = Scorer(as_table_model(model), limits.max_rows), Metrics(), Work(limits)
    predict = Predict(scorer, work, limits, metrics)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        yield
        work.close()

    app = FastAPI(
        title=f"Predictions of {scorer.model.target_}",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=running,
        middleware=[
            Middleware(Door, predict=predict, metrics=metrics, rate=Rate(limits.rate), token=token, hosts=hosts)
        ],
    )
    document = openapi(scorer, limits, needs_token=token is not None)
    app.openapi = lambda: document  # type: ignore[method-assign]
    _add_routes(app, predict, scorer, work, metrics)
    return app


def _add_routes(app: FastAPI, predict: Predict, scorer: Scorer, work: Work, metrics: Metrics) -> None:
    document, about = dumps(app.openapi()), dumps(scorer.about())
    page = docs_page(app.openapi(), scorer)

    async def ready(_: Request) -> Response:
        return _json(dumps({"ready": not work.is_full}), 503 if work.is_full else 200)

    answers: dict[str, Any] = {
        "/": lambda _: RedirectResponse("docs"),
        "/health": lambda _: _json(b'{"status":"ok"}'),
        "/model": lambda _: _json(about),
        "/metrics": lambda _: Response(metrics.text(work.n_waiting), media_type="text/plain; version=0.0.4"),
        "/openapi.json": lambda _: _json(document),
        "/docs": lambda _: HTMLResponse(page),
    }
    app.router.routes.append(Route("/predict", predict, methods=["POST"]))
    app.router.routes.append(Route("/ready", ready, methods=["GET"]))
    for path, answer in answers.items():
        app.router.routes.append(Route(path, _endpoint(answer), methods=["GET"]))
    app.add_exception_handler(HTTPException, _no_such_page)


def _endpoint(answer: Any) -> Any:
    async def endpoint(request: Request) -> Response:
        response: Response = answer(request)
        return response

    return endpoint


def _json(body: bytes, status: int = 200, headers: Any = None) -> Response:
    return Response(body, status, media_type="application/json", headers=headers)


def _no_such_page(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is no such page; GET /docs lists them.", 405: "this method is not allowed here."}
    message = words.get(error.status_code, str(error.detail))
    return _json(dumps({"error": message}), error.status_code, dict(error.headers or {}))
