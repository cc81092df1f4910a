"""Tables in parts: rows in memory, in files or on workers, read as if they were in one piece."""

from __future__ import annotations

from planewise.parts._survey import PartSurvey, Survey, join_surveys, learn_columns, read_part, survey_part

__all__ = ["PartSurvey", "Survey", "join_surveys", "learn_columns", "read_part", "survey_part"]
