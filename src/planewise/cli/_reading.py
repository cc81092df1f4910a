"""The options of every command that reads a table, declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from planewise.files import InputTable, Reading

TABLE_HELP = (
    "CSV, TSV, JSON lines, Parquet, Arrow or Excel file, also compressed (.gz, .zst); several files; - is the "
    "standard input."
)
PANEL = "How the table is written (found out if not given)"


def _option(help: str, *names: str) -> Any:
    return typer.Option(*names, help=help, show_default=False, rich_help_panel=PANEL)


def _reading(
    separator: Annotated[str | None, _option("Character between fields, or tab, comma, semicolon, bar.")] = None,
    decimal: Annotated[str | None, _option("Decimal mark: . or ,")] = None,
    encoding: Annotated[str | None, _option("Encoding, such as utf-8, utf-16 or cp1252.")] = None,
    missing: Annotated[list[str] | None, _option("Word that means a missing value; may be repeated.")] = None,
    not_missing: Annotated[
        list[str] | None, _option("Word that does not mean a missing value, such as NA; may be repeated.")
    ] = None,
    date_format: Annotated[
        list[str] | None,
        _option("Format of dates, such as %d.%m.%Y, or of those of one column: born=%d.%m.%Y; may be repeated."),
    ] = None,
    header: Annotated[
        bool | None, _option("Whether the first row holds the names of the columns.", "--header/--no-header")
    ] = None,
    comment: Annotated[str | None, _option("Skip lines that start with this, such as #.")] = None,
    sheet: Annotated[str | None, _option("Sheet of an Excel file; by default the first.")] = None,
) -> Reading:
    from planewise.files import Reading

    return Reading(
        separator, decimal, encoding, missing or (), not_missing or (), _formats(date_format or []), header, comment,
        sheet,
    )  # fmt: skip


def _formats(given: list[str]) -> dict[str, str]:
    """Formats by column; "" stands for all."""
    from planewise.cli._mistakes import MistakeError

    found = {}
    for each in given:
        name, equals, form = each.partition("=")
        name, form = (name, form) if equals and "%" not in name else ("", each)
        if "%" not in form:
            raise MistakeError(f"--date-format takes a format such as %d.%m.%Y, or COLUMN=%d.%m.%Y; got {each!r}.")
        found[name] = form
    return found


OPTIONS = inspect.signature(_reading, eval_str=True, locals={"Reading": object}).parameters


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter ``table`` is an open InputTable; users give names of files, and options of reading."""

    @functools.wraps(command)
    def run(**options: Any) -> None:
        from planewise.cli import _tables  # noqa: F401, first, because it sets how interrupts are heard
        from planewise.files import InputTable

        given = {name: options.pop(name) for name in OPTIONS}
        command(table=InputTable(options.pop("table"), _reading(**given)), **options)

    hints = get_type_hints(command, localns={"InputTable": object}, include_extras=True)
    hints["table"] = Annotated[list[str], typer.Argument(help=TABLE_HELP, show_default=False)]
    own = [each.replace(annotation=hints[name]) for name, each in inspect.signature(command).parameters.items()]
    run.__signature__ = inspect.Signature([*own, *OPTIONS.values()])  # type: ignore[attr-defined]
    run.__annotations__ = hints | {name: each.annotation for name, each in OPTIONS.items()}
    return run


def note_reading(table: InputTable) -> None:
    """A line on the error stream if the table is not written in the most usual way."""
    from planewise.cli._streams import note

    if words := table.in_words():
        note(f"{table.name}: {words}.")
