"""planewise review: what it is asked; ``_review_table.py`` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def review(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Arrow file: the cases.", show_default=False)],
    answers: Annotated[
        Path | None,
        typer.Option(
            help="File of answers, JSON lines; by default NAME.answers.jsonl for a table NAME.csv.", show_default=False
        ),
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            help="Who decides, whoever opens the page; by default the name you are logged in with.", show_default=False
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="The column that cases are called and found by; by default as the file of answers was begun.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the decided rows with their labels to a CSV, TSV or Parquet file, and end.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --export.")] = False,
    host: Annotated[
        str,
        typer.Option(
            help="Where to listen; others than this machine need --token. All who come sign with the one name of --who."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Which port; 0 takes a free one.", min=0, max=65535)] = 0,
    token: Annotated[
        str | None,
        typer.Option(
            help="What the address must hold; by default that of the environment variable PLANEWISE_REVIEW_TOKEN, else "
            "one that nobody can guess.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="A name or address by which other machines ask for the page; may be repeated.", show_default=False
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page, only print its address.")
    ] = False,
) -> None:
    """Go through a model's answers on a local page: accept, override, note; undecided cases come first.

    Every decision is on the disk before the page says so. Interrupt (Ctrl-C) to end; the same command goes on later.

    Examples:
      planewise review spam.planewise new.csv --who Ada

      planewise review spam.planewise new.csv --export labels.csv
    """
    from planewise.cli._review_table import export_labels, review_table

    if export is not None:
        export_labels(model, table, answers, id_column, export, force)
    else:
        review_table(model, table, answers, who, id_column, host, port, token, name or [], not no_browser)
