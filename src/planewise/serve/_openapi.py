"""The description of the service by OpenAPI, made from the model's own columns, and as a page without any script."""

from __future__ import annotations

import json
from typing import Any

from planewise.report import html as pages
from planewise.serve._limits import Limits
from planewise.serve._rows import needed
from planewise.serve._scoring import Scorer
from planewise.table import COLUMN_KINDS, Column

TRUTH = r"^\s*([tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|[01])\s*$"
MAX_EXAMPLES = 20  # categories that are named


def openapi(scorer: Scorer, limits: Limits, needs_token: bool) -> dict[str, Any]:
    """The document."""
    import planewise

    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": f"Predictions of {scorer.model.target_}",
            "version": planewise.__version__,
            "description": f"{type(scorer.model.estimator_).__name__} of planewise, served by planewise serve.",
        },
        "paths": _paths(),
        "components": {
            "schemas": {
                "Row": _row(scorer),
                "Request": _request(scorer, limits),
                "Answers": _answers(scorer),
                "Error": _ERROR,
            }
        },
    }
    if needs_token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
        for path in ("/health", "/ready"):
            described["paths"][path]["get"]["security"] = []
    return described


_ERROR = {
    "type": "object",
    "properties": {
        "error": {"type": "string", "description": "What is wrong."},
        "row": {"type": "integer", "description": "Row in which it is wrong, counted from 0."},
        "column": {"type": "string", "description": "Column in which it is wrong."},
    },
    "required": ["error"],
}
_REFUSALS = {
    "400": "The body is not JSON.",
    "401": "The token is missing or wrong.",
    "408": "The body arrived too slowly.",
    "413": "The body is too large, or has too many rows.",
    "415": "The body is not declared as JSON.",
    "421": "The service is not reached under this host name.",
    "422": "Rows, columns or values are wrong; the message names the first.",
    "429": "This client asked too often; the header Retry-After says when to try again.",
    "503": "The service is busy, or the request took too long.",
}


def _paths() -> dict[str, Any]:
    everywhere = ("401", "421", "429")
    pages: dict[str, tuple[str, str, tuple[str, ...]]] = {
        "/model": ("What the model predicts, from which columns.", "application/json", everywhere),
        "/health": ("Whether the service runs.", "application/json", ("421", "429")),
        "/ready": (
            "Whether the service takes requests: 503 while too many are waiting.",
            "application/json",
            ("421", "429", "503"),
        ),
        "/metrics": ("Counts for monitoring, in the format of Prometheus.", "text/plain", everywhere),
        "/openapi.json": ("This description.", "application/json", everywhere),
        "/docs": ("This description as a page.", "text/html", everywhere),
    }
    answered = {"description": "The answers, in the order of the rows.", "content": _content("Answers")}
    paths: dict[str, Any] = {
        "/predict": {
            "post": {
                "summary": "Predict rows.",
                "operationId": "predict",
                "requestBody": {"required": True, "content": _content("Request")},
                "responses": {"200": answered, **_refusals(tuple(_REFUSALS))},
            }
        }
    }
    for path, (summary, kind, refused) in pages.items():
        shown = {
            "description": summary,
            "content": {kind: {"schema": {} if kind.endswith("json") else {"type": "string"}}},
        }
        paths[path] = {
            "get": {
                "summary": summary,
                "operationId": path.strip("/").replace(".", "_"),
                "responses": {"200": shown, **_refusals(refused)},
            }
        }
    return paths


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _refusals(statuses: tuple[str, ...]) -> dict[str, Any]:
    return {each: {"description": _REFUSALS[each], "content": _content("Error")} for each in statuses}


def _row(scorer: Scorer) -> dict[str, Any]:
    ignored = {name: {"description": "Not read by the model."} for name in sorted(scorer.reader.ignored)}
    return {
        "type": "object",
        "properties": {column.name: _value(scorer, column) for column in scorer.reader.columns} | ignored,
        "required": scorer.reader.names,
        "additionalProperties": False,
        "example": example_row(scorer),
    }


def _value(scorer: Scorer, column: Column) -> dict[str, Any]:
    kind = COLUMN_KINDS[column.kind].adjective
    types: dict[str, dict[str, Any]] = {
        "number": {"type": ["number", "boolean", "null"]},
        "truth": {"anyOf": [{"enum": [True, False, None, 0, 1]}, {"type": "string", "pattern": TRUTH}]},
        "date": {"anyOf": [{"type": "string", "format": each} for each in ("date", "date-time")] + [{"type": "null"}]},
        "category": {"type": ["string", "null"]},
    }
    words = f"{kind[0].upper()}{kind[1:]} column; null if missing."
    if column.kind == "category":
        known = list(scorer.categories(column.name))
        some = ", ".join(map(str, known[:MAX_EXAMPLES]))
        more = f" and {len(known) - MAX_EXAMPLES} more" if len(known) > MAX_EXAMPLES else ""
        words += f" Categories of the fit: {some}{more}."
    return types[column.kind] | {"description": words, "examples": [example_row(scorer)[column.name]]}


def example_row(scorer: Scorer) -> dict[str, Any]:
    """A row that the model accepts: usual values of its columns."""
    found: dict[str, Any] = {}
    for column in scorer.reader.columns:
        if column.kind == "category":
            found[column.name] = next(iter(scorer.categories(column.name)), None)
        elif column.kind == "date":
            found[column.name] = _day(column.usual)
        else:
            found[column.name] = column.usual >= 0.5 if column.kind == "truth" else float(f"{column.usual:.6g}")
    return found


def _day(days: float) -> str:
    from datetime import date, timedelta

    return (date(1970, 1, 1) + timedelta(days=int(days))).isoformat()


def _request(scorer: Scorer, limits: Limits) -> dict[str, Any]:
    row, most = {"$ref": "#/components/schemas/Row"}, f"At most {limits.max_rows} rows."
    lists = {
        column.name: {"type": "array", "items": _value(scorer, column), "minItems": 1}
        for column in scorer.reader.columns
    }
    ignored = {name: {"description": "Not read by the model."} for name in sorted(scorer.reader.ignored)}
    options: dict[str, Any] = {
        "reasons": {"type": "boolean", "default": False, "description": "Add a reason to each answer."}
    }
    if scorer.has_probabilities:
        options["probabilities"] = {
            "type": "boolean",
            "default": True,
            "description": "Add the probability of each class.",
        }
    else:
        options["probabilities"] = {"const": False, "description": "This model has no probabilities."}
    if scorer.has_intervals:
        options["interval"] = {
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 1,
            "description": "Add an interval that covers this share of the true values.",
        }
    by_row = {"rows": {"type": "array", "items": row, "minItems": 1, "description": most}}
    by_column = {
        "columns": {
            "type": "object",
            "properties": lists | ignored,
            "required": scorer.reader.names,
            "additionalProperties": False,
            "description": f"Lists of the same length. {most}",
        }
    }
    return {
        "oneOf": [
            {
                "type": "object",
                "properties": given | options,
                "required": list(given),
                "additionalProperties": False,
            }
            for given in (by_row, by_column)
        ],
        "example": {"rows": [example_row(scorer)]},
    }


def _answers(scorer: Scorer) -> dict[str, Any]:
    one: dict[str, Any] = {
        "prediction": {"description": f"The predicted {scorer.model.target_}."},
        "sentence": {"type": "string", "description": "The reason in words, if asked for."},
        "explanation": {"type": "object", "description": "The reason for programs, if asked for."},
    }
    if scorer.has_probabilities:
        one["probability"] = {"type": "object", "additionalProperties": {"type": "number"}}
    if scorer.has_intervals:
        one["interval"] = {"type": "array", "items": {"type": ["number", "null"]}, "minItems": 2, "maxItems": 2}
    return {
        "type": "object",
        "properties": {
            "target": {"type": "string"},
            "answers": {
                "type": "array",
                "items": {"type": "object", "properties": one, "required": ["prediction"]},
            },
        },
        "required": ["target", "answers"],
    }


def docs_page(document: dict[str, Any], scorer: Scorer) -> str:
    """A page for people, from the document."""
    asked = json.dumps({"rows": [example_row(scorer)]}, ensure_ascii=False, indent=2)
    answer = scorer.answer(scorer.read(asked.encode()))
    answered = json.dumps(json.loads(answer), ensure_ascii=False, indent=2)
    columns = [
        [each.name, COLUMN_KINDS[each.kind].adjective, needed(each.kind), _some(scorer, each)]
        for each in scorer.reader.columns
    ]
    body = [
        pages.heading(document["info"]["title"], level=1),
        pages.paragraph(document["info"]["description"]),
        pages.heading("Ask for a prediction"),
        pages.paragraph("Send one or more rows to POST /predict, with the header Content-Type: application/json."),
        pages.lines([asked]),
        pages.paragraph("The service answers, in the order of the rows:"),
        pages.lines([answered]),
        pages.paragraph(
            'Instead of "rows", "columns" takes one list of values per column. "reasons": true adds the reason for '
            "each prediction."
        ),
        pages.heading("Columns"),
        pages.table(["column", "kind", "value", "categories"], columns),
        pages.heading("Addresses"),
        pages.table(
            ["address", "what it answers", "statuses"],
            [
                [f"{method.upper()} {path}", each["summary"], ", ".join(each["responses"])]
                for path, methods in document["paths"].items()
                for method, each in methods.items()
            ],
        ),
        pages.heading("Statuses"),
        pages.table(["status", "meaning"], list(_REFUSALS.items())),
        pages.footer("planewise serve"),
    ]
    return pages.page(document["info"]["title"], body)


def _some(scorer: Scorer, column: Column) -> str:
    known = list(map(str, scorer.categories(column.name)))
    return ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
