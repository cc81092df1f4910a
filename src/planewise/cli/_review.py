"""planewise review: a page on which a person goes through a model's predictions, and the decisions as a table."""

from __future__ import annotations

import getpass
import os
import signal
import socket
import threading
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from planewise._extras import require_all
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, working
from planewise.cli._streams import tell

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
TOKEN_VARIABLE = "PLANEWISE_REVIEW_TOKEN"  # other users of this machine can read a command's options, but not this


def review(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Arrow file: the cases.", show_default=False)],
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Answers file (JSON lines); by default NAME.answers.jsonl for a table NAME.csv.", show_default=False
        ),
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            help="Name of the reviewer, saved with every decision; by default your login name.", show_default=False
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column with the names of the cases; by default the one that the file of answers was started with.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the decided rows with their labels to a CSV, TSV or Parquet file, and exit.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --export file if it exists.")] = False,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any but this machine's own needs --token. All visitors decide under the name "
            "of --who."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 0,
    token: Annotated[
        str | None,
        typer.Option(
            help="Secret in the address of the page; by default the environment variable PLANEWISE_REVIEW_TOKEN, or a "
            "random one.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="Host name or address by which other machines reach the page; may be repeated.", show_default=False
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address of the page without opening it.")
    ] = False,
) -> None:
    """Review a model's predictions on a local page: accept, override, add notes; uncertain cases come first.

    Every decision is on the disk before the page confirms it. Ctrl-C ends the review; the same command continues it.

    Examples:
      planewise review spam.planewise new.csv --who Ada

      planewise review spam.planewise new.csv --export labels.csv
    """
    from planewise.cli._tables import load_table_model, read_all

    path = table.with_suffix(".answers.jsonl") if answers is None else answers
    if export is not None:
        _export_labels(model, table, path, id_column, export, force)
        return
    token = os.environ.get(TOKEN_VARIABLE) if token is None else token
    if host not in LOOPBACK and token is None:
        raise MistakeError(
            f"--host {host} lets other machines in, so it needs --token (or {TOKEN_VARIABLE}), such as "
            'python -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
        )
    create_app = _app_module().create_app
    fitted = load_table_model(model)
    rows = read_all(table, fitted.columns_)
    with working(f"predicting {rows.height:,} rows"):
        app = create_app(
            fitted,
            rows,
            answers=path,
            who=_own_name() if who is None else who,
            id_column=id_column,
            token=token,
            hosts=_names(host, name or []),
            title=f"Review of {table.name}",
        )
    _serve(app, host, port, path, not no_browser)


def _export_labels(model: Path, table: Path, answers: Path, id_column: str | None, out: Path, force: bool) -> None:
    from planewise.cli._tables import check_ending, load_table_model, read_all, write_chunks

    check_ending(out)
    refuse_existing(out, force, model, table, answers)
    labels = _app_module().labels
    fitted = load_table_model(model)
    found = labels(fitted, read_all(table, fitted.columns_), answers, id_column)
    if found.height == 0:
        raise MistakeError(f"{str(answers)!r} holds no decision yet, so there is nothing to export.")
    write_chunks(out, iter([found]))
    say(f"{found.height} decided rows in {out}; the labels are in its column {fitted.target_!r}")


def _app_module() -> Any:
    require_all("The review page", ("fastapi", "jinja2", "uvicorn"), "app")
    import planewise.app

    return planewise.app


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise MistakeError("your login name is not known: give your name with --who.") from None


def _names(host: str, more: list[str]) -> list[str]:
    """The host names that requests may be for; others may point at this machine too, but belong to strangers."""
    own = [socket.gethostname(), socket.getfqdn()] if host in EVERYWHERE else [host]
    return [f"[{each}]" if ":" in each else each for each in (*LOOPBACK, *own, *more)]


def _serve(app: Any, host: str, port: int, answers: Path, open_browser: bool) -> None:
    from planewise.app.server import serve

    torn = app.state.review.answers.torn
    if torn is not None:
        tell(
            f"a crash left half a line at the end of {answers}; it was never confirmed as saved, and is kept in {torn}."
        )
    shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host

    def listening(at: int) -> None:
        server = f"http://{shown}:{at}/"
        say(f"review   {server}?token={quote(app.state.token, safe='')}", f"answers  {answers}")
        if open_browser:
            _open_browser(server, app.state.keys)
        say("Press Ctrl-C to end the review. A decision is saved when the page says so.")

    _end_with_the_terminal()
    try:
        serve(app, host, port, listening)
    except KeyboardInterrupt:  # the usual way to end it
        pass
    finally:
        app.state.keys.withdraw()
        app.state.review.close()
    counts = app.state.review.queue.counts()
    n_decided = counts["accepted"] + counts["overridden"]
    say(f"ended with {n_decided} decision{'s' if n_decided != 1 else ''} in {answers}")


def _end_with_the_terminal() -> None:
    """Closing the terminal ends the review in good order; behind nohup it goes on."""
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is signal.SIG_DFL:
        signal.signal(hang_up, lambda *_: signal.raise_signal(signal.SIGTERM))


def _open_browser(server: str, keys: Any) -> None:
    """Open the page through a file with a code that works once: every user can read a command's arguments."""
    import webbrowser

    from planewise.app.server import RedirectFile

    try:
        way = RedirectFile()
        led = way.lead_to(f"{server}?code={keys.hand_out(way.remove)}")
    except OSError as error:
        keys.withdraw()
        say(f"No browser was opened ({error}): open the address above yourself.")
        return
    say("Your browser should open the page; if it does not, open the address above yourself.")
    threading.Thread(target=webbrowser.open, args=(led,), daemon=True).start()  # some browsers block
