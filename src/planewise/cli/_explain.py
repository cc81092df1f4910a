"""planewise explain: why one row gets its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from planewise._atomic import replacing
from planewise.cli._explain_page import page
from planewise.cli._load import load_table_model
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._read import read_row
from planewise.cli._show import number, say, show_json, show_table
from planewise.report._reasons import reasons_for


def explain(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Arrow file.", show_default=False)],
    row: Annotated[int, typer.Option(help="Which row, counted from 0; the header does not count.", show_default=False)],
    html: Annotated[Path | None, typer.Option(help="Write a page of HTML too.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --html.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON text for programs.")] = False,
) -> None:
    """Say why a row gets its answer: the way down a tree, what each column added, or the vectors it is near to.

    Examples:
      planewise explain wine.planewise new.csv --row 17

      planewise explain wine.planewise new.csv --row 17 --html why.html
    """
    if row < 0:
        raise MistakeError(f"rows are counted from 0; got --row {row}.")
    if html is not None:
        refuse_existing(html, force)
    fitted = load_table_model(model)
    one = read_row(table, row, fitted.columns_, [column.name for column in fitted.columns_])
    answer = _answer(fitted, one, row)
    reasons = reasons_for(fitted, one)
    if html is not None:
        with replacing(html) as file:
            file.write(page(answer, reasons, type(fitted.estimator_).__name__).encode())
    if as_json:
        show_json(answer | {"reasons": reasons.data})
        return
    say(f"row {row}   {answer['target']}: {_in_words(answer['prediction'])}")
    for label, share in (answer["probability"] or {}).items():
        say(f"        {label}: {100 * share:.1f} %")
    show_table(f"\n{reasons.title}", reasons.header, reasons.rows, reasons.left)
    if reasons.note:
        say(f"\n{reasons.note}")
    if html is not None:
        say(f"\npage    {html}")


def _answer(model: Any, one: Any, row: int) -> dict[str, Any]:
    probability = None
    if hasattr(model, "predict_proba") and hasattr(model.estimator_, "predict_proba"):
        shares = model.predict_proba(one)[0]
        probability = {str(label): float(share) for label, share in zip(model.classes_.tolist(), shares, strict=True)}
    return {
        "row": row,
        "target": model.target_,
        "prediction": model.predict(one).tolist()[0],
        "probability": probability,
    }


def _in_words(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
