"""planewise review: a page on which a person goes through a model's predictions, and the decisions as a table."""

from __future__ import annotations

import getpass
import os
import signal
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from planewise._extras import require_all
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._reading import reads_table
from planewise.cli._show import say
from planewise.cli._stages import stage
from planewise.cli._streams import tell

if TYPE_CHECKING:
    from planewise.answers import Content
    from planewise.files import InputTable

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
TOKEN_VARIABLE = "PLANEWISE_REVIEW_TOKEN"  # other users of this machine can read a command's options, but not this


@reads_table
def review(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    table: InputTable,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Answers file (JSON lines); by default NAME.answers.jsonl for a table NAME.csv.", show_default=False
        ),
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            help="Name of the reviewer, saved with every decision. By default the page asks for it, and the answers "
            "file remembers it.",
            show_default=False,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            help="Column with the names of the cases; by default the one that the file of answers was started with.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the decided cases to a CSV, TSV or Parquet file, and exit: the columns as they are, and after "
            "them answer, probability, decision, label, note, who, when and rule.",
            show_default=False,
        ),
    ] = None,
    all_rows: Annotated[
        bool, typer.Option("--all-rows", help="With --export, also write the cases that nobody decided.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --export file if it exists.")] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Keep the intact answers of a damaged answers file, say which lines are left out, and exit; the "
            "damaged file is kept as FILE.damaged1.",
        ),
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any but this machine's own needs --token. All visitors decide under the name "
            "that the page shows."
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

    Every decision is on the disk before the page confirms it. Ctrl-C ends the review; the same command continues it,
    and with another --who a second person reviews the same cases. planewise fit --corrections learns from the answers.

    Examples:
      planewise review spam.planewise new.csv --who Ada

      planewise review spam.planewise new.csv --export reviewed.csv
    """
    from planewise.cli._tables import load_table_model, remembered_by

    path = _answers_beside(table) if answers is None else answers
    if export is not None and repair:
        raise MistakeError("--repair and --export are two steps: repair the file first.")
    if export is not None:
        _export(model, table, path, id_column, export, all_rows, force)
        return
    if repair:
        _repair(model, table, path, id_column)
        return
    if all_rows:
        raise MistakeError("--all-rows is for --export, which writes the cases to a file.")
    token = os.environ.get(TOKEN_VARIABLE) if token is None else token
    if host not in LOOPBACK and token is None:
        raise MistakeError(
            f"--host {host} lets other machines in, so it needs --token (or {TOKEN_VARIABLE}), such as "
            'python -c "import secrets; print(secrets.token_urlsafe(32))" prints.'
        )
    create_app = _app_module().create_app
    fitted = load_table_model(model)
    table.remember(remembered_by(fitted))
    rows = table.read_all(fitted.columns_)
    with stage(f"predicting {rows.height:,} rows"):
        app = create_app(
            fitted,
            rows,
            answers=path,
            who=who,
            suggested=_own_name(),
            id_column=id_column,
            source=_file_of(table),
            original=table.as_written,
            token=token,
            hosts=_names(host, name or []),
            title=f"Review of {table.name}",
        )
    _serve(app, host, port, path, not no_browser)


def _file_of(table: InputTable) -> Path | None:
    """The file of the table, which the answers name; None if there are several, or it cannot be read again."""
    return table.local_names()[0] if len(table.given) == 1 and table.paths == table.local_names() else None


def _answers_beside(table: InputTable) -> Path:
    """NAME.answers.jsonl beside a table NAME.csv."""
    from planewise.files import COMPRESSED

    path = Path(table.given[0])
    if table.given[0] in ("-", "/dev/stdin") or len(table.given) > 1:
        raise MistakeError(f"{table.name}: give the file of answers with --answers.")
    name = path.name
    if path.suffix.lower() in COMPRESSED:
        name = Path(name).stem
    return path.with_name(f"{Path(name).stem}.answers.jsonl")


def _export(
    model: Path,
    table: InputTable,
    answers: Path,
    id_column: str | None,
    out: Path,
    all_rows: bool,
    force: bool,
) -> None:
    """Write the columns of the table as they are, and the review after them."""
    from planewise._atomic import write_whole
    from planewise.answers import read_content, table_bytes
    from planewise.cli._tables import check_ending, load_table_model, remembered_by

    check_ending(out)
    refuse_existing(out, force, model, *table.paths, answers)
    reviewed = _app_module().reviewed
    fitted = load_table_model(model)
    table.remember(remembered_by(fitted))
    rows, original = table.read_all(fitted.columns_), table.as_written()
    found = reviewed(fitted, rows, answers, id_column, original=original, all_rows=all_rows, source=_file_of(table))
    tell_torn(read_content(answers), answers)
    if found.height == 0:
        raise MistakeError(f"{str(answers)!r} holds no decision yet, so there is nothing to export.")
    write_whole(out, table_bytes(found, out.suffix.lower().removeprefix(".")))
    label = next(name for name in reversed(found.columns) if name.endswith("_label"))
    say(f"{found.height} rows in {out}: {original.width} columns as they are, the labels in {label!r}")


def _repair(model: Path, table: InputTable, answers: Path, id_column: str | None) -> None:
    """Keep the intact lines of a damaged file."""
    from planewise.cli._tables import load_table_model, remembered_by
    from planewise.words import counted

    repair = _app_module().repair
    fitted = load_table_model(model)
    table.remember(remembered_by(fitted))
    found = repair(fitted, table.read_all(fitted.columns_), answers, id_column, source=_file_of(table))
    if found is None:
        say(f"{answers} is not damaged; nothing was changed")
        return
    for number, why in found.left_out.items():
        say(f"line {number} is left out: {why}")
    if found.not_in_order:
        lines = ", ".join(map(str, found.not_in_order))
        say(f"kept, although lines before them are missing or were moved: {lines}")
    say(f"{counted(found.n_kept, 'line')} kept in {answers}; the damaged file is {found.copy}")


def tell_torn(content: Content, answers: Path) -> None:
    """Say that the end of a file is not read, because a crash left only a part of it."""
    if content.torn:
        tell(f"the last line of {answers} is incomplete: it is being written, or a crash left it so. It is not read.")


def _app_module() -> Any:
    require_all("The review page", ("fastapi", "jinja2", "uvicorn"), "app")
    import planewise.app

    return planewise.app


def _own_name() -> str:
    """The login name, which the page suggests; empty if it is not known."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


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
    _say_what_was_decided(app.state.review, answers)


def _say_what_was_decided(review: Any, answers: Path) -> None:
    """Decisions by reviewer and, for every two reviewers, how far they agree."""
    from itertools import combinations

    n_decided = {who: int((review.ledger.of(who).status != 0).sum()) for who in review.ledger.reviewers}
    by = ", ".join(f"{count} by {who}" for who, count in n_decided.items())
    total = sum(n_decided.values())
    say(
        f"ended with {total} decision{'s' if total != 1 else ''} in {answers}"
        + (f" ({by})" if len(n_decided) > 1 else "")
    )
    for one, other in combinations(n_decided, 2):
        say(f"agreement of {one} and {other}: {agreement_in_words(review.agreement(one, other))}")


def agreement_in_words(found: Any) -> str:
    """Such as "27 of 30 cases equal (90 %), Cohen's kappa 0.81"."""
    from planewise.words import number, percent

    if not found.n_both:
        return "no case was decided by both"
    words = f"{found.n_equal} of {found.n_both} cases equal ({percent(found.share_equal, 0)}), "
    if hasattr(found, "kappa"):
        kappa = "is not defined (all labels are the same class)" if found.kappa is None else number(found.kappa, 3)
        return f"{words}Cohen's kappa {kappa}"
    return f"{words}mean absolute difference {number(found.mean_difference, 3)}"


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
