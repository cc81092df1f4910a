"""Tables in parts: rows in memory, in files or on workers, read as if they were in one piece."""

from __future__ import annotations

from planewise.parts._local import LocalParts
from planewise.parts._part import Part, Parts, Question, TakenRows, gather_rows, take_rows
from planewise.parts._sources import find_files, from_arrow, from_csv, from_frames, from_parquet, from_polars
from planewise.parts._survey import PartSurvey, Survey, join_surveys, learn_columns, read_part, survey_part
from planewise.parts._table import SpooledTable

__all__ = [
    "LocalParts",
    "Part",
    "PartSurvey",
    "Parts",
    "Question",
    "SpooledTable",
    "Survey",
    "TakenRows",
    "find_files",
    "from_arrow",
    "from_csv",
    "from_frames",
    "from_parquet",
    "from_polars",
    "gather_rows",
    "join_surveys",
    "learn_columns",
    "read_part",
    "survey_part",
    "take_rows",
]
