"""What the service answers: the same predictions, probabilities, intervals and reasons as the commands."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from planewise._input import CodedRows
from planewise._json import plain
from planewise.serve._errors import RefusedError
from planewise.serve._rows import RowReader, Rows, in_words, shortened
from planewise.table import COLUMN_KINDS, TableModel
from planewise.words import fitted_with_offset

FIELDS = {
    "rows": "a list of objects, one per row",
    "columns": "an object with one list per column",
    "probabilities": "true or false",
    "interval": "a coverage between 0 and 1, such as 0.9",
    "reasons": "true or false",
}


@dataclass(frozen=True)
class Question:
    """A request that was read: rows, and what is asked about them."""

    rows: Rows
    probabilities: bool
    reasons: bool
    interval: float | None


class Scorer:
    """One model, and how requests to it are read and answered."""

    def __init__(self, model: TableModel, max_rows: int) -> None:
        self.model, self.max_rows = model, max_rows
        self.reader = RowReader(model)
        self.labels = [str(label) for label in model.classes_.tolist()] if model.task_ == "classification" else []
        self.has_probabilities = bool(self.labels) and hasattr(model.estimator_, "predict_proba")
        self.has_intervals = hasattr(model, "predict_interval")
        self._start = f'{{"target":{json.dumps(model.target_)},"answers":['
        self._forms = [_form(each, self.labels) for each in model.classes_.tolist()] if self.has_probabilities else []
        # Machines from files before version 5 read tables only.
        self._takes_numbers = hasattr(model.estimator_, "categories_")

    def read(self, body: bytes) -> Question:
        """A request of JSON; an error names what is wrong in it."""
        asked = parse(body)
        if type(asked) is not dict:
            raise RefusedError(422, f'the body must be an object such as {{"rows": [...]}}; got {in_words(asked)}.')
        for name in asked:
            if name not in FIELDS:
                raise RefusedError(422, f"there is no field {shortened(name)}; the fields are {', '.join(FIELDS)}.")
        if ("rows" in asked) == ("columns" in asked):
            raise RefusedError(422, 'give either "rows" or "columns".')
        self._limit(asked)
        rows = self.reader.rows(asked["rows"]) if "rows" in asked else self.reader.columns_of(asked["columns"])
        probabilities = _boolean(asked, "probabilities", self.has_probabilities)
        if probabilities and not self.has_probabilities:
            raise RefusedError(422, '"probabilities": this model has no probabilities.')
        return Question(rows, probabilities, _boolean(asked, "reasons", False), self._coverage(asked))

    def _limit(self, asked: dict[str, Any]) -> None:
        """An error if there are too many rows, before they are read."""
        counted = asked.get("rows", asked.get("columns"))
        if type(counted) is dict:
            counted = max((each for each in counted.values() if type(each) is list), key=len, default=[])
        if type(counted) is list and len(counted) > self.max_rows:
            raise RefusedError(413, f"{len(counted)} rows are too many; a request may have up to {self.max_rows}.")

    def _coverage(self, asked: dict[str, Any]) -> float | None:
        if "interval" not in asked:
            return None
        if not self.has_intervals:
            raise RefusedError(422, '"interval": this model has no prediction intervals.')
        given = asked["interval"]
        if given is None:
            return None
        if type(given) is not float or not 0 < given < 1:
            raise RefusedError(422, f'"interval" must be {FIELDS["interval"]}; got {in_words(given)}.')
        return given

    def answer(self, question: Question) -> bytes:
        """The predictions and what else was asked for, in the order of the rows, as JSON."""
        try:
            return self._answer(question)
        except ValueError as error:  # what only the estimator knows, such as a number too large for it
            raise RefusedError(422, str(error)) from error

    def _answer(self, question: Question) -> bytes:
        model, rows = self.model, question.rows
        table = rows.table() if question.reasons or not self._takes_numbers else None
        read: Any = CodedRows(rows.numbers) if self._takes_numbers else table
        answers: list[dict[str, Any]]
        if self.has_probabilities:  # of which the prediction is the largest
            shares = model.predict_proba(read)
            place = shares.argmax(axis=1)
            if question.probabilities and not question.reasons and question.interval is None:
                rows_of = zip(place.tolist(), shares.tolist(), strict=True)
                return f"{self._start}{','.join([self._forms[k] % tuple(row) for k, row in rows_of])}]}}".encode()
            answers = [{"prediction": each} for each in model.classes_[place].tolist()]
            if question.probabilities:
                for answer, row in zip(answers, shares.tolist(), strict=True):
                    answer["probability"] = dict(zip(self.labels, row, strict=True))
        else:
            found = _finite(model.predict(read))
            answers = [{"prediction": each} for each in found]
        if question.interval is not None:
            bounds = model.predict_interval(rows.table() if table is None else table, question.interval)
            for answer, pair in zip(answers, _finite(bounds), strict=True):
                answer["interval"] = pair
        if question.reasons:
            for answer, why in zip(answers, model.explain(table), strict=True):
                answer |= {"sentence": why.sentence(), "explanation": plain(why.data())}
        return dumps({"target": model.target_, "answers": answers})

    def seconds_per_row(self) -> float:
        """How long a prediction takes, measured on rows of missing values, which also warms everything up."""
        values = [[None] * len(self.reader.names)]
        took = []
        for n_rows in (1, 1, 1, 100):
            rows = self.reader.checked(values * n_rows)
            start = time.perf_counter()
            self.answer(Question(rows, self.has_probabilities, False, None))
            took.append((time.perf_counter() - start) / n_rows)
        return min(took[2:])

    def categories(self, name: str) -> list[str]:
        """The categories of a column in the fit, none of other kinds of columns."""
        place = self.reader.names.index(name)
        known = getattr(self.model.estimator_, "categories_", {}).get(place)
        return sorted(self.model.columns_[place].categories) if known is None else known.tolist()

    def about(self) -> dict[str, Any]:
        """What the model predicts from which columns."""
        model, estimator = self.model, self.model.estimator_
        columns: list[dict[str, Any]] = [
            {"name": column.name, "kind": COLUMN_KINDS[column.kind].adjective}
            | ({"categories": self.categories(column.name)} if column.kind == "category" else {})
            for column in model.columns_
        ]
        return {
            "target": model.target_,
            "task": model.task_,
            "classes": plain(model.classes_) if self.labels else None,
            "model": model.family,
            "estimator": type(estimator).__name__,
            "has_probabilities": self.has_probabilities,
            "has_intervals": self.has_intervals,
            "has_offset": fitted_with_offset(estimator),
            "columns": columns,
            "ignored_columns": sorted(self.reader.ignored),
            "record": plain(getattr(model, "record_", None)),
        }


def _finite(found: Any) -> Any:
    """Numbers as JSON can write them: null where they are not finite."""
    if found.dtype.kind != "f" or np.isfinite(found).all():
        return found.tolist()
    listed = found.astype(object)
    listed[~np.isfinite(found)] = None
    return listed.tolist()


def _form(prediction: Any, labels: list[str]) -> str:
    """The answer of one row, to be filled with probabilities; making JSON of dicts would take three times as long."""
    shares = ",".join(f"{_text(label)}:%r" for label in labels)
    return f'{{"prediction":{_text(prediction)},"probability":{{{shares}}}}}'


def _text(value: Any) -> str:
    return json.dumps(plain(value)).replace("%", "%%")


def _boolean(asked: dict[str, Any], name: str, otherwise: bool) -> bool:
    given = asked.get(name, otherwise)
    if type(given) is not bool:
        raise RefusedError(422, f'"{name}" must be true or false; got {in_words(given)}.')
    return given


def parse(body: bytes) -> Any:
    """The value of a JSON text; more strictly than Python: no NaN, no name twice."""
    try:
        return _DECODER.decode(body.decode())
    except UnicodeDecodeError as error:
        raise RefusedError(400, f"the body is not UTF-8: byte {error.start} is wrong.") from None
    except RecursionError:
        raise RefusedError(400, "the JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise RefusedError(400, f"the body is not JSON: {error}.") from None
    except ValueError as error:
        raise RefusedError(400, f"the body cannot be read: {error}.") from None


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; write null for a missing value")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the name {shortened(twice)} is there twice in one object")
    return found


_DECODER = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_once)


def dumps(value: Any) -> bytes:
    """A value as JSON."""
    return json.dumps(value, separators=(",", ":"), default=plain).encode()
