"""What the columns of a table were taken for, as planewise fit says it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from planewise.cli._show import say, show_table

if TYPE_CHECKING:
    from planewise.files import InputTable
    from planewise.table import TableModel

MAX_SAID = 12  # columns in one line, or lines for columns


def columns_found(model: TableModel, rows: Any, table: InputTable) -> dict[str, Any]:
    """How the table was read, and what each of its columns was taken for."""
    from planewise.files import as_data
    from planewise.table import COLUMN_KINDS

    decimal = table.data()["decimal"] or "."
    read = {found.name: as_data(found, decimal) for found in table.found}
    columns = [
        {
            **read[each.name],
            "kind": COLUMN_KINDS[each.kind].adjective,
            "missing": rows[each.name].null_count() / rows.height,
            "example": _example(rows[each.name]),
        }
        for each in model.columns_
    ]
    left_out = [{**read[each.name], "why": each.why} for each in model.left_out_]
    return {"reading": table.data(), "target_read": read[model.target_], "columns": columns, "left_out": left_out}


def _example(values: Any) -> Any:
    present = values.drop_nulls()
    return present[0] if len(present) else None


def show_columns_found(answer: dict[str, Any], every: bool) -> None:
    """Print it: what is unusual, or every column."""
    from planewise.table import COLUMN_KINDS

    columns = answer["columns"]
    counts = Counter(column["kind"] for column in columns)
    kinds = [kind.adjective for kind in COLUMN_KINDS.values() if kind.adjective in counts]
    say(f"columns  {len(columns)}: " + ", ".join(f"{counts[kind]} {kind}" for kind in kinds))
    if every:
        _show_every(answer)
        return
    gaps = [f"{column['name']} {_percent(column['missing'])}" for column in columns if column["missing"] > 0]
    if gaps:
        say("missing  " + ", ".join(gaps[:MAX_SAID]) + _more(len(gaps)))
    unusual = [each for each in (answer["target_read"], *columns) if each["how"]]
    for each in unusual[:MAX_SAID]:
        say(f"read as  {each['name']}: {each['kind']}; {each['how']}")
    if len(unusual) > MAX_SAID:
        say(f"         {len(unusual) - MAX_SAID} more: --show-columns lists all")
    for each in answer["left_out"]:
        how = f" ({each['how']})" if each["how"] else ""
        say(f"left out {each['name']}: {each['why']}{how}")


def _more(n: int) -> str:
    return f" and {n - MAX_SAID} more" if n > MAX_SAID else ""


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _show_every(answer: dict[str, Any]) -> None:
    from planewise.words import value_in_words

    target = answer["target_read"]
    rows = [[target["name"], f"{target['kind']}, the target", "", "", target["how"] or ""]]
    for each in answer["columns"]:
        gap = _percent(each["missing"]) if each["missing"] else ""
        example = "" if each["example"] is None else value_in_words(each["example"])
        rows.append([each["name"], each["kind"], example, gap, each["how"] or ""])
    for each in answer["left_out"]:
        how = f"{each['how']}; " if each["how"] else ""
        rows.append([each["name"], f"{each['kind']}, left out", "", "", f"{how}{each['why']}"])
    show_table("columns", ["column", "taken for", "such as", "missing", "how, or why it is left out"], rows, (0, 1, 4))
    say("")
