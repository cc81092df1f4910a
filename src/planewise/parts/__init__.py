"""Tables in parts: rows in memory, in files or on workers, read as if they were in one piece."""

from __future__ import annotations

from planewise.parts._batches import from_batches
from planewise.parts._part import Part, Parts, Question, TakenRows, gather_rows, take_rows
from planewise.parts._survey import PartSurvey, Survey, join_surveys, learn_columns, read_part, survey_part
from planewise.parts._table import SpooledTable

__all__ = [
    "Part",
    "PartSurvey",
    "Parts",
    "Question",
    "SpooledTable",
    "Survey",
    "TakenRows",
    "from_batches",
    "gather_rows",
    "join_surveys",
    "learn_columns",
    "read_part",
    "survey_part",
    "take_rows",
]
