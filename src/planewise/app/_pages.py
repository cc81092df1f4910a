"""The pages and the files they load. Everything from the table passes through `said` of the reports."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request

from planewise.answers import ACCEPTED, OVERRIDDEN, ClassAgreement, Record, exported_columns
from planewise.app._guard import Keys
from planewise.app._queue import SHOWN, Filter
from planewise.app._review import Review
from planewise.app._what_if import fields, written
from planewise.app._why import COVERAGE, Why
from planewise.report.html import STYLE, said, view_script, view_style
from planewise.words import number, percent, value_in_words


@dataclass(frozen=True)
class StaticFile:
    """The content of a file and its media type."""

    content: bytes
    media_type: str
    version: str  # part of its address, so that browsers can keep it


@cache
def static_files() -> dict[str, StaticFile]:
    """All files that pages load, by name, read once: no name from a browser ever becomes a path."""
    here = files("planewise.app")
    scripts = {
        "htmx.js": here.joinpath("vendor", "htmx", "htmx.min.js").read_bytes(),
        "review.js": here.joinpath("static", "review.js").read_bytes(),
        "view.js": view_script().encode(),
    }
    styles = {
        "page.css": STYLE.encode(),
        "view.css": view_style().encode(),
        "review.css": here.joinpath("static", "review.css").read_bytes(),
    }
    out = {}
    for kind, group in (("text/javascript", scripts), ("text/css", styles)):
        for name, content in group.items():
            out[name] = StaticFile(content, kind, hashlib.sha256(content).hexdigest()[:12])
    return out


PAGE_LENGTH = 50
CHOICES_BY_KEY = 9
MAX_BUTTONS = 24  # beyond, classes are chosen from a list
FIRST_FIELDS = 4  # of the what-if form; the others are folded away
FIRST_VALUES = 6  # of a case; the others are folded away
FEW_VALUES = 8  # which are shown without folding
SAMPLE = 12  # cases of a rule that are shown before it is applied
MAX_APART = 500  # disagreements that are listed
MAX_CLASSES = 30  # of a table of both reviewers' labels, or of the progress
STATUS = {ACCEPTED: "accepted", OVERRIDDEN: "overridden"}
SORTED_BY = {
    "case": "case",
    "answer": "prediction",
    "probability": "probability",
    "model": "how sure the model is",
    "decision": "your review",
}


class Pages:
    """Makes the pages of one review."""

    def __init__(self, review: Review, keys: Keys, title: str, suggested: str = "") -> None:
        self.review, self.keys, self.title, self.suggested = review, keys, title, suggested
        self._templates = Environment(
            loader=PackageLoader("planewise.app"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["said"] = lambda value, most=300: Markup(said(value, most))
        self._templates.filters["words"] = value_in_words
        self._templates.filters["share"] = _share
        self._templates.filters["figure"] = lambda value: number(value, 3)

    # ------------------------------------------------------------------------------------------------------- pages
    def case(
        self,
        request: Request,
        row: int,
        chosen: Filter,
        why: Why,
        moved: Why | None = None,
        form: Mapping[str, str] | None = None,
    ) -> str:
        """One case; with `moved`, what it would be with the values of the form."""
        review = self.review
        decided = review.decisions.decided(row)
        every = fields(review, row, why.telling, form)
        values, others = self._values(row, why.telling), self._other_values(row)
        n_first = len(values) if len(values) <= FEW_VALUES else FIRST_VALUES
        return self._page(
            "case.html",
            request,
            chosen,
            "case",
            row=row,
            name=review.queue.name(row),
            why=why,
            coverage=percent(COVERAGE, 0),
            body=Markup(why.body if moved is None else moved.body),
            moved=moved,
            changes=[] if moved is None else [each for each in every if each.changed],
            unsure=bool(review.judgement.unsure[row]),
            probability=None if review.judgement.probability is None else float(review.judgement.probability[row]),
            decided=decided,
            seen="" if decided is None else decided.id,
            restored=self._restored(request, row),
            notes=review.decisions.notes(row),
            seen_others=self._seen_others(row),
            beside=review.queue.beside(row, chosen),
            choices=self._choices(row),
            max_buttons=MAX_BUTTONS,
            fields=every[:FIRST_FIELDS],
            more_fields=every[FIRST_FIELDS:],
            first_values=values[:n_first],
            more_values=values[n_first:],
            others=others,
            key=secrets.token_hex(16),
            draft=f"planewise note {review.checksum} {review.signature} {row}",
        )

    def done(self, request: Request, chosen: Filter) -> str:
        """The page shown when no case is left."""
        return self._page("done.html", request, chosen, "case")

    def name(self, request: Request) -> str:
        """Who decides."""
        review = self.review
        return self._page(
            "name.html",
            request,
            Filter(),
            "name",
            suggested=review.who or self.suggested,
            reviewers=review.ledger.reviewers,
            answers_name=review.answers.path.name,
        )

    def queue(self, request: Request, chosen: Filter, page: int, asked: str, found: list[int] | None) -> str:
        """A list of cases."""
        queue, judged = self.review.queue, self.review.judgement
        rows = queue.rows(chosen) if found is None else np.array(found, dtype=np.intp)
        if found is not None and chosen.sort:
            order = queue.in_order(chosen)
            rows = order[np.isin(order, rows)]
        n_pages = max(1, -(-len(rows) // PAGE_LENGTH))
        page = min(page, n_pages)
        return self._page(
            "queue.html",
            request,
            chosen,
            "list",
            listed=[self._listed(int(row)) for row in rows[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH]],
            page=page,
            n_pages=n_pages,
            n_found=len(rows),
            asked=asked,
            queue_column=queue.id_column,
            has_probability=judged.probability is not None,
            sorted_by=SORTED_BY,
        )

    def _listed(self, row: int) -> dict[str, Any]:
        """A line of the list."""
        review, judged = self.review, self.review.judgement
        decided = review.decisions.decided(row)
        notes = review.decisions.notes(row)
        return {
            "row": row,
            "name": review.queue.name(row),
            "answer": review.answer(row),
            "sure": None if judged.probability is None else float(judged.probability[row]),
            "unsure": bool(judged.unsure[row]),
            "status": STATUS.get(int(review.decisions.status[row]), "open"),
            "decided": decided is not None,
            "label": None if decided is None else decided.label,
            "by_rule": decided is not None and decided.batch is not None,
            "note": notes[-1].note if notes else "",
        }

    def accept(self, request: Request, label: int | None, least: float) -> str:
        """A rule that accepts many cases, and, once it is chosen, what it would do."""
        review = self.review
        preview = None
        if label is not None and review.classes is not None and review.judgement.probability is not None:
            rows = review.queue.clear_cases(label, least)
            some = rows[np.unique(np.linspace(0, len(rows) - 1, SAMPLE).astype(int))] if len(rows) else rows
            sure = review.judgement.probability
            sample = [{"row": int(row), "name": review.queue.name(int(row)), "sure": float(sure[row])} for row in some]
            rule = review.rule(label, least)
            preview = {"n_cases": len(rows), "sample": sample, "label": review.classes[label], "rule": rule}
        return self._page(
            "accept.html",
            request,
            Filter(),
            "accept",
            rule_label=label,
            least=f"{least:g}",
            preview=preview,
            has_probability=review.judgement.probability is not None,
            key=secrets.token_hex(16),
        )

    def agreement(self, request: Request, at_once: bool) -> str:
        """How far the reviewers agree: with each other one, once no decision of theirs is left to be made blind."""
        pairs = [self._pair(other, at_once) for other in self.review.others]
        return self._page("agreement.html", request, Filter(), "agreement", others=self.review.others, pairs=pairs)

    def _pair(self, other: str, at_once: bool) -> dict[str, Any]:
        review = self.review
        n_left = review.left_to_compare(other)
        if n_left and not at_once:
            return {"other": other, "n_left": n_left, "found": None}
        found = review.agreement(review.who, other)
        theirs = review.ledger.of(other)
        apart = [
            {
                "row": row,
                "name": review.queue.name(row),
                "answer": review.answer(row),
                "own": _label(review.decisions.decided(row)),
                "other": _label(theirs.decided(row)),
            }
            for row in found.disagreements[:MAX_APART]
        ]
        table = _labels_of_both(found) if isinstance(found, ClassAgreement) else None
        return {"other": other, "n_left": n_left, "found": found, "apart": apart, "table": table}

    def export(self, request: Request) -> str:
        """Which rows to download, and as what."""
        review = self.review
        columns = exported_columns(review.table.columns, new=True)
        assert columns is not None
        decided = [review.ledger.of(who).status != 0 for who in review.ledger.reviewers]
        return self._page(
            "export.html",
            request,
            Filter(),
            "export",
            prefix=columns.prefix,
            n_decided=int(np.count_nonzero(np.any(decided, axis=0))) if decided else 0,
            others=review.others,
            hidden_others=[who for who in review.others if review.left_to_compare(who)],
            answers_name=review.answers.path.name,
        )

    def problem(self, request: Request, status: int, words: str) -> str:
        """What went wrong."""
        return self._page("problem.html", request, Filter(), "case", status=status, words=words)

    # ------------------------------------------------------------------------------------------------------- parts
    def _page(self, template: str, request: Request, chosen: Filter, tab: str, **more: Any) -> str:
        review = self.review
        base = request.scope.get("root_path", "")
        return self._templates.get_template(template).render(
            base=base,
            static={name: f"{base}/static/{name}?v={file.version}" for name, file in static_files().items()},
            title=self.title,
            csrf=self.keys.form,
            signed=review.signature,
            tab=tab,
            chosen=chosen,
            counts=review.queue.counts(),
            n_unsure=review.queue.count(replace(chosen, unsure=True)),
            shown=SHOWN,
            by_class=self._progress(),
            classes=review.classes,
            last=self._last(),
            undo_key=secrets.token_hex(16),
            message=self._message(request),
            who=review.who,
            target=review.model.target_,
            kind=type(review.model.estimator_).__name__,
            order_in_words=review.judgement.order_in_words,
            torn=None if review.answers.torn is None else review.answers.torn.name,
            **more,
        )

    def _progress(self) -> list[dict[str, Any]]:
        """By predicted class, those with most cases first if there are very many."""
        classes = self.review.classes
        if classes is None:
            return []
        found = [
            {"name": name, "n_reviewed": n_reviewed, "n_cases": n_cases}
            for name, (n_reviewed, n_cases) in zip(classes, self.review.queue.progress(len(classes)), strict=True)
        ]
        return found if len(found) <= MAX_CLASSES else sorted(found, key=lambda one: -one["n_cases"])[:MAX_CLASSES]

    def _choices(self, row: int) -> list[dict[str, Any]]:
        """The classes that the model did not predict, with the keys that choose them."""
        if self.review.classes is None:
            return []
        own = int(self.review.judgement.answer[row])
        return [
            {"place": place, "name": each, "key": str(place + 1) if place < CHOICES_BY_KEY else ""}
            for place, each in enumerate(self.review.classes)
            if place != own
        ]

    def _values(self, row: int, telling: Sequence[str]) -> list[tuple[str, str]]:
        """The row's values in the columns that the model reads, the most telling first."""
        columns = {column.name: column for column in self.review.model.columns_}
        names = dict.fromkeys([*(name for name in telling if name in columns), *columns])
        table = self.review.table
        return [(name, written(table[name][row], columns[name]) or "missing") for name in names]

    def _other_values(self, row: int) -> list[tuple[str, Any]]:
        """The row's values in columns that the model does not read."""
        read, table = {column.name for column in self.review.model.columns_}, self.review.table
        values = {name: table[name][row] for name in table.columns if name not in read}
        return [(name, "missing" if value is None else value) for name, value in values.items()]

    def _seen_others(self, row: int) -> list[Record]:
        """What other reviewers decided, of those whose decisions may be seen."""
        review = self.review
        theirs = [review.ledger.of(who).decided(row) for who in review.others if not review.left_to_compare(who)]
        return [each for each in theirs if each is not None]

    def _last(self) -> dict[str, str] | None:
        record = self.review.decisions.last()
        if record is None:
            return None
        key = record.id if record.batch is None else record.batch.id
        return {"id": key, "words": self.review.described(record)}

    def _saved(self, request: Request) -> Record | None:
        """The record that the address says was just saved."""
        return self.review.ledger.by_id.get(request.query_params.get("saved", ""))

    def _restored(self, request: Request, row: int) -> Record | None:
        """The decision that was just undone, whose note and label are put back into the form."""
        record, ledger = self._saved(request), self.review.ledger
        if record is None or record.undoes is None or record.row != row or ledger.newest() is not record:
            return None
        undone = ledger.undone_by(record)[-1]
        return undone if undone.batch is None else None

    def _message(self, request: Request) -> str:
        """What was just saved, if it still stands: the address may be opened again later."""
        record = self._saved(request)
        if record is None:
            return ""
        ledger, decisions = self.review.ledger, self.review.decisions
        if record.undoes is not None:
            undone = ledger.undone_by(record)[-1]
            words = f"Undone: {self.review.described(undone)}."
            words += " Your note is back in the field." if undone.note else ""
            return words if ledger.newest() is record else ""
        standing = decisions.notes(record.row) if record.decision == "note" else [decisions.decided(record.row)]
        return f"Saved: {self.review.described(record)}." if any(each is record for each in standing) else ""


def _share(value: float) -> str:
    """A probability that never says more than it is: 0.9996 is not 100 %."""
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    if 0 < value < 0.0005:
        return "< 0.1 %"
    return percent(value, 0 if 0.1 <= value <= 0.9 or value == 1 else 1)


def _label(record: Record | None) -> Any:
    return None if record is None else record.label


def _labels_of_both(found: ClassAgreement) -> dict[str, Any] | None:
    """The table of both reviewers' labels, without classes that neither used; None if it would be very large."""
    used = [place for place, row in enumerate(found.counts) if any(row) or any(each[place] for each in found.counts)]
    if len(used) > MAX_CLASSES:
        return None
    rows = [(found.classes[place], [found.counts[place][other] for other in used]) for place in used]
    return {"classes": [found.classes[place] for place in used], "rows": rows}
