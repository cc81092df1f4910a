"""Forms and addresses from a browser, read with limits."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from planewise.app._keys import Keys, same
from planewise.app._numbers import plain_number
from planewise.app._queue import SHOWN, Filter
from planewise.app._review import Review

MOST_FIELDS = 2000


class BadRequestError(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form that one of our own pages sent; of a name that comes twice the last."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise BadRequestError(415, "Forms come as application/x-www-form-urlencoded.")
    try:
        text = (await request.body()).decode("ascii")
        form = dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:
        raise BadRequestError(400, "The form cannot be read.") from None
    keys: Keys = request.app.state.keys
    if not same(form.get("csrf", ""), keys.form):
        raise BadRequestError(403, "The form is not from this review; load the page again.")
    return form


def read_row(request: Request, review: Review) -> int:
    """The row in the address."""
    text = request.path_params["row"]
    if text.isascii() and text.isdigit() and len(text) < 12 and int(text) < len(review.queue):
        return int(text)
    raise BadRequestError(404, f"There is no such case: rows are counted from 0 to {len(review.queue) - 1}.")


def read_filter(given: Any, review: Review) -> Filter:
    """The filter in an address or a form; what makes no sense is left out."""
    show, label = given.get("show", "open"), given.get("label", "")
    place = int(label) if label.isascii() and label.isdigit() and len(label) < 9 else None
    if place is not None and place >= len(review.classes or ()):
        place = None
    return Filter(show if show in SHOWN else "open", place)


def read_label(form: dict[str, str], review: Review) -> Any:
    """The class by its place, or the number, that the person says is right; None if there is none."""
    if review.classes is None:
        return plain_number(form.get("number", "").strip())
    place = form.get("decision", "").partition(":")[2] or form.get("choice", "")
    if place.isascii() and place.isdigit() and len(place) < 9 and int(place) < len(review.classes):
        return review.classes[int(place)]
    return None
