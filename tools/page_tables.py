"""The tables that the commands in docs/ read: small made-up ones, written before a page is run."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_wine


def _days(n: int) -> list[date]:
    return [date(2024, 1, 1) + timedelta(days=k % 300) for k in range(n)]


def _command_line(folder: Path) -> None:
    """Wines to classify; visits of patients, and sales by date."""
    rng = np.random.default_rng(0)
    data = load_wine(as_frame=True)
    wine = pl.from_pandas(data.data).with_columns(grape=data.target_names[data.target])
    wine.write_csv(folder / "wine.csv")
    new = wine.drop("grape").head(30).with_row_index("id")
    new.write_csv(folder / "new.csv")
    new.write_parquet(folder / "new.parquet")
    age, pressure = rng.integers(20, 90, 120), rng.normal(120, 15, 120).round()
    outcome = np.where(age + pressure + rng.normal(0, 10, 120) > 175, "ill", "well")
    visits = pl.DataFrame(
        {"patient": np.repeat(np.arange(40), 3), "age": age, "pressure": pressure, "outcome": outcome}
    )
    visits.write_csv(folder / "visits.csv")
    price, pieces = rng.uniform(1, 9, 200).round(2), rng.integers(1, 50, 200)
    sales = pl.DataFrame({"date": _days(200), "price": price, "pieces": pieces, "amount": (price * pieces).round(2)})
    sales.write_csv(folder / "sales.csv")
    sales.drop("amount").head(20).write_csv(folder / "new_sales.csv")


def _tables(folder: Path) -> None:
    """A table as a German Excel writes it, and the same columns in other files."""
    rng = np.random.default_rng(0)

    def rows(n: int) -> str:
        lines = ["weight;age;costs;admitted;finding"]
        for k, day in enumerate(_days(n)):
            weight = f"{rng.uniform(50, 110):.1f}".replace(".", ",") if k % 20 else "k.A."
            costs = f"{rng.integers(1, 9)}.{rng.integers(100, 999)},50 €"
            age = rng.integers(20, 90)
            lines.append(f"{weight};{age};{costs};{day:%d.%m.%Y};{'positiv' if age > 55 else 'negativ'}")
        return "\n".join(lines) + "\n"

    (folder / "admissions.csv").write_text("Aufnahmen Süd\n" + rows(120), encoding="cp1252")
    for month in ("01", "02"):
        (folder / f"2024-{month}.csv.gz").write_bytes(gzip.compress(rows(60).encode()))
    (folder / "2025.csv").write_text(rows(60), encoding="utf-8")
    (folder / "new.csv").write_text(rows(5), encoding="utf-8")


TABLES: dict[str, Callable[[Path], None]] = {
    "command_line.md": _command_line,
    "tables.md": _tables,
}


def write_tables(page: str, folder: Path) -> None:
    """Write what the commands of a page read."""
    if page in TABLES:
        TABLES[page](folder)
