"""
===========================
Serve predictions over HTTP
===========================

An HTTP service, written with FastAPI, for a model that ``planewise fit`` or ``planewise.save`` wrote::

    pip install fastapi uvicorn polars
    python examples/serve.py model.planewise --port 8000
    curl -H 'Content-Type: application/json' http://127.0.0.1:8000/predict -d '[{"age": 41, "town": null}]'

``/docs`` describes the service and its rows. This is a starting point without encryption or authentication. Run a real
service behind a proxy with TLS that authenticates requests and limits their size and rate.
"""

import argparse
from typing import Annotated, Any

import polars as pl
import uvicorn
from fastapi import Body, FastAPI
from pydantic import AwareDatetime, BaseModel, Field, FiniteFloat, NaiveDatetime, create_model

import planewise
from planewise.data.columns import Column
from planewise.table import TableModel, as_table_model

KINDS = {"number": (FiniteFloat, pl.Float64), "truth": (bool, pl.Boolean), "category": (str, pl.String)}


def types_of(column: Column) -> tuple[Any, Any]:
    """Return the type of a column's values in requests, and in the table that the model reads."""
    if column.kind == "date":
        return AwareDatetime if column.clock else NaiveDatetime, pl.String  # as ISO 8601
    return KINDS[column.kind]


def row_type(model: TableModel) -> type[BaseModel]:
    """Return a pydantic model of one row. Every column must be there; ``null`` is a missing value."""
    fields: dict[str, Any] = {
        f"column_{place}": (types_of(column)[0] | None, Field(alias=column.name))  # a name may be any text
        for place, column in enumerate(model.columns_)
    }
    return create_model("Row", **fields)


def create_app(model: TableModel) -> FastAPI:
    """Return the service as an ASGI application."""
    app = FastAPI(title=f"Predictions of {model.target_}")
    schema = {column.name: types_of(column)[1] for column in model.columns_}
    Row = row_type(model)

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/predict")
    def predict(rows: Annotated[list[Row], Body(min_length=1)]) -> list[dict[str, Any]]:
        table = pl.DataFrame([row.model_dump(mode="json", by_alias=True) for row in rows], schema=schema)
        predictions = [{"prediction": value} for value in model.predict(table).tolist()]
        if hasattr(model, "predict_proba") and hasattr(model.estimator_, "predict_proba"):
            classes = [str(label) for label in model.classes_.tolist()]
            for prediction, row in zip(predictions, model.predict_proba(table).tolist(), strict=True):
                prediction["probabilities"] = dict(zip(classes, row, strict=True))
        return predictions

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the predictions of a saved model over HTTP.")
    parser.add_argument("model", help="file that planewise fit or planewise.save wrote")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    uvicorn.run(create_app(as_table_model(planewise.load(args.model), args.model)), host=args.host, port=args.port)
