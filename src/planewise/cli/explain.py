"""planewise explain: why a row gets its prediction, on the terminal, as JSON, or as a self-contained HTML page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
import typer

from planewise._atomic import write_whole
from planewise._text import first_of, joined, percent
from planewise.cli.output import is_stdout, print_page, say, show_json, show_table
from planewise.cli.tables import load_table_model, reads_table, refuse_existing
from planewise.data.columns import named_as_key, require_columns
from planewise.data.files.tables import InputTable
from planewise.data.values import value_in_words
from planewise.explain.describe import WITHOUT_OFFSET, fitted_with_offset
from planewise.explain.reasons import Reason, View
from planewise.report import html as pages
from planewise.report.case import case_parts

# Decimals, dates and free text are different in every row by chance.
_NO_KEY = re.compile(r"[+-]?(\d+[.,]\d*|[.,]\d+|\d+(\.\d*)?[eE][+-]?\d+)|\d{4}-\d{2}-\d{2}.*|.*\s.*|.{65,}", re.DOTALL)
MOST_LISTED = 10


@reads_table
def explain(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    table: InputTable,
    row: Annotated[int | None, typer.Option(help="Row number, from 0 below the header.", show_default=False)] = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Value of the identifier in the row, as written.", show_default=False)
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column that holds the value of --id, if ambiguous.", show_default=False)
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
    if html is not None:
        refuse_existing(html, force, model, *table.paths)
    fitted = load_table_model(model, table)
    found = find_row(table, row, identifier, id_column, fitted)
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


class Found(NamedTuple):
    """A row of a table: its number, and the identifier by which it was found."""

    row: int
    id_column: str | None = None
    value: str | None = None
    line: str | None = None  # of a text file

    def at(self, table: InputTable) -> Found:
        """Return a copy with the line in the file, if the table is a text file."""
        return self._replace(line=table.line(self.row)) if table.form == "text" else self

    def place(self) -> str:
        """Return the position, such as "row 17, counted from 0 (line 19 of the file)"."""
        row = f"row {self.row}, counted from 0"
        if self.line is None:
            return row
        return f"{row} ({self.line})" if " of " in self.line else f"{row} ({self.line} of the file)"

    def in_words(self) -> str:
        """Return the identifier and position, such as "patient 041014: row 17, counted from 0"."""
        return self.place() if self.id_column is None else f"{self.id_column} {self.value}: {self.place()}"


def find_row(table: InputTable, row: int | None, value: str | None, id_column: str | None, model: Any) -> Found:
    """The row with this number, or with this value of the identifier; an error unless exactly one of them is given."""
    if value is None:
        if id_column is not None:
            raise ValueError("--id-column names the column of --id; add --id VALUE.")
        if row is None:
            raise ValueError("name the row to explain: --row NUMBER, or --id VALUE.")
        if row < 0:
            raise ValueError(f"rows are counted from 0; got --row {row}.")
        return Found(row)
    if row is not None:
        raise ValueError("--row and --id both name the row to explain; give one of them.")
    name = _identifier(table, model) if id_column is None else id_column
    require_columns([name], table.columns)
    return Found(_row_of(table, name, value), name, value)


def _row_of(table: InputTable, name: str, value: str) -> int:
    """The only row with this value, compared as written: 041014 is not 41014."""
    found, alike, at = [], "", 0
    for chunk in table.chunks(None, [name]):
        values = chunk[name].cast(pl.String)
        found += [at + place for place in (values == value).fill_null(False).arg_true().to_list()]
        if not alike:
            same = values.filter((values.str.strip_chars().str.strip_chars_start("0") == _bare(value)).fill_null(False))
            alike = same[0] if len(same) else ""
        at += chunk.height
    if len(found) == 1:
        return found[0]
    if found:
        rows = first_of([str(row) for row in found], MOST_LISTED)
        raise ValueError(
            f"{len(found)} rows of {table.name} have the {name} {value!r}: rows {rows}, counted from 0; use --row."
        )
    hint = f"; did you mean {alike!r}?" if alike else "."
    raise ValueError(f"no row of {table.name} has the {name} {value!r}{hint}")


def _bare(value: str) -> str:
    return value.strip().lstrip("0")


def _identifier(table: InputTable, model: Any) -> str:
    """The only column by which rows can be known; those that the model reads come last, those called as keys first."""
    read = {model.target_, *(column.name for column in model.columns_)}
    distinct = _distinct_columns(table)
    keys = [name for name, is_key in distinct.items() if is_key]
    for some in ([name for name in keys if name not in read], keys):
        candidates = [name for name in some if named_as_key(name)] or some
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            named = joined([repr(name) for name in candidates[:MOST_LISTED]])
            raise ValueError(f"{named} look like identifiers; choose one by --id-column.")
    others = first_of([repr(name) for name in distinct], MOST_LISTED)
    what = f" Different in every row: {others}." if others else " No column has a different value in every row."
    raise ValueError(f"no column looks like an identifier; name it by --id-column, or use --row.{what}")


def _distinct_columns(table: InputTable) -> dict[str, bool]:
    """The columns with a different value in every row, and whether the values can be keys."""
    left = list(table.columns)
    seen: dict[str, set[str]] = {name: set() for name in left}
    can_be_key = dict.fromkeys(left, True)
    for chunk in table.chunks(None, left):
        for name in left:
            values = chunk[name].cast(pl.String)
            if values.null_count() or values.n_unique() < len(values) or not seen[name].isdisjoint(values):
                del seen[name]
                continue
            can_be_key[name] &= _are_keys(chunk[name].dtype, values)
            seen[name].update(values)
        left = [name for name in left if name in seen]
        if not left:
            break
    return {name: can_be_key[name] for name in left}


def _are_keys(dtype: Any, values: Any) -> bool:
    if dtype.is_float() or dtype.is_temporal() or dtype.is_decimal():
        return False
    return not all(_NO_KEY.fullmatch(value.strip()) for value in values.head(100))
