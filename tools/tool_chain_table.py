"""Write the table of tested packages into docs/tool_chain.md, with the versions that are installed here.

``make toolchain-versions`` calls it after all tests have passed.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tool_chain.md"
BEGIN, END = "<!-- written by tools/tool_chain_table.py -->\n", "<!-- end of the table -->"


class Package(NamedTuple):
    """A row of the table."""

    name: str
    distribution: str
    works: str
    tested_by: str

    @property
    def test(self) -> str:
        """The file of its tests."""
        return f"tests/toolchain/test_{self.tested_by}.py"


PACKAGES = (
    Package(
        "scikit-learn",
        "scikit-learn",
        "pipelines, grid, random and halving searches, calibration, metadata routing, `set_output`, callbacks, "
        "inspection, voting and stacking",
        "scikit_learn",
    ),
    Package("skops", "skops", "files of every fitted model, by a published list of types", "skops"),
    Package("MLflow", "mlflow-skinny", "log and load models and pipelines in the default format", "mlflow"),
    Package("SHAP", "shap", "plots of contributions; model-agnostic and linear explainers", "shap"),
    Package("Optuna", "optuna", "pruning of boosting", "optuna"),
    Package("imbalanced-learn", "imbalanced-learn", "over- and undersampling in pipelines", "imbalanced_learn"),
    Package("pandas", "pandas", "data frames, also with strings, nullable and Arrow types", "data_frames"),
    Package("polars", "polars", "data frames", "data_frames"),
    Package("Arrow", "pyarrow", "tables", "data_frames"),
    Package("joblib", "joblib", "loky, threading and multiprocessing give the same results", "joblib_backends"),
    Package("Dask", "distributed", "as a backend of joblib; see also [Large tables](scale.md)", "joblib_backends"),
    Package("ONNX Runtime", "onnxruntime", "runs every kind of model that `to_onnx` exports", "onnx_runtime"),
    Package("nbconvert", "nbconvert", "keeps what a notebook shows of models and explanations", "notebooks"),
)


def table() -> str:
    """The table, with the installed versions."""
    rows = [f"| {each.name} | {version(each.distribution)} | {each.works} | `{each.test}` |" for each in PACKAGES]
    return "\n".join(["| package | version tested | what works | test |", "|---|---|---|---|", *rows, ""])


def without_versions(text: str) -> list[list[str]]:
    """The cells of each row but the second."""
    rows = [re.split(r"\s*\|\s*", line.strip("| \n")) for line in text.splitlines() if line.startswith("|")]
    return [row[:1] + row[2:] for row in rows]


def main() -> None:
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
