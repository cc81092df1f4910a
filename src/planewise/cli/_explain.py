"""planewise explain: why a row gets its prediction, on the terminal, as JSON, or as a self-contained HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planewise.cli._mistakes import refuse_existing
from planewise.cli._reading import reads_table
from planewise.cli._show import print_page, say, show_json, show_table, tell_of_offset
from planewise.cli._streams import is_stdout

if TYPE_CHECKING:
    from planewise.cli._find_row import Found
    from planewise.files import InputTable
    from planewise.words import Reason


@reads_table
def explain(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    table: InputTable,
    row: Annotated[int | None, typer.Option(help="Row number, from 0 below the header.", show_default=False)] = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Value of the identifier in the row, as written.", show_default=False)
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column of --id, if several could be meant.", show_default=False)
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="HTML page to write as well; - prints it instead.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the --html file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Explain the prediction for a row: its path down a tree, what each column or view added, or the nearest vectors.

    The row is named by its number, counted from 0 below the header, or by its identifier.

    Examples:
      planewise explain wine.planewise new.csv --row 17

      planewise explain wine.planewise new.csv --id 041014 --html why.html
    """
    from planewise._atomic import write_whole
    from planewise.cli._find_row import find_row
    from planewise.cli._tables import load_table_model, remembered_by

    if html is not None:
        refuse_existing(html, force, model, *table.paths)
    fitted = load_table_model(model)
    table.remember(remembered_by(fitted))
    found = find_row(table, row, identifier, id_column, fitted)
    tell_of_offset(fitted.estimator_)
    one = table.row(found.row, fitted.columns_, [column.name for column in fitted.columns_])
    found = found.at(table)
    answer, why = _answer(fitted, one, found), fitted.explain(one)[0]
    if is_stdout(html):
        return print_page(_page(answer, found, why, fitted.estimator_), as_json)
    if html is not None:
        write_whole(html, _page(answer, found, why, fitted.estimator_))
    if as_json:
        show_json(answer | {"sentence": why.sentence(), "explanation": why.data()})
        return
    _show(answer, found, why)
    if html is not None:
        say("", f"page    {html}")


def _show(answer: dict[str, Any], found: Found, why: Reason) -> None:
    from planewise.words import View, percent, value_in_words

    say(found.in_words(), f"        {answer['target']}: {value_in_words(answer['prediction'], 4)}")
    for label, share in (answer["probability"] or {}).items():
        say(f"        {label}: {percent(share, 1)}")
    details, views = why.table(), None
    if isinstance(why, View):
        say("", details.heading, why.sentence())
        views = why.views_table()
    else:
        say("", why.sentence())
        show_table(details.heading, details.columns, details.rows, why.text_columns)
    notes = [details.note]
    if views is not None:
        show_table(views.heading, views.columns, views.rows)
        notes.append(views.note)
    for note in notes:
        if note:
            say("", note)


def _answer(model: Any, one: Any, found: Found) -> dict[str, Any]:
    probability = None
    if hasattr(model, "predict_proba") and hasattr(model.estimator_, "predict_proba"):
        shares = model.predict_proba(one)[0]
        probability = {str(label): float(share) for label, share in zip(model.classes_.tolist(), shares, strict=True)}
    return {
        "row": found.row,
        "id_column": found.id_column,
        "id": found.value,
        "target": model.target_,
        "prediction": model.predict(one).tolist()[0],
        "probability": probability,
    }


def _page(answer: dict[str, Any], found: Found, why: Reason, estimator: Any) -> str:
    from planewise.report import html as pages
    from planewise.report.case import case_parts
    from planewise.words import WITHOUT_OFFSET, View, fitted_with_offset, percent, value_in_words

    named = f"Row {found.row}" if found.id_column is None else f"{found.id_column} {found.value}"
    title = f"{named}: {answer['target']} is {value_in_words(answer['prediction'], 4)}"
    shares = [(label, percent(share, 1)) for label, share in (answer["probability"] or {}).items()]
    body = [pages.heading(title, level=1), pages.paragraph(f"R{found.place()[1:]}.", note=True)]
    if shares:
        body.append(pages.facts(shares))
    if fitted_with_offset(estimator):
        body.append(pages.paragraph(f"The model was {WITHOUT_OFFSET}."))
    if not isinstance(why, View):
        body.append(pages.paragraph(why.sentence()))
    body += [pages.heading(why.table().heading), pages.reason(why)]
    if isinstance(why, View):
        body += case_parts(why, level=2)
    return pages.page(title, [*body, pages.footer(type(estimator).__name__)])
