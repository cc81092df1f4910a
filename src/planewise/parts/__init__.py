"""Tables in parts: rows in memory, in files or on workers, read as if they were in one piece."""

from __future__ import annotations

from planewise.parts._local import LocalParts
from planewise.parts._part import Part, Parts, Question, TakenRows, gather_rows, take_rows
from planewise.parts._survey import PartSurvey, Survey, join_surveys, learn_columns, read_part, survey_part

__all__ = [
    "LocalParts",
    "Part",
    "PartSurvey",
    "Parts",
    "Question",
    "Survey",
    "TakenRows",
    "gather_rows",
    "join_surveys",
    "learn_columns",
    "read_part",
    "survey_part",
    "take_rows",
]
