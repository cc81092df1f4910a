"""What held-out rows say about a model: quality, confusion, calibration, intervals; for people, programs and files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from planewise.cli._everywhere import log
from planewise.cli._show import say, show_leading, show_table
from planewise.words import counted

if TYPE_CHECKING:
    from planewise.evaluate import Calibration, Confusion, ConstantComparison, LinearComparison, Quality
    from planewise.table import TableModel

MAX_CLASSES = 12  # for which the whole confusion is printed


@dataclass(frozen=True)
class Results:
    """All that was measured on held-out rows."""

    quality: Quality
    confusion: Confusion | None
    calibration: Calibration | None
    intervals: dict[str, Any] | None
    leading: dict[str, float]

    def data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "quality": self.quality.data(),
            "constant": _compared(self.quality.constant),
            "linear": _compared(self.quality.linear),
            "confusion": None if self.confusion is None else self.confusion.data(),
            "calibration": None if self.calibration is None else self.calibration.data(),
            "intervals": self.intervals,
            "leading_features": self.leading,
        }

    def log(self, found: dict[str, Any]) -> None:
        """Write into the log, if there is one: how the table was read, what was left out, and the quality."""
        from planewise.evaluate import MEASURES, in_words

        if found["reading"]["in_words"]:
            log(f"read {found['reading']['name']}: {found['reading']['in_words']}")
        for each in (found["target_read"], *found["columns"]):
            if each["how"]:
                log(f"read as {each['name']}: {each['kind']}; {each['how']}")
        for each in found["left_out"]:
            log(f"left out {each['name']}: {each['why']}" + (f" ({each['how']})" if each["how"] else ""))
        measured = [f"{MEASURES[name]} {in_words(name, each)}" for name, each in self.quality.found["model"].items()]
        log(f"quality on {counted(found['rows']['held_out'], 'held-out row')}: {', '.join(measured)}")
        for sentence in self.quality.sentences():
            log(sentence)

    def show_quality(self, n_rows: int) -> None:
        """For people, beside simple models; first of all whether the model is any better than a constant."""
        show_table(f"quality on {n_rows} held-out rows", *self.quality.table())
        for sentence in self.quality.sentences():
            say(sentence)
        say(self.quality.note)

    def show(self, n_rows: int, interval: str) -> None:
        """For people; `interval` is a sentence about prediction intervals."""
        self.show_quality(n_rows)
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


def _compared(found: ConstantComparison | LinearComparison | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found) | {"words": found.sentence() or None}


def measure(model: TableModel, train: Any, test: Any) -> Results:
    """Measure a model on held-out rows; one that predicts numbers learns its prediction intervals from them."""
    from planewise.evaluate import calibration, confusion, evaluate, leading_features, quality
    from planewise.table import HeldOutErrors

    case = evaluate(model, test)
    if case.classes is None:
        model.held_out_errors_ = HeldOutErrors.of(case.target - case.predicted)  # as learn_intervals does
    intervals = describe_intervals(model)
    return Results(quality(case, train), confusion(case), calibration(case), intervals, leading_features(model, test))


def describe_intervals(model: TableModel) -> dict[str, Any] | None:
    """For programs: how wide intervals of 90 % are, and what coverage is possible."""
    kept = model.held_out_errors_
    if kept is None:
        return None
    usual = 0.9
    return {
        "coverage": usual,
        "half_width": kept.half_width(usual) if kept.max_coverage >= usual else None,
        "max_coverage": kept.max_coverage,
        "n_rows": kept.n_rows,
    }
