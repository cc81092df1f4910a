"""The addresses of a review, what each shows or does, and how forms are read, with limits."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from planewise.app._guard import Keys, same
from planewise.app._pages import Pages, static_files
from planewise.app._queue import SHOWN, Ahead, Filter
from planewise.app._review import Asked, RefusedError, Review
from planewise.app._what_if import changed_row, plain_number
from planewise.app._why import Why

MAX_FIELDS = 2000


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
    place = int(label) if label.isascii() and label.isdigit() and len(label) < 9 else None
    if place is not None and place >= len(review.classes or ()):
        place = None
    return Filter(show if show in SHOWN else "open", place)


def read_label(form: dict[str, str], review: Review) -> Any:
    """The class (given by its place) or the number that the person says is right; None without one."""
    if review.classes is None:
        return plain_number(form.get("number", "").strip())
    place = form.get("decision", "").partition(":")[2] or form.get("choice", "")
    if place.isascii() and place.isdigit() and len(place) < 9 and int(place) < len(review.classes):
        return review.classes[int(place)]
    return None


router = APIRouter()
Form = Annotated[dict[str, str], Depends(read_form)]


def review_of(request: Request) -> Review:
    """The review that this application serves."""
    return request.app.state.review


def _pages(request: Request) -> Pages:
    return request.app.state.pages


def _to(request: Request, path: str, chosen: Filter, **more: Any) -> Response:
    base = request.scope.get("root_path", "")
    return RedirectResponse(f"{base}{path}{chosen.query(**more)}", 303)


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
    record = review.decide(row, Asked(form.get("key", ""), decision, label, note, seen))
    after = record.row if record.decision == "note" else review.queue.following(record.row, chosen)
    return _to_case(request, after, chosen, saved=record.id)


@router.post("/undo")
def undo(request: Request, form: Form) -> Response:
    """Undo the last decision, and go to its case."""
    review = review_of(request)
    record = review.undo(form.get("key", ""), form.get("undoes", ""))
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
    page = request.query_params.get("page", "1")
    at = int(page) if page.isascii() and page.isdigit() and 0 < len(page) < 9 else 1
    return HTMLResponse(_pages(request).queue(request, chosen, at, asked, found))


@router.get("/static/{name}")
def static(name: str) -> Response:
    """A script or a style sheet."""
    found = static_files().get(name)
    if found is None:
        raise BadRequestError(404, "There is no such page.")
    kept = {"cache-control": "private, max-age=31536000, immutable"}
    return Response(found.content, media_type=found.media_type, headers=kept)
