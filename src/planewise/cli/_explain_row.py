"""Why one row gets its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planewise._atomic import replacing
from planewise.cli._explain_page import page
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, show_json, show_table
from planewise.cli._tables import load_table_model, read_row
from planewise.report._reasons import reasons_for
from planewise.words import number


def explain_row(model: Path, table: Path, row: int, html: Path | None, force: bool, as_json: bool) -> None:
    """What `planewise explain` does; its options are described there."""
    if row < 0:
        raise MistakeError(f"rows are counted from 0; got --row {row}.")
    if html is not None:
        refuse_existing(html, force, model, table)
    fitted = load_table_model(model)
    one = read_row(table, row, fitted.columns_, [column.name for column in fitted.columns_])
    answer = _answer(fitted, one, row)
    reasons = reasons_for(fitted, one)
    if html is not None:
        with replacing(html) as file:
            file.write(page(answer, reasons, fitted, one).encode())
    if as_json:
        show_json(answer | {"sentence": reasons.sentence() or None, "reasons": reasons.data})
        return
    say(f"row {row}   {answer['target']}: {_in_words(answer['prediction'])}")
    for label, share in (answer["probability"] or {}).items():
        say(f"        {label}: {100 * share:.1f} %")
    if reasons.why:
        say("", reasons.sentence())
    show_table(reasons.title, reasons.header, reasons.rows, reasons.left)
    if reasons.note:
        say("", reasons.note)
    if html is not None:
        say("", f"page    {html}")


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
