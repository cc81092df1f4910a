"""A page on which a person goes through a model's answers, and what is decided there as a table."""

from __future__ import annotations

import getpass
import os
import signal
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

from planewise._extras import require_all
from planewise.cli._load import load_table_model
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._read import read_all
from planewise.cli._show import say, working
from planewise.cli._streams import tell
from planewise.cli._write import check_ending, write_chunks

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
TOKEN_VARIABLE = "PLANEWISE_REVIEW_TOKEN"  # other users of this machine can read a command's options, but not this


def review_table(
    model: Path,
    table: Path,
    answers: Path | None,
    who: str | None,
    id_column: str | None,
    host: str,
    port: int,
    token: str | None,
    names: list[str],
    open_browser: bool,
) -> None:
    """What `planewise review` does; its options are described there."""
    token = os.environ.get(TOKEN_VARIABLE) if token is None else token
    if host not in LOOPBACK and token is None:
        raise MistakeError(
            f"--host {host} lets other machines in; it needs a --token of your own (or {TOKEN_VARIABLE}), such as "
            'python -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
        )
    app_of = _app_module()
    fitted = load_table_model(model)
    rows = read_all(table, fitted.columns_)
    path = _answers(table, answers)
    with working(f"asking the model about {rows.height:,} rows"):
        app = app_of.create_app(
            fitted,
            rows,
            answers=path,
            who=_own_name() if who is None else who,
            id_column=id_column,
            token=token,
            hosts=_names(host, names),
            title=f"Review of {table.name}",
        )
    _serve(app, host, port, path, open_browser)


def export_labels(
    model: Path, table: Path, answers: Path | None, id_column: str | None, out: Path, force: bool
) -> None:
    """What `planewise review --export` does."""
    check_ending(out)
    path = _answers(table, answers)
    refuse_existing(out, force, model, table, path)
    app_of = _app_module()
    fitted = load_table_model(model)
    found = app_of.labels(fitted, read_all(table, fitted.columns_), path, id_column)
    if found.height == 0:
        raise MistakeError(f"{str(path)!r} holds no decision yet; there is nothing to export.")
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
        raise MistakeError("this machine does not say who you are: give your name with --who.") from None


def _answers(table: Path, given: Path | None) -> Path:
    return table.with_suffix(".answers.jsonl") if given is None else given


def _names(host: str, more: list[str]) -> list[str]:
    """By which names the page may be asked for: a page elsewhere whose name leads here is none of them."""
    own = [socket.gethostname(), socket.getfqdn()] if host in EVERYWHERE else [host]
    return [f"[{each}]" if ":" in each else each for each in (*LOOPBACK, *own, *more)]


def _serve(app: Any, host: str, port: int, answers: Path, open_browser: bool) -> None:
    from planewise.app._serve import serve

    torn = app.state.review.answers.torn
    if torn is not None:
        tell(f"a crash had left half a line at the end of {answers}; it was never confirmed, and is kept in {torn}.")
    shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host

    def listening(at: int) -> None:
        server = f"http://{shown}:{at}/"
        say(f"review   {server}?token={quote(app.state.token, safe='')}", f"answers  {answers}")
        if open_browser:
            _lead_a_browser(server, app.state.keys)
        say("Ctrl-C ends the review; every decision is saved when the page says so.")

    _end_with_the_terminal()
    try:
        serve(app, host, port, listening)
    except KeyboardInterrupt:  # the way to end it, and no mishap
        pass
    finally:
        app.state.keys.withdraw()
        app.state.review.close()
    counts = app.state.review.queue.counts()
    n_decided = counts["accepted"] + counts["overridden"]
    say(f"ended; {n_decided} {'decision is' if n_decided == 1 else 'decisions are'} in {answers}")


def _end_with_the_terminal() -> None:
    """A terminal that is closed ends the review as a termination does; behind nohup it goes on."""
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is signal.SIG_DFL:
        signal.signal(hang_up, lambda *_: signal.raise_signal(signal.SIGTERM))


def _lead_a_browser(server: str, keys: Any) -> None:
    """Open the page by a file with a code that is good once: a command's words can be read by every user."""
    import webbrowser

    from planewise.app._redirect import RedirectFile

    try:
        way = RedirectFile()
        led = way.lead_to(f"{server}?code={keys.hand_out(way.remove)}")
    except OSError as error:
        keys.withdraw()
        say(f"No browser is opened ({error}): open the address above yourself.")
        return
    say("A browser opens the page. If none does, or it cannot read its file, open the address above yourself.")
    threading.Thread(target=webbrowser.open, args=(led,), daemon=True).start()  # some keep one waiting
