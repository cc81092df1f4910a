"""planewise serve: a model as an HTTP service."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from planewise._extras import require_all
from planewise.cli._mistakes import MistakeError
from planewise.cli._show import say, tell_of_offset

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_VARIABLE = "PLANEWISE_SERVE_TOKEN"  # other users of this machine can read a command's options, but not this


def serve(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own needs a token, or --no-token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            help="Secret that requests need in the header Authorization: Bearer TOKEN; by default the environment "
            f"variable {TOKEN_VARIABLE}. Other users of this machine can see the option, but not the variable.",
            show_default=False,
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let everybody who can reach the address ask, without a token.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="Further host name by which clients reach the service on this machine's own address without a token, "
            "such as that of a proxy; may be repeated.",
            show_default=False,
        ),
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Maximum size of a request.")] = 1_000_000,
    max_rows: Annotated[int, typer.Option(min=1, help="Maximum number of rows per request.")] = 10_000,
    rate: Annotated[
        float, typer.Option(min=0, help="Maximum number of requests per second of each client; 0 for no limit.")
    ] = 1_000.0,
    timeout: Annotated[
        float, typer.Option(min=0.001, max=86_400, help="Seconds that a request may take, waiting included.")
    ] = 10.0,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of requests predicted at the same time; by default one per processor, up to 4.",
            show_default=False,
        ),
    ] = None,
    queue: Annotated[
        int, typer.Option(min=0, help="Number of further requests that may wait; more are refused.")
    ] = 100,
) -> None:
    """Serve a model's predictions over HTTP: POST /predict takes rows as JSON. GET /docs describes the service.

    Running requests are finished when it is stopped by Ctrl-C or SIGTERM.

    Examples:
      planewise serve wine.planewise

      curl -H 'Content-Type: application/json' -d '{"rows": [{"alcohol": 9.4}]}' http://127.0.0.1:8000/predict
    """
    from planewise.cli._tables import load_table_model

    token = _token(host, token, no_token)
    require_all("The scoring service", ("fastapi", "uvicorn"), "app")
    from planewise.serve import Limits, create_app
    from planewise.serve.server import serve as run

    fitted = load_table_model(model)
    tell_of_offset(fitted.estimator_)
    limits = Limits(max_bytes, max_rows, rate, timeout, threads, queue)
    local = host in LOOPBACK and token is None
    hosts = [f"[{each}]" if ":" in each else each for each in (*LOOPBACK, *(name or []))] if local else None
    app = create_app(fitted, limits=limits, token=token, hosts=hosts)
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host

    def listening(at: int) -> None:
        say(f"serving  {fitted.target_} at http://{shown}:{at}/predict, described at http://{shown}:{at}/docs")
        say("Press Ctrl-C to stop.")

    try:
        run(app, host, port, timeout, listening)
    except OSError as error:
        raise MistakeError(
            f"port {port} of {host} cannot be opened: {error.strerror}; choose another with --port; 0 takes a free one."
        ) from None
    except KeyboardInterrupt:  # the usual way to end it
        pass
    say("stopped")


def _token(host: str, given: str | None, without: bool) -> str | None:
    """The token that requests need; None if they need none."""
    if without:
        if given is not None:
            raise MistakeError("--token and --no-token exclude each other.")
        return None
    token = os.environ.get(TOKEN_VARIABLE) if given is None else given
    if token is None and host not in LOOPBACK:
        raise MistakeError(
            f"--host {host} lets other machines in, so it needs a token: set {TOKEN_VARIABLE} to what "
            'python -c "import secrets; print(secrets.token_urlsafe(32))" prints, or let everybody in with --no-token.'
        )
    return token
