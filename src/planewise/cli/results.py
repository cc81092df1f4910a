"""The summary that `planewise fit` prints: how the columns were read, and how good the model is on held-out rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from planewise.cli.output import say, show_leading, show_table
from planewise.data.columns import COLUMN_KINDS
from planewise.data.files.tables import InputTable
from planewise.data.files.values import as_data
from planewise.data.values import value_in_words
from planewise.evaluate.calibration import Calibration, calibration
from planewise.evaluate.confusion import Confusion, confusion
from planewise.evaluate.evaluation import evaluate
from planewise.evaluate.importance import leading_features
from planewise.evaluate.quality import Quality, quality
from planewise.evaluate.verdict import ConstantComparison, LinearComparison
from planewise.table.intervals import HeldOutErrors
from planewise.table.model import TableModel

MAX_CLASSES = 12  # for which the whole confusion is printed
MAX_LISTED = 12  # columns in one line, or lines for columns
USUAL_COVERAGE = 0.9


def columns_found(model: TableModel, rows: Any, table: InputTable) -> dict[str, Any]:
    """Return how the table was read, and what each of its columns was taken for."""
    decimal = table.data()["decimal"] or "."
    read = {column.name: as_data(column, decimal) for column in table.found}
    columns = []
    for column in model.columns_:
        values = rows[column.name]
        present = values.drop_nulls()
        about = {
            "kind": COLUMN_KINDS[column.kind].adjective,
            "missing": values.null_count() / rows.height,
            "example": present[0] if len(present) else None,
        }
        columns.append(read[column.name] | about)
    left_out = [{**read[column.name], "why": column.why} for column in model.left_out_]
    return {"reading": table.data(), "target_read": read[model.target_], "columns": columns, "left_out": left_out}


def show_columns(answer: dict[str, Any]) -> None:
    """Print what is unusual about the columns."""
    columns = answer["columns"]
    _show_kinds(columns)
    gaps = [f"{column['name']} {_percent(column['missing'])}" for column in columns if column["missing"] > 0]
    if gaps:
        more = f" and {len(gaps) - MAX_LISTED} more" if len(gaps) > MAX_LISTED else ""
        say("missing  " + ", ".join(gaps[:MAX_LISTED]) + more)
    unusual = [column for column in (answer["target_read"], *columns) if column["how"]]
    for column in unusual[:MAX_LISTED]:
        say(f"read as  {column['name']}: {column['kind']}; {column['how']}")
    if len(unusual) > MAX_LISTED:
        say(f"         {len(unusual) - MAX_LISTED} more: --show-columns lists all")
    for column in answer["left_out"]:
        how = f" ({column['how']})" if column["how"] else ""
        say(f"left out {column['name']}: {column['why']}{how}")


def show_every_column(answer: dict[str, Any]) -> None:
    """Print a table of all columns."""
    _show_kinds(answer["columns"])
    target = answer["target_read"]
    rows = [[target["name"], f"{target['kind']}, the target", "", "", target["how"] or ""]]
    for column in answer["columns"]:
        gap = _percent(column["missing"]) if column["missing"] else ""
        example = "" if column["example"] is None else value_in_words(column["example"])
        rows.append([column["name"], column["kind"], example, gap, column["how"] or ""])
    for column in answer["left_out"]:
        how = f"{column['how']}; " if column["how"] else ""
        rows.append([column["name"], f"{column['kind']}, left out", "", "", f"{how}{column['why']}"])
    show_table("columns", ["column", "taken for", "such as", "missing", "how, or why it is left out"], rows, (0, 1, 4))
    say("")


def _show_kinds(columns: list[dict[str, Any]]) -> None:
    counts = Counter(column["kind"] for column in columns)
    kinds = [kind.adjective for kind in COLUMN_KINDS.values() if kind.adjective in counts]
    say(f"columns  {len(columns)}: " + ", ".join(f"{counts[kind]} {kind}" for kind in kinds))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g}%"


@dataclass(frozen=True)
class Results:
    """All that was measured on held-out rows."""

    quality: Quality
    confusion: Confusion | None
    calibration: Calibration | None
    intervals: dict[str, Any] | None
    leading: dict[str, float]

    def data(self) -> dict[str, Any]:
        """Return the results for programs."""
        return {
            "quality": self.quality.data(),
            "constant": _compared(self.quality.constant),
            "linear": _compared(self.quality.linear),
            "confusion": None if self.confusion is None else self.confusion.data(),
            "calibration": None if self.calibration is None else self.calibration.data(),
            "intervals": self.intervals,
            "leading_features": self.leading,
        }

    def show(self, n_rows: int, interval: str) -> None:
        """Print the results for people; `interval` is a sentence about prediction intervals."""
        show_table(f"quality on {n_rows} held-out rows", *self.quality.table())
        for sentence in self.quality.sentences():
            say(sentence)
        say(self.quality.note)
        if interval:
            say("", "prediction intervals", interval)
        if self.confusion is not None:
            section = self.confusion.section(MAX_CLASSES)
            if section.rows:
                show_table(section.heading.lower(), section.columns, section.rows)
            if section.note:
                say(section.note)
        if self.calibration is not None:
            show_table("calibration", *self.calibration.table(), left=())
            say(self.calibration.sentence())
        show_leading(self.leading)


def _compared(comparison: ConstantComparison | LinearComparison | None) -> dict[str, Any] | None:
    return None if comparison is None else asdict(comparison) | {"words": comparison.sentence() or None}


def measure(model: TableModel, train: Any, test: Any) -> Results:
    """Measure a model on held-out rows; one that predicts numbers learns its prediction intervals from them."""
    case = evaluate(model, test)
    if case.classes is None:
        model.held_out_errors_ = HeldOutErrors.of(case.target - case.predicted)  # as learn_intervals does
    intervals = describe_intervals(model)
    return Results(quality(case, train), confusion(case), calibration(case), intervals, leading_features(model, test))


def describe_intervals(model: TableModel) -> dict[str, Any] | None:
    """Return how wide prediction intervals are, and what coverage is possible, for programs."""
    errors = model.held_out_errors_
    if errors is None:
        return None
    return {
        "coverage": USUAL_COVERAGE,
        "half_width": errors.half_width(USUAL_COVERAGE) if errors.max_coverage >= USUAL_COVERAGE else None,
        "max_coverage": errors.max_coverage,
        "n_rows": errors.n_rows,
    }
