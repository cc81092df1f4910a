"""The addresses of a review, what each shows or does, and how forms are read, with limits."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from planewise.answers import FORMATS, table_bytes
from planewise.app._guard import Keys, same
from planewise.app._pages import Pages, static_files
from planewise.app._queue import SHOWN, SORTED, Ahead, Filter
from planewise.app._review import LEAST_PROBABILITY, Asked, RefusedError, Review
from planewise.app._what_if import changed_row, plain_number
from planewise.app._why import Why

MAX_FIELDS = 2000
USUAL_LEAST = 0.95  # probability of a rule


class BadRequestError(Exception):
    """A request that is answered with an error status and a message."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form from one of our own pages; of a repeated name, the last."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise BadRequestError(415, "Forms must be sent as application/x-www-form-urlencoded.")
    try:
        text = (await request.body()).decode("ascii")
        form = dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS))
    except ValueError:
        raise BadRequestError(400, "The form cannot be read.") from None
    keys: Keys = request.app.state.keys
    if not same(form.get("csrf", ""), keys.form):
        raise BadRequestError(403, "The form is not from this review; reload the page.")
    return form


def read_row(request: Request, review: Review) -> int:
    """The row in the address."""
    text = request.path_params["row"]
    if text.isascii() and text.isdigit() and len(text) < 12 and int(text) < len(review.queue):
        return int(text)
    raise BadRequestError(404, f"There is no such case: rows are counted from 0 to {len(review.queue) - 1}.")


def read_filter(given: Any, review: Review) -> Filter:
    """The filter in an address or a form; invalid parts are ignored."""
    show, label = given.get("show", "open"), given.get("label", "")
    sort = given.get("sort", "")
    return Filter(
        show if show in SHOWN else "open",
        read_class(label, review),
        unsure=given.get("unsure", "") == "1",
        sort=sort if sort in SORTED else "",
        down=given.get("down", "") == "1",
    )


def read_class(text: str, review: Review) -> int | None:
    """The place of a class in an address or a form; None if there is no such class."""
    place = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None
    return place if place is not None and place < len(review.classes or ()) else None


def read_label(form: dict[str, str], review: Review) -> Any:
    """The class (given by its place) or the number that the person says is right; None without one."""
    if review.classes is None:
        return plain_number(form.get("number", "").strip())
    place = read_class(form.get("decision", "").partition(":")[2] or form.get("choice", ""), review)
    return None if place is None else review.classes[place]


def read_number(text: str, usual: int) -> int:
    """A whole number in an address or a form."""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 9 else usual


def read_least(text: str) -> float:
    """The least probability of a rule."""
    value = plain_number(text.strip())
    if value is None or not LEAST_PROBABILITY <= value <= 1:
        raise RefusedError(f"The probability must be a number between {LEAST_PROBABILITY} and 1; got {text[:20]!r}.")
    return value


router = APIRouter()
Form = Annotated[dict[str, str], Depends(read_form)]


class NameFirstError(Exception):
    """A page that needs the name of the reviewer."""


def review_of(request: Request) -> Review:
    """The review that this application serves; its pages need the name of the reviewer."""
    review: Review = request.app.state.review
    if not review.who and request.method != "POST":
        raise NameFirstError
    return review


def _pages(request: Request) -> Pages:
    return request.app.state.pages


def _to(request: Request, path: str, chosen: Filter, **more: Any) -> Response:
    base = request.scope.get("root_path", "")
    return RedirectResponse(f"{base}{path}{chosen.query(**more)}", 303)


@router.get("/name")
def name(request: Request) -> Response:
    """The form for the name of the reviewer."""
    return HTMLResponse(_pages(request).name(request))


@router.post("/name")
def sign(request: Request, form: Form) -> Response:
    """From now on, this person decides."""
    review_of(request).sign(form.get("name", ""))
    return _to(request, "/", Filter())


@router.get("/")
def home(request: Request) -> Response:
    """The first open case."""
    review = review_of(request)
    chosen = read_filter(request.query_params, review)
    return _to_case(request, review.queue.first(chosen), chosen)


def _to_case(request: Request, row: int | None, chosen: Filter, **more: Any) -> Response:
    return _to(request, "/done" if row is None else f"/case/{row}", chosen, **more)


@router.get("/done")
def done(request: Request) -> Response:
    """No case is left in this part of the queue."""
    review = review_of(request)
    return HTMLResponse(_pages(request).done(request, read_filter(request.query_params, review)))


@router.get("/case/{row}")
def case(request: Request) -> Response:
    """One case."""
    review, ahead = review_of(request), _ahead(request)
    row, chosen = read_row(request, review), read_filter(request.query_params, review)
    shown = HTMLResponse(_pages(request).case(request, row, chosen, ahead(row)))
    beside = review.queue.beside(row, chosen)
    ahead.prepare(beside.after)
    ahead.prepare(beside.before)
    return shown


def _ahead(request: Request) -> Ahead[Why]:
    return request.app.state.ahead


@router.post("/case/{row}/decide")
def decide(request: Request, form: Form) -> Response:
    """Accept, override or add a note; then show the next case, or after a note the same one."""
    review = review_of(request)
    row, chosen = read_row(request, review), read_filter(form, review)
    decision = form.get("decision", "").partition(":")[0]
    label, note, seen = read_label(form, review), form.get("note", ""), form.get("seen")
    asked = Asked(form.get("key", ""), decision, label, note, seen, form.get("signed"))
    record = review.decide(row, asked)
    after = record.row if record.decision == "note" else review.queue.following(record.row, chosen)
    return _to_case(request, after, chosen, saved=record.id)


@router.post("/undo")
def undo(request: Request, form: Form) -> Response:
    """Undo the last decision, and go to its case; a batch, and go where it came from."""
    review = review_of(request)
    record = review.undo(form.get("key", ""), form.get("undoes", ""), form.get("signed"))
    if review.ledger.undone_by(record)[-1].batch is not None:
        return _to(request, "/accept", Filter(), saved=record.id)
    return _to_case(request, record.row, read_filter(form, review), saved=record.id)


@router.post("/case/{row}/what-if")
def what_if(request: Request, form: Form) -> Response:
    """The case with other values; nothing is saved."""
    review, ahead = review_of(request), _ahead(request)
    row, chosen = read_row(request, review), read_filter(form, review)
    changed = changed_row(review, row, form)
    try:
        moved = ahead.ask(lambda: request.app.state.explainer(changed, moved_from=review.one(row)))
    except ValueError as error:
        raise RefusedError(f"The model cannot predict these values: {error}") from error
    return HTMLResponse(_pages(request).case(request, row, chosen, ahead(row), moved, form))


@router.get("/queue")
def queue(request: Request) -> Response:
    """The cases as a list; a search that finds one leads to it."""
    review = review_of(request)
    chosen = read_filter(request.query_params, review)
    asked = request.query_params.get("find", "")[:200]
    found = review.queue.find(asked) if asked.strip() else None
    if found is not None and len(found) == 1:
        return _to_case(request, found[0], chosen)
    page = max(1, read_number(request.query_params.get("page", ""), 1))
    return HTMLResponse(_pages(request).queue(request, chosen, page, asked, found))


@router.get("/accept")
def preview(request: Request) -> Response:
    """A rule for many cases, and what it would accept."""
    given = request.query_params
    label, least = read_class(given.get("class", ""), review_of(request)), given.get("least")
    return HTMLResponse(_pages(request).accept(request, label, USUAL_LEAST if least is None else read_least(least)))


@router.post("/accept")
def accept_all(request: Request, form: Form) -> Response:
    """Accept all cases of a rule that was previewed."""
    review = review_of(request)
    label, n_seen = read_class(form.get("class", ""), review), read_number(form.get("n_cases", ""), 0)
    if label is None:
        raise RefusedError("Choose a class.")
    record = review.accept_all(
        form.get("key", ""), label, read_least(form.get("least", "")), n_seen, form.get("signed")
    )
    return _to(request, "/accept", Filter(), saved=record.id)


@router.get("/agreement")
def agreement(request: Request) -> Response:
    """How far the reviewers agree."""
    review_of(request)
    return HTMLResponse(_pages(request).agreement(request, request.query_params.get("now") == "1"))


@router.get("/export")
def export(request: Request) -> Response:
    """What can be downloaded."""
    review_of(request)
    return HTMLResponse(_pages(request).export(request))


@router.get("/export/file")
def export_file(request: Request) -> Response:
    """The table with the decisions beside its columns."""
    form, review = request.query_params.get("format", "csv"), review_of(request)
    if form not in FORMATS:
        raise BadRequestError(404, "The format must be csv, tsv or parquet.")
    content = table_bytes(review.reviewed(request.query_params.get("rows") == "all"), form)
    headers = {"content-disposition": f'attachment; filename="reviewed.{form}"'}
    return Response(content, media_type=FORMATS[form], headers=headers)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """A script or a style sheet."""
    found = static_files().get(name)
    if found is None:
        raise BadRequestError(404, "There is no such page.")
    kept = {"cache-control": "private, max-age=31536000, immutable"}
    return Response(found.content, media_type=found.media_type, headers=kept)
