"""The pages and the files they load. Everything from the table passes through `said` of the reports."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request

from planewise.app._answers import ACCEPTED, OVERRIDDEN
from planewise.app._guard import Keys
from planewise.app._queue import SHOWN, Filter
from planewise.app._review import Review
from planewise.app._what_if import fields
from planewise.app._why import Why
from planewise.report.html import STYLE, said, view_script, view_style
from planewise.words import value_in_words


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
STATUS = {ACCEPTED: "accepted", OVERRIDDEN: "overridden"}


class Pages:
    """Makes the pages of one review."""

    def __init__(self, review: Review, keys: Keys, title: str) -> None:
        self.review, self.keys, self.title = review, keys, title
        self._templates = Environment(
            loader=PackageLoader("planewise.app"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["said"] = lambda value, most=300: Markup(said(value, most))
        self._templates.filters["words"] = value_in_words

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
        beside = review.queue.beside(row, chosen)
        return self._page(
            "case.html",
            request,
            chosen,
            row=row,
            name=review.queue.name(row),
            why=why,
            body=Markup(why.body if moved is None else moved.body),
            moved=moved,
            changes=[] if moved is None else [each for each in every if each.changed],
            undecided=bool(review.judgement.undecided[row]),
            probability=None if review.judgement.probability is None else float(review.judgement.probability[row]),
            decided=decided,
            seen="" if decided is None else decided.id,
            notes=review.decisions.notes(row),
            beside=beside,
            choices=self._choices(row),
            max_buttons=MAX_BUTTONS,
            fields=every[:FIRST_FIELDS],
            more_fields=every[FIRST_FIELDS:],
            values=review.values(row),
            others=self._other_values(row),
            key=secrets.token_hex(16),
            draft=f"planewise note {review.checksum} {row}",
        )

    def done(self, request: Request, chosen: Filter) -> str:
        """The page shown when no case is left."""
        return self._page("done.html", request, chosen)

    def queue(self, request: Request, chosen: Filter, page: int, asked: str, found: list[int] | None) -> str:
        """A list of cases."""
        queue, judged = self.review.queue, self.review.judgement
        rows = [int(each) for each in queue.order[queue.places(chosen)]] if found is None else found
        n_pages = max(1, -(-len(rows) // PAGE_LENGTH))
        page = min(page, n_pages)
        listed = [
            {
                "row": row,
                "name": queue.name(row),
                "answer": self.review.answer(row),
                "sure": None if judged.probability is None else float(judged.probability[row]),
                "undecided": bool(judged.undecided[row]),
                "status": self._status(row),
                "noted": bool(self.review.decisions.noted[row]),
            }
            for row in rows[(page - 1) * PAGE_LENGTH : page * PAGE_LENGTH]
        ]
        return self._page(
            "queue.html", request, chosen, listed=listed, page=page, n_pages=n_pages, n_found=len(rows), asked=asked
        )

    def problem(self, request: Request, status: int, words: str) -> str:
        """What went wrong."""
        return self._page("problem.html", request, Filter(), status=status, words=words)

    # ------------------------------------------------------------------------------------------------------- parts
    def _page(self, template: str, request: Request, chosen: Filter, **more: Any) -> str:
        review = self.review
        counts = review.queue.counts()
        base = request.scope.get("root_path", "")
        return self._templates.get_template(template).render(
            base=base,
            static={name: f"{base}/static/{name}?v={file.version}" for name, file in static_files().items()},
            title=self.title,
            csrf=self.keys.form,
            chosen=chosen,
            counts=counts,
            shown=SHOWN,
            n_decided=counts["accepted"] + counts["overridden"],
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

    def _other_values(self, row: int) -> dict[str, Any]:
        """The row's values in columns that the model does not read."""
        read = {column.name for column in self.review.model.columns_}
        return {name: self.review.table[name][row] for name in self.review.table.columns if name not in read}

    def _status(self, row: int) -> str:
        return STATUS.get(int(self.review.decisions.status[row]), "open")

    def _last(self) -> dict[str, str] | None:
        record = self.review.decisions.last()
        return None if record is None else {"id": record.id, "words": self.review.described(record)}

    def _message(self, request: Request) -> str:
        """What was just saved, if it still stands: the address may be opened again later."""
        record = self.review.decisions.by_id.get(request.query_params.get("saved", ""))
        if record is None:
            return ""
        decisions = self.review.decisions
        if record.undoes is not None:
            undone = decisions.by_id[record.undoes]
            return f"Undone: {self.review.described(undone)}." if decisions.newest() is record else ""
        standing = decisions.notes(record.row) if record.decision == "note" else [decisions.decided(record.row)]
        return f"Saved: {self.review.described(record)}." if any(each is record for each in standing) else ""
