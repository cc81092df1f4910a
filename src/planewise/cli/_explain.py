"""planewise explain: why a row gets its prediction, on the terminal, as JSON, or as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import TABLE_HELP, say, show_json, show_table, tell_of_offset

if TYPE_CHECKING:
    from planewise.words import Reason


def explain(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    table: Annotated[Path, typer.Argument(help=TABLE_HELP, show_default=False)],
    row: Annotated[int, typer.Option(help="Row number, counted from 0 below the header.", show_default=False)],
    html: Annotated[Path | None, typer.Option(help="HTML page to write as well.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --html file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Explain the prediction for a row: its path down a tree, what each column or view added, or the nearest vectors.

    Examples:
      planewise explain wine.planewise new.csv --row 17

      planewise explain wine.planewise new.csv --row 17 --html why.html
    """
    from planewise._atomic import write_whole
    from planewise.cli._tables import load_table_model, read_row
    from planewise.words import View, percent, value_in_words

    if row < 0:
        raise MistakeError(f"rows are counted from 0; got --row {row}.")
    if html is not None:
        refuse_existing(html, force, model, table)
    fitted = load_table_model(model)
    tell_of_offset(fitted.estimator_)
    one = read_row(table, row, fitted.columns_, [column.name for column in fitted.columns_])
    answer, why = _answer(fitted, one, row), fitted.explain(one)[0]
    if html is not None:
        write_whole(html, _page(answer, why, fitted.estimator_))
    if as_json:
        show_json(answer | {"sentence": why.sentence(), "explanation": why.data()})
        return
    details = why.table()
    say(f"row {row}   {answer['target']}: {value_in_words(answer['prediction'], 4)}")
    for label, share in (answer["probability"] or {}).items():
        say(f"        {label}: {percent(share, 1)}")
    if not isinstance(why, View):  # whose details are the sentence
        say("", why.sentence())
    show_table(details.heading, details.columns, details.rows, why.text_columns)
    if (known := why.data()).get("estimate") == "score":
        _show_views(known)
    if details.note:
        say("", details.note)
    if html is not None:
        say("", f"page    {html}")


def _show_views(known: Mapping[str, Any]) -> None:
    """What each view of a sum adds to the score, the largest first."""
    from planewise.words import number, signed

    views = sorted(known["contributions"], key=lambda each: -abs(each["score"]))
    rival = known.get("versus")
    towards = "" if rival is None else f" to the score of {known['prediction']} against {rival}"
    show_table(
        f"what each view adds{towards}",
        ["view", "adds"],
        [[" × ".join(each["features"]), signed(each["score"], 4)] for each in views]
        + [["start", number(known["base"], 4)], ["total", number(known["total"], 4)]],
    )
    if known.get("link") == "log":
        say("These are logarithms: the prediction is the exponential of the total.")


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


def _page(answer: dict[str, Any], why: Reason, estimator: Any) -> str:
    from planewise.report import html as pages
    from planewise.report.views import MAX_POINTS, TrainingRows, views_of_case
    from planewise.words import WITHOUT_OFFSET, View, fitted_with_offset, percent, value_in_words

    title = f"Row {answer['row']}: {answer['target']} is {value_in_words(answer['prediction'], 4)}"
    shares = [(label, percent(share, 1)) for label, share in (answer["probability"] or {}).items()]
    body = [pages.heading(title, level=1), *([pages.facts(shares)] if shares else [])]
    if fitted_with_offset(estimator):
        body.append(pages.paragraph(f"The model was {WITHOUT_OFFSET}."))
    if not isinstance(why, View):
        body.append(pages.paragraph(why.sentence()))
    body += [pages.heading(why.table().heading), pages.reason(why)]
    if isinstance(why, View):
        body.append(views_of_case(why, TrainingRows.of(why), ident="case", most_points=MAX_POINTS))
    return pages.page(title, [*body, pages.footer(type(estimator).__name__)])
